"""Rows much larger than the others: their part of the preconditioner, and fits with them."""

import numpy as np
import pytest
from scipy import sparse

from semisquares.core.curvature import fit_labeled
from semisquares.core.labelings import SimplexLabels
from semisquares.core.objective import Objective
from semisquares.core.rows import ArrayTable, DenseTable, MemoryRows, SparseTable
from semisquares.core.solvers import Status, _large_rows, _steps, newton
from semisquares.core.solvers._large_rows import LargeRows, find_large
from support.devices import on, strict_device
from support.problems import make_problem
from support.watching import watch

K, P = 4, 4
SIZES = {"weighted": True, "unlabeled_weight": 0.5}


def with_outliers(size=1e3, *, n_classes=K, n_outliers=3, **options):
    """Return a problem in which some unlabeled rows are too large, and their indices."""
    problem = make_problem(
        0,
        n_classes=n_classes,
        **{"n_labeled": 40, "n_unlabeled": 200, "n_features": P - 1} | options,
    )
    index = np.flatnonzero(~problem.known)[7 : 7 + n_outliers]
    problem.X[index] *= size
    return problem, index


def some_supports(problem, rng):
    """Return random supports of labels; every unlabeled row has one."""
    support = rng.random((len(problem.X), K)) < 0.5
    support[np.arange(len(support)), rng.integers(K, size=len(support))] = True
    return support


def curvature_of(problem, index, support):
    """Return Σ a x x' ⊗ P over some rows, summed literally; P is the curvature of a label."""
    total = np.zeros((P * K, P * K))
    for i in index:
        inside = support[i].astype(float)
        own = np.eye(K) - np.diag(inside) + np.outer(inside, inside) / max(1.0, inside.sum())
        x = problem.design[i]
        total += problem.weight[i] * np.kron(np.outer(x, x), own)
    return total


