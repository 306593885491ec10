"""Blocks of rows that Dask holds.

Sums are added in a tree whose order depends on the blocks alone. A block of X is read anew for
every pass unless the user keeps it in memory (`persist`), so a table may be larger than the memory
of all workers together.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from .blocks import BlockTask, PerRow, Result
from .reduce import add_sums, reduce_tree

BAR_SECONDS = 1.0
"""Passes that take longer show a progress bar."""
RETRIES = 3
"""The number of times that a task is retried after its worker was lost."""


@dataclass(frozen=True, eq=False)
class DaskRunner:
    """Runs tasks where Dask holds the blocks."""

    x: tuple[Any, ...]
    """The blocks of X."""
    targets: tuple[Any, ...]
    """The `Targets` of each block."""
    bar: bool = False
    """Whether to show a progress bar for every pass that takes long."""

    @property
    def n_blocks(self) -> int:
        return len(self.x)

    def run(
        self, task: BlockTask, per_row: Sequence[PerRow], *, keep: bool, blocks: Sequence[int]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Run a task on some blocks; return the results, and the sums added over the blocks."""
        import dask

        shared = dask.delayed(
            (task, [handle.pick for handle in per_row]), traverse=False, pure=False
        )
        on_block = dask.delayed(_on_block, pure=False)
        with dask.annotate(retries=RETRIES):
            results = [
                on_block(
                    shared,
                    b,
                    self.x[b] if task.reads_x else None,
                    self.targets[b],
                    *(handle.results[b] for handle in per_row),
                )
                for b in blocks
            ]
            total = add_in_tree(results)
        held, (sums,) = compute([*results, total] if keep else [total], 1, bar=self.bar)
        return tuple(held[:-1]), sums


def _on_block(
    shared: tuple[BlockTask, list[int]], number: int, x: Any, targets: Any, *results: Result
) -> Result:
    task, picks = shared
    values = (result[0][pick] for result, pick in zip(results, picks, strict=True))
    return task(number, x, targets, *values)


def add_in_tree(results: Sequence[Any]) -> Any:
    """Return the delayed total of the sums of delayed results."""
    import dask

    leaves, inner = dask.delayed(_add_results, pure=False), dask.delayed(add_sums, pure=False)
    return reduce_tree(results, leaves, inner)


def _add_results(*results: Result) -> tuple[Any, ...]:
    return add_sums(*(sums for _, sums in results))


def compute(
    tasks: Sequence[Any], n_values: int = 0, *, bar: bool = False
) -> tuple[list[Any], tuple[Any, ...]]:
    """Compute tasks where they are; return them, and the values of the last `n_values`.

    If the computation is interrupted, its remaining tasks are cancelled.
    """
    import dask
    from dask.diagnostics import ProgressBar

    try:
        with ProgressBar(minimum=BAR_SECONDS) if bar else nullcontext():
            persisted = list(dask.persist(*tasks))  # local schedulers finish here
        if bar and (futures := _futures(persisted)):
            from distributed import progress

            progress(futures, notebook=False)
        return persisted, dask.compute(*persisted[len(persisted) - n_values :])
    except BaseException as error:
        _cancel(tasks)
        if type(error).__name__ in _LOST:
            raise RuntimeError(
                "A block of the rows cannot be computed: it was lost with its worker, or Dask no "
                f"longer has the data that it is computed from ({type(error).__name__}); load the "
                "rows in a way that can be repeated, from files for instance, and fit again."
            ) from error
        raise


_LOST = ("KilledWorker", "FutureCancelledError", "CancelledError", "FuturesCancelledError")
"""Names of the exceptions that Dask raises if data cannot be recovered."""


def _cancel(tasks: Sequence[Any]) -> None:
    """Cancel tasks on workers; they are found by key, as `persist` may not have returned."""
    if "distributed" not in sys.modules:
        return
    from distributed import Future, get_client

    try:
        client = get_client()
    except ValueError:  # no cluster
        return
    futures: list[Any] = [Future(t.key, client) for t in tasks if t.key in client.futures]
    if futures:
        client.cancel(futures, force=True)


def _futures(persisted: Sequence[Any]) -> list[Any]:
    """Return the futures that workers are computing; none with a local scheduler."""
    if "distributed" not in sys.modules:
        return []
    from distributed.client import futures_of

    return futures_of(persisted)
