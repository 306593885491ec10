"""What the classifiers share: reading the input, predicting, and the fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
)

from .._inputs.arrays import Problem, explain_overflow, read_columns, read_problem, read_table
from .._inputs.checks import Number, check_masked
from .._inputs.dask import check_columns, computed, is_dask, lazily, read_dask_problem
from .._inputs.labels import labeled_values, one_column
from ..core.labelings import project_simplex
from ..core.objective import MAX_DIRECT, Objective

Array = NDArray[Any]


class DecidingClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers here and of their rivals: the decision function tells the class."""

    unlabeled: Any
    classes_: Array

    def decision_function(self, X: Any) -> Any:
        """Return what speaks for the second class, positive or not; of more classes, for each."""
        raise NotImplementedError

    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Rows to predict, of a kind that ``fit`` takes.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        return self._class_of(self.decision_function(X))

    def _class_of(self, scores: Any) -> Any:
        """Return the class that decision values speak for."""
        decide = partial(classes_of, classes=self.classes_)
        if is_dask(scores):
            drop_axis = 1 if scores.ndim == 2 else None
            return scores.map_blocks(decide, drop_axis=drop_axis, dtype=self.classes_.dtype)
        return decide(scores)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the rows that have a label; the others are left out.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Rows to predict, of a kind that ``fit`` takes.
        y : array-like of shape (n_samples,)
            Their labels; a missing one is marked as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        accuracy : float
            Between 0 and 1.
        """
        y, sample_weight = computed(y), computed(sample_weight)
        known, truth = labeled_values(one_column(y), self.unlabeled)
        if not known.any():
            raise ValueError(
                f"None of the {len(known)} rows of y has a label to score with; pass labeled rows."
            )
        predicted = computed(self.predict(X))
        weight = np.ones(len(predicted))
        if sample_weight is not None:
            check_masked("sample_weight", sample_weight)
            weight = _check_sample_weight(
                sample_weight,
                sample_weight,
                ensure_non_negative=True,
                allow_all_zero_weights=True,
            )
        for name, length in (("y", len(known)), ("sample_weight", len(weight))):
            if length != len(predicted):
                raise ValueError(
                    f"{name} has {length} rows but X has {len(predicted)}; give {name} one value "
                    "per row of X."
                )
        right = truth == predicted[known]
        if not weight[known].sum() > 0.0:
            raise ValueError(
                f"All {known.sum()} labeled rows' weights are zero; give some of them a weight."
            )
        return float(np.average(right, weights=weight[known]))


class LinearLeastSquares(CallbackSupportMixin, DecidingClassifier):
    """Base of the classifiers: linear decision values z, a class boundary at z = ½."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Number(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "unlabeled": "no_validation",
    }

    alpha: float
    fit_intercept: bool
    class_weight: Any
    coef_: Array
    intercept_: Array

    _arrays: ClassVar[float] = 0.0
    """How many arrays with a number for each row and class a fit holds at least."""

    # -- predicting ---------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Any:
        """Return ``X @ coef_.T + intercept_``: the decision value z less ½.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or frame} of shape (n_samples, n_features)
            Rows to decide on; those of Dask when the result is computed, likewise below.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class; with more than two classes one column for each.
        """
        check_is_fitted(self)
        decide = partial(decision_values, coef=self.coef_, intercept=self.intercept_)
        if is_dask(X):
            check_columns(self, X, reset=False)
            return lazily(decide, X, () if len(self.coef_) == 1 else self.coef_.shape[:1])
        return decide(read_columns(self, X, dtype="numeric", accept_sparse=True, reset=False))

    def predict_proba(self, X: Any) -> Any:
        """Return the soft label of each row: z clipped to [0, 1], or projected on the simplex.

        This is the label that the soft-label method would fill in, **not** a calibrated
        probability. For those, fit ``CalibratedClassifierCV(FrozenEstimator(model))`` on labeled
        rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        soft_labels : ndarray of shape (n_samples, n_classes)
            Non-negative, each row summing to one.
        """
        scores = self.decision_function(X)
        if is_dask(scores):
            new_axis = 1 if scores.ndim == 1 else None
            chunks = (scores.chunks[0], (len(self.classes_),))
            z = scores + 0.5
            return z.map_blocks(soft_labels, new_axis=new_axis, chunks=chunks, dtype=z.dtype)
        return soft_labels(scores + 0.5)

    # -- fitting ------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any, sample_weight: Any, *, all_rows: bool) -> Problem:
        """Read the input; NaN in rows that the fit will not sum is looked for here."""
        if is_dask(X):
            return read_dask_problem(
                self,
                X,
                y,
                sample_weight,
                fit_intercept=self.fit_intercept,
                unlabeled=self.unlabeled,
                class_weight=self.class_weight,
                bar=bool(getattr(self, "verbose", False)),
            )
        try:
            problem = read_problem(
                self,
                X,
                y,
                sample_weight,
                fit_intercept=self.fit_intercept,
                unlabeled=self.unlabeled,
                class_weight=self.class_weight,
                ridge=self._has_ridge(),
                arrays=self._arrays,
            )
        except FloatingPointError:
            explain_overflow(self, read_table(self, X))
        if not all_rows:
            assert_all_finite(problem.X, input_name="X", estimator_name=type(self).__name__)
        return problem

    def _has_ridge(self) -> bool:
        return self.alpha > 0.0

    def _callback_context(self, max_subtasks: int | None) -> Any:
        """Tell callbacks that a fit begins; None where there are none to tell."""
        if not getattr(self, "_skl_callbacks", None) and not hasattr(self, "_parent_callback_ctx"):
            return None
        context = self._init_callback_context(max_subtasks=max_subtasks)
        context.call_on_fit_task_begin(estimator=self)
        return context

    def _set_weights(self, problem: Problem, w: Array) -> None:
        self.classes_ = problem.classes
        self.coef_, self.intercept_ = problem.to_user(w)

    def _warn_of_copies(self, dependent: tuple[int, ...], stacklevel: int) -> None:
        """Warn that columns are combinations of others, so that alpha = 0 leaves weights open."""
        if dependent:
            warnings.warn(self._copies(dependent), UserWarning, stacklevel=stacklevel + 1)

    def _copies(self, dependent: tuple[int, ...], unproven: str = "") -> str:
        """Name the columns that are combinations of others, and what to do about them."""
        names = getattr(self, "feature_names_in_", None)
        shown = [repr(names[j]) if names is not None else str(j) for j in dependent[:10]]
        more = len(dependent) - len(shown)
        return (
            f"Columns {', '.join(shown)}{f' and {more} more' if more > 0 else ''} are combinations "
            f"of other columns, so alpha=0 leaves the weights open; those of least norm were taken"
            f"{unproven}: drop these columns or pass alpha > 0."
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@contextmanager
def fitted_state_kept(estimator: Any) -> Iterator[None]:
    """Put the fitted attributes back as they were where a fit fails: it loses nothing."""

    def fitted() -> dict[str, Any]:
        return {k: v for k, v in vars(estimator).items() if k.endswith("_") and k[0] != "_"}

    before = fitted()
    try:
        yield
    except BaseException:
        for name in fitted():
            delattr(estimator, name)
        vars(estimator).update(before)
        raise


def decision_values(X: Any, coef: Array, intercept: Array) -> Array:
    """Return z - ½ for each row."""
    scores = safe_sparse_dot(X, coef.T, dense_output=True) + intercept
    return scores[:, 0] if scores.shape[1] == 1 else scores


def classes_of(scores: Array, classes: Array) -> Array:
    """Return the class that decision values speak for."""
    codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.intp)
    return classes[codes]