def summing_to_zero(v):
    return v - v.mean(axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr(_large_rows, "ROWS_PER_PAIR", 1)


@pytest.mark.parametrize("options", [{}, SIZES], ids=["plain", "weighted"])
def test_the_preconditioner_is_exact_for_large_rows(options):
    problem, index = with_outliers(100.0, **options)
    rng = np.random.default_rng(1)
    half = rng.normal(size=(P, 9))
    M = np.kron(half @ half.T, np.eye(K))
    support = some_supports(problem, rng)
    large = LargeRows(
        problem.objective().rows,
        index,
        lambda r: np.linalg.solve(M, summing_to_zero(r).ravel()).reshape(P, K),
    )
    r = rng.normal(size=(P, K))  # what it is in the mean over the classes does not matter
    zero = np.kron(np.eye(P), np.eye(K) - 1.0 / K)
    system = M + zero @ curvature_of(problem, index, support) @ zero
    expected = np.linalg.solve(system, zero @ r.ravel()).reshape(P, K)
    np.testing.assert_allclose(large.precondition(support)(r), expected, rtol=1e-7, atol=1e-12)


def test_a_preconditioner_stays_exact_for_rows_that_are_larger_by_many_digits():
    """The formula subtracts numbers that are equal to ten digits."""
    problem, index = with_outliers(1e5)
    rng = np.random.default_rng(1)
    support = some_supports(problem, rng)
    large = LargeRows(problem.objective().rows, index, summing_to_zero)
    for r in rng.normal(size=(20, P, K)):
        v = large.precondition(support)(r)
        x = problem.design[index]
        left = v + x.T @ SimplexLabels().curve(support[index], x @ v) - r
        np.testing.assert_allclose(summing_to_zero(left), 0.0, atol=1e-4)


def test_large_rows_with_all_classes_in_their_supports_have_no_curvature():
    problem, index = with_outliers()
    large = LargeRows(problem.objective().rows, index, summing_to_zero)
    support = np.ones((len(problem.X), K), dtype=bool)
    r = np.random.default_rng(1).normal(size=(P, K))
    np.testing.assert_array_equal(large.precondition(support)(r), summing_to_zero(r))


def test_a_matrix_that_is_not_positive_leaves_the_other_rows(monkeypatch):
    problem, index = with_outliers()
    large = LargeRows(problem.objective().rows, index, lambda r: -summing_to_zero(r))
    support = some_supports(problem, np.random.default_rng(0))
    r = np.random.default_rng(1).normal(size=(P, K))
    np.testing.assert_array_equal(large.precondition(support)(r), -summing_to_zero(r))


TABLES = {
    "dense": DenseTable,
    "sparse": lambda X: SparseTable(sparse.csr_array(X)),
    "device": lambda X: ArrayTable(on(strict_device(), X)),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_large_rows_are_found_in_any_table(table):
    problem, index = with_outliers()
    rows = problem.rows(table(problem.X))
    objective = Objective(rows, problem.objective().labeling, 1.0)
    np.testing.assert_array_equal(find_large(objective), index)


@pytest.mark.parametrize(("size", "found"), [(1.0, 0), (1e3, 3), (1e8, 0)])
def test_no_row_is_large_if_all_are_alike_or_digits_are_lost(size, found):
    assert len(find_large(with_outliers(size)[0].objective())) == found


def test_no_row_is_large_if_labeled_rows_are_as_large():
    """Rows of another unit are no outliers if labeled rows have it, too."""
    problem, _ = with_outliers()
    problem.X[np.flatnonzero(problem.known)[::4]] *= 1e3
    assert not len(find_large(problem.objective()))


def test_labels_that_leave_weights_open_tell_of_no_large_row():
    problem, _ = with_outliers(alpha=0.0)
    rows = problem.objective().rows
    few = MemoryRows(rows.table, np.arange(2), np.eye(K)[:2], labeled_weight=np.ones(2))
    assert not len(find_large(Objective(few, problem.objective().labeling, 0.0)))


@pytest.mark.parametrize(("most", "tail", "found"), [(3, 9, 3), (2, 2, 2), (2, 3, 0)])
def test_if_there_are_too_many_the_largest_are_large_or_none(most, tail, found, monkeypatch):
    problem, index = with_outliers()
    problem.X[index] *= np.array([[2.0], [1.0], [4.0]])
    monkeypatch.setattr(_large_rows, "MOST_PAIRS", most * K + 1)
    monkeypatch.setattr(_large_rows, "HEAVY_TAIL", tail)
    expected = {0: index[:0], 2: index[[0, 2]], 3: index}[found]
    np.testing.assert_array_equal(find_large(problem.objective()), expected)


@pytest.mark.parametrize("limit", ["MOST_PAIRS", "MOST_VALUES", "ROWS_PER_PAIR"])
def test_each_limit_is_one_of_pairs(limit, monkeypatch):
    rows = with_outliers()[0].objective().rows
    sizes = {"MOST_PAIRS": 2 * K, "MOST_VALUES": 2 * K * K * P, "ROWS_PER_PAIR": 240 // (2 * K)}
    monkeypatch.setattr(_large_rows, limit, sizes[limit])
    assert _large_rows.most_large(rows) == 2


def test_a_small_weight_makes_a_row_small():
    problem, index = with_outliers(weighted=True)
    problem.sample_weight[index[0]] = 1e-9
    np.testing.assert_array_equal(find_large(problem.objective()), index[1:])


WAYS = {
    "plain": {},
    "weighted": SIZES,
    "no intercept": {"intercept": False},
    "all classes in every support": {"unlabeled_weight": 100.0},
    "wide": {"n_features": 30},
}


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("n_classes", [3, 20])
def test_outliers_change_the_way_not_the_end(n_classes, options, monkeypatch):
    problem, _ = with_outliers(300.0, n_classes=n_classes, **options)
    objective = problem.objective()
    found = newton(objective, fit_labeled(objective))
    monkeypatch.setattr(_steps, "find_large", lambda objective: np.empty(0, dtype=int))
    expected = newton(objective, fit_labeled(objective))
    assert found.status is expected.status is Status.EXACT
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(found.w, expected.w, atol=1e-8)


def test_outliers_no_longer_take_many_products(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(20, size=4000)
    X = rng.normal(size=(4000, 15)) + 0.6 * rng.normal(size=(20, 15))[truth]
    X[[1500, 2500, 3500]] *= 1e3
    rows = MemoryRows(
        DenseTable(X), np.arange(500), np.eye(20)[truth[:500]], labeled_weight=np.ones(500)
    )
    objective = Objective(rows, make_problem(0, n_classes=3).objective().labeling, 1.0)
    products = watch(monkeypatch, MemoryRows, "curvature_product")
    found = newton(objective, fit_labeled(objective))
    assert found.status is Status.EXACT
    n_with = len(products)
    monkeypatch.setattr(_steps, "find_large", lambda objective: np.empty(0, dtype=int))
    newton(objective, fit_labeled(objective))
    assert 4 * n_with < len(products) - n_with
