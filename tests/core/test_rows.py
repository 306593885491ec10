"""Every sum over rows is the literal one, whatever the table, the blocks and the threads."""

import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from semisquares.core.labelings import SimplexLabels, SoftLabels, hard, soft
from semisquares.core.linalg import factor, updated_factor
from semisquares.core.rows import (
    DenseTable,
    MemoryRows,
    SparseTable,
    Targets,
    centre,
    memory,
    to_own_columns,
    to_shifted_columns,
)
from semisquares.core.rows import threads as threads_module
from semisquares.core.rows.reduce import FAN, THREADED_VALUES, reduce_tree, sum_blocks
from semisquares.core.rows.threads import run, single_threaded_blas
from support.command_line import PATIENCE
from support.problems import Problem, make_problem
from support.watching import watch

TABLES = {
    "dense": DenseTable,
    "Fortran order": lambda X: DenseTable(np.asfortranarray(X)),
    "float32": lambda X: DenseTable(X.astype(np.float32)),
    "sparse": lambda X: SparseTable(sparse.csr_array(X)),
    "sparse float32": lambda X: SparseTable(sparse.csr_matrix(X.astype(np.float32))),
}
WEIGHTS = {
    "plain": {},
    "weighted": {"weighted": True, "unlabeled_weight": 0.4},
    "no intercept": {"intercept": False, "unlabeled_weight": 3.0},
}
close = partial(np.testing.assert_allclose, rtol=1e-11, atol=1e-12)
EVERY_TABLE = pytest.mark.parametrize("table", list(TABLES))
EVERY_WEIGHT = pytest.mark.parametrize("weights", list(WEIGHTS))
CLASSES = pytest.mark.parametrize("n_classes", [2, 3])


def problem_and_rows(table="dense", weights="plain", n_classes=2, block=7):
    """A problem whose values fit float32, and its rows in blocks of a few."""
    problem = make_problem(3, n_classes=n_classes, n_features=4, **WEIGHTS[weights])
    problem = replace(problem, X=problem.X.astype(np.float32).astype(float), alpha=0.0)
    rows = problem.rows(TABLES[table](problem.X))
    rows.table.block_rows = block
    return problem, rows


def random_weights(rows, *more, seed=0):
    return np.random.default_rng(seed).normal(size=(rows.n_weights, *more, *rows.y.shape[1:])) / 3


