"""Prepared tables against scikit-learn and pandas by hand, and what must not change them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars
import pytest
import skops.io
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from semisquares import LeastSquaresClassifier, SoftLabelClassifier, SoftLabelClassifierCV
from semisquares.model_selection import LabeledStratifiedKFold
from semisquares.tables import TableError
from semisquares.tables.cells import parse_floats
from semisquares.tables.dates import DateParts
from semisquares.tables.preparation import TablePreparation, make_table_pipeline
from semisquares.tables.prepared import prepare

N = 120


def table(n=N, seed=0):
    """A bit of everything, with missing cells; typed as pandas would."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "dose": rng.normal(1e4, 1e-2, n),
            "colour": rng.choice(
                ["red", "green", "blue", "grey", "teal"], n, p=[5 / 8] + [3 / 32] * 4
            ),
            "smokes": rng.choice([True, False], n).astype(object),
            "joined": pd.Timestamp("2019-06-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "h"),
            "row": np.arange(n),
        }
    )
    for k, name in enumerate(("age", "colour", "smokes", "joined")):
        frame.loc[rng.choice(n, 6 + k, replace=False), name] = None
    return frame


def as_text(frame):
    """The table as a CSV reader gives it that guesses no types."""
    return frame.apply(lambda column: column.map(str, na_action="ignore").astype(object))


def prepared(frame, **options):
    return TablePreparation(**options).fit(frame)


def error_of(call, *args, **options):
    with pytest.raises(TableError) as caught:
        call(*args, **options)
    return str(caught.value)


# -- against scikit-learn -----------------------------------------------------------------------


def test_the_parts_do_what_scikit_learn_does_with_all_rows():
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
    dates = make_pipeline(DateParts(), SimpleImputer(), StandardScaler())
    plain = ColumnTransformer(
        [
            ("number", numbers, ["age", "dose"]),
            ("category", levels, ["colour"]),
            ("boolean", flags, ["smokes"]),
            ("date", dates, ["joined"]),
        ]
    )
    np.testing.assert_allclose(X, plain.fit_transform(cells), rtol=1e-9, atol=1e-9)


def test_the_column_transformer_kept_does_the_same():
    frame = table()
    preparation = prepared(frame)
    X = preparation.transform(frame)
    np.testing.assert_array_equal(preparation.transformer_.transform(preparation._clean(frame)), X)
    assert list(preparation.transformer_.named_transformers_) == [
        "number",
        "category",
        "boolean",
        "date",
    ]


def test_the_column_transformer_kept_can_be_fitted_anew():
    half = table()[:60]
    preparation = prepared(table())
    again = clone(preparation.transformer_).fit_transform(preparation._clean(half))
    np.testing.assert_allclose(again, prepared(half).transform(half), rtol=1e-9, atol=1e-9)


def test_fit_transform_is_fit_then_transform():
    frame = table()
    X = TablePreparation().fit_transform(frame)
    np.testing.assert_array_equal(X, prepared(frame).transform(frame))
    assert X.flags.c_contiguous
    assert X.dtype == np.float64
    assert np.isfinite(X).all()


def test_means_and_spreads_are_those_of_all_rows_with_gaps_filled():
    frame = table(5000)
    scaler = prepared(frame).transformer_.named_transformers_["number"]["scale"]
    filled = frame[["age", "dose"]].fillna(frame[["age", "dose"]].mean())
    np.testing.assert_allclose(scaler.mean_[:2], filled.mean(), rtol=1e-14)
    np.testing.assert_allclose(scaler.scale_[:2], filled.std(ddof=0), rtol=1e-9)
    assert scaler.n_samples_seen_ == 5000


def test_rows_beyond_one_block_are_prepared_like_the_first():
    frame = table(50)[["age", "dose"]]
    long = pd.concat([frame] * 1000, ignore_index=True)
    preparation = prepared(long)
    X = preparation.transform(long)
    np.testing.assert_array_equal(X, np.tile(preparation.transform(frame), (1000, 1)))


def test_a_number_with_one_value_and_gaps_leaves_its_gaps():
    frame = pd.DataFrame({"x": [0.1] * 7 + [np.nan] * 3, "y": np.arange(10)})
    preparation = prepared(frame)
    X = preparation.transform(frame)
    np.testing.assert_allclose(X[:, 0], 0.0, atol=1e-15)
    assert preparation.get_feature_names_out().tolist() == ["x", "y", "x is missing"]
    np.testing.assert_allclose(X[:, 2], np.where(frame["x"].isna(), 0.7, -0.3) / np.sqrt(0.21))


