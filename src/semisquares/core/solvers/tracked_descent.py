"""Block descent (§V) on large tables, reading only the rows that may change their label.

The steps are those of `block_descent`, for two classes and labels that are hard or between soft and
hard. `TrackedLabels` finds the labels at each step without a pass over all rows, so the value of J
at the steps is not known. J at the end is taken from sums, if they are precise enough and no row is
on a border up to rounding; otherwise a last pass over all rows checks every label and evaluates J.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..._utils.typing import Array
from ..curvature import full_curvature
from ..labelings import DialLabels, HardLabels, Labeling, dial
from ..linalg import EPS
from ..objective import Objective
from ..rows import RowSums, TrackedLabels
from .block_descent import block_descent
from .solution import Solution, State, Status

SMALLEST = 1 << 20
"""In smaller tables, in values of X, a pass is so fast that tracking does not pay."""
SAMPLE_ROWS = 1 << 15
SAMPLE_PER_WEIGHT = 100
"""A sample on which labels follow the dial has this many rows at least, and for each weight."""
SAMPLE_SHARE = 16
"""The sample must be at most 1/16 of the unlabeled rows, or it saves no time."""


@dataclass(frozen=True, eq=False)
class Start:
    """Labels to start from, given by the weights at which they are imputed."""

    w: Array
    labeling: Labeling
    tracked: TrackedLabels | None = None
    """Tracks these labels already, if there is one."""
    z: Array | None = None
    """The decision values at w, if they are known."""

    def labels(self, rows: RowSums) -> Array:
        """Return the labels of all rows."""
        z = rows.decisions(self.w) if self.z is None else self.z
        return rows.imputed(z, self.labeling)

    def summed(self, objective: Objective) -> Start:
        """Pass over all rows for the labels and their moment, if it will pay.

        If X'X is not known yet, the same pass sums it: so call this before `can_track`.
        """
        if self.tracked is not None or self.labeling != objective.labeling:
            return self
        return replace(self, tracked=_tracked(objective, self.w))


def _tracked(objective: Objective, w: Array) -> TrackedLabels | None:
    """Track the labels from those at w on; None if the table is too small for it."""
    labeling = objective.labeling
    if not (_is_large(objective) and isinstance(labeling, HardLabels | DialLabels)):
        return None
    tracked = TrackedLabels(objective.memory_rows, labeling)
    tracked.relabel(w)
    return tracked


def can_track(objective: Objective) -> bool:
    """Return whether labels can be tracked, and a pass over the rows is slow enough for it."""
    return _is_large(objective) and full_curvature(objective).factor is not None


def _is_large(objective: Objective) -> bool:
    """Return whether `can_track` holds if X'X is regular."""
    rows = objective.rows.in_memory
    return bool(
        rows is not None
        and isinstance(objective.labeling, HardLabels | DialLabels)
        and rows.table.n_values >= SMALLEST
        and objective.direct
    )


def tracked_descent(
    objective: Objective, start: Array | Start, *, max_iter: int = 10_000, tol: float = 0.0
) -> Solution:
    """Descend with hard labels, as `block_descent` does; `can_track` must hold.

    If a last pass finds another label, which only rounding can cause, the descent goes on with
    passes over all rows.
    """
    rows, factor = objective.memory_rows, full_curvature(objective).factor
    assert factor is not None
    assert isinstance(objective.labeling, HardLabels)
    most = tol * rows.n_unlabeled
    if isinstance(start, Start):
        tracked = start.tracked or TrackedLabels(rows, objective.labeling)
        moment, _ = tracked.relabel(start.w)
        tracked.turn(objective.labeling)
    else:
        tracked, moment = TrackedLabels(rows, objective.labeling), rows.moment(start)
    for n_iter in range(1, max_iter + 1):
        w = factor.solve(moment)
        moment, changed = tracked.relabel(w)
        if n_iter == 1 and not isinstance(start, Start):  # the labels may be any numbers
            changed = int(np.count_nonzero((tracked.labels != start)[rows.unlabeled]))
        if changed <= most:
            break
    loss, found = tracked.loss(), tracked.labels
    tracked.forget()
    if loss is None:
        z = rows.decisions(w)
        differs = objective.labeling.impute(z) != found
        differs[rows.labeled] = False
        if differs.any():
            return block_descent(objective, found, max_iter=max_iter, tol=tol)
        loss = rows.loss(z, objective.labeling)
    status = Status.MAX_ITER if changed > most else Status.TOLERATED
    status = status if changed else Status.STABLE
    value = loss + float(objective.ridge(w))
    return Solution(w, value, status, "block", n_iter, n_iter + 1, State(labels=found))


def turn_dial(
    objective: Objective,
    labels: Array | Start,
    taus: Sequence[float],
    max_iter: int,
    *,
    rng: np.random.Generator | None = None,
) -> Array | Start:
    """Follow block descent from soft labels towards hard ones, a few steps for each τ.

    Returns the labels of all rows after the last step, or a start that has them, from which a
    descent with hard labels goes on; `objective` may have any labeling.

    `rng` draws a sample of large tables, if the labels are given by a `Start`. The path is then
    followed on the sample, and on all rows only at the last τ, from the weights where it ended.
    """
    rows = objective.rows
    n_classes = 2 if len(rows.weights_shape) == 1 else rows.weights_shape[1]
    dials = [dial(n_classes, tau) for tau in taus]
    if rng is not None and isinstance(labels, Start):
        w = _end_on_sample(objective, labels.w, dials[0], taus, max_iter, rng)
        if w is not None:
            taus, dials, labels = taus[-1:], dials[-1:], Start(w, dials[-1])
    first = objective.with_labeling(dials[0])
    tracked = _tracked(first, labels.w) if isinstance(labels, Start) else None
    if not can_track(first):
        found = labels.labels(rows) if isinstance(labels, Start) else labels
        for labeling in dials:
            turned = objective.with_labeling(labeling)
            found = block_descent(turned, found, max_iter=max_iter).state.labels
        return found
    factor = full_curvature(objective).factor
    assert factor is not None
    if tracked is None:
        tracked = TrackedLabels(objective.memory_rows, DialLabels(taus[0]))
    w = labels.w if isinstance(labels, Start) else factor.solve(rows.moment(labels))
    for tau in taus:
        tracked.turn(DialLabels(tau))
        for _ in range(max_iter):
            last, (moment, _) = w, tracked.relabel(w)
            w = factor.solve(moment)
            if abs(w - last).max() <= EPS * abs(w).max():
                break
    return Start(last, dials[-1], tracked)


def _end_on_sample(
    objective: Objective,
    w: Array,
    first: Labeling,
    taus: Sequence[float],
    max_iter: int,
    rng: np.random.Generator,
) -> Array | None:
    """Return the weights at the end of the path from w on a sample; None if it does not pay."""
    rows = objective.rows
    size = min(max(SAMPLE_ROWS, SAMPLE_PER_WEIGHT * rows.n_weights), rows.most_sampled)
    if rows.n_unlabeled < SAMPLE_SHARE * size:
        return None
    sample = replace(objective, rows=rows.sample(size, rng))
    factor = full_curvature(sample).factor
    if factor is None:
        return None
    end = turn_dial(sample, Start(w, first), taus, max_iter)
    return end.w if isinstance(end, Start) else factor.solve(sample.rows.moment(end))
