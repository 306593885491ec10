"""Labels that follow changing weights, while only rows that may change their piece are read.

Two classes. Imputed labels are 0, 1, or affine in the decision value between two borders, so their
moment Σ a x t depends on the pieces of the rows alone; rows that change their piece update it.
Which rows can do so is bounded as in Hamerly's k-means: a decision value changes by at most
``‖x‖ ‖Δw‖``. A `_Level` holds the rows that can change their piece while the weights stay in a tube
around the line of their last step; it may hold a narrower level in turn. Weights that leave the
tube return to the rows of the level above, and in the end to all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._utils.typing import Array
from ..labelings import DialLabels, HardLabels
from .memory import MemoryRows
from .targets import times

AHEAD = 6.0
"""A tube is this many last steps long: steps that shrink by 1/7 each end within it."""
NARROWING = 24
"""A level has about one of this many rows of the level above."""
LARGEST_SHARE = 20
"""A level with more than one of this many rows would take too much memory."""
FEWEST_ROWS = 4096
"""Fewer rows than this are not narrowed any more."""
BLOCK = 1 << 15
"""Bounds are computed for this many rows at a time, to save memory."""
SLACK = 1.0 - 1e-6
"""Covers the rounding of the bounds: rows are compared with a radius that is larger by 1e-6."""


@dataclass(eq=False)
class _Level:
    """Rows, their decision values at some weights, and the tube in which no other row moves."""

    rows: MemoryRows
    index: Array | slice
    """Where the rows are among all rows."""
    norms: Array | None
    start: Array
    """The start of the tube, in the tracker's coordinates of weights."""
    line: Array
    """The tube goes from `start` to `start + line`."""
    radius: float
    z: Array | None = None
    """Decision values at `here`."""
    here: Array | None = None
    earlier: tuple[Array, Array] | None = None
    """The weights before `here`, and the decision values there."""

    def contains(self, v: Array) -> bool:
        """Return whether weights are in the tube."""
        away = v - self.start
        square = float(self.line @ self.line)
        t = min(1.0, max(0.0, float(away @ self.line) / square)) if square > 0.0 else 0.0
        return bool(np.linalg.norm(away - t * self.line) <= SLACK * self.radius)


