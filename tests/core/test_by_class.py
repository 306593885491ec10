"""Preconditioners with one matrix per class, against the system of all classes in one matrix."""

import numpy as np
import pytest

from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows
from semisquares.core.solvers import _steps
from semisquares.core.solvers._by_class import from_grams, from_secants
from support.naive_rows import NaiveRows
from support.problems import make_problem
from support.watching import watch

N, K, P = 60, 4, 4


def some_objective(**options):
    """Return an objective of four classes and three features, and weights that sum to one."""
    problem = make_problem(
        0, n_labeled=N // 3, n_unlabeled=N - N // 3, n_features=P - 1, n_classes=K, **options
    )
    w = np.random.default_rng(1).normal(scale=0.5, size=(P, K))
    w -= w.mean(axis=1, keepdims=True)
    w[-1] += 1.0 / K
    return problem, problem.objective(), w


def naive_rows(problem):
    weight = np.ones(N) if problem.sample_weight is None else problem.sample_weight
    return NaiveRows(problem.X, problem.known, problem.targets(problem.y[problem.known]), weight)


def solve_together(matrices, r):
    """Solve for the step that sums to 0 over the classes: Lagrange's conditions as one system."""
    n = K * P
    system = np.zeros((n + P, n + P))
    for k, matrix in enumerate(matrices):
        here = slice(k * P, (k + 1) * P)
        system[here, here] = matrix
        system[here, n:] = system[n:, here] = np.eye(P)
    return np.linalg.solve(system, np.append(r.T.ravel(), np.zeros(P)))[:n].reshape(K, P).T


def corrected(matrix, w, image):
    """Return a matrix, corrected such that its product with w is the image (BFGS)."""
    y = matrix @ w
    return matrix - np.outer(y, y) / (w @ y) + np.outer(image, image) / (w @ image)


def test_a_solve_with_gram_matrices_is_that_of_all_classes():
    half = np.random.default_rng(2).normal(size=(K, P, 9))
    grams, r = half @ half.transpose(0, 2, 1), np.random.default_rng(3).normal(size=(P, K))
    np.testing.assert_allclose(from_grams(grams)(r), solve_together(grams, r), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_solve_with_secants_is_that_of_corrected_matrices(weighted):
    problem, objective, w = some_objective(weighted=weighted)
    sweep = objective.sweep(w)
    naive = naive_rows(problem)
    labeled = naive.labeled_gram + objective.alpha * np.diag([1.0, 1.0, 1.0, 0.0])
    unlabeled = naive.outside_grams(sweep.piece) - naive.labeled_gram
    assert np.all(unlabeled[:, -1, -1] > 0.0)
    share = unlabeled[:, -1, -1] / unlabeled[:, -1, -1].sum()
    matrices = [
        labeled + corrected(c * unlabeled.sum(axis=0), w_k, gram @ w_k)
        for c, w_k, gram in zip(share, w.T, unlabeled, strict=True)
    ]
    r = np.random.default_rng(3).normal(size=(P, K))
    found = from_secants(objective, sweep)(r)
    np.testing.assert_allclose(found, solve_together(matrices, r), rtol=1e-8, atol=1e-12)


def test_a_class_that_is_never_outside_has_the_labeled_rows_alone():
    _, objective, _ = some_objective()
    sweep = objective.sweep(np.vstack((np.zeros((P - 1, K)), np.full(K, 1.0 / K))))
    labeled = objective.rows.labeled_gram + objective.alpha * np.diag([1.0, 1.0, 1.0, 0.0])
    r = np.random.default_rng(3).normal(size=(P, K))
    expected = solve_together([labeled] * K, r)
    np.testing.assert_allclose(from_secants(objective, sweep)(r), expected, rtol=1e-9)


def test_labeled_rows_that_leave_a_direction_open_have_no_secants():
    rows = MemoryRows(
        DenseTable(np.random.default_rng(0).normal(size=(N, P - 1))),
        np.arange(2),
        np.eye(K)[:2],
        labeled_weight=np.ones(2),
    )
    objective = Objective(rows, make_problem(0, n_classes=K).objective().labeling, 0.0)
    assert from_secants(objective, objective.sweep(np.zeros((P, K)))) is None


def test_labeled_rows_that_hardly_determine_a_weight_have_no_secants():
    problem, _, w = some_objective()
    X = problem.X.copy()
    X[:, 1] = X[:, 0] + 1e-5 * X[:, 1]
    objective = Objective(problem.rows(DenseTable(X)), problem.objective().labeling, 0.0)
    assert from_secants(objective, objective.sweep(w)) is None


def test_sums_that_overflow_in_single_precision_give_no_secants():
    problem, _, w = some_objective()
    table = DenseTable((1e20 * problem.X).astype(np.float32), dtype=np.float32)
    objective = Objective(problem.rows(table), problem.objective().labeling, 1.0)
    objective.rows.labeled_gram = problem.rows(DenseTable(1e20 * problem.X)).labeled_gram
    w = np.vstack((w[:-1] * 1e-20, w[-1:]))
    assert from_secants(objective, objective.sweep(w)) is None


def test_secants_need_fewer_products_than_the_gram_matrix_of_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(20, size=5000)
    X = rng.normal(size=(5000, 10)) + 0.5 * rng.normal(size=(20, 10))[truth]
    rows = MemoryRows(
        DenseTable(X), np.arange(500), np.eye(20)[truth[:500]], labeled_weight=np.ones(500)
    )
    objective = Objective(rows, make_problem(0, n_classes=3).objective().labeling, 1.0)
    sweep = objective.sweep(np.linalg.lstsq(np.c_[X, np.ones(5000)], np.eye(20)[truth])[0])
    spent = []
    for solve in (from_secants(objective, sweep), objective.full_factor.solve):
        monkeypatch.setattr(_steps, "_preconditioner", lambda *_, solve=solve: solve)
        steps = _steps.ConjugateSteps(objective, None)
        monkeypatch.setattr(steps, "_enough", lambda sweep, size: 1e-8 * size)
        steps(sweep)
        assert steps.solved
        spent.append(steps.products)
    assert spent[0] < 0.75 * spent[1]


# -- which preconditioner is chosen ----------------------------------------------------------------


def chosen(monkeypatch, objective, n_outside):
    """Return which sums the preconditioner takes, if this many classes are outside supports."""
    monkeypatch.setattr(MemoryRows, "n_outside", lambda rows, piece: n_outside)
    sums = {
        name: watch(monkeypatch, MemoryRows, name) for name in ("outside_grams", "outside_sums")
    }
    sweep = objective.sweep(np.zeros(objective.rows.weights_shape))
    _steps._preconditioner(objective, sweep)
    return [name for name, calls in sums.items() if calls]


@pytest.mark.parametrize(("more", "taken"), [(0, "outside_grams"), (1, "outside_sums")])
def test_gram_matrices_that_cost_no_more_than_a_product_are_summed(more, taken, monkeypatch):
    """Labeled rows have all classes outside their support, but share a Gram matrix."""
    _, objective, _ = some_objective()
    most = 4 * N * K // P + N // 3 * K
    assert chosen(monkeypatch, objective, most + more) == [taken]


@pytest.mark.parametrize(("n_features", "taken"), [(9, ["outside_grams"]), (10, [])])
def test_matrices_with_many_entries_for_each_row_are_not_summed(n_features, taken, monkeypatch):
    few = make_problem(0, n_labeled=3, n_unlabeled=2, n_features=n_features, n_classes=3)
    assert chosen(monkeypatch, few.objective(), 0) == taken
