"""Hard-label descents from many starts: block descent (§V) in batches that share each pass.

J_r is not convex, so a descent's end depends on its start. All ends are reported and the one of
lowest J is kept, though it is not always the best classifier: labels of a single class fit cheaply.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._utils.typing import Array
from ..curvature import full_curvature
from ..linalg import Inverse
from ..objective import Objective
from .block_descent import block_descent
from .solution import Callback, EndPoint, Solution, State, Status, Step
from .tracked_descent import Start, can_track, tracked_descent

Ends = list[tuple[Array, EndPoint]]
"""The weights of each end, and the end itself."""

BATCH_BYTES = 1 << 26
"""Memory for the initial labels of a batch of starts."""


def batch_size(n_rows: int, n_classes: int) -> int:
    """Return the number of starts in a batch."""
    per_start = 8 * n_rows * (1 if n_classes == 2 else n_classes)
    return max(1, BATCH_BYTES // max(1, per_start))


def hard_descent(
    objective: Objective,
    batches: Iterable[Array | Start],
    *,
    max_iter: int = 10_000,
    tol: float = 0.0,
    bound: float = np.nan,
    callback: Callback | None = None,
) -> Solution:
    """Descend with hard labels from batches of starts: labels (n, starts) or (n, starts, K).

    A batch may also be a single `Start`.

    `bound` is a lower bound for all labelings that the caller knows, for the solution to report.
    """
    ends: Ends = []
    for batch in batches:
        starts = _starts(batch)
        factor = full_curvature(objective).factor if len(starts) > 1 else None
        if factor is None or isinstance(batch, Start):  # collinear columns need least-norm fits
            ends += _one_by_one(objective, starts, max_iter, tol, callback)
        else:
            ends += _together(objective, factor, batch, max_iter, tol, callback)
        if ends[-1][1].status is Status.CALLBACK:
            break
    w, best = min(ends, key=lambda end: end[1].value)
    n_iter = max(end.n_iter for _, end in ends)
    state = State(labels=objective.rows.labels_of(best.labels))
    return Solution(
        w, best.value, best.status, "block", n_iter, n_iter + 1, state, bound=bound,
        end_points=tuple(end for _, end in ends),
    )  # fmt: skip


def _starts(batch: Any) -> list[Any]:
    """Split a batch into its starts; a `Start`, or labels that Dask holds, are one."""
    return list(batch.swapaxes(0, 1)) if isinstance(batch, np.ndarray) else [batch]


def _one_by_one(
    objective: Objective, starts: list[Any], max_iter: int, tol: float, callback: Callback | None
) -> Ends:
    ends: Ends = []
    for start in starts:
        if callback is None and isinstance(start, Start):
            start = start.summed(objective)
        if callback is None and can_track(objective):
            found = tracked_descent(objective, start, max_iter=max_iter, tol=tol)
        else:
            start = start.labels(objective.rows) if isinstance(start, Start) else start
            found = block_descent(objective, start, max_iter=max_iter, tol=tol, callback=callback)
        labels = objective.rows.classes_of(found.state.labels)
        end = EndPoint(found.value, labels, found.status, found.n_iter)
        ends.append((found.w, end))
        if found.status is Status.CALLBACK:
            break
    return ends


def _together(
    objective: Objective,
    factor: Inverse,
    labels: Array,
    max_iter: int,
    tol: float,
    callback: Callback | None,
) -> Ends:
    """Run the descents of a batch as matrix products; a descent that has ended leaves it."""
    rows, labeling = objective.rows, objective.labeling
    ends: dict[int, tuple[Array, EndPoint]] = {}
    running = np.arange(labels.shape[1])
    moment = rows.moment(labels)
    for iteration in range(1, max_iter + 1):
        w = factor.solve(moment)
        new = rows.relabel(w, labels, moment, labeling, before=False)
        labels = new.labels.astype(np.int8)  # initial labels are real numbers, these are 0 or 1
        values = new.loss + objective.ridge(w)
        lowest = int(values.argmin())
        step = Step(iteration, w[:, lowest], float(values[lowest]), int(new.changed.sum()))
        stopped = bool(callback is not None and callback(step))
        ended = new.changed <= tol * rows.n_unlabeled
        for k in range(len(running)) if stopped or iteration == max_iter else np.flatnonzero(ended):
            late = Status.CALLBACK if stopped else Status.MAX_ITER
            early = Status.STABLE if new.changed[k] == 0 else Status.TOLERATED
            status = early if ended[k] else late
            end = EndPoint(float(values[k]), rows.classes_of(labels[:, k]), status, iteration)
            ends[int(running[k])] = np.ascontiguousarray(w[:, k]), end
        if stopped or ended.all():
            break
        labels, moment, running = labels[:, ~ended], new.moment[:, ~ended], running[~ended]
    return [ends[k] for k in sorted(ends)]
