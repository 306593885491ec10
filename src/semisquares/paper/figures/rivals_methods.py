"""The methods that `rivals` compares: how each is called, how it looks, and how it is fitted.

Least squares has no ridge here, as in the paper, but for the two that tune theirs. Discriminants
have a shrinkage of one row, in the whole family, and the others what their authors or scikit-learn
set, but for label propagation and spreading: their usual kernel reaches no other row of these data,
so that they take nearest neighbours. The intercept is free throughout.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

from ... import HardLabelClassifier, SoftLabelClassifierCV
from ...baselines import (
    AllLabelingsDiscriminant,
    ContrastivePessimisticDiscriminant,
    EMDiscriminantClassifier,
    ImplicitlyConstrainedClassifier,
    MissingOutcomeRegressor,
    SelfLearning,
    SemiSupervisedAdapter,
    TransductiveSVM,
)
from ...plotting import BLUE, GREY, LOOKS, ORANGE, PURPLE, SKY, VERMILION, Look
from .nested import Draw, nested_weights
from .ridge import tuned_ridge

Array = NDArray[Any]

LEAST_SQUARES, DISCRIMINANTS, OTHERS = "least squares", "discriminants", "margins and graphs"
SHRINKAGE = 1.0
MOST_TO_ENUMERATE = 8
"""Looking at all labelings takes twice as long with every row."""


@dataclass(frozen=True)
class Method:
    """One method. Without `make` its weights are those of Figure 6, or of the tuned ridge."""

    look: Look
    group: str
    make: Callable[[], Any] | None = None
    gives: str = "target"
    """What it says of a row: an estimate of its target, a probability, or a side alone."""
    without: str | None = None
    """The same classifier without the unlabeled rows; None where it uses none itself."""
    at_most: int | None = None
    """The largest number of unlabeled rows that it can do."""


def _discriminant() -> Any:
    return EMDiscriminantClassifier(shrinkage=SHRINKAGE)


# Within a picture colours, markers and lines differ. Between pictures a colour has one meaning:
# blue learns from labels alone, red labels rows by its own predictions, purple is a pessimist.
METHODS = {
    "supervised": Method(
        Look("supervised least squares", BLUE, "s", LOOKS["supervised"].line), LEAST_SQUARES
    ),
    "ridge": Method(LOOKS["ridge"], LEAST_SQUARES),
    "soft": Method(LOOKS["soft"], LEAST_SQUARES, without="supervised"),
    "soft_cv": Method(
        Look("tuned soft labels", SKY, "P", (0, (8, 1.5))),
        LEAST_SQUARES,
        SoftLabelClassifierCV,
        without="ridge",
    ),
    "hard": Method(LOOKS["hard"], LEAST_SQUARES, without="supervised"),
    "implicitly_constrained": Method(
        Look("implicitly constrained", PURPLE, "X", (0, (4, 1, 1, 1, 1, 1))),
        LEAST_SQUARES,
        ImplicitlyConstrainedClassifier,
        without="supervised",
    ),
    "all_labelings": Method(
        Look("best labeling", GREY, "*", (0, (3, 1, 1, 1))),
        LEAST_SQUARES,
        lambda: HardLabelClassifier(0.0, solver="enumerate"),
        without="supervised",
        at_most=MOST_TO_ENUMERATE,
    ),
    "oracle": Method(LOOKS["oracle"], LEAST_SQUARES),
    "lda": Method(
        Look("supervised LDA", BLUE, "s", LOOKS["supervised"].line),
        DISCRIMINANTS,
        _discriminant,
        gives="probability",
    ),
    "em": Method(
        Look("EM for LDA", ORANGE, "v", (0, (2.5, 1.2))),
        DISCRIMINANTS,
        _discriminant,
        gives="probability",
        without="lda",
    ),
    "self_learning": Method(
        Look("self-learning LDA", VERMILION, "^", LOOKS["hard"].line),
        DISCRIMINANTS,
        lambda: SelfLearning(_discriminant()),
        gives="probability",
        without="lda",
    ),
    "self_training": Method(
        Look("self-training LDA", SKY, "P", (0, (8, 1.5))),
        DISCRIMINANTS,
        lambda: SemiSupervisedAdapter(SelfTrainingClassifier(_discriminant())),
        gives="probability",
        without="lda",
    ),
    "contrastive_pessimistic": Method(
        Look("contrastive pessimistic LDA", PURPLE, "X", (0, (4, 1, 1, 1, 1, 1))),
        DISCRIMINANTS,
        lambda: ContrastivePessimisticDiscriminant(shrinkage=SHRINKAGE),
        gives="probability",
        without="lda",
    ),
    "all_labelings_lda": Method(
        Look("best labeling for LDA", GREY, "*", (0, (3, 1, 1, 1))),
        DISCRIMINANTS,
        lambda: AllLabelingsDiscriminant(shrinkage=SHRINKAGE),
        gives="probability",
        without="lda",
        at_most=MOST_TO_ENUMERATE,
    ),
    "svm": Method(
        Look("supervised SVM", BLUE, "s", LOOKS["supervised"].line),
        OTHERS,
        lambda: TransductiveSVM(C_unlabeled=0.0),
        gives="side",
    ),
    "transductive_svm": Method(
        Look("transductive SVM", VERMILION, "^", LOOKS["hard"].line),
        OTHERS,
        TransductiveSVM,
        gives="side",
        without="svm",
    ),
    "label_propagation": Method(
        Look("label propagation", ORANGE, "v", (0, (2.5, 1.2))),
        OTHERS,
        lambda: SemiSupervisedAdapter(LabelPropagation(kernel="knn")),
        gives="probability",
    ),
    "label_spreading": Method(
        Look("label spreading", SKY, "P", (0, (8, 1.5))),
        OTHERS,
        lambda: SemiSupervisedAdapter(LabelSpreading(kernel="knn")),
        gives="probability",
    ),
}
"""All methods, in the order of legends; each group's supervised classifier first."""

