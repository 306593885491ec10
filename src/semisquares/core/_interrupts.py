"""Ctrl-C during long calls: Python hears it between its own steps, never inside of BLAS or LAPACK.

Sums over rows are taken block by block, and are heard in between. A decomposition of one large
matrix takes up to a minute: it runs in a thread of its own while the main thread waits and listens.
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
"""How often the main thread wakes up to look for Ctrl-C, on systems that do not wake it."""


def interruptible(work: Callable[[], Result], operations: float) -> Result:
    """Call `work`, and raise KeyboardInterrupt at once if Ctrl-C is pressed meanwhile.

    Parameters
    ----------
    work : callable
        A call that releases Python's global lock, as those of numpy do. After Ctrl-C it goes on in
        the background, and its result is dropped.
    operations : float
        About how many floating-point operations it takes; up to `LONG` it is called directly. So
        it is outside of the main thread, which is the only one that Ctrl-C reaches.

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
    """Return how many parts a call has to be cut into for none to be long."""
    return max(1, int(-(-operations // LONG)))
