"""The common example of all method pages: 206 rows in the plane, six of them labeled.

Both classes are Gaussian with the same elongated covariance. The best boundary is a line that the
cloud of all rows shows, but six labels do not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.baselines import (
    AllLabelingsDiscriminant,
    ContrastivePessimisticDiscriminant,
    EMDiscriminantClassifier,
    ImplicitlyConstrainedClassifier,
    MissingOutcomeRegressor,
    OracleClassifier,
    SelfLearning,
    SemiSupervisedAdapter,
    TransductiveSVM,
)

Array = NDArray[Any]

DRAWS = 100
SHOWN = 57
"""The draw in the pictures, in which the methods differ visibly (see `index.md`)."""
LABELS_PER_CLASS = 3
ROWS = 206
TEST_ROWS = 10_000
FEW = 14
"""Number of unlabeled rows for a method that tries all labelings."""
CENTRES = np.array([[-1.1, 0.0], [1.1, 0.0]])
ANGLE = np.pi / 3
SPREAD = np.array(
    [[0.55 * np.cos(ANGLE), -1.3 * np.sin(ANGLE)], [0.55 * np.sin(ANGLE), 1.3 * np.cos(ANGLE)]]
)
"""A class is its centre plus SPREAD times standard normal numbers."""


@dataclass(frozen=True, eq=False)
class Example:
    """One draw: rows, their given labels (−1 if missing) and their true labels."""

    X: Array
    y: Array
    truth: Array


@dataclass(frozen=True)
class Method:
    """A line of the table of methods."""

    name: str
    page: str
    idea: str
    labels: str
    """The labels that it imputes."""
    convex: str
    make: Callable[[Array], Any]
    """Make the estimator from the true labels, which only the oracle uses."""
    few: bool = False
    """Whether it gets only `FEW` unlabeled rows."""


METHODS = {
    "supervised": Method(
        "supervised", "supervised", "leave out rows without a label", "none", "yes",
        lambda truth: LeastSquaresClassifier(alpha=0),
    ),
    "missing_outcomes": Method(
        "missing outcomes", "missing_outcomes", "fill in what the fit says", "any number", "yes",
        lambda truth: MissingOutcomeRegressor("analytic"),
    ),
    "soft": Method(
        "soft labels", "soft", "fill in what fits best in [0, 1]", "in [0, 1]", "yes",
        lambda truth: SoftLabelClassifier(alpha=0),
    ),
    "soft_cv": Method(
        "soft labels, chosen", "soft_cv", "let the labels decide on ridge and weight",
        "in [0, 1]", "yes", lambda truth: SoftLabelClassifierCV(),
    ),
    "averaged": Method(
        "average", "averaged", "average classifiers by their out-of-sample loss",
        "probabilities", "members are", lambda truth: AveragedClassifier(),
    ),
    "hard": Method(
        "hard labels", "hard", "label, refit, repeat: 0 or 1", "0 or 1", "no",
        lambda truth: HardLabelClassifier(alpha=0),
    ),
    "hard_from_soft": Method(
        "hard from soft", "hard", "the same, starting from the soft labels", "0 or 1", "no",
        lambda truth: HardLabelClassifier(alpha=0, init="soft"),
    ),
    "self_learning": Method(
        "self-learning LDA", "self_learning", "the same around any classifier", "a class", "no",
        lambda truth: SelfLearning(LinearDiscriminantAnalysis()),
    ),
    "em": Method(
        "EM discriminant", "em_discriminant", "sum over the missing labels", "posteriors", "no",
        lambda truth: EMDiscriminantClassifier(),
    ),
    "all_labelings": Method(
        f"all labelings, {FEW} rows", "all_labelings", "try every labeling", "a class",
        "no, but the best of all", lambda truth: AllLabelingsDiscriminant(), few=True,
    ),
    "implicitly_constrained": Method(
        "implicitly constrained", "implicitly_constrained",
        "the least supervised loss that some labeling gives", "in [0, 1]: a constraint", "yes",
        lambda truth: ImplicitlyConstrainedClassifier(),
    ),
    "contrastive_pessimistic": Method(
        "contrastive pessimistic", "contrastive_pessimistic",
        "be better than supervised under the worst labels", "in [0, 1]: the worst", "yes",
        lambda truth: ContrastivePessimisticDiscriminant(),
    ),
    "transductive_svm": Method(
        "transductive SVM", "transductive_svm", "labels that leave a wide margin", "−1 or +1",
        "no", lambda truth: TransductiveSVM(),
    ),
    "label_spreading": Method(
        "label spreading", "scikit_learn", "labels spread to nearby rows", "in [0, 1]", "yes",
        lambda truth: SemiSupervisedAdapter(LabelSpreading(gamma=2.0)),
    ),
    "self_training": Method(
        "self-training", "scikit_learn", "label what is certain, refit, repeat",
        "a class, or none", "no",
        lambda truth: SemiSupervisedAdapter(SelfTrainingClassifier(LogisticRegression())),
    ),
    "oracle": Method(
        "oracle", "oracle", "know all labels", "the true ones", "yes",
        lambda truth: OracleClassifier(LeastSquaresClassifier(alpha=0), truth),
    ),
}  # fmt: skip


def draw(number: int) -> Example:
    """Draw the example: half of the rows in each class, and random labels."""
    rng = np.random.default_rng(number)
    X, truth = _rows(rng, ROWS)
    y = np.full(ROWS, -1)
    for code in (0, 1):
        known = rng.choice(np.flatnonzero(truth == code), LABELS_PER_CLASS, replace=False)
        y[known] = code
    return Example(X, y, truth)


def test_rows() -> tuple[Array, Array]:
    """Return the test rows, which are the same for all draws."""
    return _rows(np.random.default_rng(10**6), TEST_ROWS)


def fit(method: Method, example: Example) -> Any:
    """Fit a method to the rows that it gets."""
    rows = rows_of(method, example)
    y = example.y[rows]
    if method.page == "missing_outcomes":  # a regression: labels are numbers, missing is NaN
        y = np.where(y < 0, np.nan, y)
    return method.make(example.truth[rows]).fit(example.X[rows], y)


def rows_of(method: Method, example: Example) -> Array:
    """Return the indices of the rows that a method gets."""
    if not method.few:
        return np.arange(len(example.y))
    free = np.flatnonzero(example.y < 0)
    return np.concatenate((np.flatnonzero(example.y >= 0), free[:: len(free) // FEW][:FEW]))


def decide(model: Any, X: Array) -> Array:
    """Return values that are above 0 if the model predicts class 1."""
    if isinstance(model, MissingOutcomeRegressor):
        return model.predict(X) - 0.5
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1] - 0.5


def imputed_labels(model: Any) -> Array:
    """Return the labels that the model imputed to its rows; NaN if it imputed none."""
    if isinstance(model, MissingOutcomeRegressor):
        return model.filled_
    if hasattr(model, "label_distributions_"):
        return model.label_distributions_[:, 1]
    imputed = np.asarray(getattr(model, "transduction_", np.nan), dtype=float)
    return np.where(imputed < 0, np.nan, imputed)


def wrong(model: Any) -> int:
    """Count the test rows that a model misclassifies."""
    X, truth = test_rows()
    return int(np.sum((decide(model, X) > 0.0) != truth))


def count_errors(number: int) -> dict[str, int]:
    """Count the errors of every method in one draw, ignoring the warnings of fits."""
    example = draw(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {key: wrong(fit(method, example)) for key, method in METHODS.items()}


def _rows(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    truth = (np.arange(n) < n // 2).astype(int)
    return CENTRES[truth] + rng.normal(size=(n, 2)) @ SPREAD.T, truth
