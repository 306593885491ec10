"""Ctrl-C is heard within a second or two, however large the matrices are."""

import _thread
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.linalg
from scipy import sparse
from scipy.linalg import lapack
from sklearn.base import clone

from semisquares import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.baselines import (
    ContrastivePessimisticDiscriminant,
    EMDiscriminantClassifier,
    ImplicitlyConstrainedClassifier,
    MissingOutcomeRegressor,
    TransductiveSVM,
)
from semisquares.core import _dense as dense
from semisquares.core import _interrupts as interrupts
from semisquares.core.rows import reduce, threads
from support.watching import watch

# -- the helper ---------------------------------------------------------------------------------


@contextmanager
def ctrl_c_when(event):
    """Press Ctrl-C as soon as an event has happened."""
    presser = threading.Thread(target=lambda: (event.wait(), _thread.interrupt_main()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    presser.start()
    try:
        yield
    finally:
        presser.join()
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_the_wait_for_a_call_that_goes_on():
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def work():
        begun.set()
        go.wait()
        ended.set()

    with ctrl_c_when(begun), pytest.raises(KeyboardInterrupt):
        interrupts.interruptible(work, operations=np.inf)
    assert not ended.is_set()
    go.set()
    assert ended.wait(60)


def test_a_long_call_is_made_in_another_thread_and_a_short_one_here():
    here = threading.current_thread()
    assert interrupts.interruptible(threading.current_thread, interrupts.LONG) is here
    assert interrupts.interruptible(threading.current_thread, 2 * interrupts.LONG) is not here


def test_outside_of_the_main_thread_a_long_call_is_made_there():
    seen = []

    def call():
        seen.append(interrupts.interruptible(threading.current_thread, np.inf))

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert seen == [thread]


def test_an_error_of_a_long_call_is_raised_here():
    def fail():
        raise np.linalg.LinAlgError("no")

    with pytest.raises(np.linalg.LinAlgError, match="no"):
        interrupts.interruptible(fail, np.inf)


def test_a_long_call_sees_how_numpy_treats_overflow_here():
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        interrupts.interruptible(lambda: np.array([1e200]) ** 2, np.inf)
    with np.errstate(over="ignore"):
        assert np.isinf(interrupts.interruptible(lambda: np.array([1e200]) ** 2, np.inf))


def test_no_thread_is_left_behind():
    before = threading.active_count()
    interrupts.interruptible(lambda: None, np.inf)
    assert threading.active_count() == before


# -- what is called -----------------------------------------------------------------------------

LIMIT = 2e5
"""The limit of these tests: matrices of 60 columns are large."""
DECOMPOSITIONS = {
    "svd": 4.0, "qr": 2.0, "eigh": 4.0, "eigvalsh": 1.0, "inv": 2.0, "solve": 0.6, "lstsq": 4.0,
    "cholesky": 0.3,
}  # fmt: skip
"""Fewest operations of numpy's decompositions, in multiples of m n min(m, n)."""
HOLDING = {"dpotrf": 0.3, "dpstrf": 0.3}
"""The same of functions that hold Python's lock: no thread makes those interruptible."""


def cost(matrix):
    return float(np.prod(matrix.shape)) * min(matrix.shape)


@pytest.fixture
def deaf(monkeypatch):
    """Lower the limit; give a list of calls above it during which Ctrl-C would not be heard."""
    found = []
    monkeypatch.setattr(interrupts, "LONG", LIMIT)

    def watch(module, name, operations, where):
        real = getattr(module, name)

        def watched(*args, **options):
            n = operations(*args)
            if n > LIMIT and where():
                found.append((name, n))
            return real(*args, **options)

        monkeypatch.setattr(module, name, watched)

    def in_main():
        return threading.current_thread() is threading.main_thread()

    for name, multiple in DECOMPOSITIONS.items():
        watch(np.linalg, name, lambda A, *rest, m=multiple: m * cost(A), in_main)
    for name, multiple in HOLDING.items():
        watch(lapack, name, lambda A, *rest, m=multiple: m * cost(A), lambda: True)
    watch(lapack, "dpotrs", lambda L, b, *rest: 2.0 * len(L) * b.size, lambda: True)
    watch(scipy.linalg, "qr", lambda A, *rest: 2.0 * cost(A), in_main)
    watch(scipy.linalg, "svd", lambda A, *rest: 4.0 * cost(A), lambda: True)
    watch(scipy.linalg, "solve_triangular", lambda L, b: 1.0 * len(L) * b.size, lambda: True)
    return found


@pytest.fixture
def long_calls(monkeypatch):
    """Give a list of the operations of all calls that were said to be long."""
    found = []
    real = interrupts.interruptible

    def remember(work, operations):
        found.extend([operations] * (operations > interrupts.LONG))
        return real(work, operations)

    monkeypatch.setattr(dense, "interruptible", remember)
    return found


def table(n_rows, n_columns, n_labeled, n_classes=2):
    rng = np.random.default_rng(0)
    truth = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_columns)) + truth[:, None]
    return X, np.where(np.arange(n_rows) < n_labeled, truth, -1)


