"""What more rows bring: the error against the number of unlabeled rows, and of labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._utils.words import percent
from ...estimators import SoftLabelClassifier
from .choice import fit_pair, fit_rows
from .comparison import CurvePoint, Estimate
from .evaluation import Progress, in_order, split_seed
from .intervals import honest_score, interval
from .splits import Plan, plan, stratified_order, training_mask
from .verdict import MARGIN, most_to_gain

__all__ = ["LabelCurve", "curve_repeats", "label_curve", "label_sentence", "unlabeled_curve"]

Array = NDArray[Any]

N_SIZES = 6
LARGEST = 20_000
"""Beyond so many unlabeled rows the curve knows one size only: all of them."""
FRACTIONS = (1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)
"""Of the labels of a training set."""
MANY_LABELS = 5_000
"""With more labels, one repeat of the folds is exact enough for a curve."""


@dataclass(frozen=True)
class LabelCurve:
    """The error against the number of labels, and what it says in words."""

    points: tuple[CurvePoint, ...]
    sentence: str


def unlabeled_curve(
    X: Array,
    codes: Array,
    groups: Array | None = None,
    *,
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    count: float = 1.0,
    progress: Progress | None = None,
) -> tuple[CurvePoint, ...]:
    """Return the errors of "soft_cv" and "soft" with ever more of the unlabeled rows.

    The rows of a size are among those of all larger ones. The tuned ridge, which uses none, has the
    same error at 0 and at the largest size, for a line to be drawn. Splits are the first of those
    that `evaluate` takes with the same seed.

    Parameters
    ----------
    X, codes, groups, folds, seed, jobs, count, progress
        As in `evaluate`.
    repeats : int, optional
        Two, or one where labels are many.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=60)
    >>> X = rng.normal(size=(60, 2)) + 3 * truth[:, None]
    >>> codes = np.where(np.arange(60) < 12, truth, -1)
    >>> points = unlabeled_curve(X, codes, folds=2, repeats=1)
    >>> [point.n for point in points if point.method == "soft"]
    [1, 3, 6, 12, 24, 48]
    """
    planned = _plan(codes, groups, folds, repeats, seed)
    free = [_count_free(test, codes, groups) for test in planned.tests]
    sizes = _sizes(min(free))
    work = partial(_with_unlabeled, X, codes, groups, seed, count)
    items = [(k, test, size) for k, test in enumerate(planned.tests) for size in (*sizes, None)]
    errors = np.array(in_order(work, items, jobs=jobs, progress=progress))
    errors = errors.reshape(len(planned.tests), len(sizes) + 1, 3)
    n = (*sizes, round(count * float(np.mean(free))))
    ridge = _estimate(errors[:, 0, 2], planned)
    return (
        *_points("soft_cv", n, errors[:, :, 0], planned),
        *_points("soft", n, errors[:, :, 1], planned),
        CurvePoint("ridge", 0, ridge),
        CurvePoint("ridge", n[-1], ridge),
    )


def label_curve(
    X: Array,
    codes: Array,
    groups: Array | None = None,
    *,
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    count: float = 1.0,
    progress: Progress | None = None,
) -> LabelCurve:
    """Return the errors of "soft_cv" and "ridge" with ever more of the labeled rows.

    The labels of a size are drawn in proportion to the classes, two of each at the least, and are
    among those of all larger sizes. Labeled rows that are left out are not made unlabeled ones. Of
    more than `search_size` unlabeled rows a sample is used, counted as all.

    Parameters
    ----------
    X, codes, groups, folds, seed, jobs, count, progress
        As in `evaluate`.
    repeats : int, optional
        Two, or one where labels are many.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=60)
    >>> X = rng.normal(size=(60, 2)) + 3 * truth[:, None]
    >>> codes = np.where(np.arange(60) < 40, truth, -1)
    >>> curve = label_curve(X, codes, repeats=1)
    >>> [point.n for point in curve.points if point.method == "ridge"]
    [4, 8, 16, 24, 32]
    """
    planned = _plan(codes, groups, folds, repeats, seed)
    n_train = [planned.n_labeled - len(test) for test in planned.tests]
    sizes = _label_sizes(min(n_train), int(codes.max()) + 1)
    work = partial(_with_labels, X, codes, groups, seed, count)
    items = [(k, test, size) for k, test in enumerate(planned.tests) for size in (*sizes, None)]
    errors = np.array(in_order(work, items, jobs=jobs, progress=progress))
    errors = errors.reshape(len(planned.tests), len(sizes) + 1, 2)
    n = (*sizes, round(float(np.mean(n_train))))
    points = (
        *_points("soft_cv", n, errors[:, :, 0], planned),
        *_points("ridge", n, errors[:, :, 1], planned),
    )
    return LabelCurve(points, label_sentence(n, errors[:, :, 1], planned))


def label_sentence(sizes: Sequence[int], errors: Array, planned: Plan) -> str:
    """Say what the last doubling of labels brought the tuned ridge.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of labels learned from, rising.
    errors : ndarray of shape (n_splits, n_sizes)
        Of the tuned ridge.
    planned : Plan
        The splits. Few labels leave open what the error does.

    Examples
    --------
    >>> import numpy as np
    >>> errors = np.array([[0.12, 0.10], [0.13, 0.10], [0.12, 0.09], [0.13, 0.11]])
    >>> label_sentence([24, 48], errors, Plan(folds=5, repeats=2, tests=(), n_labeled=60))
    'From 24 to 48 labels the error of the tuned ridge fell from 12.5 % to 10.0 % (2 repeats); the
    next doubling usually brings less.'
    """
    if len(sizes) < 2:
        return f"With {sizes[-1]:,} labels to learn from, what more would bring cannot be told."
    first = int(np.argmin(np.abs(np.log(np.array(sizes[:-1]) / sizes[-1] * 2))))
    before, after = errors[:, first], errors[:, -1]
    drop = interval(before - after, planned.ratio)
    old, new = percent(float(before.mean())), percent(float(after.mean()))
    start = f"From {sizes[first]:,} to {sizes[-1]:,} labels the error of the tuned ridge "
    moved = "fell" if drop.mean > 0.0 else "rose"
    start += f"stayed at {new}" if old == new else f"{moved} from {old} to {new}"
    # that explains why other numbers of the comparison differ
    start += f" ({planned.repeats} {'repeat' if planned.repeats == 1 else 'repeats'})"
    if not after.any():
        return f"{start}; with no wrong row left, these labels cannot show what more would bring."
    if drop.low > 0.0:
        return f"{start}; the next doubling usually brings less."
    if drop.high < 0.0 or most_to_gain(drop, planned.n_labeled) < MARGIN:
        return f"{start}; more labels of the same kind would bring little."
    chance = "" if old == new else " That may be chance:"
    few = f"{planned.n_labeled:,} labels are too few to tell what more of them would bring."
    return f"{start}.{chance} {few}"


def curve_repeats(n_labels: int) -> int:
    """Return how often a curve repeats the folds, at the most.

    Examples
    --------
    >>> curve_repeats(60), curve_repeats(6_000)
    (2, 1)
    """
    return 2 if n_labels <= MANY_LABELS else 1


def _plan(codes: Array, groups: Array | None, folds: int, repeats: int | None, seed: int) -> Plan:
    repeats = repeats or curve_repeats(int((codes >= 0).sum()))
    return plan(codes, groups, folds=folds, repeats=repeats, seed=seed)


def _count_free(test: Array, codes: Array, groups: Array | None) -> int:
    """Count the unlabeled rows of a training set."""
    return int((training_mask(test, codes, groups) & (codes < 0)).sum())


def _sizes(n_free: int) -> tuple[int, ...]:
    """Return numbers of unlabeled rows that double, all of them less than all."""
    largest, halvings = (n_free // 2, N_SIZES - 2) if n_free <= LARGEST else (LARGEST, N_SIZES - 1)
    return tuple(sorted({largest >> k for k in range(halvings + 1)} - {0}))


def _label_sizes(n_train: int, n_classes: int) -> tuple[int, ...]:
    """Return numbers of labels that allow two of each class, all of them less than all."""
    sizes = {round(fraction * n_train) for fraction in FRACTIONS}
    return tuple(sorted(size for size in sizes if 2 * n_classes <= size < n_train))


def _with_unlabeled(
    X: Array,
    codes: Array,
    groups: Array | None,
    seed: int,
    count: float,
    item: tuple[int, Array, int | None],
) -> tuple[float, float, float]:
    """Return the errors of soft_cv, soft and ridge on a split, with so many unlabeled rows."""
    index, test, size = item
    inside = training_mask(test, codes, groups)
    seed = split_seed(seed, index)
    if size is not None:
        free = np.flatnonzero(inside & (codes < 0))
        inside &= codes >= 0
        inside[np.random.default_rng(seed).permutation(free)[:size]] = True
        count = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `evaluate` tells of them
        pair = fit_pair(X, codes, inside=inside, groups=groups, seed=seed, count=count)
        soft = SoftLabelClassifier(pair.choice.supervised_alpha, unlabeled_weight=count)
        soft = fit_rows(soft, X, codes, inside)
    return (
        _error(pair.soft_cv, X, codes, test),
        _error(soft, X, codes, test),
        _error(pair.ridge, X, codes, test),
    )


def _with_labels(
    X: Array,
    codes: Array,
    groups: Array | None,
    seed: int,
    count: float,
    item: tuple[int, Array, int | None],
) -> tuple[float, float]:
    """Return the errors of soft_cv and ridge on a split, with so many labels."""
    index, test, size = item
    inside = training_mask(test, codes, groups)
    seed = split_seed(seed, index)
    if size is not None:
        labeled = np.flatnonzero(inside & (codes >= 0))
        inside &= codes < 0
        order = stratified_order(codes[labeled], np.random.default_rng(seed))
        inside[labeled[order[:size]]] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pair = fit_pair(
            X, codes, inside=inside, groups=groups, seed=seed, count=count, all_rows=False
        )
    return _error(pair.soft_cv, X, codes, test), _error(pair.ridge, X, codes, test)


def _error(model: Any, X: Array, codes: Array, test: Array) -> float:
    return 1.0 - float(model.score(X[test], codes[test]))


def _points(
    method: str, sizes: Sequence[int], errors: Array, planned: Plan
) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(method, n, _estimate(column, planned))
        for n, column in zip(sizes, errors.T, strict=True)
    )


def _estimate(errors: Array, planned: Plan) -> Estimate:
    return honest_score(interval(errors, planned.ratio), planned.n_tested)
