"""No certificate is false, no end is called exact that is not proven, nothing ends in a traceback.

Every fit of a generated problem is checked by an oracle in extended precision. Here some hundred
problems are fitted; `make test-generated` fits 20,000.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
    baselines,
)
from semisquares.core.solvers import Solution, State, Status
from support.check_generated import Tally, check
from support.generated import FORMATS, KINDS, generate
from support.oracle import AVAILABLE, REASON, second_opinion

PER_RUN = 300
needs_long_double = pytest.mark.skipif(not AVAILABLE, reason=REASON)


@needs_long_double
@pytest.mark.parametrize("first", range(0, PER_RUN, 50))
def test_no_certificate_is_false_and_no_end_is_called_exact_unproven(first):
    tally = Tally()
    for number in range(first, first + 50):
        tally.add(check(generate(number)))
    assert tally.problems == 50
    assert tally.faults == []
    assert np.median(tally.tame) < 1e-14


@needs_long_double
@pytest.mark.parametrize("number", [4047, 15351])
def test_weights_that_rounding_makes_worse_than_a_constant_give_way_to_it(number):
    """Columns are so far from the origin that J of the weights is rounding."""
    assert check(generate(number)).faults == ()


def test_weights_are_kept_if_only_their_proof_is_weak():
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2
    X = rng.normal(size=(200, 300)) + 0.6 * rng.normal(size=(2, 300))[truth]
    X[:, 0] *= 1e15
    model = SoftLabelClassifier()
    with pytest.warns(ConvergenceWarning):
        model.fit(X, np.where(np.arange(200) < 60, truth, -1))
    assert model.certificate_ > 1.0
    assert model.solution_.status is Status.UNPROVEN
    assert model.score(X, truth) > 0.9


def test_the_problems_of_a_run_are_of_every_kind_and_format():
    drawn = [generate(number) for number in range(PER_RUN)]
    assert {(p.kind, p.format) for p in drawn} == {(k, f) for k in KINDS for f in FORMATS}
    assert {len(np.unique(p.y)) - 1 for p in drawn} == {2, 3, 4}
    assert any(p.alpha == 0.0 for p in drawn)
    assert any(p.sample_weight is not None for p in drawn)


@needs_long_double
@pytest.mark.parametrize("number", [0, 1, 2, 8])
def test_the_oracle_finds_a_gap_that_was_made(number):
    problem = generate(number)
    model = problem.fit()
    moved = model.coef_ + 1e-3 * np.abs(model.coef_).max()
    found = second_opinion(problem, coef=moved, intercept=model.intercept_)
    at_the_end = second_opinion(problem, coef=model.coef_, intercept=model.intercept_)
    assert at_the_end.lower < 1e-15
    assert found.lower > 1e-12
    assert found.lower == pytest.approx((found.value - at_the_end.value) / found.constant, rel=1e-6)


@needs_long_double
def test_the_oracle_calls_a_certificate_false_that_is(monkeypatch):
    monkeypatch.setattr("semisquares.estimators.soft.duality_gap", _nothing_is_missing)
    tally = Tally()
    for number in range(8):
        tally.add(check(generate(number), max_iter=1))
    assert tally.counts["false"]


def _nothing_is_missing(*_, **__):
    class Gap:
        relative = 0.0

    return Gap


ESTIMATORS = [
    LeastSquaresClassifier(),
    LeastSquaresClassifier(alpha=0.0),
    HardLabelClassifier(),
    HardLabelClassifier(alpha=0.0, init="soft"),
    SoftLabelClassifierCV(alphas=[0.0, 1e-3, 1.0]),
    AveragedClassifier(),
    baselines.ContrastivePessimisticDiscriminant(),
    baselines.EMDiscriminantClassifier(),
    baselines.ImplicitlyConstrainedClassifier(),
    baselines.MissingOutcomeRegressor(),
    baselines.TransductiveSVM(),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", [1000, pytest.param(1008, marks=pytest.mark.slow)])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_no_numerical_exception_reaches_a_user(estimator, first):
    """What cannot be fitted is refused in a sentence of ours; nothing of numpy's or scipy's."""
    refused = []
    for problem in map(generate, range(first, first + 8)):
        try:
            clone(estimator).fit(problem.dense, problem.y).predict(problem.dense)
        except ValueError as error:
            refused.append(error)
    assert {type(error) for error in refused} <= {ValueError}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_three_classes_are_fitted_beside_a_constant_column(alpha, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack((rng.normal(size=(30, 2)), np.ones(30)))
    y = np.append(np.arange(9) % 3, np.full(21, -1))
    model = SoftLabelClassifier(alpha).fit(X, y)
    without = SoftLabelClassifier(alpha).fit(X[:, :2], y)
    assert model.certificate_ < 1e-12
    assert model.objective_ == pytest.approx(without.objective_, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("offset", [1e3, 1e7, 1e9, 1e12])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_columns_far_from_the_origin_are_fitted_as_dense_ones(offset, alpha, n_classes):
    rng = np.random.default_rng(int(np.log10(offset)))
    codes = np.arange(200) % n_classes
    X = rng.normal(size=(200, 4)) + 2.0 * rng.normal(size=(n_classes, 4))[codes] + offset
    y = np.where(np.arange(200) < 40, codes, -1)
    dense = fit_quietly(SoftLabelClassifier(alpha), X, y)
    far = fit_quietly(SoftLabelClassifier(alpha), sparse.csr_array(X), y)
    assert_allclose(far.coef_, dense.coef_, rtol=1e-9, atol=1e-12)
    # the last bit of the intercept, which moves J at an offset of 1e12
    assert far.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    # the same rows without their offset, which float64 has rounded
    near = fit_quietly(SoftLabelClassifier(alpha), X - offset, y)
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_sparse_column_with_zeros_left_out_is_not_shifted(alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.4)
    X[:, 1] += 1e6  # far from the origin, every entry stored
    y = np.append(np.arange(20) % 2, np.full(40, -1))
    dense, far = (SoftLabelClassifier(alpha).fit(table, y) for table in (X, sparse.csr_array(X)))
    assert_allclose(far.coef_, dense.coef_, rtol=1e-8, atol=1e-10)


# -- ends that are not proven ---------------------------------------------------------------------


def two_classes(seed=0, n=60, d=3):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(2, d))[codes]
    return X, np.where(np.arange(n) < n // 3, codes, -1)


def test_columns_that_are_copies_to_rounding_leave_the_optimum_unproven_and_are_named():
    X, y = two_classes()
    X = np.column_stack((X, X @ [1.0, 2.0, 3.0] / 3.0))
    with pytest.warns(ConvergenceWarning, match="Columns .* combinations .* relative gap of"):
        model = SoftLabelClassifier(alpha=0).fit(X, y)
    assert model.termination_condition_ == Status.UNPROVEN.value
    assert model.certificate_ > 1e-9


def test_columns_that_are_exact_combinations_leave_the_optimum_proven():
    X, y = two_classes()
    whole = np.round(4.0 * X)
    one_hot = np.eye(3)[np.arange(len(X)) % 3]
    X = np.column_stack((whole, whole @ [1.0, -2.0, 1.0], one_hot))
    with pytest.warns(UserWarning, match="are combinations of other columns"):
        model = SoftLabelClassifier(alpha=0).fit(X, y)
    assert model.certificate_ < 1e-12
    assert model.solution_.status.claims_optimum


def test_an_offset_that_takes_all_digits_is_named_as_the_cause():
    X, y = two_classes()
    X[:, 1] += 1e14
    with pytest.warns(ConvergenceWarning, match="column 1 is far from the origin for its spread"):
        model = SoftLabelClassifier(alpha=0).fit(X, y)
    assert not model.solution_.status.claims_optimum


def test_a_fit_that_ends_above_the_best_constant_is_replaced_by_it(monkeypatch):
    X, y = two_classes()

    def lose_all_digits(objective, w, **_):
        sweep = objective.sweep(w + 1e3)
        value = objective.value(sweep)
        return Solution(sweep.w, value, Status.EXACT, "newton", 1, 1, State(sweep.z, sweep=sweep))

    monkeypatch.setattr("semisquares.estimators.soft.minimise", lose_all_digits)
    with pytest.warns(ConvergenceWarning, match="no weights that beat the best constant"):
        model = SoftLabelClassifier().fit(X, y)
    assert not model.coef_.any()
    assert model.intercept_[0] + 0.5 == pytest.approx(y[y >= 0].mean())
    assert model.certificate_ <= 1.0 + 1e-9
    assert model.termination_condition_ == Status.CONSTANT.value


def test_a_stop_by_the_user_is_not_replaced_by_the_best_constant():
    X, y = two_classes()
    start = (np.full((1, 3), 50.0), np.array([0.0]))
    model = SoftLabelClassifier(solver="block", init=start, max_iter=1, relaxation=0.1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model.fit(X, y)
    assert model.coef_.any()


@pytest.mark.parametrize("scale", [1e-18, 1e-6, 1e6, 1e18])
def test_with_fewer_labels_than_columns_any_scale_of_columns_finds_the_least_J(scale):
    X, y = two_classes(n=40, d=5)
    y[4:] = -1
    even = SoftLabelClassifier(alpha=0).fit(X, y)
    uneven = SoftLabelClassifier(alpha=0).fit(X * [1.0, scale, 1.0, 1.0 / scale, 1.0], y)
    assert uneven.objective_ == pytest.approx(even.objective_, rel=1e-6, abs=1e-9)
    assert uneven.certificate_ < 1e-9


# -- numbers at the ends of the range, and tables that are written oddly --------------------------


TINY = [
    {"X": 1e-163, "weight": 1.0},  # squares of the column underflow
    {"X": 1e-155, "weight": 1e-20},
    {"X": 1e-65, "weight": 1e-200},
]


@pytest.mark.parametrize("beside", [0, 1])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("size", TINY, ids=str)
def test_a_column_whose_squares_underflow_is_not_taken_for_zeros(size, fit_intercept, beside):
    rng = np.random.default_rng(0)
    column = np.array([[1.0], [2.0], [3.0], [4.0]]) * size["X"]
    X = np.hstack((column, rng.normal(size=(4, beside))))
    y, weight = np.array([0, 0, 1, -1]), np.full(4, size["weight"])
    model = SoftLabelClassifier(alpha=0, fit_intercept=fit_intercept)
    fit_quietly(model, X, y, sample_weight=weight)
    even = SoftLabelClassifier(alpha=0, fit_intercept=fit_intercept)
    even.fit(X / [size["X"], *[1.0] * beside], y)
    share = (model.objective_ / size["weight"] - even.objective_) / scale_of(y, fit_intercept)
    assert share <= model.certificate_ + 1e-12


def scale_of(y, fit_intercept):
    """J of the best constant, two classes, weights of 1."""
    known = y[y >= 0]
    return float(((known - known.mean() * fit_intercept) ** 2).sum())


@pytest.mark.parametrize("size", [1e-165, 1e-300])
def test_weights_at_the_end_of_the_range_prove_nothing_false(size):
    X, y = two_classes()
    start = (np.full((1, 3), 0.3), np.array([0.1]))
    model = SoftLabelClassifier(alpha=size, max_iter=1, init=start)
    fit_quietly(model, X, y, sample_weight=np.full(len(X), size))
    even = SoftLabelClassifier(alpha=1.0).fit(X, y)
    share = (model.objective_ / size - even.objective_) / scale_of(y, True)
    assert share <= model.certificate_


@pytest.mark.parametrize(
    ("weight", "fit_intercept", "words"), [(5e-324, True, "so small"), (5e307, False, "too large")]
)
def test_weights_whose_sums_vanish_or_overflow_are_refused(weight, fit_intercept, words):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.array([0, 1, 2] * 2 + [-1] * 6)
    y = np.where(fit_intercept, np.minimum(y, 1), y)  # two classes, or three
    model = SoftLabelClassifier(fit_intercept=fit_intercept)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, np.full(12, weight))


def test_entries_of_a_sparse_table_that_are_stored_twice_are_added():
    X, y = two_classes(n=600)
    X[:, 0] += 100.0
    X[301, 0] = 0.0  # in no sample of rows
    once = sparse.csr_array(X)
    entries = once.tocoo()
    half = np.flatnonzero((entries.row == 401) & (entries.col == 0))
    data = entries.data.copy()
    data[half] /= 2.0
    place = (np.append(entries.row, 401), np.append(entries.col, 0))
    order = np.lexsort(place[::-1])
    indptr = np.append(0, np.cumsum(np.bincount(place[0], minlength=600)))
    twice = sparse.csr_array((np.append(data, data[half])[order], place[1][order], indptr))
    assert not twice.has_canonical_format
    stored, summed = (SoftLabelClassifier().fit(table, y) for table in (twice, once))
    assert_allclose(stored.coef_, summed.coef_, rtol=1e-9)
    assert not twice.has_canonical_format  # the user's table is left as it was


@pytest.mark.parametrize("tol", [1e-5, 1.0])
def test_a_loose_tol_does_not_loosen_what_is_called_exact(tol):
    for number in range(16):
        model = generate(number).fit(tol=tol)
        exact = model.solution_.status.claims_optimum
        assert model.certificate_ <= (1e-9 if exact else np.inf)


def test_many_digits_in_many_columns_are_fitted_without_a_ridge():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, size=(260, 120)).astype(float)
    y = np.append(np.arange(100) % 2, np.full(160, -1))
    model = SoftLabelClassifier(alpha=0).fit(X, y)
    assert model.certificate_ < 1e-9


def test_a_table_of_zeros_is_fitted_without_a_ridge_or_an_intercept():
    model = SoftLabelClassifier(alpha=0, fit_intercept=False)
    model.fit(np.zeros((6, 2)), [0, 1, -1, -1, 0, 1])
    assert not model.coef_.any()
    assert model.certificate_ < 1e-12


@pytest.mark.parametrize("offset", [1e10, 1e12, 1e15])
def test_the_objective_is_that_of_the_intercept_as_it_is_rounded(offset):
    X, y = two_classes()
    X = np.round(1024.0 * X) / 1024.0 + offset
    model = fit_quietly(SoftLabelClassifier(alpha=1e-3), X, y)
    exact = [
        sum(map(Fraction.__mul__, map(Fraction, row), map(Fraction, model.coef_[0])))
        + Fraction(model.intercept_[0])
        + Fraction(1, 2)
        for row in X.tolist()
    ]
    z = np.array([float(value) for value in exact])
    target = np.where(y == -1, np.clip(z, 0.0, 1.0), y)
    value = float(((z - target) ** 2).sum() + 1e-3 * (model.coef_**2).sum())
    assert model.objective_ == pytest.approx(value, rel=1e-6)


def fit_quietly(model, X, y, sample_weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight)
