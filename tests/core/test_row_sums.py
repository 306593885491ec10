"""Every kind of rows gives the sums that `RowSums` documents: those of the naive implementation."""

from __future__ import annotations

import inspect
import time
from functools import partial
from importlib import import_module
from itertools import pairwise

import dask
import numpy as np
import pytest
from scipy import sparse

from semisquares.core.certificate import duality_gap
from semisquares.core.labelings import hard, soft
from semisquares.core.objective import Objective
from semisquares.core.rows import (
    ArrayTable,
    BlockRows,
    BlockSettings,
    DaskRunner,
    DenseTable,
    MemoryRows,
    PerRow,
    RowSums,
    RowTotals,
    SparseTable,
    Targets,
    compress,
)
from semisquares.core.solvers import Status, block_descent, fit_labeled, minimise
from support.devices import on, strict_device, torch_device
from support.naive_rows import NaiveRows
from support.problems import make_problem

blocks, memory = (import_module(f"semisquares.core.rows.{name}") for name in ("blocks", "memory"))
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
WEIGHTS = {
    "plain": {},
    "weighted": {"weighted": True, "unlabeled_weight": 0.4},
    "no intercept": {"intercept": False, "unlabeled_weight": 3.0},
}
close = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-11)


def in_memory(make_table, problem):
    rows = problem.rows(make_table(problem.X))
    rows.table.block_rows = 7
    return rows, problem.X


def shifted(problem):
    shift = problem.X.mean(axis=0) * problem.intercept
    return problem.rows(DenseTable(problem.X, shift)), problem.X - shift


def wide(problem):
    X = np.hstack((problem.X, np.random.default_rng(1).normal(size=(len(problem.X), 60))))
    table, _ = compress(X, intercept=problem.intercept, ridge=True)
    return problem.rows(table), table.slice(0, len(X))


def on_device(make_device, problem):
    device = make_device()
    return in_memory(lambda X: ArrayTable(on(device, X)), problem)


def shifted_on_device(problem):
    shift = problem.X.mean(axis=0) * problem.intercept
    table = ArrayTable(on(strict_device(), problem.X), shift)
    return problem.rows(table), problem.X - shift


def in_blocks(make_block, problem):
    """Rows in five blocks of different sizes, the last without a labeled row."""
    last = np.flatnonzero(problem.known)[-1] + 1
    cuts = [0, 5, 6, 20, last, len(problem.y)]
    x, targets, weight = [], [], problem.sample_weight
    for start, stop in pairwise(cuts):
        part = slice(start, stop)
        known = np.flatnonzero(problem.known[part])
        y = problem.targets(problem.y[part][known])
        own = None if weight is None else weight[part]
        counts = problem.weight[part][known]
        block = Targets(stop - start, known, y, counts, own)
        x.append(dask.delayed(make_block(problem.X[part]), traverse=False))
        targets.append(dask.delayed(block, traverse=False))
    settings = BlockSettings(
        problem.X.shape[1], problem.unlabeled_weight, problem.intercept, None, lambda X: X
    )
    free = problem.weight[~problem.known].sum() / problem.unlabeled_weight
    mass = np.bincount(problem.y[problem.known], problem.weight[problem.known])
    totals = RowTotals(len(problem.y), int(problem.known.sum()), mass, free)
    runner = DaskRunner(tuple(x), tuple(targets))
    return BlockRows(runner, settings, totals, np.inf), problem.X


KINDS = {
    "dense": partial(in_memory, DenseTable),
    "sparse": partial(in_memory, lambda X: SparseTable(sparse.csr_array(X))),
    "shifted": shifted,
    "wide": wide,
    "Dask": partial(in_blocks, lambda X: X),
    "Dask, sparse": partial(in_blocks, sparse.csr_array),
    "array API": partial(on_device, strict_device),
    "array API, shifted": shifted_on_device,
    "torch": partial(on_device, torch_device),
    "naive": lambda problem: (naive_rows(problem, problem.X), problem.X),
}


def naive_rows(problem, X):
    weight = np.ones(len(X)) if problem.sample_weight is None else problem.sample_weight
    y = problem.targets(problem.y[problem.known])
    return NaiveRows(X, problem.known, y, weight, problem.unlabeled_weight, problem.intercept)


@pytest.fixture(autouse=True)
def no_workers():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=list(KINDS))
def kind(request):
    return request.param


@pytest.fixture(params=list(WEIGHTS))
def weights(request):
    return request.param


