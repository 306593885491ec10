"""The transductive SVM against its objective, a QP solver, scikit-learn and all labelings."""

from itertools import combinations, pairwise

import numpy as np
import pytest
import qpsolvers
from scipy.sparse import csc_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from semisquares.baselines._squared_hinge import ActiveCurvature, solve
from semisquares.baselines.transductive_svm import FIRST_COST, TransductiveSVM, _pairs

SHAPES = [(60, 3, 12), (200, 10, 20), (30, 50, 10)]  # the last is wider than it is long


def table(n=200, d=10, n_labeled=20, *, seed=0, n_classes=2, gap=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + 5.0  # the intercept is free: an offset must not matter
    X[:, 0] += gap * y
    X[:, 1] -= 0.5 * gap * y
    return X, np.where(np.arange(n) < n_labeled, y, -1), y


def slacks(model, X, sign):
    return np.maximum(0.0, 1.0 - sign * (X @ model.coef_[0] + model.intercept_[0]))


def costs_and_signs(model, y):
    """The cost and the label ±1 of every row in the end."""
    return (
        np.where(y == -1, model.C_unlabeled, model.C),
        np.where(model.transduction_ == model.classes_[1], 1.0, -1.0),
    )


def gradient(model, X, cost, sign):
    """That of the objective, in w and b."""
    pull = 2.0 * cost * sign * slacks(model, X, sign)
    return np.append(model.coef_[0] - X.T @ pull, -pull.sum())


def machine_by_qp(X, sign, cost):
    """Least ½‖w‖² + Σ cost ξ² for given labels, and its (w, b), by an interior point method."""
    n, d = X.shape
    P = csc_matrix(np.diag(np.r_[np.ones(d), 0.0, 2.0 * cost]))
    G = csc_matrix(-np.hstack([sign[:, None] * X, sign[:, None], np.eye(n)]))
    bounds = np.r_[np.full(d + 1, -np.inf), np.zeros(n)]
    found = qpsolvers.solve_problem(
        qpsolvers.Problem(P, np.zeros(d + 1 + n), G, -np.ones(n), lb=bounds),
        solver="clarabel",
        tol_gap_abs=1e-10,
        tol_gap_rel=1e-10,
        tol_feas=1e-10,
    )
    return 0.5 * found.x @ (P @ found.x), found.x[: d + 1]


def left_to_switch(model, X, y):
    """By how much ξ_i + ξ_j exceeds 2 at most, over all pairs that may be switched."""
    z = model.decision_function(X)[y == -1]
    sign = np.where(model.transduction_[y == -1] == model.classes_[1], 1, -1)
    down = np.r_[z[(sign > 0) & (z < 1)], np.inf]
    up = np.r_[z[(sign < 0) & (z > -1)], -np.inf]
    return up.max() - down.min()


# the convex problem of given labels


@pytest.mark.parametrize("shape", SHAPES)
def test_without_unlabeled_cost_it_is_the_inductive_machine_of_a_qp_solver(shape):
    X, y, _ = table(*shape)
    model = TransductiveSVM(3.0, C_unlabeled=0.0).fit(X, y)
    known = y != -1
    least, w = machine_by_qp(X[known], 2.0 * y[known] - 1.0, np.full(known.sum(), 3.0))
    np.testing.assert_allclose(model.objective_, least, rtol=1e-8)
    np.testing.assert_allclose(np.r_[model.coef_[0], model.intercept_], w, rtol=1e-4, atol=1e-5)


def test_rows_that_all_have_labels_give_the_weights_of_linear_svc():
    X, _, truth = table()
    model = TransductiveSVM(0.3).fit(X, truth)
    svc = LinearSVC(C=0.3, dual=False, intercept_scaling=1e4, tol=1e-12, max_iter=100_000)
    svc.fit(X, truth)  # its intercept is penalised, by 1e-8 of the weights' penalty
    np.testing.assert_allclose(model.coef_, svc.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, svc.intercept_, atol=1e-5)


@pytest.mark.parametrize("switch", ["one", "all"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_end_is_the_minimiser_for_its_labels(shape, switch):
    X, y, _ = table(*shape)
    model = TransductiveSVM(2.0, C_unlabeled=0.7, switch=switch).fit(X, y)
    cost, sign = costs_and_signs(model, y)
    assert np.abs(gradient(model, X, cost, sign)).max() < 1e-9 * np.abs(X).sum()
    value = 0.5 * model.coef_[0] @ model.coef_[0] + cost @ slacks(model, X, sign) ** 2
    np.testing.assert_allclose(model.objective_, value, rtol=1e-10)
    np.testing.assert_allclose(model.objective_, machine_by_qp(X, sign, cost)[0], rtol=1e-7)


@pytest.mark.parametrize("seed", [36, 48, 221, 295, 314])
def test_starts_from_which_plain_newton_steps_go_round_in_a_circle_end_at_the_minimiser(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(4, 12), rng.integers(1, 4)
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 2)
    cost, start = 10 ** rng.uniform(-2, 3, size=n), 10.0 * rng.normal(size=d + 1)
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    found = solve(X, sign, cost, start)[1]
    np.testing.assert_allclose(found, machine_by_qp(X, sign, cost)[0], rtol=1e-6)
    np.testing.assert_allclose(found, solve(X, sign, cost, np.zeros(d + 1))[1], rtol=1e-12)


@pytest.mark.parametrize("d", [5, 140])  # wide factors are updated
def test_the_curvature_follows_doubled_costs_and_rows_that_come_and_go(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(300, d))
    X1 = np.column_stack((X, np.ones(len(X))))
    parts = np.arange(50), np.arange(50, 300)
    curvature = ActiveCurvature(X, parts)
    active = rng.random(len(X)) < 0.8
    weight = np.r_[np.ones(50), np.where(rng.random(250) < 0.5, 1e-3, 3e-3)]
    for turn in range(12):
        H = (weight * active * X1.T) @ X1 + np.diag(np.r_[np.ones(d), 0.0])
        b = rng.normal(size=d + 1)
        np.testing.assert_allclose(
            curvature.factor(weight, active).solve(b), np.linalg.solve(H, b), rtol=1e-8
        )
        if turn % 3 == 2:
            weight[parts[1]] = np.minimum(2.0 * weight[parts[1]], 0.02)
        moved = rng.choice(len(X), 4 if turn % 4 else 290, replace=False)
        active[moved] = ~active[moved]


def test_columns_of_very_different_size_are_fitted_exactly():
    X, y, _ = table(60, 3, 12)
    X = (X - 5.0) * [1e6, 1.0, 1e-6]
    model = TransductiveSVM().fit(X, y)
    cost, sign = costs_and_signs(model, y)
    sums = np.append(np.abs(X).sum(axis=0), len(X))
    assert (np.abs(gradient(model, X, cost, sign)) < 1e-14 * sums + 1e-12).all()


def test_large_copies_of_a_column_share_its_weight():
    X, y, _ = table(60, 3, 12)
    X *= 1e9
    twice = TransductiveSVM().fit(np.hstack([X, X]), y)
    once = TransductiveSVM().fit(np.sqrt(2.0) * X, y)
    np.testing.assert_allclose(twice.coef_[0, :3], twice.coef_[0, 3:], rtol=1e-4)
    np.testing.assert_allclose(
        twice.decision_function(np.hstack([X, X])),
        once.decision_function(np.sqrt(2.0) * X),
        atol=1e-6,
    )


def test_moving_all_rows_does_not_change_the_decisions():
    X, y, _ = table()
    near, far = TransductiveSVM().fit(X, y), TransductiveSVM().fit(X + 1e4, y)
    np.testing.assert_allclose(near.decision_function(X), far.decision_function(X + 1e4), atol=1e-6)
    assert (near.transduction_ == far.transduction_).all()


# the labels


@pytest.mark.parametrize("switch", ["one", "all"])
@pytest.mark.parametrize("seed", range(8))
def test_the_objective_falls_at_every_switch_of_a_cost_level(seed, switch):
    X, y, _ = table(300, 5, 10, seed=seed)
    model = TransductiveSVM(switch=switch, C_unlabeled=2.0).fit(X, y)
    same_level = [(a, b) for a, b in pairwise(model.path_) if a.level == b.level]
    assert len(same_level) > 4
    assert all(after.objective < before.objective for before, after in same_level)
    assert all(after.switched >= 1 for _, after in same_level)
    assert sum(step.switched for step in model.path_) == model.n_switches_
    assert model.path_[-1].objective == model.objective_


@pytest.mark.parametrize("switch", ["one", "all"])
@pytest.mark.parametrize("seed", range(8))
def test_no_pair_is_left_to_switch_in_the_end(seed, switch):
    X, y, _ = table(150, 5, 10, seed=seed)
    model = TransductiveSVM(switch=switch).fit(X, y)
    assert left_to_switch(model, X, y) <= 1e-7


def test_switching_is_cut_short_with_a_warning():
    X, y, _ = table(300, 5, 10, seed=2)
    with pytest.warns(ConvergenceWarning, match="after max_iter=1 times at one cost level; pass"):
        model = TransductiveSVM(max_iter=1).fit(X, y)
    switched = np.zeros(len(model.path_), dtype=int)
    np.add.at(switched, [step.level for step in model.path_], [s.switched for s in model.path_])
    assert switched.max() == 1


def test_one_switch_moves_one_pair_and_all_move_more():
    X, y, _ = table(300, 5, 10, seed=7, gap=2.0)
    one, every = (TransductiveSVM(switch=switch).fit(X, y) for switch in ("one", "all"))
    assert max(step.switched for step in one.path_) == 1
    assert max(step.switched for step in every.path_) > 1


@pytest.mark.parametrize("fraction", [0.0, 0.1, 1 / 3, 0.5, 1.0])
def test_the_fraction_of_positive_labels_is_kept_exactly(fraction):
    X, y, _ = table(151, 5, 10)
    model = TransductiveSVM(positive_fraction=fraction).fit(X, y)
    assert (model.transduction_[y == -1] == 1).sum() == np.floor(fraction * 141 + 0.5)
    assert (model.transduction_[y != -1] == y[y != -1]).all()


def test_the_fraction_is_that_of_the_labeled_rows_by_default():
    X, y, _ = table(150, 5, 10)
    y[:4] = 0  # 3 of 10 labeled rows are left positive
    model = TransductiveSVM().fit(X, y)
    assert (model.transduction_[y == -1] == 1).sum() == 42


def test_costs_double_from_a_small_share_to_the_whole():
    X, y, _ = table(150, 5, 10)
    path = TransductiveSVM(C_unlabeled=3.0, positive_fraction=0.25).fit(X, y).path_
    levels = [step for step in path if step.switched == 0]
    negative = np.array([step.cost_negative for step in levels])
    positive = np.array([step.cost_positive for step in levels])
    doubled = 3.0 * FIRST_COST * 2.0 ** np.arange(len(levels))
    np.testing.assert_allclose(negative, np.minimum(doubled, 3.0))
    np.testing.assert_allclose(positive, np.minimum(doubled * 35 / 105, 3.0))
    assert (positive[-1], negative[-1]) == (3.0, 3.0)
    assert positive[-2] < 3.0
    assert [step.level for step in levels] == list(range(len(levels)))


def test_the_first_level_fits_the_labels_by_rank_at_their_costs():
    X, y, _ = table(150, 5, 10)
    settings = {"positive_fraction": 0.25, "C": 2.0}
    ranked = TransductiveSVM(C_unlabeled=0.0, **settings).fit(X, y)
    z = ranked.decision_function(X)
    positive = ranked.transduction_ == 1
    assert z[positive & (y == -1)].min() > z[~positive & (y == -1)].max()
    cost = 1e3 * FIRST_COST * np.where(positive, 35 / 105, 1.0)
    cost[y != -1] = 2.0
    first = TransductiveSVM(C_unlabeled=1e3, **settings).fit(X, y).path_[0]
    least = machine_by_qp(X, np.where(positive, 1.0, -1.0), cost)[0]
    np.testing.assert_allclose(first.objective, least, rtol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_those_of_the_condition_and_the_first_has_the_largest_slacks(seed):
    rng = np.random.default_rng(seed)
    z, sign = rng.normal(scale=3.0, size=8), np.where(rng.random(8) < 0.5, 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - sign * z)
    sums = slack[:, None] + slack
    allowed = np.outer(sign > 0, sign < 0) & np.outer(slack > 0, slack > 0) & (sums > 2)
    down, up = _pairs(z, sign, 0.0)
    assert allowed[down, up].all()
    assert len({*down, *up}) == 2 * len(down)
    largest = sums.max(where=allowed, initial=0.0)
    assert sums[down[:1], up[:1]].max(initial=0.0) == pytest.approx(largest, abs=1e-12)


@pytest.mark.parametrize("seed", [13, pytest.param(26, marks=pytest.mark.slow)])
def test_switches_lead_from_wrong_labels_to_the_best_of_all_labelings(seed):
    X = np.random.default_rng(seed).normal(size=(14, 2)) * [0.5, 1.0]
    X += np.repeat([[-1.5, 0.0], [1.5, 0.0]], 7, axis=0)
    y = np.full(14, -1)
    y[[0, 7]] = 0, 1
    model = TransductiveSVM().fit(X, y)
    free = np.flatnonzero(y == -1)
    values = []
    for chosen in combinations(free, 6):
        sign = np.where(np.isin(np.arange(14), chosen) | (y == 1), 1.0, -1.0)
        values.append(machine_by_qp(X, sign, np.ones(14))[0])
    np.testing.assert_allclose(model.objective_, min(values), rtol=1e-6)
    assert model.transduction_.tolist() == [0] * 7 + [1] * 7
    assert model.n_switches_ > 0


def test_copies_of_rows_end_the_switching():
    X, y, _ = table(60, 3, 12)
    X, y = np.vstack([X] * 3), np.r_[y, np.full(120, -1)]
    model = TransductiveSVM(tol=0.0).fit(X, y)
    assert left_to_switch(model, X, y) < 1e-7


# classes and input


def test_three_classes_are_each_fitted_against_the_rest():
    X, y, _ = table(150, 5, 30, n_classes=3, gap=2.0)
    y[0] = 2  # a label that the fit will not reproduce
    model = TransductiveSVM().fit(X, y)
    for k in range(3):
        alone = TransductiveSVM().fit(X, np.where(y == -1, -1, y == k))
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=1e-10)
        np.testing.assert_allclose(model.intercept_[k], alone.intercept_[0], atol=1e-10)
    assert (model.transduction_[y == -1] == model.predict(X[y == -1])).all()
    assert (model.transduction_[y != -1] == y[y != -1]).all()
    assert model.predict(X[:1]) != 2
    assert {step.positive for step in model.path_} == {0, 1, 2}


def test_exchanging_the_classes_mirrors_the_decisions_where_halves_are_kept():
    X, y, _ = table(150, 5, 10)
    model = TransductiveSVM().fit(X, y)
    mirror = TransductiveSVM().fit(X, np.where(y == -1, -1, 1 - y))
    np.testing.assert_allclose(mirror.coef_, -model.coef_, atol=1e-8)


@pytest.mark.parametrize("missing", [None, np.nan, "?"])
def test_labels_may_be_strings_and_missing_in_any_way(missing):
    X, y, _ = table(60, 3, 12)
    names = np.array(["no", "yes"], dtype=object)[y]
    names[y == -1] = missing
    model = TransductiveSVM(unlabeled="?").fit(X, names)
    plain = TransductiveSVM().fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_)
    assert model.predict(X).tolist() == ["yes" if k else "no" for k in plain.predict(X)]
    assert model.transduction_.tolist() == ["yes" if k else "no" for k in plain.transduction_]


def test_a_fraction_for_three_classes_is_refused():
    X, y, _ = table(60, 3, 12, n_classes=3)
    with pytest.raises(ValueError, match=r"positive_fraction=0.5 is for two classes but y has 3;"):
        TransductiveSVM(positive_fraction=0.5).fit(X, y)


@pytest.mark.parametrize("size", [1e160, 1e300])
def test_numbers_whose_squares_overflow_are_refused(size):
    X, y, _ = table(60, 3, 12)
    with pytest.raises(ValueError, match=r"times the costs overflow; rescale the columns"):
        TransductiveSVM().fit(X * size, y)


def test_a_fit_that_fails_loses_nothing():
    X, y, _ = table(60, 3, 12)
    model = TransductiveSVM(positive_fraction=0.5).fit(X, y)
    with pytest.raises(ValueError, match="is for two classes"):
        model.fit(*table(60, 5, 12, n_classes=3)[:2])
    assert model.classes_.tolist() == [0, 1]
    assert set(model.predict(X)) == {0, 1}
