"""Every estimator refuses what scikit-learn would misread, and reads missing labels as missing."""

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.semi_supervised import SelfTrainingClassifier

import semisquares
from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
    baselines,
)
from semisquares.baselines import (
    AllLabelingsDiscriminant,
    ContrastivePessimisticDiscriminant,
    EMDiscriminantClassifier,
    ImplicitlyConstrainedClassifier,
    MissingOutcomeRegressor,
    OracleClassifier,
    SelfLearning,
    SemiSupervisedAdapter,
    TransductiveSVM,
)
from support.allowed_warnings import collapse_allowed, early_stop_allowed

WITH_DASK = [
    LeastSquaresClassifier(),
    SoftLabelClassifier(),
    HardLabelClassifier(),
    AveragedClassifier(["least_squares", "logistic"]),
]
OURS = [
    *WITH_DASK,
    SoftLabelClassifierCV([1.0]),
    AllLabelingsDiscriminant(),
    ContrastivePessimisticDiscriminant(shrinkage=1.0),
    EMDiscriminantClassifier(),
    ImplicitlyConstrainedClassifier(),
    TransductiveSVM(),
]
AROUND = [
    SelfLearning(LinearDiscriminantAnalysis()),
    SelfLearning(LeastSquaresClassifier()),
    SemiSupervisedAdapter(SelfTrainingClassifier(LogisticRegression())),
]
CLASSIFIERS = [*OURS, *AROUND]
MODELS = [*CLASSIFIERS, OracleClassifier(LogisticRegression()), MissingOutcomeRegressor()]

N, N_LABELED = 30, 20
X = np.random.default_rng(0).normal(size=(N, 2))
TRUTH = (X[:, 0] > 0).astype(int)
MISSING = np.arange(N) >= N_LABELED
Y = np.where(MISSING, -1, TRUTH)


each_model = pytest.mark.parametrize("model", MODELS, ids=repr)
each_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)


def fit(model, rows, y=None, **options):
    """Fit a new model to rows; an oracle and a regressor need every label."""
    complete = isinstance(model, OracleClassifier | MissingOutcomeRegressor)
    y = (TRUTH if complete else Y) if y is None else y
    return clone(model).fit(rows, y, **options)


def says(call, match):
    """Check that the call is refused with a ValueError of one sentence."""
    with pytest.raises(ValueError, match=match) as caught:
        call()
    text = str(caught.value)
    assert re.fullmatch(r"[^\n]*[^.]\.", text)
    assert not re.search(r"[.!?] +[A-Z]", text)


def test_every_estimator_is_here():
    kinds = {type(model).__name__ for model in MODELS}
    assert kinds == {*semisquares.__all__, *baselines.__all__}


# -- column names -------------------------------------------------------------------------------


FRAMES = {
    "pandas": lambda columns, names: pd.DataFrame(columns, columns=names),
    "pyarrow": lambda columns, names: pa.Table.from_arrays(
        [pa.array(column) for column in columns.T], names=names
    ),
}


@pytest.mark.parametrize("write", FRAMES.values(), ids=FRAMES.keys())
@each_model
def test_columns_of_one_name_are_refused_by_name(model, write):
    rows = write(np.hstack((X, X, X[:, :1])), ["age", "size", "age", "size", "width"])
    says(lambda: fit(model, rows), "several columns named 'age', 'size'; rename or drop")


@each_model
def test_columns_of_one_name_are_refused_in_rows_to_predict(model):
    fitted = fit(model, pd.DataFrame(X, columns=["a", "b"]))
    repeated = pd.DataFrame(X, columns=["a", "a"])
    says(lambda: fitted.predict(repeated), "several columns named 'a'; rename or drop")


@each_model
def test_columns_of_one_number_are_refused_too(model):
    says(lambda: fit(model, pd.DataFrame(X, columns=[0, 0])), "several columns named 0; rename")


