"""What must hold whatever the numbers are: identities, symmetries, bounds and descent."""

from importlib import import_module
from itertools import cycle, pairwise

import numpy as np
import pytest
import qpsolvers
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import lsq_linear
from sklearn.linear_model import RidgeClassifier

from semisquares import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from semisquares.core.certificate import gradient_bound
from semisquares.core.labelings import (
    ArgmaxLabels,
    FreeLabels,
    HardLabels,
    SimplexLabels,
    SoftLabels,
    dial,
    hard,
    soft,
)
from semisquares.core.linalg import EPS
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows
from semisquares.core.solvers import Status, StoppingTest, block_descent, minimise
from semisquares.estimators._semi_supervised import random_labels
from semisquares.paper.objectives import J_l, J_r, J_s, best_q, best_u
from support.allowed_warnings import collapse_allowed, copies_allowed

CLASSIFIERS = [LeastSquaresClassifier, SoftLabelClassifier, HardLabelClassifier]
classifiers = pytest.mark.parametrize("classifier", CLASSIFIERS)
semi_supervised = pytest.mark.parametrize("classifier", CLASSIFIERS[1:])
two_or_more = pytest.mark.parametrize("n_classes", [2, 3])
seeds = pytest.mark.parametrize("seed", range(4))
ridges = pytest.mark.parametrize("alpha", [0.0, 1.0])
tables = pytest.mark.parametrize("table", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
any_start = pytest.mark.parametrize(
    ("classifier", "start"),
    [
        (SoftLabelClassifier, "supervised"),
        (SoftLabelClassifier, "weights"),
        (HardLabelClassifier, "supervised"),
        (HardLabelClassifier, "soft"),
        (HardLabelClassifier, "path"),
        (HardLabelClassifier, "weights"),
    ],
)
# Advice for users, not an error: random starts often end with one class only.


def blobs(seed, *, n_labeled=24, n_unlabeled=60, d=4, n_classes=2, missing=True):
    """Return X and y: one Gaussian cloud for each class, labeled rows in between the others."""
    rng = np.random.default_rng(seed)
    n = n_labeled + n_unlabeled
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + 2.5 * rng.normal(size=(n_classes, d))[y] / np.sqrt(d)
    order = rng.permutation(n)
    X, y = X[order], y[order]
    hidden = rng.permutation(n)[n_labeled:][: n_unlabeled * missing]
    y[hidden] = -1
    return X, y


def given_weights(start, X, n_classes, seed=0):
    """Turn the name of a start into an `init`; "weights" are drawn at random."""
    rng = np.random.default_rng(seed)
    n_rows = 1 if n_classes == 2 else n_classes
    drawn = (rng.normal(size=(n_rows, X.shape[1])), rng.normal(size=n_rows))
    return {"weights": drawn}.get(start, start)


def weights(model):
    """Return coef_ and intercept_ side by side."""
    return np.hstack((model.coef_, model.intercept_[:, None]))


def assert_same_weights(first, second, tolerance=1e-9):
    a, b = weights(first), weights(second)
    assert_allclose(a, b, rtol=0, atol=tolerance * np.abs(b).max())


def parts(X, y):
    """Return X, y and X_u as in the paper, the intercept a last column of ones."""
    X = np.hstack((X, np.ones((len(X), 1))))
    return X[y != -1], y[y != -1], X[y == -1]


def paper_weights(model):
    """Return w as in the paper, two classes, the intercept last."""
    return np.append(model.coef_[0], model.intercept_[0] + 0.5)


def as_rows(X, y, n_classes, *, per_class=None):
    """Return the rows that the solvers take."""
    labeled = np.flatnonzero(y != -1)
    per_class = n_classes > 2 if per_class is None else per_class
    targets = np.eye(n_classes)[y[labeled]] if per_class else y[labeled].astype(float)
    return MemoryRows(DenseTable(X), labeled, targets, labeled_weight=np.ones(len(labeled)))


def box_least_squares(X, y, alpha, *, fit_intercept=True, weight=None):
    """Minimise J_l over (w, u), u in [0, 1], by scipy; return w and J."""
    n, d = X.shape
    free = np.flatnonzero(y == -1)
    design = np.hstack((X, np.ones((n, int(fit_intercept)))))
    p = design.shape[1]
    labels = np.zeros((n, len(free)))
    labels[free, np.arange(len(free))] = -1.0
    root = np.sqrt(np.ones(n) if weight is None else weight)[:, None]
    A = np.block(
        [[root * design, root * labels], [np.sqrt(alpha) * np.eye(d, p), np.zeros((d, len(free)))]]
    )
    b = np.concatenate((root[:, 0] * np.where(y == -1, 0.0, y), np.zeros(d)))
    low = np.concatenate((np.full(p, -np.inf), np.zeros(len(free))))
    high = np.concatenate((np.full(p, np.inf), np.ones(len(free))))
    found = lsq_linear(A, b, (low, high), method="bvls", tol=1e-15, max_iter=1000)
    return found.x[:p], 2.0 * found.cost


# -- the supervised classifier as a special case --------------------------------------------------


@classifiers
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
def test_with_all_rows_labeled_twice_the_decisions_are_those_of_ridge(classifier, n_classes, alpha):
    X, y = blobs(0, n_classes=n_classes, missing=False)
    ours = classifier(alpha).fit(X, y).decision_function(X)
    ridge = RidgeClassifier(alpha, solver="cholesky").fit(X, y).decision_function(X)
    assert_allclose(2 * ours, ridge, rtol=0, atol=1e-10)


@two_or_more
def test_soft_weights_are_the_supervised_ones_where_these_leave_no_row_outside(n_classes):
    X, y = blobs(1, n_classes=n_classes, n_unlabeled=300)
    supervised = LeastSquaresClassifier().fit(X, y)
    z = supervised.decision_function(X).reshape(len(X), -1) + 0.5
    inside = ((z > 0) & (z < 1)).all(axis=1) | (y != -1)
    assert (y[inside] == -1).sum() > 20
    model = SoftLabelClassifier().fit(X[inside], y[inside])
    assert_same_weights(model, supervised, 1e-12)


@semi_supervised
@two_or_more
@ridges
def test_unlabeled_weight_0_is_the_supervised_classifier(classifier, n_classes, alpha):
    X, y = blobs(2, n_classes=n_classes)
    model = classifier(alpha, unlabeled_weight=0).fit(X, y)
    assert_same_weights(model, LeastSquaresClassifier(alpha).fit(X, y), 1e-10)


@semi_supervised
@two_or_more
@ridges
def test_unlabeled_weight_2_is_every_unlabeled_row_twice(classifier, n_classes, alpha):
    X, y = blobs(3, n_classes=n_classes)
    twice = np.repeat(np.arange(len(y)), np.where(y == -1, 2, 1))
    heavier = classifier(alpha, unlabeled_weight=2).fit(X, y)
    assert_same_weights(heavier, classifier(alpha).fit(X[twice], y[twice]))


@semi_supervised
@ridges
def test_the_supervised_classifier_inside_is_the_supervised_classifier(classifier, alpha):
    X, y = blobs(4)
    inside = classifier(alpha).fit(X, y).supervised_
    assert_same_weights(inside, LeastSquaresClassifier(alpha).fit(X, y), 1e-14)


# -- symmetries -----------------------------------------------------------------------------------


@classifiers
@ridges
@seeds
def test_swapping_the_classes_mirrors_the_weights(classifier, alpha, seed):
    X, y = blobs(seed)
    model = classifier(alpha).fit(X, y)
    swapped = classifier(alpha).fit(X, np.where(y == -1, -1, 1 - y))
    assert_allclose(
        weights(swapped), -weights(model), rtol=0, atol=1e-9 * np.abs(weights(model)).max()
    )


@classifiers
def test_renaming_three_classes_permutes_the_weights(classifier):
    X, y = blobs(5, n_classes=3)
    names = np.array(["c", "a", "b", None], dtype=object)
    model = classifier().fit(X, y)
    renamed = classifier().fit(X, names[y])
    assert_allclose(weights(renamed), weights(model)[[1, 2, 0]], rtol=0, atol=1e-9)


@collapse_allowed
@any_start
@two_or_more
@tables
def test_the_order_of_rows_does_not_matter(classifier, start, n_classes, table):
    X, y = blobs(6, n_classes=n_classes)
    order = np.random.default_rng(0).permutation(len(y))
    init = given_weights(start, X, n_classes)
    model = classifier(init=init).fit(table(X), y)
    shuffled = classifier(init=init).fit(table(X[order]), y[order])
    assert_same_weights(shuffled, model)
    assert_array_equal(shuffled.transduction_, model.transduction_[order])


@any_start
@two_or_more
@tables
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_integer_sample_weights_are_repeated_rows(classifier, start, n_classes, table, alpha):
    X, y = blobs(7, n_classes=n_classes, n_labeled=36)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), counts)
    init = given_weights(start, X, n_classes)
    weighted = classifier(alpha, init=init).fit(table(X), y, sample_weight=counts)
    model = classifier(alpha, init=init).fit(table(X[repeated]), y[repeated])
    assert_same_weights(weighted, model)
    assert_array_equal(weighted.transduction_[repeated], model.transduction_)
    assert weighted.objective_ == pytest.approx(model.objective_, rel=1e-10)


