"""The labels of a table against counts by hand, and columns that cannot be a target."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from semisquares.tables import TableError
from semisquares.tables.target import has_label, read_target
from support.sentences import error_of as table_error


def target_of(cells, **options):
    return read_target(pd.DataFrame({"y": cells, "x": 0.0}), "y", **options)


def error_of(cells, **options):
    return table_error(target_of, cells, **options)


@pytest.mark.parametrize(
    ("cells", "classes", "codes"),
    [
        (["b", None, " a", "b ", ""], ("a", "b"), [1, -1, 0, 1, -1]),
        ([3.0, np.nan, 1.0, 3.0], (1, 3), [1, -1, 0, 1]),
        ([3, 1, 1, 2], (1, 2, 3), [2, 0, 0, 1]),
        ([True, False, True], (False, True), [1, 0, 1]),
        (pd.Series([True, None, False], dtype=object), (False, True), [1, -1, 0]),
        (pd.array([7, None, 5], dtype="Int64"), (5, 7), [1, -1, 0]),
        (pd.array([True, None, False], dtype="boolean"), (False, True), [1, -1, 0]),
        (pd.Categorical(["low", None, "high"]), ("high", "low"), [1, -1, 0]),
        (pd.Categorical([2, None, 10]), (2, 10), [0, -1, 1]),
        (pd.Series(["x", 1, 1.0, None], dtype=object), ("1", "x"), [1, 0, 0, -1]),
        (["10", "9.0", None, "9"], (9, 10), [1, 0, -1, 0]),
        (["TRUE", "false", None], (False, True), [1, 0, -1]),
        (["1", "2", "x"], ("1", "2", "x"), [0, 1, 2]),
        (["yes", "no", None], ("no", "yes"), [1, 0, -1]),
    ],
)
def test_classes_and_codes(cells, classes, codes):
    target = target_of(cells)
    assert target.classes == classes
    assert [type(value) for value in target.classes] == [type(value) for value in classes]
    assert target.codes.tolist() == codes


def test_counts_are_those_of_pandas():
    rng = np.random.default_rng(0)
    cells = pd.Series(rng.choice(["a", "b", "c"], 500)).where(rng.random(500) < 0.2)
    target, counts = target_of(cells), cells.value_counts().sort_index()
    assert dict(zip(target.classes, target.counts, strict=True)) == counts.to_dict()
    assert (target.n_rows, target.n_labeled) == (500, cells.notna().sum())
    assert target.n_unlabeled == cells.isna().sum()
    named = pd.Series(target.codes).map(dict(enumerate(target.classes)))
    pd.testing.assert_series_equal(named, cells, check_names=False, check_dtype=False)


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["a", "?", "b", None], "?"),
        (["a", " ?", "b", None], "? "),
        ([0, -1, 1, -1], "-1"),
        ([0.0, -1.0, 1.0, np.nan], "-1"),
        (["0", "-1.0", "1", "-1"], "-1"),
    ],
)
def test_a_mark_is_not_a_label(cells, mark):
    target = target_of(cells, unlabeled=mark)
    assert target.codes.tolist() == [0, -1, 1, -1]
    assert target.hints == ()
    assert has_label(pd.Series(cells), mark).tolist() == [True, False, True, False]


def test_classes_keep_how_the_table_writes_them():
    assert target_of(["02", "1.0", "2", "1"]).spelling == ("1.0", "02")
    assert target_of([" TRUE", "False"]).spelling == ("False", "TRUE")
    assert target_of([2.0, 1.0, np.nan]).spelling == ("1", "2")


def test_numbers_beside_a_mark_are_numbers_once_it_is_named():
    assert target_of(["2", "10", "?"]).classes == ("10", "2", "?")
    assert target_of(["2", "10", "?"], unlabeled="?").classes == (2, 10)


def test_labels_of_a_table_read_as_text_are_found_alike():
    numbers = pd.Series([1.0, np.nan, 0.0, -1.0])
    texts = pd.Series(["1", "", "0", "-1"])
    np.testing.assert_array_equal(has_label(texts, "-1"), has_label(numbers, "-1"))
    assert has_label(texts).tolist() == [True, False, True, True]


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_none_is_a_class_and_the_usual_marks_of_missing_values_are_not_labels(dtype):
    words = ["NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", " NA ", "", "  ", None]
    cells = pd.Series([*words, "None", "Minor", "none", "na"], dtype=dtype)
    target = target_of(cells)
    assert target.classes == ("Minor", "None", "na", "none")
    assert (target.codes >= 0).tolist() == [False] * 12 + [True] * 4
    assert has_label(cells).tolist() == [False] * 12 + [True] * 4


def test_dates_beside_a_mark_of_no_label_are_dates_unless_requested_as_classes():
    cells = ["2020-01-01", "NA", "2020-01-02"]
    assert "holds dates, such as '2020-01-01'" in error_of(cells)
    assert target_of(cells, as_levels=True).classes == ("2020-01-01", "2020-01-02")


# -- hints --------------------------------------------------------------------------------------


def test_a_class_that_looks_like_a_missing_label_is_pointed_out():
    assert target_of(["a", "b", "?"]).hints == (
        "Class '?' of column 'y' looks like a missing label; if it is, give unlabeled='?'.",
    )
    assert target_of(["a", "b", "Unknown"]).hints == (
        "Class 'Unknown' of column 'y' looks like a missing label; if it is, give "
        "unlabeled='Unknown'.",
    )


def test_minus_one_is_pointed_out_only_beside_two_other_classes():
    assert target_of([-1, 1, 1]).hints == ()
    assert target_of([-1, 0, 1]).hints == (
        "Class -1 of column 'y' looks like a missing label; if it is, give unlabeled='-1'.",
    )


def test_words_that_are_read_as_no_label_are_counted():
    cells = ["a", "b", "NA", "NA ", "null", None]
    no_null = (
        "1 cell of column 'y' says 'null', which is read as no label; spell it differently if it "
        "is a class."
    )
    assert target_of(cells).hints == (
        "2 cells of column 'y' say 'NA', which is read as no label; spell it differently if it "
        "is a class.",
        no_null,
    )
    assert target_of(cells, unlabeled="NA").hints == (no_null,)


def test_classes_that_differ_in_capitals_or_blanks_are_pointed_out():
    assert target_of(["Yes", "yes", "No", "not sure", "Not  sure"]).hints == (
        "Classes 'Not  sure' and 'not sure' of column 'y' differ only in capital letters or "
        "blanks; spell them alike if they are the same.",
        "Classes 'Yes' and 'yes' of column 'y' differ only in capital letters or blanks; spell "
        "them alike if they are the same.",
    )


def test_a_mark_that_does_not_occur_is_pointed_out():
    assert target_of(["a", "b"], unlabeled="?").hints == (
        "No cell of column 'y' is '?', the mark of a missing label.",
    )


# -- columns that cannot be a target --------------------------------------------------------------


def test_a_target_that_is_not_there_gets_the_nearest_name():
    frame = pd.DataFrame({"species": ["a", "b"], "x": [1, 2]})
    with pytest.raises(TableError) as caught:
        read_target(frame, "specie")
    assert str(caught.value) == (
        "The table has no column 'specie' for the target; did you mean 'species'?"
    )


@pytest.mark.parametrize("cells", [[None, None], [np.nan, np.nan], ["", " "]])
def test_a_target_without_any_label_is_refused(cells):
    assert error_of(cells) == (
        "Column 'y' has no label in any of the 2 rows; fill in some of each class, or name another "
        "column as the target."
    )


def test_a_target_of_marks_alone_is_refused():
    assert "has no label in any of the 3 rows" in error_of(["?", "?", None], unlabeled="?")


def test_a_single_class_is_refused_by_name():
    assert error_of(["yes", None, "yes"]) == (
        "Column 'y' has labels of one class only, 'yes' (2 rows), and a classifier needs two; fill "
        "in labels of another class, or name another column as the target."
    )


def test_a_single_class_beside_marks_says_what_was_read_as_no_label():
    assert error_of([1, -1, -1], unlabeled="-1") == (
        "Column 'y' has labels of one class only, 1 (1 row), and a classifier needs two; '-1' in 2 "
        "rows was read as no label."
    )
    assert error_of(["EU", "NA", "NA", "EU"]) == (
        "Column 'y' has labels of one class only, 'EU' (2 rows), and a classifier needs two; 'NA' "
        "in 2 rows was read as no label, so spell it differently if it is a class."
    )


def test_a_single_class_that_looks_like_a_mark_is_reported():
    assert error_of(["?", None, "?"]) == (
        "Column 'y' has labels of one class only, '?' (2 rows), and a classifier needs two; '?' "
        "looks like a missing label, so name the column with the labels."
    )


def test_many_numbers_are_a_quantity():
    sentence = (
        "Column 'y' holds {} different numbers: that is a quantity, not a class; name another "
        "column as the target, or cut this one into classes first."
    )
    assert error_of(np.arange(10_000)) == sentence.format("10,000")
    assert error_of(np.arange(10_000).astype(str)) == sentence.format("10,000")
    assert error_of(np.arange(500) % 101) == sentence.format("101")
    assert error_of(np.arange(21)) == sentence.format("21")
    assert len(target_of(np.arange(500) % 100).classes) == 100
    assert len(target_of(np.arange(20)).classes) == 20


@pytest.mark.parametrize("cells", [[0.5, 1.0, 2.0, None], ["0.5", "1", "2", "1.0"]])
def test_fractions_are_a_quantity(cells):
    assert error_of(cells) == (
        "Column 'y' holds 3 different numbers, such as 0.5: that is a quantity, not a class; name "
        "another column as the target, or cut this one into classes first, or give "
        "kinds={'y': 'category'} if each of them is a class."
    )
    target = target_of(cells, as_levels=True)
    assert target.classes == ("0.5", "1", "2")
    assert target.codes[:3].tolist() == [0, 1, 2]


def test_many_texts_are_ids_or_free_text():
    assert error_of([f"n{k}" for k in range(30)]) == (
        "Column 'y' holds 30 different texts in 30 rows: that is an id or free text, not a class; "
        "name another column as the target."
    )
    assert len(target_of([f"n{k}" for k in range(30)] * 2).classes) == 30


def test_infinities_are_refused():
    assert error_of([0.0, 1.0, np.inf]).startswith(
        "Column 'y' has 1 cell that is infinite (the first in row 3)"
    )
    assert error_of(["0", "1", "inf"]) == (
        "Column 'y' holds 'inf', but a target needs classes; empty such cells."
    )


@pytest.mark.parametrize(
    "cells", [pd.to_datetime(["2020-01-01", "2020-01-02"]), ["2020-01-01", "2020-01-02"]]
)
def test_dates_are_refused(cells):
    assert error_of(cells) == (
        "Column 'y' holds dates, such as '2020-01-01', but a target needs classes; name another "
        "column, or cut the dates into classes."
    )


def test_whole_numbers_that_floats_would_merge_are_refused():
    big = 2**53
    frame = pd.DataFrame({"y": [big, big + 1] * 5})
    with pytest.raises(TableError, match="a quantity, not a class"):
        read_target(frame, "y")
