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
from ..linalg import EPS
from .memory import MemoryRows
from .targets import times

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
SPREAD_ROWS = 4096
"""If X'X is not known yet, centre and scale of the columns are those of this many rows."""
EVEN, NEAR = 1.25, 0.1
"""Columns get the same scale if theirs differ by this factor at most, and are not centred if all
their means are this close to 0, in standard deviations."""
MOST_CANCELLED = 100.0
"""The loss is taken from sums if their terms are at most this many times as large."""
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

    def remember(self, v: Array) -> Array:
        """Return an array for the decision values at weights, which the oldest ones had."""
        place = self._n_seen % len(self._weights)
        self._weights[place] = v
        self._n_seen += 1
        return self._values[place]

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
        self.rows, self.labeling, d = rows, labeling, rows.n_features
        self._centre, self._scale = _centre_and_scale(rows)
        most = min(REMEMBERED, max(2, d // COLUMNS_EACH))
        self._known = _Remembered(most, rows.n_rows, d + 1)
        self._levels: list[_Level] = []
        self._w: Array | None = None
        """The weights at which the labels were imputed."""
        self._last: Array | None = None
        self._closest = 0.0
        """The least distance to a border that a decision value may have, as far as is known."""
        self._read = 0
        """Rows that were read one by one since the last pass over all rows."""
        self.piece = np.full(rows.n_rows, -1, dtype=np.int8)
        """-1 if the label is 0, 1 if it is 1, 0 between; -1 for labeled rows."""
        self._ones, self._between_sum = np.zeros(rows.n_weights), np.zeros(rows.n_weights)
        self._between = np.zeros((rows.n_weights, rows.n_weights))

    @property
    def labels(self) -> Array:
        """The hard labels of all rows."""
        return (self.piece > 0).astype(np.float64)

    def borders(self) -> tuple[float, float]:
        """Return the decision values up to which labels are 0, and above which they are 1."""
        if isinstance(self.labeling, DialLabels):
            return 0.5 * self.labeling.tau, 1.0 - 0.5 * self.labeling.tau
        return 0.5, 0.5

    def turn(self, labeling: HardLabels | DialLabels) -> None:
        """Go on with another labeling."""
        if labeling == self.labeling:
            return
        self.labeling, self._w = labeling, None
        self._last = None  # the next step will be a large one
        del self._levels[1:]

    def relabel(self, w: Array) -> tuple[Array, int]:
        """Impute the labels at w; return their moment and how many rows changed their piece.

        The first call also sums X'X, if it is not known yet and all rows weigh the same.
        """
        if self._w is not None and np.array_equal(w, self._w):
            return self._moment(w), 0
        v = self._coordinates(w)
        if self._levels:
            self._leave(v)
            piece = self._pieces(w, v)
            level = self._levels[-1]
            changed = self._move(level, piece)
            if self._last is not None:
                self._narrow(level, v, AHEAD * (v - self._last))
        else:
            changed = self._first_pass(w, v)
        self._w, self._last = w, v
        return self._moment(w), changed

    def loss(self) -> float | None:
        """Return Σ a (z - t)² at the last weights, for hard labels, without a pass over the rows.

        It is ``Σ a t + w'(X'X w - 2 Σ a x t)``. None if that would lose digits, or if a row is so
        close to a border that rounding decides about its label.
        """
        rows, w = self.rows, self._w
        assert w is not None
        largest = self._scale * float(self._levels[0].norms.max()) + np.abs(self._centre)
        reach = 1.0 + (abs(float(w[-1])) if rows.intercept else 0.0)
        reach += float(np.abs(w[: rows.n_features]) @ largest)
        if not self._closest > 4.0 * rows.n_weights * EPS * reach:  # also if reach is NaN
            return None
        moment, gram, ones = self._moment(w), rows.full_gram, self.piece > 0
        total = float(rows.targets.times_weights(ones.astype(np.float64)).sum())
        total += float(rows.labeled_weight @ rows.y)
        loss = total + float(w @ (gram @ w - 2.0 * moment))
        size = np.abs(w)
        terms = total + float(size @ (np.abs(gram) @ size + 2.0 * np.abs(moment)))
        return loss if terms <= MOST_CANCELLED * loss else None

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
        rows, level = self.rows, self._levels[-1]
        if not self._is_precise(level.estimates, v):
            return self._pass(w, v)
        piece, unclear = self._estimated_pieces(level, v)
        if level.index is None:
            self._read += len(unclear)
            if ALONE * self._read > rows.n_rows:
                return self._pass(w, v)
        z = rows.decisions_of(unclear if level.index is None else level.index[unclear], w)
        self._closest = min(float(np.abs(z - b).min(initial=np.inf)) for b in self.borders())
        piece[unclear] = _piece(z, *self.borders())
        if level.index is None:
            piece[rows.labeled] = -1
        return piece

    def _pass(self, w: Array, v: Array) -> Array:
        """Return the pieces of all rows at w, and remember their decision values."""
        rows, (low, high) = self.rows, self.borders()
        z, piece = self._known.remember(v), np.empty(rows.n_rows, dtype=np.int8)

        def work(start: int, stop: int) -> int:
            value = rows.design.decide(rows.table.slice(start, stop), w)
            z[start:stop], piece[start:stop] = value, _piece(value, low, high)
            return 0

        rows.design.sum_often(work, rows.n_rows)
        piece[rows.labeled] = -1
        self._read, self._closest = 0, 0.0
        return piece

    def _first_pass(self, w: Array, v: Array) -> int:
        """Impute the labels at w and sum over their pieces; add the level of all rows.

        Returns how many rows changed their piece.
        """
        rows, design, (low, high) = self.rows, self.rows.design, self.borders()
        z, piece = self._known.remember(v), np.empty(rows.n_rows, dtype=np.int8)
        norms, inverse = np.empty(rows.n_rows, dtype=np.float32), 1.0 / self._scale**2

        def work(block: Any, part: slice) -> Array:
            value = design.decide(block, w)
            norms[part] = design.distances(block, self._centre, inverse)
            z[part], piece[part] = value, _piece(value, low, high)
            piece[rows.targets.labeled_between(part.start, part.stop)[0]] = -1
            weight = rows.targets.weight_at(part)
            ones = design.combine(block, times(weight, (piece[part] > 0).astype(np.float64)))
            if low == high:
                return ones
            between = (piece[part] == 0).astype(np.float64)
            return np.append(ones, design.combine(block, times(weight, between)))

        total, p = rows.sum_with_gram(work), rows.n_weights
        self._ones = total[:p]
        if low < high:
            self._between_sum, self._between = total[p:], self._between_gram(piece == 0)
        norms += 1.0
        np.sqrt(norms, out=norms)
        norms[rows.labeled] = 0.0  # they have no piece that could change
        nowhere = np.zeros(len(v))
        self._levels.append(_Level(None, norms, self._known, nowhere, nowhere, np.inf))
        changed = int(np.count_nonzero(piece != self.piece))
        self.piece = piece
        return changed

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
        if isinstance(self.labeling, HardLabels):  # the sums between will not be used again
            return
        between = piece == 0
        self._between_sum = rows.design.moment(
            rows.targets.times_weights(between.astype(np.float64))
        )
        self._between = self._between_gram(between)

    def _between_gram(self, between: Array) -> Array:
        """Return Σ a x x' over the rows of a mask, or subtract the others if they are fewer."""
        rows = self.rows
        if 2 * np.count_nonzero(between) <= rows.n_unlabeled:
            return rows.unlabeled_gram(np.flatnonzero(between))
        outside = ~between
        outside[rows.labeled] = False
        others = rows.unlabeled_gram(np.flatnonzero(outside))
        return rows.full_gram - rows.labeled_gram - others

    def _update(self, index: Array, now: Array, before: Array) -> None:
        """Add rows that changed their piece to the sums, reading each once."""
        rows, design, p = self.rows, self.rows.design, self.rows.n_weights
        entered = (now == 0).astype(np.int8) - (before == 0)
        ones = (now > 0).astype(np.float64) - (before > 0)
        moves_between = isinstance(self.labeling, DialLabels) and bool(entered.any())
        if moves_between:  # rows that leave the ones between first, those that enter last
            order = np.argsort(entered, kind="stable")
            index, ones, entered = index[order], ones[order], entered[order]
        if rows.row_weight is not None:
            ones *= rows.row_weight[index]

        def work(block: Any, part: slice) -> Array:
            moment = design.combine(block, ones[part])
            if not moves_between:
                return moment
            left, stayed = np.searchsorted(entered[part], (0, 1))
            sums = self._block_between(block[stayed:], index[part][stayed:])
            sums -= self._block_between(block[:left], index[part][:left])
            return np.concatenate((moment, sums))

        sums = rows.unlabeled_weight * design.sum_at(index, work)
        self._ones += sums[:p]
        if moves_between:
            self._between_sum += sums[p : 2 * p]
            self._between += sums[2 * p :].reshape(p, p)

    def _block_between(self, block: Any, index: Array) -> Array:
        """Return Σ row_weight x, and after it Σ row_weight x x', over the rows of a block."""
        rows, design = self.rows, self.rows.design
        if not len(index):
            return np.zeros(rows.n_weights * (rows.n_weights + 1))
        weight = None if rows.row_weight is None else rows.row_weight[index]
        gram = design.block_gram(block, weight)
        if rows.intercept:
            return np.append(gram[-1], gram)
        return np.append(
            design.combine(block, np.ones(len(index)) if weight is None else weight), gram
        )


def _centre_and_scale(rows: MemoryRows) -> tuple[Array, Array]:
    """Return means and standard deviations of the columns; any numbers > 0 are a valid scale."""
    d = rows.n_features
    if rows.knows_gram:
        gram = rows.full_gram
        total = float(gram[-1, -1]) if rows.intercept else max(rows.total_weight, 1e-300)
        sums, squares = gram[-1, :d] / total, gram.diagonal()[:d] / total
    else:
        some = rows.table.take(np.arange(0, rows.n_rows, 1 + rows.n_rows // SPREAD_ROWS))
        with np.errstate(over="ignore", invalid="ignore"):  # sums over all rows will notice
            sums = some.T @ np.full(some.shape[0], 1.0 / some.shape[0])
            squares = rows.table.column_squares(some) / some.shape[0]
    centre = sums if rows.intercept else np.zeros(d)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.maximum(squares - centre**2, 1e-12 * squares)
    scale = np.where(spread > 0.0, np.sqrt(spread), 1.0)
    if scale.max() <= EVEN * scale.min():  # distances are summed faster
        scale[:] = scale.max()
    is_near = (np.abs(centre) <= NEAR * scale).all()
    return np.zeros(d) if is_near else centre, scale


def _piece(z: Array, low: float, high: float) -> Array:
    return (z > high).view(np.int8) - (z <= low).view(np.int8)
