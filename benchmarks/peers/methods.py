"""The methods that are compared, each as one function from training rows to a model.

Packages are imported only when used: a method may need its own environment, which has neither
semisquares nor this scikit-learn. Every method gets the same standardised rows. Methods are what a
user would write, except for two things that give peers a fair chance: the width of kernels is
adapted to the data (with scikit-learn's default gamma of 20 they reach no other row), and what
scikit-learn can tune by itself is tuned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import supervised

Array = NDArray[Any]

OURS, SKLEARN = "semisquares", "scikit-learn"
FOLDS = 5
NEIGHBOURS = 7
MOST_TO_MEASURE = 1000
"""The most rows from which the width of a kernel is measured."""
KERNEL = f"`gamma` 10 over the median squared distance to the {NEIGHBOURS}th neighbour"


@dataclass(frozen=True)
class Rows:
    """Training rows; `y` is −1 for rows without a label. `truth` is only for the oracle."""

    X: Array
    y: Array
    seed: int
    truth: Array

    @property
    def labeled(self) -> tuple[Array, Array]:
        known = self.y >= 0
        return self.X[known], self.y[known]

    @property
    def unlabeled(self) -> Array:
        return self.X[self.y < 0]

    @property
    def folds(self) -> int:
        """The largest number of folds for which every class has enough labels, at most five."""
        return max(2, min(FOLDS, int(np.bincount(self.labeled[1]).min())))


@dataclass(frozen=True)
class Method:
    """One method: `fit` returns a model with `predict`."""

    label: str
    package: str
    """The package to install."""
    fit: Callable[[Rows], Any]
    uses_unlabeled: bool = True
    what: str = ""
    """Its settings, as the pages describe them."""
    environment: str = ""
    """The name of its Python (`--python NAME=PATH`); this one if empty."""


# -- semisquares --------------------------------------------------------------------------------


def _averaged(rows: Rows) -> Any:
    from semisquares import AveragedClassifier

    return AveragedClassifier().fit(rows.X, rows.y)


def _averaged_supervised(rows: Rows) -> Any:
    from semisquares import AveragedClassifier

    return AveragedClassifier().fit(*rows.labeled)


def _soft_cv(rows: Rows) -> Any:
    from semisquares import SoftLabelClassifierCV

    return SoftLabelClassifierCV().fit(rows.X, rows.y)


def _soft_cv_supervised(rows: Rows) -> Any:
    from semisquares import SoftLabelClassifierCV

    return SoftLabelClassifierCV().fit(rows.X, rows.y).supervised_


def _soft(rows: Rows) -> Any:
    from semisquares import SoftLabelClassifier

    return SoftLabelClassifier(alpha=1.0).fit(rows.X, rows.y)


def _hard(rows: Rows) -> Any:
    from semisquares import HardLabelClassifier

    return HardLabelClassifier(alpha=1.0).fit(rows.X, rows.y)


# -- scikit-learn, with unlabeled rows ----------------------------------------------------------


def _self_training(rows: Rows) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    return SelfTrainingClassifier(LogisticRegression(max_iter=1000)).fit(rows.X, rows.y)


def _propagation_neighbours(rows: Rows) -> Any:
    from sklearn.semi_supervised import LabelPropagation

    return LabelPropagation(kernel="knn", n_neighbors=NEIGHBOURS).fit(rows.X, rows.y)


def _propagation_kernel(rows: Rows) -> Any:
    from sklearn.semi_supervised import LabelPropagation

    return LabelPropagation(gamma=kernel_width(rows.X)).fit(rows.X, rows.y)


def _spreading_neighbours(rows: Rows) -> Any:
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(kernel="knn", n_neighbors=NEIGHBOURS).fit(rows.X, rows.y)


def _spreading_kernel(rows: Rows) -> Any:
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(gamma=kernel_width(rows.X)).fit(rows.X, rows.y)


def kernel_width(X: Array) -> float:
    """Return the gamma of a Gaussian kernel that reaches a row's neighbours and few others.

    Ten over the median squared distance to the seventh neighbour: the best for these methods among
    five widths, on three splits of six tables. A kernel as wide as the whole cloud gives every row
    the class of the majority.
    """
    from sklearn.neighbors import NearestNeighbors

    some = X[:: -(-len(X) // MOST_TO_MEASURE)]
    near = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(X).kneighbors(some)[0][:, -1]
    return 10.0 / (float(np.median(near**2)) or 1.0)


# -- from PyPI ----------------------------------------------------------------------------------


def _tri_training(rows: Rows) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sslearn.wrapper import TriTraining

    base = LogisticRegression(max_iter=1000)
    return TriTraining(base_estimator=base, random_state=rows.seed).fit(rows.X, rows.y)


def _co_forest(rows: Rows) -> Any:
    from sslearn.wrapper import CoForest

    return CoForest(random_state=rows.seed).fit(rows.X, rows.y)


def _tsvm(rows: Rows) -> Any:
    from LAMDA_SSL.Algorithm.Classification.TSVM import TSVM

    model = TSVM(kernel="linear", Cl=1.0, probability=False, random_state=rows.seed)
    return _Inductive(model.fit(*rows.labeled, rows.unlabeled))


def _lap_svm(rows: Rows) -> Any:
    from LAMDA_SSL.Algorithm.Classification.LapSVM import LapSVM

    model = LapSVM(
        distance_function="knn", neighbor_mode="connectivity", n_neighbor=NEIGHBOURS,
        kernel_function="linear", gamma_A=1.0, gamma_I=1.0,
    )  # fmt: skip
    return model.fit(*rows.labeled, rows.unlabeled)


@dataclass(frozen=True)
class _Inductive:
    """Predict new rows with a transductive model of LAMDA-SSL."""

    model: Any

    def predict(self, X: Array) -> Array:
        return self.model.predict(X, Transductive=False)


def _supervised(label: str, fit: Callable[[Rows], Any], what: str) -> Method:
    """Return a classifier of scikit-learn that is fitted only to the labeled rows."""
    return Method(label, SKLEARN, fit, uses_unlabeled=False, what=what)


METHODS = {
    "averaged": Method("AveragedClassifier", OURS, _averaged, what="default settings"),
    "averaged_supervised": Method(
        "AveragedClassifier (labels alone)",
        OURS,
        _averaged_supervised,
        uses_unlabeled=False,
        what="default settings, fitted to the labeled rows alone; for comparison only",
    ),
    "soft_cv": Method("SoftLabelClassifierCV", OURS, _soft_cv, what="default settings"),
    "soft_cv_supervised": Method(
        "SoftLabelClassifierCV (labels alone)",
        OURS,
        _soft_cv_supervised,
        uses_unlabeled=False,
        what="its `supervised_`, chosen by the same rule; for comparison only",
    ),
    "soft": Method("SoftLabelClassifier", OURS, _soft, what="`alpha=1`"),
    "hard": Method("HardLabelClassifier", OURS, _hard, what="`alpha=1`"),
    "ridge_cv": _supervised(
        "RidgeClassifierCV",
        supervised.ridge_cv,
        "eight powers of ten around the scale of the labeled rows, by leave-one-out",
    ),
    "ridge_fine": _supervised(
        "RidgeClassifierCV (fine grid)",
        supervised.ridge_fine,
        "`alphas=np.logspace(-3, 4, 15)`, by leave-one-out",
    ),
    "ridge": _supervised("RidgeClassifier", supervised.ridge, "`alpha=1`"),
    "logistic": _supervised("LogisticRegression", supervised.logistic, "`C=1`"),
    "logistic_cv": _supervised(
        "LogisticRegressionCV",
        supervised.logistic_cv,
        "five values of `C` from 0.001 to 10, five folds, by log loss",
    ),
    "svc": _supervised(
        "SVC",
        supervised.svc,
        "Gaussian kernel, `C` of 0.1, 1, 10 and 100 by five folds; probabilities by "
        "`CalibratedClassifierCV`",
    ),
    "knn": _supervised(
        "KNeighborsClassifier",
        supervised.knn,
        "1, 3, 5, 9, 15 or 25 neighbours by five folds",
    ),
    "random_forest": _supervised(
        "RandomForestClassifier", supervised.random_forest, f"{supervised.TREES} trees"
    ),
    "extra_trees": _supervised(
        "ExtraTreesClassifier", supervised.extra_trees, f"{supervised.TREES} trees"
    ),
    "hist_gradient_boosting": _supervised(
        "HistGradientBoostingClassifier",
        supervised.hist_gradient_boosting,
        "default settings, but leaves of a third of the labels if that is less than 20 rows",
    ),
    "self_training": Method(
        "SelfTrainingClassifier",
        SKLEARN,
        _self_training,
        what="with `LogisticRegression`, `C=1`",
    ),
    "propagation_knn": Method(
        "LabelPropagation (neighbours)",
        SKLEARN,
        _propagation_neighbours,
        what=f"{NEIGHBOURS} nearest neighbours",
    ),
    "propagation_rbf": Method(
        "LabelPropagation (kernel)",
        SKLEARN,
        _propagation_kernel,
        what=KERNEL,
    ),
    "spreading_knn": Method(
        "LabelSpreading (neighbours)",
        SKLEARN,
        _spreading_neighbours,
        what=f"{NEIGHBOURS} nearest neighbours",
    ),
    "spreading_rbf": Method(
        "LabelSpreading (kernel)",
        SKLEARN,
        _spreading_kernel,
        what=KERNEL,
    ),
    "tri_training": Method(
        "TriTraining", "sslearn", _tri_training, what="with `LogisticRegression`, `C=1`"
    ),
    "co_forest": Method("CoForest", "sslearn", _co_forest, what="default settings: seven trees"),
    "tsvm": Method("TSVM", "LAMDA-SSL", _tsvm, what="linear, `Cl=1`", environment="lamda"),
    "lap_svm": Method(
        "LapSVM",
        "LAMDA-SSL",
        _lap_svm,
        what=f"{NEIGHBOURS} nearest neighbours, linear, `gamma_A=1`, `gamma_I=1`",
        environment="lamda",
    ),
    "oracle": _supervised(
        "RidgeClassifierCV (all labels)",
        supervised.oracle,
        "fitted to the labels of all training rows; for comparison only",
    ),
}
"""In the order of the tables: ours, supervised ones, others."""

REFERENCES = ("averaged_supervised", "soft_cv_supervised", "oracle")
"""References, not competitors: ours without unlabeled rows, and a fit with all labels."""
COMPETITORS = tuple(name for name in METHODS if name not in REFERENCES)
