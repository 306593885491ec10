"""The journal: what was acknowledged is on disk, whatever happens to the process."""

import json
import os
import sys

import pytest

from semisquares._utils.errors import UserError
from semisquares.labeling import _journal
from semisquares.labeling._journal import Journal
from semisquares.labeling._session import LabelingSession
from support.labeling_process import ABOUT, N_ROWS, killed_after
from support.systems import posix_only

HERE = {"target": "kind"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fish.labeled.csv.journal"


def records(path):
    with Journal(path, HERE) as journal:
        return journal.records


def write(path, *found):
    with Journal(path, HERE) as journal:
        for record in found:
            journal.append(record)


def test_a_journal_keeps_its_records_in_order(path):
    write(path, {"a": 1}, {"b": "ä\nb"})
    write(path, {"c": None})
    assert records(path) == [{"a": 1}, {"b": "ä\nb"}, {"c": None}]


def test_every_record_is_a_line_of_json_below_what_it_is_about(path):
    write(path, {"a": 1})
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines == [{"semisquares_journal": 1, **HERE}, {"a": 1}]


def test_a_record_is_synced_before_append_returns(path, monkeypatch):
    synced = []
    with Journal(path, HERE) as journal:
        monkeypatch.setattr(os, "fsync", lambda file: synced.append(path.read_bytes()[-9:]))
        journal.append({"a": 1})
    assert synced == [b'{"a": 1}\n']


@pytest.mark.parametrize("rest", [b'{"b": 2', b'{"b": 2}', b"\0\0\0\n", b'"text"\n', b"\xff\n"])
def test_a_torn_last_line_is_removed(path, rest):
    write(path, {"a": 1})
    before = path.read_bytes()
    path.write_bytes(before + rest)
    assert records(path) == [{"a": 1}]
    assert path.read_bytes() == before


def test_every_prefix_of_a_journal_can_be_opened(path):
    write(path, {"a": 1}, {"b": "ä"})
    content = path.read_bytes()
    ends = [k for k in range(len(content)) if content[k : k + 1] == b"\n"]
    for size in range(len(content) + 1):
        path.write_bytes(content[:size])
        n_whole = sum(end < size for end in ends)
        assert len(records(path)) == max(0, n_whole - 1)


def test_a_damaged_line_in_the_middle_is_an_error_and_nothing_is_removed(path):
    write(path, {"a": 1}, {"b": 2}, {"c": 3})
    damaged = path.read_bytes().replace(b'{"a": 1}', b'{"a": 1!')
    path.write_bytes(damaged)
    with pytest.raises(UserError, match=r"Line 2 of the journal .* is damaged"):
        records(path)
    assert path.read_bytes() == damaged


def test_a_journal_about_another_table_is_refused_and_kept(path):
    write(path, {"a": 1})
    with pytest.raises(UserError, match=r"another table \(its target differs\)"):
        Journal(path, {"target": "other"})
    assert records(path) == [{"a": 1}]


@pytest.mark.parametrize("content", ['{"some": "thing"}\n', "my notes", "my notes\n", "{more"])
def test_a_file_that_is_not_a_journal_is_refused_and_kept(path, content):
    path.write_text(content)
    with pytest.raises(UserError, match="is not a journal that this version"):
        Journal(path, HERE)
    assert path.read_text() == content


def test_a_second_opener_is_refused_until_the_first_is_done(path):
    with Journal(path, HERE), pytest.raises(UserError, match="Another process has the journal"):
        Journal(path, HERE)
    Journal(path, HERE).close()


def test_nothing_is_written_to_a_closed_journal(path, tmp_path):
    journal = Journal(path, HERE)
    journal.close()
    with open(tmp_path / "other", "wb") as other:  # may get the same file descriptor
        with pytest.raises(UserError, match="is closed"):
            journal.append({"a": 1})
        journal.close()
        other.write(b"x")
    assert (tmp_path / "other").read_bytes() == b"x"
    assert records(path) == []


def test_a_failed_write_leaves_the_journal_as_before(path, monkeypatch):
    with Journal(path, HERE) as journal:
        journal.append({"a": 1})
        before = path.read_bytes()

        def half(file, content, write=os.write):
            if len(content) > 5:
                return write(file, content[:5])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(_journal.os, "write", half)
        with pytest.raises(UserError, match=r"No space left on device .*; make room"):
            journal.append({"b": 22222})
        assert path.read_bytes() == before
        monkeypatch.undo()
        journal.append({"c": 3})
    assert records(path) == [{"a": 1}, {"c": 3}]


def test_a_journal_in_a_folder_that_does_not_exist_creates_it(tmp_path):
    write(tmp_path / "a" / "b" / "x.journal", {"a": 1})
    assert records(tmp_path / "a" / "b" / "x.journal") == [{"a": 1}]


def test_a_deleted_journal_begins_anew(path):
    with Journal(path, HERE) as journal:
        journal.append({"a": 1})
        journal.delete()
    assert records(path) == []


class NoLocks:
    """What Windows has in place of fcntl, with locks that are only noted."""

    LK_NBLCK = 2

    def __init__(self):
        self.locked = set()

    def locking(self, file, mode, n_bytes):
        place = (os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR), n_bytes)
        if mode != self.LK_NBLCK or place in self.locked:
            raise PermissionError(13, "Permission denied")
        self.locked.add(place)


@pytest.fixture
def locks(monkeypatch):
    """Locks as on Windows."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", NoLocks())
    return sys.modules["msvcrt"]


def test_on_windows_one_byte_behind_all_lines_is_locked(path, locks):
    with Journal(path, HERE) as journal:
        journal.append({"a": 1})
        ((_, place, n_bytes),) = locks.locked
        assert (place, n_bytes) == (2**31 - 2, 1)
        with pytest.raises(UserError, match="Another process has the journal"):
            Journal(path, HERE)
    assert path.stat().st_size < 100
    locks.locked.clear()
    assert records(path) == [{"a": 1}]


def test_on_windows_a_journal_is_closed_before_it_is_deleted(path, monkeypatch):
    with Journal(path, HERE) as journal:
        closed = []
        monkeypatch.setattr(
            type(path), "unlink", lambda self, missing_ok: closed.append(journal._closed)
        )
        with monkeypatch.context() as windows:
            windows.setattr(os, "name", "nt")
            journal.delete()
    assert closed == [True]


@posix_only
@pytest.mark.parametrize("kills", [8, pytest.param(50, marks=pytest.mark.slow)])
def test_kills_lose_no_acknowledged_answer(path, kills):
    told = []
    for kill in range(kills):
        told += killed_after(path, kill % 7)
        with Journal(path, ABOUT) as journal:
            session = LabelingSession([None] * N_ROWS, journal, order="random")
            stored = [(answer.row, answer.label) for answer in session.answers]
        assert stored[: len(told)] == told
        assert len(stored) <= len(told) + 1  # the answer in flight
        told = stored
    assert len(told) >= kills
    assert len({row for row, _ in told}) == len(told)
