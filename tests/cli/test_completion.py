"""Tab completion: what is completed, and that no numerical library is imported for it."""

import os
import subprocess
import sys

import pytest

import semisquares
from semisquares.cli import fit, reproduce
from semisquares.paper.figures import PRESETS
from semisquares.tables.models.fitting import METHODS

HEAVY = {"joblib", "matplotlib", "numpy", "pandas", "pyarrow", "rich", "scipy", "sklearn"}


def tab(*words):
    """Return the completions of the last word in bash, as pairs of type and text."""
    env = {"_SEMISQUARES_COMPLETE": "bash_complete", "COMP_CWORD": str(len(words))}
    env |= {**os.environ, **env, "COMP_WORDS": " ".join(["semisquares", *words])}
    command = [sys.executable, "-m", "semisquares"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return [tuple(line.split(",", 1)) for line in done.stdout.splitlines()]


def test_commands_and_options_are_completed():
    assert tab("p") == [("plain", "predict")]
    assert ("plain", "--target") in tab("compare", "--t")


def test_choices_are_completed():
    assert [text for _, text in tab("fit", "t.csv", "--method", "s")] == ["soft"]


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "da"),
        ("fit", "t.csv", "-o", "da"),
        ("fit", "t.csv", "--onnx", "da"),
        ("predict", "m", "da"),
        ("inspect", "m", "--plot", "da"),
        ("export", "da"),
        ("reproduce", "--out", "da"),
    ],
    ids=" ".join,
)
def test_file_names_are_completed_by_the_shell(words):
    assert tab(*words) == [("file", "da")]


@pytest.mark.parametrize(
    ("words", "complete"),
    [
        ("--version", ""),
        ("--help", ""),
        ("fit --help", ""),
        ("compare --help", ""),
        ("reproduce --help", ""),
        ("", "fit t.csv --me"),
        ("", "compare da"),
        ("", "reproduce --preset q"),
    ],
)
def test_help_and_completion_import_no_numerical_library(words, complete):
    script = (
        "import atexit, sys; from semisquares.cli import main\n"
        "atexit.register(lambda: print(*sys.modules, sep='\\n', file=sys.stderr))\n"
        "main()"
    )
    env = {**os.environ, "COMP_WORDS": f"semisquares {complete}"}
    env |= {"COMP_CWORD": str(len(complete.split()))}
    env |= {"_SEMISQUARES_COMPLETE": "bash_complete"} if complete else {}
    command = [sys.executable, "-c", script, *words.split()]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stdout
    assert HEAVY.isdisjoint(done.stderr.splitlines())


def test_the_completed_choices_are_the_actual_ones():
    assert fit.METHODS == METHODS
    assert tuple(PRESETS) == reproduce.PRESETS


def test_the_package_has_its_classifiers_although_they_are_imported_late():
    assert set(semisquares.__all__) <= set(dir(semisquares))
    assert all(isinstance(getattr(semisquares, name), type) for name in semisquares.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = semisquares.Nothing