class TrackedLabels:
    """The labels of all rows at changing weights, as the moment Σ a x t.

    Parameters
    ----------
    rows : MemoryRows
        Rows with two classes.
    labeling : HardLabels or DialLabels
        The labeling; `relabel` may change it.
    """

    def __init__(self, rows: MemoryRows, labeling: HardLabels | DialLabels) -> None:
        self.rows, self.labeling = rows, labeling
        gram, d = rows.full_gram, rows.n_features
        total = float(gram[-1, -1]) if rows.intercept else max(rows.total_weight, 1e-300)
        squares = gram.diagonal()[:d] / total
        self._centre = gram[-1, :d] / total if rows.intercept else np.zeros(d)
        spread = np.maximum(squares - self._centre**2, 1e-12 * squares)
        self._scale = np.where(spread > 0.0, np.sqrt(spread), 1.0)
        nowhere = np.zeros(d + 1)
        self._levels = [_Level(rows, slice(None), None, nowhere, nowhere, np.inf)]
        self.piece = np.full(rows.n_rows, -1, dtype=np.int8)
        """-1 if the label is 0, 1 if it is 1, 0 between; -1 for labeled rows."""
        self._ones = np.zeros(rows.n_weights)
        self._between = np.zeros((rows.n_weights, rows.n_weights))
        self._between_sum = np.zeros(rows.n_weights)

    @property
    def labels(self) -> Array:
        """The hard labels of all rows."""
        return (self.piece > 0).astype(np.float64)

    def start(self, labels: Array, moment: Array) -> None:
        """Start from labels of 0 and 1, whose moment is known."""
        self.piece = np.where(labels > 0.5, 1, -1).astype(np.int8)
        self.piece[self.rows.labeled] = -1
        self._ones = moment - self.rows.labeled_moment

    def borders(self) -> tuple[float, float]:
        """Return the decision values up to which labels are 0, and above which they are 1."""
        if isinstance(self.labeling, DialLabels):
            return 0.5 * self.labeling.tau, 1.0 - 0.5 * self.labeling.tau
        return 0.5, 0.5

    def turn(self, labeling: HardLabels | DialLabels) -> None:
        """Go on with another labeling."""
        self.labeling = labeling
        del self._levels[1:]
        whole = self._levels[0]
        whole.earlier = None
        if whole.z is not None:
            self._move(whole, self._pieces(whole, whole.z))
            self._narrow(whole)

    def relabel(self, w: Array) -> tuple[Array, int]:
        """Impute the labels at w; return their moment and how many rows changed their piece."""
        v = self._coordinates(w)
        while len(self._levels) > 1 and not self._levels[-1].contains(v):
            self._levels.pop()
        level = self._levels[-1]
        z = level.rows.decisions(w)
        if level.z is not None and level.here is not None:
            level.earlier = level.here, level.z
        level.z, level.here = z, v
        changed = self._move(level, self._pieces(level, z))
        if level.earlier is not None:
            self._narrow(level)
        return self._moment(w), changed

    def _coordinates(self, w: Array) -> Array:
        """Return weights of centred and scaled columns: rows have similar norms in them."""
        features = w[: self.rows.n_features]
        level = w[-1] + self._centre @ features if self.rows.intercept else 0.0
        return np.append(features * self._scale, level)

    def _moment(self, w: Array) -> Array:
        moment = self.rows.labeled_moment + self._ones
        if isinstance(self.labeling, DialLabels):
            low = self.borders()[0]
            between = self._between @ w - low * self._between_sum
            moment = moment + between / (1.0 - self.labeling.tau)
        return moment

    def _pieces(self, level: _Level, z: Array) -> Array:
        low, high = self.borders()
        piece = (z > high).view(np.int8) - (z <= low).view(np.int8)
        if level.rows is self.rows:
            piece[self.rows.labeled] = -1
        return piece

    def _move(self, level: _Level, piece: Array) -> int:
        """Take over the pieces of a level's rows; return how many differ from the last ones."""
        last = self.piece[level.index]
        moved = np.flatnonzero(piece != last)
        if not len(moved):
            return 0
        rows, now, before = level.rows, piece[moved], last[moved]
        change = (now > 0).astype(np.float64) - (before > 0)
        self._ones += _moment_of(rows, moved, change)
        for sign, chosen in ((1.0, now == 0), (-1.0, before == 0)):
            if chosen.any():
                index = moved[chosen]
                self._between += sign * _gram_of(rows, index)
                self._between_sum += sign * _moment_of(rows, index, np.ones(len(index)))
        if isinstance(level.index, slice):
            self.piece = piece
        else:
            self.piece[level.index[moved]] = now
        return len(moved)

    def _narrow(self, level: _Level) -> None:
        """Add a level with the rows that may change their piece in the next steps."""
        rows, z, v = level.rows, level.z, level.here
        if rows.n_rows < FEWEST_ROWS or z is None or v is None:
            return
        line = np.zeros(len(v))
        if level.earlier is not None:
            line = AHEAD * (v - level.earlier[0])
        if level.norms is None:
            level.norms = self._norms()
        some = self._room(level, slice(None, None, max(1, rows.n_rows // FEWEST_ROWS)))
        step = float(np.linalg.norm(line)) / AHEAD
        radius = max(float(np.quantile(some, 1.0 / NARROWING)), step)
        inside = np.concatenate(
            [
                start + np.flatnonzero(self._room(level, slice(start, start + BLOCK)) <= radius)
                for start in range(0, rows.n_rows, BLOCK)
            ]
        )
        if LARGEST_SHARE * len(inside) > rows.n_rows:
            return
        if rows is self.rows:
            inside = np.setdiff1d(inside, rows.labeled, assume_unique=True)
        index = inside if isinstance(level.index, slice) else level.index[inside]
        targets = rows.targets.unlabeled_at(inside)
        few = MemoryRows.of(rows.table.subset(inside), targets, rows.intercept)
        self._levels.append(_Level(few, index, level.norms[inside], v, line, radius, z[inside], v))

    def _room(self, level: _Level, part: slice) -> Array:
        """Return how far weights may leave the line of the last step before a row changes."""
        assert level.z is not None
        assert level.norms is not None
        z = end = level.z[part]
        if level.earlier is not None:
            end = z + AHEAD * (z - level.earlier[1][part])
        low, high = self.borders()
        room = _room(z, end, low)
        if high > low:
            np.minimum(room, _room(z, end, high), out=room)
        return room / level.norms[part]

    def _norms(self) -> Array:
        """Return the norms of all rows in centred and scaled columns, at least 1."""
        inverse = 1.0 / self._scale**2
        return np.sqrt(1.0 + self.rows.distances(self._centre, inverse))


def _room(z: Array, end: Array, border: float) -> Array:
    """Return how far from a border the values between z and `end` stay; 0 if they cross it."""
    first = z - border
    if end is z:
        return np.abs(first)
    last = end - border
    first *= np.sign(last)
    np.minimum(first, np.abs(last), out=first)
    return np.maximum(first, 0.0, out=first)


def _moment_of(rows: MemoryRows, index: Array, values: Array) -> Array:
    """Return Σ a x value over some unlabeled rows."""
    weighted = times(rows.targets.weight_at(index), values)
    if 4 * len(index) > rows.n_rows:  # reading all rows is faster than taking these out
        whole = np.zeros(rows.n_rows)
        whole[index] = weighted
        return rows.design.moment(whole)
    return rows.design.sum_at(index, lambda block, part: rows.design.combine(block, weighted[part]))


def _gram_of(rows: MemoryRows, index: Array) -> Array:
    """Return Σ a x x' over some unlabeled rows."""
    if 2 * len(index) <= rows.n_unlabeled:
        return rows.unlabeled_gram(index)
    others = np.ones(rows.n_rows, dtype=bool)
    others[index] = others[rows.labeled] = False
    return rows.full_gram - rows.labeled_gram - rows.unlabeled_gram(np.flatnonzero(others))