@pytest.fixture(params=[2, 3])
def n_classes(request):
    return request.param


@pytest.fixture
def rows_and_naive(kind, weights, n_classes):
    problem = make_problem(3, n_classes=n_classes, n_features=4, **WEIGHTS[weights])
    rows, X = KINDS[kind](problem)
    return rows, naive_rows(problem, X)


def values(given):
    """Return values of all rows, from a handle to them or as they are."""
    if not isinstance(given, PerRow):
        return given
    return np.concatenate([given.value(result) for result in dask.compute(*given.results)])


def some_weights(rows, seed=0):
    return np.random.default_rng(seed).normal(size=rows.weights_shape) / 3


def sweeps_at(rows, naive, labeling, seed=0):
    w = some_weights(naive, seed)
    return rows.sweep(w, labeling), naive.sweep(w, labeling)


def test_every_kind_has_every_method_of_the_protocol(kind):
    names = [name for name in vars(RowSums) if not name.startswith("_")]
    names += [name for name in RowSums.__annotations__ if name not in names]
    rows, _ = KINDS[kind](make_problem(0))
    for name in names:
        declared, found = getattr(RowSums, name, None), inspect.getattr_static(rows, name)
        if inspect.isfunction(declared):
            asked, given = (inspect.signature(one).parameters for one in (declared, found))
            in_order = [one for one in asked if asked[one].kind is not KEYWORD_ONLY]
            assert list(given)[: len(in_order)] == in_order, name
            assert set(asked) <= set(given), name
        else:
            assert not callable(getattr(rows, name)), name


def test_sizes_and_weights(rows_and_naive):
    rows, naive = rows_and_naive
    for name in ("n_features", "n_weights", "n_rows", "n_unlabeled", "intercept", "weights_shape"):
        assert getattr(rows, name) == getattr(naive, name)
    for name in ("unlabeled_weight", "labeled_total", "total_weight", "constant_loss"):
        assert getattr(rows, name) == pytest.approx(getattr(naive, name), rel=1e-13)
    assert rows.heaviest >= naive.heaviest
    assert rows.longest_sum >= 1


def test_sums_over_labeled_rows(rows_and_naive):
    rows, naive = rows_and_naive
    w = some_weights(naive)
    close(rows.labeled_gram, naive.labeled_gram)
    close(rows.labeled_moment, naive.labeled_moment)
    close(rows.labeled_product(w), naive.labeled_product(w))
    assert rows.labeled_loss(w) == pytest.approx(naive.labeled_loss(w), rel=1e-11)


def test_sums_over_all_rows(rows_and_naive):
    rows, naive = rows_and_naive
    w = some_weights(naive)
    close(rows.full_gram, naive.full_gram)
    close(rows.diagonal, naive.diagonal)
    np.testing.assert_array_equal(rows.n_nonzero, naive.n_nonzero)
    close(rows.full_product(w), naive.full_product(w))
    close(values(rows.decisions(w)), naive.decisions(w))


def test_sweeps(rows_and_naive, n_classes):
    rows, naive = rows_and_naive
    found, expected = sweeps_at(rows, naive, soft(n_classes))
    close(values(found.z), expected.z)
    np.testing.assert_array_equal(values(found.piece), expected.piece)
    close(found.loss, expected.loss)
    close(found.gradient, expected.gradient)
    assert found.changed == expected.changed == rows.n_rows
    assert found.squares >= expected.squares * (1.0 - 1e-12)


def test_sweeps_count_the_rows_that_are_not_where_they_were_predicted(rows_and_naive, n_classes):
    rows, naive = rows_and_naive
    labeling, w = soft(n_classes), some_weights(naive, seed=1)
    first, expected = sweeps_at(rows, naive, labeling)
    again = naive.sweep(w, labeling, expected.piece)
    found = rows.sweep(w, labeling, first.piece)
    assert found.changed == again.changed > 0
    np.testing.assert_array_equal(values(found.piece), again.piece)


def test_the_slope_between_two_sweeps(rows_and_naive, n_classes):
    rows, naive = rows_and_naive
    labeling = soft(n_classes)
    (a, c), (b, d) = (sweeps_at(rows, naive, labeling, seed) for seed in (0, 1))
    expected = naive.slope(c.z, d.z, 0.3, labeling)
    assert rows.slope(a.z, b.z, 0.3, labeling) == pytest.approx(expected, rel=1e-9)


