"""What the displays read off fitted classifiers, through the pipelines and searches around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._inputs.dask import computed
from ..estimators.base import LinearLeastSquares
from .looks import BLACK, BLUE, LOOKS, ORANGE, PURPLE, SKY, Look

Array = NDArray[Any]

_METHODS = {
    "LeastSquaresClassifier": "supervised",
    "SoftLabelClassifier": "soft",
    "HardLabelClassifier": "hard",
    "OracleClassifier": "oracle",
    "RidgeClassifier": "ridge",
    "RidgeClassifierCV": "ridge",
}
_SPARE = (
    Look("", SKY, "P", (0, (8, 1.5))),
    Look("", PURPLE, "X", (0, (4, 1, 1, 1, 1, 1))),
    Look("", ORANGE, "v", (0, (2.5, 1.2))),
    Look("", BLUE, "D", (0, (5, 1))),
    Look("", BLACK, "*", (0, (1, 1))),
)
"""For classifiers that have no look of their own, in this order."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted classifier: the last step of a pipeline, and what comes before it."""

    name: str
    last: Any
    before: Any

    @property
    def soft(self) -> bool:
        """Whether decision values are those of soft labels: z less ½."""
        return isinstance(self.last, LinearLeastSquares)

    def transform(self, X: Any) -> Any:
        """Return rows as the last step gets them."""
        return X if self.before is None else self.before.transform(X)

    def decide(self, X: Any, *, by: Any = None) -> Array:
        """Return decision values: above 0 for the second class, or a column for each class.

        `by` is another classifier of rows as the last step gets them.
        """
        model = self.last if by is None else by
        X = self.transform(X)
        if hasattr(model, "decision_function"):
            return np.asarray(computed(model.decision_function(X)))
        shares = np.asarray(computed(model.predict_proba(X)))
        return shares[:, 1] - 0.5 if shares.shape[1] == 2 else shares

    def made_labels(self, n_rows: int) -> Array:
        """Return the labels that the fit gave to its rows, NaN where it gave none.

        Of two classes that of the second; of more a column for each.
        """
        made = _made_labels(self.last)
        if made is None:
            return np.full(n_rows, np.nan)
        if len(made) != n_rows:
            raise ValueError(
                f"X has {n_rows} rows, but {self.name} gave labels to the {len(made)} rows that it "
                "was fitted to; pass those."
            )
        return made[:, 1] if made.shape[1] == 2 else made


def read_fitted(estimator: Any) -> Fitted:
    """Return the classifier in an estimator, or say that it is not fitted."""
    name = type(estimator).__name__
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise NotFittedError(
            f"{name} is not fitted; call its fit with labeled and unlabeled rows, then plot it."
        ) from None
    estimator = getattr(estimator, "best_estimator_", estimator)
    if not hasattr(estimator, "steps"):
        return Fitted(type(estimator).__name__, estimator, None)
    last = estimator[-1]
    return Fitted(type(last).__name__, last, estimator[:-1] if len(estimator.steps) > 1 else None)


def _made_labels(model: Any) -> Array | None:
    """Return the labels that a fit made, with a column for each class."""
    if hasattr(model, "label_distributions_"):
        return np.asarray(computed(model.label_distributions_), dtype=float)
    if not hasattr(model, "transduction_"):
        return None
    made = np.asarray(computed(model.transduction_))
    found = (made[:, None] == model.classes_).astype(float)
    found[found.sum(axis=1) == 0.0] = np.nan  # of a row that was left without a label
    return found


def named(estimators: Any) -> dict[str, tuple[Any, Look]]:
    """Return estimators by name, each with a look of its own.

    Parameters
    ----------
    estimators : estimator, sequence of them, or mapping
        Where they have no names, those of their looks are taken, or of their classes.
    """
    if isinstance(estimators, Mapping):
        given: list[tuple[str, Any]] = [(str(key), one) for key, one in estimators.items()]
    elif isinstance(estimators, Sequence):
        given = [("", one) for one in estimators]
    else:
        given = [("", estimators)]
    if not given:
        raise ValueError("Got no classifier to draw; give one, a list of them, or a dict by name.")
    spare, taken, found = cycle(_SPARE), set(), {}
    for name, one in given:
        last = one.estimator if hasattr(one, "refit") else one  # of a search, before it is fitted
        last = last[-1] if hasattr(last, "steps") else last
        method = _METHODS.get(type(last).__name__)
        own = method is not None and method not in taken
        look = LOOKS[str(method)] if own else next(spare)
        taken.add(method)
        name = name or look.label or type(last).__name__
        while name in found:
            name += "′"
        found[name] = (one, replace(look, label=name))
    return found


def own_look(estimator: Any) -> Look:
    """Return the look of one classifier."""
    ((_, look),) = named([estimator]).values()
    return look
