"""Newton's method finds the minimiser in a few passes, from anywhere, on anything."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from sklearn.datasets import make_moons
from sklearn.kernel_approximation import Nystroem

from semisquares import SoftLabelClassifier
from semisquares.core import curvature
from semisquares.core.certificate import duality_gap, gradient_bound
from semisquares.core.labelings import SoftLabels
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows
from semisquares.core.rows._design import Design
from semisquares.core.solvers import Status, StoppingTest, fit_labeled, minimise, newton
from support.integer_problems import integer_problems
from support.problems import SETTINGS, SHORT, Problem, make_problem
from support.watching import watch

newton_module = import_module("semisquares.core.solvers.newton")


def solve(problem, **options):
    objective = problem.objective()
    return minimise(objective, fit_labeled(objective), **options)


# -- the minimiser ---------------------------------------------------------------------------------


def test_the_ridge_leaves_the_intercept_out():
    rows = MemoryRows(DenseTable(np.eye(2)), np.arange(2), np.eye(2)[0], labeled_weight=np.ones(2))
    objective = Objective(rows, SoftLabels(), 2.0)
    assert objective.ridge_gradient(np.array([1.0, 3.0, 5.0])).tolist() == [2.0, 6.0, 0.0]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", list(SETTINGS))
def test_a_few_steps_end_exactly_at_the_minimiser(name, seed):
    problem = make_problem(seed, n_unlabeled=80, **SETTINGS[name])
    found = solve(problem)
    assert found.status is Status.EXACT
    assert found.n_iter <= 15
    np.testing.assert_allclose(found.w, problem.solution, rtol=1e-7, atol=1e-9)
    assert found.value == pytest.approx(problem.J(found.w), rel=1e-13)
    assert found.value <= problem.J(problem.solution) * (1 + 1e-13)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", list(SETTINGS))
def test_a_few_steps_end_exactly_for_three_classes(name, seed):
    problem = make_problem(seed, n_classes=3, n_unlabeled=60, **SETTINGS[name])
    found = solve(problem)
    assert found.status is Status.EXACT
    assert found.n_iter <= 15
    assert found.n_passes <= 100  # products with the curvature included
    np.testing.assert_allclose(found.w, problem.solution, atol=1e-5)
    assert found.value <= problem.J(problem.solution) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", list(SHORT))
def test_without_a_ridge_few_labels_have_the_value_of_a_solver_from_outside(name, n_classes, seed):
    problem = make_problem(seed, n_classes=n_classes, **SHORT[name])
    found = solve(problem)
    assert found.status is Status.LEAST_NORM
    assert found.value <= problem.J(problem.solution) + 1e-12 * problem.objective().scale


@pytest.mark.parametrize("difference", [1e-5, 1e-7])
@pytest.mark.parametrize("seed", range(8))
def test_columns_that_are_nearly_copies_reach_what_their_span_allows(seed, difference):
    problem = make_problem(seed, n_features=4, alpha=0.0)
    X = problem.X.copy()
    X[:, 3] = X[:, 0] + difference * X[:, 3]  # the same span, and without a ridge the same J
    found = solve(replace(problem, X=X))
    assert found.status.converged
    assert found.value == pytest.approx(problem.J(problem.solution), rel=1e-6)


def test_a_perfect_fit_without_a_ridge_is_told_to_be_exact():
    problem = Problem(np.array([[2.0, -2.0], [-1.0, -1.0]]), np.array([0, 1]), alpha=0.0)
    assert solve(problem).status is Status.LEAST_NORM


@given(integer_problems())
def test_small_integers_have_the_value_of_a_solver_from_outside(problem):
    found = solve(problem)
    assert found.status.converged
    assert found.value == pytest.approx(problem.J(found.w), abs=1e-12)
    assert found.value == pytest.approx(problem.J(problem.solution), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("copies", [1, 3])
def test_rows_tied_at_0_and_1_do_not_make_it_cycle(alpha, copies):
    grid = np.stack(np.meshgrid(np.arange(-3.0, 4.0), np.arange(-3.0, 4.0)), axis=-1).reshape(-1, 2)
    y = np.full(len(grid), -1)
    y[[8, 12, 36, 40]] = [0, 1, 0, 1]  # the corners of an inner square: z is 0 and 1 on columns
    problem = Problem(np.repeat(grid, copies, axis=0), np.repeat(y, copies), alpha=alpha)
    found = solve(problem)
    assert found.status is Status.EXACT
    assert found.n_iter <= 15
    assert duality_gap(problem.objective(), found.w).relative < 1e-14


# -- what it costs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_step_is_one_sweep(n_classes, monkeypatch):
    problem = make_problem(2, n_classes=n_classes, n_unlabeled=200)
    sweeps = watch(monkeypatch, MemoryRows, "sweep")
    products = watch(monkeypatch, MemoryRows, "curvature_product")
    searches = watch(monkeypatch, newton_module, "exact_search")
    found = solve(problem)
    assert len(sweeps) == 1 + found.n_iter + len(searches)
    assert found.n_passes == len(sweeps) + len(products)


@pytest.mark.parametrize("seed", range(5))
def test_the_curvature_changes_by_the_rows_that_changed_their_side(seed, monkeypatch):
    problem = make_problem(seed, n_unlabeled=400, n_features=6)
    gathered = watch(monkeypatch, MemoryRows, "_unlabeled_gram")
    changed, spent = [], []
    solve(
        problem,
        callback=lambda step: (
            changed.append(step.changed) or spent.append(sum(len(index) for _, index in gathered))
        ),
    )
    assert len(changed) >= 3
    assert changed[0] > 0
    # what a step gathers is what the step before it changed
    assert np.all(np.diff(spent) <= changed[:-1])


def test_a_nearby_fit_hands_over_its_active_set(monkeypatch):
    problem = make_problem(1, n_unlabeled=400, n_features=6)
    objective = problem.objective()
    first = solve(problem)
    other = objective.with_alpha(1.1)
    fresh = newton(other, first.w)
    gathered = watch(monkeypatch, MemoryRows, "_unlabeled_gram")
    warm = newton(other, first.w, active=first.state.active)
    assert sum(len(index) for _, index in gathered) <= 40
    assert warm.status is Status.EXACT
    np.testing.assert_allclose(warm.w, fresh.w, rtol=1e-10)


def test_with_many_columns_a_factor_is_updated_by_the_rows_that_changed(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 140))
    y = (X[:160, 0] + rng.normal(size=160) > 0.0).astype(float)
    rows = MemoryRows(DenseTable(X), np.arange(160), y, labeled_weight=np.ones(160))
    objective = Objective(rows, SoftLabels(), 0.1)
    start = fit_labeled(objective)
    factored = watch(monkeypatch, import_module("semisquares.core.linalg"), "factor")
    updated = newton(objective, start)
    assert len(factored) < updated.n_iter
    monkeypatch.setattr(curvature, "UPDATED_COLUMNS", np.inf)
    factored.clear()
    anew = newton(objective, start)
    assert len(factored) == anew.n_iter
    assert updated.status is anew.status is Status.EXACT
    np.testing.assert_allclose(updated.w, anew.w, rtol=1e-9, atol=1e-12)


def test_the_step_that_confirms_the_end_needs_no_new_factor(monkeypatch):
    objective = make_problem(1, n_unlabeled=80).objective()
    w = fit_labeled(objective)
    factored = watch(monkeypatch, import_module("semisquares.core.linalg"), "factor")
    found = newton(objective, w)
    assert found.status is Status.EXACT
    assert len(factored) == found.n_iter


@pytest.mark.parametrize(
    ("n_labeled", "n_unlabeled", "n_rows"),
    [(40, 60, 4 + 60), (15, 20, 15 + 20), (40, 160, 40 + 160)],
    ids=["many", "few for each weight", "few of all rows"],
)
def test_labeled_rows_of_a_sample_are_condensed_if_they_are_many(n_labeled, n_unlabeled, n_rows):
    problem = make_problem(0, n_labeled=n_labeled, n_unlabeled=n_unlabeled, n_classes=3)
    sample = problem.objective()
    found = import_module(minimise.__module__)._condensed(sample)
    assert found.rows.n_rows == n_rows
    assert found.scale == sample.scale
    few, all_rows = (newton(objective, np.zeros((4, 3))) for objective in (found, sample))
    np.testing.assert_allclose(few.w, all_rows.w, rtol=1e-8, atol=1e-10)


def test_the_multilevel_start_changes_the_way_not_the_end(monkeypatch):
    problem = make_problem(3, n_labeled=40, n_unlabeled=60_000, n_features=5)
    plain = solve(problem)
    samples = watch(monkeypatch, MemoryRows, "sample")
    multilevel = solve(problem, rng=np.random.default_rng(0))
    assert len(samples) == 1
    assert multilevel.status is plain.status is Status.EXACT
    np.testing.assert_allclose(multilevel.w, plain.w, rtol=1e-10)
    assert multilevel.n_iter < plain.n_iter


def test_more_classes_start_from_larger_samples(monkeypatch):
    monkeypatch.setattr(import_module(minimise.__module__), "SAMPLE_ROWS", 64)
    problem = make_problem(3, n_classes=5, n_labeled=40, n_unlabeled=2400, n_features=2)
    samples = watch(monkeypatch, MemoryRows, "sample")
    multilevel = solve(problem, rng=np.random.default_rng(0))
    assert [n_unlabeled for _, n_unlabeled, _ in samples] == [500, 125]
    np.testing.assert_allclose(multilevel.w, solve(problem).w, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("n_unlabeled", "sizes"),
    [(2400, [500, 125]), (1000, [250, 62]), (800, [200]), (240, [60]), (236, [])],
)
def test_no_sample_has_more_than_a_quarter_of_the_rows(n_unlabeled, sizes, monkeypatch):
    """A sample has at least 20 rows for each of the three weights of a class."""
    monkeypatch.setattr(import_module(minimise.__module__), "SAMPLE_ROWS", 64)
    problem = make_problem(3, n_classes=5, n_labeled=40, n_unlabeled=n_unlabeled, n_features=2)
    samples = watch(monkeypatch, MemoryRows, "sample")
    found = solve(problem, rng=np.random.default_rng(0))
    assert [size for _, size, _ in samples] == sizes
    np.testing.assert_allclose(found.w, solve(problem).w, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_start_that_is_far_worse_than_a_constant_is_replaced(n_classes, intercept):
    objective = make_problem(3, n_classes=n_classes, intercept=intercept).objective()
    expected = newton(objective, fit_labeled(objective))
    other = newton(objective, objective.constant)
    far = newton(objective, 1e8 * expected.w, otherwise=objective.constant)
    np.testing.assert_allclose(far.w, other.w, rtol=1e-12, atol=1e-14)
    assert far.n_passes == other.n_passes + 1
    near = newton(objective, expected.w, otherwise=objective.constant)
    assert near.n_passes == newton(objective, expected.w).n_passes < far.n_passes


def test_only_the_solution_on_a_sample_is_replaced_by_a_constant(monkeypatch):
    module = import_module(minimise.__module__)
    called = []
    monkeypatch.setattr(module, "newton", lambda *a, **k: called.append(k) or newton(*a, **k))
    problem = make_problem(3, n_classes=5, n_labeled=40, n_unlabeled=2400, n_features=2)
    solve(problem, rng=np.random.default_rng(0))
    assert [options["otherwise"] for options in called] == [None]
    monkeypatch.setattr(module, "SAMPLE_ROWS", 64)
    monkeypatch.setattr(module, "SAMPLE_PER_CLASS", 10)
    solve(problem, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(called[-1]["otherwise"], problem.objective().constant)


@pytest.mark.parametrize("name", ["plain", "weighted", "no intercept"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_tables_too_wide_for_gram_matrices_have_the_same_minimiser(name, n_classes, monkeypatch):
    problem = make_problem(4, n_classes=n_classes, **SETTINGS[name])
    direct = solve(problem)
    monkeypatch.setattr(Objective, "direct", False)
    monkeypatch.delattr(Design, "gram")
    iterated = solve(problem)
    assert iterated.status is Status.EXACT
    np.testing.assert_allclose(iterated.w, direct.w, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_only_a_curvature_with_the_same_weight_of_unlabeled_rows_is_updated(factor, monkeypatch):
    monkeypatch.setattr(curvature, "UPDATED_COLUMNS", 0)
    objective = make_problem(3, n_features=8).objective()
    piece = objective.sweep(fit_labeled(objective)).piece
    other = objective.with_rows(objective.memory_rows.reweighted(unlabeled_weight=factor))
    known = curvature.active_curvature(other, piece, other.rows.active_gram(piece))
    found = curvature.updated_curvature(objective, piece, piece, known)
    assert (found is not None) == (factor == 1.0)


# -- where it starts and stops ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_from_far_away_J_falls_with_every_step_to_the_same_minimiser(n_classes, seed):
    problem = make_problem(seed, n_classes=n_classes, alpha=0.01, n_unlabeled=100)
    objective, values = problem.objective(), []
    start = 1e3 * np.random.default_rng(seed).normal(size=problem.solution.shape)
    found = newton(objective, start, callback=lambda step: values.append(step.value))
    assert np.all(np.diff([problem.J(start), *values]) <= 1e-12 * objective.scale)
    assert found.status is Status.EXACT
    assert found.value == pytest.approx(problem.J(problem.solution), rel=1e-12)


def test_where_a_full_step_overshoots_anexact_search_finds_the_best_point_on_it(monkeypatch):
    found, values, search = [], [], newton_module.exact_search

    def recorded(objective, first, second):
        found.append((objective, first, second, search(objective, first, second)))
        return found[-1][-1]

    monkeypatch.setattr(newton_module, "exact_search", recorded)
    for seed in range(40):
        problem = make_problem(seed, n_labeled=3, n_unlabeled=30, n_features=6, alpha=1e-3)
        w = np.random.default_rng(seed).normal(size=7)
        end = newton(problem.objective(), w, callback=lambda step: values.append(step.value))
        assert end.status is Status.EXACT
    assert found
    for objective, first, second, t in found:
        along = [
            objective.value(objective.sweep(first.w + s * (second.w - first.w)))
            for s in (t, *np.linspace(0, 1, 101))
        ]
        assert along[0] <= min(along) * (1 + 1e-9)
        assert np.isclose(values, along[0], rtol=1e-9).any()  # the step is taken to there


def test_a_search_in_a_direction_of_tiny_steps_ends():
    rng = np.random.default_rng(29)
    d = int(rng.integers(4, 14))
    n_labeled, n_unlabeled = int(rng.integers(2, d)), int(rng.integers(3, 60))
    n = n_labeled + n_unlabeled
    X, y = rng.standard_normal((n, d)), np.arange(n) % 2
    X += rng.standard_normal(d) * y[:, None]
    X *= 10.0 ** rng.uniform(-2, 2, size=d)
    problem = Problem(X, np.where(np.arange(n) < n_labeled, y, -1), alpha=1e-12)
    assert solve(problem).value < 1e-9


def test_a_stopping_test_ends_it_with_a_certified_gap():
    problem = make_problem(5, n_unlabeled=300, n_features=8)
    objective = problem.objective()
    full = solve(problem)
    early = solve(problem, test=StoppingTest(gradient_bound(objective), 0.1 * objective.scale))
    assert early.status is Status.GAP
    assert early.n_iter < full.n_iter
    assert full.value < early.value <= full.value + 0.1 * objective.scale


def test_only_a_step_that_moved_no_row_shows_that_the_minimum_is_exact():
    objective = make_problem(2).objective()
    exact = minimise(objective, fit_labeled(objective))
    assert exact.status is Status.EXACT
    test = StoppingTest(gradient_bound(objective), 1e-6 * objective.scale)
    assert newton(objective, exact.w, test=test).status is Status.GAP


def test_a_callback_ends_it():
    found = solve(make_problem(5, n_unlabeled=300), callback=lambda step: step.iteration == 2)
    assert (found.status, found.n_iter) == (Status.CALLBACK, 2)


def test_a_step_that_reaches_the_gap_is_not_stopped_by_max_iter():
    objective = make_problem(5, n_unlabeled=300).objective()
    test = StoppingTest(gradient_bound(objective), 1e-10 * objective.scale)
    found = solve(make_problem(5, n_unlabeled=300), test=test)
    again = solve(make_problem(5, n_unlabeled=300), test=test, max_iter=found.n_iter)
    fewer = solve(make_problem(5, n_unlabeled=300), test=test, max_iter=found.n_iter - 1)
    assert again.status is found.status
    assert found.status.converged
    assert fewer.status is Status.MAX_ITER


def test_max_iter_ends_it():
    found = solve(make_problem(5, n_unlabeled=300), max_iter=2)
    assert (found.status, found.n_iter) == (Status.MAX_ITER, 2)


@pytest.mark.parametrize("seed", range(2))
def test_weights_that_labels_and_ridge_hardly_hold_take_more_steps_to_the_exact_end(seed):
    X, truth = make_moons(500, noise=0.1, random_state=seed)
    X = Nystroem(gamma=2.0, n_components=60, random_state=0).fit_transform(X)
    kept = np.concatenate([np.flatnonzero(truth == k)[:5] for k in (0, 1)])
    y = np.full(500, -1)
    y[kept] = truth[kept]
    model = SoftLabelClassifier(alpha=1e-8).fit(X, y)
    assert model.n_iter_ > 100
    assert model.certificate_ < 1e-12


# -- scales ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [4.0**-40, 4.0**40])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", list(SETTINGS | SHORT))
def test_all_weights_and_the_ridge_times_a_constant_change_nothing(name, n_classes, factor):
    problem = make_problem(1, n_classes=n_classes, **(SETTINGS | SHORT)[name])
    ones = np.ones(len(problem.y))
    weight = ones if problem.sample_weight is None else problem.sample_weight
    plain = solve(replace(problem, sample_weight=weight))
    found = solve(replace(problem, sample_weight=factor * weight, alpha=factor * problem.alpha))
    np.testing.assert_allclose(found.w, plain.w, rtol=1e-9, atol=1e-12)
    assert found.value == pytest.approx(factor * plain.value, rel=1e-12)
    assert (found.status, found.n_iter) == (plain.status, plain.n_iter)


@pytest.mark.parametrize("name", list(SHORT))
def test_passes_without_a_ridge_are_all_counted(name, monkeypatch):
    problem = make_problem(0, **SHORT[name])
    sweeps = watch(monkeypatch, MemoryRows, "sweep")
    assert solve(problem).n_passes == len(sweeps)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["plain", "no intercept", "weighted", "wide"])
def test_the_labeled_rows_of_tables_too_wide_for_gram_matrices_have_the_same_fit(
    name, n_classes, monkeypatch
):
    problem = make_problem(1, n_classes=n_classes, **SETTINGS[name])
    known = problem.known
    system = problem.gram(known) + np.diag(problem.penalty)
    targets = problem.targets(problem.y[known])
    moment = problem.design[known].T @ (problem.weight[known] * targets.T).T
    monkeypatch.setattr("semisquares.core.objective.MAX_DIRECT", 1)
    products = watch(monkeypatch, MemoryRows, "labeled_product")
    found = fit_labeled(problem.objective())
    np.testing.assert_allclose(found, np.linalg.solve(system, moment), rtol=1e-9, atol=1e-9)
    assert len(products) <= 3 * len(system)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("first", "second"), [(-2.0, 3.0), (-2.0, -0.5), (0.5, 2.0), (-0.3, 1.0)])
def test_the_search_on_a_segment_finds_its_lowest_point(first, second, n_classes):
    problem = make_problem(4, n_classes=n_classes)
    objective, away = problem.objective(), np.ones(problem.solution.shape)
    ends = [objective.sweep(problem.solution + t * away) for t in (first, second)]
    t = newton_module.exact_search(objective, *ends)
    grid = np.linspace(0.0, 1.0, 1001)
    values = [problem.J(ends[0].w + s * (ends[1].w - ends[0].w)) for s in grid]
    assert t == pytest.approx(grid[np.argmin(values)], abs=2e-3)
    assert 0.0 <= t <= 1.0


@pytest.mark.parametrize("name", list(SHORT))
def test_steps_with_a_vanishing_ridge_report_J_without_it_and_count_on(name):
    problem, steps = make_problem(0, **SHORT[name]), []
    found = solve(problem, callback=steps.append)
    assert [step.iteration for step in steps] == list(range(1, found.n_iter + 1))
    for step in steps:
        assert step.value == pytest.approx(problem.J(step.w), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_of_zeros_is_left_alone_by_the_diagonal_preconditioner(n_classes):
    problem = make_problem(0, n_classes=n_classes, alpha=0.0)
    X = problem.X.copy()
    X[:, 0] = 0.0
    objective = replace(problem, X=X).objective()
    r = np.random.default_rng(0).standard_normal(objective.rows.weights_shape)
    diagonal = np.append(1.0, objective.rows.diagonal[1:])
    np.testing.assert_allclose(curvature.jacobi(objective)(r), (r.T / diagonal).T)
