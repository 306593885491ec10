"""The Tab key: what it completes, and that it does not wait for numerical libraries."""

import os
import subprocess
import sys

import pytest

import semisquares
from semisquares.cli import fit, reproduce
from semisquares.paper.figures import PRESETS
from semisquares.tables.models.fitting import METHODS

HEAVY = {"joblib", "matplotlib", "numpy", "pandas", "pyarrow", "rich", "scipy", "sklearn", "skops"}


def tab(*words):
    """Return what bash is told at the last of these words: kind and text."""
    env = {"_SEMISQUARES_COMPLETE": "bash_complete", "COMP_CWORD": str(len(words))}
    env |= {**os.environ, **env, "COMP_WORDS": " ".join(["semisquares", *words])}
    command = [sys.executable, "-m", "semisquares"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return [tuple(line.split(",", 1)) for line in done.stdout.splitlines()]


def test_commands_and_options_are_completed():
    assert tab("p") == [("plain", "predict")]
    assert ("plain", "--target") in tab("compare", "--t")


def test_choices_are_completed():
    assert [text for _, text in tab("fit", "t.csv", "--method", "s")] == ["soft", "supervised"]


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
def test_names_of_files_are_left_to_the_shell(words):
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
def test_neither_help_nor_the_tab_key_waits_for_numerical_libraries(words, complete):
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


def test_what_is_completed_is_what_there_is():
    assert fit.METHODS == METHODS
    assert reproduce.PRESETS == PRESETS


def test_the_package_has_its_classifiers_though_they_are_imported_late():
    assert set(semisquares.__all__) <= set(dir(semisquares))
    assert all(isinstance(getattr(semisquares, name), type) for name in semisquares.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = semisquares.Nothing
