"""Read what displays need from fitted classifiers, also inside pipelines and searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._inputs.dask import computed
from .._utils.typing import Array
from ..estimators._base import LinearLeastSquares
from ._style import BLACK, BLUE, METHOD_STYLES, ORANGE, PURPLE, SKY, MethodStyle

_METHODS = {
    "LeastSquaresClassifier": "supervised",
    "SoftLabelClassifier": "soft",
    "HardLabelClassifier": "hard",
    "OracleClassifier": "oracle",
    "RidgeClassifier": "ridge",
    "RidgeClassifierCV": "ridge",
}
_SPARE = (
    MethodStyle("", SKY, "P", (0, (8, 1.5))),
    MethodStyle("", PURPLE, "X", (0, (4, 1, 1, 1, 1, 1))),
    MethodStyle("", ORANGE, "v", (0, (2.5, 1.2))),
    MethodStyle("", BLUE, "D", (0, (5, 1))),
    MethodStyle("", BLACK, "*", (0, (1, 1))),
)
"""For classifiers without a style of their own, in this order."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted classifier: the last step of a pipeline, and the steps before it."""

    name: str
    last: Any
    before: Any

    @property
    def soft(self) -> bool:
        """Whether decision values are those of soft labels: z − ½."""
        return isinstance(self.last, LinearLeastSquares)

    def transform(self, X: Any) -> Any:
        """Return rows as the last step receives them."""
        return X if self.before is None else self.before.transform(X)

    def decide(self, X: Any, *, by: Any = None) -> Array:
        """Return decision values: one number per row if binary, else one column per class.

        `by` is another classifier that takes the place of the last step.
        """
        model = self.last if by is None else by
        X = self.transform(X)
        if hasattr(model, "decision_function"):
            return np.asarray(computed(model.decision_function(X)))
        shares = np.asarray(computed(model.predict_proba(X)))
        return shares[:, 1] - 0.5 if shares.shape[1] == 2 else shares

    def imputed_labels(self, n_rows: int) -> Array:
        """Return the labels that the fit imputed, NaN for rows without one.

        With two classes this is the label of the second; with more, one column per class.
        """
        imputed = _imputed_labels(self.last)
        if imputed is None:
            return np.full(n_rows, np.nan)
        if len(imputed) != n_rows:
            raise ValueError(
                f"X has {n_rows} rows, but {self.name} was fitted to {len(imputed)} rows; pass "
                "those."
            )
        return imputed[:, 1] if imputed.shape[1] == 2 else imputed


def read_fitted(estimator: Any) -> Fitted:
    """Return the classifier in an estimator; raise NotFittedError if it is not fitted."""
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


def _imputed_labels(model: Any) -> Array | None:
    """Return the labels that a fit imputed, one column per class, or None."""
    if hasattr(model, "label_distributions_"):
        return np.asarray(computed(model.label_distributions_), dtype=float)
    if not hasattr(model, "transduction_"):
        return None
    imputed = np.asarray(computed(model.transduction_))
    found = (imputed[:, None] == model.classes_).astype(float)
    found[found.sum(axis=1) == 0.0] = np.nan  # rows that were left without a label
    return found


def assign_styles(estimators: Any) -> dict[str, tuple[Any, MethodStyle]]:
    """Return estimators by name, each with a style of its own.

    Parameters
    ----------
    estimators : estimator, sequence of them, or mapping
        Without a mapping, an estimator is named after its style, or after its class.
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
        last = one.estimator if hasattr(one, "refit") else one  # a search that is not fitted
        last = last[-1] if hasattr(last, "steps") else last
        method = _METHODS.get(type(last).__name__)
        own = method is not None and method not in taken
        style = METHOD_STYLES[str(method)] if own else next(spare)
        taken.add(method)
        name = name or style.label or type(last).__name__
        while name in found:
            name += "′"
        found[name] = (one, replace(style, label=name))
    return found


def style_of(estimator: Any) -> MethodStyle:
    """Return the style of one classifier."""
    ((_, style),) = assign_styles([estimator]).values()
    return style
