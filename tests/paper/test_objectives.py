"""The paper's objectives are quadratic: on whole numbers, differences are exact derivatives."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from semisquares.paper.objectives import (
    J_l,
    J_r,
    J_s,
    best_q,
    best_u,
    grad_J_l,
    grad_J_r,
    grad_J_s,
    hessian_J_l,
    hessian_J_r,
    hessian_J_s,
)

L, U, D = 4, 5, 3
RIDGES = [{}, {"alpha": 3.0}, {"alpha": 2.0, "penalty_diag": [1.0, 4.0, 0.0]}]
ENCODINGS = [{}, {"m": 2.0, "n": -1.0}, {"m": -1.0, "n": 1.0}]

ridges = pytest.mark.parametrize("ridge", RIDGES)
encodings = pytest.mark.parametrize("code", ENCODINGS)
seeds = pytest.mark.parametrize("seed", range(3))


def whole_numbers(seed):
    """Return X, y, X_u, w, u with small integer values, so that floats add up without rounding."""
    rng = np.random.default_rng(seed)
    shapes = [(L, D), L, (U, D), D, U]
    return [rng.integers(-5, 6, shape).astype(float) for shape in shapes]


def differences(f, v):
    """Return the central differences of f at v with step 1, exact for a quadratic f."""
    return np.array([(f(v + e) - f(v - e)) / 2 for e in np.eye(len(v))])


def joint(f, *data, **options):
    """Return the objective f as a function of the joint variable (w, u)."""
    return lambda v: f(v[:D], v[D:], *data, **options)


def joint_gradient(f, *data, **options):
    """Return the gradient f, a pair, as one vector and as a function of the joint variable."""
    return lambda v: np.hstack(f(v[:D], v[D:], *data, **options))


@ridges
@seeds
def test_derivatives_of_J_s_are_exact(seed, ridge):
    X, y, _, w, _ = whole_numbers(seed)
    gradient = differences(lambda v: J_s(v, X, y, **ridge), w)
    curvature = differences(lambda v: grad_J_s(v, X, y, **ridge), w)
    np.testing.assert_array_equal(grad_J_s(w, X, y, **ridge), gradient)
    np.testing.assert_array_equal(hessian_J_s(X, **ridge), curvature)


@ridges
@seeds
def test_derivatives_of_J_l_are_exact(seed, ridge):
    X, y, X_u, w, u = whole_numbers(seed)
    v = np.hstack([w, u])
    gradient = joint_gradient(grad_J_l, X, y, X_u, **ridge)
    value = joint(J_l, X, y, X_u, **ridge)
    np.testing.assert_array_equal(gradient(v), differences(value, v))
    np.testing.assert_array_equal(hessian_J_l(X, X_u, **ridge), differences(gradient, v))


@encodings
@ridges
@seeds
def test_derivatives_of_J_r_are_exact_for_any_encoding(seed, ridge, code):
    X, y, X_u, w, q = whole_numbers(seed)
    v = np.hstack([w, q])
    gradient = joint_gradient(grad_J_r, X, y, X_u, **ridge, **code)
    value = joint(J_r, X, y, X_u, **ridge, **code)
    np.testing.assert_array_equal(gradient(v), differences(value, v))
    np.testing.assert_array_equal(hessian_J_r(X, X_u, **ridge, **code), differences(gradient, v))


def test_objectives_are_the_sums_of_the_paper_row_by_row():
    X, y, X_u, w, u = whole_numbers(0)
    s = sum((x @ w - t) ** 2 for x, t in zip(X, y, strict=True)) + 3 * sum(w**2)
    l_part = sum((x @ w - t) ** 2 for x, t in zip(X_u, u, strict=True))
    rows = zip(X_u, u, strict=True)
    r_part = sum(t * (x @ w - 2) ** 2 + (1 - t) * (x @ w + 1) ** 2 for x, t in rows)
    assert J_s(w, X, y, 3) == s
    assert J_l(w, u, X, y, X_u, 3) == s + l_part
    assert J_r(w, u, X, y, X_u, 3, m=2, n=-1) == s + r_part


def test_penalty_diag_of_ones_is_the_papers_norm_and_zero_frees_a_weight():
    X, y, _, w, _ = whole_numbers(1)
    assert J_s(w, X, y, 3, penalty_diag=[1, 1, 1]) == J_s(w, X, y, 3)
    assert J_s(w, X, y, 3, penalty_diag=[1, 1, 0]) == J_s(w, X, y, 3) - 3 * w[2] ** 2


def test_paper_closed_form_is_where_the_gradient_vanishes():
    X, y, *_ = whole_numbers(2)
    w = np.linalg.solve(X.T @ X + 2 * np.eye(D), X.T @ y)
    np.testing.assert_allclose(grad_J_s(w, X, y, 2), 0, atol=1e-12)


def test_small_integer_types_do_not_overflow():
    X, y, X_u = np.array([[100]], np.int8), np.array([0], np.int8), np.array([[100]], np.int8)
    assert J_l([1], [0], X, y, X_u) == 20_000
    assert hessian_J_l(X, X_u)[0, 0] == 40_000


@encodings
@seeds
def test_J_r_is_the_squared_error_of_its_labels_plus_their_spread(seed, code):
    X, y, X_u, w, _ = whole_numbers(seed)
    q = np.array([0, 0.25, 0.5, 0.75, 1])
    m, n = code.get("m", 1), code.get("n", 0)
    spread = (m - n) ** 2 * np.sum(q * (1 - q))
    assert J_r(w, q, X, y, X_u, **code) == J_l(w, q * m + (1 - q) * n, X, y, X_u) + spread


def test_J_r_is_J_l_plus_the_softness_of_q_in_the_papers_encoding():
    X, y, X_u, w, _ = whole_numbers(0)
    q = np.array([0, 0.25, 0.5, 0.75, 1])
    assert J_r(w, q, X, y, X_u, 2) - J_l(w, q, X, y, X_u, 2) == np.sum(q * (1 - q)) == 0.625


@seeds
def test_swapping_the_encodings_swaps_the_responsibilities(seed):
    X, y, X_u, w, q = whole_numbers(seed)
    there, back = {"m": 2.0, "n": -1.0}, {"m": -1.0, "n": 2.0}
    assert J_r(w, q, X, y, X_u, **there) == J_r(w, 1 - q, X, y, X_u, **back)
    np.testing.assert_array_equal(best_q(w, X_u, **there), 1 - best_q(w, X_u, **back))


@ridges
@seeds
def test_hessian_of_J_l_is_positive_semi_definite(seed, ridge):
    X, _, X_u, _, _ = whole_numbers(seed)
    H = hessian_J_l(X, X_u, **ridge)
    assert np.linalg.eigvalsh(H).min() >= -1e-12 * np.linalg.norm(H)


@ridges
@seeds
def test_schur_complement_of_the_labels_is_the_supervised_hessian(seed, ridge):
    X, _, X_u, _, _ = whole_numbers(seed)
    H = hessian_J_l(X, X_u, **ridge)
    schur = H[:D, :D] - H[:D, D:] @ H[D:, D:] @ H[D:, :D] / 4  # the inverse of 2I is 2I / 4
    np.testing.assert_array_equal(schur, hessian_J_s(X, **ridge))


small = st.integers(-100, 100).map(float)


@given(arrays(float, D + U, elements=small), arrays(float, D + U, elements=small))
def test_J_l_is_midpoint_convex(a, b):
    X, y, X_u, _, _ = whole_numbers(0)
    J = joint(J_l, X, y, X_u, alpha=1.0)
    assert J((a + b) / 2) <= (J(a) + J(b)) / 2


@seeds
def test_printed_hessian_of_J_l_is_not_its_derivative(seed):
    X, y, X_u, w, u = whole_numbers(seed)
    printed = hessian_J_l(X, X_u)
    printed[D:, D:] = -2 * np.eye(U)
    derivative = differences(joint_gradient(grad_J_l, X, y, X_u), np.hstack([w, u]))
    np.testing.assert_array_equal((derivative - printed)[D:, D:], 4 * np.eye(U))
    assert np.linalg.eigvalsh(printed).min() < 0


def test_printed_gradient_of_J_r_fails_even_where_its_shapes_fit():
    X, y, X_u, w, q = whole_numbers(0)
    X_u, q = X_u[:D], q[:D]
    X_e = np.vstack([X, X_u])
    printed = 2 * X_e.T @ X_e @ w - 2 * X.T @ y - 2 * X_u @ q
    meant = 2 * X_e.T @ X_e @ w - 2 * X.T @ y - 2 * X_u.T @ q
    true = differences(lambda v: J_r(v, q, X, y, X_u), w)
    np.testing.assert_array_equal(meant, true)
    assert not np.array_equal(printed, true)


def test_J_r_lies_above_its_chord_at_a_midpoint():
    X, y, X_u = [[0.0]], [0.0], [[1.0]]
    assert J_r([0], [0], X, y, X_u) == J_r([1], [1], X, y, X_u) == 0
    assert J_r([0.5], [0.5], X, y, X_u) == 0.25
    assert J_l([0.5], [0.5], X, y, X_u) == 0


@encodings
@ridges
@seeds
def test_hessian_of_J_r_is_indefinite(seed, ridge, code):
    X, _, X_u, _, _ = whole_numbers(seed)
    eigenvalues = np.linalg.eigvalsh(hessian_J_r(X, X_u, **ridge, **code))
    assert eigenvalues[0] < -0.1
    assert eigenvalues[-1] > 0.1


@encodings
def test_quadratic_form_of_J_r_counts_its_cross_term_twice(code):
    X, _, X_u, a, _ = whole_numbers(0)
    H = hessian_J_r(X, X_u, **code)
    b, gap = X_u @ a, code.get("m", 1) - code.get("n", 0)
    v = np.hstack([a, 10 * b])
    assert v @ H @ v == a @ H[:D, :D] @ a - 40 * gap * (b @ b)


def test_J_r_is_convex_without_a_difference_between_encodings_or_unlabeled_values():
    X, _, X_u, _, _ = whole_numbers(0)
    assert np.linalg.eigvalsh(hessian_J_r(X, X_u, m=1, n=1)).min() >= -1e-12
    assert np.linalg.eigvalsh(hessian_J_r(X, 0 * X_u)).min() >= -1e-12


GRID = np.array(list(product(np.linspace(0, 1, 9), repeat=3)))
ROWS = np.array([[1.0, -3.0], [1.0, 0.75], [1.0, 4.0]])  # z = -0.25, 0.6875, 1.5 at w = (0.5, 0.25)
WEIGHTS = np.array([0.5, 0.25])


def test_best_u_beats_every_labeling_of_a_grid():
    best = J_l(WEIGHTS, best_u(WEIGHTS, ROWS), ROWS, [0, 1, 1], ROWS)
    assert best <= min(J_l(WEIGHTS, u, ROWS, [0, 1, 1], ROWS) for u in GRID)


def test_best_u_is_the_decision_value_or_the_bound_that_it_passed():
    np.testing.assert_array_equal(best_u(WEIGHTS, ROWS), [0, 0.6875, 1])


@encodings
def test_best_q_is_the_one_minimiser_on_a_grid(code):
    values = [J_r(WEIGHTS, q, ROWS, [0, 1, 1], ROWS, **code) for q in GRID]
    np.testing.assert_array_equal(best_q(WEIGHTS, ROWS, **code), GRID[np.argmin(values)])
    assert np.sum(np.isclose(values, min(values))) == 1


@encodings
def test_best_q_of_a_tie_is_zero_and_any_other_q_is_as_good(code):
    tie = [[(code.get("m", 1) + code.get("n", 0)) / 2]]
    assert best_q([1], tie, **code) == 0
    assert J_r([1], [0], [[0]], [0], tie, **code) == J_r([1], [1], [[0]], [0], tie, **code)


FIGURE_3 = np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([0.0, 1.0]), [[1.0, -1.0], [1.0, 4.0]]


@pytest.mark.parametrize(
    ("unit", "intercept", "slope", "u"), [(67, 23, 14, [0, 67]), (38, 16, 7, [9, 38])]
)
def test_figure_3_weights_are_exact_in_units_of_a_fraction(unit, intercept, slope, u):
    X, y, X_u = FIGURE_3  # w, u and y times 67 or 38 are whole: J_l scales along, without rounding
    grad_w, _ = grad_J_l([intercept, slope], u, X, unit * y, X_u)
    np.testing.assert_array_equal(grad_w, [0, 0])


def test_figure_3_starts_at_one_half_and_its_first_labels_are_hard():
    X, y, X_u = FIGURE_3
    np.testing.assert_array_equal(grad_J_s([0.5, 0.5], X, y), [0, 0])
    np.testing.assert_array_equal(best_u([0.5, 0.5], X_u), [0, 1])
    assert J_l([0.5, 0.5], [0, 1], X, y, X_u) == 2.25


def test_figure_3_limit_is_a_fixed_point_with_value_nine_thirty_eighths():
    X, y, X_u = FIGURE_3
    w = [8 / 19, 7 / 38]
    np.testing.assert_allclose(best_u(w, X_u), [9 / 38, 1], rtol=0, atol=1e-15)
    assert J_l([16, 7], [9, 38], X, 38 * y, X_u) == 9 * 38
    assert J_l(w, [9 / 38, 1], X, y, X_u) == pytest.approx(9 / 38, abs=1e-15)
