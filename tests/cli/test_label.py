"""``semisquares label`` from start to end, without a browser."""

import json
import shlex
import signal
from importlib import import_module
from importlib.util import find_spec
from subprocess import STDOUT

import pandas as pd
import pytest

from semisquares.cli._signals import Interrupt
from semisquares.labeling._updates import SameProcess
from support.command_line import begin, refused
from support.labeling_pages import answer, page_of, write_doubtful_fish, write_fish
from support.labeling_server import labeling
from support.systems import posix_only

needs_server = pytest.mark.skipif(
    find_spec("uvicorn") is None or find_spec("starlette") is None,
    reason="starlette and uvicorn are not installed: the extra [label]",
)
FISH = ("fish.csv", "--target", "kind")
OUT, JOURNAL = "fish.labeled.csv", "fish.labeled.csv.journal"


@pytest.fixture
def truth(tmp_path):
    """Write a table without labels into the folder; return its true labels."""
    return write_fish(tmp_path / "fish.csv")


@pytest.fixture
def label(semisquares, monkeypatch):
    """Return a function that types in the command, as if all packages were there."""
    monkeypatch.setattr("importlib.util.find_spec", lambda package: True)
    return lambda *words: semisquares("label", *words)


def labels_in(path):
    found = pd.read_csv(path)
    return {row: label for row, label in enumerate(found["kind"]) if isinstance(label, str)}


# -- before the page ------------------------------------------------------------------------------


def test_without_the_extra_the_command_says_what_installs_it(semisquares, monkeypatch):
    def find_spec(package):
        return None if package in ("starlette", "uvicorn") else True

    monkeypatch.setattr("importlib.util.find_spec", find_spec)
    assert refused(semisquares("label", *FISH)) == (
        "Error: This command needs starlette and uvicorn; run pip install "
        "'semisquares[cli,tables,label]'.\n"
    )