def test_products_with_the_curvature(rows_and_naive, n_classes):
    rows, naive = rows_and_naive
    found, expected = sweeps_at(rows, naive, soft(n_classes))
    V = some_weights(naive, seed=2)
    product = naive.curvature_product(V, expected.piece, soft(n_classes))
    close(rows.curvature_product(V, found.piece, soft(n_classes)), product)


@pytest.mark.parametrize("n_classes", [2])
def test_the_gram_matrix_of_active_rows(rows_and_naive):
    rows, naive = rows_and_naive
    labeling = soft(2)
    first, expected = sweeps_at(rows, naive, labeling)
    gram = rows.active_gram(first.piece)
    close(gram, naive.active_gram(expected.piece))
    w = some_weights(naive, seed=1)
    second, again = rows.sweep(w, labeling, first.piece), naive.sweep(w, labeling)
    close(rows.active_gram(second.piece, (first.piece, gram)), naive.active_gram(again.piece))
    close(rows.active_gram(second.piece), naive.active_gram(again.piece))


@pytest.mark.parametrize("n_classes", [3])
def test_the_gram_matrices_of_classes_outside_a_support(rows_and_naive):
    rows, naive = rows_and_naive
    found, expected = sweeps_at(rows, naive, soft(3))
    close(rows.outside_grams(found.piece), naive.outside_grams(expected.piece))
    assert rows.n_outside(found.piece) == naive.n_outside(expected.piece)
    sums = rows.outside_sums(found.z, found.piece)
    for total, literal in zip(sums, naive.outside_sums(expected.z, expected.piece), strict=True):
        close(total, literal)


@pytest.mark.parametrize("everywhere", [False, True])
def test_corrections_of_a_dual_point(rows_and_naive, n_classes, everywhere):
    rows, naive = rows_and_naive
    labeling = soft(n_classes)
    found, expected = sweeps_at(rows, naive, labeling)
    step = some_weights(naive, seed=4)
    V, image, squares = rows.dual_step(step, found.piece, labeling, everywhere)
    U, other_image, other_squares = naive.dual_step(step, expected.piece, labeling, everywhere)
    close(values(V), U)
    close(image, other_image)
    assert squares == pytest.approx(other_squares, rel=1e-10)
    bounds = [
        rows.dual_overshoot(found.z, found.piece, V, left, labeling, everywhere)
        for left in (0.0, 0.1)
    ]
    cost = naive.dual_overshoot(expected.z, expected.piece, U, 0.0, labeling, everywhere)
    assert cost * (1.0 - 1e-10) <= bounds[0] < bounds[1]


@pytest.mark.parametrize("n_classes", [2])
def test_the_overshoot_on_active_rows_is_exact(rows_and_naive):
    rows, naive = rows_and_naive
    found, expected = sweeps_at(rows, naive, soft(2))
    step = some_weights(naive, seed=4)
    V, _, _ = rows.dual_step(step, found.piece, soft(2), False)
    U, _, _ = naive.dual_step(step, expected.piece, soft(2), False)
    cost = naive.dual_overshoot(expected.z, expected.piece, U, 0.0, soft(2), False)
    bound = rows.dual_overshoot(found.z, found.piece, V, 0.0, soft(2), False)
    assert bound == pytest.approx(cost, rel=1e-10)
    assert cost > 0.0


@pytest.mark.parametrize("make", [soft, hard])
@pytest.mark.parametrize("before", [True, False])
def test_labels_that_are_imputed_anew(rows_and_naive, n_classes, make, before):
    rows, naive = rows_and_naive
    labeling, w = make(n_classes), some_weights(naive, seed=1)
    z, other_z = rows.decisions(some_weights(naive)), naive.decisions(some_weights(naive))
    labels, others = rows.imputed(z, labeling), naive.imputed(other_z, labeling)
    close(values(labels), others)
    assert rows.loss(z, labeling) == pytest.approx(naive.loss(other_z, labeling), rel=1e-11)
    labels = rows.read_labels(labels)
    moment = rows.moment(labels)
    close(moment, naive.moment(others))
    found = rows.relabel(w, labels, moment, labeling, before=before)
    expected = naive.relabel(w, others, moment, labeling, before=before)
    free = ~naive.known
    close(values(found.labels)[free], expected.labels[free])
    close(found.moment, expected.moment)
    close(found.loss, expected.loss)
    close(found.loss_before, expected.loss_before)
    assert found.changed == expected.changed > 0


