"""Blocks of rows that Dask holds: work that is done on each, and sums that are added in a tree.

Only what a block sums up to travels, in a tree whose order depends on the blocks alone; what it
knows of its rows stays where it was computed. A block of X is read anew for every pass unless the
user keeps it in memory (`persist`), so that a table may be larger than all memory together.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .in_memory import Rows
from .tables import DenseTable, SparseTable, Table, store_zeros
from .threads import one_thread

Array = NDArray[Any]
Sums = tuple[Any, ...]
Work = Callable[..., tuple[tuple[Any, ...], Sums]]
"""What is done on the rows of a block: returns what stays there, and what is to be summed."""

FAN = 8
"""So many blocks' sums are added at once."""
BAR_SECONDS = 1.0
"""A bar is shown for passes that take longer."""
RETRIES = 3
"""How often a task is tried again whose worker was lost."""


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the rows of a block beside X."""

    n_rows: int
    labeled: Array
    y: Array
    labeled_weight: Array
    row_weight: Array | None

    def rows(self, table: Table, frame: Frame) -> Rows:
        return Rows(
            table,
            self.labeled,
            self.y,
            labeled_weight=self.labeled_weight,
            row_weight=self.row_weight,
            unlabeled_weight=frame.unlabeled_weight,
            intercept=frame.intercept,
        )


@dataclass(frozen=True, eq=False)
class Frame:
    """What all blocks share."""

    n_columns: int
    unlabeled_weight: float
    intercept: bool
    shift: Array | None
    read: Callable[[Any], Any]
    """Makes a float array, dense or CSR, of a block."""


@dataclass(frozen=True)
class Pass:
    """One pass over the blocks of X."""

    seconds: float
    bytes_sent: int
    """What the blocks sent, and what was sent to them."""


@dataclass(frozen=True, eq=False)
class PerRow:
    """A value of every row, each kept where its block is."""

    parts: tuple[Any, ...]
    pick: int

    def of(self, block: int) -> tuple[Any, int]:
        return self.parts[block], self.pick


@dataclass(eq=False)
class Blocks:
    """The blocks of a table: their X, which is read when it is needed, and what else is known."""

    x: tuple[Any, ...]
    known: tuple[Any, ...]
    bar: bool = False
    """Whether a bar is shown for every pass that takes a while."""
    passes: list[Pass] = field(default_factory=list)

    def run(
        self, work: Work, frame: Frame, *shared: Any, per_row: Sequence[PerRow] = (), keep: int = 0
    ) -> tuple[tuple[PerRow, ...], Sums]:
        """Do some work on every block with its X: one pass over the rows.

        `work` is told the block's rows, `shared`, and the values of its rows in `per_row`; it
        keeps `keep` values of its rows.
        """
        start = time.perf_counter()
        kept, sums = self._run(work, frame, shared, per_row, keep, self.x)
        # sums come from every block, lists are put together from what each sends
        small = _size(shared) + sum(_size(part) for part in sums if not isinstance(part, list))
        sent = len(self.x) * small + sum(_size(part) for part in sums if isinstance(part, list))
        self.passes.append(Pass(time.perf_counter() - start, sent))
        return kept, sums

    def run_known(
        self, work: Work, frame: Frame, *shared: Any, per_row: Sequence[PerRow] = (), keep: int = 0
    ) -> tuple[tuple[PerRow, ...], Sums]:
        """Do some work that needs no X."""
        return self._run(work, frame, shared, per_row, keep, (None,) * len(self.known))

    def _run(
        self,
        work: Work,
        frame: Frame,
        shared: tuple[Any, ...],
        per_row: Sequence[PerRow],
        keep: int,
        x: Sequence[Any],
    ) -> tuple[tuple[PerRow, ...], Sums]:
        import dask

        told = dask.delayed((work, frame, shared), traverse=False, pure=False)
        task = dask.delayed(_on_block, pure=False)
        with dask.annotate(retries=RETRIES):
            results = [
                task(told, x[b], known, *(part for state in per_row for part in state.of(b)))
                for b, known in enumerate(self.known)
            ]
            total = _tree(results)
            held = [*results, total] if keep else [total]
        held, (sums,) = compute(held, 1, bar=self.bar)
        parts = tuple(held[:-1])
        return tuple(PerRow(parts, k) for k in range(keep)), sums


def compute(
    tasks: Sequence[Any], n_values: int = 0, *, bar: bool = False
) -> tuple[list[Any], tuple[Any, ...]]:
    """Compute tasks where they are; return them, and the values of the last so many.

    A fit that is stopped leaves nothing to be computed behind.
    """
    import dask
    from dask.diagnostics import ProgressBar

    with ProgressBar(minimum=BAR_SECONDS) if bar else nullcontext():
        persisted = list(dask.persist(*tasks))  # threads of this process are done with it here
    try:
        if bar and (futures := _futures(persisted)):
            from distributed import progress

            progress(futures, notebook=False)
        return persisted, dask.compute(*persisted[len(persisted) - n_values :])
    except BaseException as error:
        _cancel(persisted)
        if type(error).__name__ in _LOST:
            raise RuntimeError(
                "A block of the rows cannot be computed: it was lost with the worker that held it, "
                f"or Dask lacks what it is made of ({type(error).__name__}); load the rows in a "
                "way that can be repeated, from files for instance, and fit anew."
            ) from error
        raise


_LOST = ("KilledWorker", "FutureCancelledError", "CancelledError", "FuturesCancelledError")
"""What Dask raises where data cannot be recovered."""


def _cancel(persisted: Sequence[Any]) -> None:
    if futures := _futures(persisted):
        futures[0].client.cancel(futures, force=True)


def _futures(persisted: Sequence[Any]) -> list[Any]:
    """Return what workers are computing; nothing where the work is done in this process."""
    if "distributed" not in sys.modules:
        return []
    from distributed.client import futures_of

    return futures_of(persisted)


class NoTable:
    """Stands for the X of a block where none is needed."""

    shift = None

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self.n_rows, self.n_columns = n_rows, n_columns


def _on_block(
    told: tuple[Work, Frame, tuple[Any, ...]], x: Any, known: Known, *per_row: Any
) -> tuple[tuple[Any, ...], Sums]:
    """Do some work on a block: what every task is."""
    work, frame, shared = told
    table: Any = NoTable(known.n_rows, frame.n_columns) if x is None else table_of(x, frame)
    if table.n_rows != known.n_rows:
        raise ValueError(
            f"A block of X has {table.n_rows} rows and its block of y {known.n_rows}; give both "
            "the same blocks, for instance as columns of one Dask frame."
        )
    results, picks = per_row[::2], per_row[1::2]
    states = [result[0][pick] for result, pick in zip(results, picks, strict=True)]
    with one_thread():
        return work(known.rows(table, frame), *shared, *states)


def table_of(x: Any, frame: Frame) -> Table:
    """Write a block as a table."""
    X = frame.read(x)
    if sparse.issparse(X):
        shift = frame.shift
        return SparseTable(X if shift is None else store_zeros(X, shift != 0.0), shift)
    return DenseTable(aligned(X), frame.shift)


def aligned(X: Array) -> Array:
    """Return the numbers of a block in one layout, however a worker got them.

    BLAS sums in another order where memory is not aligned or is laid out otherwise, so both are
    settled: columns one after the other stay so (frames have them), all else is row by row.
    """
    by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
    return np.require(X, requirements=["A", "F" if by_columns else "C"])


def _tree(results: Sequence[Any]) -> Any:
    """Add what blocks sum up to, FAN at a time, always in the same order."""
    import dask

    first, add = dask.delayed(_add_results, pure=False), dask.delayed(_add, pure=False)
    level = [first(*results[k : k + FAN]) for k in range(0, len(results), FAN)]
    while len(level) > 1:
        level = [add(*level[k : k + FAN]) for k in range(0, len(level), FAN)]
    return level[0]


def _add_results(*results: tuple[tuple[Any, ...], Sums]) -> Sums:
    return _add(*(sums for _, sums in results))


def _add(*several: Sums) -> Sums:
    return tuple(_total(parts) for parts in zip(*several, strict=True))


def _total(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part  # lists are put together
    return total


def _size(value: Any) -> int:
    """Return about how many bytes a value takes when it is sent."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if sparse.issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, list | tuple):
        return sum(_size(one) for one in value)
    return 8
