"""Self-learning with any classifier (§II-A): label all rows and refit until no label changes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import StrOptions

from .._inputs.labels import Labels
from .._utils.typing import Array
from ._base import STEPS, free_rows, label_all
from ._wrapped import WrappedClassifier


class SelfLearning(WrappedClassifier):
    """Self-learning: any classifier, trained on its own predictions.

    With f(·; X, y) the classifier fitted to rows X and labels y, finds labels u with

        u = f(X_u; [X; X_u], [y; u])

    that is, labels that refitting does not change:

    1. fit f to the labeled rows, and predict the others: u;
    2. fit f to all rows with the labels y and u;
    3. predict the unlabeled rows again;
    4. stop if no label has changed, or if all labels are those of an earlier step (a cycle);
       otherwise go to 2.

    If f minimises a loss and its predictions are the labels of least loss, the loss falls at every
    step and there are no cycles: with ``LeastSquaresClassifier(alpha)`` this is
    ``HardLabelClassifier(alpha)``. In general there may be cycles.

    Parameters
    ----------
    estimator : object
        A classifier with scikit-learn's ``fit`` and ``predict``. It gets X as it is: dense, sparse,
        a frame or a list of texts. If it draws random numbers, set its ``random_state``, or labels
        may never settle. If it has a marker for missing labels, that must not be one of the
        classes.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.
    max_iter : int, default=100
        The largest number of fits to all rows.
    init : "supervised" or array of shape (n_unlabeled,), default="supervised"
        The labels to start from: those of step 1, or one class for each unlabeled row.

    Attributes
    ----------
    estimator_ : object
        The classifier, fitted to all rows.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    transduction_ : ndarray of shape (n_samples,)
        A label for every training row: given, or predicted by `estimator_`.
    n_iter_ : int
        The number of fits to all rows.
    n_changed_ : list of int
        The number of labels that changed after each of them.
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
        **WrappedClassifier._parameter_constraints,
        "max_iter": STEPS,
        "init": [StrOptions({"supervised"}), "array-like"],
    }

    def __init__(
        self, estimator: Any, *, unlabeled: Any = -1, max_iter: int = 100, init: Any = "supervised"
    ) -> None:
        self.estimator = estimator
        self.unlabeled = unlabeled
        self.max_iter = max_iter
        self.init = init

    def _fit_rows(self, X: Any, labels: Labels) -> str | None:
        free = free_rows(labels)
        X_u = _safe_indexing(X, free)
        codes = label_all(labels, labels.codes, self._start(X, X_u, labels, len(free)))  # 1
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
        if self.termination_condition_ == "no_change":
            return None
        what = f"labels that come back every {period} steps" if period else "changing labels"
        return (
            f"stopped after {self.n_iter_} steps with {what} ({self.n_changed_[-1]} of them in the "
            f"last); use another init{'.' if period else ', or raise max_iter.'}"
        )

    def _start(self, X: Any, X_u: Any, labels: Labels, n_unlabeled: int) -> Array:
        """Return the labels of the unlabeled rows to start from."""
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
