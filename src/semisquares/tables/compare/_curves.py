"""Learning curves: the error against the number of unlabeled rows, and against that of labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..._utils.typing import Array
from ...estimators import SoftLabelClassifier
from ._evaluation import Progress, ordered_map, split_seed
from ._rows import TableRows
from ._tuning import fit_pair, fit_rows
from .comparison import CurvePoint, Estimate, LabelTrend
from .intervals import honest_score, interval
from .splits import Plan, stratified_order, training_mask
from .verdict import MARGIN, most_to_gain

__all__ = ["curve_repeats", "label_curve", "label_trend", "unlabeled_curve"]


N_SIZES = 6
LARGEST = 20_000
"""With more unlabeled rows, the only larger size is all of them."""
FRACTIONS = (1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)
"""Shares of the labels of a training set."""
MANY_LABELS = 5_000
"""With more labels, one repeat of the folds is exact enough for a curve."""


def unlabeled_curve(
    rows: TableRows,
    planned: Plan,
    *,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[CurvePoint, ...]:
    """Return the errors of "soft_cv" and "soft" with more and more unlabeled rows.

    Smaller sets of rows are nested in larger ones. The tuned ridge, which uses none, has the same
    error at 0 and at the largest size, so that a line can be drawn.

    Parameters
    ----------
    rows, seed, jobs, progress
        As in `evaluate`.
    planned : Plan
        The splits.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.tables.compare.splits import plan
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=60)
    >>> X = rng.normal(size=(60, 2)) + 3 * truth[:, None]
    >>> codes = np.where(np.arange(60) < 12, truth, -1)
    >>> points = unlabeled_curve(TableRows(X, codes), plan(codes, folds=2, repeats=1))
    >>> [point.n for point in points if point.method == "soft"]
    [1, 3, 6, 12, 24, 48]
    """
    n_unlabeled = [_count_unlabeled(rows, test) for test in planned.tests]
    sizes = _sizes(min(n_unlabeled))
    errors = _measure(partial(_with_unlabeled, rows, seed), planned, sizes, jobs, progress)
    n = (*sizes, round(rows.count * float(np.mean(n_unlabeled))))
    ridge = _estimate(errors[:, 0, 2], planned)
    return (
        *_points("soft_cv", n, errors[:, :, 0], planned),
        *_points("soft", n, errors[:, :, 1], planned),
        CurvePoint("ridge", 0, ridge),
        CurvePoint("ridge", n[-1], ridge),
    )


def label_curve(
    rows: TableRows,
    planned: Plan,
    *,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[tuple[CurvePoint, ...], LabelTrend]:
    """Return the errors of "soft_cv" and "ridge" with more and more labels, and their trend.

    Labels are drawn in proportion to the classes, at least two of each; smaller sets are nested in
    larger ones. Labeled rows that are left out are not used as unlabeled ones. If there are more
    than `search_size` unlabeled rows, a weighted sample of them is used.

    Parameters
    ----------
    rows, planned, seed, jobs, progress
        As in `unlabeled_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.tables.compare.splits import plan
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=60)
    >>> X = rng.normal(size=(60, 2)) + 3 * truth[:, None]
    >>> codes = np.where(np.arange(60) < 40, truth, -1)
    >>> points, trend = label_curve(TableRows(X, codes), plan(codes, repeats=1))
    >>> [point.n for point in points if point.method == "ridge"]
    [4, 8, 16, 24, 32]
    """
    n_train = [planned.n_labeled - len(test) for test in planned.tests]
    sizes = _label_sizes(min(n_train), int(rows.codes.max()) + 1)
    errors = _measure(partial(_with_labels, rows, seed), planned, sizes, jobs, progress)
    n = (*sizes, round(float(np.mean(n_train))))
    points = (
        *_points("soft_cv", n, errors[:, :, 0], planned),
        *_points("ridge", n, errors[:, :, 1], planned),
    )
    return points, label_trend(n, errors[:, :, 1], planned)


def label_trend(sizes: Sequence[int], errors: Array, planned: Plan) -> LabelTrend:
    """Summarise what the last doubling of labels brought the tuned ridge.

    Parameters
    ----------
    sizes : sequence of int
        Increasing numbers of labels learned from.
    errors : ndarray of shape (n_splits, n_sizes)
        Of the tuned ridge.
    planned : Plan
        The splits.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.array([[0.12, 0.10], [0.13, 0.10], [0.12, 0.09], [0.13, 0.11]])
    >>> trend = label_trend([24, 48], errors, Plan(folds=5, repeats=2, tests=(), n_labeled=60))
    >>> trend.outlook, trend.n_before, trend.n_after, round(trend.error_before, 3)
    ('less', 24, 48, 0.125)
    """
    doublings = np.log2(np.array(sizes[:-1] or sizes) / sizes[-1])
    first = int(np.argmin(np.abs(doublings + 1)))  # about half as many labels as the last
    before, after = errors[:, first], errors[:, -1]
    drop = interval(before - after, planned.ratio)
    if len(sizes) < 2:
        outlook = "unknown"
    elif not after.any():
        outlook = "perfect"
    elif drop.low > 0.0:
        outlook = "less"
    elif drop.high < 0.0 or most_to_gain(drop, planned.n_labeled) < MARGIN:
        outlook = "little"
    else:
        outlook = "unclear"
    return LabelTrend(
        outlook,
        n_before=sizes[first],
        n_after=sizes[-1],
        error_before=float(before.mean()),
        error_after=float(after.mean()),
        n_labels=planned.n_labeled,
        repeats=planned.repeats,
    )


def curve_repeats(n_labels: int) -> int:
    """Return the number of repeats of the folds that a curve needs.

    Examples
    --------
    >>> curve_repeats(60), curve_repeats(6_000)
    (2, 1)
    """
    return 2 if n_labels <= MANY_LABELS else 1


def _measure(
    work: Callable[[Any], tuple[float, ...]],
    planned: Plan,
    sizes: Sequence[int],
    jobs: int,
    progress: Progress | None,
) -> Array:
    """Return errors of shape (n_splits, n_sizes + 1, n_methods); the last size is all rows."""
    items = [(k, test, size) for k, test in enumerate(planned.tests) for size in (*sizes, None)]
    errors = np.array(ordered_map(work, items, jobs=jobs, progress=progress))
    return errors.reshape(len(planned.tests), len(sizes) + 1, -1)


def _count_unlabeled(rows: TableRows, test: Array) -> int:
    """Count the unlabeled rows of a training set."""
    return int((training_mask(test, rows.codes, rows.groups) & (rows.codes < 0)).sum())


def _sizes(n_unlabeled: int) -> tuple[int, ...]:
    """Return numbers of unlabeled rows that double, each smaller than all rows."""
    largest, halvings = LARGEST, N_SIZES - 1
    if n_unlabeled <= LARGEST:
        largest, halvings = n_unlabeled // 2, N_SIZES - 2
    return tuple(sorted({largest >> k for k in range(halvings + 1)} - {0}))


def _label_sizes(n_train: int, n_classes: int) -> tuple[int, ...]:
    """Return numbers of labels that allow two of each class, each smaller than all labels."""
    sizes = {round(fraction * n_train) for fraction in FRACTIONS}
    return tuple(sorted(size for size in sizes if 2 * n_classes <= size < n_train))


def _with_unlabeled(
    rows: TableRows, seed: int, item: tuple[int, Array, int | None]
) -> tuple[float, float, float]:
    """Return the errors of soft_cv, soft and ridge on a split with `size` unlabeled rows."""
    index, test, size = item
    codes = rows.codes
    inside = training_mask(test, codes, rows.groups)
    seed = split_seed(seed, index)
    if size is not None:
        unlabeled = np.flatnonzero(inside & (codes < 0))
        inside &= codes >= 0
        inside[np.random.default_rng(seed).permutation(unlabeled)[:size]] = True
        rows = replace(rows, count=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `evaluate` reports them
        pair = fit_pair(rows, inside=inside, seed=seed)
        soft = SoftLabelClassifier(pair.choice.supervised_alpha, unlabeled_weight=rows.count)
        soft = fit_rows(soft, rows, inside)
    return (
        _error(pair.soft_cv, rows, test),
        _error(soft, rows, test),
        _error(pair.ridge, rows, test),
    )


def _with_labels(
    rows: TableRows, seed: int, item: tuple[int, Array, int | None]
) -> tuple[float, float]:
    """Return the errors of soft_cv and ridge on a split with `size` labels."""
    index, test, size = item
    codes = rows.codes
    inside = training_mask(test, codes, rows.groups)
    seed = split_seed(seed, index)
    if size is not None:
        labeled = np.flatnonzero(inside & (codes >= 0))
        inside &= codes < 0
        order = stratified_order(codes[labeled], np.random.default_rng(seed))
        inside[labeled[order[:size]]] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pair = fit_pair(rows, inside=inside, seed=seed, all_rows=False)
    return _error(pair.soft_cv, rows, test), _error(pair.ridge, rows, test)


def _error(model: Any, rows: TableRows, test: Array) -> float:
    return 1.0 - float(model.score(rows.X[test], rows.codes[test]))


def _points(
    method: str, sizes: Sequence[int], errors: Array, planned: Plan
) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(method, n, _estimate(column, planned))
        for n, column in zip(sizes, errors.T, strict=True)
    )


def _estimate(errors: Array, planned: Plan) -> Estimate:
    return honest_score(interval(errors, planned.ratio), planned.n_tested)
