"""Standard streams that are closed, full, narrow, or abandoned by their reader."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from semisquares.cli import _output, compare
from semisquares.tables.compare.comparison import Estimate
from support.command_line import PATIENCE, begin, complaints
from support.comparisons import binary
from support.forked_commands import begin_forked

FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
FIT = ("fit", "t.csv", "--target", "state", "--method", "soft", "--alpha", "1", "--weight", "1",
       "--jobs", "1")  # fmt: skip


@pytest.fixture
def table(tmp_path):
    """A table of two classes whose model is larger than any buffer."""
    names = [f"c{j}" for j in range(60)]
    rest = [",".join(str((i * j) % 11) for j in range(1, 60)) for i in range(40)]
    lines = [f"{i % 3 + 2 * (i % 2)},{cells},{'xy'[i % 2]}" for i, cells in enumerate(rest)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join([*names, "state"]), *lines, ""]))
    return path


def on_a_full_disk(*words, folder, start=begin):
    with open("/dev/full", "w") as full:
        process = start(*words, folder=folder, stdout=full)
        _, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, errors


SENTENCE = "Error: No space left on device writing standard output; redirect it to another place.\n"


@FULL
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["completion", "bash"]])
def test_a_full_standard_output_is_reported_in_one_sentence(tmp_path, words):
    assert on_a_full_disk(*words, folder=tmp_path) == (2, SENTENCE)


@FULL
def test_a_model_on_a_full_standard_output_is_reported_in_one_sentence(table, tmp_path):
    words = (*FIT, "-o", "-", "--quiet")
    assert on_a_full_disk(*words, folder=tmp_path, start=begin_forked) == (2, SENTENCE)


@FULL
def test_a_full_standard_error_does_not_change_the_exit_code(tmp_path):
    with open("/dev/full", "w") as full:
        process = begin("nonsense", folder=tmp_path, stderr=full)
        printed, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, printed) == (2, "")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize(
    ("closed", "code", "printed", "errors"),
    [
        (">&-", 2, "", "Error: Standard output is closed; open it, or redirect it to a file.\n"),
        (">&- 2>&-", 2, "", ""),
        ("2>&-", 0, "semisquares", ""),
        ("<&-", 0, "semisquares", ""),
    ],
)
def test_closed_streams_cause_at_most_one_sentence(tmp_path, closed, code, printed, errors):
    script = f'"$0" -m semisquares --version {closed}'
    done = subprocess.run(["sh", "-c", script, sys.executable], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, errors)
    assert done.stdout.startswith(printed)


def test_the_model_is_written_even_if_the_reader_of_the_output_leaves(table, tmp_path):
    process = begin_forked(*FIT, "-o", "m", folder=tmp_path)
    process.stdout.close()
    with process.stderr as stream:
        errors = stream.read()
    said = [line for line in complaints(errors).splitlines() if not line.startswith("Note: ")]
    assert (process.wait(timeout=PATIENCE), said) == (0, [])
    assert (tmp_path / "m").exists()


# -- narrow terminals ---------------------------------------------------------------------------


def printed_rivals(found, width, capsys):
    output = _output.Output()
    output.console = Console(width=width, highlight=False, markup=False, soft_wrap=True)
    compare._print_rivals(output, found)
    return capsys.readouterr().out.splitlines()[2:]


@pytest.mark.parametrize("width", [40, 50, 60, 80, 100, 120])
def test_the_names_of_all_rivals_fit_in_any_terminal(capsys, width):
    found = binary()
    lines = printed_rivals(found, width, capsys)
    table = lines[1 : lines.index("")]
    start = lines[0].index("error") - 1
    names = " ".join(line[:start].strip() for line in table)
    assert names == " ".join(rival.label for rival in found.rivals)
    assert all(len(line) <= width for line in table)
    assert all("…" not in line for line in table)


def test_columns_that_do_not_fit_are_listed(capsys):
    lines = printed_rivals(binary(), 60, capsys)
    assert lines[0].split("  ")[-1].strip() == "points better"
    assert lines[-1] == "A wider terminal shows more: balanced acc.; AUC; squared loss."


def test_the_reason_why_a_rival_failed_is_below_the_table(capsys):
    found = binary()
    first, *others = found.rivals
    why = "5 of 5 fits failed: There is no way to do this with so few rows."
    found = replace(found, rivals=(*others, replace(first, failed=why)))
    lines = printed_rivals(found, 60, capsys)
    assert lines[lines.index("") - 1].split() == ["averaged", "classifier", "failed"]
    assert f"averaged classifier failed: {why}" in lines


def test_one_repeat_is_singular_and_a_gain_of_zero_has_no_sign(capsys):
    found = binary(repeats=1)
    none = replace(found.rivals[1], gains={"accuracy": Estimate(-0.0001, -0.033, 0.033)})
    output = _output.Output()
    compare._print_rivals(output, replace(found, rivals=(found.rivals[0], none, *found.rivals[2:])))
    printed = capsys.readouterr().out
    assert "5 folds × 1 repeat, 95 %" in printed
    assert " 0.0 (−3.3 to +3.3) " in printed