@tables
def test_integer_sample_weights_are_repeated_rows_for_the_supervised_classifier(table):
    X, y = blobs(7)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), counts)
    weighted = LeastSquaresClassifier().fit(table(X), y, sample_weight=counts)
    assert_same_weights(weighted, LeastSquaresClassifier().fit(table(X[repeated]), y[repeated]))


@two_or_more
@tables
def test_integer_sample_weights_are_repeated_rows_by_block_descent(n_classes, table):
    X, y = blobs(7, n_classes=n_classes)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), counts)
    weighted = SoftLabelClassifier(solver="block").fit(table(X), y, sample_weight=counts)
    model = SoftLabelClassifier(solver="block").fit(table(X[repeated]), y[repeated])
    assert_same_weights(weighted, model)


@classifiers
@two_or_more
@seeds
def test_rescaled_columns_rescale_the_weights(classifier, n_classes, seed):
    X, y = blobs(seed, n_classes=n_classes)
    scale = np.array([1e-3, 1e3, 7.0, 0.2])
    model = classifier(0).fit(X, y)
    rescaled = classifier(0).fit(X * scale, y)
    assert_allclose(
        rescaled.coef_ * scale, model.coef_, rtol=0, atol=1e-8 * np.abs(model.coef_).max()
    )
    assert_allclose(rescaled.intercept_, model.intercept_, rtol=0, atol=1e-8)


