"""Ctrl-C during long calls: Python handles it between its own steps, not inside BLAS or LAPACK.

Sums over rows are computed block by block, so Ctrl-C is handled in between. A decomposition of one
large matrix takes up to a minute: it runs in its own thread while the main thread waits for Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Thread, current_thread, main_thread
from typing import TypeVar

__all__ = ["LONG", "interruptible", "parts_needed"]

Result = TypeVar("Result")

LONG = 1e10
"""Calls with more floating-point operations take a second or more on a slow core."""
LISTEN_SECONDS = 0.1
"""How often the main thread wakes up to check for Ctrl-C, on systems that do not wake it."""


def interruptible(work: Callable[[], Result], operations: float) -> Result:
    """Call `work`; raise KeyboardInterrupt at once if Ctrl-C is pressed meanwhile.

    Parameters
    ----------
    work : callable
        A call that releases Python's global lock, as numpy's do. After Ctrl-C it goes on in the
        background, and its result is dropped.
    operations : float
        The approximate number of floating-point operations. With at most `LONG`, or outside the
        main thread (the only one that Ctrl-C reaches), `work` is called directly.

    Examples
    --------
    >>> interruptible(lambda: sum(range(4)), operations=1e12)
    6
    """
    if operations <= LONG or current_thread() is not main_thread():
        return work()
    results: list[Result] = []
    errors: list[BaseException] = []
    context = copy_context()  # numpy's errstate is kept there

    def call() -> None:
        try:
            results.append(context.run(work))
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=call, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(LISTEN_SECONDS)
    if errors:
        raise errors[0]
    return results[0]


def parts_needed(operations: float) -> int:
    """Return the number of parts to split a call into so that none is long."""
    return max(1, int(-(-operations // LONG)))
