"""Where weights are not unique, the least ones; where numbers are bad, no lost digits.

With alpha = 0 the result is the limit of a vanishing ridge. All minimisers of J share their
residuals, so the one of least norm solves a second quadratic program: least ‖features‖², the
intercept free, with the decision values of labeled and outside rows as they are and all others in
[0, 1]. Both stages are left to solvers that know nothing of ours.
"""

from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import qpsolvers
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import null_space
from scipy.optimize import lsq_linear
from sklearn.linear_model import RidgeClassifier

from semisquares import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from semisquares.core.curvature import full_curvature
from semisquares.core.labelings import project_simplex, soft
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows, to_own_columns
from semisquares.core.solvers import (
    Status,
    best_constant,
    fit_labeled,
    minimise,
    with_rounded_intercept,
)
from semisquares.core.solvers.least_norm import _least_norm_of_many, vanishing_ridge
from semisquares.core.solvers.minimise import in_even_columns
from support.allowed_warnings import copies_allowed, early_stop_allowed
from support.problems import SHORT, make_problem
from support.watching import watch

solver = import_module("semisquares.core.solvers.least_norm")
minimiser = import_module("semisquares.core.solvers.minimise")
CLASSIFIERS = [LeastSquaresClassifier, SoftLabelClassifier, HardLabelClassifier]
START_AT_SOFT = {HardLabelClassifier: {"init": "soft"}}
classifiers = pytest.mark.parametrize("classifier", CLASSIFIERS)
tables = pytest.mark.parametrize("table", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
intercepts = pytest.mark.parametrize("fit_intercept", [True, False])
two_or_more = pytest.mark.parametrize("n_classes", [2, 3])
seeds = pytest.mark.parametrize("seed", range(20))


def blobs(seed, n_labeled, n_unlabeled, d, n_classes=2):
    """Return X and y: one Gaussian cloud for each class, in random order."""
    rng = np.random.default_rng(seed)
    n = n_labeled + n_unlabeled
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + 2.5 * rng.normal(size=(n_classes, d))[y] / np.sqrt(d)
    y[n_labeled:] = -1
    order = rng.permutation(n)
    return X[order], y[order]


def whole(seed, n_labeled, n_unlabeled, d):
    """Return X and y with small whole numbers: copies, ties and rows that bind exactly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n_labeled + n_unlabeled, d)).astype(float)
    return X, np.append(np.arange(n_labeled) % 2, np.full(n_unlabeled, -1))


def weights(model):
    """Return w as in the paper, a row for each class, the intercept last."""
    return np.hstack((model.coef_, model.intercept_[:, None] + 0.5))


def with_ones(X, fit_intercept=True):
    return np.hstack((X, np.ones((len(X), int(fit_intercept)))))


def box_least_squares(X, y, alpha=0.0, fit_intercept=True):
    """Minimise J_l over (w, u), u in [0, 1], by scipy: return w and J."""
    A = with_ones(X, fit_intercept)
    (n, p), d = A.shape, X.shape[1]
    labels = -np.eye(n)[:, y == -1]
    ridge = np.sqrt(alpha) * np.eye(d, p + labels.shape[1])
    target = np.concatenate((np.where(y == -1, 0.0, y), np.zeros(d)))
    low = np.repeat([-np.inf, 0.0], [p, labels.shape[1]])
    high = np.repeat([np.inf, 1.0], [p, labels.shape[1]])
    system = np.vstack((np.hstack((A, labels)), ridge))
    found = lsq_linear(system, target, (low, high), method="bvls", tol=1e-16, max_iter=2000)
    return found.x[:p], 2.0 * found.cost


def least_norm(equal, right, above, least, counted):
    """Minimise Σ counted w² with ``equal w = right`` and ``above w ≥ least``, by quadprog."""
    w = np.linalg.lstsq(equal, right, rcond=1e-12)[0]
    free = null_space(equal, rcond=1e-12)
    if not free.shape[1]:
        return w
    half = counted[:, None] * free
    # rows bind at exactly 0 or 1: without some room, rounding may leave no feasible point at all
    room = above @ w - least + 1e-10
    move = qpsolvers.solve_qp(free.T @ half, half.T @ w, -above @ free, room, solver="quadprog")
    return w + free @ move


def two_stages(X, y, fit_intercept=True):
    """Return the soft weights of least norm, and J, two classes."""
    w, value = box_least_squares(X, y, fit_intercept=fit_intercept)
    A = with_ones(X, fit_intercept)
    z = A @ w
    outside = np.where(y == -1, np.maximum(z - 1, -z) > 1e-9, True)
    inside = A[~outside]
    above, least = np.vstack((inside, -inside)), np.repeat([0.0, -1.0], len(inside))
    counted = np.repeat([1.0, 0.0], [X.shape[1], int(fit_intercept)])
    return least_norm(A[outside], z[outside], above, least, counted), value


def second_stage_of_many(X, y, W):
    """Return the weights of least norm with the residuals that W (K, p) has, K classes."""
    A = with_ones(X)
    K, p = W.shape
    z = A @ W.T
    residual = z - project_simplex(z)
    known = (y != -1)[:, None]
    shared = (residual >= residual.max(axis=1, keepdims=True) - 1e-9) & ~known
    # a label is 0 off the face that the residual points away from, and sums to 1 on it
    value = np.where(known, z, residual)
    alone = [np.kron(np.eye(K)[k], A[i]) for i, k in np.argwhere(~shared)]
    sums = [np.kron(shared[i].astype(float), A[i]) for i in np.flatnonzero(~known)]
    total = 1.0 + (residual * shared).sum(axis=1)[~known[:, 0]]
    above = [np.kron(np.eye(K)[k], A[i]) for i, k in np.argwhere(shared)]
    counted = np.tile(np.append(np.ones(p - 1), 0.0), K)
    found = least_norm(
        np.array(alone + sums),
        np.concatenate((value[~shared], total)),
        np.array(above),
        residual[shared],
        counted,
    )
    return found.reshape(K, p)


def half_gradient_of_many(X, y, W):
    """Return half the gradient of J without a ridge at W (K, p)."""
    A = with_ones(X)
    z = A @ W.T
    target = np.where((y == -1)[:, None], project_simplex(z), np.eye(len(W))[y])
    return (z - target).T @ A


def quadratic_program(X, y, n_classes):
    """Return the least J over weights and labels on the simplex, by an interior point method."""
    A = with_ones(X)
    K, p, free = n_classes, A.shape[1], np.flatnonzero(y == -1)
    labels = np.kron(np.eye(K), np.eye(len(y))[:, free])
    system = np.hstack((np.kron(np.eye(K), A), -labels))
    target = np.where((y == -1)[:, None], 0.0, np.eye(K)[y]).T.ravel()
    sums = np.hstack((np.zeros((len(free), K * p)), np.tile(np.eye(len(free)), K)))
    low = np.repeat([-1e4, 0.0], [K * p, K * len(free)])
    found = qpsolvers.solve_qp(
        sparse.csc_array(system.T @ system),
        -system.T @ target,
        A=sparse.csc_array(sums),
        b=np.ones(len(free)),
        lb=low,
        solver="clarabel",
    )
    return float(((system @ found - target) ** 2).sum())


def assert_weights(model, w, tolerance=1e-7):
    ours = weights(model)
    w = np.atleast_2d(w)
    assert_allclose(ours[:, : w.shape[1]], w, rtol=0, atol=tolerance * max(1e-3, np.abs(w).max()))


# -- the minimiser of least norm ------------------------------------------------------------------


@intercepts
@seeds
def test_with_fewer_labels_than_features_the_weights_are_of_least_norm(seed, fit_intercept):
    X, y = blobs(seed, 3 + seed % 4, 12 + seed, 8 + seed % 5)
    w, value = two_stages(X, y, fit_intercept)
    model = SoftLabelClassifier(0, fit_intercept=fit_intercept).fit(X, y)
    assert model.objective_ == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert_weights(model, w)


@intercepts
@seeds
def test_with_fewer_rows_than_features_the_weights_are_of_least_norm(seed, fit_intercept):
    X, y = blobs(seed, 4, 3 + seed % 6, 14 + seed % 3)
    w, value = two_stages(X, y, fit_intercept)
    model = SoftLabelClassifier(0, fit_intercept=fit_intercept).fit(X, y)
    assert model.objective_ == pytest.approx(value, abs=1e-12)
    assert_weights(model, w)


@copies_allowed
@seeds
def test_with_collinear_columns_the_weights_are_of_least_norm(seed):
    X, y = blobs(seed, 12, 20, 3)
    mix = np.random.default_rng(seed).normal(size=(3, 2))
    X = np.hstack((X, X @ mix))
    w, value = two_stages(X, y)
    model = SoftLabelClassifier(0).fit(X, y)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert_weights(model, w)


@copies_allowed
@intercepts
@seeds
def test_on_whole_numbers_the_weights_are_of_least_norm(seed, fit_intercept):
    X, y = whole(seed, 2 + seed % 4, 10, 3 + seed % 4)
    w, value = two_stages(X, y, fit_intercept)
    model = SoftLabelClassifier(0, fit_intercept=fit_intercept).fit(X, y)
    assert model.objective_ == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert_weights(model, w)


@seeds
def test_a_column_that_is_constant_on_the_labeled_rows_gets_its_least_weight(seed):
    X, y = blobs(seed, 10, 15, 3)
    X[y != -1, 1] = 0.7
    w, value = two_stages(X, y)
    model = SoftLabelClassifier(0).fit(X, y)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert_weights(model, w)


@tables
@pytest.mark.parametrize("place", [0.0, 3.0])
def test_a_column_that_is_constant_on_the_labeled_rows_is_not_taken_for_settled(table, place):
    X, y = np.array([[0.0], [0.0], [10.0], [-10.0]]) + place, [0, 1, -1, -1]
    model = SoftLabelClassifier(0, init=([[1.0]], [-place])).fit(table(X), y)
    assert model.objective_ == pytest.approx(0.5)  # of the start it is 181
    assert_allclose(model.coef_, 0.0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_with_few_labels_a_badly_scaled_column_leaves_J_as_it_was(seed, scale):
    X, y = blobs(seed, 5, 25, 8)
    well = SoftLabelClassifier(0).fit(X, y)
    badly = SoftLabelClassifier(0).fit(X * np.append(scale, np.ones(7)), y)
    assert badly.objective_ == pytest.approx(well.objective_, rel=1e-9, abs=1e-12)
    assert badly.certificate_ < 1e-12


@pytest.mark.parametrize("scale", [1e-2, 1e2])
@pytest.mark.parametrize("seed", range(4))
def test_the_norm_is_least_in_the_units_of_the_user(seed, scale):
    X, y = blobs(seed, 4, 8, 9)
    X = X * np.append(scale, np.ones(8))
    assert_weights(SoftLabelClassifier(0).fit(X, y), two_stages(X, y)[0], 1e-6)


@pytest.mark.parametrize("seed", [8, 80, 374])
def test_the_norm_is_least_where_a_ridge_holds_small_columns_down(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 15))
    n_labeled, n_unlabeled = int(rng.integers(2, max(3, d + 2))), int(rng.integers(3, 60))
    n = n_labeled + n_unlabeled
    X, y = rng.standard_normal((n, d)), np.arange(n) % 2
    X += rng.standard_normal(d) * y[:, None] * rng.choice([0.5, 2])
    X *= 10.0 ** rng.uniform(-3, 3, size=d)
    y[n_labeled:] = -1
    fit_intercept = bool(rng.integers(2))
    model = SoftLabelClassifier(0, fit_intercept=fit_intercept).fit(X, y)
    least = two_stages(X, y, fit_intercept)[0][:d]
    assert np.linalg.norm(model.coef_) == pytest.approx(np.linalg.norm(least), rel=1e-6)


@pytest.mark.parametrize("start", ["supervised", "random"])
@pytest.mark.parametrize("seed", range(5))
def test_the_weights_of_least_norm_do_not_depend_on_the_start(seed, start):
    X, y = blobs(seed, 4, 20, 9)
    model = SoftLabelClassifier(0, init=start, random_state=seed).fit(X, y)
    assert_weights(model, two_stages(X, y)[0])


@pytest.mark.parametrize("seed", range(8))
def test_three_classes_have_the_weights_of_least_norm(seed):
    X, y = blobs(seed, 4 + seed % 3, 12, 6 + seed % 3, n_classes=3)
    model = SoftLabelClassifier(0).fit(X, y)
    W = weights(model)
    assert_allclose(half_gradient_of_many(X, y, W), 0.0, atol=1e-8)
    assert model.objective_ == pytest.approx(quadratic_program(X, y, 3), abs=1e-6)
    assert_weights(model, second_stage_of_many(X, y, W), 1e-6)


@intercepts
@pytest.mark.parametrize("seed", range(5))
def test_supervised_weights_are_of_least_norm(seed, fit_intercept):
    X, y = blobs(seed, 5, 0, 9)
    A, target = (X - X.mean(axis=0), y - y.mean()) if fit_intercept else (X, y)
    model = LeastSquaresClassifier(0, fit_intercept=fit_intercept).fit(X, y)
    assert_allclose(model.coef_[0], np.linalg.pinv(A, rcond=1e-10) @ target, rtol=0, atol=1e-12)
    assert model.objective_ == pytest.approx(0.0, abs=1e-24)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_unlabeled", [4, 30])
def test_hard_weights_are_of_least_norm_among_the_fits_of_their_labels(seed, n_unlabeled):
    X, y = blobs(seed, 4, n_unlabeled, 10)
    model = HardLabelClassifier(0).fit(X, y)
    labels = model.transduction_
    centred = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-10)
    expected = centred @ (labels - labels.mean())
    assert_allclose(model.coef_[0], expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@two_or_more
@pytest.mark.parametrize("seed", range(6))
def test_the_weights_of_least_norm_are_the_limit_of_a_vanishing_ridge(seed, n_classes):
    X, y = blobs(seed, 5, 18, 9, n_classes)
    limit = weights(SoftLabelClassifier(0).fit(X, y))
    scale = (X**2).sum() / X.shape[1]
    near = weights(SoftLabelClassifier(1e-9 * scale).fit(X, y))
    assert_allclose(near, limit, rtol=0, atol=1e-5 * np.abs(limit).max())


# -- copies of columns ----------------------------------------------------------------------------


@classifiers
@tables
def test_a_copied_column_is_named(classifier, table):
    X, y = blobs(0, 20, 40, 3)
    with pytest.warns(UserWarning, match=r"Columns 3 are combinations of other columns"):
        classifier(0).fit(table(X[:, [0, 1, 2, 1]]), y)


@classifiers
def test_a_copied_column_of_a_data_frame_is_named(classifier):
    X, y = blobs(0, 20, 40, 3)
    frame = pd.DataFrame(X, columns=["height", "width", "depth"]).assign(breadth=X[:, 1])
    with pytest.warns(UserWarning, match="'breadth'"):
        classifier(0).fit(frame, y)


@classifiers
@pytest.mark.parametrize("difference", [1e-13, 3e-12, 1e-11])
def test_a_column_that_is_dropped_for_a_copy_is_named(classifier, difference):
    X, y = blobs(0, 30, 40, 3)
    X[:, 2] = X[:, 0] + difference * X[:, 2]
    with pytest.warns(UserWarning, match="Columns 2 are combinations"):
        classifier(0).fit(X, y)


@copies_allowed
@early_stop_allowed
@pytest.mark.parametrize("classifier", [SoftLabelClassifier, HardLabelClassifier])
@pytest.mark.parametrize("weight", [1.0, 1e6])
@pytest.mark.parametrize("difference", [1e-7, 1e-9])
def test_beside_an_exact_copy_a_near_one_is_still_a_direction(classifier, difference, weight):
    x, v, q = np.random.default_rng(3).normal(size=(3, 120))
    y = np.where(np.arange(120) < 40, x + v > q, -1)
    X = np.column_stack((x, x + difference * v, q, q))
    near = classifier(0).fit(X, y, sample_weight=np.full(120, weight))
    apart = classifier(0).fit(np.column_stack((x, v, q)), y)
    assert near.objective_ / weight == pytest.approx(apart.objective_, rel=1e-4)


def test_columns_in_general_position_are_not_named_though_labels_are_few():
    X, y = blobs(0, 4, 40, 10)
    SoftLabelClassifier(0).fit(X, y)  # a warning would be an error here


def test_columns_are_not_named_where_rows_are_fewer_than_columns():
    X, y = blobs(0, 4, 5, 12)
    SoftLabelClassifier(0).fit(X, y)  # a warning would be an error here


@copies_allowed
@classifiers
@two_or_more
@tables
@pytest.mark.parametrize("seed", range(3))
def test_copies_share_the_weight_and_leave_J_as_it_was(classifier, n_classes, table, seed):
    X, y = blobs(seed, 20, 40, 3, n_classes)
    alone = classifier(0).fit(table(X), y)
    copied = classifier(0).fit(table(X[:, [0, 1, 2, 1]]), y)
    assert copied.objective_ == pytest.approx(alone.objective_, rel=1e-10)
    shared = alone.coef_[:, [0, 1, 2, 1]] * [1.0, 0.5, 1.0, 0.5]
    assert_allclose(copied.coef_, shared, rtol=0, atol=1e-8 * np.abs(shared).max())
    assert_allclose(copied.intercept_, alone.intercept_, rtol=0, atol=1e-8)


@copies_allowed
@classifiers
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_a_rescaled_copy_has_the_larger_share_where_that_makes_the_norm_least(classifier, scale):
    X, y = blobs(1, 20, 40, 3)
    alone = classifier(0).fit(X, y)
    copied = classifier(0).fit(np.column_stack((X, scale * X[:, 1])), y)
    share = np.array([1.0, scale]) / (1.0 + scale**2)
    expected = alone.coef_[0, 1] * share
    size = np.abs(expected).max()
    assert_allclose(copied.coef_[0, [1, 3]], expected, rtol=0, atol=1e-8 * size)


@copies_allowed
@classifiers
# 1e-12 leaves no digits
@early_stop_allowed
@pytest.mark.parametrize("noise", [1e-15, 1e-12, 1e-9, 1e-6])
def test_a_nearly_copied_column_leaves_weights_finite_and_J_as_small(classifier, noise):
    X, y = blobs(2, 20, 40, 3)
    rng = np.random.default_rng(0)
    near = X[:, 1] * (1 + noise * rng.normal(size=len(X)))
    model = classifier(0, **START_AT_SOFT.get(classifier, {})).fit(np.column_stack((X, near)), y)
    assert np.isfinite(model.coef_).all()
    without = classifier(0, **START_AT_SOFT.get(classifier, {})).fit(X, y)
    assert model.objective_ <= without.objective_ * (1 + 1e-9)


# -- bad numbers ----------------------------------------------------------------------------------


@classifiers
@two_or_more
@pytest.mark.parametrize("seed", range(3))
def test_badly_scaled_columns_leave_the_decisions_as_they_were(classifier, n_classes, seed):
    X, y = blobs(seed, 30, 60, 5, n_classes)
    scale = np.array([1e-6, 1e6, 1.0, 1e3, 1e-3])
    well = classifier(0).fit(X, y)
    badly = classifier(0).fit(X * scale, y)
    assert_allclose(
        badly.decision_function(X * scale), well.decision_function(X), rtol=0, atol=1e-8
    )


@classifiers
@two_or_more
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("offset", [1e6, -3e6])
def test_rows_far_from_the_origin_leave_the_decisions_as_they_were(
    classifier, n_classes, alpha, offset
):
    X, y = blobs(0, 30, 60, 5, n_classes)
    X = np.round(X * 2**20) / 2**20  # so that the offset is added without rounding
    near = classifier(alpha).fit(X, y)
    far = classifier(alpha).fit(X + offset, y)
    assert_allclose(far.coef_, near.coef_, rtol=0, atol=1e-10)
    # X + offset times coef_ alone costs digits, so the rows are decided in a centred form
    constant = far.intercept_ + offset * far.coef_.sum(axis=1)
    assert_allclose(constant, near.intercept_, rtol=0, atol=1e-8)
    assert_allclose(far.decision_function(X + offset), near.decision_function(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_badly_scaled_columns_far_from_the_origin_leave_soft_labels_as_they_were(seed):
    X, y = blobs(seed, 30, 60, 4)
    X = np.round(X * 2**20) / 2**20
    scale, offset = 2.0 ** np.array([-20, 20, 0, 5]), 2.0**10 * np.array([1.0, -1.0, 3.0, 0.0])
    well = SoftLabelClassifier(0).fit(X, y)
    badly = SoftLabelClassifier(0).fit((X + offset) * scale, y)
    assert_allclose(badly.label_distributions_, well.label_distributions_, rtol=0, atol=1e-8)
    assert badly.objective_ == pytest.approx(well.objective_, rel=1e-10)


@classifiers
@tables
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("constant", [0.0, 0.1, -3e6])
def test_a_constant_column_gets_weight_0(classifier, table, alpha, constant):
    X, y = blobs(3, 20, 40, 3)
    alone = classifier(alpha).fit(table(X), y)
    beside = np.insert(X, 1, constant, axis=1)
    model = classifier(alpha).fit(table(beside), y)
    assert_allclose(model.coef_[:, 1] * (1.0 + abs(constant)), 0.0, atol=1e-12)
    assert_allclose(model.coef_[:, [0, 2, 3]], alone.coef_, rtol=0, atol=1e-9)


@classifiers
@two_or_more
def test_a_column_of_zeros_gets_weight_0_without_an_intercept(classifier, n_classes):
    X, y = blobs(3, 20, 40, 3, n_classes)
    model = classifier(0, fit_intercept=False).fit(np.insert(X, 1, 0.0, axis=1), y)
    assert_array_equal(model.coef_[:, 1], 0.0)


# -- more columns than rows -----------------------------------------------------------------------


@intercepts
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_wide_tables_have_the_soft_weights_of_bounded_least_squares(alpha, fit_intercept, seed):
    X, y = blobs(seed, 8, 20, 50)
    w, value = box_least_squares(X, y, alpha, fit_intercept)
    model = SoftLabelClassifier(alpha, fit_intercept=fit_intercept).fit(X, y)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert_weights(model, w, 1e-8)


@classifiers
@two_or_more
@intercepts
def test_wide_tables_have_the_weights_of_the_same_rows_kept_sparse(
    classifier, n_classes, fit_intercept
):
    X, y = blobs(4, 9, 20, 50, n_classes)
    dense = classifier(1.0, fit_intercept=fit_intercept).fit(X, y)
    kept = classifier(1.0, fit_intercept=fit_intercept).fit(sparse.csr_array(X), y)
    assert_allclose(dense.coef_, kept.coef_, rtol=0, atol=1e-9)
    assert_allclose(dense.intercept_, kept.intercept_, rtol=0, atol=1e-9)


@two_or_more
def test_wide_tables_have_the_supervised_weights_of_ridge(n_classes):
    X, y = blobs(5, 12, 0, 40, n_classes)
    ridge = RidgeClassifier(0.5, solver="svd").fit(X, y)
    model = LeastSquaresClassifier(0.5).fit(X, y)
    assert_allclose(2 * model.decision_function(X), ridge.decision_function(X), rtol=0, atol=1e-10)


def test_the_start_of_a_wide_table_may_be_its_own_weights():
    X, y = blobs(6, 8, 20, 50)
    first = HardLabelClassifier().fit(X, y)
    again = HardLabelClassifier(init=(first.coef_, first.intercept_)).fit(X, y)
    assert_allclose(again.coef_, first.coef_, rtol=0, atol=1e-12)
    assert again.n_iter_ == 1


# -- columns of very different sizes ---------------------------------------------------------------


def test_a_search_in_even_columns_finds_the_minimum_and_counts_all_of_its_work(monkeypatch):
    plain = make_problem(0, **SHORT["short"])
    sizes = 10.0 ** np.linspace(-12.0, 12.0, plain.X.shape[1])
    objective = replace(plain, X=plain.X * sizes).objective()
    start = replace(best_constant(objective), n_iter=1000, n_passes=5000.0)
    sweeps = watch(monkeypatch, MemoryRows, "sweep")
    found = in_even_columns(objective, start)
    assert found.value <= plain.J(plain.solution) + 1e-9
    assert found.value == pytest.approx(plain.J((found.w.T * np.append(sizes, 1.0)).T), abs=1e-9)
    assert found.n_passes == 5000.0 + len(sweeps)
    assert found.n_iter == 1000 + vanishing_ridge(*in_columns_of_size_one(objective)).n_iter


def in_columns_of_size_one(objective):
    """Return the objective with columns scaled by powers of two, and its supervised weights."""
    rows = objective.memory_rows
    scale = np.exp2(-np.round(np.log2(np.sqrt(rows.diagonal[: rows.n_features]))))
    even = replace(objective, rows=rows.written_in(DenseTable(rows.table.X * scale)))
    return even, fit_labeled(even)


def test_a_solution_that_is_not_higher_is_kept():
    problem = make_problem(0, **SHORT["short"])
    objective = problem.objective()
    found = minimise(objective, fit_labeled(objective))
    lower = replace(found, value=-1.0)
    assert in_even_columns(objective, lower) is lower


@pytest.mark.parametrize("name", list(SHORT))
def test_on_the_right_pieces_one_step_from_anywhere_is_the_minimiser_of_least_norm(name):
    problem = make_problem(0, n_classes=3, **SHORT[name])
    objective, best = problem.objective(), problem.solution
    away = best + np.random.default_rng(0).normal(size=best.shape)
    sweep = replace(objective.sweep(away), piece=objective.sweep(best).piece)
    found = _least_norm_of_many(objective, sweep)
    assert problem.J(found) <= problem.J(best) + 1e-9
    d = problem.X.shape[1]
    assert np.linalg.norm(found[:d]) <= np.linalg.norm(best[:d]) + 1e-6


def test_a_search_in_even_columns_leaves_columns_of_zeros_as_they_are():
    plain = make_problem(0, **SHORT["short"])
    problem = replace(plain, X=np.insert(plain.X, 3, 0.0, axis=1))
    found = in_even_columns(problem.objective(), best_constant(problem.objective()))
    assert found.value <= plain.J(plain.solution) + 1e-9


@pytest.mark.parametrize(("room", "searched"), [(0, True), (-1, False)])
def test_even_columns_are_made_only_where_they_fit(room, searched, monkeypatch):
    problem = make_problem(0, **SHORT["short"])
    objective = problem.objective()
    monkeypatch.setattr(minimiser, "MOST_COPIED", problem.X.size + room)
    start = best_constant(objective)
    assert (in_even_columns(objective, start) is not start) == searched


def test_of_all_vanishing_ridges_the_lowest_J_is_kept(monkeypatch):
    problem = make_problem(0, **SHORT["short"])
    objective = problem.objective()
    away = iter([1.0, 0.1, 0.5, *[2.0] * 30])
    values = []

    def end(objective, sweep):
        there = objective.sweep(sweep.w + next(away))
        values.append(objective.value(there))
        return there

    monkeypatch.setattr(solver, "_least_norm_end", end)
    found = vanishing_ridge(objective, fit_labeled(objective))
    assert found.value == min(values) == values[1]
    assert found.status is Status.ROUNDING


def test_the_size_of_a_vanishing_ridge_is_the_spread_of_the_columns():
    plain = make_problem(0, weighted=True)
    problem = replace(plain, X=plain.X + np.array([30.0, -20.0, 10.0]))
    a, X = problem.weight, problem.X
    spread = a @ (X - a @ X / a.sum()) ** 2
    assert solver._mean_square(problem.objective()) == pytest.approx(spread.mean())


def test_weights_of_a_small_J_are_not_taken_for_a_minimum():
    plain = make_problem(0, alpha=0.0)
    problem = replace(plain, sample_weight=np.full(len(plain.y), 1e-6))
    objective = problem.objective()
    best = minimise(objective, fit_labeled(objective)).w
    assert solver._is_minimum(objective, objective.sweep(best))
    assert not solver._is_minimum(objective, objective.sweep(best + 1e-3))


@pytest.mark.parametrize(("difference", "is_open"), [(1e-7, False), (0.0, True)])
def test_labels_that_determine_weights_badly_do_not_leave_them_open(difference, is_open):
    problem = make_problem(0, alpha=0.0)
    problem.X[:, 1] = problem.X[:, 0] + difference * problem.X[:, 1]
    objective = problem.objective()
    assert objective.labeled_factor is None
    assert solver.leaves_weights_open(objective) == is_open


@pytest.mark.parametrize("intercept", [True, False])
def test_copies_far_from_the_origin_are_found_without_qr(intercept):
    problem = make_problem(0, alpha=0.0, intercept=intercept)
    problem.X[:, 1] = problem.X[:, 0]
    problem.X[:, :] += 5.0
    assert full_curvature(problem.objective())._row_space is not None


def test_an_intercept_that_loses_nothing_noticeable_stays_as_it_is():
    plain = make_problem(0)
    objective = Objective(plain.rows(DenseTable(plain.X, np.full(3, 0.1))), soft(2), 1.0)
    found = replace(best_constant(objective), w=np.array([0.3, 0.7, 0.9, 0.1]))
    assert with_rounded_intercept(objective, found) is found


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_an_intercept_far_from_the_origin_is_the_rounded_one(size):
    plain = make_problem(0)
    problem = replace(plain, sample_weight=np.full(len(plain.y), size))
    shift, w = np.array([1e9, 0.0, 0.0]), np.array([0.3, 0.0, 0.0, 0.1])
    objective = Objective(problem.rows(DenseTable(plain.X, shift)), soft(2), 1.0)
    found = with_rounded_intercept(objective, replace(best_constant(objective), w=w))
    rounded = Fraction(to_own_columns(w, shift)[-1] - 0.5)
    expected = rounded + Fraction(1, 2) + Fraction(1e9) * Fraction(0.3)
    assert abs(expected - Fraction(0.1)) > 1e-9
    assert found.w[-1] == pytest.approx(float(expected), rel=1e-12)
    assert found.value == objective.value(objective.sweep(found.w))
