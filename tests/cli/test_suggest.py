"""``semisquares suggest``: what it prints and writes, and its error messages."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from support.command_line import refused


def patients(n_labels, n=90):
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2
    return pd.DataFrame(
        {
            "patient": [f"P{i:03d}" for i in range(n)],
            "age": (40 + 9 * rng.normal(size=n) + 9 * truth).round(1),
            "pulse": (60 + 9 * rng.normal(size=n)).round(1),
            "ward": rng.choice(["north", "south"], n),
            "note": ["a long remark about the patient " + "very " * (i % 3) for i in range(n)],
            "state": np.where(np.arange(n) < n_labels, np.array(["ill", "well"])[truth], None),
        }
    )


def written(n_labels, name="t.csv", **options):
    patients(n_labels).to_csv(name, index=False, **options)
    return name


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Use fewer classifiers and draws."""
    from semisquares import AveragedClassifier
    from semisquares.labeling import _expecting
    from semisquares.tables import _suggesting

    def model():
        return AveragedClassifier("least_squares", representations=("linear",))

    monkeypatch.setattr(_suggesting, "AveragedClassifier", model)
    monkeypatch.setattr(_expecting, "DRAWS", 1)


SUGGEST = ("suggest", "t.csv", "--target", "state")


@pytest.mark.parametrize(
    ("n_labels", "outlook"),
    [
        (0, "There is no label yet"),
        (1, "There is no label of a second class yet"),
        (6, "6 labels of 2 classes are too few"),
        (40, "measured on 40 labeled rows that were left out"),
    ],
)
def test_rows_and_reasons_are_printed_and_what_the_labels_may_bring(semisquares, n_labels, outlook):
    written(n_labels)
    code, printed, errors = semisquares(*SUGGEST, "-n", "5")
    assert (code, errors) == (0, "")
    lines = printed.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("row  why"))
    rows = lines[start + 1 : start + 6]
    assert all(int(line.split()[0]) > n_labels for line in rows)
    assert all("P0" in line for line in rows)
    assert f"90 rows, {n_labels} with a label in 'state'" in lines[0]
    assert outlook in lines[-1]


def test_quiet_prints_only_the_rows(semisquares):
    written(40)
    code, printed, errors = semisquares(*SUGGEST, "-n", "5", "--quiet")
    assert (code, errors) == (0, "")
    assert len(printed.splitlines()) == 6


def test_json_has_the_rows_and_what_is_expected(semisquares):
    written(40)
    code, printed, _ = semisquares(*SUGGEST, "-n", "5", "--json")
    facts = json.loads(printed)
    assert code == 0
    assert len(facts["suggestions"]) == 5
    first = facts["suggestions"][0]
    assert set(first) == {"row", "reason", "score", "uncertainty", "novelty", "reach"}
    assert facts["expected"]["labels"] == 40
    assert facts["expected"]["low"] <= facts["expected"]["error_with_more"]
    assert facts["out"] is None


def test_json_without_an_expectation(semisquares):
    written(0)
    facts = json.loads(semisquares(*SUGGEST, "--json")[1])
    assert facts["expected"] is None
    assert facts["outlook"].startswith("There is no label yet")
    assert len(facts["suggestions"]) == 20


READERS = {
    "csv": pd.read_csv,
    "csv.gz": pd.read_csv,
    "tsv": lambda path: pd.read_csv(path, sep="\t"),
    "jsonl": lambda path: pd.read_json(path, lines=True),
    "parquet": pd.read_parquet,
    "feather": pd.read_feather,
}


@pytest.mark.parametrize("ending", READERS)
def test_the_rows_are_written_ready_to_be_filled_in(semisquares, ending):
    written(40)
    code, printed, _ = semisquares(*SUGGEST, "-n", "7", "-o", f"out.{ending}")
    found = READERS[ending](f"out.{ending}")
    assert code == 0
    assert f"7 rows to label: out.{ending}" in printed
    table = patients(40)
    assert list(found.columns) == [*table.columns, "state_row", "state_reason"]
    assert found["state"].isna().all()
    same = table.iloc[found["state_row"] - 1]
    for name in ("patient", "age", "pulse", "ward", "note"):
        assert found[name].tolist() == same[name].tolist()
    assert same["state"].isna().all()


def test_a_workbook_is_written(semisquares):
    pytest.importorskip("xlsxwriter")
    calamine = pytest.importorskip("python_calamine")
    written(40)
    assert semisquares(*SUGGEST, "-n", "3", "-o", "out.xlsx")[0] == 0
    rows = calamine.CalamineWorkbook.from_path("out.xlsx").get_sheet_by_index(0).to_python()
    assert len(rows) == 4
    assert rows[0][-3:] == ["state", "state_row", "state_reason"]


def test_filled_in_rows_bring_their_labels_back(semisquares):
    written(40)
    semisquares(*SUGGEST, "-n", "4", "-o", "out.csv", "--quiet")
    filled, table = pd.read_csv("out.csv"), patients(40)
    table.loc[filled["state_row"] - 1, "state"] = "ill"
    table.to_csv("t.csv", index=False)
    facts = json.loads(semisquares(*SUGGEST, "-n", "4", "--json")[1])
    assert facts["labeled"] == 44
    assert {one["row"] for one in facts["suggestions"]}.isdisjoint(filled["state_row"])


def test_standard_input_and_output(semisquares):
    data = patients(40).to_csv(index=False).encode()
    code, printed, errors = semisquares(
        "suggest", "-", "--target", "state", "-n", "3", "-o", "-", stdin=data
    )
    assert code == 0
    assert len(pd.read_csv(io.StringIO(printed))) == 3
    assert "rows to label" in errors


def test_groups_get_a_second_suggestion_after_all_have_one(semisquares):
    written(10)
    facts = json.loads(semisquares(*SUGGEST, "-n", "2", "--group", "ward", "--json")[1])
    wards = patients(10)["ward"]
    assert {wards[one["row"] - 1] for one in facts["suggestions"]} == {"north", "south"}


def test_fewer_rows_than_asked_for_are_reported(semisquares):
    written(86)
    _, printed, _ = semisquares(*SUGGEST)
    assert "There are no more than 4 different rows to label." in printed


def test_the_suggestions_do_not_depend_on_the_seed(semisquares):
    written(40)
    found = [
        json.loads(semisquares(*SUGGEST, "--json", "--seed", seed)[1])["suggestions"]
        for seed in (0, 1)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("n_labels", "words", "needs"),
    [
        (90, (), "Every row of t.csv has a label in column 'state'"),
        (40, ("-n", "0"), "-n"),
        (40, ("-n", "1001"), "-n"),
        (40, ("-o", "out.doc"), "out.doc"),
        (40, ("-o", "t.csv"), "is a file that the command reads"),
        (40, ("-o", "-", "--json"), "standard output"),
        (40, ("--group", "hospital"), "hospital"),
    ],
)
def test_wrong_use_of_suggest_gets_one_sentence(semisquares, n_labels, words, needs):
    written(n_labels)
    assert needs in refused(semisquares(*SUGGEST, "--quiet", *words))


def test_a_table_with_a_column_of_that_name_is_refused(semisquares):
    patients(40).assign(state_reason="x").to_csv("t.csv", index=False)
    assert "'state_reason'" in refused(semisquares(*SUGGEST, "--quiet", "-o", "out.csv"))