@EVERY_TABLE
@EVERY_WEIGHT
@CLASSES
def test_a_sweep_sums_what_numpy_sums(table, weights, n_classes):
    problem, rows = problem_and_rows(table, weights, n_classes)
    w = random_weights(rows)
    sweep = rows.sweep(w, soft(n_classes))
    z = problem.design @ w
    residual = z - problem.with_known(problem.impute(z))
    np.testing.assert_allclose(sweep.z, z, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(sweep.loss, problem.J(w), rtol=1e-13)
    close(sweep.gradient, problem.moment(residual))
    pieces = soft(n_classes).piece(z)
    pieces[problem.known] = soft(n_classes).pinned
    np.testing.assert_array_equal(sweep.piece, pieces)
    assert sweep.changed == len(problem.y)


@EVERY_WEIGHT
@CLASSES
def test_the_gradient_is_the_derivative_of_the_loss(weights, n_classes):
    _, rows = problem_and_rows("dense", weights, n_classes)
    w, v = random_weights(rows), random_weights(rows, seed=1)
    gradient = rows.sweep(w, soft(n_classes)).gradient
    above, below = (rows.sweep(w + t * v, soft(n_classes)).loss for t in (1e-5, -1e-5))
    assert 2.0 * np.vdot(gradient, v) == pytest.approx((above - below) / 2e-5, rel=1e-6)


@EVERY_WEIGHT
@CLASSES
def test_the_slope_between_two_sweeps_needs_no_pass(weights, n_classes, monkeypatch):
    _, rows = problem_and_rows("dense", weights, n_classes)
    first, second = (rows.sweep(random_weights(rows, seed=s), soft(n_classes)) for s in (0, 1))
    between = rows.sweep(0.7 * first.w + 0.3 * second.w, soft(n_classes))
    monkeypatch.delattr(rows.table, "X")
    slope = rows.slope(first.z, second.z, 0.3, soft(n_classes))
    assert slope == pytest.approx(np.vdot(between.gradient, second.w - first.w), rel=1e-10)
    assert rows.loss(first.z, soft(n_classes)) == pytest.approx(first.loss, rel=1e-13)


def test_a_sweep_counts_the_rows_that_changed_their_piece():
    _, rows = problem_and_rows()
    before, after = (rows.sweep(random_weights(rows, seed=s), SoftLabels()) for s in (0, 1))
    differ = np.count_nonzero(before.piece != after.piece)
    assert rows.sweep(after.w, SoftLabels(), before.piece).changed == differ > 0
    assert rows.sweep(after.w, SoftLabels(), after.piece).changed == 0


@pytest.mark.parametrize("z", [0.0, 1.0])
def test_a_row_on_the_border_to_rounding_keeps_its_piece(z):
    X = np.array([[0.0], [1.0], [z + 1e-16], [z - 1e-16], [0.4]])
    rows = Problem(X, np.array([0, 1, -1, -1, -1])).rows(DenseTable(X))
    before = rows.sweep(np.array([1.0, 0.0]), SoftLabels())
    after = rows.sweep(np.array([1.0, -3e-16]), SoftLabels(), before.piece)
    assert after.changed == 0
    np.testing.assert_array_equal(after.piece, before.piece)


@pytest.mark.parametrize("border", [0.0, 1.0])
@pytest.mark.parametrize(("far", "changed"), [(1e-13, 0), (1e-11, 1)])
def test_the_rounding_on_a_border_is_that_of_the_terms_of_a_decision_value(border, far, changed):
    X = np.array([[0.0], [0.5], [1.0]])
    rows = Problem(X, np.array([0, 1, -1])).rows(DenseTable(X))
    below, above = (np.array([100.0, border - 100.0 + move]) for move in (-far, far))
    before = rows.sweep(below, SoftLabels())
    assert rows.sweep(above, SoftLabels(), before.piece).changed == changed


@pytest.mark.parametrize(("border", "from_piece"), [(0.0, 1), (1.0, -1)])
def test_a_row_that_comes_from_beyond_the_other_border_has_changed(border, from_piece):
    X = np.array([[0.0], [0.5], [1.0]])
    rows = Problem(X, np.array([0, 1, -1])).rows(DenseTable(X))
    w = np.array([border, 0.0])
    piece = rows.sweep(w, SoftLabels()).piece
    before = piece.copy()
    before[2] = from_piece
    assert rows.sweep(w, SoftLabels(), before).changed == 1


@EVERY_TABLE
@EVERY_WEIGHT
@CLASSES
def test_moments_follow_the_labels_that_changed(table, weights, n_classes):
    problem, rows = problem_and_rows(table, weights, n_classes)
    u = np.random.default_rng(0).uniform(size=(len(problem.y), *rows.y.shape[1:]))
    v = u.copy()
    v[np.flatnonzero(~problem.known)[::5]] = 0.5
    literal = [problem.moment(problem.with_known(t)) for t in (u, v, 1.0 - u)]
    close(rows.moment(u), literal[0])
    close(rows.moment(v, u, literal[0]), literal[1])
    close(rows.moment(problem.with_known(1.0 - u), u, literal[0]), literal[2])
    assert rows.moment(u, u, literal[0]) is literal[0]


@EVERY_WEIGHT
@CLASSES
@pytest.mark.parametrize("n_runs", [1, 4])
def test_relabeling_sums_what_numpy_sums_for_every_run(weights, n_classes, n_runs):
    problem, rows = problem_and_rows("dense", weights, n_classes)
    w = random_weights(rows, n_runs)
    labels = np.random.default_rng(0).uniform(size=(len(problem.y), n_runs, *rows.y.shape[1:]))
    labels[::3] = labels[::3].round()
    new = rows.relabel(w, labels, rows.moment(labels), hard(n_classes))
    for k in range(n_runs):
        z = problem.design @ w[:, k]
        u = problem.impute(z, "hard")
        np.testing.assert_array_equal(new.labels[~problem.known, k], u[~problem.known])
        t = problem.with_known(labels[:, k])  # u (1 - u) is 0 where labels are known
        before = ((z - t) ** 2 + t * (1.0 - t)).reshape(len(z), -1).sum(axis=1)
        assert new.loss_before[k] == pytest.approx(problem.weight @ before, rel=1e-12)
        assert new.loss[k] == pytest.approx(problem.J(w[:, k], "hard"), rel=1e-12)
        close(new.moment[:, k], problem.moment(problem.with_known(u)))
        differs = (u != labels[:, k]).reshape(len(u), -1).any(axis=1)
        assert new.changed[k] == np.count_nonzero(differs[~problem.known])


@EVERY_TABLE
@EVERY_WEIGHT
def test_gram_matrices_are_those_of_numpy(table, weights):
    problem, rows = problem_and_rows(table, weights)
    v = random_weights(rows)
    close(rows.full_gram, problem.gram())
    close(rows.labeled_gram, problem.gram(problem.known))
    np.testing.assert_allclose(rows.diagonal, problem.gram().diagonal(), rtol=1e-12)
    close(rows.full_product(v), problem.gram() @ v)
    close(rows.labeled_product(v), rows.labeled_gram @ v)
    R = rows.triangle(np.arange(0, len(problem.y), 3), np.ones((len(problem.y), 1)))
    stacked = np.roll(problem.design, int(problem.intercept), axis=1)
    stacked = np.hstack((stacked, np.ones((len(stacked), 1))))[::3]
    close(R.T @ R, stacked.T @ (problem.weight[::3, None] * stacked))


@EVERY_WEIGHT
def test_the_active_gram_matrix_changes_by_the_rows_that_flipped(weights, monkeypatch):
    problem, rows = problem_and_rows("dense", weights)
    rng = np.random.default_rng(2)
    before = np.where(problem.known, 2, rng.integers(-1, 2, len(problem.y))).astype(np.int8)
    after, flipped = before.copy(), np.flatnonzero(~problem.known)[[3, 8, 20]]
    after[flipped] = 1 - np.abs(before[flipped])
    start, take, taken = rows.active_gram(before), rows.table.take, []
    monkeypatch.setattr(rows.table, "take", lambda i: taken.extend(i) or take(i))
    updated = rows.active_gram(after, (before, start))
    assert sorted(taken) == flipped.tolist()
    close(updated, rows.active_gram(after))
    curvature = rows.labeled_gram + rows.unlabeled_weight * updated
    close(curvature, problem.gram((np.abs(after) == 1) | problem.known))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_far_from_the_origin_cost_no_digits(dtype):
    near, _ = problem_and_rows()
    near = replace(near, X=(1024 * near.X).round() / 1024)  # exact in float32, far away too
    far = replace(near, X=(near.X + 2.0**12).astype(dtype))
    shift = centre(far.X, np.arange(len(far.y)))
    rows = far.rows(DenseTable(far.X, shift))
    w = random_weights(rows)
    sweep = rows.sweep(w, SoftLabels())
    here = np.append(w[:-1], w[-1] - (shift - 2.0**12) @ w[:-1])
    close(sweep.z, near.design @ here)
    close(sweep.loss, near.J(here))
    np.testing.assert_allclose(far.design @ to_own_columns(w, shift), sweep.z, atol=1e-8)
    back = to_shifted_columns(to_own_columns(w, shift), shift)
    np.testing.assert_allclose(back, w, atol=1e-11)


def test_only_far_columns_ask_for_a_shift_and_constant_ones_vanish():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert centre(X, np.arange(50)) is None
    X[:, 1] = 0.1
    assert not DenseTable(X, centre(X, np.arange(50))).take(np.arange(50))[:, 1].any()


@pytest.mark.parametrize("table", ["dense", "sparse"])
def test_a_sample_keeps_the_labeled_rows_and_counts_for_all_others(table):
    problem, rows = problem_and_rows(table, "no intercept")
    sample = rows.sample(11, np.random.default_rng(0))
    assert sample.n_rows == len(rows.labeled) + 11
    labeled = sample.table.dense(sample.table.take(sample.labeled))
    np.testing.assert_array_equal(labeled, problem.X[problem.known])
    np.testing.assert_array_equal(sample.y, rows.y)
    np.testing.assert_allclose(sample.weights.sum(), rows.weights.sum(), rtol=1e-13)
    others = sample.table.dense(sample.table.take(sample.unlabeled))
    assert {*map(tuple, others)} <= {*map(tuple, problem.X[~problem.known])}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("setting", ["plain", "no intercept", "weighted"])
def test_condensed_rows_have_the_same_objective_up_to_a_constant(n_classes, setting):
    problem = make_problem(0, n_labeled=30, n_classes=n_classes, **WEIGHTS[setting])
    objective = problem.objective()
    few = replace(objective, rows=objective.rows.condensed())
    assert few.rows.n_rows == objective.rows.n_weights + objective.rows.n_unlabeled
    shape = objective.rows.weights_shape
    sweeps = [
        (objective.sweep(w), few.sweep(w))
        for w in np.random.default_rng(0).normal(scale=0.3, size=(3, *shape))
    ]
    lost = [objective.value(all_rows) - few.value(some) for all_rows, some in sweeps]
    np.testing.assert_allclose(lost, lost[0], rtol=1e-9)
    for all_rows, some in sweeps:
        close(objective.gradient(all_rows), few.gradient(some))
    close(few.rows.labeled_total, objective.rows.labeled_total if problem.intercept else shape[0])
    V = np.random.default_rng(1).normal(size=shape)
    products = [
        rows.curvature_product(V, sweep.piece, objective.labeling)
        for rows, sweep in ((objective.rows, sweeps[0][0]), (few.rows, sweeps[0][1]))
    ]
    close(*products)


def test_only_dense_labeled_rows_that_determine_all_weights_well_are_condensed():
    problem = make_problem(0, n_labeled=30)
    X = problem.X.copy()
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
    assert problem.rows(DenseTable(X)).condensed() is None
    assert problem.rows(SparseTable(sparse.csr_array(X))).condensed() is None
    assert problem.rows(DenseTable(problem.X)).condensed() is not None
    assert problem.rows(SparseTable(sparse.csr_array(problem.X))).condensed() is None


@pytest.mark.parametrize("stride", [1, 2])
def test_rough_sums_are_those_of_every_other_row(stride, monkeypatch):
    monkeypatch.setattr(memory, "MOST_SKIPPED", stride)
    monkeypatch.setattr(memory, "ROWS_PER_WEIGHT", 1)
    problem = make_problem(0, n_classes=3, **WEIGHTS["weighted"])
    rows = problem.objective().rows
    sweep = rows.sweep(np.random.default_rng(0).normal(size=rows.weights_shape), SimplexLabels())
    count = 1.0 + 1.0 / np.maximum(sweep.piece.sum(axis=1), 1)
    b = ((~problem.known * problem.weight * count)[:, None] * ~sweep.piece)[::stride] * stride
    A, z = problem.design[::stride], sweep.z[::stride]
    expected = (A.T @ (b.sum(axis=1)[:, None] * A), b.sum(axis=0), A.T @ (b * z))
    for found, literal in zip(rows.outside_sums(sweep.z, sweep.piece), expected, strict=True):
        close(found, literal)


@pytest.mark.parametrize("n_more", [0, 1, 15])
def test_extended_rows_sum_the_new_rows_only_and_what_all_rows_sum(n_more, monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40 + n_more, 4)), np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    few, all_rows = (
        MemoryRows(
            DenseTable(X[:n]), np.arange(5), y, labeled_weight=np.ones(5), unlabeled_weight=0.5
        )
        for n in (40, 40 + n_more)
    )
    assert few.full_gram.shape == (5, 5)
    visited = []
    gram = DenseTable.gram

    def counting(self, block, weight):
        visited.append(len(block))
        return gram(self, block, weight)

    monkeypatch.setattr(DenseTable, "gram", counting)
    more = few.extended(DenseTable(X))
    found = more.full_gram
    assert sum(visited) == n_more
    np.testing.assert_allclose(found, all_rows.full_gram, rtol=1e-12)
    np.testing.assert_array_equal(more.unlabeled, np.arange(5, 40 + n_more))


