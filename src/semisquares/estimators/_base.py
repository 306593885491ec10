"""Base classes of the classifiers: prediction, and reading the input of a fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from .._inputs.array_api import Place, check_place, to_numpy
from .._inputs.arrays import Problem, read_columns, read_problem
from .._inputs.checks import Number, check_masked, is_dask
from .._inputs.dask import check_columns, computed, lazily, read_dask_problem
from .._inputs.labels import labeled_values, one_column
from .._utils.typing import Array
from ..core.labelings import soft, soft_labels
from ..core.objective import MAX_DIRECT, Objective
from ..core.rows import HOST, single_threaded_blas
from ._lost_digits import lost_digits

LEAST_WEIGHT = 1e-150
"""A smaller weight of unlabeled rows is taken as 0: products of such numbers underflow."""


class DecidingClassifier(ClassifierMixin, BaseEstimator):
    """Base of all classifiers here and of the baselines: `predict` follows the decision values."""

    unlabeled: Any
    classes_: Array
    _fitted_array: ClassVar[str] = ""
    """A fitted array, which is where X of the fit was; "" without code for other libraries."""

    def decision_function(self, X: Any) -> Any:
        """Return decision values: one column if binary, else one per class."""
        raise NotImplementedError

    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Rows to predict, of any type that ``fit`` accepts.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        place = self._place(X, "predict")
        return place.put(self._class_of(place.get(self.decision_function(X))))

    def _class_of(self, scores: Any) -> Any:
        """Return the classes that follow from decision values."""
        classes = to_numpy(self.classes_)
        decide = partial(classes_of, classes=classes)
        if is_dask(scores):
            drop_axis = 1 if scores.ndim == 2 else None
            return scores.map_blocks(decide, drop_axis=drop_axis, dtype=classes.dtype)
        return decide(scores)

    def _place(self, X: Any, method: str) -> Place:
        """Return where X is, and its predictions will be; the fit must have been there, too."""
        if not self._fitted_array:
            return HOST
        check_is_fitted(self)
        return check_place(self, X, attribute=self._fitted_array, method=method)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labeled rows; unlabeled rows are ignored.

        Parameters
        ----------
        X : of shape (n_samples, n_features)
            Rows to predict, of any type that ``fit`` accepts.
        y : array-like of shape (n_samples,)
            Their labels; missing labels are marked as in ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            The weight of each row.

        Returns
        -------
        accuracy : float
            Between 0 and 1.
        """
        y, sample_weight = computed(y), to_numpy(computed(sample_weight))
        known, truth = labeled_values(one_column(y), self.unlabeled)
        if not known.any():
            raise ValueError(
                f"None of the {len(known)} rows of y has a label to score with; pass labeled rows."
            )
        predicted = to_numpy(computed(self.predict(X)))
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
    """Base of the linear classifiers: decision values z, with the class boundary at z = ½."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Number(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "unlabeled": "no_validation",
    }
    _arrays: ClassVar[float] = 0.0
    """A fit holds at least this many arrays with a number for each row and class."""
    _fitted_array = "coef_"

    alpha: float
    fit_intercept: bool
    class_weight: Any
    coef_: Array
    intercept_: Array

    # -- predicting ---------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Any:
        """Return ``X @ coef_.T + intercept_``: the decision value z less ½.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or frame} of shape (n_samples, n_features)
            Rows to predict. With Dask the result is computed later, here and below. With
            `array_api_dispatch` and an array of another library, it is an array of that library
            on the same device.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class; with more than two classes one column for each.
        """
        check_is_fitted(self)
        place = self._place(X, "decision_function")
        decide = partial(decision_values, coef=self.coef_, intercept=self.intercept_)
        if is_dask(X):
            check_columns(self, X, reset=False)
            return lazily(decide, X, () if len(self.coef_) == 1 else self.coef_.shape[:1])
        X = read_columns(self, X, dtype="numeric", accept_sparse=True, reset=False)
        return decide(place.floats(X))

    def predict_proba(self, X: Any) -> Any:
        """Return the soft label of each row: z clipped to [0, 1], or projected onto the simplex.

        This is the label that the soft-label method would impute, **not** a calibrated probability.
        For calibrated probabilities, fit ``CalibratedClassifierCV(FrozenEstimator(model))`` to
        labeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        soft_labels : ndarray of shape (n_samples, n_classes)
            Non-negative; each row sums to one.
        """
        place = self._place(X, "predict_proba")
        scores: Any = place.get(self.decision_function(X))
        if is_dask(scores):
            new_axis = 1 if scores.ndim == 1 else None
            chunks = (scores.chunks[0], (len(self.classes_),))
            z = scores + 0.5
            return z.map_blocks(soft_labels, new_axis=new_axis, chunks=chunks, dtype=z.dtype)
        return place.put(soft_labels(scores + 0.5))

    # -- fitting ------------------------------------------------------------------------------

    @contextmanager
    def _fitting(
        self, X: Any, y: Any, sample_weight: Any, unlabeled_weight: float, *, ridge: bool
    ) -> Iterator[Problem]:
        """Read the input and run a fit; if that fails, keep the earlier fit and explain why."""
        with fitted_state_kept(self):
            problem = self._read(X, y, sample_weight, unlabeled_weight, ridge=ridge)
            try:
                with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
                    yield problem
            except FloatingPointError:
                problem.explain_overflow(self)
            except np.linalg.LinAlgError:
                raise ValueError(
                    "The fit has no digits left to solve with, because "
                    f"{lost_digits(problem, self._feature_names)}."
                ) from None

    def _read(
        self, X: Any, y: Any, sample_weight: Any, unlabeled_weight: float, *, ridge: bool
    ) -> Problem:
        """Read the input of a fit; `ridge` is whether every alpha is positive."""
        weight = unlabeled_weight if unlabeled_weight >= LEAST_WEIGHT else 0.0
        if is_dask(X):
            return read_dask_problem(self, X, y, sample_weight, unlabeled_weight=weight)
        return read_problem(
            self, X, y, sample_weight, unlabeled_weight=weight, ridge=ridge, arrays=self._arrays
        )

    def _set_weights(self, problem: Problem, w: Array) -> None:
        self.classes_ = problem.y_place.put(problem.classes)
        self.coef_, self.intercept_ = map(problem.place.put, problem.to_user(w))

    @property
    def _feature_names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def _describe_dependent(self, dependent: tuple[int, ...], unproven: str = "") -> str:
        """Write a warning about columns that are combinations of others, with alpha = 0."""
        names = self._feature_names
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
        tags.array_api_support = True
        return tags


@contextmanager
def fitted_state_kept(estimator: Any) -> Iterator[None]:
    """Restore the fitted attributes if a fit fails, so that the earlier fit is not lost."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        for name in [name for name in vars(estimator) if name.endswith("_") and name[0] != "_"]:
            delattr(estimator, name)
        vars(estimator).update(before)
        raise


