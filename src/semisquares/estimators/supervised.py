"""The supervised classifier (§III): ridge regression on the labels."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import _fit_context
from sklearn.callback import with_callbacks

from .._inputs.arrays import Problem, check_finite_rows
from .._inputs.labels import user_level
from .._utils.typing import Array
from ..core.curvature import copied_columns, fit_labeled
from ..core.objective import Objective
from ._base import LinearLeastSquares, soft_objective
from ._progress import Progress


class LeastSquaresClassifier(LinearLeastSquares):
    """Fit the labels 0 and 1 by least squares, with the labeled rows alone.

    Minimises ``J_s(w) = ‖Xw - y‖² + alpha ‖w‖²`` (the intercept is not penalised); unlabeled rows
    are ignored. With an intercept, twice the decision values are those of
    ``sklearn.linear_model.RidgeClassifier(alpha)``.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the ridge; the paper's λ.
    fit_intercept : bool, default=True
        Whether to fit an unpenalised intercept. Without one the class boundary is still z = ½ for
        labels 0 and 1, so centred columns classify badly; to penalise the intercept as the paper
        does, give X a constant column instead.
    class_weight : dict, "balanced" or None, default=None
        Weights of the labeled rows by class.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept minus ½, so that the sign of the decision function gives the class.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    objective_ : float
        J_s at the solution.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from semisquares import LeastSquaresClassifier
    >>> X = [[-2.0], [-1.0], [1.0], [2.0], [3.0]]
    >>> model = LeastSquaresClassifier().fit(X, [0, 0, 1, 1, -1])
    >>> model.predict([[-3.0], [3.0]])
    array([0, 1])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        unlabeled: Any = -1,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.unlabeled = unlabeled

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LeastSquaresClassifier:
        """Fit the classifier to the labeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or frame} of shape (n_samples, n_features)
            All rows. With Dask they are never collected in one place. With `array_api_dispatch`,
            tensors and other arrays stay on their device, and fitted arrays will be there.
        y : {array-like, Dask array or series} of shape (n_samples,)
            Their labels; a missing one is `unlabeled`, NaN, None or pd.NA.
        sample_weight : {array-like, Dask array or series} of shape (n_samples,), optional
            The weight of each row.

        Returns
        -------
        self : LeastSquaresClassifier
            The fitted classifier.
        """
        with self._fitting(X, y, sample_weight, 0.0, ridge=self.alpha > 0.0) as problem:
            if not problem.partitioned:  # the fit does not sum the unlabeled rows
                check_finite_rows(self, problem.X)
            objective = soft_objective(problem, float(self.alpha))
            progress = Progress(self, max_subtasks=0)
            self._set_solution(problem, objective, fit_labeled(objective))
            dependent = copied_columns(objective)
            progress.end()
        if dependent:
            text = self._describe_dependent(dependent)
            warnings.warn(text, UserWarning, stacklevel=user_level())
        return self

    def _set_solution(self, problem: Problem, objective: Objective, w: Array) -> None:
        """Set the weights and J_s."""
        self._set_weights(problem, w)
        self.objective_ = problem.rows.labeled_loss(w) + float(objective.ridge(w))
