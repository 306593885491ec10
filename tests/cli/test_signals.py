"""Ctrl-C and SIGTERM at any moment: one true sentence, the right exit code, no partial files."""

import os
import signal
import subprocess
import sys

import pytest

from support.command_line import PATIENCE, begin
from support.systems import posix_only

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
NOTHING = "Stopped; nothing was written."
GIVEN = ("--method", "soft", "--alpha", "1", "--weight", "1", "--jobs", "1", "--quiet")


@pytest.fixture
def table(tmp_path):
    """A small table of two classes that are almost separable."""
    lines = [f"{i},{i % 3 + 2 * (i % 2)},{'xy'[i % 2] * (i < 20)}" for i in range(40)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,state", *lines, ""]))
    return path


def fit(*more):
    return ("fit", "t.csv", "--target", "state", "-o", "m", *GIVEN, *more)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# -- during the work -----------------------------------------------------------------------------


@BOTH
def test_the_message_names_the_model_that_was_written(
    semisquares, table, tmp_path, monkeypatch, number
):
    monkeypatch.setattr("semisquares.cli.fit.load_onnx", lambda: None)
    monkeypatch.setattr(
        "semisquares.cli.fit.write_onnx", lambda *given: signal.raise_signal(number)
    )
    code, _, errors = semisquares(*fit("--onnx", "m.onnx"))
    assert code == 128 + number
    said = [line for line in errors.splitlines() if not line.startswith("Note: ")]
    assert said == ["Stopped; m was written, m.onnx was not."]
    assert names(tmp_path) == ["m", "t.csv"]


def test_the_message_does_not_name_a_file_from_before(semisquares, table, tmp_path, monkeypatch):
    (tmp_path / "m").write_text("old")
    monkeypatch.setattr(
        "semisquares.tables.models.fitting.fit_prepared",
        lambda *given, **more: signal.raise_signal(signal.SIGINT),
    )
    code, _, errors = semisquares(*fit())
    assert (code, errors) == (130, f"{NOTHING}\n")
    assert (tmp_path / "m").read_text() == "old"


@BOTH
def test_a_signal_that_became_another_error_is_still_a_signal(
    semisquares, table, monkeypatch, number
):
    def broken(*given, **more):
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise ImportError("an extension module could not be initialised") from None

    monkeypatch.setattr("semisquares.tables.models.fitting.fit_prepared", broken)
    code, _, errors = semisquares(*fit())
    assert (code, errors) == (128 + number, f"{NOTHING}\n")


@BOTH
def test_a_stopped_prediction_leaves_no_file_and_no_folder(
    semisquares, table, tmp_path, monkeypatch, number
):
    assert semisquares(*fit())[0] == 0

    def rows(*given, **more):
        yield signal.raise_signal(number)

    monkeypatch.setattr("semisquares.tables._predicting.predict_rows", rows)
    code, _, errors = semisquares("predict", "m", "t.csv", "-o", "new/out.csv", "--quiet")
    assert (code, errors) == (128 + number, f"{NOTHING}\n")
    assert names(tmp_path) == ["m", "t.csv"]


def test_the_message_says_that_standard_output_may_be_incomplete(semisquares, table, monkeypatch):
    monkeypatch.setattr(
        "semisquares.tables.models.fitting.fit_prepared",
        lambda *given, **more: signal.raise_signal(signal.SIGINT),
    )
    words = ("fit", "t.csv", "--target", "state", "-o", "-", *GIVEN)
    code, _, errors = semisquares(*words)
    assert code == 130
    assert errors == "Stopped; standard output may be incomplete.\n"


# -- real processes -----------------------------------------------------------------------------

STUBBORN = """
import time
print("importing", flush=True)
try:
    time.sleep(3600)
except BaseException:
    raise ImportError("interrupted") from None
"""


@posix_only
@BOTH
def test_imports_are_stopped_at_once_even_if_they_catch_the_exception(tmp_path, number):
    (tmp_path / "onnx.py").write_text(STUBBORN)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *_paths()])}
    process = begin("export", "m", "-o", "m.onnx", folder=tmp_path, env=env)
    assert process.stdout.readline() == "importing\n"
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (128 + number, f"{NOTHING}\n")


THROUGH_EXEC = """
import signal

from semisquares import cli

def command(handler):
    handler.importing = False
    exec("signal.raise_signal(signal.SIGINT)")

cli._command = command
cli.main()
"""


def test_the_exit_code_is_130_even_if_python_would_end_itself_with_the_signal(tmp_path):
    (tmp_path / "through_exec.py").write_text(THROUGH_EXEC)
    command = [sys.executable, "-m", "through_exec"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, f"{NOTHING}\n")


def _paths():
    return filter(None, [os.environ.get("PYTHONPATH")])


STRUCK = """
import itertools, os, sys

from semisquares import cli

calls, moment, number = itertools.count(1), int(sys.argv.pop(1)), int(sys.argv.pop(1))
sys.setprofile(lambda *_: next(calls) == moment and os.kill(os.getpid(), number))
cli.main()
"""


@posix_only
@pytest.mark.parametrize(
    ("moment", "number"),
    [(20_000, signal.SIGTERM), (1_000_000, signal.SIGINT), (2_500_000, signal.SIGTERM)],
    ids=["early", "later", "late"],
)
def test_at_any_moment_a_command_ends_in_one_sentence(table, tmp_path, moment, number):
    """A moment is a number of function calls, not a time: machines differ in speed and load."""
    words = ("compare", "t.csv", "--target", "state", "--repeats", "1000", "--jobs", "1")
    command = [sys.executable, "-c", STRUCK, str(moment), str(int(number)), *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (128 + number, f"{NOTHING}\n")
    assert names(tmp_path) == ["t.csv"]
