"""The supervised classifier (§III): ridge regression on the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks

from ..core.curvature import copied_columns, fit_labeled
from ..core.labelings import soft
from ..core.objective import Objective
from ..core.rows import single_threaded_blas
from .base import LinearLeastSquares, check_width, fitted_state_kept


class LeastSquaresClassifier(LinearLeastSquares):
    """Fit the labels 0 and 1 by least squares, on the labeled rows alone.

    Minimises ``J_s(w) = ‖Xw - y‖² + alpha ‖w‖²`` (the intercept is not penalised); rows without a
    label are left out. With an intercept, twice its decision values are those of
    ``sklearn.linear_model.RidgeClassifier(alpha)``.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the ridge; the paper's λ.
    fit_intercept : bool, default=True
        Whether the decision values have a free constant. Without one the boundary z = ½ still
        holds for labels 0 and 1, so that centred columns classify badly: give X a constant column
        instead to have the constant penalised, as in the paper.
    class_weight : dict, "balanced" or None, default=None
        How much labeled rows of each class count.
    unlabeled : object, default=-1
        What marks a row without a label, besides NaN, None and pd.NA; None turns the marker off.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept less ½, so that the sign of the decision function tells the class.
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
            All rows. Those of Dask are never brought together.
        y : {array-like, Dask array or series} of shape (n_samples,)
            Their labels; a missing one is `unlabeled`, NaN, None or pd.NA.
        sample_weight : {array-like, Dask array or series} of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        self : LeastSquaresClassifier
            The fitted classifier.
        """
        with fitted_state_kept(self):
            problem = self._read(X, y, sample_weight, all_rows=False)
            rows = problem.rows.reweighted(unlabeled_weight=0.0)
            objective = Objective(rows, soft(problem.n_classes), float(self.alpha))
            check_width(objective)
            context = self._callback_context(max_subtasks=0)
            try:
                with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
                    w, _ = fit_labeled(objective)
                    value = rows.labeled_loss(w) + float(objective.ridge(w))
                    copies = copied_columns(objective)
            except FloatingPointError:
                problem.explain_overflow(self)
            self._set_weights(problem, w)
            self.objective_ = value
            if context is not None:
                context.call_on_fit_task_end(estimator=self)
        self._warn_of_copies(copies, stacklevel=4)
        return self
