"""Fits in a process of its own."""

import os

import numpy as np
import pytest

from semisquares import AveragedClassifier
from semisquares.labeling._updates import find_update
from semisquares.labeling._worker import WorkerProcess
from support.command_line import PATIENCE

QUICK = AveragedClassifier("least_squares", representations=["linear"])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=80)
    X = rng.normal(size=(80, 3)) + 2.0 * truth[:, None]
    return X, np.where(np.arange(80) < 30, truth, -1)


@pytest.fixture(scope="module")
def worker(rows):
    """A worker that starts its process again if a test has ended it."""
    found = WorkerProcess(rows[0], model=QUICK)
    yield found
    found.stop()


def task(codes):
    return {"codes": codes, "classes": ["a", "b"], "representative": [0, 1, 2, 3], "upcoming": [70]}


def test_the_process_finds_what_this_one_would(worker, rows):
    X, codes = rows
    for y in (codes, np.full(80, -1)):
        found, expected = worker.find(task(y)), find_update(X, model=QUICK, **task(y))
        assert found.suggested == expected.suggested
        assert found.guesses == expected.guesses
        assert found.measurement == expected.measurement
        assert found.gain == expected.gain


def test_an_error_in_the_process_is_told_and_the_next_task_works(worker, rows):
    with pytest.raises(RuntimeError, match="unexpected keyword"):
        worker.find({**task(rows[1]), "colour": 1})
    assert worker.find(task(rows[1])).n_labels == 30


class Fatal:
    """Ends the process that reads it."""

    def __reduce__(self):
        return os._exit, (9,)


def test_a_process_that_ends_is_told_and_replaced(worker, rows):
    with pytest.raises(RuntimeError, match="has ended with code 9, perhaps for lack of memory"):
        worker.find({"codes": Fatal()})
    assert worker.find(task(rows[1])).n_labels == 30


@pytest.mark.slow
def test_a_killed_process_is_replaced_as_one_that_ends_is(worker, rows):
    worker.find(task(rows[1]))
    worker._process.kill()
    worker._process.wait()
    assert worker.find(task(rows[1])).n_labels == 30


def test_a_stopped_worker_starts_no_process(rows):
    worker = WorkerProcess(rows[0], model=QUICK)
    worker.stop()
    with pytest.raises(RuntimeError, match="the session has ended"):
        worker.find(task(rows[1]))


def test_the_process_ends_when_its_pipe_is_closed(worker, rows):
    worker.find(task(rows[1]))
    worker._process.stdin.close()
    assert worker._process.wait(PATIENCE) == 0
