"""Column types are inferred from cells alone, and cells that make no sense are refused."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from semisquares.cli._parameters import in_options
from semisquares.tables import TableError
from semisquares.tables._options import check_column
from semisquares.tables.columns import COLUMN_TYPES, Column, date
from semisquares.tables.columns._cells import factorize_texts, level_of
from semisquares.tables.columns.date import FORMATS, parse_dates, to_dates
from semisquares.tables.columns.number import to_numbers
from semisquares.tables.schema import infer_schema
from support.sentences import error_of as table_error

N = 40
FILLER = np.linspace(0.1, 0.9, N)
"""A column that is always used."""


def kind_of(cells, name="x", **request):
    """The one column of a table that also has a number."""
    values = pd.Series(cells, name=name)
    frame = pd.DataFrame({name: values, "filler": np.resize(FILLER, len(values))})
    return infer_schema(frame, **request)[0]


def error_of(cells, name="x", **request):
    return table_error(kind_of, cells, name, **request)


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("number", [1.5, 2.0] * 20),
        ("number", [0, 1] * 20),
        ("number", ["1", " 2.5", "", "-3e2"] * 10),
        ("number", pd.array([1, None] * 20, dtype="Int64")),
        ("number", pd.Series([1, 2.5, None, decimal.Decimal("3.5")] * 10, dtype=object)),
        ("number", pd.to_timedelta(np.arange(N) ** 2, unit="h")),
        ("number", [7.0] + [np.nan] * 39),
        ("boolean", [True, False] * 20),
        ("boolean", pd.array([True, None, False, True] * 10, dtype="boolean")),
        ("boolean", pd.Series([True, None] * 20, dtype=object)),
        ("boolean", ["Yes", "no", None, "YES"] * 10),
        ("boolean", ["y", "n"] * 20),
        ("boolean", ["t", "F"] * 20),
        ("boolean", pd.Categorical(["yes", "no"] * 20)),
        ("date", pd.date_range("2020-01-01", periods=N)),
        ("date", pd.date_range("2020-01-01", periods=N, tz="Europe/Rome")),
        ("date", pd.Series([datetime.date(2020, 1, 1 + k % 9) for k in range(N)], dtype=object)),
        ("category", ["red", "green", None, "blue"] * 10),
        ("category", pd.array(["red", "green"] * 20, dtype="string")),
        ("category", pd.Categorical([1, 2] * 20)),
        ("category", pd.Categorical(["1", "2"] * 20)),
        ("category", pd.Series(["red", "green", "blue", 4] * 10, dtype=object)),
        ("category", ["red"] * 39 + [None]),
        ("empty", [None] * N),
        ("empty", [np.nan] * N),
        ("empty", [" ", ""] * 20),
        ("constant", [3.0] * N),
        ("constant", ["A"] * N),
        ("constant", [True] * N),
        ("constant", [pd.Timestamp("2020-01-01")] * N),
        ("id", np.arange(1, N + 1)),
        ("id", [f"k{k}" for k in range(N)]),
        ("id", [f"k{k}" for k in range(N - 1)] + ["k0"]),
        ("text", [f"note {k} says something" for k in range(N)]),
        ("text", [f"k{k // 2}" for k in range(N - 2)] + ["u", "v"]),
        ("text", [f"four words or {k // 4}" for k in range(N)]),
    ],
)
def test_the_kind_of_a_column(kind, cells):
    assert kind_of(cells).kind == kind


def test_only_the_five_kinds_are_used():
    left_out = ("id", "constant", "empty", "dropped")
    found = [Column("x", kind).used for kind in (*COLUMN_TYPES, *left_out)]
    assert found == [True] * 5 + [False] * 4


def test_columns_come_in_the_order_of_the_table():
    frame = pd.DataFrame({"b": FILLER, "a": FILLER**2, "c": ["p", "q"] * 20})
    assert [column.name for column in infer_schema(frame)] == ["b", "a", "c"]


def test_counts_and_example_of_a_column():
    column = kind_of(["red", None, " ", "green ", "red"] * 8)
    assert (column.n_missing, column.n_distinct, column.example) == (16, 2, "red")
    column = kind_of([np.nan, 2.0, 2.0, 5.0] * 10)
    assert (column.n_missing, column.n_distinct, column.example) == (10, 2, "2")


def test_numbers_of_a_long_table_are_counted_in_a_sample():
    values = np.arange(150_000) % 1000 / 8.0
    column = kind_of(values)
    assert (column.kind, column.n_distinct, column.n_missing) == ("number", 1000, 0)


def test_one_other_number_in_a_long_table_is_enough_to_vary():
    assert kind_of(np.where(np.arange(150_000) < 149_999, 1.0, 2.0)).kind == "number"


# -- identifiers --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "rowId", "Patient ID", "uuid", "key"])
def test_whole_numbers_with_the_name_of_an_identifier_are_ids_even_if_they_repeat(name):
    column = kind_of([5, 3, 9, 5] * 10, name)
    assert column.kind == "id"
    assert f"group={name!r}" in column.reason


@pytest.mark.parametrize(
    "name", ["width", "liquid", "valid", "keyboard", "idle", "number_of_rooms"]
)
def test_other_names_are_not_identifiers(name):
    assert kind_of([5, 3, 9, 5] * 10, name).kind == "number"


def test_a_number_is_an_identifier_only_if_it_hardly_repeats():
    rng = np.random.default_rng(0)
    assert kind_of(rng.permutation(1000)[:N], "House Number").kind == "id"
    assert kind_of([2, 3, 4, 5] * 10, "Number").kind == "number"


@pytest.mark.parametrize("name", ["seqn", "SEQN", "seq", "survey_seqno", "rownum"])
def test_numbers_of_a_sequence_are_identifiers_even_with_gaps(name):
    column = kind_of(np.arange(N) * 9 + 233, name)
    assert column.kind == "id"
    assert name.lower().split("_")[-1] in column.reason


@pytest.mark.parametrize("name", ["case", "obs", "serial", "record"])
def test_almost_consecutive_numbers_with_such_a_name_are_identifiers(name):
    shuffled = np.random.default_rng(0).permutation(N)
    assert kind_of(shuffled, name).kind == "id"
    assert kind_of(shuffled * 9, name).kind == "number"
    assert kind_of([*shuffled[1:], shuffled[1]], name).kind == "number"
    assert kind_of(shuffled, "weight").kind == "number"


def test_an_id_without_repeats_gets_no_hint_at_groups():
    column = kind_of(np.arange(N)[::-1] * 7, "case_id")
    assert column.kind == "id"
    assert "group" not in column.reason


def test_fractions_are_not_identifiers_whatever_their_name():
    assert kind_of(FILLER * 10, "id").kind == "number"
    assert kind_of(np.arange(N) + 0.5).kind == "number"
    long = np.arange(150_000.0) * 3.0
    assert kind_of(long, "id").kind == "id"
    long[3] += 0.5
    assert kind_of(long, "id").kind == "number"


def test_row_numbers_need_every_step_to_be_one():
    steps = np.arange(N)
    steps[10], steps[11] = 11, 10
    assert kind_of(steps).kind == "number"
    assert kind_of(np.arange(N)).reason == "it counts the rows"


@pytest.mark.parametrize("as_cells", [list, lambda ids: [str(k) for k in ids]])
def test_ids_beyond_what_floats_can_tell_apart_are_compared_exactly(as_cells):
    ids = [10**17 + k for k in range(N)]  # which are three different float64 numbers
    assert kind_of(as_cells(ids)).reason == "it counts the rows"
    mixed = kind_of(as_cells(ids[::2] + ids[1::2]), "patient_id")
    assert (mixed.kind, mixed.n_distinct) == ("id", N)
    assert "repeats" not in mixed.reason
    assert "it repeats" in kind_of(as_cells([*ids[1:], ids[5]]), "patient_id").reason
    assert kind_of(as_cells([10**18 + k % 7 for k in range(N)]), "patient_id").kind == "id"


def test_few_rows_are_never_left_out_for_being_different():
    words = [f"k{k}" for k in range(19)]
    assert kind_of(np.arange(19)).kind == "number"
    assert kind_of(words).kind == "category"
    assert kind_of([*words, "k19"]).kind == "id"


# -- codes --------------------------------------------------------------------------------------


def test_numbers_with_leading_zeros_are_categories():
    zips = ["01234", "10001", "94110", None] * 10
    column = kind_of(zips)
    assert (column.kind, column.n_distinct) == ("category", 3)
    assert column.reason == (
        "its numbers have leading zeros, so they are taken for categories: give "
        "kinds={'x': 'number'} if they are quantities"
    )
    assert kind_of(zips, kinds={"x": "number"}).kind == "number"


def test_many_codes_are_left_out_with_a_reason():
    codes = [f"{k % 30:04d}" for k in range(N)]
    column = kind_of(codes)
    assert column.kind == "id"
    assert column.reason == f"codes with leading zeros, 30 different in {N}"
    assert kind_of([f"{9 * k:04d}" for k in range(N)]).kind == "id"


@pytest.mark.parametrize("cell", ["-05", "0.5", "0", "7", "1e3", "+05"])
def test_a_zero_before_digits_makes_codes_only_if_all_cells_are_digits(cell):
    others = ["10", "20", "30"] * 10
    assert kind_of([*others, cell]).kind == "number"


# -- dates as text ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("%Y-%m-%d", "yyyy-mm-dd"),
        ("%Y-%m-%dT%H:%M:%S", "yyyy-mm-dd"),
        ("%Y-%m-%d %H:%M", "yyyy-mm-dd"),
        ("%Y-%m-%dT%H:%M:%S.%f", "yyyy-mm-dd"),
        ("%Y-%m-%dT%H:%M:%SZ", "yyyy-mm-dd"),
        ("%Y/%m/%d", "yyyy/mm/dd"),
        ("%d.%m.%Y", "dd.mm.yyyy"),
        ("%d.%m.%Y %H:%M", "dd.mm.yyyy"),
        ("%d/%m/%Y", "dd/mm/yyyy"),
        ("%m/%d/%Y %H:%M:%S", "mm/dd/yyyy"),
        ("%d-%m-%Y", "dd-mm-yyyy"),
        ("%m-%d-%Y", "mm-dd-yyyy"),
        ("%Y.%m.%d", "yyyy.mm.dd"),
    ],
)
def test_the_form_of_dates_is_found(written, form):
    days = pd.date_range("2021-03-05 10:30", periods=N, freq="31h")
    column = kind_of([None, *days.strftime(written)])
    assert (column.kind, column.format) == ("date", form)


def test_a_form_has_to_fit_all_cells():
    days = list(pd.date_range("2021-03-05", periods=N).strftime("%Y-%m-%d"))
    assert kind_of([*days, "2021-02-30"]).kind != "date"
    assert kind_of([*days, "05.03.2021"]).kind != "date"
    many = list(pd.date_range("1990-01-01", periods=1000).strftime("%Y-%m-%d"))
    assert kind_of([*many[:3], "1990-02-30", *many[4:]]).kind != "date"


def test_days_and_months_that_nothing_tells_apart_stay_text():
    column = kind_of(["01/02/2020", "03/04/2020"] * 20)
    assert (column.kind, column.format) == ("category", None)
    assert "day/month or month/day" in column.reason
    assert kind_of(["01/02/2020", "03/04/2020"] * 20 + ["13/04/2020"]).format == "dd/mm/yyyy"
    assert kind_of(["01/02/2020", "03/04/2020"] * 20 + ["04/13/2020"]).format == "mm/dd/yyyy"


@pytest.mark.parametrize(
    ("cells", "formats"),
    [
        (["01/02/2020", "03/04/2020"], ["dd/mm/yyyy", "mm/dd/yyyy", None]),
        (["01-02-2020 10:00", "03-04-2020 11:30"], ["dd-mm-yyyy", "mm-dd-yyyy", None]),
        (["01/02/03", "03/04/05"], ["dd/mm/yy", "mm/dd/yy", "yy/mm/dd"]),
        (["25/12/20", "26/12/20"], ["dd/mm/yy", None, "yy/mm/dd"]),
        (["01.02.20", "28.02.20"], ["dd.mm.yy", None, None]),
        (["13/04/2020", "03/04/2020"], ["dd/mm/yyyy"] * 3),
        (["2020-04-13", "2020-04-03"], ["yyyy-mm-dd"] * 3),
    ],
)
def test_a_named_order_settles_dates_that_can_be_read_in_several_ways(cells, formats):
    found = [kind_of(cells * 20, dates=order) for order in ("dmy", "mdy", "ymd")]
    assert [column.format for column in found] == formats
    assert [column.kind == "date" for column in found] == [form is not None for form in formats]
    requested = {"kinds": {"x": "date"}, "dates": "dmy"}
    assert kind_of(cells * 20, **requested).format == formats[0]


def test_years_of_two_digits_are_read_only_in_a_named_order():
    short = kind_of(["01/02/03", "03/04/05"] * 20)
    assert (short.kind, short.format) == ("category", None)
    assert short.reason == (
        "its dates may be day/month or month/day or year/month/day: give dates='dmy' or "
        "dates='mdy' or dates='ymd', or write them as yyyy-mm-dd"
    )
    assert kind_of(["1.2.10", "1.2.11"] * 20).reason == ""


def test_an_order_that_does_not_exist_is_refused():
    refusal = error_of(["01/02/2020"], dates="myd")
    assert refusal == "dates is 'myd'; give 'dmy', 'mdy', 'ymd' or None."


@pytest.mark.parametrize("ending", ["", " 7:05", "T07:05:09.25"])
@pytest.mark.parametrize(("day", "month"), [("02", "01"), ("2", "1"), (" 2", "1"), ("30", "12")])
@pytest.mark.parametrize("written", FORMATS)
def test_a_text_that_can_be_read_in_a_format_is_found_to_have_it(written, day, month, ending):
    text = written.replace("yyyy", "2031").replace("yy", "31")
    text = np.array([text.replace("mm", month).replace("dd", day).strip() + ending], dtype=object)
    assert not np.isnat(parse_dates(text, written)).any()
    assert written in date.DateFormats.of(text).names


@pytest.mark.parametrize("cell", ["1024", "19.99", "10-2", "12:30", "4 mm", "01234-567"])
def test_texts_that_do_not_look_like_dates_are_not_read_as_such(monkeypatch, cell):
    monkeypatch.setattr(date, "_parse", None)
    assert not date.DateFormats.of(np.array([cell], dtype=object)).names


@pytest.mark.parametrize("time", ["", " %H:%M", "T%H:%M:%S", " %H:%M:%S.%f"])
def test_dates_of_one_form_are_read_in_one_pass(monkeypatch, time):
    days = pd.date_range("2021-03-05 10:30:01.5", periods=N, freq="31h")
    forms, parse = [], date._parse
    monkeypatch.setattr(
        date, "_parse", lambda texts, form: forms.append(form) or parse(texts, form)
    )
    parse_dates(days.strftime("%d.%m.%Y" + time).to_numpy(object), "dd.mm.yyyy")
    assert forms == ["%d.%m.%Y" + time]


def test_dates_beyond_the_nanoseconds_of_pandas_are_not_lost():
    cells = [pd.Timestamp("2020-01-01 00:00:00.000000001"), datetime.date(9999, 12, 31), None]
    east = datetime.timezone(datetime.timedelta(hours=1))
    cells.append(datetime.datetime(2999, 1, 1, tzinfo=east))
    found = to_dates(pd.Series(cells, dtype=object), "x", None)
    assert found.astype("datetime64[h]").astype(str).tolist() == [
        "2020-01-01T00",
        "9999-12-31T00",
        "NaT",
        "2998-12-31T23",
    ]


# -- requests -----------------------------------------------------------------------------------


def test_a_kind_can_be_settled():
    assert kind_of([1, 2] * 20, kinds={"x": "category"}).kind == "category"
    assert kind_of([1, 0] * 20, kinds={"x": "boolean"}).kind == "boolean"
    assert kind_of(np.arange(N), kinds={"x": "number"}).kind == "number"
    assert kind_of([True, False] * 20, kinds={"x": "number"}).kind == "number"
    assert kind_of([f"k{k}" for k in range(N)], kinds={"x": "category"}).kind == "category"
    assert kind_of(["1.2.2020", "2.2.2020", ""] * 20, kinds={"x": "date"}).format == "dd.mm.yyyy"
    assert kind_of(["498", "2", "unknown"] * 20, kinds={"x": "category"}).kind == "category"


def test_nothing_is_learned_from_a_constant_even_on_request():
    assert kind_of([1] * N, kinds={"x": "category"}).kind == "constant"
    found = [kind_of([None] * N, kinds={"x": kind}).kind for kind in COLUMN_TYPES]
    assert found == ["empty"] * 5


def test_a_column_can_be_dropped_for_a_reason():
    assert kind_of(FILLER, drop={"x": "it is a secret"}).reason == "it is a secret"


def test_a_dropped_column_is_not_looked_at():
    column = kind_of([[1], None] * 20, drop=["x"])
    assert (column.kind, column.reason, column.n_missing) == ("dropped", "as asked", 20)
    assert kind_of(FILLER, "fill", drop="fill").kind == "dropped"


@pytest.mark.parametrize(
    ("kind", "cells", "sentence"),
    [
        (
            "number",
            ["1", "red", "2"],
            "Column 'x' has to hold numbers, but 'red' in row 2 is not one; correct that cell, or "
            "empty it.",
        ),
        (
            "number",
            pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "Column 'x' has to hold numbers, but '2020-01-01' in row 1 is not one; correct that "
            "cell, or empty it.",
        ),
        (
            "boolean",
            ["yes", "no", "perhaps"],
            "Column 'x' has to hold true or false, but 'perhaps' in row 3 is neither; correct that "
            "cell, or empty it.",
        ),
        (
            "date",
            [2010, 2011],
            "Column 'x' has to hold dates of the form yyyy-mm-dd, but '2010' in row 1 is not one; "
            "correct that cell, or empty it.",
        ),
        (
            "date",
            ["01/02/2020", "03/04/2020"],
            "Column 'x' cannot be read as dates: cells such as '01/02/2020' may be day/month or "
            "month/day; give dates='dmy' or dates='mdy', or write them as yyyy-mm-dd.",
        ),
        (
            "date",
            ["25/12/20", "26/12/20"],
            "Column 'x' cannot be read as dates: cells such as '25/12/20' may be day/month or "
            "year/month/day; give dates='dmy' or dates='ymd', or write them as yyyy-mm-dd.",
        ),
        ("numbr", [1, 2], "Column 'x' cannot be of kind 'numbr'; did you mean 'number'?"),
        (
            "zzz",
            [1, 2],
            "Column 'x' cannot be of kind 'zzz'; choose from number, category, boolean, date, "
            "text.",
        ),
    ],
)
def test_a_kind_that_cannot_be_is_refused(kind, cells, sentence):
    assert error_of(cells, kinds={"x": kind}) == sentence


def test_requests_for_columns_that_are_not_there_get_the_nearest_name():
    assert error_of([1, 2], "colour", kinds={"color": "category"}) == (
        "The table has no column 'color' for the kinds of columns; did you mean 'colour'?"
    )
    assert error_of([1, 2], "colour", drop=["zzzz"]) == (
        "The table has no column 'zzzz' for the columns to leave out; its columns are 'colour', "
        "'filler'."
    )


def test_a_long_list_of_columns_is_cut():
    frame = pd.DataFrame(np.zeros((1, 25)), columns=[f"c{k:02d}" for k in range(25)])
    with pytest.raises(TableError, match=r"'c18', 'c19', …\.$"):
        check_column(frame, "zzzz", "target")


# -- cells that make no sense -------------------------------------------------------------------


def test_a_column_of_numbers_and_text_is_refused_with_ways_out():
    cells = [str(k) for k in range(500)]
    cells[16] = cells[99] = "unknown"
    assert error_of(cells, "age") == (
        "Column 'age' mixes numbers and text: 498 cells are numbers and 2 are not (the first is "
        "'unknown', row 17); clean it, name the text that means missing with "
        "missing=['unknown'], treat it as categories with kinds={'age': 'category'}, or leave it "
        "out with drop=['age']."
    )


def test_objects_of_both_types_are_refused_and_names_are_quoted_for_the_shell():
    cells = pd.Series([1, 2.5, None, "?"] * 3, dtype=object)
    with pytest.raises(TableError) as caught:
        kind_of(cells, "my age")
    assert caught.value.code == "mixed_column"
    assert in_options(caught.value) == (
        "Column 'my age' mixes numbers and text: 6 cells are numbers and 3 are not (the first is "
        "'?', row 4); clean it, name the text that means missing with --missing '?', treat it as "
        "categories with --kind 'my age=category', or leave it out with --drop 'my age'."
    )


def test_one_text_among_numbers_is_spoken_of_in_the_singular():
    assert "3 cells are numbers and 1 is not" in error_of(["1", "2", "3", "x"])


def test_numbers_are_mixed_with_text_from_one_half_on():
    assert "mixes" in error_of(["1", "x", "2", "y"] * 10)
    assert kind_of(["1", "x", "z", "y"] * 10).kind == "category"


def test_below_one_half_numbers_among_text_are_remarked_on_from_a_tenth_on():
    column = kind_of(["1"] * 49 + ["x"] * 51, "my dose")
    assert (column.kind, column.reason) == (
        "category",
        "49 of its 100 cells are numbers and the others text, and all are taken for categories: "
        "name the text that means missing with missing=['TEXT'], or give kinds={'my dose': "
        "'category'} if all of them are categories",
    )
    assert kind_of(["1"] * 10 + ["x", "y"] * 45).reason.startswith("10 of its 100 cells")
    assert kind_of(["1"] * 9 + ["x", "y"] * 45 + ["z"]).reason == ""
    asked = kind_of(["1"] * 49 + ["x"] * 51, kinds={"x": "category"})
    assert (asked.kind, asked.reason) == ("category", "")


def test_a_mix_that_is_read_as_text_says_that_it_is_one():
    cells = [f"{k}.5" for k in range(40)] + [f"about {k}" for k in range(50)]
    column = kind_of(cells)
    assert column.kind == "text"
    assert column.reason.startswith(
        "40 of its 90 cells are numbers and the others text, and all are read as text: name"
    )


# -- numbers as people write them ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "form", "numbers"),
    [
        (["$54.80", "$1,200", "-$3", "$ -.5", None], "$", [54.8, 1200, -3, -0.5, np.nan]),
        (["5 €", "1,234.5€", "7€", "-2€", ""], "€", [5, 1234.5, 7, -2, np.nan]),
        (["72.5%", "3 %", "+4%", "100%", None], "%", [72.5, 3, 4, 100, np.nan]),
        (["12,345", "950", "1,234,567.25", "-1,000", "0.5"], "1,234",
         [12345, 950, 1234567.25, -1000, 0.5]),
        (["1,234.50", "(1,234.00)", "( 5 )", "(.5)", None], "1,234",
         [1234.5, -1234, -5, -0.5, np.nan]),
        (["$5", "($1,200.50)", "$(3)", "$ (4)", "(7$)"], "$", [5, -1200.5, -3, -4, -7]),
        (["5", "(6.5)", "1", "2", ""], "(1)", [5, -6.5, 1, 2, np.nan]),
    ],
)  # fmt: skip
def test_numbers_with_a_sign_or_commas_are_numbers_with_a_remark(cells, form, numbers):
    column = kind_of(cells * 8)
    assert (column.kind, column.format) == ("number", form)
    assert column.reason.startswith("its numbers are written with ")
    np.testing.assert_array_equal(to_numbers(pd.Series(cells), "x", form), numbers)
    assert kind_of(cells * 8, kinds={"x": "number"}).format == form


@pytest.mark.parametrize(
    "cells",
    [
        ["$5", "€6"],  # different currencies
        ["$5", "6"],
        ["5%", "0.3"],
        ["$5%", "$6%"],
        ["1,5", "2,5"],  # more likely decimals
        ["12,34", "1,234"],
        ["0,123", "1,234"],
        ["A$5", "B$6"],
        ["$", "%"],
        ["(-5)", "(+5)"],
        ["-(5)", "((5))"],
        ["(5", "5)"],
        ["($(5))", "5)"],
    ],
)
def test_other_text_with_signs_and_commas_is_not_a_number(cells):
    assert kind_of(["x"] * 3 + cells * 2).kind == "category"
    assert "has to hold numbers" in error_of(cells, kinds={"x": "number"})


def test_the_cell_that_is_not_a_number_is_named_and_not_one_with_commas_or_brackets():
    cells = ["1,234.50", "(5.00)", "7", "5 apples"]
    assert "4 cells are numbers and 1 is not (the first is 'x', row 5)" in error_of(
        ["1,234.50", "(5.00)", "7", "-8,000", "x"]
    )
    assert "but '5 apples' in row 4 is not one" in error_of(cells, kinds={"x": "number"})


def test_numbers_that_are_always_in_brackets_number_a_list_unless_requested_otherwise():
    cells = ["(1)", "(2)", "(3)", "(2)"] * 10
    assert (kind_of(cells).kind, kind_of(cells).reason) == ("category", "")
    assert kind_of(cells, kinds={"x": "number"}).kind == "number"


def test_commas_between_thousands_fit_a_column_that_was_written_without():
    assert to_numbers(pd.Series(["1,234", "950", "(1,000.5)"]), "x").tolist() == [
        1234,
        950,
        -1000.5,
    ]


def test_plain_numbers_fit_a_column_that_was_written_with_a_sign_but_another_sign_does_not():
    assert to_numbers(pd.Series(["5", "1e3", "$2"]), "x", "$").tolist() == [5, 1000, 2]
    assert to_numbers(pd.Series([5.0, 2.0]), "x", "$").tolist() == [5, 2]
    with pytest.raises(TableError, match="has to hold numbers, but '€2' in row 2 is not one"):
        to_numbers(pd.Series(["5", "€2"]), "x", "$")


@pytest.mark.parametrize("cells", [[1.0, np.inf, -np.inf, 2.0], ["1", "inf", "-inf", "2"]])
def test_infinities_are_refused(cells):
    assert error_of(cells) == (
        "Column 'x' has 2 cells that are infinite (the first in row 2), and numbers have to be "
        "finite; empty such cells, or leave the column out with drop=['x']."
    )


def test_numbers_too_large_to_square_are_refused():
    assert error_of([1.0, 2.0, -1e160]) == (
        "Column 'x' has 1 cell that is beyond 1e+150 (the first in row 3), and numbers have to be "
        "finite; empty such cells, or leave the column out with drop=['x']."
    )
    assert kind_of([1.0, 2.0, -1e149]).kind == "number"


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ([1], "Column 'x' holds a list (row 2), but a cell has to be a number, a text or a date "),
        ({"a": 1}, "Column 'x' holds a dict (row 2), but a cell has to be a number, a text "),
        (1j, "Column 'x' holds a complex (row 2), but a cell has to be a number, a text or a date"),
    ],
)
def test_cells_that_are_not_values_are_refused(cell, sentence):
    assert error_of(pd.Series(["a", cell, "b"], dtype=object)).startswith(sentence)


@pytest.mark.parametrize(
    "cells", [[1j, 2j], [b"a", b"b"], pd.period_range("2020", periods=2), [datetime.time(1)] * 2]
)
def test_columns_of_other_types_are_refused(cells):
    assert error_of(cells).endswith(
        " values, but a table needs numbers, texts or dates; rewrite it, or leave the column out "
        "with drop=['x']."
    )


def test_a_table_without_anything_to_learn_from_is_refused():
    frame = pd.DataFrame({"nr": np.arange(30), "site": "A", "note": None})
    with pytest.raises(TableError) as caught:
        infer_schema(frame, drop=["nr"])
    assert str(caught.value) == (
        "The table has no column to learn from ('nr': as asked; 'site': it is 'A' in all rows; "
        "'note': it holds no value); add one, or set the kind of one with kinds={'COLUMN': "
        "'KIND'}."
    )


def test_rows_are_those_of_the_whole_table_in_a_part_of_it():
    frame = pd.DataFrame({"x": [1.0] * 100 + [np.inf] * 3, "y": 1})
    with pytest.raises(TableError, match=r"the first in row 101\)"):
        infer_schema(frame.iloc[50:])
    with pytest.raises(TableError, match=r"the first in row 51\)"):
        infer_schema(frame.iloc[50:].set_axis([f"r{k}" for k in range(53)]))


def test_blank_texts_are_missing_numbers_and_others_are_none():
    cells = pd.Series(["1", " ", "", "2"] * 3 + ["two"], index=list("abcdefghijklm"))
    np.testing.assert_array_equal(to_numbers(cells[:-1], "x"), [1.0, np.nan, np.nan, 2.0] * 3)
    with pytest.raises(TableError, match="hold numbers, but 'two' in row 13 is not one"):
        to_numbers(cells, "x")


# -- levels -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "cells"),
    [
        ("1", [1, 1.0, "1", " 1 ", "1.0", "01", "+1", np.int8(1), np.float32(1), "1e0"]),
        ("-2.5", [-2.5, "-2.50", decimal.Decimal("-2.5"), np.float64(-2.5)]),
        ("0", [0, -0.0, "-0", "0.000"]),
        ("True", [True, np.True_, "true", "TRUE "]),
        ("9007199254740993", [9007199254740993, "9007199254740993"]),
        ("1_000", ["1_000"]),
        ("inf", ["1e999", np.inf, "inf"]),
        ("nan", ["nan"]),
        ("1,5", ["1,5"]),
        ("2020-01-01", [pd.Timestamp("2020-01-01"), datetime.date(2020, 1, 1)]),
    ],
)
def test_one_level_however_it_is_written(level, cells):
    assert {level_of(cell) for cell in cells} == {level}


def test_text_cells_merge_what_is_written_alike_and_drop_blanks():
    codes, texts = factorize_texts(pd.Series(["b", " ", " b", None, "a"]), str.strip)
    assert (codes.tolist(), texts.tolist()) == ([0, -1, 0, -1, 1], ["b", "a"])


def test_text_cells_of_a_column_without_any():
    codes, texts = factorize_texts(pd.Series([None, " "], dtype=object), str.strip)
    assert (codes.tolist(), texts.tolist()) == ([-1, -1], [])
