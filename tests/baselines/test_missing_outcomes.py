"""Missing outcomes in regression: filling in is a way to the fit of the complete rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

from semisquares import SoftLabelClassifier
from semisquares.baselines.missing_outcomes import MissingOutcomeRegressor
from semisquares.core.labelings import SoftLabels
from support.allowed_warnings import early_stop_allowed
from support.problems import make_problem
from support.scikit_learn_checks import every_check

METHODS = ["iterate", "analytic"]
both_methods = pytest.mark.parametrize("method", METHODS)
with_or_without = pytest.mark.parametrize("fit_intercept", [True, False])
few = settings(max_examples=25)
ridges = pytest.mark.parametrize("alpha", [0.0, 0.5, 50.0])


def regression(seed=0, n=60, d=4, n_missing=30, offset=3.0):
    """Return rows with outcomes, of which some are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.3, 3.0, d) + offset * rng.normal(size=d)
    y = X @ rng.normal(size=d) + rng.normal(size=n) + 2.0
    y[rng.permutation(n)[:n_missing]] = np.nan
    return X, y


def ridge_fit(X, y, alpha=0.0, fit_intercept=True):
    """Fit ridge regression, as the least squares problem that it is; return (coef, intercept)."""
    n, d = X.shape
    design = np.hstack((X, np.ones((n, 1)) * fit_intercept))
    A = np.vstack((design, np.sqrt(alpha) * np.eye(d, d + 1)))
    w = np.linalg.lstsq(A, np.append(y, np.zeros(d)))[0]
    return w[:-1], w[-1]


def complete_case(X, y, alpha=0.0, fit_intercept=True):
    known = ~np.isnan(y)
    return ridge_fit(X[known], y[known], alpha, fit_intercept)


def assert_is_complete_case(model, X, y):
    coef, intercept = complete_case(X, y, model.alpha, model.fit_intercept)
    filled = np.where(np.isnan(y), X @ coef + intercept, y)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, intercept, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.filled_, filled, rtol=0, atol=1e-8)


@st.composite
def problems(draw):
    """Draw rows of which at least as many are complete as there are weights, and settings."""
    d = draw(st.integers(1, 5))
    n_known, n_missing = draw(st.integers(d + 3, 25)), draw(st.integers(1, 12))
    seed = draw(st.integers(0, 100_000))
    X, y = regression(seed, n_known + n_missing, d, n_missing, draw(st.sampled_from([0, 2, 50])))
    alpha = draw(st.sampled_from([0.0, 0.0, 0.1, 10.0]))
    return X, y, {"alpha": alpha, "fit_intercept": draw(st.booleans())}


# -- the complete-case fit ----------------------------------------------------------------------


@both_methods
@with_or_without
@ridges
@pytest.mark.parametrize("n_missing", [1, 15, 50])
def test_the_end_is_the_complete_case_fit(method, fit_intercept, alpha, n_missing):
    X, y = regression(n_missing=n_missing)
    model = MissingOutcomeRegressor(method, fit_intercept=fit_intercept, alpha=alpha).fit(X, y)
    assert_is_complete_case(model, X, y)
    assert model.distance_ < 1e-11


@few
@given(problem=problems())
def test_the_certified_distance_is_the_true_one(problem):
    X, y, options = problem
    model = MissingOutcomeRegressor(**options, tol=1e-3, max_iter=100_000).fit(X, y)
    coef, intercept = complete_case(X, y, **options)
    known = y[~np.isnan(y)]
    spread = known - known.mean() * options["fit_intercept"]
    moved = model.predict(X) - (X @ coef + intercept)
    ridge = options["alpha"] * np.sum((model.coef_ - coef) ** 2)
    true = np.sqrt((moved @ moved + ridge) / (spread @ spread + 1e-8 * known @ known))
    assert model.distance_ == pytest.approx(true, rel=1e-5, abs=1e-12)