# -- what must not matter -----------------------------------------------------------------------


def test_labels_do_not_matter():
    frame, rng = table(), np.random.default_rng(1)
    y = rng.integers(-1, 2, N)
    X = TablePreparation().fit(frame, y).transform(frame)
    np.testing.assert_array_equal(
        TablePreparation().fit(frame, rng.permutation(y)).transform(frame), X
    )


def test_rows_without_label_count_like_the_others_in_a_pipeline():
    frame = table()
    y = np.where(np.arange(N) < 30, np.arange(N) % 2, -1)
    pipeline = make_table_pipeline(SoftLabelClassifier()).fit(frame, y)
    scaler = pipeline["preparation"].transformer_.named_transformers_["number"]["scale"]
    np.testing.assert_allclose(scaler.mean_[0], frame["age"].mean(), rtol=1e-14)
    assert abs(frame["age"][:30].mean() - frame["age"].mean()) > 1e-3


def test_the_order_of_columns_does_not_matter_at_predict():
    frame = table()
    preparation = prepared(frame)
    np.testing.assert_array_equal(
        preparation.transform(frame[frame.columns[::-1]]), preparation.transform(frame)
    )


def test_types_or_text_does_not_matter_in_fit_nor_in_transform():
    frame, texts = table(), as_text(table())
    typed, untyped = prepared(frame), prepared(texts)
    kinds = [(column.name, column.kind) for column in typed.columns_]
    assert kinds == [(column.name, column.kind) for column in untyped.columns_]
    X = typed.transform(frame)
    for preparation, rows in ((typed, texts), (untyped, frame), (untyped, texts)):
        np.testing.assert_allclose(preparation.transform(rows), X, rtol=1e-9, atol=1e-9)


def test_a_category_of_numbers_has_the_same_levels_as_text():
    cells = [7, 7, 8, 8, None, None] * 5
    frame = pd.DataFrame({"zip": pd.Series(cells, dtype=float)})
    texts = pd.DataFrame({"zip": pd.Series(["07", "7.0", "8", " 8 ", "", None] * 5, dtype=object)})
    preparation = prepared(frame, kinds={"zip": "category"})
    assert preparation.get_feature_names_out().tolist() == ["zip is missing", "zip = 7", "zip = 8"]
    np.testing.assert_array_equal(preparation.transform(texts), preparation.transform(frame))
    assert preparation.unseen(texts) == {}


def test_a_table_twice_over_gives_the_same_rows():
    frame = table().drop(columns="row")
    twice = pd.concat([frame, frame], ignore_index=True)
    X = prepared(frame).transform(frame)
    np.testing.assert_allclose(prepared(twice).transform(frame), X, rtol=1e-9, atol=1e-9)


def test_a_subset_of_rows_is_transformed_like_the_whole():
    frame = table()
    preparation = prepared(frame)
    X, some = preparation.transform(frame), np.arange(0, N, 7)
    np.testing.assert_array_equal(preparation.transform(frame.iloc[some]), X[some])
    assert preparation.transform(frame[:0]).shape == (0, X.shape[1])


def test_rows_without_any_value_are_filled():
    frame = table()
    preparation = prepared(frame)
    empty = pd.DataFrame({name: [None] * 3 for name in frame}, dtype=object)
    X = preparation.transform(empty)
    names = preparation.get_feature_names_out().tolist()
    np.testing.assert_array_equal(X, X[[0, 0, 0]])
    for name in ("age", "colour", "smokes", "joined"):
        assert X[0, names.index(f"{name} is missing")] > 0.9
    np.testing.assert_allclose(
        X[0, [names.index("age"), names.index("joined, days")]], 0.0, atol=1e-12
    )


@pytest.mark.parametrize("name", ["age", "colour", "smokes", "joined"])
def test_cells_that_are_no_values_are_refused_in_every_column(name):
    preparation, new = prepared(table()), as_text(table())
    new.at[2, name] = [1]
    assert error_of(preparation.transform, new).startswith(f"Column {name!r} holds a list (row 3)")