def decision_values(X: Any, coef: Array, intercept: Array) -> Array:
    """Return z - ½ for each row."""
    scores = safe_sparse_dot(X, coef.T, dense_output=True) + intercept
    return scores[:, 0] if scores.shape[1] == 1 else scores


def classes_of(scores: Array, classes: Array) -> Array:
    """Return the classes that follow from decision values."""
    codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.intp)
    return classes[codes]


def one_hot(codes: Array, n_classes: int) -> Array:
    """Return the one-hot encoding of class codes."""
    return np.eye(n_classes).take(codes, axis=0)


def soft_objective(problem: Problem, alpha: float) -> Objective:
    """Return J with soft labels; refuse alpha = 0 on a table too wide for Gram matrices."""
    objective = Objective(problem.rows, soft(problem.n_classes), alpha)
    if alpha == 0.0 and not objective.direct:
        raise ValueError(
            f"alpha=0 with {objective.rows.n_features} columns: the solution of least norm is only "
            f"found for up to {MAX_DIRECT}; pass alpha > 0 or fewer columns."
        )
    return objective


def check_scale(objective: Objective) -> None:
    """Refuse row weights whose sums overflow or vanish."""
    if not np.isfinite(objective.scale):
        raise FloatingPointError("overflow in a sum of weights")
    if objective.scale == 0.0:
        raise ValueError(
            "Weights of labeled rows are so small that J of the best constant is 0; multiply "
            "sample_weight, class_weight and, with them, alpha by a large number."
        )


def set_path(model: Any, path: Iterable[Any]) -> None:
    """Set `path_` if `record_path` is true; otherwise drop that of an earlier fit."""
    model.__dict__.pop("path_", None)
    if model.record_path:
        model.path_ = tuple(path)