@few
@given(problem=problems(), relaxation=st.sampled_from([0.5, 1.0, 1.5, 1.9]))
def test_where_it_does_not_warn_both_methods_agree(problem, relaxation):
    X, y, options = problem
    iterate = MissingOutcomeRegressor(**options, relaxation=relaxation, max_iter=100_000).fit(X, y)
    analytic = MissingOutcomeRegressor("analytic", **options).fit(X, y)
    size = np.nanmax(np.abs(y)) + np.abs(analytic.filled_).max()
    np.testing.assert_allclose(iterate.filled_, analytic.filled_, rtol=0, atol=1e-8 * size)


def test_no_other_outcomes_and_weights_have_a_lower_sum_of_squares():
    X, y = regression(n=14, d=2, n_missing=4)
    gaps = np.isnan(y)

    def J(parameters):
        filled = y.copy()
        filled[gaps] = parameters[3:]
        residual = X @ parameters[:2] + parameters[2] - filled
        return residual @ residual + 0.7 * parameters[:2] @ parameters[:2]

    found = minimize(J, np.zeros(7), method="BFGS", options={"gtol": 1e-9})
    model = MissingOutcomeRegressor(alpha=0.7, record_path=True).fit(X, y)
    np.testing.assert_allclose(model.filled_[gaps], found.x[3:], atol=1e-6)
    assert model.path_[-1].value == pytest.approx(found.fun, rel=1e-10)


def test_one_missing_value_in_randomised_blocks_is_that_of_yates():
    # Yates (1933): (t T + b B - G) / ((t - 1)(b - 1)), with the sums of the treatment T, of the
    # block B and of all G over the values that are there
    t, b = 4, 3
    table = np.random.default_rng(5).normal(10.0, 2.0, (t, b))
    treatment, block = np.divmod(np.arange(t * b), b)
    X = np.hstack((np.eye(t)[treatment][:, 1:], np.eye(b)[block][:, 1:]))
    y = table.ravel().copy()
    y[7] = np.nan
    T, B = np.nansum(y[treatment == 2]), np.nansum(y[block == 1])
    yates = (t * T + b * B - np.nansum(y)) / ((t - 1) * (b - 1))
    for method in METHODS:
        assert MissingOutcomeRegressor(method).fit(X, y).filled_[7] == pytest.approx(yates, 1e-10)


@both_methods
def test_without_missing_outcomes_it_is_least_squares(method):
    X, y = regression(n_missing=0)
    model = MissingOutcomeRegressor(method).fit(X, y)
    assert_is_complete_case(model, X, y)
    assert model.n_iter_ == 1


@both_methods
def test_columns_far_from_the_origin_cost_no_digits(method):
    X, y = regression()
    plain = MissingOutcomeRegressor(method).fit(X, y)
    far = MissingOutcomeRegressor(method).fit(X + 2.0**20, y)
    np.testing.assert_allclose(far.filled_, plain.filled_, rtol=0, atol=1e-8)


# -- the steps ----------------------------------------------------------------------------------


@few
@given(problem=problems(), relaxation=st.floats(0.2, 1.95), seed=st.integers(0, 99))
def test_the_residual_sum_of_squares_falls_at_every_step(problem, relaxation, seed):
    X, y, options = problem
    model = MissingOutcomeRegressor(
        init="random", relaxation=relaxation, max_iter=100_000, record_path=True,
        random_state=seed, **options,
    ).fit(X, y)  # fmt: skip
    values = np.array([step.value for step in model.path_])
    assert (np.diff(values) <= 1e-13 * values[0]).all()
    assert (np.diff(values)[:2] < 0.0).all() or model.distance_ < 1e-8
    assert len(values) == model.n_iter_


@few
@given(problem=problems())
def test_both_halves_of_a_step_lower_the_sum_of_squares(problem):
    X, y, options = problem
    model = MissingOutcomeRegressor(**options, record_path=True, max_iter=100_000).fit(X, y)
    values = np.array([step.value for step in model.path_])
    halves = np.array([step.half_value for step in model.path_])
    rounding = 1e-13 * halves[0]
    assert (values <= halves + rounding).all()
    assert (halves[1:] <= values[:-1] + rounding).all()


