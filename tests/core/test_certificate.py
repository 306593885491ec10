"""Certificates hold everywhere, and are worth something where it counts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from semisquares import HardLabelClassifier, SoftLabelClassifier
from semisquares.core import certificate
from semisquares.core.certificate import (
    duality_gap,
    gradient_bound,
    is_label_stable,
    relaxation_gap,
)
from semisquares.core.labelings import SoftLabels
from semisquares.core.objective import Objective
from semisquares.core.rows import MemoryRows, SparseTable
from semisquares.core.solvers import Status, fit_labeled, minimise, newton
from support.problems import SETTINGS, SHORT, make_problem
from support.watching import watch

KINDS = [(name, n_classes) for name in (SETTINGS | SHORT) for n_classes in (2, 3)]
SPANNED = [(name, n_classes) for name in SETTINGS for n_classes in (2, 3)]
LITTLE = {"n_labeled": 6, "n_unlabeled": 9, "n_features": 2}


def problem_of(name, n_classes, seed=1):
    return make_problem(seed, n_classes=n_classes, **(SETTINGS | SHORT)[name])


def perturbed(problem, n, largest=2.0, seed=0):
    """Weights around the minimiser, at distances from 1e-5 to 10**largest."""
    rng = np.random.default_rng(seed)
    for size in 10.0 ** rng.uniform(-5.0, largest, n):
        yield problem.solution + size * rng.normal(size=problem.solution.shape)


def dual_point(objective, w):
    """Return the residuals at w, ready for proofs."""
    return certificate._DualPoint(objective, objective.sweep(w), np.sqrt(norms_squared(objective)))


def norms_squared(objective):
    return objective.rows.diagonal[: objective.rows.n_features]


# 20 problems × 20 weights
@pytest.mark.parametrize(("name", "n_classes"), KINDS)
def test_no_weights_are_further_from_the_optimum_than_their_duality_gap(name, n_classes):
    problem = problem_of(name, n_classes)
    objective, least = problem.objective(), problem.J(problem.solution)
    for w in perturbed(problem, 20):
        gap = duality_gap(objective, w)
        assert gap.value == pytest.approx(problem.J(w), rel=1e-12)
        assert gap.absolute >= 0.0
        assert problem.J(w) - least <= gap.absolute + 1e-13 * problem.J(w)


@pytest.mark.parametrize("seed", [22, 24, 25])
def test_bounds_hold_where_columns_are_far_from_the_origin_and_nearly_copies(seed):
    near = make_problem(seed, n_labeled=18, n_unlabeled=60, n_features=5, alpha=0.0)
    near.X[:, -1] = near.X[:, 0] + 1e-4 * near.X[:, -1]
    far = replace(near, X=near.X + 1e5)  # the same J: the intercept makes up for it
    rows = far.rows(SparseTable(csr_array(far.X)))  # sparse columns are not shifted
    objective = Objective(rows, SoftLabels(), 0.0)
    w = newton(objective, 1e3 * np.random.default_rng(seed).normal(size=6)).w
    true = far.J(w) - near.J(near.solution)
    assert true <= duality_gap(objective, w).absolute + 1e-3  # J itself has lost as many digits


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bounds_hold_where_a_column_is_zero_on_the_labeled_rows(n_classes):
    problem = make_problem(3, n_classes=n_classes, n_labeled=12, n_features=2, alpha=0.0)
    problem.X[problem.known, 1] = 0.0
    objective, least = problem.objective(), problem.J(problem.solution)
    for w in perturbed(problem, 60):
        assert problem.J(w) - least <= duality_gap(objective, w).absolute + 1e-13 * problem.J(w)


@pytest.mark.parametrize("name", list(SETTINGS))
def test_with_three_classes_the_gap_is_mostly_little_more_than_the_suboptimality(name):
    problem = problem_of(name, 3)
    objective, least = problem.objective(), problem.J(problem.solution)
    ratios = [
        duality_gap(objective, w).absolute / (problem.J(w) - least)
        for w in perturbed(problem, 40, largest=-0.5)
    ]
    assert np.median(ratios) <= 2.0


def test_a_pass_that_was_made_serves_its_own_weights_only(monkeypatch):
    problem = make_problem(1)
    objective = problem.objective()
    first, second = perturbed(problem, 2)
    expected = [duality_gap(objective, w) for w in (first, second)]
    sweep, passes = objective.sweep(first), []
    monkeypatch.setattr(
        Objective,
        "sweep",
        lambda self, w, plain=Objective.sweep: passes.append(w) or plain(self, w),
    )
    assert duality_gap(objective, first, sweep=sweep) == expected[0]
    assert not passes
    assert duality_gap(objective, second, sweep=sweep) == expected[1]
    assert len(passes) == 1


@pytest.mark.parametrize(("name", "n_classes"), SPANNED)
def test_no_weights_are_further_from_the_optimum_than_their_gradient_bound(name, n_classes):
    problem = problem_of(name, n_classes)
    objective, least = problem.objective(), problem.J(problem.solution)
    bound = gradient_bound(objective)
    for w in perturbed(problem, 60):
        half_gradient = objective.gradient(objective.sweep(w))
        assert problem.J(w) - least <= bound(half_gradient) + 1e-13 * problem.J(w)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_bounds_hold_without_forming_a_gram_matrix(n_classes, intercept, monkeypatch):
    monkeypatch.setattr(Objective, "direct", False)
    problem = make_problem(4, n_classes=n_classes, intercept=intercept, weighted=True)
    objective, least = problem.objective(), problem.J(problem.solution)
    for w in perturbed(problem, 60):
        assert problem.J(w) - least <= duality_gap(objective, w).absolute + 1e-13 * problem.J(w)


@pytest.mark.parametrize("alpha", [0.3, 1e4])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_bound_of_wide_tables_is_above_that_of_the_gram_matrix(intercept, alpha, monkeypatch):
    problem = make_problem(4, intercept=intercept, weighted=True, alpha=alpha)
    objective = problem.objective()
    exact = gradient_bound(objective)
    monkeypatch.setattr(Objective, "direct", False)
    wide = gradient_bound(objective)
    random = np.random.default_rng(0).normal(size=(100, len(problem.penalty)))
    for h in (*np.eye(len(problem.penalty)), *random):
        assert exact(h) <= wide(h) * (1 + 1e-12)


@pytest.mark.parametrize("error", [1e-3, -1e-3])
@pytest.mark.parametrize("name", ["plain", "no intercept", "weighted", "wide", "no ridge"])
def test_a_rough_dual_point_proves_less_never_something_false(name, error, monkeypatch):
    problem = problem_of(name, 2)
    objective, solve = problem.objective(), certificate._Inverse.solve
    last = np.eye(len(problem.penalty))[:, -1:]
    monkeypatch.setattr(
        certificate._Inverse, "solve", lambda self, h: solve(self, h) + error * last
    )
    least = problem.J(problem.solution)
    for w in perturbed(problem, 60):
        point = dual_point(objective, w)
        bounds = [*point.by_active_rows(), *point.by_all_rows()]
        assert bounds
        assert problem.J(w) - least <= min(bounds) + 1e-13 * problem.J(w)


@pytest.mark.parametrize("name", ["plain", "weighted", "no ridge"])
def test_what_a_bad_inverse_is_worth_is_measured_not_believed(name, monkeypatch):
    problem = problem_of(name, 2)
    objective, least = problem.objective(), problem.J(problem.solution)
    solve = certificate.dense.solve_triangular
    monkeypatch.setattr(certificate.dense, "solve_triangular", lambda L, b: 0.9 * solve(L, b))
    for w in perturbed(problem, 60):
        point = dual_point(objective, w)
        for bound in (*point.by_labeled_rows(), *point.by_active_rows()):
            assert problem.J(w) - least <= bound + 1e-13 * problem.J(w)


@pytest.mark.parametrize(("name", "n_classes"), KINDS)
def test_the_gap_is_nothing_at_the_minimiser(name, n_classes):
    objective = problem_of(name, n_classes).objective()
    w = minimise(objective, fit_labeled(objective)).w
    assert duality_gap(objective, w).relative < 1e-14


@pytest.mark.parametrize("name", list(SETTINGS))
def test_once_all_rows_are_on_their_side_the_gap_is_the_suboptimality(name):
    problem = problem_of(name, 2)
    z = (problem.design @ problem.solution)[~problem.known]
    margin = np.minimum(np.abs(z), np.abs(z - 1.0)).min()
    direction = np.random.default_rng(0).normal(size=problem.solution.shape)
    step = 0.9 * margin / np.abs(problem.design @ direction).max()
    w = problem.solution + step * direction
    true = problem.J(w) - problem.J(problem.solution)
    assert duality_gap(problem.objective(), w).absolute == pytest.approx(true, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("name", list(SETTINGS))
def test_elsewhere_the_gap_is_mostly_little_more_than_the_suboptimality(name):
    problem = problem_of(name, 2)
    objective, least = problem.objective(), problem.J(problem.solution)
    ratios = [
        duality_gap(objective, w).absolute / (problem.J(w) - least) for w in perturbed(problem, 60)
    ]
    assert np.median(ratios) <= 1.3
    assert max(ratios) <= 20.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", list(SHORT))
def test_every_gap_of_two_classes_is_finite(name, seed):
    problem = problem_of(name, 2, seed)
    objective = problem.objective()
    gaps = [duality_gap(objective, w).absolute for w in perturbed(problem, 25)]
    assert np.isfinite(gaps).all()


@pytest.mark.parametrize("size", [1e-140, 1e140])
def test_weights_whose_squares_leave_the_range_of_float64_prove_nothing(size):
    plain = make_problem(1)
    heavy = replace(plain, alpha=size, sample_weight=np.full(len(plain.y), size))
    assert duality_gap(heavy.objective(), plain.solution).absolute == np.inf


def test_a_ridge_too_small_to_be_squared_adds_itself_to_the_gap_without_it(monkeypatch):
    monkeypatch.setattr(certificate, "LARGEST", 1e3)  # 5e-4 is too small then
    problem = make_problem(1, alpha=5e-4)
    objective, w = problem.objective(), 1.5 * problem.solution
    without = duality_gap(objective.with_alpha(0.0), w)
    ridge = float(problem.penalty @ w**2)
    found = duality_gap(objective, w)
    assert found.absolute - without.absolute == pytest.approx(ridge, rel=1e-4)
    assert found.value == pytest.approx(problem.J(w), rel=1e-12)


def test_a_ridge_too_small_to_be_squared_proves_nothing_about_copied_columns():
    """So they are left out, as without a ridge."""
    problem = make_problem(1, alpha=0.0)
    problem = replace(problem, X=np.column_stack((problem.X, problem.X[:, 0])))
    found = minimise(problem.objective(), fit_labeled(problem.objective()))
    tiny = replace(problem, alpha=1e-140).objective()
    assert duality_gap(tiny, found.w).relative < 1e-9


def test_wide_tables_have_the_proof_by_a_ridge_of_any_size(monkeypatch):
    monkeypatch.setattr(certificate, "WIDE", 0)
    problem = make_problem(1, n_labeled=6, n_unlabeled=9, n_features=20, alpha=0.5)
    assert duality_gap(problem.objective(), problem.solution).relative < 1e-6


@pytest.mark.parametrize("name", list(SETTINGS))
def test_a_correction_that_leaves_its_piece_for_nothing_would_claim_something_false(
    name, monkeypatch
):
    monkeypatch.setattr(MemoryRows, "dual_overshoot", lambda *_: 0.0)
    problem = problem_of(name, 2)
    objective, least = problem.objective(), problem.J(problem.solution)
    assert any(
        problem.J(w) - least > 1.01 * min(dual_point(objective, w).by_active_rows())
        for w in perturbed(problem, 60)
    )


@pytest.mark.parametrize(("name", "n_classes"), SPANNED)
def test_a_relative_gap_is_divided_by_J_of_the_best_constant(name, n_classes):
    problem = problem_of(name, n_classes)
    w = np.zeros_like(problem.solution)
    y = problem.targets(problem.y[problem.known])
    mean = np.average(y, axis=0, weights=problem.weight[problem.known])
    w[-1:] = mean * problem.intercept  # without an intercept the one constant at hand is 0
    gap = duality_gap(problem.objective(), problem.solution + 1.0)
    assert gap.relative == pytest.approx(gap.absolute / problem.J(w), rel=1e-12)
    assert problem.J(problem.solution) <= gap.scale


def test_the_soft_classifiers_certificate_is_the_gap_of_its_weights():
    problem = make_problem(3, alpha=0.5)
    with pytest.warns(UserWarning, match="max_iter=2"):
        model = SoftLabelClassifier(0.5, solver="block", max_iter=2).fit(problem.X, problem.y)
    w = np.append(model.coef_, model.intercept_ + 0.5)
    true = (problem.J(w) - problem.J(problem.solution)) / problem.objective().scale
    assert model.certificate_ == pytest.approx(duality_gap(problem.objective(), w).relative)
    assert true <= model.certificate_ <= 5.0 * true


@pytest.mark.parametrize(
    ("tol", "status"), [(1e-20, Status.BOUND), (1e-15, Status.GAP), (1e-4, Status.GAP)]
)
def test_a_fit_is_said_to_have_reached_tol_only_if_its_certificate_has(tol, status):
    problem = make_problem(3, alpha=0.5)
    model = SoftLabelClassifier(0.5, solver="block", tol=tol).fit(problem.X, problem.y)
    assert model.solution_.status is status
    assert model.termination_condition_ == status.value
    assert (model.certificate_ <= tol) == (status is Status.GAP)


# -- hard labels -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(SETTINGS | SHORT))
def test_the_relaxation_gap_bounds_the_distance_to_the_best_of_all_labelings(name):
    problem = make_problem(5, **(SETTINGS | SHORT)[name] | LITTLE)
    soft, hard = problem.objective(), problem.objective("hard")
    bound = duality_gap(soft, problem.solution).bound
    values, weights = problem.refit(problem.labelings())
    for w in weights.T[::16]:
        gap = relaxation_gap(hard, w, bound)
        assert gap.value == pytest.approx(problem.J(w, "hard"), rel=1e-12)
        assert gap.absolute >= gap.value - values.min() - 1e-13
        assert gap.bound == pytest.approx(bound, abs=1e-13)


@pytest.mark.parametrize(
    "settings",
    [{"certify": True}, {"init": "soft"}, {"init": "path"}, {"certify": True, "n_init": 5}],
)
@pytest.mark.parametrize("name", ["plain", "weighted", "no ridge"])
def test_a_hard_classifiers_certificate_is_its_relaxation_gap(name, settings):
    problem = make_problem(6, **SETTINGS[name] | LITTLE)
    model = HardLabelClassifier(**problem.settings, random_state=0, **settings)
    model.fit(problem.X, problem.y, problem.sample_weight)
    least = problem.refit(problem.labelings())[0].min()
    scale = problem.objective().scale
    relaxed = model.objective_ - problem.J(problem.solution)
    assert model.certificate_ == pytest.approx(relaxed / scale, rel=1e-9)
    assert model.certificate_ >= (model.objective_ - least) / scale


@pytest.mark.parametrize("init", ["supervised", "random"])
def test_a_hard_classifier_that_was_not_asked_has_no_certificate(init):
    problem = make_problem(6)
    model = HardLabelClassifier(init=init, random_state=0).fit(problem.X, problem.y)
    assert np.isnan(model.certificate_)


def test_labels_are_stable_where_refitting_and_imputing_changes_none():
    problem = make_problem(7, **LITTLE)
    hard = problem.objective("hard")
    labels = problem.labelings()
    weights = problem.refit(labels)[1]
    imputed = (problem.design @ weights > 0.5) == labels
    told = [
        is_label_stable(hard, column, lambda u: problem.refit(u[:, None])[1][:, 0])
        for column in labels.T
    ]
    assert told == imputed[~problem.known].all(axis=0).tolist()
    assert 0 < sum(told) < len(told)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e12])
def test_the_norm_of_X_has_a_margin_for_the_rounding_of_its_squares(size, monkeypatch):
    problem = make_problem(1)
    objective = replace(problem, X=size * problem.X).objective()
    points = watch(monkeypatch, certificate, "_DualPoint")
    duality_gap(objective, np.zeros(objective.rows.weights_shape))
    X = objective.memory_rows.table.X
    exact = math.sqrt(math.fsum((np.sqrt(problem.weight)[:, None] * X).ravel() ** 2))
    assert exact * (1.0 + 1e-9) < points[0][2] < exact * (1.0 + 1e-7)