@classifiers
@two_or_more
@ridges
def test_shifted_columns_change_the_intercept_only(classifier, n_classes, alpha):
    X, y = blobs(8, n_classes=n_classes)
    shift = np.array([100.0, -30.0, 5.0, 0.0])
    model = classifier(alpha).fit(X, y)
    shifted = classifier(alpha).fit(X + shift, y)
    assert_allclose(shifted.coef_, model.coef_, rtol=0, atol=1e-9)
    assert_allclose(shifted.intercept_, model.intercept_ - model.coef_ @ shift, rtol=0, atol=1e-8)


@classifiers
@two_or_more
@ridges
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows_give_the_weights_of_dense_ones(classifier, n_classes, alpha, fit_intercept):
    X, y = blobs(9, n_classes=n_classes, d=6)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    dense = classifier(**options).fit(X, y)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert_same_weights(classifier(**options).fit(form(X), y), dense)


@classifiers
@two_or_more
@tables
def test_float32_rows_give_the_weights_of_the_same_numbers_in_float64(classifier, n_classes, table):
    X, y = blobs(10, n_classes=n_classes)
    X = X.astype(np.float32)
    single = classifier().fit(table(X), y)
    double = classifier().fit(table(X.astype(np.float64)), y)
    assert single.coef_.dtype == np.float64
    assert_same_weights(single, double, 1e-13)


# -- the soft problem is convex -------------------------------------------------------------------


