"""Labels that follow changing weights, while only rows that may change their piece are read.

Two classes. Imputed labels are 0, 1, or affine in the decision value between two borders, so their
moment Σ a x t depends on the pieces of the rows alone; rows that change their piece update it.

Weights that follow each other are nearly combinations of a few earlier ones, and decision values
are linear in the weights. So the decision values at some earlier weights predict those at new ones:
with a remainder r of the weights, the prediction for a row x is wrong by at most ``‖x‖ ‖r‖``. Only
rows that are closer to a border than this are read. If steps get small, a `_Level` holds a copy of
the rows that can change their piece at all while the weights stay in a tube around the line of
their last step (a bound like that of Hamerly's k-means); it may hold a narrower level in turn.
Weights that leave the tube return to the rows of the level above, and in the end to all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.typing import Array
from ..labelings import DialLabels, HardLabels
from .memory import MemoryRows

REMEMBERED = 6
"""Decision values are kept at this many earlier weights, in single precision; fewer in tables with
few columns, whose rows are read as fast as predicted."""
COLUMNS_EACH = 8
"""There are at least this many columns for each of them, if they are more than two."""
DIGITS = 2.0**-20
"""A bound of the relative rounding of predictions in single precision, with a margin of two."""
ALONE = 5
"""Reading a single row takes this many times as long as reading one of many in order."""
AHEAD = 6.0
"""A tube is this many last steps long: steps that shrink by 1/7 each end within it."""
NARROWING = 24
"""A level has about one of this many rows of the level above."""
LARGEST_SHARE = 20
"""A level with more than one of this many rows would take too much memory."""
FEWEST_ROWS = 4096
"""Fewer rows than this are not narrowed any more."""
BLOCK = 1 << 15
"""Predictions are made for this many rows at a time, to stay in the cache."""
SLACK = 1.0 - 1e-6
"""Covers the rounding of the bounds: rows are compared with a radius that is larger by 1e-6."""


@dataclass(eq=False)
class _Level:
    """Some rows, their decision values at earlier weights, and the tube in which no other moves."""

    rows: MemoryRows
    index: Array | None
    """Where the rows are among all rows; None for all."""
    norms: Array
    start: Array
    """The start of the tube, in the tracker's coordinates of weights."""
    line: Array
    """The tube goes from `start` to `start + line`."""
    radius: float
    weights: Array
    """Earlier weights, one in each line."""
    values: list[Array]
    """The decision values at each of these weights."""

    def contains(self, v: Array) -> bool:
        """Return whether weights are in the tube."""
        away = v - self.start
        square = float(self.line @ self.line)
        t = min(1.0, max(0.0, float(away @ self.line) / square)) if square > 0.0 else 0.0
        return bool(np.linalg.norm(away - t * self.line) <= SLACK * self.radius)

    def remember(self, v: Array, z: Array) -> None:
        """Keep the decision values at weights, in the place of the oldest ones."""
        most = min(REMEMBERED, max(2, self.rows.n_features // COLUMNS_EACH))
        kept = slice(int(len(self.values) >= most), None)
        self.weights = np.vstack((self.weights[kept], v))
        self.values = [*self.values[kept], z.astype(np.float32)]

    def predict(self, c: Array, part: slice) -> Array:
        """Return the same combination of the decision values of some rows."""
        z = c[0] * self.values[0][part]
        for factor, values in zip(c[1:], self.values[1:], strict=True):
            z += factor * values[part]
        return z

    def combination(self, v: Array) -> tuple[Array, float]:
        """Return the combination of earlier weights closest to v, and a bound of its error.

        Decision values are wrong by at most the bound times the norm of their row.
        """
        c = np.linalg.lstsq(self.weights.T, v, rcond=1e-6)[0]
        size = 1.0 + float(np.abs(c) @ np.linalg.norm(self.weights, axis=1))
        left = float(np.linalg.norm(v - c @ self.weights))
        return c.astype(np.float32), left + DIGITS * size


class TrackedLabels:
    """The labels of all rows at changing weights, as the moment Σ a x t.

    Parameters
    ----------
    rows : MemoryRows
        Rows with two classes.
    labeling : HardLabels or DialLabels
        The labeling; `turn` may change it.
    """

    def __init__(self, rows: MemoryRows, labeling: HardLabels | DialLabels) -> None:
        self.rows, self.labeling = rows, labeling
        gram, d = rows.full_gram, rows.n_features
        total = float(gram[-1, -1]) if rows.intercept else max(rows.total_weight, 1e-300)
        squares = gram.diagonal()[:d] / total
        self._centre = gram[-1, :d] / total if rows.intercept else np.zeros(d)
        spread = np.maximum(squares - self._centre**2, 1e-12 * squares)
        self._scale = np.where(spread > 0.0, np.sqrt(spread), 1.0)
        self._levels: list[_Level] = []
        self._last: Array | None = None
        self._read = 0
        """Rows that were read one by one since the last pass over all rows."""
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

    def relabel(self, w: Array) -> tuple[Array, int]:
        """Impute the labels at w; return their moment and how many rows changed their piece."""
        v = self._coordinates(w)
        if not self._levels:
            self._levels.append(self._all_rows(len(v)))
        while len(self._levels) > 1 and not self._levels[-1].contains(v):
            self._levels.pop()
        level = self._levels[-1]
        changed = self._move(level, self._pieces(level, w, v))
        if self._last is not None:
            self._narrow(level, v, AHEAD * (v - self._last))
        self._last = v
        return self._moment(w), changed

    def _coordinates(self, w: Array) -> Array:
        """Return weights of centred and scaled columns: rows have similar norms in them."""
        features = w[: self.rows.n_features]
        level = w[-1] + self._centre @ features if self.rows.intercept else 0.0
        return np.append(features * self._scale, level)

    def _all_rows(self, size: int) -> _Level:
        rows, nowhere = self.rows, np.zeros(size)
        norms = np.sqrt(1.0 + rows.distances(self._centre, 1.0 / self._scale**2))
        norms[rows.labeled] = 0.0  # they have no piece that could change
        norms = norms.astype(np.float32)
        return _Level(rows, None, norms, nowhere, nowhere, np.inf, np.empty((0, size)), [])

    def _moment(self, w: Array) -> Array:
        moment = self.rows.labeled_moment + self._ones
        if isinstance(self.labeling, DialLabels):
            low = self.borders()[0]
            between = self._between @ w - low * self._between_sum
            moment = moment + between / (1.0 - self.labeling.tau)
        return moment

    # -- pieces -------------------------------------------------------------------------------

    def _pieces(self, level: _Level, w: Array, v: Array) -> Array:
        """Return the pieces of a level's rows at w.

        Of all rows, only those that are too close to a border are read, until a pass over all of
        them, which improves later predictions, would have been as fast.
        """
        rows, unclear = level.rows, None
        if level.index is None and len(level.weights):
            piece, unclear = self._predicted_pieces(level, v)
            self._read += len(unclear)
        if unclear is not None and ALONE * self._read <= rows.n_rows:
            piece[unclear] = _piece(rows.decisions_of(unclear, w), *self.borders())
        else:
            z = rows.decisions(w)
            level.remember(v, z)
            piece = _piece(z, *self.borders())
            self._read = 0 if level.index is None else self._read
        if level.index is None:
            piece[rows.labeled] = -1
        return piece

    def _predicted_pieces(self, level: _Level, v: Array) -> tuple[Array, Array]:
        """Return the pieces that earlier weights predict, and the rows that they leave unclear."""
        c, error = level.combination(v)
        low, high = self.borders()
        piece = np.empty(level.rows.n_rows, dtype=np.int8)
        unclear = []
        for first in range(0, level.rows.n_rows, BLOCK):
            part = slice(first, first + BLOCK)
            z = level.predict(c, part)
            piece[part] = _piece(z, low, high)
            reach = np.float32(error) * level.norms[part]
            room = np.abs(z - np.float32(low))
            if high > low:
                np.minimum(room, np.abs(z - np.float32(high)), out=room)
            unclear.append(first + np.flatnonzero(~(room > reach)))
        return piece, np.concatenate(unclear)

    def _narrow(self, level: _Level, v: Array, line: Array) -> None:
        """Add a level with the rows that may change their piece in the next steps."""
        if level.rows.n_rows < FEWEST_ROWS:
            return
        here, end = level.combination(v), level.combination(v + line)
        ends = here[0], end[0]
        error = max(here[1], end[1])
        step = float(np.linalg.norm(line)) / AHEAD
        some = self._room(level, slice(None, None, max(1, level.rows.n_rows // FEWEST_ROWS)), *ends)
        radius = max(float(np.quantile(some, 1.0 / NARROWING)) - error, step)
        if LARGEST_SHARE * np.count_nonzero(some <= radius + error) > len(some):
            return
        inside = np.concatenate(
            [
                first + np.flatnonzero(
                    self._room(level, slice(first, first + BLOCK), *ends) <= radius + error
                )
                for first in range(0, level.rows.n_rows, BLOCK)
            ]
        )  # fmt: skip
        if level.index is None:
            inside = np.setdiff1d(inside, self.rows.labeled, assume_unique=True)
        index = inside if level.index is None else level.index[inside]
        targets = level.rows.targets.unlabeled_at(inside)
        few = MemoryRows.of(level.rows.table.subset(inside), targets, level.rows.intercept)
        norms, values = level.norms[inside], [z[inside] for z in level.values]
        self._levels.append(_Level(few, index, norms, v, line, radius, level.weights, values))

    def _room(self, level: _Level, part: slice, here: Array, end: Array) -> Array:
        """Return how far weights may leave a line before the prediction of a row changes."""
        first, last = level.predict(here, part), level.predict(end, part)
        low, high = self.borders()
        room = _room(first, last, low)
        if high > low:
            np.minimum(room, _room(first, last, high), out=room)
        return room / np.maximum(level.norms[part], np.float32(1.0))

    # -- sums ---------------------------------------------------------------------------------

    def _move(self, level: _Level, piece: Array) -> int:
        """Take over the pieces of a level's rows; return how many differ from the last ones."""
        last = self.piece if level.index is None else self.piece[level.index]
        moved = np.flatnonzero(piece != last)
        if not len(moved):
            return 0
        index = moved if level.index is None else level.index[moved]
        if 2 * len(moved) > self.rows.n_rows:
            self._sum(piece)
        else:
            self._update(index, piece[moved], last[moved])
        if level.index is None:
            self.piece = piece
        else:
            self.piece[index] = piece[moved]
        return len(moved)

    def _sum(self, piece: Array) -> None:
        """Sum over all rows, given all pieces."""
        rows = self.rows
        self._ones = rows.design.moment(rows.targets.times_weights((piece > 0).astype(np.float64)))
        between = piece == 0
        if not between.any():
            self._between[:], self._between_sum[:] = 0.0, 0.0
            return
        self._between_sum = rows.design.moment(
            rows.targets.times_weights(between.astype(np.float64))
        )
        if 2 * np.count_nonzero(between) <= rows.n_unlabeled:
            self._between = rows.unlabeled_gram(np.flatnonzero(between))
            return
        between[rows.labeled] = True
        others = rows.unlabeled_gram(np.flatnonzero(~between))
        self._between = rows.full_gram - rows.labeled_gram - others

    def _update(self, index: Array, now: Array, before: Array) -> None:
        """Add rows that changed their piece to the sums, reading each once."""
        rows, design = self.rows, self.rows.design
        weight = np.broadcast_to(np.asarray(rows.targets.weight_at(index)), index.shape)
        ones = weight * ((now > 0).astype(np.float64) - (before > 0))
        between = weight * ((now == 0).astype(np.float64) - (before == 0))
        p = rows.n_weights

        def work(block: Any, part: slice) -> Array:
            if not between.any():
                return design.combine(block, ones[part])
            sums = design.combine(block, np.column_stack((ones[part], between[part])))
            return np.append(sums, self._between_change(block, between[part]))

        sums = design.sum_at(index, work)
        if len(sums) == p:
            self._ones += sums
            return
        both = sums[: 2 * p].reshape(p, 2)
        self._ones += both[:, 0]
        self._between_sum += both[:, 1]
        self._between += sums[2 * p :].reshape(p, p)

    def _between_change(self, block: Any, weight: Array) -> Array:
        """Return Σ weight x x' over a block; weights are negative for rows that leave."""
        total = np.zeros((self.rows.n_weights, self.rows.n_weights))
        for sign in (1.0, -1.0):
            chosen = np.flatnonzero(sign * weight > 0.0)
            if len(chosen):
                size = np.abs(weight[chosen])
                total += sign * self.rows.design.block_gram(
                    block[chosen], None if (size == 1.0).all() else size
                )
        return total


def _piece(z: Array, low: float, high: float) -> Array:
    return (z > high).view(np.int8) - (z <= low).view(np.int8)


def _room(z: Array, end: Array, border: float) -> Array:
    """Return how far from a border the values between z and `end` stay; 0 if they cross it."""
    first, last = z - np.float32(border), end - np.float32(border)
    first *= np.sign(last)
    np.minimum(first, np.abs(last), out=first)
    return np.maximum(first, 0.0, out=first)
