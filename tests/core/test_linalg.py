"""Factor once, solve many; least-norm steps where columns depend on each other."""

from __future__ import annotations

import numpy as np
import pytest

from semisquares.core import _dense as dense
from semisquares.core.linalg import (
    _complement,
    column_span,
    conjugate_gradient,
    dependent_columns,
    factor,
    forms_of_ridges,
    has_full_rank,
    least_norm_step,
    ridge_factors,
    row_space,
    updated_factor,
)

INTERCEPT = pytest.mark.parametrize("intercept", [True, False])


def columns(seed, n, d, intercept):
    """Random columns, and the ones behind them if there is an intercept."""
    X = np.random.default_rng(seed).normal(size=(n, d)) + 0.3
    return np.hstack([X] + [np.ones((n, 1))] * intercept)


def triangle_of(A, intercept, *rhs):
    """The R factor of (1, x, rhs), square."""
    stacked = np.hstack((np.roll(A, int(intercept), axis=1), *rhs))
    R = np.linalg.qr(stacked, mode="r")
    return np.vstack((R, np.zeros((stacked.shape[1] - len(R), stacked.shape[1]))))


def ridge_matrix(A, alpha, intercept):
    penalised = np.arange(A.shape[1]) < A.shape[1] - intercept
    return A.T @ A + np.diag(alpha * penalised)


# -- factor ----------------------------------------------------------------------------------------


@INTERCEPT
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_a_factor_solves_the_bordered_system(seed, alpha, intercept):
    A = columns(seed, 30, 6, intercept)
    H = ridge_matrix(A, alpha, intercept)
    b = np.random.default_rng(seed).normal(size=(len(H), 2, 3))
    found = factor(A.T @ A, alpha, intercept)
    expected = np.linalg.solve(H, b.reshape(len(H), -1)).reshape(b.shape)
    np.testing.assert_allclose(found.solve(b), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.solve(b[:, 0, 0]), expected[:, 0, 0], rtol=1e-9, atol=1e-12)


@INTERCEPT
def test_one_decomposition_gives_the_factors_of_several_ridges(intercept):
    A = columns(1, 30, 6, intercept)
    b = np.random.default_rng(2).normal(size=(A.shape[1], 3))
    alphas = np.array([0.01, 2.0, 1e6])
    factors = ridge_factors(A.T @ A, alphas, intercept)
    forms = forms_of_ridges(factors, A[:9, :6])
    for alpha, found, of_ridge in zip(alphas, factors, forms.T, strict=True):
        known = factor(A.T @ A, alpha, intercept)
        np.testing.assert_allclose(found.solve(b), known.solve(b), rtol=1e-9)
        expected = known.inverse_forms(A[:9, :6])
        np.testing.assert_allclose(found.inverse_forms(A[:9, :6]), expected, rtol=1e-9)
        np.testing.assert_allclose(of_ridge, expected, rtol=1e-9)
    assert ridge_factors(A.T @ A, np.array([1e-9, 1.0]), intercept) is None


@INTERCEPT
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_inverse_forms_are_those_of_the_inverse_matrix(alpha, intercept):
    A = columns(4, 30, 6, intercept)
    inverse = np.linalg.inv(ridge_matrix(A, alpha, intercept))
    found = factor(A.T @ A, alpha, intercept).inverse_forms(A[:9, :6])
    np.testing.assert_allclose(found, np.diag(A[:9] @ inverse @ A[:9].T), rtol=1e-10)


