"""The authors' own package, RSSL, gives the same weights and labels on 31 problems.

Where RSSL itself is not to be followed (it drops directions of badly scaled or nearly copied
columns; its least norm counts the intercept), `reference/README.md` says what to compare instead.
"""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from semisquares import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from semisquares.paper.objectives import J_l, J_s, best_u
from support.allowed_warnings import collapse_allowed, early_stop_allowed
from support.reference import (
    RSSL_NAMES,
    RSSL_NEAR_COPY,
    RSSL_NOT_UNIQUE,
    RSSL_REGULAR,
    RSSL_SHORT,
    RSSL_TRUNCATED,
    rssl_problem,
)

AGREEMENT = 1e-8  # relative to the largest weight
# Without an intercept RSSL's least norm is ours.
SHORT_WITHOUT_INTERCEPT = ("short_L4_d20_noint",)
SHORT_AND_UNIQUE = tuple(name for name in RSSL_SHORT if name not in RSSL_NOT_UNIQUE)
SAME_SUPERVISED = RSSL_REGULAR + SHORT_WITHOUT_INTERCEPT
SAME_SEMI_SUPERVISED = RSSL_REGULAR + SHORT_AND_UNIQUE
EXACT = tuple(name for name in RSSL_NAMES if name not in RSSL_NEAR_COPY + RSSL_NOT_UNIQUE)
# Block descent needs more than its 10,000 steps where the labeled rows hardly tell the weights.
SLOW_BY_BLOCKS = ("short_L10_d30",)
BY_BLOCKS = tuple(name for name in EXACT if name not in SLOW_BY_BLOCKS)
WITHOUT_RIDGE = tuple(
    name
    for name in SAME_SUPERVISED
    if name
    not in (
        "corr_d15_tight_lam",
        "corr_d30_imb",
        "corr_d30_noint_lam",
        "plain_d2_noint_lam1",
        "plain_d5_lam0",
        "plain_d5_lam3",
        "scaled_d6_lam",
        "sep_d4_imb_lam",
    )
)

# RSSL's labels are what is checked here, not the advice for a user whose labels collapse.
pytestmark = collapse_allowed
starts = pytest.mark.parametrize("start", ["random_init", "theta_init"])


def on(names):
    return pytest.mark.parametrize("name", names)


def fit(classifier, problem, **options):
    """Fit our classifier to a problem's rows, the labeled ones first."""
    X = np.vstack((problem.X, problem.X_u))
    y = np.concatenate((problem.y, np.full(len(problem.X_u), -1.0))).astype(int)
    return classifier(problem.alpha, fit_intercept=problem.fit_intercept, **options).fit(X, y)


def theta(model):
    """Return the weights, the intercept as in the paper first (0 where there is none)."""
    return np.concatenate((model.intercept_ + 0.5, model.coef_[0]))


def imputed(model, problem):
    return model.label_distributions_[len(problem.X) :, 1]


def with_constant(problem, X):
    """Put the column of an intercept before X, where the problem has one."""
    return np.hstack((np.ones((len(X), int(problem.fit_intercept))), X))


def start_labels(problem, start):
    """Return what RSSL's first step fits: the labels given, or the raw decision values."""
    given = getattr(problem, start).start
    of = {
        "random_init": lambda: given,
        "theta_init": lambda: with_constant(problem, problem.X_u) @ given,
    }
    return of[start]()


def assert_same_weights(model, rssl):
    theirs = np.concatenate(([rssl.intercept], rssl.coef))
    np.testing.assert_allclose(theta(model), theirs, rtol=0, atol=AGREEMENT * np.abs(theirs).max())


def test_the_problems_are_31():
    assert len(RSSL_NAMES) == len(set(RSSL_NAMES)) == 31


@on(SAME_SUPERVISED)
def test_supervised_weights_are_those_of_rssl(name):
    problem = rssl_problem(name)
    assert_same_weights(fit(LeastSquaresClassifier, problem), problem.supervised)


