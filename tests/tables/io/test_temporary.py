"""Chunks are stored in a private folder that does not outlive the run, nor the next one."""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import stat
import subprocess
import sys
from collections import namedtuple

import pytest

from semisquares.tables.io import TemporaryFolder, find, iter_chunks, remove_leftovers, split
from support.sentences import sentence
from support.systems import posix_only
from support.table_files import PLAIN, put

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def place(tmp_path):
    """An empty folder for temporary ones."""
    path = tmp_path / "temporary"
    path.mkdir()
    return path


def test_a_temporary_folder_is_for_its_owner_alone(place):
    folder = TemporaryFolder(str(place))
    path = folder.new_path(".csv")
    (made,) = place.iterdir()
    assert path.startswith(str(made))
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_no_folder_is_made_before_it_is_needed(place):
    TemporaryFolder(str(place))
    assert not list(place.iterdir())


def test_a_temporary_folder_is_removed_with_its_object_but_not_with_a_copy(place):
    folder = TemporaryFolder(str(place))
    put(place, os.path.relpath(folder.new_path(".csv"), place), PLAIN)
    copy = pickle.loads(pickle.dumps(folder))
    del copy
    gc.collect(1)  # of all objects would take long
    assert len(list(place.iterdir())) == 1
    del folder
    gc.collect(1)
    assert not list(place.iterdir())


@pytest.mark.parametrize("end", ["pass", pytest.param("raise ValueError", marks=pytest.mark.slow)])
def test_a_temporary_folder_is_removed_when_python_exits(place, end):
    run_with_folder(place, end)
    assert not list(place.iterdir())


@posix_only
def test_what_a_killed_process_has_left_is_removed_at_the_next_start(place):
    run_with_folder(place, "os.kill(os.getpid(), signal.SIGKILL)")
    (left,) = place.iterdir()
    other = place / left.name.replace("semisquares-", "semisquares-elsewhere")
    shutil.copytree(left, other)  # of another machine: whether its process still runs is unknown
    own = TemporaryFolder(str(place))
    kept = os.path.dirname(own.new_path(".csv"))
    assert sorted(map(str, place.iterdir())) == sorted([kept, str(other)])
    remove_leftovers(str(place))
    assert sorted(map(str, place.iterdir())) == sorted([kept, str(other)])


def run_with_folder(place, end):
    """Run a process that puts a file into a temporary folder and ends in some way."""
    script = (
        "import os, signal, sys\n"
        "from semisquares.tables.io import TemporaryFolder\n"
        f"folder = TemporaryFolder({str(place)!r})\n"
        "open(folder.new_path('.csv'), 'w').close()\n" + end
    )
    subprocess.run([sys.executable, "-c", script], capture_output=True)


def test_the_chunks_of_a_csv_are_removed_with_them(tmp_path, place):
    chunks = split(put(tmp_path, "a.csv", PLAIN), n_bytes=16, folder=str(place))
    (made,) = place.iterdir()
    assert sorted(os.listdir(made)) == ["000001.csv.parquet", "000002.csv.parquet"]
    assert [chunk.read()["age"].tolist() for chunk in chunks] == [[30], [41]]
    del chunks
    gc.collect(1)
    assert not list(place.iterdir())


def test_a_table_that_cannot_be_split_leaves_nothing(tmp_path, place):
    path = put(tmp_path, "a.csv", PLAIN + "1\n")
    assert "1 cell in line 4" in sentence(lambda: split(path, n_bytes=16, folder=str(place)))
    gc.collect(1)
    assert not list(place.iterdir())


def test_a_disk_without_space_for_the_chunks_is_refused_before_the_work(
    tmp_path, place, monkeypatch
):
    path = put(tmp_path, "a.csv", PLAIN)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(100, 80, 20))
    message = sentence(lambda: split(path, folder=str(place)))
    assert message == (
        f"{place} has 0.0 GB of free space, but the chunks of the table need about 0.0 GB there; "
        "make room, or save the table as Parquet, which needs none."
    )
    assert sentence(lambda: split(path)).endswith("make room, or set TMPDIR to a larger disk.")
    assert len(list(iter_chunks(find(path)))) == 1  # needs no space


def test_a_disk_that_fills_up_meanwhile_is_named(tmp_path, place, monkeypatch):
    path = put(tmp_path, "a.csv", PLAIN)
    free = iter([10**9, 1])
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(10**9, 0, next(free)))
    assert "0.0 GB of free space" in sentence(lambda: split(path, n_bytes=16, folder=str(place)))


def test_a_place_in_which_no_folder_can_be_made_is_named(tmp_path):
    path = put(tmp_path, "a.csv", PLAIN)
    message = sentence(lambda: split(path, folder=str(tmp_path / "a.csv")))
    assert message.startswith(f"A part of the path {path!r} is not a folder; make it writable")
