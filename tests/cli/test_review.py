"""``semisquares review``: what it prints and writes."""

import json
import re

import pandas as pd
import pytest

from semisquares.tables import find, read
from semisquares.tables._written import review_columns
from support import flipped
from support.command_line import complaints, refused

TARGET = ("--target", "state", "--kind", "code=category", "--jobs", "1")


@pytest.fixture(scope="module")
def wrong():
    return set(flipped.patients()[1])


@pytest.fixture
def table(tmp_path):
    """The path of a table with four wrong labels."""
    path = tmp_path / "patients.csv"
    flipped.patients()[0].to_csv(path, index=False)
    return path


def test_review_prints_the_number_of_wrong_labels_and_the_rows(semisquares, table, wrong):
    code, printed, errors = semisquares("review", table, *TARGET)
    assert (code, complaints(errors)) == (0, "")
    assert re.search(
        r"^About \d of the 90 labels in 'state' are probably wrong \(90 %", printed, re.M
    )
    rows = re.findall(r"^ *(\d+) +(ill|well) +(ill|well) +[\d.]+ % ", printed, re.M)
    assert {int(row) for row, _, _ in rows[:4]} == wrong
    assert re.search(r"\d+ \((ill|well)\), \d+ \((ill|well)\)", printed)
    assert printed.endswith(
        f"To do so on a page: semisquares label {table} --target state --kind code=category "
        "--order doubtful\n"
    )


def test_quiet_prints_the_answer_and_the_rows_alone(semisquares, table):
    code, printed, errors = semisquares("review", table, *TARGET, "--quiet")
    assert (code, errors) == (0, "")
    assert printed.startswith("About ")
    assert "Look at these rows" not in printed


def test_json_is_one_object_with_all_rows(semisquares, table, wrong):
    code, printed, _ = semisquares("review", table, *TARGET, "--json")
    facts = json.loads(printed)
    assert code == 0
    assert {one["row"] for one in facts["doubtful"][:4]} == wrong
    assert facts["interval"][0] <= 4 <= facts["interval"][1]
    assert (facts["target"], facts["reviewed"], facts["written"]) == ("state", 90, None)
    assert facts["next"].endswith(" --target state --kind code=category --order doubtful")


def test_no_command_is_named_for_what_was_read_from_standard_input(semisquares, table):
    printed = semisquares("review", "-", *TARGET, "--json", stdin=table.read_bytes())[1]
    assert json.loads(printed)["next"] is None


def test_the_command_for_a_table_of_several_files_names_an_output(semisquares, table):
    pattern = f"{table.parent}/pat*.csv"
    printed = semisquares("review", pattern, *TARGET, "--json")[1]
    assert json.loads(printed)["next"].startswith(f"semisquares label '{pattern}' --target state")
    assert json.loads(printed)["next"].endswith(" --order doubtful -o labeled.csv")


def test_labels_that_were_reviewed_before_are_not_listed(semisquares, tmp_path, wrong):
    frame, _ = flipped.patients()
    first, *others = sorted(row - 1 for row in wrong)
    reviewed = frame["state"].where(frame.index == first)
    frame.assign(state_drawn=None, state_reviewed=reviewed).to_csv("one.csv", index=False)
    _, printed, errors = semisquares("review", "one.csv", *TARGET, "--json")
    facts = json.loads(printed)
    listed = {one["row"] - 1 for one in facts["doubtful"]}
    assert first not in listed
    assert set(others) <= listed
    assert facts["reviewed_before"] == 1
    assert "1 doubtful label was confirmed or corrected before, as 'state_reviewed'" in errors
    reviewed = frame["state"]
    frame.assign(state_drawn=None, state_reviewed=reviewed).to_csv("all.csv", index=False)
    _, printed, _ = semisquares("review", "all.csv", *TARGET)
    assert printed.endswith("All doubtful labels in 'state' were reviewed before.\n")


def read_sheet(name):
    return read(find(name))


@pytest.mark.parametrize("name", ["doubtful.csv", "doubtful.xlsx", "doubtful.parquet"])
def test_rows_are_written_with_the_evidence(semisquares, table, wrong, name):
    code, printed, _ = semisquares("review", table, *TARGET, "-o", name)
    by_ending = {"csv": pd.read_csv, "xlsx": read_sheet, "parquet": pd.read_parquet}
    found = by_ending[name.rpartition(".")[2]](name)
    before = pd.read_csv(table)
    assert code == 0
    assert found.columns.tolist() == [*before.columns, *review_columns("state")]
    assert set(found["state_row"][:4]) == wrong
    assert found["pulse"].tolist() == before["pulse"][found["state_row"] - 1].tolist()
    assert f"{len(found)} doubtful rows: {name}" in printed


def test_rows_go_to_standard_output(semisquares, table):
    code, printed, errors = semisquares("review", "-", *TARGET, "-o", "-", stdin=table.read_bytes())
    assert code == 0
    assert printed.startswith("pulse,oxygen,ward,code,state,state_row,state_predicted,")
    assert "probably wrong" in errors


def test_only_the_most_doubtful_rows_are_printed(semisquares, tmp_path):
    frame, _ = flipped.patients(n_flipped=40)
    frame.to_csv("many.csv", index=False)
    _, printed, _ = semisquares("review", "many.csv", *TARGET)
    n_more = re.search(
        r"^(\d+) more labels are less doubtful; -o FILE writes all\.$", printed, re.M
    )
    facts = json.loads(semisquares("review", "many.csv", *TARGET, "--json")[1])
    assert int(n_more[1]) == len(facts["doubtful"]) - 20


def test_groups_are_left_out_together(semisquares, tmp_path):
    frame, _ = flipped.patients()
    frame.assign(patient=[f"P{i // 2}" for i in range(len(frame))]).to_csv("g.csv", index=False)
    code, printed, _ = semisquares("review", "g.csv", *TARGET, "--group", "patient", "--json")
    facts = json.loads(printed)
    assert (code, facts["group"]) == (0, "patient")
    pairs = [(one["row"], near["row"]) for one in facts["doubtful"] for near in one["nearest"]]
    assert pairs
    assert all((row - 1) // 2 != (near - 1) // 2 for row, near in pairs)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "stat"), "state"),
        (("--target", "state", "-o", "out.doc"), "out.doc"),
        (("--target", "state", "-o", "patients.csv"), "patients.csv"),
        (("--target", "ward", "--group", "ward"), "both target and group"),
    ],
)
def test_what_cannot_be_reviewed_is_refused_in_a_sentence(semisquares, table, words, message):
    assert message in refused(semisquares("review", table, *words))


def test_a_column_whose_name_is_needed_is_refused_and_nothing_is_written(semisquares, tmp_path):
    flipped.patients()[0].assign(state_row=1.5).to_csv("p.csv", index=False)
    _, _, errors = semisquares("review", "p.csv", *TARGET, "-o", "out.csv", "--quiet")
    assert "already has a column 'state_row'" in errors
    assert not (tmp_path / "out.csv").exists()