TALL, WIDE = (200, 90, 150), (110, 150, 60)
FEW = (220, 90, 60)  # labels that do not span the columns
SOLVERS = {
    "supervised": (LeastSquaresClassifier(), TALL),
    "supervised, least norm": (LeastSquaresClassifier(0.0), FEW),
    "supervised, wide": (LeastSquaresClassifier(0.0), WIDE),
    "newton": (SoftLabelClassifier(), TALL),
    "newton, least norm": (SoftLabelClassifier(0.0), FEW),
    "newton, wide": (SoftLabelClassifier(), WIDE),
    "newton, wide, least norm": (SoftLabelClassifier(0.0), WIDE),
    "newton, three classes": (SoftLabelClassifier(), (*TALL, 3)),
    "newton, three classes, least norm": (SoftLabelClassifier(0.0), (90, 40, 20, 3)),
    "block": (SoftLabelClassifier(solver="block"), TALL),
    "block, least norm": (SoftLabelClassifier(0.0, solver="block"), FEW),
    "hard": (HardLabelClassifier(), TALL),
    "enumerate": (HardLabelClassifier(solver="enumerate", max_iter=9), (180, 70, 90)),
    "search": (SoftLabelClassifierCV([1.0, 10.0], cv=2), TALL),
    "EM": (EMDiscriminantClassifier(max_iter=3), TALL),
    "contrastive": (ContrastivePessimisticDiscriminant(shrinkage=1.0, max_iter=2), TALL),
    "implicit": (ImplicitlyConstrainedClassifier(max_iter=2), TALL),
    "implicit, wide": (ImplicitlyConstrainedClassifier(max_iter=2), WIDE),
    "transductive": (TransductiveSVM(max_iter=2), TALL),
    "transductive, wide": (TransductiveSVM(max_iter=2), WIDE),
}


def fit(model, size):
    X, y = table(*size)
    clone(model).fit(X, y)


quietly = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning"
)


@quietly
@pytest.mark.parametrize(("model", "size"), SOLVERS.values(), ids=SOLVERS.keys())
def test_no_decomposition_above_the_limit_keeps_ctrl_c_waiting(model, size, deaf, long_calls):
    fit(model, size)
    assert deaf == []
    assert long_calls  # there was something to be heard in


@quietly
@pytest.mark.parametrize("method", ["iterate", "analytic"])
@pytest.mark.parametrize("size", [TALL, FEW], ids=["enough rows", "too few rows"])
def test_nor_does_filling_in_outcomes(method, size, deaf, long_calls):
    X, y = table(*size)
    y = np.where(y < 0, np.nan, y)
    MissingOutcomeRegressor(method, max_iter=20).fit(X, y)
    assert deaf == []
    assert long_calls


def test_nor_does_a_wide_sparse_table(deaf, long_calls):
    X = sparse.random(120, 400, density=0.2, random_state=0, format="csr")
    y = np.where(np.arange(120) < 60, np.arange(120) % 2, -1)
    SoftLabelClassifier().fit(X, y)
    assert deaf == []
    assert long_calls


@pytest.mark.parametrize(
    "name", ["cholesky_factor", "eigh", "inv", "pivoted_qr", "qr", "svd", "triangle_of"]
)
def test_the_operations_of_a_decomposition_are_a_small_multiple_of_its_size_cubed(
    name, monkeypatch
):
    counted = []

    def count(work, operations):
        counted.append(operations)
        return work()

    monkeypatch.setattr(dense, "interruptible", count)
    getattr(dense, name)(np.eye(10))
    assert 0.3 * 10**3 <= sum(counted) <= 30 * 10**3


@quietly
@pytest.mark.parametrize("name", ["newton, least norm", "newton, wide", "enumerate", "EM"])
def test_the_limit_changes_no_result(name, monkeypatch):
    model, size = SOLVERS[name]
    X, y = table(*size)
    direct = clone(model).fit(X, y).decision_function(X)
    monkeypatch.setattr(interrupts, "LONG", 1e4)
    np.testing.assert_allclose(clone(model).fit(X, y).decision_function(X), direct, atol=1e-7)


# -- parts of calls -----------------------------------------------------------------------------


def positive_definite(n, rank=None, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, rank or n + 10))
    return A @ A.T