def test_rows_with_weights_of_their_own_are_not_extended():
    _, rows = problem_and_rows(weights="weighted")
    with pytest.raises(ValueError, match="cannot be extended"):
        rows.extended(rows.table)


@EVERY_WEIGHT
@CLASSES
def test_rows_outside_a_training_set_weigh_nothing(weights, n_classes):
    rows = problem_and_rows("dense", weights, n_classes)[1]
    inside = np.random.default_rng(0).uniform(size=rows.n_rows) < 0.7
    fold = rows.training(inside)
    close(fold.weights, rows.weights * inside)
    close(
        fold.labeled_gram,
        rows.design.gram(rows.labeled, rows.labeled_weight * inside[rows.labeled]),
    )


@EVERY_WEIGHT
def test_leverages_follow_the_factor(weights):
    problem, rows = problem_and_rows("dense", weights)
    alpha, more = 1.5, np.random.default_rng(0).normal(size=(rows.n_weights, 3))
    before = factor(rows.full_gram, alpha, problem.intercept)
    after = updated_factor(before, more, np.ones(3))
    expected = rows.leverages(factor(rows.full_gram + more @ more.T, alpha, problem.intercept))
    close(rows.updated_leverages(after, rows.leverages(before)), expected)


def test_a_step_that_lowers_J_by_nothing_reaches_nowhere():
    assert memory.boundary_reach(-1e-9, 5.0) == memory.boundary_reach(0.0, 5.0) == 0.0
    assert memory.boundary_reach(5.0, 5.0) == memory.BOUNDARY_REACH


