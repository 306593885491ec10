"""Write a copy of a table with the labels of a session."""

import os
import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semisquares.labeling._session import LabelingOutcome
from semisquares.tables import prepare
from semisquares.tables.errors import TableError
from semisquares.tables.io import find, read
from semisquares.tables.labeling._reading import read_label_table
from semisquares.tables.labeling._saving import save_labels
from support.labeling_pages import answer, page_of, write_fish

ROWS = "size;kind;price\n007;eel;1,5\n8;;2,50\n9;?;NA\n"


def saved(path, out, labels, notes=None, drawn="suggested", **options):
    """Save labels of some rows of a table."""
    table = read_label_table(find(str(path)), "kind", **options)
    outcome = LabelingOutcome(labels, dict.fromkeys(labels, drawn), notes or {}, 1)
    save_labels(table, outcome, str(out))


@pytest.fixture
def fish(tmp_path):
    path = tmp_path / "fish.csv"
    path.write_text(ROWS)
    return path


def test_all_other_cells_stay_as_they_are_written(fish, tmp_path):
    saved(fish, tmp_path / "out.csv", {1: "carp"}, unlabeled="?")
    assert (tmp_path / "out.csv").read_text() == (
        "size;kind;price;kind_drawn\n007;eel;1,5;\n8;carp;2,50;suggested\n9;?;NA;\n"
    )


def test_notes_get_a_column_if_there_are_any(fish, tmp_path):
    saved(fish, tmp_path / "out.csv", {1: "carp"}, {2: "not sure"}, unlabeled="?")
    assert (tmp_path / "out.csv").read_text().splitlines()[3] == "9;?;NA;;not sure"


def test_columns_of_an_earlier_session_are_continued(fish, tmp_path):
    saved(fish, tmp_path / "one.csv", {1: "carp"}, {1: "dark"}, unlabeled="?")
    saved(tmp_path / "one.csv", tmp_path / "two.csv", {2: "pike"}, drawn="random", unlabeled="?")
    assert (tmp_path / "two.csv").read_text() == (
        "size;kind;price;kind_drawn;kind_note\n007;eel;1,5;;\n8;carp;2,50;suggested;dark\n"
        "9;pike;NA;random;\n"
    )


def test_a_new_column_for_labels_is_added(tmp_path):
    (tmp_path / "in.csv").write_text("size,age\n3,1\n4,2\n5,3\n")
    saved(tmp_path / "in.csv", tmp_path / "out.csv", {2: "eel"}, classes=["eel"])
    assert (tmp_path / "out.csv").read_text() == (
        "size,age,kind,kind_drawn\n3,1,,\n4,2,,\n5,3,eel,suggested\n"
    )


@pytest.mark.parametrize(
    ("cells", "label", "expected"),
    [
        ([1, None, 0], "1", [1, 1, 0]),
        ([True, None, False], "true", [True, True, False]),
        (["a", None, "b"], "b", ["a", "b", "b"]),
        ([1, None, 0], "other", ["1", "other", "0"]),
        (pa.array([None, None, None], pa.null()), "eel", [None, "eel", None]),
        (pa.array(["a", None, "b"]).dictionary_encode(), "c", ["a", "c", "b"]),
    ],
)
def test_the_target_keeps_its_type_if_it_can(tmp_path, cells, label, expected):
    pq.write_table(pa.table({"size": [3, 4, 5], "kind": cells}), tmp_path / "in.parquet")
    saved(tmp_path / "in.parquet", tmp_path / "out.parquet", {1: label})
    found = pq.read_table(tmp_path / "out.parquet")
    assert found["kind"].to_pylist() == expected
    assert found["size"].to_pylist() == [3, 4, 5]


@pytest.mark.parametrize("ending", [".csv.gz", ".tsv", ".jsonl", ".parquet", ".feather", ".xlsx"])
def test_labels_can_be_written_in_every_format(fish, tmp_path, ending):
    out = tmp_path / f"out{ending}"
    saved(fish, out, {1: "carp"}, {1: "dark"}, unlabeled="?")
    found = read(out, labels=["kind"])
    assert found["kind"].tolist() == ["eel", "carp", "?"]
    assert found["kind_drawn"].tolist()[1] == "suggested"
    assert found["kind_note"].tolist()[1] == "dark"
    assert found["price"].tolist()[:2] == [1.5, 2.5]