@pytest.fixture
def low_limit(monkeypatch):
    monkeypatch.setattr(interrupts, "LONG", 100.0)


@pytest.mark.parametrize("n", [1, 2, 130, 300])
@pytest.mark.parametrize("share", [1.0, 0.6], ids=["regular", "singular"])
def test_a_pivoted_factor_gives_the_matrix_back(n, share, low_limit):
    rank = max(1, int(share * n))
    A = positive_definite(n, rank)
    L, order, found = dense.pivoted_cholesky(A, tol=1e-9 * np.abs(A).max())
    assert found == rank
    assert sorted(order) == list(range(n))
    lower = np.tril(L)[:, :rank]
    np.testing.assert_allclose(lower @ lower.T, A[np.ix_(order, order)], atol=1e-7 * n)


def test_a_pivoted_factor_is_that_of_lapack(monkeypatch):
    A = positive_definite(200, 120)
    theirs, pivots, rank = dense.pivoted_cholesky(A, tol=1e-8)
    monkeypatch.setattr(interrupts, "LONG", 100.0)
    ours, order, found = dense.pivoted_cholesky(A, tol=1e-8)
    assert found == rank == 120
    np.testing.assert_array_equal(order[:rank], pivots[:rank])
    np.testing.assert_allclose(np.tril(ours)[:, :rank], np.tril(theirs)[:, :rank], atol=1e-9)


def test_a_factor_in_a_thread_is_that_of_lapack_and_keeps_what_is_above_the_diagonal(monkeypatch):
    A = positive_definite(50)
    theirs, failed = dense.cholesky(np.asfortranarray(A))
    monkeypatch.setattr(interrupts, "LONG", 100.0)
    ours, failed_too = dense.cholesky(np.asfortranarray(A))
    assert not failed
    assert not failed_too
    assert ours.flags.f_contiguous
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    np.testing.assert_array_equal(np.triu(ours, 1), np.triu(A, 1))


@pytest.mark.parametrize("limit", [1e10, 100.0])
def test_a_matrix_that_is_not_positive_definite_fails(limit, monkeypatch):
    monkeypatch.setattr(interrupts, "LONG", limit)
    assert dense.cholesky(-np.eye(20))[1]


@pytest.mark.parametrize("n_columns", [1, 3, 40])
def test_columns_are_solved_for_in_parts(n_columns, low_limit):
    A = positive_definite(30)
    b = np.random.default_rng(1).normal(size=(30, n_columns))
    L = np.linalg.cholesky(A)
    np.testing.assert_allclose(dense.solve_cholesky(L, b), np.linalg.solve(A, b))
    np.testing.assert_allclose(dense.solve_triangular(L, b), np.linalg.solve(L, b))
    np.testing.assert_allclose(
        dense.solve_triangular(L, b, transposed=True), np.linalg.solve(L.T, b)
    )
    np.testing.assert_allclose(dense.solve_triangular(L, b[:, 0]), np.linalg.solve(L, b[:, 0]))


# -- sums over blocks in threads ----------------------------------------------------------------


def test_a_thread_stops_between_blocks_once_another_has_failed(monkeypatch):
    failed = threading.Event()
    rest = []

    def work(item):
        if item == 0:
            rest.append("waits")
            failed.wait(60)
            while not threads.stopped():
                time.sleep(0.001)
            rest.append("stops")
            return None
        while not rest:
            time.sleep(0.001)
        failed.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(threads.single_threaded_blas, "_inside", 1)
    monkeypatch.setattr(threads.single_threaded_blas, "_threads", 2)
    with pytest.raises(KeyboardInterrupt):
        threads.run(work, [0, 1])
    assert rest == ["waits", "stops"]
    assert not threads.stopped()


def test_a_sum_over_many_blocks_asks_at_every_block(monkeypatch):
    X, y = table(5000, 30, 100)
    asked = []
    monkeypatch.setattr(reduce, "stopped", lambda: bool(asked.append(1)))
    monkeypatch.setattr("semisquares.core.rows.table.BLOCK_BYTES", 30 * 8 * 256)
    SoftLabelClassifier().fit(X, y)
    assert len(asked) >= 5000 // 256


@pytest.mark.parametrize(("n_threads", "n_items", "started"), [(2, 8, 1), (3, 2, 1), (4, 9, 3)])
def test_the_calling_thread_is_one_of_the_threads(n_threads, n_items, started, monkeypatch):
    monkeypatch.setattr(threads.single_threaded_blas, "_inside", 1)
    monkeypatch.setattr(threads.single_threaded_blas, "_threads", n_threads)
    made = watch(monkeypatch, threads, "Thread")
    assert threads.run(lambda item: -item, range(n_items)) == [-item for item in range(n_items)]
    assert len(made) == started
