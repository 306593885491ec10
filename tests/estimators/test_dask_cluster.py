"""Fits on worker processes: the same bits whatever their number, whichever of them die."""

import os
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
import psutil
import pytest
from distributed import Client
from sklearn.base import clone

from semisquares import AveragedClassifier, HardLabelClassifier, SoftLabelClassifier
from support.command_line import PATIENCE
from support.dask_workers import cluster
from support.systems import posix_only

KILLS = int(os.environ.get("SEMISQUARES_KILLS", "1"))
"""Workers that are killed in the middle of fits, one in each."""


@pytest.fixture(scope="module")
def workers():
    with cluster(2) as workers, Client(workers) as client:
        yield client


@pytest.fixture
def client(workers):
    """Two workers, both alive: a test may kill one, which is then replaced."""
    try:
        workers.wait_for_workers(2, timeout=60)
    except TimeoutError:  # on a busy machine a nanny may give up a worker that starts slowly
        workers.restart(timeout=PATIENCE)
    return workers


def normals(start, stop, seed, n_columns=8, copies=1):
    """Draw rows as a function of where they stand, so that a block can be drawn again."""
    rng = np.random.default_rng([seed, start])
    X = np.repeat(rng.normal(size=((stop - start) // copies, n_columns)), copies, axis=0)
    X[: (stop - start) // 2] += 1.0
    return X


def drawn(n_blocks, size, n_columns, seed=0, slow=0.0, copies=1):
    def block(block_info=None):
        time.sleep(slow)
        (start, stop), _ = block_info[None]["array-location"]
        return normals(start, stop, seed, n_columns, copies)

    chunks = ((size,) * n_blocks, (n_columns,))
    return da.map_blocks(block, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0)))


def rows(n_blocks=6, size=2000, seed=0, slow=0.0):
    """Return blocks that workers draw themselves, and labels of a few rows."""

    X = drawn(n_blocks, size, 8, seed, slow)
    place = np.arange(n_blocks * size)
    y = np.where(place % 400 == 7, (place % size < size // 2).astype(int), -1)
    return X, y


def bits(model):
    if isinstance(model, AveragedClassifier):
        return model.predict_proba(normals(0, 50, seed=99)).tobytes(), model.loo_proba_.tobytes()
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.certificate_


MODELS = {
    "soft": SoftLabelClassifier(),
    "averaged": AveragedClassifier("least_squares", n_graph_rows=100),
}


@pytest.fixture(scope="module")
def expected():
    X, y = rows()
    with dask.config.set(scheduler="threads"):
        return {name: bits(clone(model).fit(X, y)) for name, model in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_workers_give_the_bits_that_threads_give(client, expected, name):
    X, y = rows()
    assert bits(clone(MODELS[name]).fit(X, y)) == expected[name]
    assert bits(clone(MODELS[name]).fit(X.persist(), y)) == expected[name]


def test_one_worker_gives_the_bits_of_two(expected):
    X, y = rows()
    with cluster(1) as one, Client(one):
        for name, model in MODELS.items():
            assert bits(clone(model).fit(X, y)) == expected[name]


def test_fits_leave_nothing_on_the_workers(client):
    X, y = rows()
    for model in (SoftLabelClassifier(), HardLabelClassifier()):
        model.fit(X, y)
    del model
    assert_nothing_left(client)


def assert_nothing_left(client):
    for _ in range(20 * PATIENCE):
        if not client.futures:
            return
        time.sleep(0.05)
    pytest.fail(f"{len(client.futures)} futures are left")


def wait_until_begun(client):
    """Wait until a fit waits for its workers."""
    while not client.futures:
        time.sleep(0.02)


@pytest.fixture
def ctrl_c():
    """Let Ctrl-C interrupt, which processes in the background of a shell do not hear."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@posix_only
@pytest.mark.usefixtures("ctrl_c")
def test_a_fit_that_is_stopped_leaves_nothing_behind(client):
    X, y = rows(slow=0.3)

    def stop():
        wait_until_begun(client)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=stop, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        SoftLabelClassifier().fit(X, y)
    assert_nothing_left(client)


def test_a_fit_that_is_stopped_while_its_tasks_are_sent_leaves_nothing_behind(client, monkeypatch):
    X, y = rows(slow=0.3)
    sent, persist = [], dask.persist

    def interrupted(*tasks):
        sent.append(persist(*tasks))  # which keeps the futures alive, as a traceback may
        raise KeyboardInterrupt

    monkeypatch.setattr(dask, "persist", interrupted)
    with pytest.raises(KeyboardInterrupt):
        SoftLabelClassifier().fit(X, y)
    assert sent
    assert_nothing_left(client)


KILL = {"soft": (0.05, 0.7), "averaged": (0.5, 0.2)}
"""Seconds that a block takes, and the last moment of a kill: the average makes a single pass."""


@posix_only
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_worker_changes_no_bit(client, expected, seed, name):
    slow, latest = KILL[name]
    X, y = rows(slow=slow)
    wait = np.random.default_rng(seed).uniform(0.0, latest)
    victims = sorted(client.run(os.getpid).values())
    killed = threading.Event()

    def kill():
        wait_until_begun(client)
        time.sleep(wait)
        os.kill(victims[seed % 2], signal.SIGKILL)
        killed.set()

    threading.Thread(target=kill, daemon=True).start()
    assert bits(clone(MODELS[name]).fit(X, y)) == expected[name]
    assert killed.is_set()  # in the middle of the fit


@posix_only
def test_rows_that_are_lost_for_good_are_told_in_a_sentence(client):
    X, y = rows(n_blocks=4)
    worker = next(iter(client.scheduler_info()["workers"]))
    blocks = client.scatter([np.asarray(part) for part in np.split(X.compute(), 4)], workers=worker)
    lost = da.concatenate(
        [da.from_delayed(dask.delayed(b), (2000, 8), dtype=float) for b in blocks]
    )
    pid = client.run(os.getpid)[worker]
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="was lost with its worker"):
        SoftLabelClassifier().fit(lost, y)


def test_tables_larger_than_the_memory_of_the_workers_are_fitted(client):
    # 190 MB of rows, in blocks of 16 MB, for a worker with 135 MB beyond what one holds anyway
    SoftLabelClassifier().fit(*rows())  # after which it holds what a fit imports
    limit = max(client.run(lambda: psutil.Process().memory_info().rss).values()) + 135_000_000
    size, n_blocks = 40_000, 12
    X = drawn(n_blocks, size, 50, copies=40)
    place = np.arange(n_blocks * size)
    y = np.where(place % 4000 == 7, (place % size < size // 2).astype(int), -1)
    with cluster(1, memory_limit=limit) as small, Client(small) as client:
        model = SoftLabelClassifier().fit(X, y)
        assert model.certificate_ < 1e-12
        assert len(client.scheduler_info()["workers"]) == 1
