"""Encoded tables against scikit-learn and pandas by hand, and what must not change them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from semisquares import AveragedClassifier, LeastSquaresClassifier, SoftLabelClassifier
from semisquares.model_selection import LabeledStratifiedKFold
from semisquares.tables import TableEncoder, make_table_pipeline
from semisquares.tables.columns._numerals import parse_floats
from semisquares.tables.columns.date import PARTS, date_parts
from support.mixed_table import N, table
from support.sentences import error_of


def as_text(frame):
    """The table as a CSV reader gives it that guesses no types."""
    return frame.apply(lambda column: column.map(str, na_action="ignore").astype(object))


def prepared(frame, **options):
    return TableEncoder(**options).fit(frame)


# -- against scikit-learn -----------------------------------------------------------------------


def test_the_encoders_do_what_scikit_learn_does_with_all_rows():
    frame = table()
    X = prepared(frame, max_levels=4).transform(frame)
    cells = pd.DataFrame(
        {
            "age": frame["age"],
            "dose": frame["dose"],
            "colour": frame["colour"].astype(object).fillna(""),
            "smokes": frame["smokes"].astype(float),
            "joined": frame["joined"],
        }
    )
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    levels = OneHotEncoder(
        min_frequency=2, max_categories=4, sparse_output=False, handle_unknown="infrequent_if_exist"
    )
    flags = SimpleImputer(strategy="most_frequent", add_indicator=True)
    dates = make_pipeline(FunctionTransformer(parts_of), SimpleImputer(), StandardScaler())
    plain = ColumnTransformer(
        [
            ("number", numbers, ["age", "dose"]),
            ("category", levels, ["colour"]),
            ("boolean", flags, ["smokes"]),
            ("date", dates, ["joined"]),
        ]
    )
    np.testing.assert_allclose(X, plain.fit_transform(cells), rtol=1e-9, atol=1e-9)


def test_fit_transform_is_fit_then_transform():
    frame = table()
    X = TableEncoder().fit_transform(frame)
    np.testing.assert_array_equal(X, prepared(frame).transform(frame))
    assert X.flags.c_contiguous
    assert X.dtype == np.float64
    assert np.isfinite(X).all()


def test_means_and_spreads_are_those_of_all_rows_with_gaps_filled():
    frame = table(5000)
    encoder = prepared(frame).encoders_["number"]
    filled = frame[["age", "dose"]].fillna(frame[["age", "dose"]].mean())
    np.testing.assert_allclose(encoder.means[:2], filled.mean(), rtol=1e-14)
    np.testing.assert_allclose(encoder.scales[:2], filled.std(ddof=0), rtol=1e-9)


def test_rows_beyond_one_block_are_prepared_like_the_first():
    frame = table(50)[["age", "dose"]]
    long = pd.concat([frame] * 1000, ignore_index=True)
    encoder = prepared(long)
    X = encoder.transform(long)
    np.testing.assert_array_equal(X, np.tile(encoder.transform(frame), (1000, 1)))


def test_a_number_with_one_value_and_gaps_leaves_its_gaps():
    frame = pd.DataFrame({"x": [0.1] * 7 + [np.nan] * 3, "y": np.arange(10)})
    encoder = prepared(frame)
    X = encoder.transform(frame)
    np.testing.assert_allclose(X[:, 0], 0.0, atol=1e-15)
    assert encoder.get_feature_names_out().tolist() == ["x", "y", "x is missing"]
    np.testing.assert_allclose(X[:, 2], np.where(frame["x"].isna(), 0.7, -0.3) / np.sqrt(0.21))


# -- what must not matter -----------------------------------------------------------------------


def test_labels_do_not_matter():
    frame, rng = table(), np.random.default_rng(1)
    y = rng.integers(-1, 2, N)
    X = TableEncoder().fit(frame, y).transform(frame)
    np.testing.assert_array_equal(TableEncoder().fit(frame, rng.permutation(y)).transform(frame), X)


def test_rows_without_label_count_like_the_others_in_a_pipeline():
    frame = table()
    y = np.where(np.arange(N) < 30, np.arange(N) % 2, -1)
    pipeline = make_table_pipeline(SoftLabelClassifier()).fit(frame, y)
    means = pipeline["encoder"].encoders_["number"].means
    np.testing.assert_allclose(means[0], frame["age"].mean(), rtol=1e-14)
    assert abs(frame["age"][:30].mean() - frame["age"].mean()) > 1e-3


def test_the_order_of_columns_does_not_matter_at_predict():
    frame = table()
    encoder = prepared(frame)
    np.testing.assert_array_equal(
        encoder.transform(frame[frame.columns[::-1]]), encoder.transform(frame)
    )


def test_types_or_text_does_not_matter_in_fit_nor_in_transform():
    frame, texts = table(), as_text(table())
    typed, untyped = prepared(frame), prepared(texts)
    kinds = [(column.name, column.kind) for column in typed.columns_]
    assert kinds == [(column.name, column.kind) for column in untyped.columns_]
    X = typed.transform(frame)
    for encoder, rows in ((typed, texts), (untyped, frame), (untyped, texts)):
        np.testing.assert_allclose(encoder.transform(rows), X, rtol=1e-9, atol=1e-9)


def test_a_category_of_numbers_has_the_same_levels_as_text():
    cells = [7, 7, 8, 8, None, None] * 5
    frame = pd.DataFrame({"zip": pd.Series(cells, dtype=float)})
    texts = pd.DataFrame({"zip": pd.Series(["07", "7.0", "8", " 8 ", "", None] * 5, dtype=object)})
    encoder = prepared(frame, kinds={"zip": "category"})
    assert encoder.get_feature_names_out().tolist() == ["zip is missing", "zip = 7", "zip = 8"]
    np.testing.assert_array_equal(encoder.transform(texts), encoder.transform(frame))
    assert encoder.unseen(texts) == {}


def test_a_table_twice_over_gives_the_same_rows():
    frame = table().drop(columns="row")
    twice = pd.concat([frame, frame], ignore_index=True)
    X = prepared(frame).transform(frame)
    np.testing.assert_allclose(prepared(twice).transform(frame), X, rtol=1e-9, atol=1e-9)


def test_a_subset_of_rows_is_transformed_like_the_whole():
    frame = table()
    encoder = prepared(frame)
    X, some = encoder.transform(frame), np.arange(0, N, 7)
    np.testing.assert_array_equal(encoder.transform(frame.iloc[some]), X[some])
    assert encoder.transform(frame[:0]).shape == (0, X.shape[1])


def test_rows_without_any_value_are_filled():
    frame = table()
    encoder = prepared(frame)
    empty = pd.DataFrame({name: [None] * 3 for name in frame}, dtype=object)
    X = encoder.transform(empty)
    names = encoder.get_feature_names_out().tolist()
    np.testing.assert_array_equal(X, X[[0, 0, 0]])
    for name in ("age", "colour", "smokes", "joined"):
        assert X[0, names.index(f"{name} is missing")] > 0.9
    np.testing.assert_allclose(
        X[0, [names.index("age"), names.index("joined, days")]], 0.0, atol=1e-12
    )


@pytest.mark.parametrize("name", ["age", "colour", "smokes", "joined"])
def test_cells_that_are_no_values_are_refused_in_every_column(name):
    encoder, new = prepared(table()), as_text(table())
    new.at[2, name] = [1]
    assert error_of(encoder.transform, new).startswith(f"Column {name!r} holds a list (row 3)")


def test_levels_of_cells_that_are_no_values_are_not_counted():
    encoder, new = prepared(table()), as_text(table())
    new.at[2, "colour"] = [1]
    assert error_of(encoder.unseen, new).startswith("Column 'colour' holds a list (row 3)")


def test_complex_numbers_do_not_lose_a_part():
    frame = table().drop(columns="row")
    new = frame.assign(age=np.full(N, 40.0 + 1j))
    assert error_of(prepared(frame).transform, new).startswith("Column 'age' holds complex values")


def test_dates_and_texts_of_dates_may_be_mixed_later():
    frame = table()
    encoder, mixed = prepared(as_text(frame)), as_text(frame)
    mixed["joined"] = [*frame["joined"][:60], *mixed["joined"][60:]]
    np.testing.assert_array_equal(encoder.transform(mixed), encoder.transform(frame))


def test_text_is_read_as_the_number_nearest_to_it():
    numbers = np.random.default_rng(0).normal(1e4, 1e-2, 200)
    texts = pd.Series([*map(repr, numbers.tolist()), "few"], dtype=object)
    np.testing.assert_array_equal(parse_floats(texts), [*numbers, np.nan])


def test_what_pandas_alone_takes_for_a_number_is_the_number_that_it_takes_it_for():
    texts = pd.Series(["4e 8"], dtype=object)
    np.testing.assert_array_equal(parse_floats(texts), pd.to_numeric(texts, errors="coerce"))


def test_units_do_not_matter_for_numbers():
    frame = table()
    X = prepared(frame).transform(frame)
    inches = frame.assign(age=frame["age"] / 2.54)
    np.testing.assert_allclose(prepared(inches).transform(inches), X, rtol=1e-9, atol=1e-9)


def test_the_given_table_is_not_changed():
    frame = table()
    copy = frame.copy(deep=True)
    prepared(frame).transform(frame)
    pd.testing.assert_frame_equal(frame, copy)


def test_polars_gives_what_pandas_gives():
    frame = table().astype({"colour": object})
    X = prepared(frame).transform(frame)
    other = polars.DataFrame(
        {
            name: frame[name].where(frame[name].notna(), None).to_list()
            for name in ("age", "dose", "colour", "smokes", "row")
        }
        | {"joined": polars.from_pandas(frame["joined"])},
        strict=False,
    )
    encoder = prepared(other.with_columns(polars.col("age").fill_nan(None)))
    names = prepared(frame).get_feature_names_out().tolist()
    assert encoder.get_feature_names_out().tolist() == names
    np.testing.assert_allclose(encoder.transform(other), X, rtol=1e-9, atol=1e-9)


# -- features -----------------------------------------------------------------------------------


def test_features_are_named_for_people():
    names = prepared(table(), max_levels=4).get_feature_names_out().tolist()
    assert names == [
        "age",
        "dose",
        "age is missing",
        *[name for name in names if name.startswith("colour")],
        "smokes",
        "smokes is missing",
        "joined, days",
        "joined, time of year (January, not July)",
        "joined, time of year (April, not October)",
        "joined, weekend",
        "joined, time of day (midnight, not noon)",
        "joined, time of day (6 h, not 18 h)",
        "joined is missing",
    ]
    assert {"colour = red", "colour = other (3 rare levels)"} <= set(names)


def test_the_role_of_a_feature_is_what_it_encodes():
    roles = {f.name: f.role for f in prepared(table()).features_}
    missing = {name for name, role in roles.items() if role == "missing"}
    assert missing == {f"{name} is missing" for name in ("age", "colour", "smokes", "joined")}
    assert {roles[name] for name in ("age", "dose", "smokes")} == {"value"}
    assert {roles[name] for name in ("colour = red", "colour = teal")} == {"level"}
    assert {roles[name] for name in ("joined, days", "joined, weekend")} == {"date part"}


def test_a_level_that_is_called_missing_is_a_level():
    frame = pd.DataFrame({"k": ["is missing", "a", None] * 10})
    assert [(f.name, f.role) for f in prepared(frame).features_] == [
        ("k is missing", "missing"),
        ("k = a", "level"),
        ("k = is missing", "level"),
    ]


def test_there_is_a_feature_for_each_column_of_the_result():
    frame = table()
    encoder = prepared(frame)
    assert len(encoder.features_) == encoder.transform(frame).shape[1]
    assert {feature.column for feature in encoder.features_} == {
        column.name for column in encoder.columns_ if column.used
    }


def test_a_coefficient_over_the_scale_is_the_effect_of_one_unit():
    frame = table()
    encoder = prepared(frame)
    coef = np.arange(1.0, 1.0 + len(encoder.features_))
    before = encoder.transform(frame) @ coef
    older = encoder.transform(frame.assign(age=frame["age"] + 1.0)) @ coef
    feature = encoder.features_[0]
    assert (feature.name, feature.unit) == ("age", "per unit")
    known = frame["age"].notna().to_numpy()
    np.testing.assert_allclose((older - before)[known], coef[0] / feature.scale, rtol=1e-9)


def test_the_effect_of_a_season_is_that_from_july_to_january():
    days = pd.date_range("2020-01-01", "2021-12-31", freq="D")
    frame = pd.DataFrame({"d": days})
    encoder = prepared(frame)
    place = encoder.get_feature_names_out().tolist().index("d, time of year (January, not July)")
    column = encoder.transform(frame)[:, place]
    swing = column[days == "2020-01-01"] - column[days == "2020-07-01"]
    feature = encoder.features_[place]
    assert feature.unit == "January against July"
    np.testing.assert_allclose(swing * feature.scale, 1.0, rtol=1e-3)


@pytest.mark.parametrize(("n_rows", "enough"), [(50, 2), (501, 6), (1940, 20), (9000, 20)])
def test_levels_of_less_than_one_percent_or_twenty_rows_are_pooled(n_rows, enough):
    counts = {"common": n_rows - 2 * enough, "enough": enough, "rare": enough - 1, "single": 1}
    frame = pd.DataFrame({"k": [level for level, n in counts.items() for _ in range(n)]})
    assert prepared(frame).get_feature_names_out().tolist() == [
        "k = common",
        "k = enough",
        "k = other (2 rare levels)",
    ]


def test_unseen_levels_are_pooled_with_the_rare_ones_and_counted():
    frame = table()
    encoder = prepared(frame, max_levels=3)
    new = frame[:4].assign(colour=["pink", "pink", "red", "mauve"])
    assert encoder.unseen(new) == {"colour": {"pink": 2, "mauve": 1}}
    names = encoder.get_feature_names_out().tolist()
    other = next(k for k, name in enumerate(names) if name.startswith("colour = other"))
    assert encoder.transform(new)[:, other].tolist() == [1.0, 1.0, 0.0, 1.0]


def test_unseen_levels_without_rare_ones_are_none_of_the_known():
    frame = pd.DataFrame({"k": ["a", "b"] * 10})
    encoder = prepared(frame)
    assert encoder.transform(pd.DataFrame({"k": ["c", None]})).tolist() == [[0, 0], [0, 0]]
    assert encoder.unseen(pd.DataFrame({"k": ["c", None]})) == {"k": {"c": 1}}


# -- dates --------------------------------------------------------------------------------------


def parts_of(frame):
    """The parts that vary of the one column of a frame, by the names of their features."""
    (name,) = frame.columns
    parts = date_parts(frame[name].to_numpy().astype("datetime64[us]"))
    endings = {part: ending for part, (ending, _, _) in PARTS.items()} | {"missing": " is missing"}
    varying = {part: x for part, x in parts.items() if np.nanmin(x) < np.nanmax(x)}
    return pd.DataFrame({name + endings[part]: values for part, values in varying.items()})


def test_the_parts_of_dates_are_those_of_pandas():
    dates = pd.Series(pd.date_range("1999-12-20", periods=500, freq="29h"))
    found = dict(parts_of(dates.to_frame("d")))
    hour = dates.dt.hour + dates.dt.minute / 60
    in_year = dates.dt.day_of_year - 1 + hour / 24
    turn = 2 * np.pi * in_year / np.where(dates.dt.is_leap_year, 366, 365)
    expected = {
        "d, days": (dates - pd.Timestamp("2000-01-01")).dt.total_seconds() / 86400,
        "d, time of year (January, not July)": np.cos(turn),
        "d, time of year (April, not October)": np.sin(turn),
        "d, weekend": dates.dt.day_of_week >= 5,
        "d, time of day (midnight, not noon)": np.cos(2 * np.pi * hour / 24),
        "d, time of day (6 h, not 18 h)": np.sin(2 * np.pi * hour / 24),
    }
    assert list(found) == list(expected)
    assert prepared(dates.to_frame("d")).get_feature_names_out().tolist() == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values.astype(float), atol=1e-9)


def test_parts_that_do_not_vary_are_left_out():
    mondays = pd.DataFrame({"d": pd.date_range("2021-01-04", periods=9, freq="7D")})
    names = prepared(mondays).get_feature_names_out().tolist()
    assert names[0] == "d, days"
    assert not any("weekend" in name or "time of day" in name for name in names)


def test_a_missing_date_is_nan_but_for_its_flag():
    frame = pd.DataFrame({"d": pd.to_datetime(["2020-01-01", None, "2020-05-03"])})
    row = parts_of(frame).to_numpy()[1]
    assert np.isnan(row[:-1]).all()
    assert row[-1] == 1.0


def test_an_instant_is_the_same_in_any_time_zone_and_in_text():
    utc = pd.date_range("2020-01-01", periods=40, freq="13h", tz="UTC")
    rome = utc.tz_convert("Europe/Rome")
    frame = pd.DataFrame({"d": utc.tz_localize(None)})
    encoder = prepared(frame)
    X = encoder.transform(frame)
    written = [instant.isoformat() for instant in rome]
    for other in (utc, rome, written):
        np.testing.assert_allclose(encoder.transform(pd.DataFrame({"d": other})), X, atol=1e-12)
        own = pd.DataFrame({"d": other})
        np.testing.assert_allclose(prepared(own).transform(own), X, atol=1e-12)


# -- what cannot be prepared --------------------------------------------------------------------


def test_columns_that_lack_are_named():
    frame = table()
    encoder = prepared(frame)
    assert error_of(encoder.transform, frame.drop(columns=["age", "colour"])) == (
        "The table lacks columns 'age', 'colour' that the model was fitted with; add them, empty "
        "where nothing is known."
    )
    assert error_of(encoder.transform, frame.drop(columns="age")) == (
        "The table lacks column 'age' that the model was fitted with; add it, empty where nothing "
        "is known."
    )


def test_columns_never_seen_are_named_but_those_left_out_may_stay_or_go():
    frame = table()
    encoder = prepared(frame)
    assert error_of(encoder.transform, frame.assign(new=1)) == (
        "The table has column 'new' that the model was not fitted with; remove it."
    )
    X = encoder.transform(frame)
    np.testing.assert_array_equal(encoder.transform(frame.drop(columns="row")), X)


@pytest.mark.parametrize(
    ("column", "cell", "sentence"),
    [
        (
            "age",
            "old",
            "Column 'age' has to hold numbers, but 'old' in row 3 is not one; correct that cell, "
            "or empty it.",
        ),
        (
            "age",
            "inf",
            "Column 'age' has 1 cell that is infinite (the first in row 3), and numbers have to be "
            "finite; empty such cells.",
        ),
        (
            "smokes",
            "rarely",
            "Column 'smokes' has to hold true or false, but 'rarely' in row 3 is neither; correct "
            "that cell, or empty it.",
        ),
        (
            "joined",
            "soon",
            "Column 'joined' has to hold dates of the form yyyy-mm-dd, but 'soon' in row 3 is "
            "not one; correct that cell, or empty it.",
        ),
    ],
)
def test_cells_that_do_not_fit_their_column_are_refused_at_transform(column, cell, sentence):
    rows = as_text(table())
    rows.loc[2, column] = cell
    assert error_of(prepared(table()).transform, rows) == sentence


def test_lists_are_refused_at_transform():
    rows = table().astype({"colour": object})
    rows.at[4, "colour"] = ["red"]
    assert error_of(prepared(table()).transform, rows) == (
        "Column 'colour' holds a list (row 5), but a cell has to be a number, a text or a date "
        "like the others; rewrite it."
    )


def test_no_table_and_no_rows_are_refused():
    assert error_of(TableEncoder().fit, np.zeros((3, 2))) == (
        "X is of type ndarray; pass a DataFrame with named columns."
    )
    assert error_of(TableEncoder().fit, table()[:0]) == (
        "The table has no rows; a model needs some to learn from."
    )


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["a", "b", "a"])
    assert error_of(TableEncoder().fit, frame) == (
        "The table has two columns 'a'; rename one of them."
    )


# -- as a part of scikit-learn ------------------------------------------------------------------


def labeled_table():
    frame = table(200).drop(columns="row")
    truth = (frame["age"].fillna(50) > 50).to_numpy()
    return frame, np.where(np.arange(200) % 4 == 0, truth.astype(int), -1)


def test_the_pipeline_ends_with_the_classifier_that_chooses_by_the_labels():
    assert isinstance(make_table_pipeline()["classifier"], AveragedClassifier)
    pipeline = make_table_pipeline(LeastSquaresClassifier(), drop=("age",), max_levels=7)
    assert list(pipeline.named_steps) == ["encoder", "classifier"]
    assert clone(pipeline).get_params()["encoder__max_levels"] == 7


def test_grid_search_and_cross_validation_run_over_the_labeled_rows():
    frame, y = labeled_table()
    pipeline = make_table_pipeline(SoftLabelClassifier())
    search = GridSearchCV(
        pipeline,
        {"encoder__max_levels": [2, 50], "classifier__alpha": [0.1, 1.0]},
        cv=LabeledStratifiedKFold(3),
    ).fit(frame, y)
    assert search.best_score_ > 0.6
    scores = cross_validate(pipeline, frame, y, cv=LabeledStratifiedKFold(3))["test_score"]
    assert np.isfinite(scores).all()


def test_frames_come_out_on_request():
    frame = table()
    encoder = prepared(frame)
    one = TableEncoder().set_output(transform="pandas").fit_transform(frame)
    with config_context(transform_output="pandas"):
        other = TableEncoder().fit_transform(frame)
    for out in (one, other):
        assert out.columns.tolist() == encoder.get_feature_names_out().tolist()
        np.testing.assert_array_equal(out, encoder.transform(frame))


def test_a_pickled_encoder_does_the_same():
    frame = table()
    encoder = prepared(frame, kinds={"dose": "number"}, drop=("row",))
    loaded = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(loaded.transform(frame), encoder.transform(frame))
    assert [*map(vars, loaded.columns_)] == [*map(vars, encoder.columns_)]
    assert [*map(vars, loaded.features_)] == [*map(vars, encoder.features_)]