@ridges
@pytest.mark.parametrize("fit_intercept", [True, False])
@seeds
def test_soft_weights_are_those_of_bounded_least_squares(seed, alpha, fit_intercept):
    X, y = blobs(seed)
    w, value = box_least_squares(X, y, alpha, fit_intercept=fit_intercept)
    model = SoftLabelClassifier(alpha, fit_intercept=fit_intercept).fit(X, y)
    ours = paper_weights(model)[: len(w)]
    assert_allclose(ours, w, rtol=0, atol=1e-8 * np.abs(w).max())
    assert model.objective_ == pytest.approx(value, rel=1e-12)


@ridges
@seeds
def test_weighted_soft_weights_are_those_of_bounded_least_squares(seed, alpha):
    X, y = blobs(seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, len(y))
    w, value = box_least_squares(X, y, alpha, weight=np.where(y == -1, 0.3 * weight, weight))
    model = SoftLabelClassifier(alpha, unlabeled_weight=0.3).fit(X, y, sample_weight=weight)
    assert_allclose(paper_weights(model), w, rtol=0, atol=1e-8 * np.abs(w).max())
    assert model.objective_ == pytest.approx(value, rel=1e-12)


@copies_allowed
@given(st.data())
def test_soft_J_is_that_of_bounded_least_squares_on_whole_numbers(data):
    d = data.draw(st.integers(1, 4))
    n_labeled, n_unlabeled = data.draw(st.integers(2, 6)), data.draw(st.integers(0, 7))
    n = n_labeled + n_unlabeled
    entries = st.lists(st.integers(-3, 3), min_size=n * d, max_size=n * d)
    X = np.array(data.draw(entries), dtype=float).reshape(n, d)
    y = np.append(np.arange(n_labeled) % 2, np.full(n_unlabeled, -1))
    alpha = data.draw(st.sampled_from([0.0, 1e-3, 1.0]))
    _, value = box_least_squares(X, y, alpha)
    model = SoftLabelClassifier(alpha).fit(X, y)
    w = paper_weights(model)
    X_l, y_l, X_u = parts(X, y)
    literal = J_l(w, best_u(w, X_u), X_l, y_l, X_u, alpha, penalty_diag=[1.0] * d + [0.0])
    assert literal == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert model.objective_ == pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_soft_weights_of_more_classes_are_those_of_a_quadratic_program(n_classes, alpha, seed):
    X, y = blobs(seed, n_classes=n_classes, n_labeled=20, n_unlabeled=16, d=3)
    X_l, y_l, X_u = parts(X, y)
    p, U, K = X_l.shape[1], len(X_u), n_classes
    # the unknowns: W class by class, then the labels class by class
    ridge = alpha * np.diag([1.0] * (p - 1) + [0.0])
    eye = np.eye(K)
    P = np.block(
        [
            [np.kron(eye, X_l.T @ X_l + X_u.T @ X_u + ridge), -np.kron(eye, X_u.T)],
            [-np.kron(eye, X_u), np.eye(K * U)],
        ]
    )
    q = -np.concatenate((np.ravel(X_l.T @ eye[y_l], order="F"), np.zeros(K * U)))
    total = np.hstack((np.zeros((U, K * p)), np.tile(np.eye(U), K)))
    low = np.concatenate((np.full(K * p, -1e3), np.zeros(K * U)))
    found = qpsolvers.solve_qp(P, q, A=total, b=np.ones(U), lb=low, solver="quadprog")
    W = found[: K * p].reshape(K, p)
    model = SoftLabelClassifier(alpha).fit(X, y)
    ours = weights(model) + np.append(np.zeros(p - 1), 0.5)
    assert_allclose(ours, W, rtol=0, atol=1e-8 * np.abs(W).max())


@two_or_more
@ridges
@pytest.mark.parametrize("solver", ["newton", "block"])
@pytest.mark.parametrize("start", ["supervised", "random", "weights", "labels"])
def test_soft_weights_depend_neither_on_the_start_nor_on_the_solver(
    n_classes, alpha, solver, start
):
    X, y = blobs(11, n_classes=n_classes)
    shape = ((y == -1).sum(), n_classes)[: n_classes - 1][:2]
    labels = 5 * np.random.default_rng(1).normal(size=shape)
    init = {"labels": labels, "weights": given_weights("weights", X, n_classes)}.get(start, start)
    model = SoftLabelClassifier(alpha, solver=solver, init=init, random_state=2).fit(X, y)
    assert_same_weights(model, SoftLabelClassifier(alpha).fit(X, y), 1e-8)


