"""Self-learning around any classifier (§II-A): label all, refit, until no label changes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import MetaEstimatorMixin, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from ..estimators.base import fitted_state_kept
from ..labels import Labels, read_labels
from .base import SemiSupervisedClassifier

Array = NDArray[Any]


def _estimator_has(name: str) -> Callable[[Any], bool]:
    """Tell whether the classifier inside has a method; its own error where it has not."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return check


class SelfLearning(MetaEstimatorMixin, SemiSupervisedClassifier):
    """Self-learning: a classifier that learns from its own predictions, whichever it is.

    With f(·; X, y) the classifier fitted to rows X and labels y, finds labels u with

        u = f(X_u; [X; X_u], [y; u])

    that is, labels which refitting leaves as they are:

    1. f is fitted to the labeled rows, and labels the others: u;
    2. f is fitted to all rows, labels y and u;
    3. f labels the unlabeled rows anew;
    4. end when no label has changed, or when all labels are as they were in an earlier step (then
       the steps go round in a circle); else 2 again.

    Around a classifier that minimises a loss, where labels are those of least loss too, the loss
    falls at every step and there are no circles: around ``LeastSquaresClassifier(alpha)`` this is
    ``HardLabelClassifier(alpha)``. In general there may be.

    Parameters
    ----------
    estimator : object
        The classifier: ``fit`` and ``predict`` of scikit-learn. X is handed to it as it is, be it
        sparse, a frame or a list of texts. One that draws random numbers needs its
        ``random_state``, or labels may never settle. One that reads a marker itself must not take
        a class for it.
    unlabeled : object, default=-1
        What marks a row without a label, besides NaN, None and pd.NA; None turns the marker off.
    max_iter : int, default=100
        Most times to fit all rows.
    init : "supervised" or array of shape (n_unlabeled,), default="supervised"
        The labels to start from: those that step 1 gives, or classes, one for each unlabeled row.

    Attributes
    ----------
    estimator_ : object
        The classifier, fitted to all rows.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    transduction_ : ndarray of shape (n_samples,)
        A label for every training row: the known ones, and those that `estimator_` predicts.
    n_iter_ : int
        How many times all rows were fitted.
    n_changed_ : list of int
        How many labels changed in each of them.
    termination_condition_ : {"no_change", "cycle", "max_iter"}
        Why it stopped.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    McLachlan, G. J. (1975). Iterative reclassification procedure for constructing an asymptotically
    optimal rule of allocation in discriminant analysis. JASA 70, 365-369.
    McLachlan, G. J. (1977). Estimating the linear discriminant function from initial samples
    containing a small number of unclassified observations. JASA 72, 403-406.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from semisquares.baselines.self_learning import SelfLearning
    >>> X = np.array([[-2.0], [-1.0], [1.5], [2.0], [-0.9], [0.0], [0.3], [2.2]])
    >>> y = ["no", "no", "yes", "yes", None, None, None, None]
    >>> model = SelfLearning(LinearDiscriminantAnalysis()).fit(X, y)
    >>> model.transduction_[4:].tolist(), model.termination_condition_
    (['no', 'no', 'yes', 'yes'], 'no_change')
    >>> model.predict([[-3.0], [3.0]]).tolist()
    ['no', 'yes']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "unlabeled": "no_validation",
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"supervised"}), "array-like"],
    }

    def __init__(
        self, estimator: Any, *, unlabeled: Any = -1, max_iter: int = 100, init: Any = "supervised"
    ) -> None:
        self.estimator = estimator
        self.unlabeled = unlabeled
        self.max_iter = max_iter
        self.init = init

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier to labeled and unlabeled rows.

        Parameters
        ----------
        X : array-like, sparse matrix or whatever the classifier takes, of n_samples rows
            All rows.
        y : array-like of shape (n_samples,)
            Their labels; a missing one is `unlabeled`, NaN, None or pd.NA.

        Returns
        -------
        self
            The fitted classifier.
        """
        with fitted_state_kept(self):
            if getattr(X, "dtype", np.dtype(float)).kind == "c":
                raise ValueError(f"Complex data not supported, got X of {X.dtype}; pass numbers.")
            validate_data(self, X, skip_check_array=True)
            X = X.tocsr() if issparse(X) else X
            labels = read_labels(y, unlabeled=self.unlabeled, n_rows=_num_samples(X))
            period = self._fit_rows(X, labels)
        if self.termination_condition_ != "no_change":
            what = f"labels that come back every {period} steps" if period else "changing labels"
            warnings.warn(
                f"SelfLearning stopped after {self.n_iter_} steps with {what} "
                f"({self.n_changed_[-1]} of them in the last); use another init"
                + ("." if period else ", or raise max_iter."),
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _fit_rows(self, X: Any, labels: Labels) -> int:
        """Fit, set the fitted attributes, and return after how many steps labels come back."""
        self.classes_ = labels.classes
        codes = np.zeros(labels.n_rows, dtype=np.intp)
        codes[labels.labeled] = labels.codes
        free = np.setdiff1d(np.arange(labels.n_rows), labels.labeled)
        X_u = _safe_indexing(X, free)
        codes[free] = self._start(X, X_u, labels, len(free))  # 1
        seen = {codes.tobytes(): 0}
        self.n_changed_: list[int] = []
        self.termination_condition_, period = "max_iter", 0
        while len(self.n_changed_) < self.max_iter:
            self.estimator_ = clone(self.estimator).fit(X, self.classes_[codes])  # 2
            before = codes[free]
            codes[free] = self._encode(self.estimator_.predict(X_u)) if len(free) else before  # 3
            self.n_changed_.append(int(np.count_nonzero(codes[free] != before)))
            step = len(self.n_changed_)
            first = seen.setdefault(codes.tobytes(), step)
            if first < step:  # 4
                no_change = first == step - 1
                self.termination_condition_ = "no_change" if no_change else "cycle"
                period = 0 if no_change else step - first
                break
        self.n_iter_ = len(self.n_changed_)
        self.transduction_ = self.classes_[codes]
        return period

    def _start(self, X: Any, X_u: Any, labels: Labels, n_unlabeled: int) -> Array:
        """Return the classes that unlabeled rows have at first."""
        if isinstance(self.init, str):
            if not n_unlabeled:
                return np.zeros(0, dtype=np.intp)
            known = self.classes_[labels.codes]
            supervised = clone(self.estimator).fit(_safe_indexing(X, labels.labeled), known)
            return self._encode(supervised.predict(X_u))
        given = np.asarray(self.init)
        if given.shape != (n_unlabeled,) or not np.isin(given, self.classes_).all():
            raise ValueError(
                f"init has shape {given.shape}; labels to start from are classes out of "
                f"{self.classes_.tolist()}, of shape {(n_unlabeled,)}: give one for each unlabeled "
                "row, in their order."
            )
        return self._encode(given)

    def _encode(self, predicted: Any) -> Array:
        """Return classes as indices."""
        return np.searchsorted(self.classes_, np.asarray(predicted).ravel())

    def _hand_on(self, method: str, X: Any) -> Any:
        """Call a method of the fitted classifier."""
        check_is_fitted(self)
        return getattr(self.estimator_, method)(X)

    def predict(self, X: Any) -> Array:
        """Predict the class of each row, as the classifier fitted to all rows does.

        Parameters
        ----------
        X : as in ``fit``
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        return self._hand_on("predict", X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """Return the decision function of the classifier fitted to all rows.

        Parameters
        ----------
        X : as in ``fit``
            Rows to decide on.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            As the classifier gives them.
        """
        return self._hand_on("decision_function", X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities of the classifier fitted to all rows.

        Parameters
        ----------
        X : as in ``fit``
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            As the classifier gives them.
        """
        return self._hand_on("predict_proba", X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
        tags.non_deterministic = inner.non_deterministic
        return tags