def test_classes_of_labels(rows_and_naive, n_classes):
    rows, naive = rows_and_naive
    w = some_weights(naive)
    z, expected = rows.decisions(w), naive.decisions(w)
    np.testing.assert_array_equal(rows.class_counts(z), naive.class_counts(expected))
    labels = rows.imputed(z, hard(n_classes))
    again = values(rows.labels_of(rows.classes_of(labels)))
    free = ~naive.known
    np.testing.assert_array_equal(again[free], naive.imputed(expected, hard(n_classes))[free])


def test_other_weights_of_unlabeled_rows(rows_and_naive):
    rows, naive = (one.reweighted(unlabeled_weight=0.7) for one in rows_and_naive)
    assert rows.total_weight == pytest.approx(naive.total_weight)
    close(rows.full_gram, naive.full_gram)
    close(rows.labeled_gram, naive.labeled_gram)


def test_a_sample_counts_for_all_rows(rows_and_naive):
    rows, naive = rows_and_naive
    sample = rows.sample(20, np.random.default_rng(0))
    n_labeled = int(naive.known.sum())
    assert n_labeled + 10 <= sample.n_rows <= n_labeled + 20
    assert sample.total_weight == pytest.approx(naive.total_weight)
    close(sample.labeled_gram, naive.labeled_gram)


def test_solvers_and_certificates_take_any_rows(rows_and_naive, n_classes):
    rows, naive = rows_and_naive
    ends = []
    for one in (rows, naive):
        objective = Objective(one, soft(n_classes), 0.5)
        start = fit_labeled(objective)
        found = minimise(objective, start)
        assert duality_gap(objective, found.w).relative < 1e-9
        labels = one.imputed(one.decisions(start), hard(n_classes))
        descended = block_descent(objective.with_labeling(hard(n_classes)), labels)
        ends.append((found.w, found.value, descended.w, descended.value))
    for one, other in zip(*ends, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-8)


# -- rows near a border ---------------------------------------------------------------------------


@pytest.fixture
def track(monkeypatch):
    """Track rows in tables of any size, however many are near."""
    for name, value in (("BOUNDARY_VALUES", 0), ("BOUNDARY_SHARE", 1), ("BOUNDARY_WIDTH", np.inf)):
        monkeypatch.setattr(memory, name, value)
    monkeypatch.setattr(blocks, "NEAR_SHARE", 1)


@pytest.fixture(params=["dense", "sparse", "shifted", "Dask", "Dask, sparse"])
def tracked(request, weights, track):
    """Rows of two classes, the naive ones, and sweeps of both."""
    problem = make_problem(3, n_features=4, **WEIGHTS[weights])
    rows, X = KINDS[request.param](problem)
    naive = naive_rows(problem, X)
    return rows, naive, *sweeps_at(rows, naive, soft(2))


def decrease_for(naive, sweep, reach):
    """Return how much a step lowers J that carries rows within `reach` across a border."""
    counts = naive.known | (sweep.piece != 0)
    return (reach / memory.BOUNDARY_REACH) ** 2 * naive.a[counts].sum()


def test_boundary_rows_are_the_unlabeled_rows_within_reach(tracked):
    rows, naive, sweep, expected = tracked
    near = rows.boundary_rows(sweep, decrease_for(naive, expected, 0.3), soft(2))
    z = expected.z
    within = np.flatnonzero((np.minimum(abs(z), abs(z - 1.0)) < 0.3) & ~naive.known)
    assert 0 < len(within) < rows.n_unlabeled
    close(near.z, z[within])
    close(near.rows.decisions(expected.w), z[within])
    close(near.rows.weights, naive.a[within])
    np.testing.assert_array_equal(near.piece, expected.piece[within])


def test_pieces_of_boundary_rows_can_be_predicted(tracked):
    rows, naive, sweep, expected = tracked
    near = rows.boundary_rows(sweep, decrease_for(naive, expected, 0.3), soft(2))
    moved = np.where(near.piece == 0, 1, 0).astype(near.piece.dtype)
    gram = near.rows.updated_gram(rows.active_gram(sweep.piece), near.piece != 0, moved != 0)
    predicted = rows.with_pieces(sweep.piece, near, moved)
    again = rows.sweep(sweep.w, soft(2), predicted)
    assert again.changed == len(moved)
    np.testing.assert_array_equal(values(again.piece), values(sweep.piece))
    close(rows.active_gram(again.piece, (predicted, gram)), naive.active_gram(expected.piece))


