"""The branch and bound finds the best of all labelings and never claims more than is true."""

from __future__ import annotations

import doctest
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from semisquares.core.solvers import branch_and_bound, enumerate_hard
from semisquares.core.solvers.branch_and_bound import Enumeration, _Search, enumerate_labelings
from semisquares.core.solvers.enumerate import label_quadratic
from support.problems import SETTINGS, SHORT, make_problem

enumerate_module = import_module("semisquares.core.solvers.enumerate")


def rows(seed, n_unlabeled, n_features, n_labeled, weighted):
    """Two Gaussian classes with a constant column, and weights of the unlabeled rows."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_labeled) % 2).astype(float)
    X = np.c_[rng.normal(size=(n_labeled, n_features)), np.ones(n_labeled)]
    X_u = np.c_[rng.normal(size=(n_unlabeled, n_features)), np.ones(n_unlabeled)]
    X[:, 0] += 2 * y
    X_u[:, 0] += 2 * rng.integers(0, 2, n_unlabeled)
    a = rng.choice([0.3, 1.0, 2.5], n_unlabeled) if weighted else np.ones(n_unlabeled)
    return X, y, X_u, a


def quadratic(X, y, X_u, a, alpha):
    """P, c, k of min_w ‖Xw − y‖² + Σ a_i (x_i'w − q_i)² + λ w'Dw as a function of q."""
    D = np.diag(np.r_[np.ones(X.shape[1] - 1), 0.0])
    A = np.diag(a)
    F = np.linalg.pinv(X.T @ X + X_u.T @ A @ X_u + alpha * D, hermitian=True)
    P = A - A @ X_u @ F @ X_u.T @ A
    c = -A @ X_u @ F @ X.T @ y
    k = y @ y - y @ X @ F @ X.T @ y
    return P, c, k


def patterns(n):
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)


def all_values(P, c, k):
    """f of all 2^U labelings: the two halves of the labels, and what lies between them."""
    half = len(c) // 2
    S, T = patterns(half), patterns(len(c) - half)
    of_S = ((S @ P[:half, :half] + 2 * c[:half]) * S).sum(axis=1)
    of_T = ((T @ P[half:, half:] + 2 * c[half:]) * T).sum(axis=1)
    return of_S[:, None] + of_T + 2 * S @ P[:half, half:] @ T.T + k


def f(P, c, k, q):
    return q @ P @ q + 2 * c @ q + k


# n_features, n_labeled, alpha, weighted: the third and fourth have a singular P
KINDS = [
    (2, 6, 1.0, False),
    (5, 10, 0.0, False),
    (10, 4, 0.0, False),
    (12, 4, 0.0, True),
    (10, 10, 1.0, True),
    (30, 6, 1.0, False),
]


def problem(seed, n_unlabeled, kind):
    n_features, n_labeled, alpha, weighted = kind
    return quadratic(*rows(seed, n_unlabeled, n_features, n_labeled, weighted), alpha)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_unlabeled", [1, 2, 3, 5, 8, 12])
def test_small_problems_equal_brute_force(n_unlabeled, kind):
    for seed in range(5):
        P, c, k = problem(seed, n_unlabeled, kind)
        result = enumerate_labelings(P, c, k)
        assert result.exact
        assert result.value == pytest.approx(all_values(P, c, k).min(), abs=1e-10)
        assert result.value == pytest.approx(f(P, c, k, result.labels), abs=1e-12)
        assert result.relaxation <= result.bound <= result.value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_unlabeled", [13, 14, 15])
def test_problems_that_branch_equal_brute_force(n_unlabeled, kind):
    for seed in range(5):
        P, c, k = problem(seed, n_unlabeled, kind)
        result = enumerate_labelings(P, c, k)
        assert result.exact
        assert result.value == pytest.approx(all_values(P, c, k).min(), abs=1e-10)
        assert result.value == pytest.approx(f(P, c, k, result.labels), abs=1e-12)


@pytest.mark.parametrize(
    ("n_unlabeled", "kind"), list(zip([16, 17, 18, 18, 19, 20], KINDS, strict=True))
)
def test_larger_problems_equal_brute_force(n_unlabeled, kind):
    P, c, k = problem(7, n_unlabeled, kind)
    result = enumerate_labelings(P, c, k)
    assert result.exact
    assert result.value == pytest.approx(all_values(P, c, k).min(), abs=1e-10)


def test_a_row_set_without_structure_equals_brute_force():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        B = rng.normal(size=(rng.integers(1, 15), 15))
        P, c, k = B.T @ B, rng.normal(size=15) @ B.T @ B, rng.normal()
        result = enumerate_labelings(P, c, k)
        assert result.exact
        assert result.value == pytest.approx(all_values(P, c, k).min(), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_labels_do_not_depend_on_the_scale_of_f(scale):
    P, c, k = problem(3, 16, KINDS[4])
    plain = enumerate_labelings(P, c, k)
    scaled = enumerate_labelings(scale * P, scale * c, scale * k)
    np.testing.assert_array_equal(scaled.labels, plain.labels)
    assert scaled.value == pytest.approx(scale * plain.value, rel=1e-12)
    assert scaled.exact


def test_weights_over_sixteen_orders_of_magnitude_equal_brute_force():
    X, y, X_u, _ = rows(0, 15, 4, 8, False)
    P, c, k = quadratic(X, y, X_u, 10.0 ** np.linspace(-8, 8, 15), 1.0)
    result = enumerate_labelings(P, c, k)
    best = all_values(P, c, k).min()
    assert result.exact
    assert result.value == pytest.approx(best, abs=1e-12 * np.abs(P).sum())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_nodes", [1, 2, 3, 5, 20])
def test_bounds_stay_below_the_optimum_at_any_node_limit(max_nodes, kind):
    for seed in range(3):
        P, c, k = problem(seed, 17, kind)
        optimum = enumerate_labelings(P, c, k).value
        result = enumerate_labelings(P, c, k, max_nodes=max_nodes)
        assert result.n_nodes <= max_nodes
        assert result.relaxation <= result.bound <= optimum + 1e-10
        assert optimum <= result.value + 1e-10
        assert result.value == pytest.approx(f(P, c, k, result.labels), abs=1e-12)
        assert result.exact == (result.value - result.bound < 1e-10)


def test_a_search_cut_short_is_not_called_exact_and_the_bound_rises_with_nodes():
    P, c, k = problem(0, 40, KINDS[1])
    results = [enumerate_labelings(P, c, k, max_nodes=n) for n in (1, 11, 101)]
    bounds = [result.bound for result in results]
    assert not any(result.exact for result in results)
    assert bounds[0] > results[0].relaxation
    assert bounds == sorted(set(bounds))
    assert all(result.bound < result.value for result in results)


@pytest.mark.parametrize("n_unlabeled", [20, 30])
def test_typical_problems_are_solved_within_a_thousand_nodes(n_unlabeled):
    for seed in range(3):
        result = enumerate_labelings(*problem(seed, n_unlabeled, (5, 10, 1.0, False)))
        assert result.exact
        assert result.n_nodes < 1000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_unlabeled", [4, 12, 25])
def test_the_relaxation_is_the_soft_minimum(n_unlabeled, kind):
    n_features, n_labeled, alpha, weighted = kind
    X, y, X_u, a = rows(1, n_unlabeled, n_features, n_labeled, weighted)
    d, root = X.shape[1], np.sqrt(a)[:, None]
    D = np.diag(np.r_[np.ones(d - 1), 0.0])
    design = np.block(
        [
            [X, np.zeros((len(X), n_unlabeled))],
            [root * X_u, -np.diag(root[:, 0])],
            [np.sqrt(alpha) * D, np.zeros((d, n_unlabeled))],
        ]
    )
    lower = np.r_[np.full(d, -np.inf), np.zeros(n_unlabeled)]
    upper = np.r_[np.full(d, np.inf), np.ones(n_unlabeled)]
    target = np.r_[y, np.zeros(n_unlabeled + d)]
    soft = lsq_linear(design, target, (lower, upper), method="bvls", tol=1e-14)
    result = enumerate_labelings(*quadratic(X, y, X_u, a, alpha), max_nodes=1)
    assert result.relaxation == pytest.approx(2 * soft.cost, abs=1e-8)


def test_no_rows_give_the_constant():
    result = enumerate_labelings(np.zeros((0, 0)), np.zeros(0), 1.5)
    assert result.labels.shape == (0,)
    assert (result.value, result.bound, result.relaxation) == (1.5, 1.5, 1.5)
    assert result.exact


def test_rows_of_weight_zero_get_label_zero_and_change_nothing():
    X, y, X_u, a = rows(2, 60, 4, 8, True)
    a[::3] = 0.0
    counted = a > 0
    P, c, k = quadratic(X, y, X_u, a, 1.0)
    without = enumerate_labelings(P[np.ix_(counted, counted)], c[counted], k, max_nodes=501)
    start = np.ones(60)
    start[counted] = without.labels
    result = enumerate_labelings(P, c, k, start=start, max_nodes=1)
    np.testing.assert_array_equal(result.labels[~counted], 0.0)
    np.testing.assert_array_equal(result.labels[counted], without.labels)
    assert result.value == without.value


def test_weights_that_are_all_zero_leave_the_supervised_fit():
    X, y, X_u, a = rows(2, 15, 4, 8, False)
    P, c, k = quadratic(X, y, X_u, 0 * a, 1.0)
    result = enumerate_labelings(P, c, k)
    np.testing.assert_array_equal(result.labels, 0.0)
    assert result.value == result.bound == k
    assert result.exact


def test_labels_that_are_fitted_perfectly_whatever_they_are_end_at_once():
    X, y, X_u, a = rows(2, 30, 60, 4, False)
    result = enumerate_labelings(*quadratic(X, y, X_u, a, 0.0))
    assert result.exact
    assert result.value == pytest.approx(0.0, abs=1e-10)


def test_duplicated_rows_tie_and_stay_exact():
    X, y, X_u, a = rows(4, 9, 3, 6, False)
    P, c, k = quadratic(X, y, np.r_[X_u, X_u], np.r_[a, a], 1.0)
    result = enumerate_labelings(P, c, k)
    assert result.exact
    assert result.value == pytest.approx(all_values(P, c, k).min(), abs=1e-10)


def test_a_start_at_the_optimum_is_kept():
    P, c, k = problem(0, 40, KINDS[1])
    best = enumerate_labelings(P, c, k)
    again = enumerate_labelings(P, c, k, start=best.labels, max_nodes=1)
    assert again.value == best.value
    np.testing.assert_array_equal(again.labels, best.labels)


def test_no_single_flip_improves_an_offered_labeling():
    P, c, k = problem(0, 60, KINDS[2])
    search = branch_and_bound._Search(P, c, k)
    for u in np.random.default_rng(0).random((10, 60)):
        search.value = np.inf
        search.offer(u)
        flips = np.abs(search.labels - np.eye(60))
        assert min(f(P, c, k, q) for q in flips) >= search.value - 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_fixed_labels_never_cut_off_the_optimum_below_the_second_best(kind, monkeypatch):
    for seed in range(5):
        P, c, k = problem(seed, 15, kind)
        values = all_values(P, c, k)
        s, t = np.unravel_index(np.argsort(values, axis=None)[1], values.shape)
        second = np.r_[patterns(7)[s], patterns(8)[t]]
        monkeypatch.setattr(
            branch_and_bound._Search, "offer", lambda self, u, second=second: self.keep(second)
        )
        result = enumerate_labelings(P, c, k)
        assert result.value == pytest.approx(values.min(), abs=1e-12)


def test_the_labels_of_a_linear_f_are_fixed_exactly_where_the_other_side_costs_too_much(
    monkeypatch,
):
    monkeypatch.setattr(branch_and_bound._Search, "offer", lambda self, u: None)
    cost = np.arange(1.0, 21.0)
    c = cost * np.resize([-1.0, 1.0], 20) / 2
    search = branch_and_bound._Search(np.zeros((20, 20)), c, 0.0)
    search.value = search.relaxation + 13.5
    search.visit(search.u, np.ones(20, dtype=bool))
    ((_, _, u, free),) = search.open
    np.testing.assert_array_equal(free, cost < 13.5)
    np.testing.assert_array_equal(u[~free], c[~free] < 0)


def test_the_callback_sees_the_gap_close_and_may_stop_the_search():
    P, c, k = problem(1, 30, KINDS[1])
    seen = []
    full = enumerate_labelings(P, c, k, callback=lambda *state: seen.append(state))
    nodes, values, bounds = np.array(seen).T
    assert np.all(np.diff(nodes) > 0)
    assert np.all(np.diff(values) <= 0)
    assert np.all(np.diff(bounds) >= -1e-12)
    assert (nodes[-1], values[-1]) == (full.n_nodes, full.value)
    assert enumerate_labelings(P, c, k, callback=lambda *state: True).n_nodes == 3


def test_two_runs_are_the_same_and_inputs_stay_as_they_were():
    P, c, k = problem(1, 25, KINDS[4])
    copies = P.copy(), c.copy()
    first, second = enumerate_labelings(P, c, k), enumerate_labelings(P, c, k)
    np.testing.assert_array_equal(first.labels, second.labels)
    assert (first.value, first.n_nodes) == (second.value, second.n_nodes)
    np.testing.assert_array_equal(P, copies[0])
    np.testing.assert_array_equal(c, copies[1])


def test_the_shift_keeps_the_matrix_positive_definite_and_raises_the_bound():
    P, c, _ = problem(0, 30, KINDS[1])
    delta = branch_and_bound._best_shift(P, c)
    assert np.linalg.eigvalsh(P - np.diag(delta))[0] > 0
    u = np.full(30, 0.5)
    soft = branch_and_bound._box_minimum(P, c, u, 1e-12)[1]
    shifted = branch_and_bound._box_minimum(P - np.diag(delta), c + delta / 2, u, 1e-12)[1]
    assert shifted > soft


@pytest.mark.parametrize("sizes", [(1.0, 1e-9, 0.0), (1e-9, 1.0, 0.0), (1e-9, 1e-9, 1.0)])
def test_no_sum_of_f_rounds_by_more_than_the_rounding(sizes):
    P, c, k = (
        size * one for size, one in zip(sizes, (np.ones((3, 3)), np.ones(3), 1.0), strict=True)
    )
    terms = np.abs(P).sum() + np.abs(c).sum() + k
    assert 8.0 * np.finfo(float).eps * terms < _Search(P, c, k).rounding < 1e-12 * terms


def test_the_example_of_the_docstring_runs():
    assert doctest.testmod(branch_and_bound).failed == 0


# -- the function of the labels --------------------------------------------------------------------


def fitted_to(problem, labels):
    """Return the weights of least J with these labels, and J."""
    root = np.sqrt(problem.weight)
    A = np.vstack((problem.design * root[:, None], np.diag(np.sqrt(problem.penalty))))
    b = np.append(labels * root, np.zeros(len(problem.penalty)))
    w = np.linalg.lstsq(A, b)[0]
    return w, np.sum((A @ w - b) ** 2)


@pytest.mark.parametrize("name", list(SETTINGS | SHORT))
def test_J_of_the_best_fit_is_a_quadratic_function_of_the_labels(name):
    given = make_problem(1, **(SETTINGS | SHORT)[name])
    P, c, k = label_quadratic(given.objective("hard"))
    for q in np.random.default_rng(0).integers(2, size=(5, len(given.y))).astype(float):
        _, expected = fitted_to(given, given.with_known(q))
        assert f(P, c, k, q[~given.known]) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_weights_fit_the_labels_found_even_if_another_step_would_change_them(monkeypatch):
    given = make_problem(1)
    labels = given.with_known(np.random.default_rng(0).integers(2, size=len(given.y)).astype(float))
    cut = Enumeration(labels[~given.known], np.inf, 0.0, 0.0, 1, exact=False)
    monkeypatch.setattr(enumerate_module, "enumerate_labelings", lambda *_, **__: cut)
    found = enumerate_hard(given.objective("hard"), labels, max_nodes=1)
    np.testing.assert_allclose(found.w, fitted_to(given, labels)[0], atol=1e-10)


def test_the_labels_of_columns_of_many_sizes_have_the_same_quadratic():
    """Without a ridge, the sizes of the columns do not matter."""
    given = make_problem(1, n_features=2, n_labeled=8, alpha=0.0)
    far = replace(given, X=given.X * [1e9, 1e-9])
    quadratics = [label_quadratic(one.objective("hard")) for one in (far, given)]
    for found, expected in zip(*quadratics, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