def test_levels_of_cells_that_are_no_values_are_not_counted():
    preparation, new = prepared(table()), as_text(table())
    new.at[2, "colour"] = [1]
    assert error_of(preparation.unseen, new).startswith("Column 'colour' holds a list (row 3)")


def test_complex_numbers_do_not_lose_a_part():
    frame = table().drop(columns="row")
    new = frame.assign(age=np.full(N, 40.0 + 1j))
    assert error_of(prepared(frame).transform, new).startswith("Column 'age' holds complex values")


def test_dates_and_texts_of_dates_may_be_mixed_later():
    frame = table()
    preparation, mixed = prepared(as_text(frame)), as_text(frame)
    mixed["joined"] = [*frame["joined"][:60], *mixed["joined"][60:]]
    np.testing.assert_array_equal(preparation.transform(mixed), preparation.transform(frame))


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
    preparation = prepared(other.with_columns(polars.col("age").fill_nan(None)))
    names = prepared(frame).get_feature_names_out().tolist()
    assert preparation.get_feature_names_out().tolist() == names
    np.testing.assert_allclose(preparation.transform(other), X, rtol=1e-9, atol=1e-9)


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


def test_there_is_a_feature_for_each_column_of_the_result():
    frame = table()
    preparation = prepared(frame)
    assert len(preparation.features_) == preparation.transform(frame).shape[1]
    assert {feature.column for feature in preparation.features_} == {
        column.name for column in preparation.columns_ if column.used
    }


def test_a_coefficient_over_the_scale_is_the_effect_of_one_unit():
    frame = table()
    preparation = prepared(frame)
    coef = np.arange(1.0, 1.0 + len(preparation.features_))
    before = preparation.transform(frame) @ coef
    older = preparation.transform(frame.assign(age=frame["age"] + 1.0)) @ coef
    feature = preparation.features_[0]
    assert (feature.name, feature.unit) == ("age", "per unit")
    known = frame["age"].notna().to_numpy()
    np.testing.assert_allclose((older - before)[known], coef[0] / feature.scale, rtol=1e-9)


def test_the_effect_of_a_season_is_that_from_july_to_january():
    days = pd.date_range("2020-01-01", "2021-12-31", freq="D")
    frame = pd.DataFrame({"d": days})
    preparation = prepared(frame)
    place = (
        preparation.get_feature_names_out().tolist().index("d, time of year (January, not July)")
    )
    column = preparation.transform(frame)[:, place]
    swing = column[days == "2020-01-01"] - column[days == "2020-07-01"]
    feature = preparation.features_[place]
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
    preparation = prepared(frame, max_levels=3)
    new = frame[:4].assign(colour=["pink", "pink", "red", "mauve"])
    assert preparation.unseen(new) == {"colour": {"pink": 2, "mauve": 1}}
    names = preparation.get_feature_names_out().tolist()
    other = next(k for k, name in enumerate(names) if name.startswith("colour = other"))
    assert preparation.transform(new)[:, other].tolist() == [1.0, 1.0, 0.0, 1.0]


def test_unseen_levels_without_rare_ones_are_none_of_the_known():
    frame = pd.DataFrame({"k": ["a", "b"] * 10})
    preparation = prepared(frame)
    assert preparation.transform(pd.DataFrame({"k": ["c", None]})).tolist() == [[0, 0], [0, 0]]
    assert preparation.unseen(pd.DataFrame({"k": ["c", None]})) == {"k": {"c": 1}}


# -- dates --------------------------------------------------------------------------------------


def test_the_parts_of_dates_are_those_of_pandas():
    dates = pd.Series(pd.date_range("1999-12-20", periods=500, freq="29h"))
    parts = DateParts().fit(dates.to_frame("d"))
    found = dict(
        zip(parts.get_feature_names_out(), parts.transform(dates.to_frame("d")).T, strict=True)
    )
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
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values.astype(float), atol=1e-9)


def test_parts_that_do_not_vary_are_left_out():
    mondays = pd.DataFrame({"d": pd.date_range("2021-01-04", periods=9, freq="7D")})
    names = DateParts().fit(mondays).get_feature_names_out().tolist()
    assert names[0] == "d, days"
    assert not any("weekend" in name or "time of day" in name for name in names)


