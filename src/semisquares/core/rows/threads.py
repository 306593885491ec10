"""Threads over blocks of rows: as many as BLAS may use, each with one BLAS thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from threading import Lock, Thread, local
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _controller() -> ThreadpoolController:
    # finding the libraries takes a millisecond, so it is done once per process
    return ThreadpoolController()


AVX512 = frozenset({"SkylakeX", "Cooperlake", "SapphireRapids"})
"""Architectures for which OpenBLAS multiplies small matrices without rearranging them first."""


@cache
def is_fast_with_small_products() -> bool:
    """Return whether many small products take BLAS less time than a large one."""
    blas = _controller().select(user_api="blas").info()
    return bool(blas) and all(library.get("architecture") in AVX512 for library in blas)


class _SingleThreadedBlas:
    """Limit BLAS to one thread while any fit of this process is inside.

    Small matrices gain nothing from BLAS threads, and lose much if the cores are busy; a large X is
    summed in our own threads.

    The limit belongs to the process, not to a thread, so concurrent fits share one change of it:
    otherwise the last to leave would restore the limit that the first one had set.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None
        self._threads = 1

    @contextmanager
    def __call__(self) -> Iterator[int]:
        entered = False
        try:
            with self._lock:
                if self._inside == 0:
                    blas = _controller().select(user_api="blas")
                    self._threads = max((lib["num_threads"] for lib in blas.info()), default=1)
                    self._limit = blas.limit(limits=1)
                # one statement, so that Ctrl-C cannot come between the two assignments
                self._inside, entered = self._inside + 1, True
            yield self._threads
        finally:
            if entered:
                with self._lock:
                    self._inside -= 1
                    if self._inside == 0:
                        self._limit.restore_original_limits()

    @contextmanager
    def threads(self) -> Iterator[int]:
        """Yield the number of threads to sum with; a fit that is inside does not enter again.

        Entering and leaving for every sum would give Ctrl-C many chances to interrupt it.
        """
        if self._inside:
            yield self._threads
        else:
            with self() as threads:
                yield threads


single_threaded_blas = _SingleThreadedBlas()


_here = local()


@contextmanager
def one_thread() -> Iterator[None]:
    """Sum in this thread only, because other threads of the process work on other blocks."""
    with single_threaded_blas():
        _here.alone = True
        try:
            yield
        finally:
            _here.alone = False


def stopped() -> bool:
    """Return whether another thread of the same `run` failed or received Ctrl-C."""
    return bool(getattr(_here, "errors", ()))


def run(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return work(item) for each item, computed in threads if there are several items.

    The calling thread takes part: with two threads, only one has to be started.
    """
    if len(items) == 1:
        return [work(items[0])]
    with single_threaded_blas.threads() as threads:
        if threads == 1 or getattr(_here, "alone", False):
            return [work(item) for item in items]
        results: list[Any] = [None] * len(items)
        errors: list[BaseException] = []
        places = count()  # the next item goes to the first free thread

        def share() -> None:
            _here.errors = errors
            try:
                while (place := next(places)) < len(items) and not errors:
                    results[place] = work(items[place])
            except BaseException as error:
                errors.append(error)
            finally:
                _here.errors = ()

        helpers = [Thread(target=share) for _ in range(min(threads, len(items)) - 1)]
        try:
            for helper in helpers:
                helper.start()
            share()
            for helper in helpers:
                helper.join()
        except BaseException as error:  # Ctrl-C while waiting: the others stop after their item
            errors.append(error)
            for helper in helpers:
                if helper.is_alive():
                    helper.join()
        if errors:
            raise errors[0]
        return results