@pytest.mark.parametrize("most", [1.0, 8.0])
def test_a_tie_of_a_dual_point_costs_the_rounding_of_its_decision_value(most):
    """A class beside the support with the same residual may be above it in exact arithmetic."""
    none = np.empty(0)
    targets = Targets(1, none.astype(int), np.empty((0, 3)), none)
    z = np.array([[most, most - 1.0, most - 2.0]])  # the label is the first class
    support = np.array([[True, False, False]])
    cost = targets.dual_overshoot(z, support, np.zeros((1, 3)), 0.0, SimplexLabels(), False)
    eps = np.finfo(float).eps
    assert 2.0 * eps * most <= cost <= 1e3 * eps * most


def test_reweighted_rows_forget_what_depended_on_the_weights():
    _, rows = problem_and_rows("dense", "weighted")
    sums = ("full_gram", "labeled_gram", "diagonal", "labeled_moment")
    before = [getattr(rows, name) for name in sums]
    twice = rows.reweighted(labeled_weight=2 * rows.labeled_weight, unlabeled_weight=0.8)
    for name, once in zip(sums, before, strict=True):
        close(getattr(twice, name), 2 * once)


@pytest.mark.parametrize("table", ["dense", "sparse"])
@CLASSES
def test_the_size_of_blocks_changes_nothing_but_rounding(table, n_classes):
    sweeps = []
    for block in (1, 7, 10_000):
        _, rows = problem_and_rows(table, "weighted", n_classes, block)
        sweeps.append(rows.sweep(random_weights(rows), soft(n_classes)))
    for sweep in sweeps[1:]:
        close(sweep.gradient, sweeps[0].gradient)
        np.testing.assert_array_equal(sweep.piece, sweeps[0].piece)