def test_a_missing_date_is_nan_but_for_its_flag():
    frame = pd.DataFrame({"d": pd.to_datetime(["2020-01-01", None, "2020-05-03"])})
    row = DateParts().fit_transform(frame)[1]
    assert np.isnan(row[:-1]).all()
    assert row[-1] == 1.0


def test_an_instant_is_the_same_in_any_time_zone_and_in_text():
    utc = pd.date_range("2020-01-01", periods=40, freq="13h", tz="UTC")
    rome = utc.tz_convert("Europe/Rome")
    frame = pd.DataFrame({"d": utc.tz_localize(None)})
    preparation = prepared(frame)
    X = preparation.transform(frame)
    written = [instant.isoformat() for instant in rome]
    for other in (utc, rome, written):
        np.testing.assert_allclose(preparation.transform(pd.DataFrame({"d": other})), X, atol=1e-12)
        own = pd.DataFrame({"d": other})
        np.testing.assert_allclose(prepared(own).transform(own), X, atol=1e-12)


# -- what cannot be prepared --------------------------------------------------------------------


def test_columns_that_lack_are_named():
    frame = table()
    preparation = prepared(frame)
    assert error_of(preparation.transform, frame.drop(columns=["age", "colour"])) == (
        "The table lacks columns 'age', 'colour' that the model was fitted with; add them, empty "
        "where nothing is known."
    )
    assert error_of(preparation.transform, frame.drop(columns="age")) == (
        "The table lacks column 'age' that the model was fitted with; add it, empty where nothing "
        "is known."
    )


def test_columns_never_seen_are_named_but_those_left_out_may_stay_or_go():
    frame = table()
    preparation = prepared(frame)
    assert error_of(preparation.transform, frame.assign(new=1)) == (
        "The table has column 'new' that the model was not fitted with; remove it."
    )
    X = preparation.transform(frame)
    np.testing.assert_array_equal(preparation.transform(frame.drop(columns="row")), X)


