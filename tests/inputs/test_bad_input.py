"""What cannot be fitted is said in one sentence; what looks odd but can be fitted is fitted."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from threadpoolctl import threadpool_limits

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.core.rows.reduce import THREADED_VALUES
from support.allowed_warnings import collapse_allowed

SEMI_SUPERVISED = [
    SoftLabelClassifier(),
    SoftLabelClassifier(solver="block"),
    HardLabelClassifier(),
    HardLabelClassifier(n_init=3, random_state=1),
    HardLabelClassifier(init="soft"),
]
MODELS = [LeastSquaresClassifier(), *SEMI_SUPERVISED]
AVERAGED = AveragedClassifier(["least_squares", "logistic"], n_graph_rows=50)
LARGE = (THREADED_VALUES // 45 + 400, 45)  # summed in threads


@pytest.fixture(params=MODELS, ids=repr)
def model(request):
    return clone(request.param)


@pytest.fixture(params=[*MODELS, SoftLabelClassifierCV(), AVERAGED], ids=repr)
def any_model(request):
    return clone(request.param)


@pytest.fixture(params=SEMI_SUPERVISED, ids=repr)
def semi_supervised(request):
    return clone(request.param)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture
def y(X):
    """Every fourth row has a label: 0, 4, 8, …"""
    return np.where(np.arange(len(X)) % 4 == 0, X[:, 0] > 0, -1)


@pytest.fixture(scope="module")
def large():
    X = np.random.default_rng(0).normal(size=LARGE)
    return X, np.where(np.arange(len(X)) % 100 == 0, X[:, 0] > 0, -1)


def error_of(call, match, kind=ValueError):
    """Call, and return the error that it has to end with: not one out of a deeper layer."""
    with pytest.raises(kind, match=match) as caught:
        call()
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    return str(error)


def says(call, match, kind=ValueError):
    """Check that the call is refused, in one sentence on one line."""
    text = error_of(call, match, kind)
    assert "\n" not in text
    assert text.endswith(".")
    assert not re.search(r"[.!?] +[A-Z]", text), text


# labels


def test_no_labeled_row(any_model, X):
    says(lambda: any_model.fit(X, [-1] * 60), "None of the 60 rows of y has a label")


def test_no_labeled_row_but_missing_values(any_model, X):
    says(lambda: any_model.fit(X, [None] * 59 + [np.nan]), "None of the 60 rows of y has a label")


def test_one_class_only(any_model, X):
    says(lambda: any_model.fit(X, [3] * 20 + [None] * 40), "one class only, 3, and .* needs two")


def test_one_class_beside_the_marker_says_that_it_was_read_as_no_label(any_model, X):
    match = 'one class only, 1,.*unlabeled=None.*-1 is a class.*20 here.*read as "no label"'
    says(lambda: any_model.fit(X, [1] * 40 + [-1] * 20), match)


def test_the_string_minus_one_while_the_marker_is_a_number(any_model, X):
    y = ["ham", "spam", "-1"] * 20
    says(lambda: any_model.fit(X, y), "the string '-1' but unlabeled=-1 .*unlabeled='-1'.*None")


def test_y_of_another_length(any_model, X, y):
    says(lambda: any_model.fit(X, y[:-1]), "y has 59 rows but X has 60")


def test_continuous_labels(any_model, X):
    says(lambda: any_model.fit(X, X[:, 0]), "continuous.*regressor")


def test_y_of_two_columns(any_model, X):
    says(lambda: any_model.fit(X, np.zeros((60, 2))), r"1d array, got .*\(60, 2\)")


def test_no_y(any_model, X):
    says(lambda: any_model.fit(X, None), "requires y to be passed")


# X


FORMS = {
    "dense": np.asarray,
    "float32": np.float32,
    "F order": np.asfortranarray,
    "pandas": pd.DataFrame,
    "csr": sparse.csr_array,
    "csc, float32": lambda X: sparse.csc_matrix(X, dtype=np.float32),
    "wide": lambda X: np.hstack((X, np.random.default_rng(1).normal(size=(60, 80)))),
    "wide csr": lambda X: sparse.csr_array(np.hstack((X, np.eye(60, 80)))),
    "very wide csr": lambda X: sparse.hstack((sparse.csr_array(X), sparse.eye_array(60, 5000))),
}
each_form = pytest.mark.parametrize("form", FORMS)
in_each_part = pytest.mark.parametrize("row", [56, 57], ids=["labeled", "unlabeled"])


@each_form
@in_each_part
def test_nan_in_x(any_model, X, y, row, form):
    X[row, 1] = np.nan
    X = FORMS[form](X)
    error_of(lambda: any_model.fit(X, y), "Input X contains NaN")


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("form", ["dense", "float32", "csr", "wide", "very wide csr"])
@in_each_part
def test_infinity_in_x(any_model, X, y, value, row, form):
    X[row, 1] = value
    X = FORMS[form](X)
    error_of(lambda: any_model.fit(X, y), "Input X contains infinity")


@pytest.mark.parametrize(
    ("row", "value", "dtype"),
    [(40_000, np.nan, np.float64), (40_001, -np.inf, np.float32)],
    ids=["labeled", "unlabeled"],
)
def test_nan_or_infinity_far_down_in_a_large_x(any_model, large, value, row, dtype):
    X, y = large
    X = X.astype(dtype)
    X[row, 7] = value
    with threadpool_limits(2, "blas"):
        error_of(lambda: any_model.fit(X, y), "Input X contains (NaN|infinity)")


def test_nan_in_every_row(any_model, X, y):
    X[:, 2] = np.nan
    error_of(lambda: any_model.fit(X, y), "X contains NaN")


def test_nan_with_more_than_two_classes_and_without_a_ridge(semi_supervised, X):
    X[58, 1] = np.nan
    semi_supervised.set_params(alpha=0)
    y = np.arange(60) % 4 - 1
    error_of(lambda: semi_supervised.fit(X, y), "X contains NaN")


@pytest.mark.parametrize("form", ["dense", "csr", "wide", "very wide csr"])
@in_each_part
def test_numbers_whose_squares_overflow(semi_supervised, X, y, row, form):
    X[row, 1] = -1e200
    X = FORMS[form](X)
    match = r"X holds numbers as large as 1e\+200, whose squares overflow; rescale .*StandardScaler"
    says(lambda: semi_supervised.fit(X, y), match)


def test_numbers_whose_squares_overflow_in_a_large_x(semi_supervised, large):
    X, y = large
    X = X.copy()
    X[40_001, 7] = 1e200
    with threadpool_limits(2, "blas"):
        says(lambda: semi_supervised.fit(X, y), r"as large as 1e\+200, whose squares overflow")


def test_numbers_whose_squares_overflow_without_unlabeled_rows(X, y):
    X[56, 1] = 1e200
    says(lambda: LeastSquaresClassifier().fit(X, y), r"as large as 1e\+200, whose squares overf")


def test_x_of_one_dimension(any_model, X, y):
    error_of(lambda: any_model.fit(X[:, 0], y), "Expected 2D array, got 1D array")  # scikit-learn's


def test_x_without_columns(any_model, y):
    error_of(lambda: any_model.fit(np.empty((60, 0)), y), r"0 feature\(s\)")  # scikit-learn's


@pytest.mark.parametrize(
    "column",
    [
        ["red", "blue", "green"] * 20,
        pd.Categorical(["red", "blue", "green"] * 20),
        pd.date_range("2020-01-01", periods=60),
    ],
    ids=["strings", "categorical", "dates"],
)
def test_a_column_of_pandas_that_is_no_number_is_named(any_model, X, y, column):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(colour=column)
    says(lambda: any_model.fit(frame, y), "not numeric: colour .*ColumnTransformer")


def test_a_column_of_polars_that_is_no_number_is_named(any_model, X, y):
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(colour=pl.lit("red"))
    says(lambda: any_model.fit(frame, y), "not numeric: colour .*ColumnTransformer")


def test_strings_in_a_plain_array(any_model, X, y):
    X = X.astype(object)
    X[3, 1] = "red"
    text = error_of(lambda: any_model.fit(X, y), "could not convert string|not numeric")
    assert "\n" not in text


# weights


def test_all_weights_zero(any_model, X, y):
    says(lambda: any_model.fit(X, y, np.zeros(60)), "All 60 sample weights are zero")


def test_a_negative_weight(any_model, X, y):
    weight = np.ones(60)
    weight[7] = -1
    error_of(lambda: any_model.fit(X, y, weight), "Negative values in data")  # scikit-learn's


def test_a_weight_that_is_no_number(any_model, X, y):
    weight = np.ones(60)
    weight[7] = np.nan
    error_of(lambda: any_model.fit(X, y, weight), "sample_weight contains NaN")  # scikit-learn's


def test_weights_of_another_length(any_model, X, y):
    error_of(lambda: any_model.fit(X, y, np.ones(59)), "59")


def test_weights_that_leave_one_class(any_model, X, y):
    says(lambda: any_model.fit(X, y, (y != 0).astype(float)), "of one class only .* out of 2")


def test_class_weights_that_leave_one_class(any_model, X, y):
    any_model.set_params(class_weight={0: 0.0, 1: 1.0})
    says(lambda: any_model.fit(X, y), "of one class only .* out of 2")


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_class_weights_that_are_no_weights(any_model, X, y, weight):
    any_model.set_params(class_weight={0: weight, 1: 1.0})
    says(lambda: any_model.fit(X, y), "class_weight")


# parameters


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, "much", None, [1.0]])
def test_alpha_that_is_no_ridge(model, X, y, alpha):
    model.set_params(alpha=alpha)
    text = error_of(lambda: model.fit(X, y), "'alpha' parameter .* must be a float .* Got")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("unlabeled_weight", -1.0),
        ("unlabeled_weight", np.nan),
        ("tol", -1.0),
        ("tol", np.nan),
        ("max_iter", 0),
        ("max_iter", 2.5),
        ("fit_intercept", "yes"),
        ("class_weight", "unbalanced"),
        ("init", None),
        ("solver", 3),
        ("random_state", "seed"),
    ],
)
def test_parameters_out_of_range(semi_supervised, X, y, name, value):
    semi_supervised.set_params(**{name: value})
    error_of(lambda: semi_supervised.fit(X, y), f"'{name}' parameter of .* must be .* Got")


@pytest.mark.parametrize("relaxation", [0.0, 2.0, -1.0, np.nan, "fast"])
def test_a_relaxation_that_does_not_descend(X, y, relaxation):
    model = SoftLabelClassifier(solver="block", relaxation=relaxation)
    error_of(lambda: model.fit(X, y), "'relaxation' parameter of .* must be .* Got")


@pytest.mark.parametrize("n_init", [0, 1.5, None])
def test_a_number_of_starts_that_is_none(X, y, n_init):
    model = HardLabelClassifier(n_init=n_init)
    error_of(lambda: model.fit(X, y), "'n_init' parameter of .* must be .* Got")


def test_an_unknown_solver_lists_those_that_work(semi_supervised, X, y):
    semi_supervised.set_params(solver="lbfgs")
    match = "solver='lbfgs' is unknown to .*; use one of .*'auto'.*" + (
        f"'{semi_supervised._solvers[-1]}'"
    )
    says(lambda: semi_supervised.fit(X, y), match)


@pytest.mark.parametrize(
    ("model", "theirs"),
    [
        (SoftLabelClassifier(solver="enumerate"), "'newton', 'block'"),
        (HardLabelClassifier(solver="newton"), "'block', 'enumerate'"),
    ],
)
def test_the_solver_of_the_other_method_is_unknown(model, theirs, X, y):
    says(lambda: clone(model).fit(X, y), f"use one of .*{theirs}")


def test_an_unknown_start_lists_those_that_work(semi_supervised, X, y):
    semi_supervised.set_params(init="warm")
    match = r"init='warm' is unknown .*'supervised'.*'random'.*\(coef, intercept\).*array"
    says(lambda: semi_supervised.fit(X, y), match)


def test_a_start_of_the_other_method_is_unknown(X, y):
    says(lambda: SoftLabelClassifier(init="path").fit(X, y), "'supervised', 'random'")


@pytest.mark.parametrize(
    ("init", "match"),
    [
        ((np.zeros(4), 0.0), r"coefficients of shape \(4,\); give shape \(1, 3\)"),
        ((np.zeros((2, 3)), 0.0), r"coefficients of shape \(2, 3\); give shape \(1, 3\)"),
        ((np.zeros((3, 1)), 0.0), r"coefficients of shape \(3, 1\); give shape \(1, 3\)"),
        ((np.zeros(3), [0.0, 0.0]), "init has .*intercept"),
        ((np.zeros(3), "a"), "init has .*intercept"),
        ((["a", "b", "c"], 0.0), "init has .*coefficients"),
        ((np.full(3, np.nan), 0.0), "init has .*finite"),
        ((np.zeros(3), np.inf), "init has .*finite"),
        ((np.zeros(3),), r"tuple of 1; .*\(coef, intercept\)"),
        (np.zeros(44), r"shape \(44,\); .* shape \(45,\), in the order of the unlabeled rows"),
        (np.zeros((45, 2)), r"shape \(45, 2\); .* shape \(45,\)"),
        (np.full(45, np.nan), "finite numbers"),
        (["no"] * 45, "init has .*numbers"),
    ],
)
def test_a_start_of_the_wrong_shape(semi_supervised, X, y, init, match):
    semi_supervised.set_params(init=init)
    says(lambda: semi_supervised.fit(X, y), match)


def test_labels_to_start_from_have_a_column_for_each_of_three_classes(X):
    y = np.arange(60) % 4 - 1
    model = SoftLabelClassifier(init=np.zeros(15))
    says(lambda: model.fit(X, y), r"shape \(15,\); .* shape \(15, 3\)")


def test_relaxation_of_a_solver_that_has_none(X, y):
    model = SoftLabelClassifier(relaxation=1.5)
    says(lambda: model.fit(X, y), "relaxation=1.5 is for solver='block', got solver='auto'; pass")


def test_weights_whose_sums_overflow_are_not_blamed_on_x(semi_supervised, X, y):
    weight = np.full(60, 1e308)
    says(lambda: semi_supervised.fit(X, y, weight), "overflow though X does not: .*sample_weight")


def test_enumerate_with_three_classes(X):
    model = HardLabelClassifier(solver="enumerate")
    y = np.arange(60) % 4 - 1
    says(lambda: model.fit(X, y), "for two classes .* got 3 classes .*solver='block'")


def test_enumerate_with_too_many_unlabeled_rows(X):
    X = np.resize(X, (2003, 3))
    y = [0, 1] + [-1] * 2001
    says(
        lambda: HardLabelClassifier(solver="enumerate").fit(X, y),
        "2000 unlabeled rows, got .* 2001 rows",
    )


def test_enumerate_with_many_starts(X, y):
    model = HardLabelClassifier(solver="enumerate", n_init=5)
    says(lambda: model.fit(X, y), "no n_init=5; .*solver='block'")


def test_no_ridge_on_a_very_wide_sparse_table(model):
    X = sparse.eye_array(30, 5000, format="csr")
    model.set_params(alpha=0)
    match = "alpha=0 with 5000 columns.* up to 4096; pass alpha > 0"
    says(lambda: model.fit(X, np.arange(30) % 3 - 1), match)


# convergence


def test_too_few_steps_warn_with_the_gap_the_tolerance_and_what_to_raise(X, y):
    model = SoftLabelClassifier(solver="block", max_iter=3)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "max_iter=3" in text
    assert "'block'" in text
    assert f"relative gap of {model.certificate_:.2g} (tol=1e-20)" in text
    assert "; raise max_iter, raise tol, or raise alpha." in text
    assert not re.search(r"[.!?] +[A-Z]|\n", text)
    assert model.certificate_ > 1e-12
    assert model.termination_condition_ == "stopped at max_iter steps"


def test_too_few_steps_of_newton_warn_too(X, y):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 .*'newton'.* a relative gap of"):
        SoftLabelClassifier(max_iter=1, alpha=0.1).fit(X, y)


def test_too_few_steps_of_hard_labels_warn_too(X, y):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 .*'block'.*raise max_iter"):
        HardLabelClassifier(init="random", random_state=0, max_iter=1).fit(X, y)


def test_too_few_nodes_warn_too(X, y):
    with pytest.warns(ConvergenceWarning, match=r"max_iter.*'enumerate'.*raise max_iter"):
        HardLabelClassifier(solver="enumerate", max_iter=2, alpha=0.1).fit(X, y)


def test_enough_steps_do_not_warn(semi_supervised, X, y):
    semi_supervised.fit(X, y)  # a warning is an error here


# predicting


def test_predict_before_fit(any_model, X):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        any_model.predict(X)


def test_predict_with_other_columns_names_them(any_model, X, y):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    any_model.fit(frame, y)
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- z\n.*now missing:\n- c"):
        any_model.predict(frame.rename(columns={"c": "z"}))


def test_predict_with_columns_in_another_order(any_model, X, y):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    any_model.fit(frame, y)
    with pytest.raises(ValueError, match="same order"):
        any_model.predict(frame[["b", "a", "c"]])


def test_predict_with_too_few_columns(any_model, X, y):
    any_model.fit(X, y)
    says(lambda: any_model.predict(X[:, :2]), "X has 2 features, but .* is expecting 3 features")


def test_score_without_labels(any_model, X, y):
    any_model.fit(X, y)
    says(lambda: any_model.score(X, [-1] * 60), "None of the 60 rows of y has a label to score")


def test_score_with_y_of_another_length(any_model, X, y):
    any_model.fit(X, y)
    says(lambda: any_model.score(X, y[:-1]), "y has 59 rows but X has 60")


def test_score_with_weights_of_another_length(any_model, X, y):
    any_model.fit(X, y)
    error_of(lambda: any_model.score(X, y, np.ones(59)), "59")


def test_score_with_weights_of_zero(any_model, X, y):
    any_model.fit(X, y)
    says(lambda: any_model.score(X, y, np.zeros(60)), "weights are zero")


# a failed fit


def with_nan(X):
    return np.where(np.arange(60)[:, None] == 56, np.nan, X)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X, y: (with_nan(X), y),
        lambda X, y: (np.hstack((X, with_nan(X))), y),
        lambda X, y: (np.hstack((X, X)), y[:-1]),
        lambda X, y: (np.hstack((X, X)), np.zeros(60)),
        lambda X, y: (pd.DataFrame(X, columns=["a", "b", "c"]), np.full(60, -1)),
        lambda X, y: (X[:, 0], y),
        lambda X, y: (X * 1e200, y),
    ],
    ids=["NaN", "wider NaN", "length", "one class", "names", "1-d", "overflow"],
)
def test_a_failed_fit_leaves_the_fitted_model_as_it_was(any_model, X, y, spoil):
    any_model.fit(X, y)
    before, predicted = dict(vars(any_model)), any_model.predict(X)
    with pytest.raises(ValueError, match=r"."):
        any_model.fit(*spoil(X, y))
    np.testing.assert_array_equal(any_model.predict(X), predicted)
    assert {name: id(value) for name, value in vars(any_model).items()} == {
        name: id(value) for name, value in before.items()
    }


# odd, but these can be fitted


def test_no_unlabeled_row_gives_the_supervised_weights(model, X):
    y = (X[:, 0] > 0).astype(int)
    model.fit(X, y)
    supervised = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(model.coef_, supervised.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, supervised.intercept_, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@collapse_allowed
def test_one_label_per_class(model, X, n_classes):
    y = np.full(60, -1)
    y[:n_classes] = np.arange(n_classes)
    model.fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.arange(n_classes))
    assert np.isfinite(model.decision_function(X)).all()


def test_a_single_column(model, X, y):
    model.fit(X[:, :1], y)
    assert model.coef_.shape == (1, 1)
    assert model.score(X[:, :1], y) > 0.8


def test_a_single_unlabeled_row(model, X):
    y = (X[:, 0] > 0).astype(int)
    y[9] = -1
    assert model.fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("value", [0.0, 1.0, 1e9, 0.1])
def test_a_constant_column_has_no_influence(model, X, y, value):
    wider = np.hstack((X, np.full((60, 1), value)))
    plain = clone(model).fit(X, y)
    model.fit(wider, y)
    np.testing.assert_allclose(model.coef_[:, :3], plain.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        model.decision_function(wider), plain.decision_function(X), rtol=1e-6, atol=1e-6
    )


def test_nothing_but_constant_columns_predicts_the_larger_class(model):
    y = [0, 0, 1, -1, -1]
    np.testing.assert_array_equal(model.fit(np.ones((5, 2)), y).predict(np.ones((2, 2))), [0, 0])


def test_a_column_that_is_constant_among_labeled_rows_only(model, X, y):
    X[y != -1, 2] = 0.25
    assert model.fit(X, y).score(X, y) > 0.8
    np.testing.assert_allclose(LeastSquaresClassifier().fit(X, y).coef_[0, 2], 0.0, atol=1e-12)


def test_a_repeated_row_is_a_row_of_weight_two(model, X, y):
    twice = clone(model).fit(np.vstack((X, X)), np.concatenate((y, y)))
    model.fit(X, y, np.full(60, 2.0))
    np.testing.assert_allclose(model.coef_, twice.coef_, rtol=1e-8, atol=1e-10)


def test_a_row_of_weight_zero_is_not_there(model, X, y):
    weight = np.ones(60)
    weight[40:] = 0.0
    model.fit(X, y, weight)
    alone = clone(model).fit(X[:40], y[:40])
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, alone.intercept_, rtol=1e-8, atol=1e-10)


def test_unlabeled_rows_of_weight_zero_leave_the_supervised_weights(semi_supervised, X, y):
    semi_supervised.set_params(unlabeled_weight=0).fit(X, y)
    supervised = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(semi_supervised.coef_, supervised.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        semi_supervised.intercept_, supervised.intercept_, rtol=1e-10, atol=1e-12
    )


def test_a_copied_column_without_a_ridge_is_named_and_fitted(X, y):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(copy=X[:, 1])
    with pytest.warns(UserWarning, match=r"Columns '(b|copy)' are combinations .*least norm"):
        model = SoftLabelClassifier(alpha=0).fit(frame, y)
    np.testing.assert_allclose(model.coef_[0, 1], model.coef_[0, 3], rtol=1e-6)
    plain = SoftLabelClassifier(alpha=0).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(frame), plain.decision_function(X), atol=1e-8
    )