@with_or_without
@ridges
def test_each_step_is_a_fit_to_all_rows_as_they_were_filled_before(fit_intercept, alpha):
    X, y = regression()
    start = np.random.default_rng(1).normal(size=30)
    model = MissingOutcomeRegressor(
        init=start, fit_intercept=fit_intercept, alpha=alpha, record_path=True
    ).fit(X, y)
    filled = y.copy()
    filled[np.isnan(y)] = start
    for step in model.path_[:10]:
        coef, intercept = ridge_fit(X, filled, alpha, fit_intercept)
        np.testing.assert_allclose(step.w, [*coef, *[intercept] * fit_intercept], atol=1e-9)
        filled = np.where(np.isnan(y), X @ coef + intercept, y)
        np.testing.assert_allclose(step.labels, filled, atol=1e-9)


def test_the_error_shrinks_by_the_largest_eigenvalue_of_the_hat_matrix():
    X, y = regression()
    gaps = np.isnan(y)
    design = np.hstack((X, np.ones((len(X), 1))))
    hat = design @ np.linalg.pinv(design)
    slowest = np.linalg.eigvalsh(hat[np.ix_(gaps, gaps)]).max()
    model = MissingOutcomeRegressor(record_path=True).fit(X, y)
    end = complete_case(X, y)
    errors = [np.linalg.norm((X @ end[0] + end[1] - step.labels)[gaps]) for step in model.path_]
    assert errors[30] / errors[29] == pytest.approx(slowest, rel=1e-3)
    assert model.n_iter_ == pytest.approx(np.log(1e-12) / np.log(slowest), rel=0.2)


@pytest.mark.parametrize("n_missing", [30, 45, 50])
def test_larger_steps_need_fewer_of_them(n_missing):
    X, y = regression(n_missing=n_missing)
    steps = [
        MissingOutcomeRegressor(relaxation=w).fit(X, y).n_iter_ for w in (0.6, 1.0, 1.3, 1.6, 1.8)
    ]
    assert steps == sorted(steps, reverse=True)
    assert 1.5 * steps[-1] < steps[1]


@pytest.mark.parametrize("init", ["random", np.linspace(-1e3, 1e3, 30)])
def test_every_start_leads_to_the_same_end(init):
    X, y = regression()
    model = MissingOutcomeRegressor(init=init, random_state=3).fit(X, y)
    assert_is_complete_case(model, X, y)


def test_a_random_start_is_that_of_its_seed():
    X, y = regression()
    first, same, other = (
        MissingOutcomeRegressor(init="random", random_state=seed, record_path=True).fit(X, y)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.path_[0].labels, same.path_[0].labels)
    assert (first.path_[0].labels != other.path_[0].labels).any()


def test_a_path_is_kept_only_where_asked_for():
    X, y = regression()
    model = MissingOutcomeRegressor(record_path=True).fit(X, y)
    assert hasattr(model, "path_")
    assert not hasattr(model.set_params(record_path=False).fit(X, y), "path_")


# -- soft-label self-learning -------------------------------------------------------------------


class WithinZeroAndOne(MissingOutcomeRegressor):
    labeling = SoftLabels()


@with_or_without
@pytest.mark.parametrize("relaxation", [1.0, 1.4])
@pytest.mark.parametrize("seed", range(5))
def test_filled_in_values_kept_in_0_to_1_are_soft_label_self_learning(
    seed, relaxation, fit_intercept
):
    problem = make_problem(seed, n_unlabeled=60)
    start = np.random.default_rng(seed).uniform(size=60)
    options = {
        "alpha": 0.0, "init": start, "record_path": True, "relaxation": relaxation,
        "fit_intercept": fit_intercept,
    }  # fmt: skip
    y = np.where(problem.known, problem.y, np.nan)
    ours = WithinZeroAndOne(**options).fit(problem.X, y)
    soft = SoftLabelClassifier(solver="block", **options).fit(problem.X, problem.y)
    free = ~problem.known
    n_steps = min(len(ours.path_), len(soft.path_))
    assert n_steps > 20
    for one, other in zip(ours.path_[:n_steps], soft.path_[:n_steps], strict=True):
        np.testing.assert_allclose(one.labels[free], other.labels[free], rtol=0, atol=1e-11)
        np.testing.assert_allclose(one.w, other.w[0], rtol=0, atol=1e-11)
        assert one.value == pytest.approx(other.value, rel=1e-11)
    np.testing.assert_allclose(
        ours.filled_[free], soft.label_distributions_[free, 1], rtol=0, atol=1e-8
    )


