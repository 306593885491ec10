"""Learning curves: the error against the number of unlabeled rows, and against that of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..._utils.typing import Array
from ._rows import TableRows
from ._tasks import Outcome, Task
from .comparison import CurvePoint, Estimate, LabelTrend
from .intervals import honest_score, interval
from .splits import Plan, training_mask
from .verdict import MARGIN, most_to_gain

__all__ = ["ComparisonCurves", "curve_tasks", "draw_curves", "label_trend"]


UNLABELED_SIZES = 3
"""Numbers of unlabeled rows between none and all of them, each four times the one before."""
LARGEST = 20_000
"""With more unlabeled rows, the only larger size is all of them."""
FRACTIONS = (1 / 8, 1 / 4, 1 / 2)
"""Shares of the labels of a training set."""
WITH_LABELS = ("averaged", "ridge")
"""The rivals of the curve over labels."""


@dataclass(frozen=True)
class ComparisonCurves:
    """Both curves; empty if they were not measured."""

    unlabeled: tuple[CurvePoint, ...] = ()
    """Over the number of unlabeled rows, from none to all of them."""
    labels: tuple[CurvePoint, ...] = ()
    """Over the number of labels."""
    trend: LabelTrend | None = None


def curve_tasks(rows: TableRows, planned: Plan) -> list[Task]:
    """Return the tasks of both curves between their ends, which `split_tasks` measures.

    Labels are drawn in proportion to the classes, at least two of each. Labeled rows that are left
    out are not used as unlabeled ones.

    Parameters
    ----------
    rows : TableRows
    planned : Plan
        The splits.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares.tables.compare.splits import plan
    >>> codes = np.where(np.arange(240) < 80, np.arange(240) % 2, -1)
    >>> tasks = curve_tasks(TableRows(np.zeros((240, 2)), codes), plan(codes, repeats=1))
    >>> [(task.n_unlabeled, task.n_labels) for task in tasks if task.split == 0]
    [(2, None), (10, None), (40, None), (None, 8), (None, 16), (None, 32)]
    """
    n_train, n_unlabeled = _training_sizes(rows, planned)
    tasks = []
    for k, test in enumerate(planned.tests):
        for size in _unlabeled_sizes(min(n_unlabeled)):
            tasks.append(Task(k, test, ("averaged",), n_unlabeled=size))
        for size in _label_sizes(min(n_train), int(rows.codes.max()) + 1):
            tasks.append(Task(k, test, WITH_LABELS, n_labels=size))
    return tasks


def draw_curves(
    rows: TableRows,
    planned: Plan,
    tasks: Sequence[Task],
    outcomes: Sequence[Mapping[str, Outcome]],
) -> ComparisonCurves:
    """Summarise the outcomes of `curve_tasks`.

    Parameters
    ----------
    rows : TableRows
    planned : Plan
        The splits.
    tasks : sequence of Task
        `curve_tasks` and, for the ends of the curves, `split_tasks` of the same splits.
    outcomes : sequence of mappings
        Their outcomes.
    """
    errors: dict[tuple[str, int | None, int | None], list[float]] = {}
    for task, found in zip(tasks, outcomes, strict=True):
        for name, one in found.items():
            at = (name, task.n_unlabeled, task.n_labels)
            errors.setdefault(at, []).append(1.0 - one.scores[0])
    n_train, n_unlabeled = _training_sizes(rows, planned)
    all_labels = round(float(np.mean(n_train)))
    unlabeled = {0: errors["labeled_only", None, None]}
    unlabeled |= {
        size: values
        for (name, size, n_labels), values in errors.items()
        if name == "averaged" and size is not None and n_labels is None
    }
    unlabeled[round(rows.count * float(np.mean(n_unlabeled)))] = errors["averaged", None, None]
    lines = {}
    for name in WITH_LABELS:
        line = {
            n_labels: values
            for (other, size, n_labels), values in errors.items()
            if other == name and size is None and n_labels is not None
        }
        lines[name] = dict(sorted(line.items())) | {all_labels: errors[name, None, None]}
    averaged = lines["averaged"]
    trend = label_trend(list(averaged), np.array(list(averaged.values())).T, planned)
    with_rows = any(size is not None for _, size, _ in errors)
    return ComparisonCurves(
        _points("averaged", unlabeled, planned) if with_rows else (),
        tuple(
            point for name, line in lines.items() if len(line) > 1
            for point in _points(name, line, planned)
        ),
        trend,
    )  # fmt: skip


def label_trend(sizes: Sequence[int], errors: Array, planned: Plan) -> LabelTrend:
    """Summarise what the last doubling of labels brought the averaged classifier.

    Parameters
    ----------
    sizes : sequence of int
        Increasing numbers of labels learned from.
    errors : ndarray of shape (n_splits, n_sizes)
        Of the averaged classifier.
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


def _training_sizes(rows: TableRows, planned: Plan) -> tuple[list[int], list[int]]:
    """Return the numbers of labeled and of unlabeled rows in the training set of each split."""
    masks = [training_mask(test, rows.codes, rows.groups) for test in planned.tests]
    labeled = rows.codes >= 0
    return [int((m & labeled).sum()) for m in masks], [int((m & ~labeled).sum()) for m in masks]


def _unlabeled_sizes(n_unlabeled: int) -> tuple[int, ...]:
    """Return numbers of unlabeled rows, each smaller than all rows."""
    largest = LARGEST if n_unlabeled > LARGEST else n_unlabeled // 4
    return tuple(sorted({largest >> 2 * k for k in range(UNLABELED_SIZES)} - {0}))


def _label_sizes(n_train: int, n_classes: int) -> tuple[int, ...]:
    """Return numbers of labels that allow two of each class, each smaller than all labels."""
    sizes = {round(fraction * n_train) for fraction in FRACTIONS}
    return tuple(sorted(size for size in sizes if 2 * n_classes <= size < n_train))


def _points(
    method: str, errors: Mapping[int, Sequence[float]], planned: Plan
) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(method, n, _estimate(np.array(values), planned))
        for n, values in sorted(errors.items())
    )


def _estimate(errors: Array, planned: Plan) -> Estimate:
    return honest_score(interval(errors, planned.ratio), planned.n_tested)