@pytest.mark.parametrize(
    ("column", "cell", "sentence"),
    [
        (
            "age",
            "old",
            "Column 'age' has to hold numbers, but 'old' in row 3 is none; correct that cell, or "
            "empty it.",
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
            "none; correct that cell, or empty it.",
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
    assert error_of(TablePreparation().fit, np.zeros((3, 2))) == (
        "X is of type ndarray; pass a DataFrame with named columns."
    )
    assert error_of(TablePreparation().fit, table()[:0]) == (
        "The table has no rows; a model needs some to learn from."
    )


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["a", "b", "a"])
    assert error_of(TablePreparation().fit, frame) == (
        "The table has two columns 'a'; rename one of them."
    )


# -- as a part of scikit-learn ------------------------------------------------------------------


def labeled_table():
    frame = table(200).drop(columns="row")
    truth = (frame["age"].fillna(50) > 50).to_numpy()
    return frame, np.where(np.arange(200) % 4 == 0, truth.astype(int), -1)


def test_the_pipeline_ends_with_the_classifier_that_chooses_by_the_labels():
    assert isinstance(make_table_pipeline()["classifier"], SoftLabelClassifierCV)
    pipeline = make_table_pipeline(LeastSquaresClassifier(), drop=("age",), max_levels=7)
    assert list(pipeline.named_steps) == ["preparation", "classifier"]
    assert clone(pipeline).get_params()["preparation__max_levels"] == 7


def test_grid_search_and_cross_validation_run_over_the_labeled_rows():
    frame, y = labeled_table()
    pipeline = make_table_pipeline(SoftLabelClassifier())
    search = GridSearchCV(
        pipeline,
        {"preparation__max_levels": [2, 50], "classifier__alpha": [0.1, 1.0]},
        cv=LabeledStratifiedKFold(3),
    ).fit(frame, y)
    assert search.best_score_ > 0.6
    scores = cross_validate(pipeline, frame, y, cv=LabeledStratifiedKFold(3))["test_score"]
    assert np.isfinite(scores).all()


def test_frames_come_out_on_request():
    frame = table()
    preparation = prepared(frame)
    one = TablePreparation().set_output(transform="pandas").fit_transform(frame)
    with config_context(transform_output="pandas"):
        other = TablePreparation().fit_transform(frame)
    for out in (one, other):
        assert out.columns.tolist() == preparation.get_feature_names_out().tolist()
        np.testing.assert_array_equal(out, preparation.transform(frame))


def test_a_stored_preparation_holds_plain_data_and_does_the_same():
    frame = table()
    preparation = prepared(frame, kinds={"dose": "number"}, drop=("row",))
    data = skops.io.dumps(preparation)
    types = skops.io.get_untrusted_types(data=data)
    assert sorted(types) == [
        "numpy.dtype",
        "semisquares.tables.dates.DateParts",
        "semisquares.tables.preparation.TablePreparation",
    ]
    loaded = skops.io.loads(data, trusted=types)
    np.testing.assert_array_equal(loaded.transform(frame), preparation.transform(frame))
    assert [*map(vars, loaded.columns_)] == [*map(vars, preparation.columns_)]
    assert [*map(vars, loaded.features_)] == [*map(vars, preparation.features_)]


# -- the whole table ----------------------------------------------------------------------------


def test_prepare_takes_target_and_group_out_of_the_features():
    frame = table().assign(y=["a", "b", None] * 40, site=["s", "t", None, "s"] * 30)
    whole = prepare(frame, "y", group="site", drop=["site", "age"])
    X = prepared(frame.drop(columns=["y", "site"]), drop=["age"]).transform(
        frame.drop(columns=["y", "site"])
    )
    np.testing.assert_array_equal(whole.X, X)
    assert whole.codes.tolist() == [0, 1, -1] * 40
    assert {column.name for column in whole.columns} == set(frame) - {"y", "site"}
    assert len(whole.features) == X.shape[1]


def test_rows_without_group_are_groups_of_their_own():
    frame = pd.DataFrame(
        {"x": np.arange(6.0), "y": list("ababab"), "g": ["p", None, "p", None, "q", "q"]}
    )
    groups = prepare(frame, "y", group="g").groups
    same = groups[:, None] == groups
    assert np.argwhere(np.triu(same, 1)).tolist() == [[0, 2], [4, 5]]


def test_fingerprints_are_equal_where_all_used_cells_are():
    frame = pd.concat([table(30)] * 2, ignore_index=True)
    frame = frame.assign(row=np.arange(60), y=["a", "b"] * 30)
    frame.loc[3, "age"] = 17.5
    marks = prepare(frame, "y").fingerprints
    assert np.flatnonzero(marks[:30] != marks[30:]).tolist() == [3]


def test_a_column_cannot_be_target_and_group():
    frame = table().assign(y=["a", "b"] * 60)
    with pytest.raises(
        TableError, match=r"^Column 'y' is both target and group; name two columns\.$"
    ):
        prepare(frame, "y", group="y")


def test_blank_groups_belong_to_nobody_and_blanks_around_a_group_do_not_matter():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0], "y": ["a", "b", "a", "b", None]})
    frame["site"] = ["s", " s ", "", "  ", None]
    groups = prepare(frame, "y", group="site").groups
    assert groups[0] == groups[1]
    assert len(set(groups.tolist())) == 4


def test_rows_without_group_are_counted_in_a_note():
    frame = pd.DataFrame({"x": np.arange(6.0), "y": list("ababab"), "g": ["p", "", None, "", 3, 3]})
    assert prepare(frame, "y", group="g").notes == (
        "3 rows have an empty cell in column 'g': each of them is a group of its own.",
    )
    assert prepare(frame.assign(g="p"), "y", group="g").notes == ()
    assert prepare(frame.drop(index=[1, 3]), "y", group="g").notes == (
        "1 row has an empty cell in column 'g': it is a group of its own.",
    )


def test_remarks_on_columns_and_labels_are_notes():
    frame = pd.DataFrame({"price": ["$1.5", "$2", "$3", "$4"] * 5, "y": ["a", "b", "NA", None] * 5})
    assert prepare(frame, "y").notes == (
        "5 cells of column 'y' say 'NA', which is read as no label; spell it otherwise if it is a "
        "class.",
        "Column 'price': its numbers are written with the sign $, and read without.",
    )
    plain = frame.assign(price=[1.5, 2, 3, 4] * 5)
    np.testing.assert_array_equal(prepare(frame, "y").X, prepare(plain, "y").X)
    np.testing.assert_array_equal(
        prepare(frame, "y").preparation.transform(plain[["price"]]), prepare(plain, "y").X
    )