def test_a_workbook_is_labeled_with_the_types_of_its_cells(tmp_path):
    frame = pd.DataFrame({"size": [3, 4, 5], "seen": pd.date_range("2024-01-05", periods=3)})
    frame["kind"] = [1.0, None, 0.0]
    frame.to_excel(tmp_path / "in.xlsx", index=False, engine="xlsxwriter")
    table = read_label_table(find(str(tmp_path / "in.xlsx")), "kind")
    assert table.cells(0) == {"size": "3", "seen": "2024-01-05"}
    assert table.given == ["1", None, "0"]
    saved(tmp_path / "in.xlsx", tmp_path / "out.xlsx", {1: "1"})
    found = read(tmp_path / "out.xlsx")
    assert found["kind"].tolist() == [1, 1, 0]
    assert found["seen"].tolist() == frame["seen"].tolist()


def test_a_format_that_cannot_be_written_is_refused(fish, tmp_path):
    with pytest.raises(TableError, match="cannot be written here"):
        saved(fish, tmp_path / "out.ods", {1: "carp"})


def reviewed(path, out, **options):
    """Confirm the label of the first row, and correct that of the third."""
    table = read_label_table(find(str(path)), "kind", **options)
    outcome = LabelingOutcome({2: "2"}, {}, {}, 2, {0: "01", 2: "1.0"})
    save_labels(table, outcome, str(out))


def test_a_review_leaves_confirmed_cells_and_keeps_the_labels_before(tmp_path):
    (tmp_path / "in.csv").write_text("size;kind\n7;01\n8;\n9;1.0\n10;2\n")
    reviewed(tmp_path / "in.csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == (
        "size;kind;kind_drawn;kind_reviewed\n7;01;;01\n8;;;\n9;2;;1.0\n10;2;;\n"
    )


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx", ".jsonl"])
def test_labels_before_a_review_come_back_as_they_were(tmp_path, ending):
    (tmp_path / "in.csv").write_text("size;kind\n7;01\n8;\n9;1.0\n10;2\n")
    out = tmp_path / f"out{ending}"
    reviewed(tmp_path / "in.csv", out)
    table = read_label_table(find(str(out)), "kind")
    assert table.reviewed == {0: "01", 2: "1.0"}
    assert table.shown == ["size"]
    assert "kind_reviewed" not in {feature.column for feature in table.features}


def test_a_column_of_numbers_from_an_earlier_session_takes_text(tmp_path):
    (tmp_path / "in.csv").write_text(
        "size,kind,kind_drawn,kind_note,kind_reviewed\n7,1,file,3,2\n8,2,,,\n9,1,,,\n"
    )
    table = read_label_table(find(str(tmp_path / "in.csv")), "kind")
    outcome = LabelingOutcome({1: "eel"}, {}, {1: "dark"}, 1, {1: "2", 2: "pike"})
    save_labels(table, outcome, str(tmp_path / "out.parquet"))
    found = pq.read_table(tmp_path / "out.parquet")
    assert found["kind_note"].to_pylist() == ["3", "dark", None]
    assert found["kind_reviewed"].to_pylist() == ["2", "2", "pike"]


def test_the_input_is_never_written(tmp_path):
    write_fish(tmp_path / "fish.csv")
    shutil.copy(tmp_path / "fish.csv", tmp_path / "copy.csv")
    before = os.stat(tmp_path / "fish.csv")
    page = page_of(tmp_path / "fish.csv")
    for _ in range(7):
        answer(page, label="eel")
    page.save()
    after = os.stat(tmp_path / "fish.csv")
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert (tmp_path / "fish.csv").read_bytes() == (tmp_path / "copy.csv").read_bytes()


def test_the_copy_can_be_learned_from_and_its_marks_are_not_features(tmp_path):
    truth = write_fish(tmp_path / "fish.csv")
    page = page_of(tmp_path / "fish.csv")
    for _ in range(12):
        answer(page, label=truth[page.session.current.row], note="seen")
    page.save()
    prepared = prepare(pd.read_csv(page.out), "kind")
    assert prepared.target.n_labeled == 12
    assert "kind_drawn" not in {feature.column for feature in prepared.features}
    assert "kind_note" not in {feature.column for feature in prepared.features}
