"""What a command imports before it works: users wait for it every time."""

import json
import subprocess
import sys

import pandas as pd
import pytest

from semisquares.tables import fit_table, prepare, save

SLOW = {"dask", "joblib", "matplotlib", "onnx", "sklearn", "scipy.optimize", "scipy.stats", "skops"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two models, one of texts, and rows for them."""
    folder = tmp_path_factory.mktemp("model")
    frame = pd.DataFrame(
        {
            "size": [1, 2, 3, 7, 8, 9],
            "age": [4, 2, 4, 2, 3, 1],
            "kind": ["a", "a", "a", "b", "b", "b"],
        }
    )
    options = {"method": "ridge", "alpha": 1.0, "folds": 2, "repeats": 1}
    save(fit_table(prepare(frame, "kind"), **options), folder / "kind.model")
    frame[["size", "age"]].to_csv(folder / "rows.csv", index=False)
    words = ["red shirt of wool", "blue shoe", "red shoe of felt", "blue shirt", "wool and felt"]
    frame = pd.DataFrame({"item": words * 2, "size": range(10), "kind": ["a", "b"] * 5})
    texts = prepare(frame, "kind", kinds={"item": "text"})
    save(fit_table(texts, **options), folder / "texts.model")
    frame[["item", "size"]].to_csv(folder / "texts.csv", index=False)
    return folder


SCRIPT = """
import json, sys
from semisquares.cli import main

for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as end:
        assert not end.code, words
    print("modules:", *sys.modules, file=sys.stderr)
"""

PREDICT = ("predict", "kind.model", "rows.csv", "-o", "out.csv")
COMMANDS = {
    "datasets": ("datasets",),
    "inspect": ("inspect", "kind.model"),
    "predict": PREDICT,
    "explain": (*PREDICT, "--explain", "2"),
    "texts": ("predict", "texts.model", "texts.csv", "-o", "out.csv"),
    "picture": ("inspect", "kind.model", "--plot", "features.png"),
}


@pytest.fixture(scope="module")
def imported(folder):
    """Modules imported after each command, if one process runs them all one after the other."""
    process = [sys.executable, "-c", SCRIPT, json.dumps(list(COMMANDS.values()))]
    done = subprocess.run(process, cwd=folder, capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("modules:")]
    found = [set(line.split()) for line in lines]
    return dict(zip(COMMANDS, found, strict=True))


def test_data_sets_are_listed_without_what_loads_them(imported):
    assert "semisquares" in imported["datasets"]
    assert imported["datasets"] & SLOW == set()


def test_a_stored_model_is_used_without_what_fitted_it(imported):
    assert "pandas" in imported["predict"]
    assert imported["explain"] & SLOW == set()


def test_texts_are_encoded_without_what_fitted_the_model(imported):
    assert "scipy.sparse" in imported["texts"]
    assert imported["texts"] & SLOW == set()


def test_a_picture_is_drawn_with_matplotlib(imported):
    assert "matplotlib" in imported["picture"]


def test_what_draws_pictures_is_imported_without_what_fits():
    script = "import sys; from semisquares.plotting import render, style; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "semisquares.plotting" in done.stdout.split()
    assert set(done.stdout.split()) & SLOW == set()


def test_a_soft_classifier_needs_no_more_of_scikit_learn_than_a_ridge_classifier():
    script = (
        "import sys; from sklearn.linear_model import RidgeClassifier\n"
        "before = set(sys.modules)\n"
        "from semisquares import SoftLabelClassifier\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert set(done.stdout.split()) - sys.stdlib_module_names == {"semisquares"}
