"""The rows of a table to label next: numbers, reasons, outlook, and cells to fill in."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semisquares.labeling import suggest
from semisquares.tables import TableError, _suggesting, find, prepare
from semisquares.tables._suggesting import suggest_rows, suggested_cells
from support.table_files import csv_of, put


def patients(n_labels, n=120, classes=("ill", "well")):
    rng = np.random.default_rng(0)
    truth = np.arange(n) % len(classes)
    labels = np.where(np.arange(n) < n_labels, np.array(classes, dtype=object)[truth], None)
    return pd.DataFrame(
        {
            "age": (rng.normal(size=n) + truth).round(3),
            "pulse": rng.normal(size=n).round(3),
            "state": labels,
        }
    )


def prepared(n_labels, **options):
    return prepare(patients(n_labels), "state", min_classes=0, **options)


def test_the_suggestions_are_those_of_the_default_classifier():
    table = prepared(30)
    found = suggest_rows(table, 5)
    expected = suggest(None, table.X, table.codes, 5).indices
    np.testing.assert_array_equal(found.found.indices, expected)
    np.testing.assert_array_equal(found.numbers, expected + 1)


def test_the_outlook_has_the_error_now_and_the_one_expected():
    found = suggest_rows(prepared(40), 10)
    assert found.expected.n_labels == 40
    assert found.expected.n_more == 10
    assert "% of rows are misclassified, measured on 40 labeled rows" in found.outlook
    assert "10 more labels" in found.outlook


@pytest.mark.parametrize(
    ("n_labels", "words"),
    [
        (0, "There is no label yet"),
        (1, "There is no label of a second class yet"),
        (8, "8 labels of 2 classes are too few to say what more will bring; that takes about 20"),
    ],
)
def test_too_few_labels_are_said_to_be_too_few(n_labels, words):
    found = suggest_rows(prepared(n_labels), 3)
    assert found.expected is None
    assert found.outlook.startswith(words)
    assert len(found.numbers) == 3


def test_groups_get_one_suggestion_each():
    frame = patients(20).assign(site=[f"s{i % 4}" for i in range(120)])
    table = prepare(frame, "state", group="site", min_classes=0)
    rows = suggest_rows(table, 4).found.indices
    assert sorted(rows % 4) == [0, 1, 2, 3]


def test_groups_are_drawn_together_for_the_outlook(monkeypatch):
    given = []
    monkeypatch.setattr(_suggesting, "expect", lambda *_, groups, seed: given.append(groups))
    frame = patients(20).assign(site=[f"s{i % 4}" for i in range(120)])
    table = prepare(frame, "state", group="site", min_classes=0)
    suggest_rows(table, 4)
    assert given == [table.groups]


def test_a_table_without_missing_labels_is_refused():
    with pytest.raises(TableError, match="Every row of the table has a label") as caught:
        suggest_rows(prepared(120), 3)
    assert caught.value.code == "all_labeled"


def test_copies_of_labeled_rows_are_refused():
    frame = patients(6, n=6)
    frame = pd.concat([frame, frame.assign(state=None)])
    with pytest.raises(TableError, match="copies of labeled rows") as caught:
        suggest_rows(prepare(frame, "state", min_classes=0), 3)
    assert caught.value.code == "only_copies"


# -- no label and one class -----------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, "", np.nan])
def test_a_target_without_labels_can_be_prepared(value):
    frame = patients(0).assign(state=value)
    found = prepare(frame, "state", min_classes=0)
    assert found.target.classes == ()
    assert (found.codes == -1).all()


def test_a_target_of_one_class_can_be_prepared():
    found = prepare(patients(1), "state", min_classes=1)
    assert found.target.classes == ("ill",)


@pytest.mark.parametrize(("n_labels", "least"), [(0, 1), (0, 2), (1, 2)])
def test_fewer_classes_than_needed_are_refused(n_labels, least):
    with pytest.raises(TableError, match=r"no label|one class only"):
        prepare(patients(n_labels), "state", min_classes=least)


@pytest.mark.parametrize("least", [-1, 3, "two", None])
def test_a_wrong_number_of_classes_is_refused(least):
    with pytest.raises(TableError, match="min_classes"):
        prepare(patients(9), "state", min_classes=least)


# -- cells ----------------------------------------------------------------------------------------

REASONS = ["uncertain", "uncertain", "far from all labels"]


def test_the_cells_are_as_written_in_the_order_of_the_suggestions(tmp_path):
    path = put(tmp_path, "t.csv", "code,size,state\n007,1.50,a\n008,2,?\n009,,\n010,4e1,b\n")
    cells = suggested_cells(find(path), "state", np.array([3, 1, 2]), REASONS)
    assert cells.to_pydict() == {
        "code": ["010", "008", "009"],
        "size": ["4e1", "2", ""],
        "state": [None] * 3,
        "state_row": [4, 2, 3],
        "state_reason": REASONS,
    }


def test_rows_of_several_chunks_and_files_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr("semisquares.tables._suggesting.CHUNK", 2)
    for k in range(2):
        lines = "".join(f"{5 * k + i},\n" for i in range(5))
        put(tmp_path, f"t{k}.csv", "number,state\n" + lines)
    source = find(str(tmp_path / "t*.csv"))
    order = np.array([7, 0, 4, 9, 5])
    cells = suggested_cells(source, "state", order, ["uncertain"] * 5)
    assert cells["number"].to_pylist() == [str(i) for i in order]
    assert cells["state_row"].to_pylist() == (order + 1).tolist()


def test_cells_of_a_csv_get_their_types_for_files_that_keep_them():
    source = csv_of(patients(10))
    cells = suggested_cells(source, "state", np.array([50]), ["uncertain"], typed=True)
    assert pa.types.is_floating(cells.schema.field("age").type)
    assert pa.types.is_string(cells.schema.field("state").type)


def test_an_empty_target_becomes_a_text_column(tmp_path):
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table({"age": [1, 2], "state": pa.nulls(2)}), path)
    cells = suggested_cells(find(path), "state", np.array([1]), ["uncertain"], typed=True)
    assert pa.types.is_string(cells.schema.field("state").type)
    assert cells["age"].to_pylist() == [2]


@pytest.mark.parametrize("name", ["state_row", "state_reason"])
def test_a_column_with_the_name_of_a_new_one_is_refused(name):
    source = csv_of(patients(10).assign(**{name: 1}))
    with pytest.raises(TableError, match=f"already has a column '{name}'"):
        suggested_cells(source, "state", np.array([50]), ["uncertain"])


def test_columns_of_suggestions_that_come_back_are_not_features():
    frame = patients(40).assign(state_row=range(120), state_reason="uncertain")
    left_out = {c.name: c.reason for c in prepare(frame, "state").columns if not c.used}
    assert left_out == dict.fromkeys(
        ("state_row", "state_reason"), "it says why the row was suggested"
    )