def test_rows_are_summed_by_as_many_threads_as_blas_may_use():
    meeting = threading.Barrier(2)
    with threadpool_limits(2, user_api="blas"):
        assert sorted(run(lambda _: meeting.wait(timeout=PATIENCE), range(2))) == [0, 1]


def test_an_error_in_a_thread_reaches_the_caller():
    def fail(item):
        raise LookupError(item)

    with threadpool_limits(2, user_api="blas"), pytest.raises(LookupError):
        run(fail, range(4))


def test_after_ctrl_c_while_waiting_no_thread_is_left(monkeypatch):
    release = threading.Event()

    class Interrupted(threading.Thread):
        """A helper whose first `join` receives Ctrl-C; it works until the second one."""

        made, joined = [], 0

        def __init__(self, **settings):
            super().__init__(**settings)
            self.made.append(self)

        def join(self, timeout=None):
            self.joined += 1
            if self.joined == 1:
                raise KeyboardInterrupt
            release.set()
            super().join(PATIENCE)

    monkeypatch.setattr(threads_module, "Thread", Interrupted)
    started = threading.Event()

    def work(_):
        if isinstance(threading.current_thread(), Interrupted):
            started.set()
            return release.wait(PATIENCE)
        return started.wait(PATIENCE)

    with threadpool_limits(2, user_api="blas"), pytest.raises(KeyboardInterrupt):
        run(work, range(2))
    (helper,) = Interrupted.made
    left = helper.is_alive()
    release.set()
    threading.Thread.join(helper, PATIENCE)
    assert not left


