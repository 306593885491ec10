"""A labeling is the cheapest label of its set, and `curve` is its derivative."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from semisquares.core import labelings
from semisquares.core.labelings import (
    ArgmaxLabels,
    DialLabels,
    FreeLabels,
    HardLabels,
    SimplexDialLabels,
    SimplexLabels,
    SoftLabels,
    dial,
    hard,
    project_simplex,
    soft,
    soft_labels,
)
from support.problems import make_problem, project_by_sorting

Z = np.linspace(-1.7, 2.7, 89)
GRID = np.linspace(0.0, 1.0, 2001)
TAUS = (0.0, 0.1, 0.5, 0.9, 0.99)
DIALS = [DialLabels(tau) for tau in TAUS]
SIMPLEX_DIALS = [SimplexDialLabels(tau) for tau in TAUS]


def simplex_grid(n):
    """All points of the simplex of three classes with coordinates in steps of 1/n."""
    i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1))
    u = np.stack((i, j, n - i - j), axis=-1).reshape(-1, 3)
    return u[u[:, 2] >= 0] / n


def random_z(n_classes, n=200, seed=0):
    rng = np.random.default_rng(seed)
    return 10.0 ** rng.uniform(-2, 1, (n, 1)) * rng.normal(size=(n, n_classes))


# -- impute ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("labeling", [SoftLabels(), HardLabels(), *DIALS], ids=repr)
def test_no_label_between_0_and_1_costs_less_than_the_imputed_one(labeling):
    costs = (Z[:, None] - GRID) ** 2 + labeling.penalty(GRID)
    u = labeling.impute(Z)
    assert np.all((u >= 0.0) & (u <= 1.0))
    assert np.all((Z - u) ** 2 + labeling.penalty(u) <= costs.min(axis=1) + 1e-14)


@pytest.mark.parametrize("labeling", [SimplexLabels(), ArgmaxLabels(), *SIMPLEX_DIALS], ids=repr)
def test_no_label_on_the_simplex_costs_less_than_the_imputed_one(labeling):
    z, grid = random_z(3), simplex_grid(60)
    costs = ((z[:, None] - grid) ** 2).sum(axis=-1) + labeling.penalty(grid)
    u = labeling.impute(z)
    np.testing.assert_allclose(u.sum(axis=1), 1.0, atol=1e-13)
    assert u.min() >= 0.0
    assert np.all(((z - u) ** 2).sum(axis=1) + labeling.penalty(u) <= costs.min(axis=1) + 1e-12)


def test_a_free_label_is_its_decision_value_and_costs_nothing():
    assert np.array_equal(FreeLabels().impute(Z), Z)
    assert not FreeLabels().penalty(Z).any()


def test_a_row_is_class_1_when_its_decision_value_is_greater_than_a_half():
    z = np.array([0.5, np.nextafter(0.5, 1.0), np.nextafter(0.5, 0.0)])
    assert HardLabels().impute(z).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_dial_runs_from_soft_to_hard(n_classes):
    z = random_z(n_classes) if n_classes > 2 else Z[np.abs(Z - 0.5) > 0.01]
    ahead = z - 1e-3 * z.argsort(axis=-1).argsort(axis=-1) if n_classes > 2 else z
    np.testing.assert_allclose(
        dial(n_classes, 0.0).impute(z), soft(n_classes).impute(z), atol=1e-15
    )
    np.testing.assert_array_equal(
        dial(n_classes, 1.0 - 1e-9).impute(ahead), hard(n_classes).impute(ahead)
    )
    assert dial(n_classes, 1.0) == hard(n_classes)


def test_argmax_is_the_one_hot_row_of_the_largest_value():
    z = random_z(4)
    np.testing.assert_array_equal(ArgmaxLabels().impute(z), np.eye(4)[z.argmax(axis=1)])


def test_labels_of_many_runs_are_those_of_each_run():
    z = random_z(3, n=120).reshape(30, 4, 3)
    for labeling in (SimplexLabels(), ArgmaxLabels(), SimplexDialLabels(0.4)):
        each = np.stack([labeling.impute(z[:, k]) for k in range(4)], axis=1)
        np.testing.assert_allclose(labeling.impute(z), each, atol=1e-15)


def test_the_penalty_of_many_runs_is_that_of_each_run():
    u = np.random.default_rng(4).dirichlet(np.ones(3), size=(30, 4))
    for labeling in (SimplexLabels(), ArgmaxLabels(), SimplexDialLabels(0.4)):
        each = np.stack([labeling.penalty(u[:, k]) for k in range(4)], axis=1)
        np.testing.assert_allclose(labeling.penalty(u), each, atol=1e-15)


# -- the derivative --------------------------------------------------------------------------------


@pytest.mark.parametrize("labeling", [SoftLabels(), FreeLabels()], ids=repr)
def test_curve_is_the_derivative_of_what_the_label_leaves_over(labeling):
    h = 1e-6
    z = Z[(np.abs(Z) > 2 * h) & (np.abs(Z - 1.0) > 2 * h)]
    above, below = z + h, z - h
    left_over = (above - labeling.impute(above)) - (below - labeling.impute(below))
    slope = left_over / (2 * h)
    np.testing.assert_allclose(labeling.curve(labeling.piece(z), np.ones(len(z))), slope, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_curve_is_the_derivative_of_what_the_label_on_the_simplex_leaves_over(n_classes):
    labeling, h = SimplexLabels(), 1e-7
    z = random_z(n_classes)
    v = np.random.default_rng(1).normal(size=z.shape)
    steady = (labeling.piece(z + h * v) == labeling.piece(z - h * v)).all(axis=1)
    slope = v - (labeling.impute(z + h * v) - labeling.impute(z - h * v)) / (2 * h)
    curved = labeling.curve(labeling.piece(z), v)
    assert steady.sum() > 190
    np.testing.assert_allclose(curved[steady], slope[steady], atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_curvature_of_every_row_is_a_projection(n_classes):
    labeling, z = SimplexLabels(), random_z(n_classes)
    units = [np.tile(unit, (len(z), 1)) for unit in np.eye(n_classes)]
    C = np.stack([labeling.curve(labeling.piece(z), unit) for unit in units], axis=1)
    np.testing.assert_allclose(C, C.transpose(0, 2, 1), atol=1e-15)
    np.testing.assert_allclose(C @ C, C, atol=1e-14)
    assert np.linalg.eigvalsh(C).min() > -1e-14


@pytest.mark.parametrize("intercept", [True, False])
def test_the_product_with_the_curvature_of_all_rows_is_that_of_the_explicit_matrix(intercept):
    problem = make_problem(3, n_classes=3, weighted=True, unlabeled_weight=0.4, intercept=intercept)
    rows, (w, V) = (
        problem.objective().rows,
        np.random.default_rng(0).normal(size=(2, 3 + intercept, 3)),
    )
    piece = rows.sweep(w, SimplexLabels()).piece
    H = np.zeros((V.size, V.size))
    for x, a, support in zip(problem.design, problem.weight, piece, strict=True):
        shared = np.outer(support, support) / max(support.sum(), 1)
        H += a * np.kron(np.outer(x, x), np.diag(1.0 - support) + shared)
    product = rows.curvature_product(V, piece, SimplexLabels())
    np.testing.assert_allclose(product.ravel(), H @ V.ravel(), rtol=1e-10, atol=1e-11)


def test_a_known_label_has_full_curvature():
    v = random_z(3, n=5)
    pinned = np.full(v.shape, bool(SimplexLabels.pinned))
    np.testing.assert_array_equal(SimplexLabels().curve(pinned, v), v)
    np.testing.assert_array_equal(
        SoftLabels().curve(np.full(5, SoftLabels.pinned), v[:, 0]), v[:, 0]
    )


def test_the_pieces_tell_the_sides_of_the_interval():
    z = np.array([-0.1, 0.0, 0.5, 1.0, 1.1])
    assert SoftLabels().piece(z).tolist() == [-1, 0, 0, 0, 1]


def test_the_pieces_change_at_the_borders_and_nowhere_else():
    labeling, inside = SoftLabels(), np.linspace(-1.0, 2.0, 3001)
    found = labeling.piece(inside)
    changes = np.flatnonzero(np.diff(found))
    assert len(changes) == len(labeling.borders)
    for border, sides in labeling.borders.items():
        around = np.array([border - 1e-9, border + 1e-9])
        assert tuple(labeling.piece(around)) == sides


# -- the support function --------------------------------------------------------------------------


def test_support_is_the_largest_product_with_a_label():
    theta = random_z(3)
    np.testing.assert_allclose(
        SoftLabels().support(theta[:, 0]), (theta[:, :1] * GRID).max(axis=1), atol=1e-15
    )
    np.testing.assert_allclose(
        SimplexLabels().support(theta), (theta @ simplex_grid(20).T).max(axis=1), atol=1e-15
    )
    assert FreeLabels().support(np.array([0.0, 1e-9, -3.0])).tolist() == [0.0, np.inf, np.inf]


# -- the projection --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 50])
def test_the_projection_is_the_one_found_by_sorting(n_classes):
    z = random_z(n_classes, n=500)
    np.testing.assert_allclose(project_simplex(z), project_by_sorting(z), atol=1e-13)


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 4), st.integers(2, 50)),
        elements=st.sampled_from([0.0, 1.0, -1.0, 0.5, 1 / 3, 1e-20, 1e20, -1e20, 1e8])
        | st.floats(-1e20, 1e20),
    )
)
def test_the_projection_of_anything_is_on_the_simplex_and_nearest(z):
    u = project_simplex(z)
    assert u.min() >= 0.0
    np.testing.assert_allclose(u.sum(axis=1), 1.0, atol=1e-12)
    # the nearest point: z - u is largest, and the same, wherever u is positive
    left = (z - z.max(axis=1, keepdims=True)) - u
    top = np.where(u > 0.0, left, -np.inf).max(axis=1, keepdims=True)
    assert np.all(left <= top + 1e-12)
    assert np.all(np.where(u > 0.0, top - left, 0.0) <= 1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 50])
@pytest.mark.parametrize("size", [0.0, 1.0, 1e20, -1e20])
def test_ties_share_the_label_evenly(n_classes, size):
    u = project_simplex(np.full((2, n_classes), size))
    np.testing.assert_allclose(u, 1.0 / n_classes, rtol=1e-14)


def test_two_classes_that_sum_to_one_are_clipped():
    u = project_simplex(np.stack((1.0 - Z, Z), axis=1))
    np.testing.assert_allclose(u[:, 1], SoftLabels().impute(Z), atol=1e-15)


def random_supports(n, n_classes, seed=0):
    return np.asfortranarray(np.random.default_rng(seed).random((n, n_classes)) < 0.5)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 150])
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_wrong_predictions_of_supports_change_no_residual(n_classes, share):
    """Few wrong ones are corrected apart from the other rows, many together with them."""
    z = random_z(n_classes, n=400)
    u = project_by_sorting(z)
    predicted = u > 0.0
    wrong = np.random.default_rng(1).random(400) < share
    predicted[wrong] = random_supports(400, n_classes)[wrong]
    predicted[~predicted.any(axis=1), 0] = True
    residual, piece = SimplexLabels().residual(z, predicted)
    np.testing.assert_allclose(residual, z - u, atol=1e-13)
    np.testing.assert_array_equal(piece, u > 0.0)


def test_the_residuals_of_a_support_are_equal_to_the_last_bit_and_the_largest():
    """This is what makes them a dual point."""
    z = random_z(10, n=400)
    residual, piece = SimplexLabels().residual(z)
    top = np.where(piece, residual, np.inf).min(axis=1)
    assert np.array_equal(np.where(piece, residual, -np.inf).max(axis=1), top)
    assert np.all(residual <= top[:, None])


def test_a_row_without_a_predicted_support_keeps_its_decision_values():
    z, predicted = random_z(3), np.ones((200, 3), dtype=bool)
    predicted[::2] = False
    residual, piece = SimplexLabels().residual(z, predicted)
    np.testing.assert_array_equal(residual[::2], z[::2])
    assert not piece[::2].any()
    np.testing.assert_allclose(residual[1::2], (z - project_by_sorting(z))[1::2], atol=1e-13)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e17, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([1e17, 1e17, -1e17], [0.5, 0.5, 0.0]),
        ([1e300, 1e300, 1e300], [1 / 3, 1 / 3, 1 / 3]),
        ([-1e17, -1e17 - 64.0, -2e17], [1.0, 0.0, 0.0]),
    ],
)
@pytest.mark.parametrize("n_others", [0, 20])
def test_decision_values_from_which_one_can_not_be_subtracted_have_labels(
    values, expected, n_others
):
    z = np.vstack(([values], random_z(3, n=200)[:n_others]))
    residual, piece = SimplexLabels().residual(z)
    assert piece[0].tolist() == [share > 0.0 for share in expected]
    top = residual[0][piece[0]]
    assert (top == top[0]).all()
    assert top[0] == pytest.approx(values[0])
    assert (residual[0] <= top[0]).all()
    again, same = SimplexLabels().residual(z, piece)
    np.testing.assert_array_equal(again, residual)
    np.testing.assert_array_equal(same, piece)
    np.testing.assert_allclose(soft_labels(z, piece)[0], expected, rtol=1e-15)
    np.testing.assert_allclose(soft_labels(z)[0], expected, rtol=1e-15)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shift", [0.0, 3.0, 1e4])
def test_labels_with_known_supports_are_the_projections(shift, order):
    z = np.asarray(random_z(6, n=300) + shift, order=order)
    _, piece = SimplexLabels().residual(z)
    np.testing.assert_allclose(soft_labels(z, piece), project_by_sorting(z), atol=1e-11)
    assert np.abs(soft_labels(z, piece).sum(axis=1) - 1.0).max() < 1e-14


def test_a_row_without_a_support_gets_no_label():
    z = random_z(4, n=20)
    _, piece = SimplexLabels().residual(z)
    piece[3] = False
    labels = soft_labels(z, piece)
    assert not labels[3].any()
    np.testing.assert_allclose(np.delete(labels.sum(axis=1), 3), 1.0)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_largest_class_is_the_first_of_the_largest(order, monkeypatch):
    monkeypatch.setattr(labelings, "CACHED_VALUES", 12)
    values = np.asarray(np.random.default_rng(0).integers(4, size=(50, 5)), order=order)
    np.testing.assert_array_equal(labelings.largest_class(values), values.argmax(axis=1))


def test_in_single_precision_this_happens_to_smaller_values():
    z = np.array([[3e7, 0.0, 0.0], [0.2, 0.3, 0.5]], dtype=np.float32)
    assert SimplexLabels().residual(z)[1].tolist() == [[True, False, False], [True, True, True]]
    tied = np.full((2, 120), 1e4, dtype=np.float32)
    assert SimplexLabels().residual(tied)[1].any(axis=1).all()


def test_a_value_that_is_not_finite_leaves_a_residual_that_is_not():
    z = np.array([[np.nan, 0.0, 1.0], [np.inf, 0.0, 1.0], [0.2, 0.3, 0.5]])
    with np.errstate(invalid="ignore"):
        residual, _ = SimplexLabels().residual(z)
    assert np.isfinite(residual).all(axis=1).tolist() == [False, False, True]


def test_single_precision_stays_single():
    z = random_z(5).astype(np.float32)
    residual, _ = SimplexLabels().residual(z, random_supports(200, 5))
    assert residual.dtype == SimplexLabels().curve(z > 0.0, z).dtype == np.float32


@pytest.mark.parametrize("n_classes", [3, 10])
def test_soft_labels_are_the_same_with_and_without_known_pieces(n_classes):
    z = random_z(n_classes)
    piece = SimplexLabels().piece(z)
    np.testing.assert_allclose(soft_labels(z, piece), project_by_sorting(z), atol=1e-13)
    np.testing.assert_allclose(soft_labels(z), project_by_sorting(z), atol=1e-13)


@pytest.mark.parametrize(
    "z",
    [[1 / 3, -2 / 3], [-2 / 3, 5 / 6, 0.5, 7 / 6, -1 / 12], [0.05, 0.05, -1 / 30, 0.15, 0.3, 0.6]],
)
def test_a_class_on_the_border_of_its_support_to_rounding_ends_the_search(z):
    """Rounding may put the threshold above and below its value in turn."""
    z = np.array([z])
    residual, piece = SimplexLabels().residual(z)
    np.testing.assert_allclose(residual, z - project_by_sorting(z), atol=1e-15)
    assert piece.any()
