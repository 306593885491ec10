"""Labels that follow changing weights, while only rows that may change their piece are read.

Two classes. Imputed labels are 0, 1, or affine in the decision value between two borders, so their
moment Σ a x t depends on the pieces of the rows alone; rows that change their piece update it.

Weights that follow each other are nearly combinations of a few earlier ones, and decision values
are linear in the weights. So the decision values at some earlier weights estimate those at new
ones: with a remainder r of the weights, the estimate for a row x is wrong by at most ``‖x‖ ‖r‖``.
Only rows that are closer to a border than this are read. If steps get small, a `_Level` holds a
copy, in single precision, of the rows that can change their piece at all while the weights stay in
a tube around the line of their last step (a bound like that of Hamerly's k-means); it may hold a
narrower level in turn. Weights that leave a tube return to the rows of the level above, and in the
end to all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.typing import Array
from ..labelings import DialLabels, HardLabels
from .memory import MemoryRows

Estimates = Callable[[slice], Array]
"""Returns estimated decision values of the rows of a slice, in single precision."""

REMEMBERED = 6
"""Decision values are kept at this many earlier weights, in single precision; fewer in tables with
few columns, whose rows are read as fast as estimated."""
COLUMNS_EACH = 8
"""There are at least this many columns for each of them, if they are more than two."""
DIGITS = 2.0**-20
"""A bound of the relative rounding of estimates in single precision, with a margin."""
ALONE = 4
"""Reading a single row takes this many times as long as reading one of many in order."""
AHEAD = 6.0
"""A tube is this many last steps long: steps that shrink by 1/7 each end within it."""
SHORTEST = 0.7
"""The radius of a tube is at least this many last steps."""
NARROWING = 12
"""A level has about one of this many rows of the level above, or more if steps are long."""
LARGEST_SHARE = 7
"""A level with more than one of this many rows would take too much memory."""
LARGEST_SHARE_OF_COPY = 4
"""A level within a level has at most one of this many rows: copying more does not pay."""
FEWEST_ROWS = 4096
"""Fewer rows than this are not narrowed any more."""
BLOCK = 1 << 15
"""Estimates are made for this many rows at a time, to stay in the cache."""
SLACK = 1.0 - 1e-6
"""Covers the rounding of the bounds: rows are compared with a radius that is larger by 1e-6."""


class _Remembered:
    """Decision values of all rows at earlier weights, which estimate those at new ones.

    Those at `most` weights are kept, in single precision.
    """

    def __init__(self, most: int, n_rows: int, n_weights: int) -> None:
        self._weights = np.empty((most, n_weights))
        self._values = np.empty((most, n_rows), dtype=np.float32)  # no memory until it is written
        self._n_seen = 0

    @property
    def n_kept(self) -> int:
        """The number of weights whose decision values are kept."""
        return min(self._n_seen, len(self._weights))

    def remember(self, v: Array, z: Array) -> None:
        """Keep the decision values at weights, in the place of the oldest ones."""
        place = self._n_seen % len(self._weights)
        self._weights[place], self._values[place] = v, z
        self._n_seen += 1

    def at(self, v: Array) -> tuple[Estimates, float]:
        """Estimate by the combination of earlier weights, and of a constant, closest to v."""
        constant = np.zeros(len(v))
        constant[-1] = 1.0
        basis = np.vstack((self._weights[: self.n_kept], constant))
        c = np.linalg.lstsq(basis.T, v, rcond=1e-6)[0]
        size = 1.0 + float(np.abs(c) @ np.linalg.norm(basis, axis=1))
        left = float(np.linalg.norm(v - c @ basis))
        values, factors = self._values[: self.n_kept], c.astype(np.float32)

        def estimate(part: slice) -> Array:
            z = factors[:-1] @ values[:, part]
            z += factors[-1]
            return z

        return estimate, left + DIGITS * size


@dataclass(frozen=True, eq=False)
class _Copy:
    """A copy of some rows in single precision."""

    matrix: Any
    """The rows, their columns divided by the scale; those of dense tables are also centred."""
    offset: Array
    """The centre that is left in these columns."""

    def at(self, v: Array) -> tuple[Estimates, float]:
        """Multiply the rows by the weights."""
        features = v[:-1].astype(np.float32)
        constant = np.float32(v[-1] - self.offset @ v[:-1])
        far = 1.0 + float(np.linalg.norm(self.offset))
        digits = (len(v) + 8) * 2.0**-24  # of sums in any order

        def estimate(part: slice) -> Array:
            z = self.matrix[part] @ features
            z += constant
            return z

        return estimate, digits * (1.0 + far * float(np.linalg.norm(v)))

    def subset(self, index: Array) -> _Copy:
        return _Copy(self.matrix[index], self.offset)


@dataclass(frozen=True, eq=False)
class _Level:
    """Some rows, estimates of their decision values, and the tube in which no other row moves."""

    index: Array | None
    """Where the rows are among all rows; None for all."""
    norms: Array
    estimates: _Remembered | _Copy
    """``at(v)`` returns a function from slices of the rows to estimates at the weights v, and a
    bound of their error for a row of norm 1."""
    start: Array
    """The start of the tube, in the tracker's coordinates of weights."""
    line: Array
    """The tube goes from `start` to `start + line`."""
    radius: float

    def contains(self, v: Array) -> bool:
        """Return whether weights are in the tube."""
        away = v - self.start
        square = float(self.line @ self.line)
        t = min(1.0, max(0.0, float(away @ self.line) / square)) if square > 0.0 else 0.0
        return bool(np.linalg.norm(away - t * self.line) <= SLACK * self.radius)

    def parts(self) -> list[slice]:
        """Return slices of the rows that stay in the cache."""
        return [slice(k, k + BLOCK) for k in range(0, len(self.norms), BLOCK)]


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
        most = min(REMEMBERED, max(2, d // COLUMNS_EACH))
        self._known = _Remembered(most, rows.n_rows, d + 1)
        self._levels: list[_Level] = []
        self._last: Array | None = None
        self._read = 0
        """Rows that were read one by one since the last pass over all rows."""
        self.piece = np.full(rows.n_rows, -1, dtype=np.int8)
        """-1 if the label is 0, 1 if it is 1, 0 between; -1 for labeled rows."""
        self._ones, self._between_sum = np.zeros(rows.n_weights), np.zeros(rows.n_weights)
        self._between = np.zeros((rows.n_weights, rows.n_weights))
        if isinstance(labeling, DialLabels):
            self._start_between()

    def _start_between(self) -> None:
        """Let all labels be between: on the way from soft labels, few rows will leave."""
        rows = self.rows
        self.piece[:] = 0
        self.piece[rows.labeled] = -1
        self._between = rows.full_gram - rows.labeled_gram
        if rows.intercept:
            self._between_sum = self._between[-1].copy()
        else:
            share = rows.targets.times_weights((self.piece == 0).astype(np.float64))
            self._between_sum = rows.design.moment(share)

    @property
    def labels(self) -> Array:
        """The hard labels of all rows."""
        return (self.piece > 0).astype(np.float64)

    def start(self, labels: Array, moment: Array) -> None:
        """Start from labels of 0 and 1, whose moment is known."""
        self.piece = np.where(labels > 0.5, 1, -1).astype(np.int8)
        self.piece[self.rows.labeled] = -1
        self._ones = moment - self.rows.labeled_moment

    def remember(self, w: Array, z: Array) -> None:
        """Keep the decision values z of all rows at w, to estimate those at other weights."""
        self._known.remember(self._coordinates(w), z)

    def borders(self) -> tuple[float, float]:
        """Return the decision values up to which labels are 0, and above which they are 1."""
        if isinstance(self.labeling, DialLabels):
            return 0.5 * self.labeling.tau, 1.0 - 0.5 * self.labeling.tau
        return 0.5, 0.5

    def turn(self, labeling: HardLabels | DialLabels) -> None:
        """Go on with another labeling."""
        self.labeling, self._last = labeling, None  # the next step will be a large one
        del self._levels[1:]

    def relabel(self, w: Array) -> tuple[Array, int]:
        """Impute the labels at w; return their moment and how many rows changed their piece."""
        v = self._coordinates(w)
        self._leave(v)
        piece = self._pieces(w, v)
        level = self._levels[-1]
        changed = self._move(level, piece)
        if self._last is not None:
            self._narrow(level, v, AHEAD * (v - self._last))
        self._last = v
        return self._moment(w), changed

    def forget(self) -> None:
        """Free the memory of all that predicts labels; they must not change any more."""
        self._levels.clear()

    def _leave(self, v: Array) -> None:
        """Drop the first level whose tube does not contain v, and those within it."""
        outside = (k for k, level in enumerate(self._levels) if k and not level.contains(v))
        del self._levels[next(outside, len(self._levels)) :]

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

    # -- pieces -------------------------------------------------------------------------------

    def _pieces(self, w: Array, v: Array) -> Array:
        """Return the pieces of the rows of the last level at w.

        Only rows that are too close to a border are read. If these were many since the last pass
        over all rows, another one, which improves later estimates, is as fast.
        """
        rows, borders = self.rows, self.borders()
        if self._levels and self._is_precise(self._levels[-1].estimates, v):
            level = self._levels[-1]
            piece, unclear = self._estimated_pieces(level, v)
            if level.index is not None:
                piece[unclear] = _piece(rows.decisions_of(level.index[unclear], w), *borders)
                return piece
            self._read += len(unclear)
            if ALONE * self._read <= rows.n_rows:
                piece[unclear] = _piece(rows.decisions_of(unclear, w), *borders)
                piece[rows.labeled] = -1
                return piece
        z = rows.decisions(w) if self._levels else self._first_pass(w, len(v))
        self._known.remember(v, z)
        self._read = 0
        piece = _piece(z, *borders)
        piece[rows.labeled] = -1
        return piece

    def _first_pass(self, w: Array, size: int) -> Array:
        """Return the decision values of all rows at w; add the level of all rows."""
        rows, nowhere = self.rows, np.zeros(size)
        z, squares = rows.design.decisions_and_distances(w, self._centre, 1.0 / self._scale**2)
        norms = np.sqrt(1.0 + squares).astype(np.float32)
        norms[rows.labeled] = 0.0  # they have no piece that could change
        self._levels.append(_Level(None, norms, self._known, nowhere, nowhere, np.inf))
        return z

    def _is_precise(self, known: _Remembered | _Copy, v: Array) -> bool:
        """Return whether estimates at v are precise enough to narrow a tube around them."""
        if isinstance(known, _Copy):
            return True
        if known.n_kept < 2:
            return False
        return self._last is None or known.at(v)[1] <= float(np.linalg.norm(v - self._last))

    def _estimated_pieces(self, level: _Level, v: Array) -> tuple[Array, Array]:
        """Return the estimated pieces, and the rows whose piece they leave unclear."""
        estimate, error = level.estimates.at(v)
        low, high = self.borders()
        piece = np.empty(len(level.norms), dtype=np.int8)
        unclear = []
        for part in level.parts():
            z = estimate(part)
            piece[part] = _piece(z, low, high)
            reach = np.float32(error) * level.norms[part]
            room = np.abs(z - np.float32(low))
            if high > low:
                np.minimum(room, np.abs(z - np.float32(high)), out=room)
            unclear.append(part.start + np.flatnonzero(~(room > reach)))
        return piece, np.concatenate(unclear)

    def _narrow(self, level: _Level, v: Array, line: Array) -> None:
        """Add a level with the rows that may change their piece in the next steps."""
        n_rows = len(level.norms)
        if n_rows < FEWEST_ROWS:
            return
        here, left = level.estimates.at(v)
        end, left_at_end = level.estimates.at(v + line)
        error = max(left, left_at_end)
        step = float(np.linalg.norm(line)) / AHEAD

        def rooms(part: slice) -> Array:
            return self._room(here(part), end(part), level.norms[part])

        some = rooms(slice(None, None, max(1, n_rows // FEWEST_ROWS)))
        share = LARGEST_SHARE if level.index is None else LARGEST_SHARE_OF_COPY
        few, many = len(some) // NARROWING, len(some) // share
        some.partition((few, many))
        radius = min(max(float(some[few]) - error, step), float(some[many]) - error)
        if radius < SHORTEST * step:
            return
        inside = np.concatenate(
            [part.start + np.flatnonzero(rooms(part) <= radius + error) for part in level.parts()]
        )
        if isinstance(level.estimates, _Copy):
            assert level.index is not None
            index, copy = level.index[inside], level.estimates.subset(inside)
        else:
            table = self.rows.table
            matrix, centre = table.standardised(inside, self._centre, self._scale)
            index, copy = inside, _Copy(matrix, (self._centre - centre) / self._scale)
        self._levels.append(_Level(index, level.norms[inside], copy, v, line, radius))

    def _room(self, first: Array, last: Array, norms: Array) -> Array:
        """Return how far weights may leave a line before a row's decision value meets a border.

        Negative if the line itself crosses a border; infinite for labeled rows.
        """
        low, high = (np.float32(border) for border in self.borders())
        least, largest = np.minimum(first, last), np.maximum(first, last)
        room = np.maximum(least - low, low - largest)
        if high > low:
            np.minimum(room, np.maximum(least - high, high - largest), out=room)
        with np.errstate(divide="ignore", invalid="ignore"):
            room /= norms
        room[norms == 0.0] = np.inf
        return room

    # -- sums ---------------------------------------------------------------------------------

    def _move(self, level: _Level, piece: Array) -> int:
        """Take over the pieces of a level's rows; return how many differ from the last ones."""
        last = self.piece if level.index is None else self.piece[level.index]
        moved = np.flatnonzero(piece != last)
        if not len(moved):
            return 0
        index = moved if level.index is None else level.index[moved]
        if ALONE * len(moved) > self.rows.n_rows:
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
        entered = (now == 0).astype(np.int8) - (before == 0)
        if isinstance(self.labeling, HardLabels):  # the sums between will not be used again
            entered[:] = 0
        ones = (now > 0).astype(np.float64) - (before > 0)
        for sign in (-1, 0, 1):  # rows that leave the ones between, stay outside or inside, enter
            group = np.flatnonzero(entered == sign)
            if len(group):
                self._add(index[group], ones[group], sign)

    def _add(self, index: Array, ones: Array, sign: int) -> None:
        """Add rows to the sum of the ones, and if sign is not 0, that often to those between."""
        rows, design, p = self.rows, self.rows.design, self.rows.n_weights
        weight = None if rows.row_weight is None else rows.row_weight[index]

        def work(block: Any, part: slice) -> Array:
            share = np.ones(block.shape[0]) if weight is None else weight[part]
            moment = design.combine(block, share * ones[part])
            if not sign:
                return moment
            gram = design.block_gram(block, None if weight is None else share)
            total = gram[-1] if rows.intercept else design.combine(block, share)
            return np.concatenate((moment, total, gram.ravel()))

        sums = rows.unlabeled_weight * design.sum_at(index, work)
        self._ones += sums[:p]
        if sign:
            self._between_sum += sign * sums[p : 2 * p]
            self._between += sign * sums[2 * p :].reshape(p, p)


def _piece(z: Array, low: float, high: float) -> Array:
    return (z > high).view(np.int8) - (z <= low).view(np.int8)
