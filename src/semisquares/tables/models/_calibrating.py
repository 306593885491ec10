"""Calibrate a classifier by decision values of labeled rows that were left out of its fit.

Slope and offsets minimise the log loss of the left-out rows plus the prior of
`families._calibration`, so that few labels or separable ones give moderate probabilities.

An intercept that was shifted to equal odds (`Setting.shift`) already has its offsets: then only the
slope is fitted, and the most probable class is always the predicted one.

Logistic regression, forests and boosting have probabilities of their own: slope and offsets correct
their log-odds, and the prior is that there is nothing to correct.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import special
from scipy.optimize import brentq

from ..._inputs.untested import rows_to_test
from ..._utils.typing import Array
from ...families._calibration import CAUTION, calibrate
from ...families.least_squares import SAME, USUAL
from ..compare._rivals import ALONE
from ..compare._rows import TableRows
from ..compare.splits import grouped_folds, training_mask
from ..errors import TableError
from ._calibration import DecisionCalibration, by_class
from ._measuring import Setting, fit_setting
from .predictors.trees import forest_log_odds

__all__ = [
    "calibrate_decisions",
    "calibrate_fit",
    "calibrate_log_odds",
    "calibrate_method",
    "decision_values",
    "left_out_decisions",
]

FOLDS, FEW_FOLDS = 10, 5
"""The second number is for methods of scikit-learn, whose fits take longer."""
ENOUGH = 4_000
"""No further fold is left out once this many rows were: a few numbers need no more."""
LARGEST_LOG = 12.0
"""Slopes stay within a factor of exp(12) of the usual one."""


def calibrate_fit(
    rows: TableRows,
    setting: Setting,
    classifier: Any,
    left_out: tuple[Array, Array] | None = None,
) -> DecisionCalibration:
    """Calibrate a fitted classifier by fits with the same setting that leave labeled rows out.

    If no row can be left out, the usual slope for its decision values on the labeled rows is taken.

    Parameters
    ----------
    rows : TableRows
        All labeled rows of the fit, and all or many of the others.
    setting : Setting
        The parameters of the fit.
    classifier : classifier
        Fitted with them.
    left_out : tuple of ndarray, optional
        What `left_out_decisions` returns for these rows, if it is known.
    """
    labeled = rows.codes >= 0
    counts = np.bincount(rows.codes[labeled], minlength=2)
    decision, codes = left_out or left_out_decisions(rows, setting)
    if not len(codes):
        decision = decision_values(classifier, rows.X[labeled])
    return calibrate_method(setting, decision, codes, counts)


def calibrate_method(
    setting: Setting, decision: Array, codes: Array, counts: Array
) -> DecisionCalibration:
    """Calibrate decision values of left-out rows as their method needs it.

    Parameters
    ----------
    setting : Setting
    decision, codes, counts
        As in `calibrate_decisions`, or `calibrate_log_odds` for methods with probabilities.
    """
    if setting.method in ALONE:
        return calibrate_log_odds(decision, codes, counts)
    return calibrate_decisions(decision, codes, counts, balanced=bool(setting.shift))


def left_out_decisions(rows: TableRows, setting: Setting) -> tuple[Array, Array]:
    """Return decision values of labeled rows by fits without them, and the rows' classes.

    Both are empty if fewer than two classes can be tested.
    """
    decisions, codes = [np.empty(0)], [np.empty(0, dtype=np.intp)]
    n_folds = FEW_FOLDS if setting.method in ALONE else FOLDS
    for test in _folds(rows, n_folds, setting.seed):
        inside = training_mask(test, rows.codes, rows.groups)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all rows gives them again
            try:
                model = fit_setting(setting, rows, inside)
            except TableError:  # fewer labels than those of the fit may be too few for a method
                continue
        decisions.append(decision_values(model, rows.X[test]))
        codes.append(rows.codes[test])
    return np.concatenate(decisions[1:] or decisions), np.concatenate(codes)


def decision_values(classifier: Any, X: Array) -> Array:
    """Return decision values, of a forest log-odds, as `Predictor.to_calibrate` does.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X = np.array([[0.0], [0.0], [5.0], [5.0]])
    >>> forest = RandomForestClassifier(bootstrap=False).fit(X, [0, 0, 1, 1])
    >>> decision_values(forest, X).round(2).tolist()
    [-5.3, -5.3, 5.3, 5.3]
    """
    if hasattr(classifier, "decision_function"):
        return np.asarray(classifier.decision_function(X))
    p = np.asarray(classifier.predict_proba(X))
    return forest_log_odds(p[:, 1] - 0.5 if p.shape[1] == 2 else p, len(classifier.estimators_))


def calibrate_decisions(
    decision: Array, codes: Array, counts: Array, *, balanced: bool = False
) -> DecisionCalibration:
    """Fit slope and offsets to decision values of left-out rows.

    Parameters
    ----------
    decision : ndarray of shape (n,) or (n, n_classes)
        Decision values of left-out rows.
    codes : ndarray of shape (n,)
        Their classes; empty if they are not left out, for the usual slope.
    counts : ndarray of shape (n_classes,)
        The number of labels of each class.
    balanced : bool, default=False
        Whether equal decision values already mean equal odds, so that offsets are 0.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.integers(2, size=100_000)
    >>> decision = rng.normal(size=100_000) + codes - 0.5   # then the odds are exp(decision)
    >>> found = calibrate_decisions(decision, codes, np.bincount(codes))
    >>> round(found.slope, 1), found.probabilities(np.array([0.0, 1.0]))[:, 1].round(2)
    (1.0, array([0.5 , 0.73]))
    """
    scores = by_class(decision)
    shares = (counts + 0.5) / (counts + 0.5).sum()
    doubt = float(1.0 / (counts.sum() + 2.0))
    center = scores.mean(axis=0)
    size = float(np.sqrt(np.mean((scores - center) ** 2)))
    if not size > SAME:  # every row has the same decision values
        return DecisionCalibration(0.0, np.log(shares), doubt)
    unit = USUAL / size
    if balanced:
        slope = unit * (_fit_slope(unit * scores, codes) if len(codes) else 1.0)
        return DecisionCalibration(slope, np.zeros(len(counts)), doubt)
    odds = unit * (scores - center)
    slope, offsets = unit, np.log(shares)
    if len(codes):
        found = calibrate(odds[None], codes, np.ones(len(codes)), shares)
        slope, offsets = unit * float(found.slopes[0]), offsets + found.offsets[0]
    offsets = offsets - slope * center
    return DecisionCalibration(slope, offsets - offsets.mean(), doubt)


def calibrate_log_odds(log_odds: Array, codes: Array, counts: Array) -> DecisionCalibration:
    """Correct the log-odds of a classifier that has probabilities, if left-out rows tell to.

    Parameters
    ----------
    log_odds : ndarray of shape (n,) or (n, n_classes)
        Of left-out rows: of the second class, or up to a constant in each row for all classes.
    codes : ndarray of shape (n,)
        Their classes; empty if they are not left out: then nothing is corrected.
    counts : ndarray of shape (n_classes,)
        The number of labels of each class.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.integers(2, size=10_000)
    >>> log_odds = rng.normal(size=10_000) + codes - 0.5
    >>> found = calibrate_log_odds(3.0 * log_odds, codes, np.bincount(codes))  # too sure
    >>> round(found.slope, 2)
    0.33
    """
    shares = (counts + 0.5) / (counts + 0.5).sum()
    doubt = float(1.0 / (counts.sum() + 2.0))
    if not len(codes):
        return DecisionCalibration(1.0, np.zeros(len(counts)), doubt)
    # so that slope 1 without offsets is the classifier's own probability, and slope 0 the share
    odds = by_class(log_odds) - np.log(shares)
    found = calibrate(odds[None], codes, np.ones(len(codes)), shares)
    slope = float(found.slopes[0])
    offsets = found.offsets[0] + (1.0 - slope) * np.log(shares)
    return DecisionCalibration(slope, offsets - offsets.mean(), doubt)


def _fit_slope(log_odds: Array, codes: Array) -> float:
    """Return the slope b that minimises log loss + ½ CAUTION log(b)², without offsets."""
    own = log_odds[np.arange(len(codes)), codes].sum()

    def derivative(log_slope: float) -> float:
        slope = np.exp(log_slope)
        mean = np.einsum("ik,ik->", special.softmax(slope * log_odds, axis=1), log_odds)
        return float(slope * (mean - own) + CAUTION * log_slope)

    low, high = -LARGEST_LOG, LARGEST_LOG
    if derivative(low) >= 0.0 or derivative(high) <= 0.0:
        return float(np.exp(low if derivative(low) >= 0.0 else high))
    return float(np.exp(brentq(derivative, low, high, xtol=1e-14)))


def _folds(rows: TableRows, n_folds: int, seed: int) -> list[Array]:
    """Return the rows to leave out at a time: each labeled row once, or enough of them.

    A class with a single label (with groups: in a single group) is always fitted. Otherwise a fold
    leaves some labels of every class, but unlike those of `plan` it need not test every class.
    """
    codes, groups = rows.codes, rows.groups
    tested = rows_to_test(codes, groups)
    if len(np.unique(codes[tested])) < 2:
        return []
    if groups is not None:
        found = grouped_folds(np.where(tested, codes, -1), groups, folds=n_folds, seed=seed)
        folds = found[0] if found else []
    else:
        places = np.random.default_rng(seed).permutation(np.flatnonzero(tested))
        places = places[np.argsort(codes[places], kind="stable")]
        folds = [fold for k in range(n_folds) if len(fold := np.sort(places[k::n_folds]))]
    sizes = np.cumsum([len(fold) for fold in folds])
    return folds[: 1 + int(np.searchsorted(sizes, ENOUGH))]
