"""The ledger keeps cells intact, belongs to one process at a time, and explains its errors."""

import re
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from semisquares.paper._ledger import Ledger, Record, ReproduceError, pack, unpack

ARRAYS = {
    "floats": np.array([0.1, np.nan, -np.inf, 5e-324]),
    "ints": np.arange(6).reshape(2, 3),
    "bools": np.array([True, False]),
    "names": np.array(["soft", "härd"]),
    "scalar": np.array(2.5),
    "nothing": np.empty((0, 4)),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


def one_sentence(error):
    return re.fullmatch(r"[^\n]*[^.]\.", str(error.value)) and ". " not in str(error.value)


def test_arrays_come_back_as_they_were():
    for name, array in unpack(pack(ARRAYS)).items():
        np.testing.assert_array_equal(array, ARRAYS[name], strict=True)
    assert list(unpack(pack(ARRAYS))) == list(ARRAYS)


def test_a_forgotten_figure_has_no_cells_and_may_be_made_with_something_else(path):
    with Ledger(path) as ledger:
        for figure in ("fig5", "fig6"):
            ledger.begin(figure, Record({"seed": 1}, {}))
            ledger.store(figure, "WDBC/0", pack({"x": np.arange(3)}), cpu_seconds=1.5)
        ledger.forget("fig6")
        assert ledger.cells("fig6") == {}
        assert ledger.record("fig6") is None
        assert ledger.record("fig5") == Record({"seed": 1}, {})


def test_cells_from_elsewhere_are_restored_all_or_none(path):
    cells = {f"WDBC/{k}": (pack({"x": np.arange(k)}), 0.5) for k in range(3)}
    with Ledger(path) as ledger:
        ledger.restore("fig5", Record({"seed": 1}, {"numpy": "2"}), cells)
        with pytest.raises(sqlite3.IntegrityError):
            ledger.restore("fig6", Record({}, {}), {**cells, "WDBC/4": (None, 0.5)})
        assert ledger.cells("fig5") == dict.fromkeys(cells, 0.5)
        assert ledger.record("fig5") == Record({"seed": 1}, {"numpy": "2"})
        assert ledger.cells("fig6") == {}
        np.testing.assert_array_equal(ledger.results("fig5")["WDBC/2"]["x"], np.arange(2))


def test_objects_are_not_packed():
    with pytest.raises(TypeError, match="'mixed' holds objects"):
        pack({"mixed": np.array([1, None])})


def test_a_stored_cell_is_there_after_closing_and_opening(path):
    with Ledger(path) as ledger:
        ledger.store("fig6", "WDBC/0", pack({"x": np.arange(3)}), cpu_seconds=1.5)
        ledger.store("fig6", "WDBC/1", pack({"x": np.arange(4)}), cpu_seconds=0.25)
        ledger.store("fig5", "WDBC/0", pack({"x": np.arange(5)}), cpu_seconds=0.5)
    with Ledger(path) as ledger:
        assert ledger.cells("fig6") == {"WDBC/0": 1.5, "WDBC/1": 0.25}
        assert {cell: len(arrays["x"]) for cell, arrays in ledger.results("fig6").items()} == {
            "WDBC/0": 3,
            "WDBC/1": 4,
        }


def test_a_record_counts_from_the_first_cell_on(path):
    with Ledger(path) as ledger:
        ledger.begin("fig6", Record({"seed": 1}, {"numpy": "2"}))
        assert ledger.record("fig6") is None
        ledger.begin("fig6", Record({"seed": 2}, {"numpy": "3"}))
        ledger.store("fig6", "WDBC/0", pack({}), cpu_seconds=0.0)
        assert ledger.record("fig6") == Record({"seed": 2}, {"numpy": "3"})


def test_a_closed_ledger_is_a_single_file(path):
    with Ledger(path) as ledger:
        ledger.store("fig6", "WDBC/0", pack(ARRAYS), cpu_seconds=0.0)
    assert [file.name for file in path.parent.iterdir()] == ["ledger.sqlite"]


def test_a_ledger_is_in_wal_mode_and_synced_at_every_commit(path):
    with Ledger(path) as ledger:
        assert ledger._db.execute("pragma journal_mode").fetchone() == ("wal",)
        assert ledger._db.execute("pragma synchronous").fetchone() == (2,)


OPEN = "import sys; from semisquares.paper._ledger import Ledger; Ledger(sys.argv[1])"


@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
def test_an_open_ledger_is_refused_to_another_process(path, used):
    ledger = Ledger(path)
    for cell in range(used):
        ledger.store("fig6", str(cell), pack({}), cpu_seconds=0.0)
    other = subprocess.run([sys.executable, "-c", OPEN, path], capture_output=True, text=True)
    ledger.close()
    assert other.stderr.splitlines()[-1].endswith(
        f"ReproduceError: {path.parent} is in use by another run; wait for that one to end, or "
        "give another folder (out)."
    )


def test_a_ledger_is_free_again_after_closing(path):
    Ledger(path).close()
    Ledger(path).close()


FOREIGN = {"text": b"my diary\n" * 200, "zeros": bytes(5000), "a png": b"\x89PNG\r\n\x1a\n" * 100}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_file_of_something_else_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(ReproduceError, match="damaged or not a ledger of semisquares") as error:
        Ledger(path)
    assert one_sentence(error)
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_refused_and_left_alone(path):
    other = sqlite3.connect(path)
    other.execute("create table cells (mine)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(ReproduceError, match="is the database of another program") as error:
        Ledger(path)
    assert one_sentence(error)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", None], ids=["empty file", "empty database"])
def test_a_ledger_whose_making_was_killed_is_made_anew(path, content):
    path.write_bytes(content or empty_database(path))
    with Ledger(path) as ledger:
        ledger.store("fig6", "WDBC/0", pack({}), cpu_seconds=0.0)


def empty_database(path):
    """Return the file that a kill between the switch to WAL and the first table leaves."""
    database = sqlite3.connect(path.with_name("other"))
    database.execute("pragma journal_mode = wal")
    database.close()
    return path.with_name("other").read_bytes()


def test_flipped_bits_in_a_cell_are_noticed(path):
    payload = pack({"x": np.random.default_rng(0).normal(size=500)})
    with Ledger(path) as ledger:
        ledger.store("fig6", "WDBC/0", payload, cpu_seconds=0.0)
    content = bytearray(path.read_bytes())
    content[-1500] ^= 255  # in the middle of the only long payload, at the end of the file
    path.write_bytes(content)
    with Ledger(path) as ledger, pytest.raises(ReproduceError, match="is damaged") as error:
        ledger.results("fig6")
    assert one_sentence(error)


def test_a_torn_file_is_noticed(path):
    with Ledger(path) as ledger:
        for cell in range(30):
            ledger.store("fig6", str(cell), bytes(1000), cpu_seconds=0.0)
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(ReproduceError, match="is damaged") as error, Ledger(path) as ledger:
        ledger.results("fig6")
    assert one_sentence(error)


def test_a_full_disk_is_said_and_earlier_cells_are_kept(path):
    with Ledger(path) as ledger:
        ledger.store("fig6", "WDBC/0", bytes(1000), cpu_seconds=1.0)
        ledger._db.execute("pragma max_page_count = 6")
        with pytest.raises(ReproduceError, match=r"is full\); cells stored before are") as error:
            ledger.store("fig6", "WDBC/1", bytes(100_000), cpu_seconds=1.0)
    assert one_sentence(error)
    with Ledger(path) as ledger:
        assert list(ledger.cells("fig6")) == ["WDBC/0"]


def test_a_file_that_may_not_grow_is_said_and_earlier_cells_are_kept(path):
    resource = pytest.importorskip("resource")
    ledger = Ledger(path)
    ledger.store("fig6", "WDBC/0", bytes(1000), cpu_seconds=1.0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(ReproduceError, match="cells stored before are kept") as error:
            ledger.store("fig6", "WDBC/1", bytes(100_000), cpu_seconds=1.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        ledger.close()
    assert one_sentence(error)
    with Ledger(path) as ledger:
        assert list(ledger.cells("fig6")) == ["WDBC/0"]


def test_a_folder_in_the_place_of_the_file_is_said(path):
    path.mkdir()
    with pytest.raises(ReproduceError, match="cannot be written") as error:
        Ledger(path)
    assert one_sentence(error)
