"""The review of a table's labels: sentences, rows and the columns that are written."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet
import pytest

from semisquares.tables import TableError, find, prepare
from semisquares.tables._reviewing import LabelReview, doubtful_cells, review_table
from semisquares.tables._written import review_columns
from support import flipped
from support.table_files import csv_of


@pytest.fixture(scope="module")
def table():
    return flipped.patients()


@pytest.fixture(scope="module")
def review(table):
    return review_table(prepare(table[0], "state"))


def test_wrong_labels_are_the_first_rows_with_their_evidence(review, table):
    frame, wrong = table
    first = review.rows[: len(wrong)]
    assert {one.row for one in first} == set(wrong)
    for one in first:
        assert one.given == frame["state"][one.row - 1]
        assert {one.given, one.likely} == {"ill", "well"}
        assert one.given_probability < 0.5 < one.likely_probability
        labels = [frame["state"][row - 1] for row, _ in one.nearest]
        assert [label for _, label in one.nearest] == labels
        assert labels.count(one.likely) >= 3


def test_the_interval_holds_the_number_of_wrong_labels(review, table):
    assert review.low <= len(table[1]) <= review.high
    assert review.n_labels == 90


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"n_expected": 4.2, "low": 3, "high": 6},
            "About 4 of the 90 labels in 'state' are probably wrong (90 % interval: 3 to 6).",
        ),
        (
            {"n_expected": 1.1, "low": 0, "high": 2},
            "About 1 of the 90 labels in 'state' is probably wrong (90 % interval: 0 to 2); it may "
            "be none: if classes overlap, right labels look wrong, too.",
        ),
        (
            {"n_expected": 0.3, "low": 0, "high": 1},
            "Probably none of the 90 labels in 'state' is wrong (90 % interval: 0 to 1 are wrong).",
        ),
        (
            {"rows": (), "n_expected": 0.0, "low": 0, "high": 0},
            "None of the 90 labels in 'state' contradicts its row.",
        ),
        (
            {"rows": (), "n_labels": 0, "n_expected": 0.0, "low": 0, "high": 0},
            "No label in 'state' can be reviewed; label more rows of each class.",
        ),
    ],
)
def test_the_sentence_says_how_many_are_wrong_and_how_sure_that_is(review, changes, sentence):
    assert replace(review, **changes).sentence == sentence


def test_rows_are_written_as_they_are_in_the_order_of_doubt(review, table):
    found = doubtful_cells(review, csv_of(table[0]))
    assert found.column_names == [*table[0].columns, *review_columns("state")]
    assert found["state_row"].to_pylist() == [one.row for one in review.rows]
    rows = [one.row - 1 for one in review.rows]
    assert found["code"].to_pylist() == table[0]["code"].iloc[rows].tolist()
    assert found["state"].to_pylist() == [one.given for one in review.rows]
    assert found["state_predicted"].to_pylist() == [one.likely for one in review.rows]
    first = review.rows[0]
    row, label = first.nearest[0]
    assert found["state_nearest"][0].as_py().startswith(f"{row} ({label}), ")


def test_numbers_are_numbers_in_a_file_that_stores_types(review, table):
    found = doubtful_cells(review, csv_of(table[0]), typed=True)
    assert found.schema.field("pulse").type == pa.float64()
    assert found.schema.field("code").type == pa.string()


def test_rows_of_several_files_are_found(review, table, tmp_path):
    frame, _ = table
    for i, part in enumerate((frame[:70], frame[70:])):
        part.to_parquet(tmp_path / f"{i}.parquet", index=False)
    found = doubtful_cells(review, find(str(tmp_path / "*.parquet")))
    assert found["state"].to_pylist() == [one.given for one in review.rows]


def test_files_whose_types_do_not_go_together_are_refused(review, table, tmp_path):
    frame, _ = table
    frame[:20].to_parquet(tmp_path / "0.parquet", index=False)
    strange = frame[20:].assign(pulse=frame["pulse"][20:].astype(str))
    with pytest.raises(TableError, match="do not go together") as raised:
        doubtful_cells(review, _source_of(tmp_path, strange))
    assert raised.value.code == "review_types"


def _source_of(folder, frame):
    pyarrow.parquet.write_table(pa.Table.from_pandas(frame), folder / "1.parquet")
    return find(str(folder / "*.parquet"))


def test_a_table_without_doubtful_rows_gives_a_table_without_rows(review, table):
    found = doubtful_cells(replace(review, rows=()), csv_of(table[0]))
    assert (found.num_rows, found.num_columns) == (0, 5 + 6)


def test_a_column_whose_name_is_needed_is_named(review, table):
    taken = table[0].assign(state_doubt=1)
    with pytest.raises(TableError, match="already has a column 'state_doubt'") as raised:
        doubtful_cells(review, csv_of(taken))
    assert raised.value.code == "review_column"


def test_what_a_review_has_written_is_not_a_feature(review, table):
    frame = doubtful_cells(review, csv_of(table[0])).to_pandas()
    frame = frame.assign(state=["ill", "well"] * (len(frame) // 2) + ["ill"] * (len(frame) % 2))
    prepared = prepare(frame, "state")
    used = {column.name for column in prepared.columns if column.used}
    assert not used.intersection(review_columns("state"))


def test_a_class_with_one_label_is_not_reviewed_and_named(table):
    frame = table[0].copy()
    frame.loc[0, "state"] = "dead"
    review = review_table(prepare(frame, "state"))
    assert all(one.row != 1 for one in review.rows)
    (note,) = review.notes
    assert note.startswith("1 label of 'dead' was not reviewed")


def test_rows_of_a_group_do_not_vouch_for_each_other(table):
    frame = table[0].loc[table[0].index.repeat(3)].reset_index(drop=True)
    frame["patient"] = [f"P{i // 3}" for i in range(len(frame))]
    frame["pulse"] += [0.01, 0.02, 0.03] * (len(frame) // 3)
    review = review_table(prepare(frame, "state", group="patient"))
    wrong = {3 * (row - 1) + k for row in table[1] for k in (1, 2, 3)}
    assert {one.row for one in review.rows[: len(wrong)]} == wrong
    patients = frame["patient"]
    for one in review.rows:
        assert all(patients[row - 1] != patients[one.row - 1] for row, _ in one.nearest)


def test_the_facts_for_json_are_plain(review):
    facts = review.as_dict()
    assert isinstance(review, LabelReview)
    assert facts["interval"] == [review.low, review.high]
    first = facts["doubtful"][0]
    assert first["nearest"][0].keys() == {"row", "label"}
    assert {type(value) for value in first.values()} == {int, str, float, list}