def test_the_threads_of_blas_return_when_the_last_of_several_fits_leaves():
    def threads():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with single_threaded_blas() as most:
            assert most == max(before)
            with single_threaded_blas():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == before


def test_the_number_of_threads_changes_no_bit():
    size = THREADED_VALUES // 32 + 1000
    problem = make_problem(0, n_labeled=50, n_unlabeled=size, n_features=32)
    found = []
    for threads in (1, 2):
        rows = problem.rows(DenseTable(problem.X))
        with threadpool_limits(threads, user_api="blas"):
            sweep = rows.sweep(random_weights(rows), SoftLabels())
            found.append(
                (sweep.loss, sweep.gradient, rows.active_gram(sweep.piece), rows.full_gram)
            )
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n_items", [1, 10, 11, 1000])
@pytest.mark.parametrize("n_values", [1, THREADED_VALUES])
def test_every_item_is_in_one_block(n_items, n_values):
    def count(start, stop):
        assert 0 < stop - start <= 10
        return np.bincount(np.arange(start, stop), minlength=n_items)

    found = sum_blocks(count, n_items, block_rows=10, n_values=n_values)
    np.testing.assert_array_equal(found, np.ones(n_items))


@pytest.mark.parametrize("n_rows", [2, 3, 6, 30])
def test_a_triangle_is_square_and_has_the_gram_matrix_of_its_rows(n_rows):
    problem, rows = problem_and_rows(weights="weighted")
    index, t = np.arange(n_rows), np.random.default_rng(0).normal(size=(len(problem.y), 1))
    columns = np.hstack((np.ones((len(t), 1)), problem.X, t))[index]
    found = rows.triangle(index, t)
    assert found.shape == (6, 6)
    close(found.T @ found, columns.T @ (problem.weight[index, None] * columns))


def test_the_diagonal_of_a_known_gram_matrix_needs_no_pass(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 3))
    expected = np.append((X**2).sum(axis=0), 40.0)
    rows = MemoryRows(DenseTable(X), np.arange(2), np.array([0.0, 1.0]), labeled_weight=np.ones(2))
    passes = watch(monkeypatch, type(rows.design), "diagonal")
    np.testing.assert_allclose(rows.diagonal, expected)
    other = rows.reweighted()
    assert len(other.full_gram) == 4
    np.testing.assert_allclose(other.diagonal, expected)
    assert len(passes) == 1


@pytest.mark.parametrize("n_items", [1, FAN, FAN + 1, FAN**2 + 3, 2 * FAN**2])
def test_a_tree_combines_every_item_once_and_in_order(n_items):
    def joined(*parts):
        assert len(parts) <= FAN
        return [item for part in parts for item in part]

    found = reduce_tree([[item] for item in range(n_items)], joined, joined)
    assert found == list(range(n_items))


@pytest.mark.parametrize("intercept", [True, False])
def test_the_labeled_spread_is_around_the_mean_of_the_labeled_rows(intercept):
    problem = make_problem(0, intercept=intercept, weighted=True)
    X, weight = problem.X[problem.known] + 3.0, problem.weight[problem.known]
    middle = np.average(X, axis=0, weights=weight) if intercept else 0.0
    rows = problem.rows(DenseTable(problem.X + 3.0))
    np.testing.assert_allclose(rows.labeled_spread, weight @ ((X - middle) ** 2).sum(axis=1))


@CLASSES
@pytest.mark.parametrize("size", [0.5, 1.0, 2.0])
def test_labeled_rows_may_weigh_more_or_less_than_the_others(size, n_classes):
    problem = make_problem(0, n_classes=n_classes)
    rows = problem.rows(DenseTable(problem.X))
    rows = rows.reweighted(labeled_weight=np.full(len(rows.labeled), size))
    problem = replace(problem, sample_weight=np.where(problem.known, size, 1.0), alpha=0.0)
    w = random_weights(rows)
    sweep = rows.sweep(w, soft(n_classes))
    z = problem.design @ w
    close(sweep.loss, problem.J(w))
    close(sweep.gradient, problem.moment(z - problem.with_known(problem.impute(z))))