def soft_labels(z: Array) -> Array:
    """Return the soft label of each decision value, one column for each class."""
    if z.ndim == 2:
        return project_simplex(z)
    u = np.empty((len(z), 2))
    np.clip(z, 0.0, 1.0, out=u[:, 1])
    np.subtract(1.0, u[:, 1], out=u[:, 0])
    return u


def one_hot(codes: Array, n_classes: int) -> Array:
    """Return one row of zeros and a one for each code."""
    rows = np.zeros((len(codes), n_classes))
    for k in range(n_classes):
        rows[:, k] = codes == k
    return rows


def check_width(objective: Objective) -> None:
    """Refuse what has no answer here: alpha = 0 on a table too wide for Gram matrices."""
    if objective.alpha == 0.0 and not objective.direct:
        raise ValueError(
            f"alpha=0 with {objective.rows.n_features} columns: the solution of least norm is only "
            f"found for up to {MAX_DIRECT}; pass alpha > 0 or fewer columns."
        )


def check_scale(objective: Objective) -> None:
    """Refuse weights of rows whose sums overflow, or vanish."""
    if not np.isfinite(objective.scale):
        raise FloatingPointError("overflow in a sum of weights")
    if objective.scale == 0.0:
        raise ValueError(
            "Weights of labeled rows are so small that J of the best constant is 0; multiply "
            "sample_weight, class_weight and, with them, alpha by a large number."
        )