@on(SAME_SUPERVISED)
def test_test_rows_are_decided_as_by_rssl(name):
    problem = rssl_problem(name)
    model = fit(LeastSquaresClassifier, problem)
    decisions = model.decision_function(problem.X_test) + 0.5
    np.testing.assert_allclose(decisions, problem.supervised.decision_test, rtol=0, atol=1e-8)


@on(RSSL_TRUNCATED + RSSL_NEAR_COPY + RSSL_SHORT)
def test_supervised_J_is_at_most_that_of_rssl(name):
    problem = rssl_problem(name)
    X = with_constant(problem, problem.X)
    theirs = J_s(problem.supervised.theta, X, problem.y, penalty_diag=problem.penalty_diag, alpha=1)
    assert fit(LeastSquaresClassifier, problem).objective_ <= theirs + 1e-12


@on(SAME_SEMI_SUPERVISED)
def test_soft_weights_are_those_of_rssl(name):
    problem = rssl_problem(name)
    assert_same_weights(fit(SoftLabelClassifier, problem, solver="newton"), problem.soft)


@on([name for name in SAME_SEMI_SUPERVISED if name not in SLOW_BY_BLOCKS])
def test_soft_weights_by_block_descent_are_those_of_rssl(name):
    problem = rssl_problem(name)
    assert_same_weights(fit(SoftLabelClassifier, problem, solver="block"), problem.soft)


@on(SAME_SEMI_SUPERVISED)
def test_soft_labels_are_those_of_rssl(name):
    problem = rssl_problem(name)
    labels = imputed(fit(SoftLabelClassifier, problem), problem)
    np.testing.assert_allclose(labels, problem.soft.labels, rtol=0, atol=1e-8)


@starts
@on(SAME_SEMI_SUPERVISED)
def test_soft_weights_from_a_given_start_are_those_of_rssl(name, start):
    problem = rssl_problem(name)
    model = fit(SoftLabelClassifier, problem, init=start_labels(problem, start))
    assert_same_weights(model, getattr(problem, start).soft)


@starts
@on(RSSL_REGULAR)
def test_block_descent_from_a_given_start_ends_in_the_soft_weights_of_rssl(name, start):
    problem = rssl_problem(name)
    model = fit(SoftLabelClassifier, problem, solver="block", init=start_labels(problem, start))
    assert_same_weights(model, getattr(problem, start).soft)


@on(EXACT)
def test_soft_weights_are_the_exact_ones(name):
    problem = rssl_problem(name)
    assert_same_weights(fit(SoftLabelClassifier, problem, solver="newton"), problem.soft_exact)


@on(BY_BLOCKS)
def test_soft_weights_by_block_descent_are_the_exact_ones(name):
    problem = rssl_problem(name)
    assert_same_weights(fit(SoftLabelClassifier, problem, solver="block"), problem.soft_exact)


@on(RSSL_NAMES)
def test_soft_J_lies_between_the_exact_one_and_that_of_rssl(name):
    problem = rssl_problem(name)
    model = fit(SoftLabelClassifier, problem)
    exact = problem.soft_exact
    assert model.objective_ >= exact.objective - 1e-12
    assert model.objective_ <= max(exact.objective, exact.objective_rssl) + 1e-12


@on(RSSL_NEAR_COPY)
def test_a_nearly_copied_column_leaves_the_soft_J_least(name):
    problem = rssl_problem(name)
    model = fit(SoftLabelClassifier, problem)
    assert model.objective_ == pytest.approx(problem.soft_exact.objective, rel=1e-8)


@starts
@on(RSSL_NOT_UNIQUE + RSSL_NEAR_COPY)
def test_soft_J_is_the_least_from_a_given_start_too(name, start):
    problem = rssl_problem(name)
    model = fit(SoftLabelClassifier, problem, init=start_labels(problem, start))
    assert model.objective_ <= problem.soft_exact.objective_rssl + 1e-12


@on(RSSL_REGULAR + SHORT_WITHOUT_INTERCEPT)
def test_hard_weights_and_labels_are_those_of_rssl(name):
    problem = rssl_problem(name)
    model = fit(HardLabelClassifier, problem)
    assert_same_weights(model, problem.hard)
    np.testing.assert_array_equal(imputed(model, problem), problem.hard.labels)


