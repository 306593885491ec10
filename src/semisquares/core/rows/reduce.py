"""Sums over blocks of rows, in an order that depends neither on threads nor on workers.

In memory, rows are summed in panels of blocks; the number of panels does not depend on the number
of threads. Sums of blocks that are held elsewhere are added in a tree. So the same blocks give the
same bits on every run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add, iadd
from typing import Any

import numpy as np

from .threads import run, stopped

THREADED_VALUES = 1 << 22
"""One thread is faster if fewer values of X than this are summed."""
PANELS = 8
FAN = 8
"""Fan-in of the tree reduction."""


def sum_blocks(
    work: Callable[[int, int], Any], n_items: int, *, block_rows: int, n_values: float
) -> Any:
    """Return Σ work(start, stop) over blocks of at most `block_rows` items.

    Blocks are summed in threads if the items hold many values (`n_values`).
    """
    if n_items <= block_rows:
        with np.errstate(over="ignore", invalid="ignore"):  # see `check_finite`
            return work(0, n_items)
    panels = PANELS if n_values >= THREADED_VALUES else 1
    cuts = [n_items * k // panels for k in range(panels + 1)]
    longest = -(-n_items // panels)
    step = -(-longest // -(-longest // block_rows))  # blocks of equal size within a panel

    def panel(k: int) -> Any:
        total: Any = None
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(cuts[k], cuts[k + 1], step):
                if stopped():  # a panel may take minutes, a block does not
                    return total
                part = work(start, min(start + step, cuts[k + 1]))
                if total is None:
                    total = part
                else:
                    total += part
        return total

    return reduce(iadd, (part for part in run(panel, range(panels)) if part is not None))


def longest_chain(n_rows: int, block_rows: int, n_blocks: int = 0) -> int:
    """Bound the number of consecutive additions when `n_rows` numbers are summed.

    `n_blocks` is the number of blocks whose sums are added in a tree.
    """
    if not n_blocks and n_rows <= block_rows:
        return n_rows
    return block_rows + -(-n_rows // block_rows) + n_blocks + 2 * PANELS


def reduce_tree(items: Sequence[Any], first: Callable[..., Any], inner: Callable[..., Any]) -> Any:
    """Combine items, FAN at a time: by `first` at the leaves of the tree, then by `inner`."""
    level = [first(*items[k : k + FAN]) for k in range(0, len(items), FAN)]
    while len(level) > 1:
        level = [inner(*level[k : k + FAN]) for k in range(0, len(level), FAN)]
    return level[0]


def add_sums(*sums: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add tuples of sums entry by entry; lists are concatenated.

    >>> add_sums((1, ["a"]), (2, ["b"]))
    (3, ['a', 'b'])
    """
    return tuple(reduce(add, parts) for parts in zip(*sums, strict=True))


def check_finite(total: Any) -> None:
    """Raise FloatingPointError if a sum over rows is not finite.

    NaN or infinity in X reaches every sum, so no separate pass has to look for it.
    """
    if not (math.isfinite(total) if isinstance(total, float) else np.isfinite(total).all()):
        raise FloatingPointError("NaN, infinity or overflow in a sum over rows")
