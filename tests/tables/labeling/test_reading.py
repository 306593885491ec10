"""Read a table that is to be labeled."""

import numpy as np
import pandas as pd
import pytest

from semisquares.tables.errors import TableError
from semisquares.tables.io import find
from semisquares.tables.labeling._reading import read_label_table


@pytest.fixture
def table(tmp_path):
    """Return a function that writes a CSV, and reads it."""

    def make(content, target="kind", **options):
        path = tmp_path / "fish.csv"
        path.write_text(content, encoding="utf-8")
        return read_label_table(find(str(path)), target, **options)

    return make


ROWS = "size,water,kind\n3,river,eel\n5,lake,\n4,river,\n7,lake,carp\n"


def test_labels_are_read_as_written_and_other_rows_have_none(table):
    found = table("size,kind\n3,01\n5,\n4,2\n6,NA\n8,?\n", unlabeled="?")
    assert found.given == ["01", None, "2", None, None]


@pytest.mark.parametrize("label", ["", "eel"])
def test_a_table_with_labels_of_less_than_two_classes_can_be_labeled(table, label):
    found = table(f"size,kind\n3,{label}\n5,\n4,\n")
    assert found.given == [label or None, None, None]
    assert found.X.shape == (3, 1)


def test_cells_are_shown_as_they_are_written(table):
    found = table('size,price,text,kind\n007,"$1,200.50","a\nb",\n8,€3,NA,\n')
    assert found.cells(0) == {"size": "007", "price": "$1,200.50", "text": "a\nb"}
    assert found.cells(1) == {"size": "8", "price": "€3", "text": "NA"}


def test_cells_of_files_with_types_are_shown_as_text(tmp_path):
    path = tmp_path / "fish.parquet"
    frame = pd.DataFrame(
        {
            "size": [3.0, 0.5],
            "seen": pd.to_datetime(["2020-01-05 00:00", "2020-02-03 10:30"]),
            "wild": [True, False],
            "kind": [None, 1.0],
        }
    )
    frame.to_parquet(path)
    found = read_label_table(find(str(path)), "kind")
    assert found.cells(0) == {"size": "3", "seen": "2020-01-05 00:00:00", "wild": "true"}
    assert found.given == [None, "1"]


def test_rows_of_several_files_are_counted_through(tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.csv").write_text(f"size,kind\n{k}0,\n{k}1,eel\n")
    found = read_label_table(find(str(tmp_path / "*.csv")), "kind")
    assert [found.cells(row)["size"] for row in range(6)] == ["00", "01", "10", "11", "20", "21"]


def test_what_tells_the_label_is_neither_shown_nor_a_feature(table):
    names = "kind_predicted,kind_probability,kind_filled,kind_drawn,kind_note,kind_reviewed"
    content = (
        f"size,{names},kind\n3,eel,0.9,true,random,x,carp,eel\n5,carp,0.8,false,,,,\n"
        "4,eel,0.7,,,,,\n"
    )
    found = table(content)
    assert found.shown == ["size"]
    assert {feature.column for feature in found.features} == {"size"}


def test_labels_that_were_suggested_before_are_biased(table):
    content = "size,kind_drawn,kind\n3,suggested,eel\n5,random,carp\n4,suggested,\n7,,eel\n"
    assert table(content).biased == [0]


def test_labels_that_were_reviewed_before_are_known_as_they_were(table):
    content = "size,kind_drawn,kind_reviewed,kind\n3,file,007,7\n5,,07,07\n4,,7,\n7,,,eel\n"
    assert table(content).reviewed == {0: "007", 1: "07"}


@pytest.mark.parametrize(
    ("labels", "why"),
    [(["", "", ""], "no label"), (["eel", "", "eel"], "labels of one class only, 'eel'")],
)
def test_labels_that_cannot_be_reviewed_are_refused(table, labels, why):
    content = "size,kind\n" + "".join(f"{k},{text}\n" for k, text in enumerate(labels))
    assert len(table(content).given) == 3
    with pytest.raises(TableError, match=why):
        table(content, to_review=True)


@pytest.mark.parametrize(
    ("header", "cell", "name"),
    [
        ("kind_drawn", "by hand", "kind_drawn"),
        ("kind_note", "x", "kind_note"),
        ("kind_reviewed", "2024", "kind_reviewed"),
    ],
)
def test_a_column_with_a_name_that_is_needed_is_refused(table, header, cell, name):
    with pytest.raises(TableError, match=f"already has a column '{name}'"):
        table(f"size,{header},kind\n3,{cell},eel\n5,,\n")


def test_a_new_column_for_the_labels_needs_classes(table):
    with pytest.raises(TableError, match=r"no column 'sort' .* name their classes: classes=") as no:
        table(ROWS, "sort")
    assert no.value.code == "label_column"
    found = table(ROWS, "sort", classes=["a", "b"])
    assert found.given == [None] * 4
    assert found.shown == ["size", "water", "kind"]


def test_a_target_that_is_a_quantity_is_refused(table):
    with pytest.raises(TableError, match="that is a quantity"):
        table("size,kind\n3,0.5\n5,0.7\n6,\n")


def test_groups_are_numbered_and_not_a_feature(table):
    found = table(ROWS, group="water")
    assert found.groups.tolist() == [0, 1, 0, 1]
    assert {feature.column for feature in found.features} == {"size"}


def test_options_of_columns_are_used(table):
    found = table(ROWS, drop=["water"])
    assert {feature.column for feature in found.features} == {"size"}
    assert "water" in found.shown
    with pytest.raises(TableError, match="cannot be of kind 'colour'"):
        table(ROWS, kinds={"size": "colour"})


@pytest.mark.parametrize("name", ["NA", "nan", "?", "unknown"])
def test_a_class_that_would_be_read_as_missing_is_refused(table, name):
    found = table(ROWS, unlabeled="?", missing=["unknown"])
    with pytest.raises(TableError, match="means that there is no label"):
        found.check_class(name)
    found.check_class("None")


def test_a_table_is_known_by_its_content_rows_and_target(table):
    first = table(ROWS).about()
    assert table(ROWS).about() == first
    assert table(ROWS.replace("river", "rivet")).about() != first
    assert np.ndim(first["rows"]) == 0