@INTERCEPT
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_an_updated_factor_is_that_of_the_rows_now_there(alpha, intercept):
    A, more = columns(1, 30, 6, intercept), columns(2, 3, 6, intercept)
    moved = np.vstack((more, A[:2]))
    base = factor(A.T @ A, alpha, intercept)
    updated = updated_factor(base, moved.T, np.array([1.0, 1.0, 1.0, -1.0, -1.0]))
    now = np.vstack((A[2:], more))
    inverse = np.linalg.inv(ridge_matrix(now, alpha, intercept))
    b = np.random.default_rng(3).normal(size=(A.shape[1], 4))
    np.testing.assert_allclose(updated.solve(b), inverse @ b, rtol=1e-9)
    np.testing.assert_allclose(updated.solve(b[:, 0]), inverse @ b[:, 0], rtol=1e-9)
    forms = np.einsum("ij,jk,ik->i", now, inverse, now)
    np.testing.assert_allclose(updated.inverse_forms(now[:, :6]), forms, rtol=1e-9)


def test_an_update_by_no_row_changes_nothing():
    A = columns(1, 30, 6, intercept=True)
    base = factor(A.T @ A, 1.0, intercept=True)
    updated = updated_factor(base, np.empty((7, 0)), np.empty(0))
    np.testing.assert_array_equal(updated.solve(A[0]), base.solve(A[0]))


def test_a_factor_is_not_updated_by_the_loss_of_a_row_that_alone_determines_a_weight():
    A = columns(1, 30, 6, True)
    A[1:, 2] *= 1e-6
    base = factor(A.T @ A, 0.0, True)
    assert updated_factor(base, A[1:2].T, np.array([-1.0])) is not None
    assert updated_factor(base, A[:1].T, np.array([-1.0])) is None