@two_or_more
@pytest.mark.parametrize("relaxation", [0.5, 1.5, 1.9])
def test_soft_weights_do_not_depend_on_the_relaxation(n_classes, relaxation):
    X, y = blobs(12, n_classes=n_classes)
    model = SoftLabelClassifier(solver="block", relaxation=relaxation).fit(X, y)
    assert_same_weights(model, SoftLabelClassifier().fit(X, y), 1e-8)


def test_labels_that_rounding_moves_in_a_circle_end_block_descent(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 6))
    y = np.where(np.arange(200) < 4, np.arange(200) % 2, -1)  # so few that no bound ends it earlier
    X[4:] *= 5.0  # and many rows outside of [0, 1]: the minimiser is unique
    exact = SoftLabelClassifier(0.0).fit(X, y)
    bits = cycle([EPS, -EPS])  # the last ones of all labels come and go, as on some processors
    monkeypatch.setattr(SoftLabels, "impute", lambda self, z: np.clip(z, 0.0, 1.0) + next(bits))
    model = SoftLabelClassifier(0.0, solver="block").fit(X, y)
    assert model.solution_.status is Status.ROUNDING
    assert model.objective_ <= exact.objective_ + 1e-12


@collapse_allowed
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), alpha=st.floats(0, 100), n_classes=st.integers(2, 4))
def test_J_of_soft_labels_is_at_most_J_of_hard_ones(seed, alpha, n_classes):
    X, y = blobs(seed, n_labeled=12, n_unlabeled=15, d=2, n_classes=n_classes)
    softest = SoftLabelClassifier(alpha).fit(X, y).objective_
    for init in ("supervised", "soft", "path", "random"):
        model = HardLabelClassifier(alpha, init=init, random_state=0).fit(X, y)
        assert softest <= model.objective_ + 1e-12


@ridges
@seeds
def test_two_classes_through_the_simplex_are_the_binary_model(alpha, seed):
    X, y = blobs(seed)
    rows = as_rows(X, y, 2, per_class=True)
    found = minimise(Objective(rows, SimplexLabels(), alpha), np.zeros(rows.weights_shape))
    w = paper_weights(SoftLabelClassifier(alpha).fit(X, y))
    assert_allclose(found.w[:, 1], w, rtol=0, atol=1e-10 * np.abs(w).max())
    assert_allclose(found.w[:, 0], [0, 0, 0, 0, 1] - w, rtol=0, atol=1e-10 * np.abs(w).max())


@ridges
@seeds
def test_hard_labels_of_two_classes_through_the_argmax_are_the_binary_ones(alpha, seed):
    X, y = blobs(seed)
    start = random_labels(len(y), 2, np.random.default_rng(seed))
    binary = block_descent(Objective(as_rows(X, y, 2), HardLabels(), alpha), start)
    rows = as_rows(X, y, 2, per_class=True)
    both = block_descent(
        Objective(rows, ArgmaxLabels(), alpha), np.column_stack((1 - start, start))
    )
    assert_array_equal(both.state.labels[y == -1, 1], binary.state.labels[y == -1])
    assert_allclose(both.w[:, 1], binary.w, rtol=0, atol=1e-10 * np.abs(binary.w).max())


# -- the objective is the paper's -----------------------------------------------------------------


@ridges
@seeds
def test_objective_of_the_supervised_classifier_is_J_s(alpha, seed):
    X, y = blobs(seed)
    model = LeastSquaresClassifier(alpha).fit(X, y)
    X_l, y_l, _ = parts(X, y)
    literal = J_s(paper_weights(model), X_l, y_l, alpha, penalty_diag=[1, 1, 1, 1, 0])
    assert model.objective_ == pytest.approx(literal, rel=1e-12)