def test_blocks_send_their_nearest_rows_if_not_all_fit(weights, track, monkeypatch):
    problem = make_problem(3, n_features=4, **WEIGHTS[weights])
    rows, X = KINDS["Dask"](problem)
    monkeypatch.setattr(blocks, "NEAR_SHARE", 8)
    each = -(-(rows.n_rows // 8) // rows.runner.n_blocks)
    sweep, expected = sweeps_at(rows, naive_rows(problem, X), soft(2))
    near = rows.boundary_rows(sweep, np.inf, soft(2))
    distance = np.minimum(abs(expected.z), abs(expected.z - 1.0))
    distance[problem.known] = np.inf
    last = slice(np.flatnonzero(problem.known)[-1] + 1, None)  # the last block
    assert max(map(len, near.index)) == each
    np.testing.assert_array_equal(
        np.sort(distance[last][near.index[-1]]), np.sort(distance[last])[:each]
    )


MIXED = np.random.default_rng(0).random(5_000)
MISLEADING = np.where(np.arange(5_000) % blocks.EVERY, MIXED, 2.0)
"""The values that are sampled are the largest ones, or else the smallest."""


@pytest.mark.parametrize("most", [1, 70, 4_999, 5_000, 6_000])
@pytest.mark.parametrize(
    "distance",
    [MIXED, np.sort(MIXED), MISLEADING, -MISLEADING, np.zeros(5_000)],
    ids=["mixed", "sorted", "sampled too large", "sampled too small", "all the same"],
)
def test_the_smallest_values_are_found_among_few(distance, most):
    places = blocks.smallest(distance, most)
    assert (np.diff(places) > 0).all()
    np.testing.assert_array_equal(np.sort(distance[places]), np.sort(distance)[:most])


def test_on_blocks_too_boundary_rows_save_passes(track, monkeypatch):
    problem = make_problem(5, n_unlabeled=2_000, n_features=8)
    passes, ends = [], []
    for share in (1, 10**6):
        monkeypatch.setattr(blocks, "NEAR_SHARE", share)
        rows, _ = KINDS["Dask"](problem)
        objective = Objective(rows, soft(2), 0.5)
        found = minimise(objective, fit_labeled(objective))
        assert found.status is Status.EXACT
        passes.append(len(rows.passes))
        ends.append(found.w)
    close(*ends)
    assert passes[0] < passes[1]


def test_a_jump_onto_the_opposite_border_is_a_change():
    X = np.array([[0.0], [1.0], [1.5], [0.5]])
    rows = MemoryRows(
        DenseTable(X), np.array([0, 1]), np.array([0.0, 1.0]), labeled_weight=np.ones(2)
    )
    before = rows.sweep(np.array([1.0, 0.0]), soft(2))
    after = rows.sweep(np.array([1.0, -1.5]), soft(2), before.piece)
    assert before.piece[2] == 1
    assert (after.z[2], after.piece[2]) == (0.0, 0)
    assert after.changed == 2  # the third row, and the last one, which fell below 0


# -- sizes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ["dense", "Dask"])
def test_no_row_is_heavier_than_the_heaviest(kind, weights):
    problem = make_problem(1, **WEIGHTS[weights])
    rows, _ = KINDS[kind](problem)
    assert rows.heaviest >= problem.weight.max()


@pytest.mark.parametrize("factor", [0.1, 1.0, 9.0])
@pytest.mark.parametrize("weighted", [True, False])
def test_in_memory_the_heaviest_row_is_one_of_the_rows(factor, weighted):
    problem = make_problem(1, weighted=weighted, unlabeled_weight=factor)
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight
    most = max(problem.weight[problem.known].max(), factor * np.max(weight))
    assert problem.rows(DenseTable(problem.X)).heaviest == most


def test_bytes_are_counted_for_every_block_and_lists_once():
    vector, matrix = np.zeros(2), sparse.csr_array(np.eye(3))
    near = blocks._Near(vector, vector, vector, vector, vector, vector)
    per_row = PerRow((), 0, {0: (vector, vector), 2: (vector, vector)})
    sizes = [blocks._size(one) for one in (None, 1.5, vector, near, per_row, [vector, (1, None)])]
    assert sizes == [0, 8, 16, 6 * 16, 4 * 16, 16 + 8]
    stored = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    assert blocks._size(matrix) == stored
    sums = (vector, [vector, vector, vector])
    assert blocks._bytes_sent((1.0, vector), sums, 3) == 3 * (8 + 16 + 16) + 3 * 16


def test_blocks_are_summed_in_one_layout_however_they_arrive():
    X = np.random.default_rng(0).normal(size=(6, 8))
    for block in (X[:, ::2], X[::2], X.T[::2].T, np.asfortranarray(X)[::2]):
        assert blocks.aligned(block).flags.c_contiguous
    assert blocks.aligned(np.asfortranarray(X)).flags.f_contiguous


def test_a_shifted_block_stores_the_zeros_of_the_shifted_columns_only():
    X = np.array([[0.0, 1.0, 0.0], [7.0, 0.0, 2.0]])
    shift = np.array([5.0, 0.0, 0.0])
    settings = BlockSettings(3, 1.0, True, shift, lambda X: X)
    table = blocks._table_of(sparse.csr_array(X), settings)
    np.testing.assert_array_equal(table.dense(table.take(np.arange(2))), X - shift)
    assert table.n_values == 4


def test_a_block_sends_no_row_of_its_sample_twice():
    problem = make_problem(1, n_unlabeled=40)
    rows = problem.rows(DenseTable(problem.X))
    for most, expected in ((30, 30), (100, 40)):
        ((X, _),) = blocks._sample(rows, most, seed=3)[1][0]
        assert len(np.unique(X, axis=0)) == len(X) == expected
        assert {*map(tuple, X)} <= {*map(tuple, problem.X[~problem.known])}


def test_the_slope_between_two_sweeps_over_blocks_reads_no_block():
    rows, _ = in_blocks(np.asarray, make_problem(1))
    first, second = (rows.sweep(some_weights(rows, seed), soft(2)) for seed in (0, 1))
    made = len(rows.passes)
    rows.slope(first.z, second.z, 0.3, soft(2))
    assert len(rows.passes) == made


def test_values_that_are_not_finite_are_counted_for_each_column():
    X = np.array([[np.nan, 0.0], [np.nan, np.inf], [np.nan, -np.inf]])
    rows = make_problem(1).rows(DenseTable(X))
    nans, infinite = blocks._not_finite(rows)[1]
    assert (nans.tolist(), infinite.tolist()) == ([3, 0], [0, 2])


def test_the_squares_of_the_columns_come_with_the_first_sweep(weights):
    problem = make_problem(1, **WEIGHTS[weights])
    rows, X = in_blocks(np.asarray, problem)
    sweeps = [rows.sweep(np.zeros(rows.weights_shape), soft(2)) for _ in range(2)]
    expected = naive_rows(problem, X).diagonal
    close(rows.diagonal, expected)
    close(rows.reweighted(unlabeled_weight=problem.unlabeled_weight).diagonal, expected)
    close([sweep.squares for sweep in sweeps], expected[: rows.n_features].sum())
    assert [made.what for made in rows.passes] == ["sweep"] * 2


def test_the_passes_over_blocks_take_no_longer_than_the_time_that_went_by():
    rows, _ = in_blocks(np.asarray, make_problem(1))
    start = time.perf_counter()
    rows.sweep(np.zeros(rows.weights_shape), soft(2))
    elapsed = time.perf_counter() - start
    assert 0.0 < sum(one.seconds for one in rows.passes) <= elapsed


@pytest.mark.parametrize(
    ("kind", "gram_columns", "per_row"), [("dense", np.inf, 8 * 3), ("sparse", 256.0, 12)]
)
def test_a_sum_over_blocks_is_as_long_as_a_part_the_parts_and_the_blocks(
    kind, gram_columns, per_row, monkeypatch
):
    rows, _ = in_blocks(np.asarray, make_problem(1, n_features=3, n_unlabeled=500))
    rows.gram_columns = gram_columns
    monkeypatch.setattr(blocks, "BLOCK_BYTES", per_row * 40)
    assert rows.longest_sum == 40 + -(-512 // 40) + 5 + 2 * 8
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)
    assert rows.longest_sum == 32 + -(-512 // 32) + 5 + 2 * 8


def test_as_many_rows_are_gathered_as_memory_allows(monkeypatch):
    monkeypatch.setattr(blocks, "GATHERED_BYTES", 8 * 4 * 10 + 31)
    rows, _ = in_blocks(np.asarray, make_problem(1, n_features=3, n_labeled=40))
    assert rows.most_sampled == 10
    assert 0 < len(rows._labeled.y) < 20
    assert rows._labeled.weight.tolist() == [4.0] * len(rows._labeled.y)
    monkeypatch.setattr(blocks, "GATHERED_BYTES", 1)
    assert in_blocks(np.asarray, make_problem(1))[0].most_sampled == 1
