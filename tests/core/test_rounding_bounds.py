"""The rounding errors that a certificate allows for are those of its formulas.

Rounding errors are far below what a table shows, so they are made visible: the unit roundoff is
patched to 2⁻²⁰, and the expected bounds are written out with numbers that can be checked by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

from semisquares.core import certificate
from semisquares.core.certificate import _DualPoint, _gamma, _Inverse, _Rounding
from semisquares.core.labelings import soft
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows

U = 2.0**-20
X = np.array([[1.0, 0.0], [2.0, 6.0], [2.0, 0.0], [4.0, 8.0]])
NORMS = np.array([5.0, 10.0])  # of the columns of X
W = np.array([3.0, -1.0, -1.0])  # decision values 2, -1, 5, 3
ALPHA = 0.5
SHIFT = np.array([10.0, 4.0])


@pytest.fixture(autouse=True)
def visible(monkeypatch):
    monkeypatch.setattr(certificate, "UNIT", U)


def close(value):
    return pytest.approx(value, rel=1e-8)


def gamma(n):
    return n * U / (1.0 - n * U)


def objective_of(*, y=(0.0, 1.0), intercept=True, shift=None, repeated=4):
    """The first two rows are labeled; the rows of X are repeated up to a number of them."""
    y = np.array(y)
    rows = X[np.arange(repeated) % 4]
    table = DenseTable(rows if shift is None else rows + shift, shift)
    rows = MemoryRows(table, np.arange(2), y, labeled_weight=np.ones(2), intercept=intercept)
    return Objective(rows, soft(2 if y.ndim == 1 else y.shape[1]), ALPHA)


def three_classes(**settings):
    return objective_of(y=np.eye(3)[:2], **settings)


def dual_point(objective, w, norms=NORMS):
    return _DualPoint(objective, objective.sweep(w), norms)


# -- decision values and J -------------------------------------------------------------------------


def test_gamma_is_the_relative_error_of_n_operations_and_infinite_for_too_many():
    assert _gamma(1000) == close(1000 * U / (1.0 - 1000 * U))
    assert _gamma(0.5 / U - 1.0) == close((0.5 - U) / (0.5 + U))
    assert _gamma(0.5 / U) == np.inf


def test_decision_values_are_as_large_as_their_terms():
    objective = objective_of()
    each = _Rounding(objective, W, 9.0, NORMS)
    assert each.sum_error == close(gamma(4 + 16))
    assert each.size == close(3.0 * (1.0 + gamma(20)))
    assert each.total == 2.0
    assert each.reach == close(5.0 * 3.0 + 10.0 * 1.0 + 2.0 * 1.0)
    together = _Rounding(objective, W, 9.0, 11.0)
    assert together.reach == close(11.0 * np.sqrt(10.0) + 2.0 * 1.0)


@pytest.mark.parametrize(("shift", "far"), [(None, 0.0), (SHIFT, 10.0 * 3.0 + 4.0 * 1.0)])
def test_decision_values_move_by_the_rounding_of_their_terms_and_of_the_intercept(shift, far):
    found = _Rounding(objective_of(shift=shift), W, 9.0, NORMS)
    terms = gamma(2 + 8) * 27.0 + 8.0 * U * 3.0 * (1.0 + gamma(20))
    assert found.moved == close(terms + gamma(10) * 2.0 * (far + 1.0 + 1.0))


def test_without_an_intercept_only_the_terms_are_rounded():
    found = _Rounding(objective_of(intercept=False), W[:2], 9.0, NORMS)
    assert found.moved == close(gamma(10) * 25.0 + 8.0 * U * 3.0 * (1.0 + gamma(20)))


def test_labels_on_the_simplex_are_rounded_as_well():
    w = np.outer(W, [1.0, 0.0, 0.0])
    found = _Rounding(three_classes(), w, 9.0, NORMS)
    assert found.simplex == close(4.0 * gamma(7) * np.sqrt(3.0) * (27.0 + 2.0))
    last = np.linalg.norm([2.0, 1.0, 1.0])  # |intercept| + 1 in every class
    moved = gamma(10) * 27.0 + 8.0 * U * 3.0 * (1.0 + gamma(20)) + gamma(10) * 2.0 * last
    assert found.moved == close(moved + found.simplex)


@pytest.mark.parametrize(("objective", "n_classes"), [(objective_of, 1), (three_classes, 3)])
def test_J_is_wrong_by_what_the_residuals_move_and_by_the_rounding_of_its_sum(objective, n_classes):
    found = _Rounding(objective(), np.outer(W, np.ones(n_classes)).squeeze(), 9.0, NORMS)
    moved = (2.0 * found.size + found.moved) * found.moved
    assert found.of_value(7.0) == close(moved + 2.0 * gamma(4 * n_classes + 16) * 7.0)


# -- the gradient ----------------------------------------------------------------------------------


def test_the_gradient_is_wrong_by_the_rounding_of_its_sums_and_of_the_ridge():
    point = dual_point(objective_of(), W)
    np.testing.assert_allclose(point.h.ravel(), [14.0 + 1.5, 4.0 - 0.5, 6.0])
    size = gamma(20) * np.sqrt(28.0) * (1.0 + gamma(20))
    ridge = 8.0 * U * np.array([1.5 + 15.5, 0.5 + 3.5, 0.5 + 6.0])
    np.testing.assert_allclose(point.error, size * np.array([5.0, 10.0, 2.0]) + ridge, rtol=1e-8)
    together = dual_point(objective_of(), W, norms=11.0)
    features = 11.0 * size + np.hypot(ridge[0], ridge[1])
    np.testing.assert_allclose(together.error, [features, 2.0 * size + ridge[2]], rtol=1e-8)


def test_the_gradient_of_three_classes_is_also_wrong_by_the_rounding_of_their_labels():
    w = np.outer(W, [1.0, -1.0, 0.0])
    point = dual_point(three_classes(), w)
    size = gamma(20) * point.size + 2.0 * point.simplex
    ridge = 8.0 * U * np.linalg.norm(ALPHA * np.abs(w) + np.abs(point.h), axis=1)
    np.testing.assert_allclose(point.error, size * np.array([5.0, 10.0, 2.0]) + ridge, rtol=1e-8)


@pytest.mark.parametrize(("shift", "shifted"), [(None, 0.0), (SHIFT, 4.0)])
def test_a_gradient_without_rounding_is_wrong_by_its_last_bit_and_the_shift(shift, shifted):
    sharp = dual_point(objective_of(shift=shift), W).sharpened()
    h = np.array([15.5, 3.5, 6.0])
    np.testing.assert_array_equal(sharp.h.ravel(), h)
    size = np.sqrt(28.0) * (1.0 + gamma(20)) * np.array([5.0, 10.0, 2.0])
    np.testing.assert_allclose(sharp.error, 2.0 * U * h + shifted * U * size, rtol=1e-8)


def test_a_gradient_of_three_classes_without_rounding_counts_the_shift_of_their_labels():
    point = dual_point(three_classes(shift=SHIFT), np.outer(W, [1.0, -1.0, 0.0]))
    sharp = point.sharpened()
    size = (point.reach + point.size + 2.0) * np.array([5.0, 10.0, 2.0])
    expected = 2.0 * U * np.linalg.norm(sharp.h, axis=1) + 4.0 * U * size
    np.testing.assert_allclose(sharp.error, expected, rtol=1e-8)


def test_a_large_table_is_not_summed_without_rounding(monkeypatch):
    point = dual_point(objective_of(), W)
    monkeypatch.setattr(certificate, "EXACT_VALUES", 4 * 3)
    assert point.sharpened() is not None
    monkeypatch.setattr(certificate, "EXACT_VALUES", 4 * 3 - 1)
    assert point.sharpened() is None


# -- proofs ----------------------------------------------------------------------------------------


def test_the_proof_by_the_ridge_shifts_the_residuals_of_the_labeled_rows():
    point = dual_point(objective_of(), W)
    point.error, point.moved, point.sum_error = np.zeros(3), 0.0, 0.0
    mean = np.array([1.5, 3.0])
    features = np.array([15.5, 3.5]) - mean * 6.0
    left = np.linalg.norm(features) + 8.0 * U * np.linalg.norm(mean) * 6.0
    assert point.by_the_ridge() == close(left**2 / ALPHA + 6.0**2 / 2.0)


def test_the_proof_by_the_ridge_allows_for_all_rounding():
    point = dual_point(objective_of(), W)
    point.h, point.moved = np.zeros((3, 1)), 0.25
    point.error = np.array([0.3, 0.4, 0.1])
    mean, largest = np.linalg.norm([1.5, 3.0]), np.linalg.norm(NORMS) / np.sqrt(2.0)
    left = 0.5 + mean * 0.1 + (gamma(20) * largest + 8.0 * U * mean) * 0.1
    assert point.by_the_ridge() == close((0.25 + np.sqrt(left**2 / ALPHA + 0.1**2 / 2.0)) ** 2)


def test_with_a_ridge_its_proof_is_the_first():
    point = dual_point(objective_of(), W)
    assert next(point.proofs()) == point.by_the_ridge()


def test_the_proof_by_the_ridge_without_an_intercept_takes_the_gradient_as_it_is():
    point = dual_point(objective_of(intercept=False), W[:2])
    point.h, point.moved = np.array([[3.0], [4.0]]), 0.25
    point.error = np.array([0.3, 0.4])
    assert point.by_the_ridge() == close((0.25 + 5.5 / np.sqrt(ALPHA)) ** 2)


# -- inverses --------------------------------------------------------------------------------------


def test_the_norm_of_an_inverse_counts_the_error_of_h_and_of_its_own_product():
    inverse = _Inverse(np.array([[1.0], [-1.0]]), least=0.25)
    assert inverse.norm(np.array([[1.0], [1.0]]), np.zeros(2)) == close(2.0 * 2.0 * gamma(6))
    assert inverse.norm(np.zeros((2, 1)), np.array([0.3, 0.4])) == close(0.7 / 0.5)
    assert inverse.norm(np.array([[3.0], [0.0]]), np.zeros(2)) == close(6.0 * (1.0 + gamma(6)))


def test_an_inverse_that_couples_classes_has_an_error_for_each_of_them():
    inverse = _Inverse(np.eye(4), least=1.0)
    error = np.array([0.3, 0.4])
    assert inverse.norm(np.zeros((2, 2)), error) == close(np.sqrt(2.0) * 0.5)


def test_the_inverse_of_a_gram_matrix_is_worth_less_by_the_rounding_of_its_entries():
    gram = np.diag([4.0, 15.75, 9.0])
    ridge, kept = np.array([0.0, 0.25, 0.0]), np.array([0, 1])
    found = _Inverse.of_gram(gram, ridge, kept, 1e-4)
    np.testing.assert_allclose(found.P, [[0.5, 0.0], [0.0, 0.25], [0.0, 0.0]])
    off = gamma(2 + 2) * np.sqrt(2.0) * np.sqrt(2.0)
    assert found.least == close((1.0 - off) ** 2 - 2 * (1e-4 + gamma(2 + 8)) * 2.0)


def test_the_inverse_of_a_triangle_is_worth_less_by_the_rounding_of_its_reflections():
    triangle = np.array([[2.0, 0.0, 1.0], [0.0, np.sqrt(15.75), 1.0], [0.0, 0.0, 3.0]])
    ridge, kept = np.array([0.0, 0.25, 0.0]), np.array([0, 1])
    found = _Inverse.of_triangle(triangle, ridge, kept, 3)
    np.testing.assert_allclose(np.abs(found.P), [[0.5, 0.0], [0.0, 0.25], [0.0, 0.0]], atol=1e-15)
    off = gamma(2 + 2) * 2.0 + gamma(16 * (2 * 3 + 2 * 2 + 16) * 2) * np.sqrt(2.0)
    assert found.least == close((1.0 - off) ** 2)


def test_as_many_rows_as_columns_have_an_inverse_and_fewer_have_none():
    triangle, ridge = np.array([[2.0, 1.0], [0.0, 4.0]]), np.zeros(2)
    found = _Inverse.of_triangle(triangle, ridge, np.arange(2), 2)
    np.testing.assert_allclose(found.P @ found.P.T, np.linalg.inv(triangle.T @ triangle))
    assert _Inverse.of_triangle(triangle[:1], ridge, np.arange(2), 2) is None


def test_a_ridge_makes_up_for_missing_rows():
    triangle, ridge = np.array([[2.0, 1.0]]), np.array([0.5, 0.25])
    found = _Inverse.of_triangle(triangle, ridge, np.arange(2), 1)
    curvature = triangle.T @ triangle + np.diag(ridge)
    np.testing.assert_allclose(found.P @ found.P.T, np.linalg.inv(curvature))


def test_the_rounding_of_reflections_grows_with_the_number_of_columns():
    found = _Inverse.of_triangle(np.eye(6), np.zeros(6), np.arange(6), 10)
    off = gamma(6 + 2) * 6.0 + gamma(16 * (2 * 10 + 2 * 6 + 16) * 6) * np.sqrt(6.0)
    assert found.least == close((1.0 - off) ** 2)


def test_an_inverse_of_no_columns_is_exact_and_one_worth_too_little_is_not_made():
    none = np.arange(0)
    for found in (
        _Inverse.of_gram(np.eye(2), np.zeros(2), none, 0.0),
        _Inverse.of_triangle(np.eye(2), np.zeros(2), none, 2),
    ):
        assert found.P.shape == (2, 0)
        assert found.least == 1.0
    assert _Inverse._made(np.eye(1), 0.25, np.arange(1), 1) is not None
    assert _Inverse._made(np.eye(1), np.nextafter(0.25, 0.0), np.arange(1), 1) is None


def test_the_inverse_of_all_classes_counts_every_equation_of_its_decompositions(monkeypatch):
    counts = []
    monkeypatch.setattr(_Inverse, "of_triangle", lambda *args: counts.append(args[-1]))
    w = np.outer(W, [1.0, -1.0, 0.0])
    for n_rows, n_parts in ((4, 1), (255, 1), (256, 2), (300, 2), (512, 3)):
        point = dual_point(three_classes(repeated=n_rows), w)
        point._joint_inverse()
        assert counts.pop() == (3 + 1) * (n_rows + n_parts * 9)


def test_the_inverse_of_all_classes_is_tried_up_to_a_number_of_operations(monkeypatch):
    point = dual_point(three_classes(), np.outer(W, [1.0, -1.0, 0.0]))
    monkeypatch.setattr(_Inverse, "of_triangle", lambda *args: "tried")
    for operations, found in ((4 * 9**2 * 3, "tried"), (4 * 9**2 * 3 - 1, None)):
        monkeypatch.setattr(certificate, "JOINT_WORK", operations)
        assert point._joint_inverse() == found