@ridges
@pytest.mark.parametrize("solver", ["newton", "block"])
@seeds
def test_objective_of_soft_labels_is_J_l_at_the_best_u(alpha, solver, seed):
    X, y = blobs(seed)
    model = SoftLabelClassifier(alpha, solver=solver).fit(X, y)
    X_l, y_l, X_u = parts(X, y)
    w = paper_weights(model)
    literal = J_l(w, best_u(w, X_u), X_l, y_l, X_u, alpha, penalty_diag=[1, 1, 1, 1, 0])
    assert model.objective_ == pytest.approx(literal, rel=1e-12)
    assert_allclose(model.label_distributions_[y == -1, 1], best_u(w, X_u), rtol=0, atol=1e-12)


@ridges
@pytest.mark.parametrize("start", ["supervised", "soft", "path", "random"])
@seeds
@collapse_allowed
def test_objective_of_hard_labels_is_J_r_at_the_best_q(alpha, start, seed):
    X, y = blobs(seed)
    model = HardLabelClassifier(alpha, init=start, random_state=seed).fit(X, y)
    X_l, y_l, X_u = parts(X, y)
    w = paper_weights(model)
    q = best_q(w, X_u)
    literal = J_r(w, q, X_l, y_l, X_u, alpha, penalty_diag=[1, 1, 1, 1, 0])
    assert model.objective_ == pytest.approx(literal, rel=1e-12)
    assert_array_equal(model.label_distributions_[y == -1, 1], q)


# -- hard labels ----------------------------------------------------------------------------------


@collapse_allowed
@two_or_more
@ridges
@pytest.mark.parametrize("start", ["supervised", "soft", "path", "random"])
@pytest.mark.parametrize("n_init", [1, 6])
def test_hard_labels_are_stable_under_a_supervised_fit_of_them(n_classes, alpha, start, n_init):
    X, y = blobs(13, n_classes=n_classes)
    model = HardLabelClassifier(alpha, init=start, n_init=n_init, random_state=0).fit(X, y)
    refitted = LeastSquaresClassifier(alpha).fit(X, model.transduction_)
    assert_array_equal(refitted.predict(X)[y == -1], model.transduction_[y == -1])
    assert_array_equal(model.transduction_[y != -1], y[y != -1])


@collapse_allowed
@two_or_more
@ridges
@tables
@pytest.mark.parametrize("batch_bytes", [1 << 26, 1])
def test_a_batch_of_starts_ends_where_separate_fits_end(
    n_classes, alpha, table, batch_bytes, monkeypatch
):
    module = import_module("semisquares.core.solvers.hard_descent")
    monkeypatch.setattr(module, "BATCH_BYTES", batch_bytes)
    X, y = blobs(14, n_classes=n_classes)
    batch = HardLabelClassifier(alpha, n_init=8, random_state=5).fit(table(X), y)
    rng = np.random.default_rng(5)
    starts = [random_labels(len(y), n_classes, rng)[y == -1] for _ in range(7)]
    alone = [HardLabelClassifier(alpha).fit(table(X), y)]
    alone += [HardLabelClassifier(alpha, init=start).fit(table(X), y) for start in starts]
    ends = batch.solution_.end_points
    assert_array_equal([end.labels for end in ends], [model.transduction_ for model in alone])
    assert_allclose([end.value for end in ends], [model.objective_ for model in alone], rtol=1e-10)
    assert_array_equal([end.n_iter for end in ends], [model.n_iter_ for model in alone])
    best = min(alone, key=lambda model: model.objective_)
    assert_same_weights(batch, best)


# -- descent --------------------------------------------------------------------------------------


def descend(labeling, seed, n_classes, relaxation, alpha):
    """Return the values of J at the start and after every half step of block descent."""
    X, y = blobs(seed, n_classes=n_classes, n_labeled=4 * n_classes)
    objective = Objective(as_rows(X, y, n_classes), labeling, alpha)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=objective.rows.weights_shape)
    z = objective.rows.decisions(w)
    labels = labeling.impute(z)
    unlabeled = objective.rows.unlabeled
    begin = objective.rows.labeled_loss(w) + float(objective.ridge(w))
    begin += ((z - labels)[unlabeled] ** 2).sum() + labeling.penalty(labels)[unlabeled].sum()
    steps = []
    block_descent(objective, labels, w=w, relaxation=relaxation, max_iter=60, callback=steps.append)
    return [begin, *(value for step in steps for value in (step.half_value, step.value))]


