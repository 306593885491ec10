"""Worker processes give the same results, with one BLAS thread each."""

import multiprocessing
import os
from functools import partial
from types import SimpleNamespace

import numpy as np
from threadpoolctl import threadpool_info

from semisquares._utils import processes
from semisquares._utils.processes import parallel_map


def threads_and_process(item):
    np.ones((2, 2)) @ np.ones((2, 2))
    found = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(found), os.getpid()


def sum_of(array, item):
    return item, float(array.sum()), isinstance(array, np.memmap)


def test_one_job_runs_in_this_process_in_order_with_one_thread():
    assert list(parallel_map(threads_and_process, range(2))) == [(1, os.getpid())] * 2


def test_two_jobs_run_in_other_processes_with_one_thread_each():
    found = list(parallel_map(threads_and_process, range(4), jobs=2))
    assert {threads for threads, _ in found} == {1}
    assert os.getpid() not in {process for _, process in found}


def test_a_large_array_is_memory_mapped_and_not_sent():
    array = np.ones(200_000)
    found = sorted(parallel_map(partial(sum_of, array), range(3), jobs=2, max_nbytes=1_000_000))
    assert found == [(i, 200_000.0, True) for i in range(3)]


def test_on_windows_a_worker_waits_for_the_handle_of_its_parent(monkeypatch):
    """Its parent's number stays the same there when the parent has ended."""
    waited = []
    parent = SimpleNamespace(join=lambda: waited.append(True))
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(os, "name", "nt")
    processes._wait_for_end(os.getppid())
    monkeypatch.undo()
    assert waited == [True]


def test_a_worker_whose_parent_is_gone_waits_no_longer():
    processes._wait_for_end(os.getpid())  # which is not its parent
