"""Base of the classifiers that wrap another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from scipy.sparse import issparse
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .._inputs.checks import check_dates, check_masked, check_names
from .._utils.typing import Array
from ._base import SemiSupervisedClassifier

__all__ = ["WrappedClassifier", "estimator_has"]


def estimator_has(name: str) -> Callable[[Any], bool]:
    """Tell whether the wrapped classifier has a method, or raise its own error."""

    def check(model: Any) -> bool:
        getattr(getattr(model, "estimator_", model.estimator), name)
        return True

    return check


class WrappedClassifier(MetaEstimatorMixin, SemiSupervisedClassifier):
    """Base of the classifiers that wrap another: X is passed on as it is, and so are methods."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SemiSupervisedClassifier._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"])],
    }

    estimator: Any
    estimator_: Any

    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or whatever the wrapped classifier takes
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        return self._classes(self._check(X))

    @available_if(estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities of the wrapped classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or whatever the wrapped classifier takes
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each of `classes_`.
        """
        return self._probabilities(self._check(X))

    @available_if(estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """Return the decision values of the wrapped classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or whatever the wrapped classifier takes
            Rows to predict.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class; with more than two classes one column for each.
        """
        X = self._check(X)
        return self.estimator_.decision_function(X)

    def _classes(self, X: Any) -> Array:
        """Predict, in the user's classes."""
        return self.estimator_.predict(X)

    def _probabilities(self, X: Any) -> Array:
        """Return the probabilities of the user's classes."""
        return self.estimator_.predict_proba(X)

    def _read_rows(self, X: Any) -> Any:
        """Set the number and names of the columns; the wrapped classifier checks the values."""
        kind = getattr(X, "dtype", None)
        if getattr(kind, "kind", "") == "c":
            raise ValueError(f"Complex data not supported, got X of {kind}; pass real numbers.")
        self._refuse_misread(X)
        self.__dict__.pop("n_features_in_", None)  # of an earlier fit: a list of texts has none
        validate_data(self, X, skip_check_array=True)
        return X.tocsr() if issparse(X) else X

    def _check(self, X: Any) -> Any:
        """Check the number and names of the columns of rows to predict."""
        check_is_fitted(self)
        self._refuse_misread(X)
        if len(getattr(X, "shape", (0, 0))) == 2:  # else the wrapped classifier raises its error
            validate_data(self, X, reset=False, skip_check_array=True)
        return X.tocsr() if issparse(X) else X

    def _refuse_misread(self, X: Any) -> None:
        """Refuse rows that a classifier of scikit-learn would misread.

        It reads dates as numbers, unless it is a pipeline that converts them itself.
        """
        check_names(X)
        check_masked("X", X)
        inner = self.estimator.get_params().values()
        transformed = any(hasattr(value, "transform") for value in inner)
        if type(self.estimator).__module__.startswith("sklearn.") and not transformed:
            check_dates(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
        tags.non_deterministic = inner.non_deterministic
        return tags
