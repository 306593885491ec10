"""What releases have stored is read, predicts the same, and finds its names."""

import gzip
import inspect
import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tools import store_release

import semisquares
from semisquares.tables import read
from semisquares.tables.models.files import loads
from semisquares.tables.models.predictors import PREDICTORS

STORED = Path(__file__).parent / "stored"
FOLDERS = sorted(STORED.iterdir())
MODELS = [path for folder in FOLDERS for path in sorted(folder.glob("*.model.gz"))]


def of_version(path):
    return path.relative_to(STORED).as_posix()


def parsed(path):
    return json.loads(path.read_text(encoding="utf-8"))


def stored_model(path):
    return loads(gzip.decompress(path.read_bytes()), path.name)


@pytest.mark.parametrize("path", MODELS, ids=of_version)
def test_a_stored_model_predicts_what_was_computed_without_it(path):
    expected = parsed(path.parent / "expected.json")[path.name.removesuffix(".model.gz")]
    rows = read(path.parent / "new_rows.csv")
    found = stored_model(path).predict(rows)
    assert found.labels.tolist() == expected["labels"]
    np.testing.assert_allclose(found.probabilities, expected["probabilities"], atol=1e-9)


@pytest.mark.parametrize("folder", FOLDERS, ids=of_version)
def test_every_type_of_predictor_is_stored(folder):
    types = {stored_model(path).classifier.type for path in folder.glob("*.model.gz")}
    assert types == set(PREDICTORS)


@pytest.mark.parametrize("folder", FOLDERS, ids=of_version)
def test_the_command_predicts_with_a_stored_model(folder, semisquares):
    Path("averaged.model").write_bytes(gzip.decompress((folder / "averaged.model.gz").read_bytes()))
    rows = folder / "new_rows.csv"
    code, _, errors = semisquares("predict", "averaged.model", rows, "-o", "predicted.csv")
    assert code == 0, errors
    labels = parsed(folder / "expected.json")["averaged"]["labels"]
    assert read("predicted.csv")["fruit_predicted"].tolist() == labels


@pytest.mark.parametrize("folder", FOLDERS, ids=of_version)
def test_public_names_and_their_parameters_are_kept(folder):
    for name, parameters in parsed(folder / "names.json")["python"].items():
        module, _, last = name.rpartition(".")
        thing = getattr(import_module(module), last)
        now = set(inspect.signature(thing).parameters) if callable(thing) else set()
        assert set(parameters) <= now, name


@pytest.mark.parametrize("folder", FOLDERS, ids=of_version)
def test_commands_and_their_options_are_kept(folder):
    now = store_release.commands()
    for command, options in parsed(folder / "names.json")["commands"].items():
        assert set(options) <= set(now[command]), command


def test_a_release_has_stored_its_files():
    released = {version for version in [semisquares.__version__] if "dev" not in version}
    assert released <= {folder.name for folder in FOLDERS}


def test_names_that_are_stored_are_those_of_the_reference():
    names = {name for _, name in store_release.public_names()}
    assert {"AveragedClassifier", "fit_table", "load", "plot_decision", "suggest"} <= names


def test_what_a_release_has_stored_is_not_written_again(tmp_path, monkeypatch):
    monkeypatch.setattr(store_release, "STORED", tmp_path)
    monkeypatch.setattr(semisquares, "__version__", "0.1.0")
    (tmp_path / "0.1.0").mkdir()
    with pytest.raises(SystemExit, match="later versions must read it"):
        store_release.main()