# -- dates --------------------------------------------------------------------------------------


NANOSECONDS = (X * 1e15).astype("datetime64[ns]")
DATES = {
    "array": NANOSECONDS,
    "durations": NANOSECONDS - NANOSECONDS[0],
    "days": NANOSECONDS.astype("datetime64[D]"),
    "list": NANOSECONDS.astype("datetime64[s]").tolist(),
    "objects": NANOSECONDS.astype("datetime64[s]").astype(object),
    "pandas": pd.DataFrame(NANOSECONDS, columns=["a", "b"]),
    "pandas, durations": pd.DataFrame(NANOSECONDS - NANOSECONDS[0], columns=["a", "b"]),
    "pandas, time zone": pd.DataFrame({"a": pd.date_range("2024", periods=N, tz="UTC")}),
    "pandas, arrow": pd.DataFrame({"a": pd.date_range("2024", periods=N)}).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "pandas, mixed": pd.DataFrame(X, columns=["a", "b"]).assign(
        at=pd.date_range("2024", periods=N)
    ),
    "pandas, mixed, durations": pd.DataFrame(X, columns=["a", "b"]).assign(
        for_=pd.to_timedelta(np.arange(N), "D")
    ),
    "polars": pl.DataFrame({"a": NANOSECONDS[:, 0]}),
    "polars, durations": pl.DataFrame({"a": NANOSECONDS[:, 0] - NANOSECONDS[0, 0]}),
    "pyarrow": pa.table({"a": NANOSECONDS[:, 0]}),
}


@pytest.mark.parametrize("rows", DATES.values(), ids=DATES.keys())
@each_model
def test_dates_are_refused_with_how_to_convert_them(model, rows):
    match = r"(not numeric|of type).*dates and durations into numbers.*np\.timedelta64\(1, 'D'\)"
    says(lambda: fit(model, rows), match)


@each_model
def test_dates_to_predict_are_refused(model):
    fitted = fit(model, X)
    says(lambda: fitted.predict(NANOSECONDS), "X is of type datetime64.*into numbers")


@each_model
def test_the_conversion_that_is_advised_works(model):
    column = NANOSECONDS
    fit(model, (column - column.min()) / np.timedelta64(1, "D"))


@each_model
def test_text_in_a_frame_is_refused_by_name(model):
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(colour="red")
    with pytest.raises(ValueError, match=r"colour|could not convert string"):
        fit(model, rows)


@pytest.mark.parametrize("model", OURS, ids=repr)
def test_text_in_a_frame_is_refused_in_one_sentence(model):
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(colour="red")
    says(lambda: fit(model, rows), "not numeric: colour .*ColumnTransformer")


def days(frame):
    return (frame - frame.min()) / np.timedelta64(1, "D")


def test_a_pipeline_inside_may_turn_dates_into_numbers():
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(at=pd.date_range("2024", periods=N))
    convert = make_column_transformer((FunctionTransformer(days), ["at"]), remainder="passthrough")
    supervised = SelfLearning(make_pipeline(convert, LogisticRegression()))
    inner = make_pipeline(convert, SelfTrainingClassifier(LogisticRegression()))
    for model in supervised, SemiSupervisedAdapter(inner):
        assert len(fit(model, rows).predict(rows)) == N