@two_or_more
@ridges
@pytest.mark.parametrize("relaxation", [0.5, 1.0, 1.5, 1.9])
@pytest.mark.parametrize("rule", ["soft", "dial", "hard"])
@pytest.mark.parametrize("seed", range(3))
def test_every_half_step_of_block_descent_lowers_J(n_classes, alpha, relaxation, rule, seed):
    rules = {"soft": soft(n_classes), "dial": dial(n_classes, 0.6), "hard": hard(n_classes)}
    values = descend(rules[rule], seed, n_classes, relaxation, alpha)
    assert len(values) >= 3
    assert all(after <= before + 1e-13 * values[0] for before, after in pairwise(values))


@pytest.mark.parametrize("relaxation", [0.5, 1.0, 1.5, 1.9])
def test_a_relaxed_descent_does_not_end_before_the_weights_do(relaxation):
    # every unlabeled row is far outside: its label never changes, while the weights still move
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1)) + np.repeat([0.0, 0.0, 40.0, -40.0], 10)[:, None]
    y = np.append(X[:20, 0] > 0, np.full(20, -1)).astype(int)
    model = SoftLabelClassifier(solver="block", relaxation=relaxation).fit(X, y)
    assert_same_weights(model, SoftLabelClassifier().fit(X, y), 1e-8)


@two_or_more
@pytest.mark.parametrize("relaxation", [0.5, 1.5])
@pytest.mark.parametrize("seed", range(2))
def test_a_relaxed_hard_descent_ends_in_labels_that_a_full_step_keeps(n_classes, relaxation, seed):
    X, y = blobs(seed, n_classes=n_classes)
    objective = Objective(as_rows(X, y, n_classes), hard(n_classes), 1.0)
    w = np.random.default_rng(seed).normal(size=objective.rows.weights_shape)
    start = objective.labeling.impute(objective.rows.decisions(w))
    found = block_descent(objective, start, w=w, relaxation=relaxation)
    refitted = block_descent(objective, found.state.labels, max_iter=1)
    assert refitted.status is Status.STABLE
    assert refitted.value == pytest.approx(found.value, rel=1e-9)


@two_or_more
@pytest.mark.parametrize("solver", ["newton", "block"])
@seeds
def test_J_falls_along_the_recorded_path(n_classes, solver, seed):
    X, y = blobs(seed, n_classes=n_classes, n_labeled=4 * n_classes)
    init = given_weights("weights", X, n_classes, seed)
    model = SoftLabelClassifier(0.1, init=init, solver=solver, record_path=True).fit(X, y)
    values = [step.value for step in model.path_]
    assert len(values) > 2
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))
    assert values[-1] == model.objective_
    assert_array_equal(model.path_[-1].w, weights(model) + np.array([0, 0, 0, 0, 0.5]))


@two_or_more
@seeds
def test_J_falls_along_the_recorded_path_of_hard_labels(n_classes, seed):
    X, y = blobs(seed, n_classes=n_classes)
    model = HardLabelClassifier(init="random", random_state=seed, record_path=True)
    path = model.fit(X, y).path_
    values = [value for step in path for value in (step.half_value, step.value)]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))


@ridges
@pytest.mark.parametrize("relaxation", [1.0, 1.7])
@seeds
def test_free_labels_end_in_the_complete_case_fit(alpha, relaxation, seed):
    X, y = blobs(seed, n_labeled=40, n_unlabeled=20)
    objective = Objective(as_rows(X, y, 2), FreeLabels(), alpha)
    test = StoppingTest(gradient_bound(objective), 1e-22)
    found = block_descent(
        objective,
        random_labels(len(y), 2, np.random.default_rng(seed)),
        w=np.zeros(5),
        test=test,
        relaxation=relaxation,
    )
    assert found.status.converged
    w = paper_weights(LeastSquaresClassifier(alpha).fit(X, y))
    assert_allclose(found.w, w, rtol=0, atol=1e-9 * np.abs(w).max())


def test_soft_labels_stay_in_the_unit_interval_and_free_ones_do_not():
    z = np.array([-1.0, 0.25, 2.0])
    assert_array_equal(SoftLabels().impute(z), [0.0, 0.25, 1.0])
    assert_array_equal(FreeLabels().impute(z), z)
