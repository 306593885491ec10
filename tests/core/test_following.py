"""Rows near a border are followed over it, so that few passes over all rows are needed."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from semisquares import SoftLabelClassifier
from semisquares.core.certificate import duality_gap
from semisquares.core.labelings import SoftLabels
from semisquares.core.objective import Objective
from semisquares.core.rows import MemoryRows, SparseTable
from semisquares.core.solvers import Status, fit_labeled, newton
from support.integer_problems import integer_problems
from support.problems import SETTINGS, Problem, make_problem
from support.watching import watch

memory = import_module("semisquares.core.rows.memory")
newton_module = import_module("semisquares.core.solvers.newton")
steps = import_module("semisquares.core.solvers._steps")


def follow_all(patch):
    """Follow rows in tables of any size, however many are near."""
    for name, value in (("BOUNDARY_VALUES", 0), ("BOUNDARY_SHARE", 1), ("BOUNDARY_WIDTH", np.inf)):
        patch.setattr(memory, name, value)


@pytest.fixture
def follow(monkeypatch):
    follow_all(monkeypatch)


def solve(problem):
    objective = problem.objective()
    return newton(objective, fit_labeled(objective))


# -- the same end, in fewer passes -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", list(SETTINGS))
def test_the_end_is_the_minimiser_as_ever(name, seed, follow):
    problem = make_problem(seed, n_unlabeled=80, **SETTINGS[name])
    found = solve(problem)
    assert found.status is Status.EXACT
    np.testing.assert_allclose(found.w, problem.solution, rtol=1e-7, atol=1e-9)
    assert found.value == pytest.approx(problem.J(found.w), rel=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_where_all_rows_are_followed_one_step_is_the_way(seed, follow, monkeypatch):
    problem = make_problem(seed, n_unlabeled=60, n_features=6)
    monkeypatch.setattr(memory, "BOUNDARY_REACH", 1e6)
    sweeps = watch(monkeypatch, MemoryRows, "sweep")
    found = solve(problem)
    assert (found.n_iter, found.n_passes, len(sweeps)) == (1, 2, 2)
    assert found.status is Status.EXACT
    np.testing.assert_allclose(found.w, problem.solution, rtol=1e-7, atol=1e-9)


def test_no_search_where_a_followed_step_ends_at_the_minimiser(follow, monkeypatch):
    problem = make_problem(117, n_labeled=6, n_unlabeled=20, unlabeled_weight=1e3)
    monkeypatch.setattr(memory, "BOUNDARY_REACH", 1e6)
    sweeps = watch(monkeypatch, MemoryRows, "sweep")
    searches = watch(monkeypatch, newton_module, "exact_search")
    found = solve(problem)
    assert found.status is Status.EXACT
    assert all(second.changed for _, _, second in searches)
    assert len(sweeps) == 1 + found.n_iter + len(searches)


@pytest.mark.parametrize("seed", range(2))
def test_a_followed_step_leaves_the_curvature_at_its_end_to_the_next(seed, follow, monkeypatch):
    problem = make_problem(seed, n_unlabeled=400, n_features=6, weighted=True, unlabeled_weight=0.2)
    monkeypatch.setattr(memory, "BOUNDARY_REACH", 1e6)
    objective, take_step = problem.objective(), steps.DirectSteps(problem.objective(), None)
    w = fit_labeled(objective)
    end = objective.sweep(w + take_step(objective.sweep(w)), take_step.active.piece)
    assert end.changed == 0
    nudged = replace(end, gradient=end.gradient + 1.0)
    H = problem.gram(np.flatnonzero(end.piece)) + np.diag(problem.penalty)
    np.testing.assert_allclose(H @ take_step(nudged), -1.0, rtol=1e-9)


def test_a_large_table_needs_two_passes_after_its_sample(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60_000)
    X = rng.normal(size=(60_000, 20)) + 0.3 * (2 * truth - 1)[:, None]
    y = np.where(np.arange(60_000) < 300, truth, -1)
    sweeps = watch(monkeypatch, MemoryRows, "sweep")

    def fitted():
        sweeps.clear()
        model = SoftLabelClassifier().fit(X, y)
        assert model.solution_.status is Status.EXACT
        # one for each step and one before the first; none for the certificate
        assert sum(rows.n_rows == 60_000 for rows, *_ in sweeps) == 1 + model.n_iter_
        return model

    followed = fitted()
    monkeypatch.setattr(memory, "BOUNDARY_VALUES", np.inf)
    plain = fitted()
    assert followed.n_iter_ == 1
    assert plain.n_iter_ >= 3
    np.testing.assert_allclose(followed.coef_, plain.coef_, rtol=1e-10)


def test_sparse_rows_are_followed_too(follow):
    problem = make_problem(3, n_unlabeled=80, n_features=5)
    problem = replace(problem, X=np.where(np.abs(problem.X) < 0.5, 0.0, problem.X))
    rows = problem.rows(SparseTable(sparse.csr_array(problem.X)))
    objective = Objective(rows, SoftLabels(), problem.alpha)
    found = newton(objective, fit_labeled(objective))
    assert found.status is Status.EXACT
    np.testing.assert_allclose(found.w, problem.solution, rtol=1e-7, atol=1e-9)


@given(integer_problems())
def test_rows_on_the_border_do_not_hold_it_up(problem):
    problem = replace(problem, alpha=0.5)
    with pytest.MonkeyPatch.context() as patch:
        follow_all(patch)
        found = solve(problem)
    assert found.status.converged
    assert found.value == pytest.approx(problem.J(problem.solution), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_go_in_circles_are_left_to_the_next_pass(seed, follow, monkeypatch):
    problem = make_problem(seed, n_unlabeled=400, n_features=6)
    monkeypatch.setattr(memory, "BOUNDARY_VALUES", np.inf)
    plain = solve(problem)
    monkeypatch.setattr(memory, "BOUNDARY_VALUES", 0)
    monkeypatch.setattr(steps, "MAX_TURNS", 1)  # whatever moves, moves too long
    found = solve(problem)
    assert found.status is Status.EXACT
    assert found.n_iter == plain.n_iter
    np.testing.assert_array_equal(found.w, plain.w)


def test_where_a_followed_step_lost_its_digits_it_is_not_the_end(follow):
    problem = make_problem(40, n_labeled=8, unlabeled_weight=1e6)
    objective = replace(problem, X=problem.X + 1e4).objective()  # as sparse rows are: not shifted
    found = newton(objective, 1e3 * np.random.default_rng(40).normal(size=4))
    assert found.status is Status.EXACT
    assert duality_gap(objective, found.w).relative < 1e-11


def test_a_followed_step_that_rounding_turned_uphill_is_not_taken(follow):
    x = 1e5 + np.array([2.0, 2.0, -1.0, 1.0, 1.0, 2.0])
    copy = x + 1e-2 + 1e-7 * np.array([2.0, -1.0, -2.0, 1.0, -1.0, 1.0])
    y = np.array([-1, 1, -1, 0, 0, 1])
    problem = Problem(np.stack((x, copy), axis=1), y, alpha=1e-3, unlabeled_weight=1e6)
    start = problem.J(fit_labeled(problem.objective()))
    assert solve(problem).value < 1e-2 * start  # it stopped there


# -- which rows ------------------------------------------------------------------------------------


def decrease_of(problem, sweep, reach):
    """How much a step lowers J by that moves rows by `reach` over BOUNDARY_REACH in the mean."""
    z = problem.design @ sweep.w
    counts = problem.known | (z < 0.0) | (z > 1.0)
    return (reach / memory.BOUNDARY_REACH) ** 2 * problem.weight[counts].sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_near_are_the_unlabeled_rows_within_reach_of_0_or_1(weighted, follow):
    problem = make_problem(1, n_unlabeled=500, weighted=weighted, unlabeled_weight=0.3)
    objective = problem.objective()
    sweep = objective.sweep(2.0 * fit_labeled(objective))
    near = objective.rows.boundary_rows(sweep, decrease_of(problem, sweep, 0.2), SoftLabels())
    index, few = near.index, near.rows
    z = problem.design @ sweep.w
    within = (np.abs(z) < 0.2) | (np.abs(z - 1.0) < 0.2)
    np.testing.assert_array_equal(index, np.flatnonzero(within & ~problem.known))
    np.testing.assert_allclose(few.decisions(sweep.w), z[index], rtol=1e-12)
    np.testing.assert_allclose(few.weights, problem.weight[index])
    np.testing.assert_array_equal(near.z, sweep.z[index])
    np.testing.assert_array_equal(near.piece, sweep.piece[index])


@pytest.mark.parametrize(
    ("setting", "value"),
    [("BOUNDARY_VALUES", 2000), ("BOUNDARY_SHARE", 100), ("BOUNDARY_WIDTH", 1 / 64)],
)
def test_where_it_does_not_pay_none_are_looked_at(setting, value, follow, monkeypatch):
    problem = make_problem(1, n_unlabeled=500)
    objective = problem.objective()
    sweep = objective.sweep(fit_labeled(objective))
    found = objective.rows, sweep, decrease_of(problem, sweep, 0.1), SoftLabels()
    assert 12 <= len(MemoryRows.boundary_rows(*found).z) <= 250
    monkeypatch.setattr(memory, setting, value)
    assert MemoryRows.boundary_rows(*found) is None
