"""Supervised classifiers, which people use when labels are few.

They are fitted only to the labeled rows. What scikit-learn can tune by itself is tuned, with the
same folds for every classifier. As in `methods`, packages are imported only when used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .methods import Rows

Array = NDArray[Any]

N_ALPHAS = 9
FINE_ALPHAS = np.logspace(-3, 4, 15)
CS = (0.001, 0.01, 0.1, 1.0, 10.0)
SVC_CS = (0.1, 1.0, 10.0, 100.0)
NEIGHBOURS_TRIED = (25, 15, 9, 5, 3, 1)
"""In decreasing order: of two that are equally good, the smoother is taken."""
TREES = 300
LEAF_SHARE = 3
"""A leaf of a boosted tree has at least a third of the labels, or the default of 20 if fewer."""


def alphas_of(X: Array) -> Array:
    """Return ridges over eight powers of ten around the mean eigenvalue of the labeled rows."""
    spread = float(((X - X.mean(axis=0)) ** 2).sum())
    return np.logspace(-4, 4, N_ALPHAS) * (spread / max(1, min(len(X) - 1, X.shape[1])) or 1.0)


def ridge_cv(rows: Rows) -> Any:
    from sklearn.linear_model import RidgeClassifierCV

    X, y = rows.labeled
    return RidgeClassifierCV(alphas_of(X)).fit(X, y)


def ridge_fine(rows: Rows) -> Any:
    from sklearn.linear_model import RidgeClassifierCV

    return RidgeClassifierCV(FINE_ALPHAS).fit(*rows.labeled)


def ridge(rows: Rows) -> Any:
    from sklearn.linear_model import RidgeClassifier

    return RidgeClassifier(alpha=1.0).fit(*rows.labeled)


def oracle(rows: Rows) -> Any:
    from sklearn.linear_model import RidgeClassifierCV

    return RidgeClassifierCV(alphas_of(rows.X)).fit(rows.X, rows.truth)


def logistic(rows: Rows) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(*rows.labeled)


def logistic_cv(rows: Rows) -> Any:
    from sklearn.linear_model import LogisticRegressionCV

    model = LogisticRegressionCV(
        Cs=list(CS), cv=rows.folds, scoring="neg_log_loss", max_iter=1000,
        use_legacy_attributes=False, l1_ratios=(0.0,),
    )  # fmt: skip
    return model.fit(*rows.labeled)


def random_forest(rows: Rows) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=rows.seed).fit(*rows.labeled)


def extra_trees(rows: Rows) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(TREES, random_state=rows.seed).fit(*rows.labeled)


def hist_gradient_boosting(rows: Rows) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = rows.labeled
    model = HistGradientBoostingClassifier(
        min_samples_leaf=leaf_size(len(y)), random_state=rows.seed
    )
    return model.fit(X, y)


def leaf_size(n_labels: int) -> int:
    """Return the minimum size of a leaf: scikit-learn's 20 needs 40 rows for a single split.

    Examples
    --------
    >>> leaf_size(10), leaf_size(20), leaf_size(1000)
    (3, 6, 20)
    """
    return max(2, min(20, n_labels // LEAF_SHARE))


def knn(rows: Rows) -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier

    X, y = rows.labeled
    most = len(y) - -(-len(y) // rows.folds)  # rows in the smallest training part
    tried = [k for k in NEIGHBOURS_TRIED if k <= most]
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": tried}, cv=rows.folds).fit(X, y)


def svc(rows: Rows) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    X, y = rows.labeled
    model = GridSearchCV(SVC(), {"C": SVC_CS}, cv=rows.folds).fit(X, y).best_estimator_
    return _Platt(model, CalibratedClassifierCV(model, cv=rows.folds, ensemble=False).fit(X, y))


@dataclass(frozen=True)
class _Platt:
    """Classes by the sign of the decision value, probabilities by Platt's sigmoid.

    This is what ``SVC(probability=True)`` did; scikit-learn 1.9 tells users to write it like this.
    """

    model: Any
    calibrated: Any

    @property
    def classes_(self) -> Array:
        return self.calibrated.classes_

    def predict(self, X: Array) -> Array:
        return self.model.predict(X)

    def predict_proba(self, X: Array) -> Array:
        return self.calibrated.predict_proba(X)
