"""A descent that reads only rows that may change their label takes the steps of block descent."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

from semisquares.core.certificate import gradient_bound
from semisquares.core.curvature import fit_labeled, full_curvature
from semisquares.core.labelings import DialLabels, HardLabels, SimplexDialLabels, SoftLabels, soft
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows, SparseTable, TrackedLabels, tracking
from semisquares.core.solvers import (
    Start,
    StoppingTest,
    batch_size,
    block_descent,
    hard_descent,
    minimise,
    tracked_descent,
    turn_dial,
)
from semisquares.core.solvers.block_descent import _differ_by_rounding
from semisquares.core.solvers.solution import Status
from support.problems import make_problem
from support.watching import watch

module = import_module("semisquares.core.solvers.tracked_descent")

N, D, LABELED = 3000, 8, 30


def problem(
    *,
    intercept=True,
    weighted=False,
    is_sparse=False,
    shift=None,
    seed=0,
    share=1.0,
    empty=(),
    apart=0.25,
):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=N)
    X = (rng.standard_normal((N, D)) + apart * (2 * truth - 1)[:, None]) * 10.0 ** np.arange(-3, 5)
    X[:, 1] += 1e-1
    X[:, list(empty)] = 0.0
    labeled = np.sort(rng.choice(N, LABELED, replace=False))
    rows = MemoryRows(
        SparseTable(sparse.csr_array(X)) if is_sparse else DenseTable(X, shift),
        labeled,
        truth[labeled].astype(float),
        labeled_weight=rng.uniform(0.5, 2.0, LABELED) if weighted else np.ones(LABELED),
        row_weight=rng.uniform(0.0, 2.0, N) if weighted else None,
        unlabeled_weight=share,
        intercept=intercept,
    )
    return Objective(rows, HardLabels(), 1.0), rng.integers(2, size=N).astype(float)


@pytest.fixture
def narrow(monkeypatch):
    """Let levels be formed in small tables, of larger shares; count the rows that are read."""
    for name, value in (("FEWEST_ROWS", 64), ("NARROWING", 8), ("LARGEST_SHARE", 4)):
        monkeypatch.setattr(tracking, name, value)
    monkeypatch.setattr(module, "SMALLEST", 0)
    read = []
    for name in ("_first_pass", "_pass"):
        monkeypatch.setattr(TrackedLabels, name, counted(getattr(TrackedLabels, name), read))
    return read


def counted(method, read):
    def counting(tracked, w, v):
        read.append(tracked.rows.n_rows)
        return method(tracked, w, v)

    return counting


CASES = {
    "plain": {},
    "no intercept": {"intercept": False},
    "weights": {"weighted": True},
    "unlabeled weight": {"share": 0.3},
    "sparse": {"is_sparse": True},
    "shifted": {"shift": np.full(D, 0.1)},
    "empty column": {"empty": [3]},
}


@pytest.mark.parametrize("case", CASES)
def test_the_steps_are_those_of_block_descent(case, narrow):
    objective, start = problem(**CASES[case])
    expected = block_descent(objective, start)
    found = tracked_descent(objective, start)
    unlabeled = objective.memory_rows.unlabeled
    np.testing.assert_array_equal(found.state.labels[unlabeled], expected.state.labels[unlabeled])
    np.testing.assert_allclose(found.w, expected.w, rtol=1e-9, atol=1e-12)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert (found.n_iter, found.status) == (expected.n_iter, Status.STABLE)


def test_a_start_from_any_numbers_is_that_of_block_descent(narrow):
    objective, _ = problem()
    start = np.random.default_rng(1).uniform(size=N)
    expected, found = block_descent(objective, start), tracked_descent(objective, start)
    unlabeled = objective.memory_rows.unlabeled
    np.testing.assert_array_equal(found.state.labels[unlabeled], expected.state.labels[unlabeled])
    assert found.n_iter == expected.n_iter


@pytest.mark.parametrize("limits", [{"max_iter": 3}, {"tol": 0.05}])
def test_limits_end_the_descent_where_block_descent_ends(limits, narrow):
    objective, start = problem()
    expected = block_descent(objective, start, **limits)
    found = tracked_descent(objective, start, **limits)
    unlabeled = objective.memory_rows.unlabeled
    np.testing.assert_array_equal(found.state.labels[unlabeled], expected.state.labels[unlabeled])
    assert (found.n_iter, found.status) == (expected.n_iter, expected.status)


def test_few_rows_are_read_in_most_steps(narrow):
    objective, start = problem()
    found = tracked_descent(objective, start)
    assert sum(narrow) < 0.5 * N * found.n_iter


@pytest.mark.parametrize("case", CASES)
def test_the_path_from_soft_to_hard_is_that_of_block_descent(case, narrow, monkeypatch):
    objective, start = problem(**CASES[case])
    taus = (0.2, 0.5, 0.8)
    found = turn_dial(objective.with_labeling(SoftLabels()), start, taus, 20)
    assert isinstance(found, Start)
    found = found.labels(objective.rows)
    monkeypatch.setattr(module, "SMALLEST", np.inf)
    expected = turn_dial(objective.with_labeling(SoftLabels()), start, taus, 20)
    unlabeled = objective.memory_rows.unlabeled
    np.testing.assert_allclose(found[unlabeled], expected[unlabeled], atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_a_start_from_weights_is_that_from_their_labels(case, narrow):
    objective, _ = problem(**CASES[case])
    rows = objective.rows
    w = np.linalg.solve(rows.labeled_gram + np.eye(rows.n_weights), rows.labeled_moment)
    start = Start(w, objective.labeling)
    expected = block_descent(objective, start.labels(rows))
    found = tracked_descent(objective, start)
    unlabeled = objective.memory_rows.unlabeled
    np.testing.assert_array_equal(found.state.labels[unlabeled], expected.state.labels[unlabeled])
    assert (found.n_iter, found.status) == (expected.n_iter, expected.status)


@pytest.mark.parametrize("case", CASES)
def test_a_start_is_summed_in_one_pass_with_the_gram_matrix(case, narrow):
    objective, other = problem(**CASES[case])[0], problem(**CASES[case])[0].memory_rows
    w = np.linspace(-1.0, 1.0, other.n_weights) / np.sqrt(other.full_gram.diagonal() + 1.0)
    start = Start(w, objective.labeling).summed(objective)
    evenly = case not in ("weights", "unlabeled weight")  # others need the sums of some rows
    assert ("full_gram" in vars(objective.rows)) == evenly
    labels = Start(w, objective.labeling).labels(other)
    labels[other.labeled] = 0.0
    np.testing.assert_array_equal(start.tracked.labels, labels)
    moment, changed = start.tracked.relabel(w)
    assert (changed, narrow) == (0, [N])
    np.testing.assert_allclose(moment, other.moment(labels), rtol=1e-12)
    np.testing.assert_array_equal(objective.rows.full_gram, other.full_gram)


@pytest.mark.parametrize("case", CASES)
def test_a_descent_goes_on_where_the_path_ends(case, narrow):
    objective, start = problem(**CASES[case])
    rows = objective.memory_rows
    turned = turn_dial(objective.with_labeling(SoftLabels()), start, (0.2, 0.5, 0.8), 20)
    expected = block_descent(objective, turned.labels(rows))
    found = tracked_descent(objective, turned)
    np.testing.assert_array_equal(
        found.state.labels[rows.unlabeled], expected.state.labels[rows.unlabeled]
    )
    np.testing.assert_allclose(found.w, expected.w, rtol=1e-9, atol=1e-12)
    assert (found.n_iter, found.status) == (expected.n_iter, expected.status)


@pytest.mark.parametrize("labeling", [HardLabels(), DialLabels(0.5)])
@pytest.mark.parametrize("case", CASES)
def test_labels_are_right_wherever_the_weights_go(case, labeling, narrow):
    """Steps that shrink and turn: tubes are formed within tubes, and weights leave any of them."""
    objective, start = problem(**CASES[case])
    rows, rng = objective.memory_rows, np.random.default_rng(0)
    w = full_curvature(objective).factor.solve(rows.moment(start))
    tracked, size = tracking.TrackedLabels(rows, labeling), np.abs(w)
    step, depths = rng.normal(size=len(w)) * size, set()
    for k in range(120):
        w = w + 0.05 * 0.7 ** (k % 20) * step
        step = step + 0.4 * rng.normal(size=len(w)) * size
        moment, _ = tracked.relabel(w)
        labels = labeling.impute(rows.decisions(w))
        np.testing.assert_allclose(
            moment, rows.moment(labels), rtol=1e-9, atol=1e-9 * np.abs(moment).max()
        )
        depths.add(len(tracked._levels))
    assert max(depths) > 2


@pytest.mark.parametrize("case", CASES)
def test_estimates_differ_from_decision_values_by_less_than_their_bound(case, narrow):
    objective, start = problem(**CASES[case])
    rows = objective.memory_rows
    tracked = tracking.TrackedLabels(rows, HardLabels())
    w = full_curvature(objective).factor.solve(rows.moment(start))
    for size in (1.0, 1.01, 1.0101):
        tracked.relabel(size * w)
    assert len(tracked._levels) > 1
    for level in tracked._levels:
        estimate, error = level.estimates.at(tracked._coordinates(1.02 * w))
        index = np.arange(N) if level.index is None else level.index
        wrong = np.abs(estimate(slice(None)) - rows.decisions(1.02 * w)[index])
        assert (wrong <= error * level.norms)[~np.isin(index, rows.labeled)].all()
        assert error < 1e-3


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("scale", [np.linspace(0.5, 2.0, D), np.full(D, 3.0)])
@pytest.mark.parametrize("centre", [np.arange(1.0, D + 1.0), np.zeros(D)])
def test_distances_are_those_of_the_rows(centre, scale, order):
    rows = problem()[0].memory_rows
    X = np.asarray(rows.table.X, order=order)
    squares = rows.design.distances(X, centre, scale)
    np.testing.assert_allclose(squares, ((X - centre) ** 2) @ scale, rtol=1e-9)


@pytest.mark.parametrize("labeling", [HardLabels(), DialLabels(0.5)])
def test_labels_on_a_border_are_those_of_the_labeling(labeling):
    X = np.arange(-8.0, 13.0)[:, None] / 4.0  # with these weights, rows are on 1/4, 1/2 and 3/4
    rows = MemoryRows(
        DenseTable(X), np.array([0, 20]), np.array([0.0, 1.0]), labeled_weight=np.ones(2)
    )
    tracked = tracking.TrackedLabels(rows, labeling)
    for w in ([1.0, 0.0], [0.5, 0.25], [-1.0, 0.5]):
        moment, _ = tracked.relabel(np.array(w))
        labels = labeling.impute(rows.decisions(np.array(w)))
        np.testing.assert_allclose(moment, rows.moment(labels), atol=1e-13)


def test_only_rows_with_another_label_are_counted_as_changed():
    X = np.arange(-8.0, 13.0)[:, None] / 4.0
    rows = MemoryRows(
        DenseTable(X), np.array([0, 20]), np.array([0.0, 1.0]), labeled_weight=np.ones(2)
    )
    tracked, before = tracking.TrackedLabels(rows, HardLabels()), np.zeros(21)
    for w in ([1.0, 0.0], [0.5, 0.25], [-1.0, 0.5]):
        _, changed = tracked.relabel(np.array(w))
        labels = HardLabels().impute(rows.decisions(np.array(w)))
        assert changed == (labels != before)[rows.unlabeled].sum()
        np.testing.assert_array_equal(tracked.labels[rows.unlabeled], labels[rows.unlabeled])
        before = labels


def test_the_dial_of_three_classes_is_that_of_their_simplex():
    """Also with as many weights for each class as two classes would have labels."""
    few = make_problem(0, n_classes=3, n_features=1)
    objective, start = few.objective("hard"), few.with_known(np.full((len(few.y), 3), 1.0 / 3.0))
    expected = start
    for tau in (0.2, 0.6):
        turned = objective.with_labeling(SimplexDialLabels(tau))
        expected = block_descent(turned, expected, max_iter=5).state.labels
    np.testing.assert_allclose(turn_dial(objective, start, (0.2, 0.6), 5), expected, atol=1e-12)


# -- the path of large tables ----------------------------------------------------------------------

TAUS = (0.2, 0.5, 0.8)


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE_ROWS", 500)
    monkeypatch.setattr(module, "SAMPLE_PER_WEIGHT", 1)
    monkeypatch.setattr(module, "SAMPLE_SHARE", 4)


def soft_start(objective):
    """Return J with soft labels, and its minimiser."""
    relaxed = objective.with_labeling(soft(2 if len(objective.rows.weights_shape) == 1 else 3))
    return relaxed, Start(minimise(relaxed, fit_labeled(relaxed)).w, relaxed.labeling)


def end_of(objective, start, **options):
    """Return where a hard descent from the end of the path stops."""
    relaxed, soft = start
    turned = turn_dial(relaxed, soft, TAUS, 20, **options)
    batch = turned if isinstance(turned, Start) else turned[:, None]
    return hard_descent(objective, [batch])


def drawn():
    return np.random.default_rng(0)


@pytest.mark.parametrize("case", ["plain", "weights", "no intercept", "sparse"])
def test_the_path_of_a_sample_ends_near_that_of_all_rows(case, narrow, small_samples):
    objective, _ = problem(**CASES[case], apart=0.6)
    start = soft_start(objective)
    expected, found = end_of(objective, start), end_of(objective, start, rng=drawn())
    assert found.status is Status.STABLE
    assert found.value < 1.01 * expected.value
    assert (found.state.labels == expected.state.labels).mean() > 0.98


def test_all_rows_are_read_for_the_last_tau_alone(narrow, small_samples, monkeypatch):
    objective, _ = problem()
    relaxed, soft = soft_start(objective)
    turned, turn = [], tracking.TrackedLabels.turn

    def recorded(tracked, labeling):
        turned.append((tracked.rows.n_rows, labeling.tau))
        return turn(tracked, labeling)

    monkeypatch.setattr(tracking.TrackedLabels, "turn", recorded)
    end = turn_dial(relaxed, soft, TAUS, 20, rng=drawn())
    assert turned == [(530, 0.2), (530, 0.5), (530, 0.8), (N, 0.8)]
    sample = replace(relaxed, rows=relaxed.rows.sample(500, drawn()))
    there = turn_dial(sample, Start(soft.w, DialLabels(0.2)), TAUS, 20).w
    expected = turn_dial(relaxed, Start(there, DialLabels(0.8)), (0.8,), 20)
    np.testing.assert_array_equal(end.w, expected.w)
    assert end.labeling == DialLabels(0.8)


def test_a_table_that_is_not_much_larger_than_the_sample_is_read_as_a_whole(narrow, monkeypatch):
    objective, _ = problem()
    relaxed, soft = soft_start(objective)
    monkeypatch.setattr(module, "SAMPLE_PER_WEIGHT", 1)
    for size, sampled in ((objective.rows.n_unlabeled // 16, True), (N // 16, False)):
        monkeypatch.setattr(module, "SAMPLE_ROWS", size)
        drawn_rows = watch(monkeypatch, MemoryRows, "sample")
        turn_dial(relaxed, soft, TAUS, 2, rng=drawn())
        assert bool(drawn_rows) is sampled


def test_a_sample_with_dependent_columns_is_given_up(narrow, small_samples, monkeypatch):
    objective, _ = problem()
    relaxed, soft = soft_start(objective)
    expected = turn_dial(relaxed, soft, TAUS, 20)

    def singular_on_samples(objective):
        found = full_curvature(objective)
        return found if objective.rows.n_rows == N else replace(found, factor=None)

    monkeypatch.setattr(module, "full_curvature", singular_on_samples)
    found = turn_dial(relaxed, soft, TAUS, 20, rng=drawn())
    np.testing.assert_array_equal(found.w, expected.w)


def test_the_path_of_three_classes_is_sampled_as_well(small_samples, monkeypatch):
    few = make_problem(0, n_classes=3, n_features=2, n_labeled=60, n_unlabeled=2400)
    objective = few.objective("hard")
    start = soft_start(objective)
    expected = end_of(objective, start)
    drawn_rows = watch(monkeypatch, MemoryRows, "sample")
    found = end_of(objective, start, rng=drawn())
    assert len(drawn_rows) == 1
    assert found.value < 1.01 * expected.value


def test_a_batch_holds_as_many_starts_as_its_memory():
    assert batch_size(1000, 2) == 2**26 // 8000
    assert batch_size(1000, 5) == 2**26 // 40000
    assert batch_size(2**26, 2) == 1


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_weights_differ_by_rounding_relative_to_their_size(size):
    w = size * np.array([1.0, -3.0])
    assert not _differ_by_rounding(None, w)
    assert _differ_by_rounding(w * (1.0 + 2.0**-50), w)
    assert not _differ_by_rounding(w * (1.0 + 2.0**-44), w)


def test_weights_of_zero_that_stay_are_equal():
    assert _differ_by_rounding(np.zeros(2), np.zeros(2))


@pytest.mark.parametrize("intercept", [True, False])
def test_no_decision_value_moves_further_than_the_weights_times_the_norm_of_its_row(
    intercept, narrow
):
    rows = problem(intercept=intercept)[0].memory_rows
    tracked = tracking.TrackedLabels(rows, HardLabels())
    size = np.append(10.0 ** -np.arange(-3.0, 5.0), [1.0] * intercept)
    first = np.random.default_rng(1).normal(size=rows.n_weights) * size
    for w in (first, 1.01 * first):
        tracked.relabel(w)
    norms = tracked._levels[0].norms
    for change in np.diag(size):
        moved = np.abs(rows.decisions(first + change) - rows.decisions(first))
        there, here = tracked._coordinates(first + change), tracked._coordinates(first)
        most = np.linalg.norm(there - here) * norms
        assert (moved <= 1.000001 * most + 1e-9)[rows.unlabeled].all()


@pytest.mark.parametrize("case", CASES)
def test_the_loss_at_the_end_is_that_of_a_pass(case, narrow, monkeypatch):
    monkeypatch.setattr(tracking, "MOST_CANCELLED", 1e4)  # these columns are far from the origin
    objective, start = problem(**CASES[case])
    rows, tracked = objective.memory_rows, TrackedLabels(objective.memory_rows, HardLabels())
    w = full_curvature(objective).factor.solve(rows.moment(start))
    for size in (1.0, 1.01, 1.0101, 1.0102):
        tracked.relabel(size * w)
    expected = rows.loss(rows.decisions(1.0102 * w), HardLabels())
    assert tracked.loss() == pytest.approx(expected, rel=1e-11)


def tracked_grid(X):
    """Track the labels of rows with one column, the first and the last of which are labeled."""
    known = np.array([0, len(X) - 1])
    table, y = DenseTable(X[:, None]), np.array([0.0, 1.0])
    return TrackedLabels(MemoryRows(table, known, y, labeled_weight=np.ones(2)), HardLabels())


def test_a_loss_whose_terms_cancel_is_left_to_a_pass():
    tracked = tracked_grid(np.repeat([-1.0, 1.0], 20))
    for slope in (0.3, 0.31, 0.3001):
        tracked.relabel(np.array([slope, 0.5]))
    assert tracked.loss() == pytest.approx(40 * 0.1999**2)
    for slope in (0.4999, 0.49999):  # the decision values are nearly 0 and 1
        tracked.relabel(np.array([slope, 0.5]))
    assert tracked.loss() is None


def test_a_loss_with_a_row_on_a_border_is_left_to_a_pass():
    tracked = tracked_grid(np.arange(-8.0, 13.0) / 4.0)
    for w in ([1.0, 0.1], [0.5, 0.25], [0.75, 0.3]):
        tracked.relabel(np.array(w))
    assert tracked.loss() is not None
    tracked.relabel(np.array([0.75, 0.3125]))  # the row at 1/4 has the decision value 1/2
    assert tracked.loss() is None


def test_a_descent_ends_without_a_pass_if_sums_are_precise(narrow, monkeypatch):
    objective, start = problem(apart=0.6)
    monkeypatch.setattr(tracking, "MOST_CANCELLED", 1e4)
    passes = watch(monkeypatch, MemoryRows, "decisions")
    found = tracked_descent(objective, start)
    assert not passes
    assert found.value == pytest.approx(block_descent(objective, start).value, rel=1e-12)


def test_J_is_not_summed_without_a_pass_if_a_row_is_as_close_to_a_border_as_rounding():
    rows = problem()[0].memory_rows
    tracked = tracking.TrackedLabels(rows, HardLabels())
    w = np.zeros(rows.n_weights)
    w[D - 1] = 1.0  # of the largest column
    tracked.relabel(w)
    terms = 1.0 + (np.abs(rows.table.X) @ np.abs(w[:-1])).max()  # of the largest decision value
    tracked._closest = np.finfo(float).eps * terms
    assert tracked.loss() is None
    tracked._closest = 1e6 * np.finfo(float).eps * terms
    assert tracked.loss() is not None


def test_no_batch_is_run_after_the_callback_stops_one():
    objective, start = problem()
    steps = []

    def stop(step):
        steps.append(step)
        return len(steps) > 3

    batches = [np.stack((start, 1.0 - start), axis=1) for _ in range(3)]
    found = hard_descent(objective, iter(batches), max_iter=2, callback=stop)
    assert len(steps) == 4
    assert [end.status for end in found.end_points] == [Status.MAX_ITER] * 2 + [Status.CALLBACK] * 2


def test_a_copy_far_from_its_centre_is_estimated_less_precisely():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, D)).astype(np.float32)
    v = 100.0 * rng.standard_normal(D + 1)
    for far in (0.0, 1e4):
        offset = np.full(D, far)
        estimate, error = tracking._Copy(X + offset.astype(np.float32), offset).at(v)
        digits = (D + 1 + 8) * 2.0**-24
        size = (1.0 + float(np.linalg.norm(offset))) * float(np.linalg.norm(v))
        assert error == pytest.approx(digits * (1.0 + size))
        exact = (X + offset.astype(np.float32)).astype(float) @ v[:-1] + v[-1] - offset @ v[:-1]
        norms = np.sqrt(1.0 + ((X + offset.astype(np.float32) - offset) ** 2).sum(axis=1))
        assert (np.abs(estimate(slice(None)) - exact) <= error * norms).all()


def test_the_scale_of_large_tables_is_that_of_some_of_their_rows():
    rng = np.random.default_rng(0)
    X = 50.0 + rng.standard_normal((3 * tracking.SPREAD_ROWS, 2)) * [2.0, 0.5]
    rows = MemoryRows(DenseTable(X), np.arange(2), np.array([0.0, 1.0]), labeled_weight=np.ones(2))
    centre, scale = tracking._centre_and_scale(rows)
    np.testing.assert_allclose(centre, 50.0, atol=0.2)
    np.testing.assert_allclose(scale, [2.0, 0.5], rtol=0.1)


def some_starts(n=4):
    return np.random.default_rng(7).integers(2, size=(N, n)).astype(float)


@pytest.mark.parametrize("limits", [{}, {"max_iter": 3}, {"tol": 0.02}])
def test_descents_that_run_together_end_as_they_do_alone(limits):
    """Each with its own status and number of steps, and the longest is that of the solution."""
    objective, _ = problem()
    together = hard_descent(objective, [some_starts()], **limits)
    alone = [block_descent(objective, start, **limits) for start in some_starts().T]
    free = objective.memory_rows.unlabeled
    for end, expected in zip(together.end_points, alone, strict=True):
        assert (end.status, end.n_iter) == (expected.status, expected.n_iter)
        assert end.value == pytest.approx(expected.value, rel=1e-10)
        np.testing.assert_array_equal(end.labels[free], expected.state.labels[free])
    n_iter = max(end.n_iter for end in alone)
    assert (together.n_iter, together.n_passes) == (n_iter, n_iter + 1)


def test_a_callback_ends_all_descents_of_a_batch():
    objective, _ = problem()
    found = hard_descent(objective, [some_starts()], callback=lambda step: True)
    assert [(end.status, end.n_iter) for end in found.end_points] == [(Status.CALLBACK, 1)] * 4


def test_a_soft_descent_ends_at_the_first_step_that_meets_its_test():
    objective = replace(problem()[0], labeling=SoftLabels())
    start = np.full(N, 0.5)
    gaps = []

    def bound(gradient):
        gaps.append(gradient_bound(objective)(gradient))
        return gaps[-1]

    test = StoppingTest(bound, 1e-3 * objective.scale)
    found = block_descent(objective, start, test=test)
    assert found.status is Status.GAP
    assert found.n_iter == len(gaps) > 1
    assert gaps[-1] <= test.target < min(gaps[:-1])


def test_a_soft_descent_ends_if_many_steps_changed_its_weights_by_rounding_only(monkeypatch):
    descent = import_module("semisquares.core.solvers.block_descent")
    monkeypatch.setattr(descent, "ROUNDING_STEPS", 2)
    monkeypatch.setattr(descent, "_differ_by_rounding", lambda earlier, w: earlier is not None)
    objective = replace(problem()[0], labeling=SoftLabels())
    never = StoppingTest(gradient_bound(objective), -1.0)
    found = block_descent(objective, np.full(N, 0.5), test=never)
    assert (found.status, found.n_iter) == (Status.ROUNDING, 4)