def test_unbounded_values_are_another_classifier():
    problem = make_problem(0, n_unlabeled=60)
    y = np.where(problem.known, problem.y, np.nan)
    free = MissingOutcomeRegressor().fit(problem.X, y)
    bounded = WithinZeroAndOne().fit(problem.X, y)
    assert np.abs(free.filled_ - bounded.filled_).max() > 0.1
    assert bounded.filled_.min() == 0.0
    assert bounded.filled_.max() == 1.0


# -- where the complete rows do not tell --------------------------------------------------------

not_determined = pytest.mark.filterwarnings("ignore:.*are not determined by the rows")


def short(n_known=3):
    X, y = regression(n=12, d=5, n_missing=0)
    y[n_known:] = np.nan
    return X, y


@both_methods
@with_or_without
def test_open_outcomes_are_told_of(method, fit_intercept):
    X, y = short()
    model = MissingOutcomeRegressor(method, fit_intercept=fit_intercept)
    with pytest.warns(UserWarning, match=r"9 of 9 missing outcomes \(rows 3, 4, 5, .* alpha > 0"):
        model.fit(X, y)


@both_methods
def test_only_rows_with_a_level_never_seen_are_open(method):
    X, y = regression()
    level = np.zeros(len(y))
    level[np.flatnonzero(np.isnan(y))[[2, 5]]] = 1.0
    model = MissingOutcomeRegressor(method)
    with pytest.warns(UserWarning, match="2 of 30 missing outcomes"):
        model.fit(np.column_stack((X, level)), y)
    rest = level == 0.0
    coef, intercept = complete_case(X, y)
    filled = np.where(np.isnan(y), X @ coef + intercept, y)
    np.testing.assert_allclose(model.filled_[rest], filled[rest], rtol=0, atol=1e-8)


@not_determined
@with_or_without
@pytest.mark.parametrize("n_columns", [5, 30])
def test_open_outcomes_are_of_least_norm_by_both_methods(fit_intercept, n_columns):
    X, y = regression(n=12, d=n_columns, n_missing=0)
    y[3:] = np.nan
    iterate, analytic = (
        MissingOutcomeRegressor(method, fit_intercept=fit_intercept).fit(X, y) for method in METHODS
    )
    np.testing.assert_allclose(iterate.filled_, analytic.filled_, atol=1e-9)
    np.testing.assert_allclose(iterate.coef_, analytic.coef_, atol=1e-9)
    design = np.hstack((X, np.ones((12, 1)) * fit_intercept))
    hat = design @ np.linalg.pinv(design)
    size, vectors = np.linalg.eigh(np.eye(9) - hat[3:, 3:])
    kept = vectors[:, size > 1e-9]
    u = kept / size[size > 1e-9] @ kept.T @ hat[3:, :3] @ y[:3]
    np.testing.assert_allclose(iterate.filled_[3:], u, atol=1e-9)


@not_determined
def test_open_outcomes_do_not_hinder_the_fit_of_the_complete_rows():
    X, y = short()
    for method in METHODS:
        model = MissingOutcomeRegressor(method).fit(X, y)
        np.testing.assert_allclose(model.predict(X[:3]), y[:3], atol=1e-9)
        assert model.distance_ < 1e-11