@pytest.mark.parametrize("cells", [[True, False], ["true", "FALSE"], [1, 0], ["yes", "no"]])
def test_the_marks_of_filled_labels_are_no_feature_and_the_labels_are_counted(cells):
    frame = pd.DataFrame({"x": np.arange(8.0), "y": ["a", "b", None, "b"] * 2})
    frame["y_filled"] = [*cells, cells[0], cells[1]] * 2
    whole = prepare(frame, "y")
    assert [feature.column for feature in whole.features] == ["x"]
    assert whole.columns[1].reason == "it marks the labels that were filled in by a model"
    assert whole.notes == (
        "2 of the 6 labels in column 'y' were filled in by a model, as 'y_filled' says, and are "
        "taken as given; empty them to learn from the others alone.",
    )
    empty = frame["y"].where(frame["y_filled"] != cells[0])
    assert prepare(frame.assign(y=[*empty[:-1], "a"]), "y").notes == ()
    assert whole.preparation.transform(frame[["x"]]).shape == (8, 1)


def test_a_column_named_like_the_marks_that_holds_something_else_is_a_feature():
    frame = pd.DataFrame({"x": np.arange(8.0), "y": list("abababab"), "y_filled": list("pqrspqrs")})
    assert prepare(frame, "y").columns[1].kind == "category"
    marks = frame.assign(y_filled=[True, False] * 4)
    asked = prepare(marks, "y", kinds={"y_filled": "boolean"})
    assert (asked.columns[1].kind, asked.notes) == ("boolean", ())


def with_predictions():
    """A table as predict writes it: the last three columns know the labels."""
    frame = pd.DataFrame({"x": np.arange(8.0), "y": ["a", "b", None, "b"] * 2})
    known = {"y_predicted": list("abab") * 2, "y_soft_b": np.arange(8) / 9, "y_decision_b": 2.0}
    return frame.assign(**known)


def test_predictions_of_a_model_are_no_features_unless_asked_for():
    whole = prepare(with_predictions(), "y")
    assert [column.name for column in whole.columns if column.used] == ["x"]
    reasons = {column.reason for column in whole.columns[1:]}
    assert reasons == {"a model has predicted it from the labels"}
    asked = prepare(with_predictions(), "y", kinds={"y_soft_b": "number"}, drop=["y_predicted"])
    assert [column.name for column in asked.columns if column.used] == ["x", "y_soft_b"]
    assert asked.columns[1].reason == "as asked"


@pytest.mark.parametrize(
    ("names", "left"),
    [
        (["y_soft_b", "y_decision_b"], []),
        (["y_predicted", "y_soft_b", "y_decision_c"], []),
        (["y_soft_b", "y_decision_c"], ["y_soft_b", "y_decision_c"]),
        (["y_soft", "y_predicted_by_me", "my_predicted"], None),
    ],
)
def test_a_name_counts_as_a_prediction_by_what_is_beside_it(names, left):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(8, len(names))), columns=names)
    columns = prepare(frame.assign(x=range(8, 0, -1), y=list("abababab")), "y").columns
    expected = names if left is None else left
    assert [c.name for c in columns if c.kind != "dropped" and c.name != "x"] == expected


def test_wishes_that_make_no_sense_for_the_target_are_refused():
    frame = table().assign(y=["a", "b", None] * 40)
    assert error_of(prepare, frame, "y", drop=["y"]) == (
        "Column 'y' is the target, so it cannot be left out; name another column to leave out, or "
        "another target."
    )
    assert error_of(prepare, frame, "y", kinds={"y": "number"}) == (
        "Column 'y' is the target, whose values are classes and cannot be of kind 'number'; leave "
        "that out, or give kinds={'y': 'category'} to take each value as a class."
    )


def test_a_target_of_fractions_can_be_said_to_be_a_category():
    frame = table().assign(y=[1.5, 2.5, None] * 40)
    assert prepare(frame, "y", kinds={"y": "category"}).target.classes == ("1.5", "2.5")


def test_a_single_name_to_drop_and_a_kind_of_the_target_are_understood():
    frame = table().assign(y=["a", "b", None] * 40)
    whole = prepare(frame, "y", drop="age", kinds={"y": "category"})
    assert "age" not in [column.name for column in whole.columns if column.used]