class TakesDates(ClassifierMixin, BaseEstimator):
    """A classifier of somebody else that reads dates by itself."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(pd.DatetimeIndex(X["at"]).year % 2).astype(int)]


def test_dates_reach_a_classifier_that_is_not_from_scikit_learn():
    rows = pd.DataFrame({"at": pd.date_range("2024", periods=N, freq="YE")})
    assert fit(SelfLearning(TakesDates()), rows).predict(rows)[:2].tolist() == [0, 1]


# -- masked arrays ------------------------------------------------------------------------------


def masked(values, where):
    return np.ma.masked_array(values, mask=where)


HOLES = np.zeros(X.shape, dtype=bool)
HOLES[3, 1] = HOLES[5, 0] = True


@each_model
def test_masked_cells_are_refused_as_missing_values(model):
    says(lambda: fit(model, masked(X, HOLES)), "X is a masked array that lacks 2 of its 60 values")


@each_model
def test_masked_rows_in_a_list_are_refused_as_missing_values(model):
    says(lambda: fit(model, list(masked(X, HOLES))), "X is a masked array that lacks 2 of its 60")


@each_model
def test_masked_cells_to_predict_are_refused(model):
    fitted = fit(model, X)
    says(lambda: fitted.predict(masked(X, HOLES)), "X is a masked array that lacks 2 of its 60")


@each_model
def test_a_masked_array_with_nothing_masked_is_an_array(model):
    whole = masked(X, np.zeros(X.shape, dtype=bool))
    expected = fit(model, X).predict(X)
    np.testing.assert_array_equal(fit(model, whole).predict(whole), expected)


@pytest.mark.parametrize("write", [masked, lambda *y: list(masked(*y))], ids=["array", "list"])
@each_classifier
def test_masked_labels_are_missing_labels(model, write):
    hidden = np.where(MISSING, 7, TRUTH)  # what is behind the mask is no class
    found = fit(model, X, write(hidden, MISSING))
    expected = fit(model, X)
    assert found.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.score(X, write(hidden, MISSING)) == expected.score(X, Y)


@pytest.mark.parametrize("write", [masked, lambda *y: list(masked(*y))], ids=["array", "list"])
def test_masked_outcomes_are_missing_outcomes(write):
    expected = MissingOutcomeRegressor().fit(X, np.where(MISSING, np.nan, X[:, 0]))
    given = write(np.where(MISSING, 1e6, X[:, 0]), MISSING)
    found = MissingOutcomeRegressor().fit(X, given)
    np.testing.assert_allclose(found.filled_, expected.filled_, atol=1e-9)
    assert found.score(X, given) == pytest.approx(1.0)


@pytest.mark.parametrize("model", [*WITH_DASK, SoftLabelClassifierCV([1.0])], ids=repr)
def test_masked_weights_are_refused(model):
    weight = masked(np.ones(N), np.arange(N) == 3)
    match = "sample_weight is a masked array that lacks 1 of its 30 values"
    says(lambda: fit(model, X, sample_weight=weight), match)
    says(lambda: fit(model, X).score(X, Y, weight), match)


def test_masked_weights_of_a_score_of_outcomes_are_refused():
    model = fit(MissingOutcomeRegressor(), X)
    weight = masked(np.ones(N), np.arange(N) == 3)
    says(lambda: model.score(X, TRUTH, weight), "sample_weight is a masked array that lacks 1")


# -- the same on Dask ---------------------------------------------------------------------------


@pytest.mark.parametrize("model", WITH_DASK, ids=repr)
def test_dask_rows_are_refused_likewise(model):
    frame = pd.DataFrame(X, columns=["a", "b"])
    repeated = dd.from_pandas(frame, npartitions=2).rename(columns={"b": "a"})
    y = da.from_array(Y, chunks=10)
    says(lambda: fit(model, repeated, y), "several columns named 'a'")
    says(lambda: fit(model, da.from_array(NANOSECONDS, chunks=10), y), "of type datetime64")
    dates = dd.from_pandas(pd.DataFrame(NANOSECONDS, columns=["a", "b"]), npartitions=2)
    says(lambda: fit(model, dates, y), "not numeric: a, b")
    holes = da.ma.masked_array(da.from_array(X, chunks=10), mask=HOLES)
    says(lambda: fit(model, holes, y), "X is a masked array that lacks 2 of its 20")
    weight = da.ma.masked_array(da.ones(N, chunks=10), mask=np.arange(N) == 3)
    rows = da.from_array(X, chunks=10)
    says(lambda: fit(model, rows, y, sample_weight=weight), "sample_weight is a masked array")


@pytest.mark.parametrize("model", WITH_DASK[:-1], ids=repr)
def test_masked_labels_on_dask_are_missing_labels(model):
    y = da.ma.masked_array(da.from_array(np.where(MISSING, 7, TRUTH), chunks=10), mask=MISSING)
    found = fit(model, da.from_array(X, chunks=10), y)
    np.testing.assert_allclose(found.coef_, fit(model, X).coef_, atol=1e-8)


# -- missing labels that were written as text ---------------------------------------------------


AS_TEXT = {
    "nan": np.nan,
    "None": None,
    "NaT": np.datetime64("NaT", "ns"),
    "<NA>": pd.NA,
}


def named(missing):
    return np.where(MISSING, missing, np.where(TRUTH, "yes", "no"))


def test_these_are_what_missing_values_become_as_text():
    assert {str(value) for value in AS_TEXT.values()} == set(AS_TEXT)


@pytest.mark.parametrize("text", [*AS_TEXT, ""])
@each_classifier
def test_a_missing_label_that_was_written_as_text_is_warned_of_once(model, text):
    match = f"^y has the text {re.escape(repr(text))} as the label of 10 rows.*put None or NaN"
    with pytest.warns(UserWarning, match=match) as caught:
        fitted = fit(model, X, named(text))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not re.search(r"[.!?] +[A-Z]|\n", str(caught[0].message))
    assert text in fitted.classes_


def test_an_oracle_warns_likewise():
    with pytest.warns(UserWarning, match="the text 'nan' as the label of 10 rows") as caught:
        OracleClassifier(LeastSquaresClassifier(), named("nan")).fit(X, named("nan"))
    assert len(caught) == 1


def test_two_such_texts_are_warned_of_together():
    y = named("nan").astype(object)
    y[0] = ""
    with pytest.warns(UserWarning, match="the text '' and 'nan' as the label of 11 rows") as caught:
        SoftLabelClassifier().fit(X, y)
    assert len(caught) == 1


@pytest.mark.parametrize("model", WITH_DASK, ids=repr)
def test_on_dask_it_is_the_rows_of_all_blocks_that_are_counted(model):
    y = da.from_array(named("nan"), chunks=7)
    rows = da.from_array(X, chunks=(7, 2))
    with pytest.warns(UserWarning, match="the text 'nan' as the label of 10 rows") as caught:
        fit(model, rows, y)
    assert len(caught) == 1


@each_classifier
def test_the_marker_may_be_such_a_text(model):
    markers = dict.fromkeys({"unlabeled", "estimator__unlabeled"} & set(model.get_params()), "nan")
    fitted = clone(model).set_params(**markers).fit(X, named("nan"))
    assert fitted.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("text", ["n", "N", "none", "nano", "NaN", " ", "0"])
def test_other_texts_are_classes_in_silence(text):
    assert text in SoftLabelClassifier().fit(X, named(text)).classes_


# -- numbers as parameters ----------------------------------------------------------------------


NUMBERS = {
    **dict.fromkeys(["alpha", "shrinkage", "C", "C_unlabeled", "unlabeled_weight"], "strength"),
    **dict.fromkeys(["tol", "relaxation", "positive_fraction"], "strength"),
    **dict.fromkeys(["max_iter", "n_init", "max_unlabeled"], "count"),
    **dict.fromkeys(["alphas", "unlabeled_weights", "priors"], "list"),
}
STEPPED = [
    SoftLabelClassifier(solver="block"),
    HardLabelClassifier(solver="enumerate"),
    MissingOutcomeRegressor("analytic"),
]


def parameters(kind):
    """Give every model with the name of every parameter of a kind."""
    models = [*MODELS, *STEPPED]
    pairs = [(m, p) for m in models for p in m.get_params(deep=False) if NUMBERS.get(p) == kind]
    return pytest.mark.parametrize(("model", "name"), pairs, ids=lambda v: str(v))


STRENGTHS = {
    "largest": 1e308,
    "subnormal": 1e-320,
    "minus zero": -0.0,
    "float32": np.float32(0.1),
    "large float32": np.float32(1e38),
    "float16": np.float16(0.5),
    "int8": np.int8(1),
    "fraction": Fraction(1, 3),
    "long double": np.longdouble("0.5"),
}
"""What is a number: it is taken, or refused in a sentence."""


def is_fitted_or_refused(model, name):
    """Fit, and tell whether predictions are finite, or an error names the parameter."""
    try:
        return bool(np.isfinite(fit(model, X).predict(X)).all())
    except ValueError as error:
        return bool(re.search(rf"\b{name}\b", str(error)))


@early_stop_allowed
@collapse_allowed
@pytest.mark.parametrize("value", STRENGTHS.values(), ids=STRENGTHS.keys())
@parameters("strength")
def test_a_number_gives_finite_predictions_or_a_sentence(model, name, value):
    steps = {"max_iter": 5} if hasattr(model, "max_iter") else {}  # not a million tiny ones
    assert is_fitted_or_refused(clone(model).set_params(**steps, **{name: value}), name)


NOT_NUMBERS = {
    "True": True,
    "False": False,
    "numpy's True": np.bool_(True),
    "decimal": Decimal("0.5"),
    "inf": np.inf,
    "nan": np.nan,
    "negative": -1.0,
    "beyond floats": 10**400,
    "fraction beyond floats": Fraction(10**400),
    "long double beyond floats": np.longdouble("1e4000"),
    "complex": 1 + 0j,
    "array": np.array(0.5),
    "text": "0.5",
}


@pytest.mark.parametrize("value", NOT_NUMBERS.values(), ids=NOT_NUMBERS.keys())
@parameters("strength")
def test_what_is_not_a_number_within_bounds_is_refused(model, name, value):
    model = clone(model).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"'{name}' parameter of .* must be .* Got "):
        model.fit(X, Y)


@pytest.mark.parametrize("value", [True, np.True_, 2.0, Fraction(3), np.nan, -1, "3"], ids=str)
@parameters("count")
def test_what_is_not_a_count_is_refused(model, name, value):
    model = clone(model).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"'{name}' parameter of .* must be .* Got "):
        model.fit(X, Y)


@pytest.mark.parametrize("value", [np.inf, np.nan, -1.0, 10**400, Fraction(10**400), 1j, "many"])
@parameters("list")
def test_a_list_with_something_that_is_not_a_number_is_refused(model, name, value):
    model = clone(model).set_params(**{name: [value, 0.5]})
    with pytest.raises(ValueError, match=f"^{name}=.* must be "):
        model.fit(X, Y)


@parameters("list")
def test_a_list_with_a_masked_number_is_refused(model, name):
    model = clone(model).set_params(**{name: masked([0.5, 0.5], [False, True])})
    with pytest.raises(ValueError, match=f"^{name}=.* must be "):
        model.fit(X, Y)


def test_a_fraction_is_the_number_that_it_is():
    exact, rounded = SoftLabelClassifier(Fraction(1, 4)), SoftLabelClassifier(0.25)
    np.testing.assert_array_equal(exact.fit(X, Y).coef_, rounded.fit(X, Y).coef_)


def test_a_count_beyond_floats_is_a_count():
    assert isinstance(10**400, Integral)
    assert AllLabelingsDiscriminant(max_unlabeled=10**400).fit(X, Y).n_iter_ == 2**10


@pytest.mark.parametrize("cv", [np.array(0.5), np.array([0.5]), [1, 2], [(1, 2, 3)]], ids=str)
def test_splits_that_are_not_pairs_are_refused(cv):
    says(lambda: SoftLabelClassifierCV(cv=cv).fit(X, Y), "cv=.* does not give pairs of training")
