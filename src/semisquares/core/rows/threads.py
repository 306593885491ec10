"""Threads over blocks of rows: as many as BLAS may use, one BLAS thread each."""

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
    # looking the libraries up takes a millisecond: once a process
    return ThreadpoolController()


class _SingleThreadedBlas:
    """Hold BLAS at one thread while any fit of this process is inside.

    Small matrices gain nothing from BLAS threads, and lose much where the cores are busy; large X
    is summed in threads of our own.

    The setting is the process's, not the thread's: fits that run side by side in threads share
    one change of it, or the last to leave would restore the limit of the first.
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
                # one statement: Ctrl-C cannot come between the count and knowing of it
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
        """Give the number of threads to sum with; a fit that is inside does not enter again.

        Entering and leaving at every sum would leave many moments for Ctrl-C to come in between.
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
    """Sum in this thread alone, where others of the process work on other blocks."""
    with single_threaded_blas():
        _here.alone = True
        try:
            yield
        finally:
            _here.alone = False


def stopped() -> bool:
    """Tell whether another thread of the same `run` failed, or Ctrl-C was pressed there."""
    return bool(getattr(_here, "errors", ()))


def run(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Do the work for each item, in threads where there are several; results in their order.

    The calling thread takes its share: with two threads only one has to be started.
    """
    if len(items) == 1:
        return [work(items[0])]
    with single_threaded_blas.threads() as threads:
        if threads == 1 or getattr(_here, "alone", False):
            return [work(item) for item in items]
        results: list[Any] = [None] * len(items)
        errors: list[BaseException] = []
        places = count()  # the next item goes to whoever is free

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