@not_determined
@with_or_without
def test_the_certified_distance_is_to_the_end_of_these_steps_where_outcomes_are_open(fit_intercept):
    X, y = short()
    rough, end = (
        MissingOutcomeRegressor(tol=tol, init=np.arange(9.0), fit_intercept=fit_intercept).fit(X, y)
        for tol in (1e-3, 1e-12)
    )
    spread = y[:3] - y[:3].mean() * fit_intercept
    unit = np.sqrt(spread @ spread + 1e-8 * y[:3] @ y[:3])
    true = np.linalg.norm(rough.predict(X) - end.predict(X)) / unit
    assert rough.distance_ == pytest.approx(true, rel=1e-6)


def test_a_ridge_leaves_nothing_open():
    X, y = short()
    iterate = MissingOutcomeRegressor(alpha=3.0, relaxation=1.8).fit(X, y)
    analytic = MissingOutcomeRegressor("analytic", alpha=3.0).fit(X, y)
    assert_is_complete_case(iterate, X, y)
    assert_is_complete_case(analytic, X, y)


@both_methods
def test_a_copied_column_leaves_outcomes_as_they_are(method):
    X, y = regression()
    plain = MissingOutcomeRegressor(method).fit(X, y)
    copied = MissingOutcomeRegressor(method).fit(np.hstack((X, X[:, :1])), y)
    np.testing.assert_allclose(copied.filled_, plain.filled_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(copied.coef_[[0, 4]], plain.coef_[0] / 2, atol=1e-8)


@both_methods
@early_stop_allowed
@pytest.mark.parametrize("gap", [2.0**-10, 2.0**-20, 2.0**-27])
def test_nearly_copied_columns_are_two_and_what_that_costs_is_certified(method, gap):
    X, y = regression()
    twin = X[:, 0] + gap * np.random.default_rng(0).normal(size=len(X))
    apart = np.column_stack((X, (twin - X[:, 0]) / gap))  # the same span, without rounding
    coef, intercept = complete_case(apart, y)
    model = MissingOutcomeRegressor(method).fit(np.column_stack((X, twin)), y)
    filled = np.where(np.isnan(y), apart @ coef + intercept, y)
    np.testing.assert_allclose(model.filled_, filled, rtol=0, atol=1e-5)
    known = y[~np.isnan(y)]
    true = np.linalg.norm(model.filled_ - filled) / np.linalg.norm(known - known.mean())
    assert true < 10.0 * model.distance_ + 1e-12


# -- stopping -----------------------------------------------------------------------------------


def test_a_stop_before_the_end_tells_how_far_off_it_is():
    X, y = regression()
    model = MissingOutcomeRegressor(max_iter=3)
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=3 at a distance of .* use method='analytic'"
    ):
        model.fit(X, y)
    assert model.n_iter_ == 3


@pytest.mark.parametrize("y", [np.full(60, 3.7), np.full(60, 0.0), np.r_[1.0, np.full(59, np.nan)]])
@not_determined
def test_outcomes_without_spread_are_no_trouble(y):
    X, gaps = regression()
    y = np.where(np.isnan(gaps), np.nan, y)
    y[0] = np.nanmax(y, initial=0.0)
    model = MissingOutcomeRegressor(init=np.ones(np.isnan(y).sum())).fit(X, y)
    np.testing.assert_allclose(model.predict(X)[~np.isnan(y)], y[~np.isnan(y)], atol=1e-9)
    assert model.n_iter_ < 2000


@few
@given(seed=st.integers(0, 1000), offset=st.sampled_from([1e3, 1e6, 1e9]))
def test_outcomes_far_from_0_end_by_rounding(seed, offset):
    X, y = regression(seed)
    model = MissingOutcomeRegressor().fit(X, y + offset)
    assert model.n_iter_ < 2000
    assert model.distance_ < 1e-8


@pytest.mark.parametrize("relaxation", [1.0, 1.5, 1.9])
def test_tol_0_ends_by_rounding(relaxation):
    X, y = regression()
    model = MissingOutcomeRegressor(tol=0.0, relaxation=relaxation).fit(X, y)
    assert model.n_iter_ < 1000
    assert_is_complete_case(model, X, y)