LABELS_ALONE = ("supervised", "ridge", "lda", "svm")
"""They see no unlabeled row, and are fitted once for all numbers of them."""
PESSIMISTS = ("implicitly_constrained", "contrastive_pessimistic")
OPTIMISTS = ("soft", "hard", "em", "self_learning", "self_training", "transductive_svm")
"""They choose labels that suit the classifier, as the paper says it; pessimists the reverse."""
COMPETITORS = tuple(
    name for name, method in METHODS.items() if method.at_most is None and name != "oracle"
)
"""The methods that can be ranked: the oracle is told the labels, and some do few rows only."""


@dataclass(frozen=True)
class Fitted:
    """What a method says of the rows after the labeled ones, 1 for the first class."""

    z: Array
    """Above ½ for the first class; NaN where the fit raised an error."""
    unfinished: bool = False
    """Whether it warned that it had not converged."""


def measure(drawn: Draw, at: Sequence[int]) -> dict[str, Array]:
    """Fit every method to one draw and measure it on the rows after each number of unlabeled ones.

    Returns
    -------
    error, loss, unfinished : ndarrays of shape (methods, sizes)
        `error` is NaN where a fit failed, and where there are more rows than the method can do;
        `loss` also where a method gives sides alone.
    """
    found = {name: np.full((len(METHODS), len(at)), np.nan) for name in ("error", "loss")}
    found["unfinished"] = np.zeros((len(METHODS), len(at)), dtype=bool)
    weights = nested_weights(drawn, at)
    weights["ridge"] = np.tile(tuned_ridge(drawn), (len(at), 1))
    once = {name: _fit(METHODS[name], drawn, 0) for name in LABELS_ALONE if METHODS[name].make}
    rest, y = drawn.X[drawn.n_labeled :], drawn.y[drawn.n_labeled :]
    for place, (name, method) in enumerate(METHODS.items()):
        for k, size in enumerate(at):
            if method.at_most is not None and size > method.at_most:
                continue
            if name in weights:
                fitted = Fitted(rest @ weights[name][k])
            else:
                fitted = once[name] if name in once else _fit(method, drawn, size)
            z, truth = fitted.z[size:], y[size:]
            found["unfinished"][place, k] = fitted.unfinished
            if np.isfinite(z).all():
                found["error"][place, k] = np.mean((z > 0.5) != (truth > 0.5))
                if method.gives != "side":
                    found["loss"][place, k] = np.mean((z - truth) ** 2)
    return found


def _fit(method: Method, drawn: Draw, n_unlabeled: int) -> Fitted:
    """Fit one method, the first so many unlabeled rows among the training rows."""
    assert method.make is not None
    L, n_train = drawn.n_labeled, drawn.n_labeled + n_unlabeled
    X, y = drawn.X[:, :-1], drawn.y[:n_train].copy()
    y[L:] = -1.0
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            model = method.make().fit(X[:n_train], y)
            if method.gives == "probability":
                z = model.predict_proba(X[L:])[:, 1]
            else:
                z = model.decision_function(X[L:]) + 0.5
        except (ValueError, ArithmeticError):  # what a fit may say of data; other errors are ours
            z = np.full(len(X) - L, np.nan)
    return Fitted(z, any(issubclass(one.category, ConvergenceWarning) for one in heard))


def missing_outcomes(drawn: Draw, at: Sequence[int]) -> Array:
    """Return how far regression with missing outcomes is from the supervised fit, on test rows.

    The largest difference, as a share of the largest decision value; NaN where the labeled rows
    leave weights open, so that the outcomes decide which of many fits it is.
    """
    L = drawn.n_labeled
    if np.linalg.matrix_rank(drawn.X[:L]) < drawn.X.shape[1]:
        return np.full(len(at), np.nan)
    supervised = drawn.X @ nested_weights(drawn, at[:1], ("supervised",))["supervised"][0]
    found = []
    for size in at:
        y = drawn.y[: L + size].copy()
        y[L:] = np.nan
        model = MissingOutcomeRegressor("analytic").fit(drawn.X[: L + size, :-1], y)
        difference = model.predict(drawn.X[:, :-1]) - supervised
        found.append(np.abs(difference).max() / np.abs(supervised).max())
    return np.array(found)
