"""Paths are checked before the work, and the checks leave nothing behind."""

import os
import sys
from pathlib import Path

import pytest

from semisquares._utils.errors import UserError
from semisquares.cli import _paths
from support.command_line import refused
from support.systems import posix_only

TARGET = ("--target", "state")


@pytest.fixture
def folder(semisquares, tmp_path):
    """A folder with files that no command reads, as all of them are refused before."""
    for name in ("t.csv", "u.csv", "m"):
        (tmp_path / name).write_text(f"what is in {name}")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("t.csv")
    (tmp_path / "dangling").symlink_to("new")
    (tmp_path / "loop").symlink_to("loop")
    os.link(tmp_path / "m", tmp_path / "twin")
    return tmp_path


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


SAME = {
    "fit, the table": ("fit", "t.csv", *TARGET, "-o", "t.csv"),
    "fit, spelled in another way": ("fit", "t.csv", *TARGET, "-o", "folder/../t.csv"),
    "fit, through a link": ("fit", "t.csv", *TARGET, "-o", "link"),
    "fit, from a link": ("fit", "link", *TARGET, "-o", "t.csv"),
    "fit, one of a pattern": ("fit", "*.csv", *TARGET, "-o", "u.csv"),
    "fit, the table as ONNX": ("fit", "t.csv", *TARGET, "-o", "new", "--onnx", "t.csv"),
    "compare, the table": ("compare", "t.csv", *TARGET, "-o", "t.csv"),
    "predict, the model": ("predict", "m", "t.csv", "-o", "m"),
    "predict, the model by another name": ("predict", "m", "t.csv", "-o", "twin"),
    "predict, the table": ("predict", "m", "t.csv", "-o", "t.csv"),
    "export, the model": ("export", "m", "-o", "m"),
}


@pytest.mark.parametrize("words", SAME.values(), ids=SAME.keys())
def test_a_file_that_is_read_is_not_overwritten(semisquares, folder, words):
    before = content(folder)
    assert "is a file that the command reads" in refused(semisquares(*words))
    assert content(folder) == before


@pytest.mark.parametrize(
    ("out", "onnx"), [("new", "new"), ("new", "./new"), ("u.csv", "u.csv"), ("new", "dangling")]
)
def test_two_outputs_need_two_files(semisquares, folder, out, onnx):
    before = content(folder)
    words = ("fit", "t.csv", *TARGET, "-o", out, "--onnx", onnx)
    assert "-o and --onnx both name" in refused(semisquares(*words))
    assert content(folder) == before


UNWRITABLE = {
    "folder": "is a folder; give the name of a file in it",
    "new/": "is a folder",
    "t.csv/new": "t.csv is not a folder",
    "t.csv/new/newer": "t.csv is not a folder",
    "a" * 300: "File name too long writing ",
    "loop": "Too many levels of symbolic links writing ",
    "loop/new": "Too many levels of symbolic links writing ",
    "": "is empty; give the name of a file",
}


@pytest.mark.parametrize("out", UNWRITABLE)
@pytest.mark.parametrize(
    "words",
    [
        ("fit", "u.csv", *TARGET, "-o"),
        ("fit", "u.csv", *TARGET, "-o", "fine", "--onnx"),
        ("predict", "m", "u.csv", "-o"),
        ("export", "m", "-o"),
        ("compare", "u.csv", *TARGET, "-o"),
    ],
    ids=["fit", "onnx", "predict", "export", "compare"],
)
def test_an_unwritable_path_is_refused_before_the_work(semisquares, folder, words, out):
    before = content(folder)
    assert UNWRITABLE[out] in refused(semisquares(*words, out))
    assert content(folder) == before


@pytest.mark.parametrize("name", ["new.csv", "new.CSV.gz", "new.parquet", "new.xlsx", "u.csv"])
@pytest.mark.parametrize(
    ("words", "ending"),
    [
        (("fit", "t.csv", *TARGET, "-o"), ".model"),
        (("fit", "t.csv", *TARGET, "-o", "fine", "--onnx"), ".onnx"),
        (("compare", "t.csv", *TARGET, "-o"), ".html"),
        (("export", "m", "-o"), ".onnx"),
    ],
    ids=["fit", "onnx", "compare", "export"],
)
def test_only_tables_get_the_name_of_a_table(semisquares, folder, words, ending, name):
    before = content(folder)
    message = refused(semisquares(*words, name))
    assert f"{words[-1]} {name!r} is the name of a table" in message
    assert message.endswith(f"end it in {ending}.\n")
    assert content(folder) == before


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that is never writable")
@pytest.mark.parametrize(
    "words",
    [
        ("compare", "u.csv", *TARGET, "-o", "/proc/a.html"),
        ("inspect", "m", "--plot", "/proc/a.png"),
    ],
    ids=["compare", "inspect"],
)
def test_a_folder_without_write_access_is_refused_before_the_work(semisquares, folder, words):
    assert "No such file or directory writing " in refused(semisquares(*words))


def test_a_read_only_file_is_refused(semisquares, folder, monkeypatch):
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, *mode: path != "twin" and may(path, *mode))
    words = ("fit", "t.csv", *TARGET, "-o", "twin")
    assert "Permission denied writing -o 'twin'" in refused(semisquares(*words))


def test_checking_whether_a_folder_can_be_created_creates_none(semisquares, folder):
    words = ("fit", "none.csv", *TARGET, "-o", "new/newer/m", "--onnx", "other/m.onnx")
    assert "There is no file none.csv" in refused(semisquares(*words))
    assert not Path("new").exists()
    assert not Path("other").exists()


def test_onnx_is_not_written_to_standard_output(semisquares, folder):
    words = ("fit", "t.csv", *TARGET, "-o", "new", "--onnx", "-")
    assert "ONNX cannot be written to standard output; give --onnx" in refused(semisquares(*words))


@posix_only
def test_a_pipe_may_be_named_twice(semisquares, folder):
    os.mkfifo("pipe")
    words = ("fit", "none.csv", *TARGET, "-o", "pipe", "--onnx", "pipe")
    assert "There is no file none.csv" in refused(semisquares(*words))


# -- Windows ------------------------------------------------------------------------------------


def test_a_backslash_ends_a_folder_if_it_separates_folders(semisquares, folder, monkeypatch):
    monkeypatch.setattr(_paths, "_SEPARATORS", ("\\", "/"))
    for name in ("new\\", "new/"):
        words = ("fit", "t.csv", *TARGET, "-o", name)
        assert f"-o {name!r} is a folder" in refused(semisquares(*words))


def test_a_drive_that_does_not_exist_is_refused(semisquares, folder, monkeypatch):
    monkeypatch.setattr(os.path, "lexists", lambda path: False)
    monkeypatch.setattr(os.path, "isdir", lambda path: False)
    with pytest.raises(UserError, match="is not a folder, so no file can be in it"):
        _paths._check_writable("-o", "new")


def test_names_that_differ_in_case_are_one_file_if_the_system_says_so(
    semisquares, folder, monkeypatch
):
    monkeypatch.setattr(os.path, "normcase", str.lower)
    words = ("fit", "t.csv", *TARGET, "-o", "New.x", "--onnx", "new.X")
    assert "both name 'new.X'; give each its own file" in refused(semisquares(*words))
