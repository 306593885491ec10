"""Work spread over processes: one BLAS thread in each, deaf to Ctrl-C, gone with their parent."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.backend import resource_tracker
from threadpoolctl import threadpool_limits

__all__ = ["each", "workers_deaf_to_ctrl_c"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def each(
    function: Callable[[_Item], _Result],
    items: Iterable[_Item],
    *,
    jobs: int = 1,
    share: int | None = None,
) -> Generator[_Result, None, None]:
    """Yield `function` of every item as it is done: in order with one job, else as they come.

    Parameters
    ----------
    function : callable
        Of one item; large arrays that it holds (a `functools.partial`) are sent with every item
        unless `share` says otherwise.
    items : iterable
    jobs : int, default=1
        Number of processes; 1 computes in this one.
    share : int or None, default=None
        Arrays of so many bytes or more are written to a file once, and mapped by all processes.

    Examples
    --------
    >>> list(each(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    return _here(function, items) if jobs <= 1 else _spread(function, items, jobs, share)


def _here(
    function: Callable[[_Item], _Result], items: Iterable[_Item]
) -> Generator[_Result, None, None]:
    with threadpool_limits(1):
        for item in items:
            yield function(item)


def _spread(
    function: Callable[[_Item], _Result], items: Iterable[_Item], jobs: int, share: int | None
) -> Generator[_Result, None, None]:
    """Yield results one a message: sending one costs 0.3 ms."""
    with parallel_config(
        "loky", inner_max_num_threads=1, initializer=_follow, initargs=(os.getpid(),)
    ):
        parallel: Any = Parallel(
            n_jobs=jobs, return_as="generator_unordered", batch_size=1, max_nbytes=share
        )
    results: Any = None
    resource_tracker.ensure_running()  # now: before joblib 1.6 its start would end the blocking
    try:
        with workers_deaf_to_ctrl_c():
            results = parallel(delayed(function)(item) for item in items)
        # not `yield from`, which would close them before the warning is silenced
        for result in results:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():  # joblib warns of items that nobody waits for any more
            warnings.simplefilter("ignore")
            if results is not None:
                results.close()


def _follow(parent: int) -> None:
    """End this worker when its parent is gone: a killed parent tells nobody."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def workers_deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes that leave Ctrl-C to this one, from their first moment on.

    A terminal sends it to all of them, and each would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows: they are deaf once `_follow` has run
        yield
        return
    from multiprocessing import resource_tracker as standard_tracker

    standard_tracker.ensure_running()  # now, as its start would end the blocking
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
