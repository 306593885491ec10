"""Files are written whole or not at all."""

import os
import signal
import subprocess
import sys
import textwrap
from itertools import pairwise

import pytest

from semisquares._utils.files import atomic_write
from support.systems import posix_only


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def begin_and_stop(path):
    with atomic_write(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        begin_and_stop(path)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.bin"]


@posix_only
def test_permissions_of_an_old_file_are_kept_and_a_new_one_gets_the_default(tmp_path):
    old, new, usual = (tmp_path / name for name in ("old", "new", "usual"))
    old.write_bytes(b"")
    old.chmod(0o640)
    usual.write_bytes(b"")
    for path in (old, new):
        with atomic_write(path) as file:
            file.write(b"x")
    assert old.stat().st_mode & 0o777 == 0o640
    assert new.stat().st_mode == usual.stat().st_mode


@posix_only
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


@posix_only
@pytest.mark.parametrize("links", [("a", "a"), ("a", "b", "a")], ids=["itself", "each other"])
def test_a_circular_link_is_refused(tmp_path, links):
    for name, target in pairwise(links):
        (tmp_path / name).symlink_to(target)
    with pytest.raises(OSError, match="symbolic links") as caught, atomic_write(tmp_path / "a"):
        pass
    assert caught.value.filename == str(tmp_path / "a")
    assert names(tmp_path) == sorted(set(links))


@posix_only
def test_the_target_of_a_dangling_link_is_created(tmp_path):
    (tmp_path / "link").symlink_to("new")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new").read_bytes() == b"new"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere paths are shorter")
def test_folders_of_any_depth_are_created_and_removed_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        begin_and_stop("f/" * 1500 + "a.bin")
    assert names(tmp_path) == []


@posix_only
def test_the_leftovers_of_a_killed_writer_are_removed_by_the_next(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    code = """
        import os, signal, sys
        from semisquares._utils.files import atomic_write
        with atomic_write(sys.argv[1]) as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    with atomic_write(path) as file:
        file.write(b"new")
    assert names(tmp_path) == ["a.bin"]
    assert path.read_bytes() == b"new"


def test_the_file_of_a_running_writer_is_not_removed(tmp_path):
    path = tmp_path / "a.bin"
    with atomic_write(path) as first:
        first.write(b"first")
        with atomic_write(path) as second:
            second.write(b"second")
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["a.bin"]


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="it is a folder"), atomic_write(tmp_path):
        pass
    assert os.listdir(tmp_path) == []


@posix_only
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(path) as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert path.is_fifo()


def test_a_folder_created_for_a_failed_write_is_removed(tmp_path):
    (tmp_path / "old").mkdir()
    with pytest.raises(KeyboardInterrupt):
        begin_and_stop(tmp_path / "old" / "new" / "newer" / "a.bin")
    assert names(tmp_path) == ["old"]
    assert names(tmp_path / "old") == []