@both_methods
def test_digits_lost_to_columns_that_are_nearly_copies_are_told_of(method):
    X, y = regression()
    twin = X[:, 0] + 3e-10 * np.random.default_rng(0).normal(size=len(X))
    with pytest.warns(ConvergenceWarning, match=r"by rounding .* drop columns that are nearly"):
        MissingOutcomeRegressor(method).fit(np.column_stack((X, twin)), y)


# -- input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda y: [None if np.isnan(v) else v for v in y],
        lambda y: pd.Series([pd.NA if np.isnan(v) else v for v in y], dtype=object),
        lambda y: pd.Series(y).astype("Float64"),
        lambda y: pl.Series(y).fill_nan(None),
        lambda y: np.ma.masked_invalid(y),
    ],
    ids=["None", "NA", "Float64", "polars", "masked"],
)
def test_every_sign_of_a_missing_outcome_is_understood(write):
    X, y = regression()
    plain, other = (MissingOutcomeRegressor().fit(X, given) for given in (y, write(y)))
    np.testing.assert_array_equal(other.filled_, plain.filled_)


@pytest.mark.parametrize(
    ("y", "reason"),
    [
        ([np.nan] * 5, "All 5 outcomes in y are missing"),
        ([1.0, np.inf, 2, 3, 4], "pass finite numbers"),
        ([1e200] * 5, "squares overflow"),
        (["low", "high", "low", None, None], r"such as 'low'\) that are not numbers"),
        ([1.0, 2.0], "y has 2 rows but X has 5"),
        (np.ones((5, 2)), "fit one regressor per column"),
    ],
)
def test_outcomes_that_are_none_are_refused(y, reason):
    with pytest.raises(ValueError, match=reason):
        MissingOutcomeRegressor().fit(np.arange(10.0).reshape(5, 2), y)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"init": [1.0, 2.0]}, r"init has shape \(2,\); .* \(30,\)"),
        ({"init": ["a"] * 30}, "not finite numbers"),
        ({"init": "supervised"}, "'init' parameter"),
        ({"relaxation": 2.0}, "'relaxation' parameter"),
        ({"method": "em"}, "'method' parameter"),
    ],
)
def test_settings_that_do_not_fit_are_refused(options, reason):
    X, y = regression()
    with pytest.raises(ValueError, match=reason):
        MissingOutcomeRegressor(**options).fit(X, y)


def test_too_many_gaps_for_a_system_are_refused():
    X = np.arange(6000.0)[:, None]
    y = np.r_[0.0, 1.0, np.full(5998, np.nan)]
    with pytest.raises(ValueError, match=r"up to 5000 .* got 5998; use method='iterate'"):
        MissingOutcomeRegressor("analytic").fit(X, y)


def test_too_many_columns_are_refused():
    with pytest.raises(ValueError, match=r"5000 columns; .* up to 4096"):
        MissingOutcomeRegressor().fit(np.zeros((3, 5000)), [1.0, 2.0, np.nan])


def test_score_and_cross_validation_leave_missing_outcomes_out():
    X, y = regression(n=100, n_missing=40)
    model = MissingOutcomeRegressor().fit(X, y)
    known = ~np.isnan(y)
    residual = y[known] - model.predict(X[known])
    spread = y[known] - y[known].mean()
    assert model.score(X, y) == pytest.approx(1 - residual @ residual / (spread @ spread))
    assert (cross_val_score(clone(model), X, y, error_score="raise") > 0.0).all()


def test_a_failed_fit_leaves_the_fitted_model_as_it_was():
    X, y = regression()
    model = MissingOutcomeRegressor().fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="missing"):
        model.fit(X[:, :2], np.full(60, np.nan))
    np.testing.assert_array_equal(model.predict(X), before)


@every_check(
    [
        MissingOutcomeRegressor(),
        MissingOutcomeRegressor("analytic", alpha=1.0, fit_intercept=False),
    ]
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