@pytest.mark.parametrize("n_links", [3, 6, 8])
def test_a_chain_of_columns_that_hides_its_condition_in_many_pivots_is_not_factored(n_links):
    """Every column leaves 0.1 % of the ones before it, and yet the last is nearly a combination."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(200, n_links + 1)))[0]
    share = 10.0 ** (-6.0 / n_links)
    A = np.sqrt(1.0 - share**2) * Q[:, :-1] + share * Q[:, 1:]
    A[:, 0] = Q[:, 0]
    condition = np.linalg.cond(A) ** 2
    assert (factor(A.T @ A, 0.0, False) is None) == (condition > 1e10)


@INTERCEPT
def test_a_factor_minds_no_bad_scaling(intercept):
    A = columns(0, 40, 5, intercept)
    size = np.append(10.0 ** np.array([8.0, -8.0, 0.0, 4.0, -4.0]), [1.0] * intercept)
    b = np.random.default_rng(0).normal(size=len(size))
    x = factor((A * size).T @ (A * size), 0.0, intercept).solve(size * b)
    np.testing.assert_allclose(size * x, np.linalg.solve(A.T @ A, b), rtol=1e-10)


@pytest.mark.parametrize("n", [5, 7, 40])
def test_a_factor_without_features_is_a_mean(n):
    found = factor(np.array([[float(n)]]), 1.0, True)
    np.testing.assert_allclose(found.solve(np.array([3.0])), 3.0 / n)


@INTERCEPT
@pytest.mark.parametrize("n", [3, 40])
def test_there_is_no_factor_of_a_singular_matrix(n, intercept):
    A = columns(1, n, 6, intercept)
    A[:, 5] = A[:, 0] + A[:, 1]
    assert factor(A.T @ A, 0.0, intercept) is None
    assert factor(A.T @ A, 1.0, intercept) is not None


@INTERCEPT
def test_there_is_no_factor_where_a_gram_matrix_has_lost_its_digits(intercept):
    A = columns(1, 40, 4, intercept)
    A[:, 3] = A[:, 0] + 1e-6 * A[:, 3]
    assert factor(A.T @ A, 0.0, intercept) is None


def test_there_is_no_factor_of_an_intercept_without_rows():
    assert factor(np.zeros((3, 3)), 1.0, True) is None


def test_a_constant_column_beside_the_intercept_gets_no_weight():
    A = columns(2, 30, 3, True)
    A[:, 1] = 7.0
    b = A.T @ np.random.default_rng(0).normal(size=30)
    x = factor(A.T @ A, 0.0, True).solve(b)
    assert x[1] == 0.0
    np.testing.assert_allclose(A.T @ A @ x, b, rtol=1e-9)


# -- least-norm steps ------------------------------------------------------------------------------


@INTERCEPT
@pytest.mark.parametrize("n", [4, 40])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_the_step_leads_to_the_solution_of_least_norm_with_a_free_intercept(
    n, n_targets, intercept
):
    A = columns(3, n, 7, intercept)
    A[:, 6] = A[:, 0] - 2.0 * A[:, 1]
    rng = np.random.default_rng(n)
    t, w = rng.normal(size=(n, n_targets)), rng.normal(size=(A.shape[1], n_targets))
    found = least_norm_step(triangle_of(A, intercept, t - A @ w), 0.0, intercept, w)
    centre = A[:, :7].mean(axis=0) * intercept, t.mean(axis=0) * intercept
    expected = np.linalg.lstsq(A[:, :7] - centre[0], t - centre[1])[0]
    np.testing.assert_allclose((w + found.step)[:7], expected, atol=1e-11)
    np.testing.assert_allclose(
        (w + found.step)[7:], (centre[1] - centre[0] @ expected)[None][: int(intercept)], atol=1e-11
    )


@INTERCEPT
def test_the_norm_that_is_least_is_that_of_the_users_units(intercept):
    A = columns(4, 5, 8, intercept)
    A[:, :8] *= 10.0 ** np.arange(-3, 5)
    t = np.random.default_rng(4).normal(size=(5, 1))
    w = np.zeros((A.shape[1], 1))
    found = least_norm_step(triangle_of(A, intercept, t), 0.0, intercept, w).step
    centred = A[:, :8] - intercept * A[:, :8].mean(axis=0)
    expected = np.linalg.pinv(centred, rcond=1e-13) @ (t - intercept * t.mean())
    np.testing.assert_allclose(centred @ found[:8], t - intercept * t.mean(), atol=1e-8)
    assert np.linalg.norm(found[:8]) <= np.linalg.norm(expected) * (1 + 1e-6)


@INTERCEPT
@pytest.mark.parametrize("alpha", [1e-3, 2.0])
def test_the_step_with_a_ridge_is_the_ridge_solution(alpha, intercept):
    A = columns(5, 6, 9, intercept)
    rng = np.random.default_rng(5)
    t, w = rng.normal(size=(6, 2)), rng.normal(size=(A.shape[1], 2))
    found = least_norm_step(triangle_of(A, intercept, t - A @ w), alpha, intercept, w)
    expected = np.linalg.solve(ridge_matrix(A, alpha, intercept), A.T @ t)
    np.testing.assert_allclose(w + found.step, expected, rtol=1e-9, atol=1e-10)
    assert found.null.shape == (9, 0)


@INTERCEPT
def test_the_free_directions_change_no_residual_and_are_all_there_are(intercept):
    A = columns(6, 30, 6, intercept)
    A[:, 4], A[:, 5] = A[:, 0] + A[:, 1], 0.0
    t = np.ones((30, 1))
    null = least_norm_step(
        triangle_of(A, intercept, t), 0.0, intercept, np.zeros((A.shape[1], 1))
    ).null
    assert null.shape == (6, 2)
    np.testing.assert_allclose(null.T @ null, np.eye(2), atol=1e-13)
    np.testing.assert_allclose(A[:, :6] @ null, 0.0, atol=1e-12)


def test_real_directions_are_not_dropped_however_small():
    A = columns(7, 30, 3, True) * np.array([1.0, 1e-12, 1e12, 1.0])
    t = A @ np.array([1.0, 1e12, 1e-12, 3.0])
    found = least_norm_step(triangle_of(A, True, t[:, None]), 0.0, True, np.zeros((4, 1)))
    np.testing.assert_allclose(found.step[:, 0], [1.0, 1e12, 1e-12, 3.0], rtol=1e-10)
    assert found.null.shape == (3, 0)


def test_the_rank_is_found_where_the_fast_svd_fails(monkeypatch):
    def fails(*args, **options):
        raise np.linalg.LinAlgError("SVD did not converge")

    A = columns(9, 30, 5, False)
    A[:, 4] = A[:, 0]
    t = np.random.default_rng(9).normal(size=(30, 1))
    R = triangle_of(A, False, t)
    monkeypatch.setattr(np.linalg, "svd", fails)
    found = least_norm_step(R, 0.0, False, np.zeros((5, 1)))
    np.testing.assert_allclose(found.step, np.linalg.lstsq(A, t)[0], atol=1e-12)


@INTERCEPT
def test_dependence_up_to_the_rounding_of_a_rotation_is_dependence(intercept):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(12, 6)) @ rng.normal(size=(6, 20))  # rank 6
    X = X @ np.linalg.qr(rng.normal(size=(20, 20)))[0]
    A = np.hstack([X] + [np.ones((12, 1))] * intercept)
    null = least_norm_step(
        triangle_of(A, intercept, np.ones((12, 1))), 0.0, intercept, np.zeros((A.shape[1], 1))
    ).null
    assert null.shape == (20, 14)


# -- row spaces ------------------------------------------------------------------------------------


@INTERCEPT
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_a_row_space_gives_the_solution_of_least_norm_from_any_weights(scale, intercept):
    A = columns(11, 40, 7, intercept)
    A[:, 6], A[:, 5] = A[:, 0] - 2.0 * A[:, 1], 0.0
    A[:, :7] *= np.array([1.0, 1.0, scale, 1.0, 1.0, 1.0, 1.0])
    rng = np.random.default_rng(11)
    t, w = rng.normal(size=40), rng.normal(size=A.shape[1])
    found = w + row_space(A.T @ A, intercept).step(w, A.T @ (A @ w - t))
    centred = A[:, :7] - intercept * A[:, :7].mean(axis=0)
    expected = np.linalg.lstsq(centred, t - intercept * t.mean())[0]
    np.testing.assert_allclose(found[:7], expected, atol=1e-9)
    np.testing.assert_allclose(A.T @ (A @ found - t), 0.0, atol=1e-7 * scale)


@INTERCEPT
def test_the_step_of_a_row_space_for_several_targets_is_that_for_each(intercept):
    A = columns(11, 40, 4, intercept)
    A[:, 3] = A[:, 0] - A[:, 1]
    space = row_space(A.T @ A, intercept)
    w, gradient = np.random.default_rng(11).normal(size=(2, A.shape[1], 3))
    each = [space.step(w[:, k], gradient[:, k]) for k in range(3)]
    np.testing.assert_allclose(space.step(w, gradient), np.transpose(each), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(9, 4), (4, 4), (3, 5)])
@pytest.mark.parametrize("rank", [1, 3, 4])
def test_a_column_span_projects_on_the_columns(shape, rank):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    A /= np.linalg.norm(A, axis=0)
    span = column_span(A, 1e-11)
    assert span.shape[1] == min(rank, *shape)
    np.testing.assert_allclose(span.T @ span, np.eye(span.shape[1]), atol=1e-14)
    np.testing.assert_allclose(span @ span.T, A @ np.linalg.pinv(A, rcond=1e-11), atol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize(("condition", "is_full"), [(1.0, True), (1e5, True), (1e9, False)])
@pytest.mark.parametrize("d", [2, 30])
def test_a_triangle_far_from_singular_has_full_rank_beyond_doubt(d, condition, is_full, size):
    rng = np.random.default_rng(d)
    left, right = (np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(2))
    matrix = left * np.geomspace(1.0, 1.0 / condition, d) @ right
    assert has_full_rank(size * np.linalg.qr(matrix)[1]) == is_full


@pytest.mark.parametrize(
    "triangle",
    [
        np.zeros((0, 0)),
        np.zeros((2, 2)),
        np.diag([1.0, 0.0]),
        np.ones((1, 2)),
        np.diag([np.nan]),
        np.diag([np.inf]),
    ],
    ids=["no columns", "zeros", "a zero", "more columns than rows", "NaN", "infinity"],
)
def test_other_triangles_do_not_have_it(triangle):
    assert not has_full_rank(triangle)


def test_columns_of_zeros_span_nothing():
    A = np.eye(5, 3)
    A[:, 1] = 0.0
    np.testing.assert_allclose(np.abs(column_span(A, 1e-11)).sum(axis=1), [1, 0, 1, 0, 0])
    assert column_span(np.zeros((4, 2)), 1e-11).shape == (4, 0)
    assert column_span(np.zeros((4, 0)), 1e-11).shape == (4, 0)


def test_independent_columns_need_no_svd(monkeypatch):
    monkeypatch.delattr("semisquares.core._dense.svd")
    A = np.random.default_rng(0).normal(size=(9, 4))
    assert column_span(A / np.linalg.norm(A, axis=0), 1e-11).shape == (9, 4)


def test_a_row_space_is_left_to_qr_where_pivots_neither_vanish_nor_stand_out():
    A = columns(12, 40, 4, False)
    A[:, 2] = A[:, 0]
    assert row_space(A.T @ A, False) is not None
    A[:, 3] = A[:, 0] + 1e-4 * A[:, 3]
    assert row_space(A.T @ A, False) is None


def test_a_pivot_as_large_as_the_rounding_of_long_sums_is_no_direction():
    assert row_space(np.array([[1.0, 1.0], [1.0, 1.0 + 5e-14]]), False) is not None


def test_a_row_space_is_left_to_qr_where_columns_are_of_many_sizes():
    A = columns(12, 40, 4, False) * np.array([1.0, 1e6, 1.0, 1.0])
    A[:, 2] = A[:, 0]
    assert row_space(A.T @ A, False) is None


# -- dependent columns -----------------------------------------------------------------------------


@INTERCEPT
def test_copies_and_sums_of_columns_before_them_are_named(intercept):
    A = columns(8, 50, 7, intercept)
    A[:, 3], A[:, 6] = A[:, 1], A[:, 0] - 4.0 * A[:, 5]
    assert dependent_columns(triangle_of(A, intercept), intercept) == (3, 6)


@INTERCEPT
@pytest.mark.parametrize("seed", range(5))
def test_no_column_of_full_rank_is_named(seed, intercept):
    A = columns(seed, 50, 12, intercept)
    A[:, :12] *= 10.0 ** np.random.default_rng(seed).uniform(-8, 8, 12)
    assert dependent_columns(triangle_of(A, intercept), intercept) == ()


def test_a_column_that_differs_from_another_by_more_than_rounding_is_not_named():
    A = columns(8, 50, 4, True)
    A[:, 3] = A[:, 1] + 1e-10 * A[:, 3]
    assert dependent_columns(triangle_of(A, True), True) == ()


def test_fewer_rows_than_columns_make_the_last_columns_dependent():
    assert dependent_columns(triangle_of(columns(9, 4, 6, False), False), False) == (4, 5)


def test_constant_columns_are_not_named_beside_an_intercept():
    A = columns(10, 50, 4, True)
    A[:, 2], A[:, 3] = 0.1, 0.0
    assert dependent_columns(triangle_of(A, True), True) == ()


def test_a_column_that_is_affine_in_another_is_named_beside_an_intercept_only():
    A = columns(11, 50, 3, True)
    A[:, 2] = 1000.0 + A[:, 0]
    assert dependent_columns(triangle_of(A, True), True) == (2,)
    assert dependent_columns(triangle_of(A[:, :3], False), False) == ()


# -- conjugate gradients ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(8,), (8, 3)])
def test_conjugate_gradients_solve_the_system_in_as_many_products_as_unknowns(shape):
    A = columns(12, 40, 8, False)
    H, b = A.T @ A, np.random.default_rng(0).normal(size=shape)
    x, products, accepted = conjugate_gradient(
        lambda V: H @ V,
        b,
        precondition=lambda r: r,
        done=lambda r: np.linalg.norm(r) <= 1e-12,
        max_iter=200,
    )
    np.testing.assert_allclose(x, np.linalg.solve(H, b), rtol=1e-9)
    assert accepted
    assert products <= len(b) + 2


def test_a_perfect_preconditioner_needs_one_product():
    A = columns(13, 40, 8, False)
    H, b = A.T @ A, np.ones(8)
    x, products, accepted = conjugate_gradient(
        lambda V: H @ V,
        b,
        precondition=lambda r: np.linalg.solve(H, r),
        done=lambda r: np.linalg.norm(r) <= 1e-10,
        max_iter=200,
    )
    assert (products, accepted) == (1, True)
    np.testing.assert_allclose(H @ x, b, rtol=1e-9)


def test_every_early_stop_of_conjugate_gradients_is_a_descent():
    A = columns(14, 40, 8, False)
    H, b = A.T @ A, np.ones(8)
    ends = [
        conjugate_gradient(
            lambda V: H @ V, b, precondition=lambda r: r, done=lambda r: False, max_iter=k
        )
        for k in range(9)
    ]
    values = [x @ H @ x - 2 * b @ x for x, _, _ in ends]
    assert [end[1:] for end in ends] == [(k, False) for k in range(9)]
    assert np.all(np.diff(values) < 0.0)


def test_conjugate_gradients_end_at_a_flat_direction():
    x, products, accepted = conjugate_gradient(
        lambda V: 0.0 * V, np.ones(3), precondition=lambda r: r, done=lambda r: False, max_iter=9
    )
    np.testing.assert_array_equal(x, np.zeros(3))
    assert (products, accepted) == (1, False)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(), (1,), (2,)])
def test_a_large_triangle_solves_for_one_column_and_for_several(shape, dtype):
    n = dense.TRSV_ROWS
    rng = np.random.default_rng(0)
    A = np.asfortranarray(np.diag(rng.uniform(1.0, 2.0, n)), dtype=dtype)
    A[1:, 0] = A[0, 1:] = 0.5 / n
    triangle, failed = dense.cholesky(A.copy(order="F"))
    b = rng.normal(size=(n, *shape)).astype(dtype)
    x = dense.solve_cholesky(triangle, b)
    assert not failed
    assert x.shape == b.shape
    np.testing.assert_allclose(A @ x, b, atol=1e3 * n * np.finfo(dtype).eps)


def test_a_matrix_whose_digits_the_intercept_took_is_not_factored():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    X = np.stack((x, x + 1e-3 * rng.normal(size=60)), axis=1)

    def gram(offset):
        rows = np.column_stack((X + offset, np.ones(60)))
        return rows.T @ rows

    # 1e10 is taken off numbers that have sixteen digits; what is left cannot tell copies apart
    assert factor(gram(1e5), 0.0, True) is None
    assert factor(gram(1e5), 1.0, True) is not None
    b = np.array([1.0, -1.0, 0.5])
    found = factor(gram(0.0), 0.0, True)
    np.testing.assert_allclose(gram(0.0) @ found.solve(b), b, atol=1e-7)


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3])
def test_the_complement_of_rows_and_of_dead_columns_is_all_that_is_left(n_rows):
    live = np.array([True, False, True, True])
    rows = np.zeros((n_rows, 4))
    rows[:, live] = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0][:n_rows]
    found = _complement(rows, live)
    np.testing.assert_allclose(found.T @ found, np.eye(4 - n_rows), atol=1e-14)
    np.testing.assert_allclose(rows @ found, 0.0, atol=1e-14)
    np.testing.assert_array_equal(found[:, 0], [0.0, 1.0, 0.0, 0.0])


def test_rows_that_span_all_columns_leave_no_complement():
    assert _complement(np.eye(3), np.ones(3, dtype=bool)).shape == (3, 0)