@on(SHORT_AND_UNIQUE)
def test_hard_weights_and_labels_are_those_of_rssl_from_its_own_supervised_weights(name):
    problem = rssl_problem(name)
    start = (problem.supervised.coef, problem.supervised.intercept - 0.5)
    model = fit(HardLabelClassifier, problem, init=start)
    assert_same_weights(model, problem.hard)
    np.testing.assert_array_equal(imputed(model, problem), problem.hard.labels)


@on(RSSL_NOT_UNIQUE)
def test_hard_labels_and_J_are_those_of_rssl_where_the_weights_are_not_unique(name):
    problem = rssl_problem(name)
    start = (problem.supervised.coef, problem.supervised.intercept - 0.5)
    model = fit(HardLabelClassifier, problem, init=start)
    np.testing.assert_array_equal(imputed(model, problem), problem.hard.labels)
    assert model.objective_ == pytest.approx(problem.hard.objective, abs=1e-12)


@starts
@on(SAME_SEMI_SUPERVISED)
def test_hard_weights_and_labels_from_a_given_start_are_those_of_rssl(name, start):
    problem = rssl_problem(name)
    model = fit(HardLabelClassifier, problem, init=start_labels(problem, start))
    theirs = getattr(problem, start).hard
    assert_same_weights(model, theirs)
    np.testing.assert_array_equal(imputed(model, problem), theirs.labels)


@starts
@on(RSSL_NOT_UNIQUE)
def test_hard_labels_from_a_given_start_are_those_of_rssl(name, start):
    problem = rssl_problem(name)
    model = fit(HardLabelClassifier, problem, init=start_labels(problem, start))
    np.testing.assert_array_equal(imputed(model, problem), getattr(problem, start).hard.labels)


@early_stop_allowed
@on(SAME_SUPERVISED)
def test_two_soft_steps_are_the_first_three_of_rssl(name):
    problem = rssl_problem(name)
    model = fit(SoftLabelClassifier, problem, solver="block", max_iter=2)
    assert_same_weights(model, problem.soft_3iter)


@early_stop_allowed
@on(SHORT_AND_UNIQUE)
def test_two_soft_steps_from_the_start_of_rssl_are_its_first_three(name):
    problem = rssl_problem(name)
    start = (problem.supervised.coef, problem.supervised.intercept - 0.5)
    model = fit(SoftLabelClassifier, problem, solver="block", max_iter=2, init=start)
    assert_same_weights(model, problem.soft_3iter)


@early_stop_allowed
@on(SAME_SUPERVISED)
def test_one_hard_step_is_the_first_two_of_rssl(name):
    problem = rssl_problem(name)
    model = fit(HardLabelClassifier, problem, max_iter=1)
    assert_same_weights(model, problem.hard_2iter)
    np.testing.assert_array_equal(imputed(model, problem), problem.hard_2iter.labels)


def test_a_soft_descent_that_stopped_early_says_so():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        fit(SoftLabelClassifier, rssl_problem("plain_d5"), solver="block", max_iter=2)


def test_a_hard_descent_that_stopped_early_says_so():
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        fit(HardLabelClassifier, rssl_problem("plain_d5"), max_iter=1)


@on(WITHOUT_RIDGE)
def test_without_a_ridge_hard_labels_are_those_of_selflearning(name):
    problem = rssl_problem(name)
    model = fit(HardLabelClassifier, problem)
    assert problem.rssl_lambda == 0.0
    assert_same_weights(model, problem.selflearning)


@on(SAME_SEMI_SUPERVISED)
def test_soft_objective_is_the_literal_J_of_the_paper_at_the_weights_of_rssl(name):
    problem = rssl_problem(name)
    X, X_u = with_constant(problem, problem.X), with_constant(problem, problem.X_u)
    w = problem.soft.theta
    at_rssl = J_l(w, best_u(w, X_u), X, problem.y, X_u, 1.0, penalty_diag=problem.penalty_diag)
    assert fit(SoftLabelClassifier, problem).objective_ == pytest.approx(at_rssl, rel=1e-9)