def test_an_output_without_a_journal_is_not_replaced(label, truth, tmp_path):
    (tmp_path / OUT).write_text("precious")
    assert "exists already, without a journal" in refused(label(*FISH))
    assert (tmp_path / OUT).read_text() == "precious"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("fish.csv", "--target", "sort"), "name their classes: --class yes --class no"),
        ((*FISH, "-o", "fish.csv"), "is a file that the command reads"),
        ((*FISH, "-o", "-"), "beside which no journal can be"),
        ((*FISH, "-o", "x.ods"), "cannot be written here"),
        (("*.csv", "--target", "kind"), "name the file to write with -o"),
        (("-", "--target", "kind"), "name the file to write with -o"),
        ((*FISH, "--class", "NA"), "means that there is no label"),
        ((*FISH, "--group", "pond"), "no column 'pond'"),
        ((*FISH, "--delete-journal"), "There is no journal"),
        (("no.csv", "--target", "kind"), "There is no file no.csv"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(label, truth, words, why, tmp_path):
    assert why in refused(label(*words))
    assert [path.name for path in tmp_path.iterdir()] == ["fish.csv"]


def test_a_journal_of_another_version_of_the_table_is_refused(label, truth, tmp_path):
    (tmp_path / JOURNAL).write_text(
        '{"semisquares_journal": 1, "target": "kind", "rows": 60, "content": "other"}\n'
    )
    assert "another table (its content differs)" in refused(label(*FISH))


# -- with the page --------------------------------------------------------------------------------


@posix_only
@needs_server
def test_ctrl_c_writes_the_labels_and_says_where(truth, tmp_path):
    before = (tmp_path / "fish.csv").read_bytes()
    with labeling(tmp_path, *FISH, start=begin) as running:
        rows = [running.label(truth[running.state()["row"]["index"]]) for _ in range(6)]
        code, printed, errors = running.stop()
    assert (code, errors) == (0, "")
    assert f"6 rows labeled: {OUT}" in printed
    assert labels_in(tmp_path / OUT) == {row: truth[row] for row in rows}
    assert (tmp_path / "fish.csv").read_bytes() == before
    assert (tmp_path / JOURNAL).exists()


@needs_server
def test_finish_on_the_page_ends_the_command(truth, tmp_path):
    with labeling(tmp_path, *FISH, "--json", stderr=STDOUT) as running:
        row = running.label("eel")
        assert running.request("finish", {})[0] == 200
        code, printed, _ = running.end()
    assert code == 0
    facts = json.loads(printed[printed.index("{") :])
    assert facts == {
        "labels": 1, "confirmed": 0, "corrected": 0, "counts": {"eel": 1}, "out": OUT,
        "journal": JOURNAL,
    }  # fmt: skip
    assert labels_in(tmp_path / OUT) == {row: "eel"}


@posix_only
@needs_server
def test_nothing_is_left_if_nothing_was_labeled(truth, tmp_path):
    with labeling(tmp_path, *FISH) as running:
        code, printed, _ = running.stop()
    assert code == 0
    assert "nothing was written" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["fish.csv"]


@needs_server
def test_ctrl_c_before_the_address_is_printed_ends_as_later(
    semisquares, truth, tmp_path, monkeypatch
):
    def interrupted(*args, **options):
        raise Interrupt

    monkeypatch.setattr(import_module("semisquares.cli.label"), "_announce", interrupted)
    code, printed, errors = semisquares("label", *FISH, "--no-browser")
    assert (code, errors) == (0, "")
    assert "nothing was written" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["fish.csv"]


@posix_only
@needs_server
def test_sigterm_writes_the_labels_too(truth, tmp_path):
    with labeling(tmp_path, *FISH) as running:
        row = running.label("eel")
        code, _, _ = running.stop(signal.SIGTERM)
    assert code == 143
    assert labels_in(tmp_path / OUT) == {row: "eel"}


@posix_only
@needs_server
def test_a_killed_session_continues_and_loses_nothing(truth, tmp_path):
    given = {}
    for kill in range(2):  # tests/labeling has more
        with labeling(tmp_path, *FISH) as running:
            for name in ("eel", "carp")[: 1 + kill % 2]:
                given[running.label(name)] = name
            running.process.kill()
            running.end()
    assert not (tmp_path / OUT).exists()
    with labeling(tmp_path, *FISH) as running:
        assert running.said[0] == f"Continuing with 3 answers from {JOURNAL}."
        running.stop()
    assert labels_in(tmp_path / OUT) == given


@posix_only
@needs_server
def test_a_second_process_is_refused_while_the_first_runs(semisquares, truth, tmp_path):
    with labeling(tmp_path, *FISH) as running:
        row = running.label("eel")
        second = semisquares("label", *FISH, "--no-browser")
        assert "Another process has the journal" in refused(second)
        running.stop()
    assert labels_in(tmp_path / OUT) == {row: "eel"}


@needs_server
def test_delete_journal_saves_what_is_not_saved_and_deletes_it(semisquares, truth, tmp_path):
    with labeling(tmp_path, *FISH) as running:
        row = running.label("eel")
        running.process.kill()
        running.end()
    code, printed, _ = semisquares("label", *FISH, "--delete-journal")
    assert code == 0
    assert f"{JOURNAL} was deleted" in printed
    assert labels_in(tmp_path / OUT) == {row: "eel"}
    assert not (tmp_path / JOURNAL).exists()


@posix_only
@needs_server
def test_a_new_column_and_groups(truth, tmp_path):
    words = ("fish.csv", "--target", "sort", "--class", "a", "--class", "b", "--group", "water")
    with labeling(tmp_path, *words) as running:
        state = running.state()
        assert [one["name"] for one in state["classes"]] == ["a", "b"]
        row = running.label("b")
        running.stop()
    assert pd.read_csv(tmp_path / OUT)["sort"].tolist()[row] == "b"


# -- reviewing labels -----------------------------------------------------------------------------

REVIEW = (*FISH, "--order", "doubtful")


def review(running, label=None):
    """Answer the current row with a label, or with its own; return row and label."""
    row = running.state()["row"]
    label = label or row["review"]["given"]
    return running.label(label), label


@needs_server
def test_a_killed_review_continues_and_asks_nothing_twice(tmp_path):
    truth = write_doubtful_fish(tmp_path / "fish.csv")
    before = (tmp_path / "fish.csv").read_bytes()
    with labeling(tmp_path, *REVIEW) as running:
        first = running.state()["row"]["index"]
        corrected = review(running, truth[first])
        confirmed = review(running)
        running.process.kill()
        running.end()
    with labeling(tmp_path, *REVIEW) as running:
        assert f"Continuing with 2 answers from {JOURNAL}." in running.said
        state = running.state()
        assert state["row"] is None or state["row"]["index"] not in (corrected[0], confirmed[0])
        assert state["progress"]["detail"] == "1 confirmed, 1 corrected"
        code, printed, _ = running.stop()
    assert code == 0
    assert f"2 labels reviewed, 1 confirmed, 1 corrected: {OUT}" in printed
    expected = labels_in(tmp_path / "fish.csv") | dict([corrected])
    assert labels_in(tmp_path / OUT) == expected
    marks = pd.read_csv(tmp_path / OUT)["kind_reviewed"].dropna()
    assert marks.to_dict() == {first: labels_in(tmp_path / "fish.csv")[first], **dict([confirmed])}
    assert (tmp_path / "fish.csv").read_bytes() == before


@needs_server
def test_the_page_opens_what_review_finds_by_the_command_that_it_names(semisquares, tmp_path):
    write_doubtful_fish(tmp_path / "fish.csv")
    words = (*FISH, "--group", "tag", "--drop", "noise", "--jobs", "1", "--json")
    facts = json.loads(semisquares("review", *words)[1])
    command = shlex.split(facts["next"])
    assert command[:2] == ["semisquares", "label"]
    assert command[-2:] == ["--order", "doubtful"]
    with labeling(tmp_path, *command[2:]) as running:
        shown = []
        while (row := running.state()["row"]) and len(shown) < len(facts["doubtful"]):
            shown.append((row["index"] + 1, row["review"]["given"]))
            assert running.label(row["review"]["given"]) == row["index"]
        running.stop()
    assert shown == [(one["row"], one["given"]) for one in facts["doubtful"]]


@needs_server
def test_without_a_doubtful_label_one_sentence_says_so(semisquares, tmp_path, monkeypatch):
    monkeypatch.setattr("semisquares.labeling._worker.WorkerProcess", SameProcess)
    write_doubtful_fish(tmp_path / "fish.csv", wrong=())
    code, printed, _ = semisquares("label", *REVIEW, "--no-browser")
    assert code == 0
    assert printed.startswith("None of the 40 labels in 'kind' contradicts its row")
    assert [path.name for path in tmp_path.iterdir()] == ["fish.csv"]


@needs_server
@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([None] * 60, "no label"),
        (["eel"] * 20 + [None] * 40, "labels of one class only, 'eel' (20 rows)"),
    ],
)
def test_labels_that_cannot_be_reviewed_are_refused(semisquares, tmp_path, labels, why):
    write_fish(tmp_path / "fish.csv")
    frame = pd.read_csv(tmp_path / "fish.csv")
    frame.assign(kind=labels).to_csv(tmp_path / "fish.csv", index=False)
    assert why in refused(semisquares("label", *REVIEW, "--no-browser"))
    assert [path.name for path in tmp_path.iterdir()] == ["fish.csv"]


@needs_server
def test_labels_of_one_class_in_the_journal_cannot_be_reviewed_either(semisquares, truth, tmp_path):
    page = page_of(tmp_path / "fish.csv", out=tmp_path / OUT)
    answer(page, label="eel")
    page.session._journal.close()
    before = (tmp_path / JOURNAL).read_bytes()
    printed = semisquares("label", *REVIEW, "--no-browser")
    assert "fewer than two classes" in refused(printed)
    assert (tmp_path / JOURNAL).read_bytes() == before
