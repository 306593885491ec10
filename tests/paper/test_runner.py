"""Running a figure computes only missing cells, mixes no settings, and always gives equal bytes."""

import json
import os
import re
import signal
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from semisquares.paper import _runner as runner
from semisquares.paper import _store as store
from semisquares.paper._ledger import Ledger, ReproduceError
from semisquares.paper._runner import FailedCell, check, run
from semisquares.paper._store import read_table, versions, write_table
from semisquares.paper.figures._figure import Settings, Table
from support.systems import linux_only, posix_only
from support.toy_figure import PlainToy, Toy, use_plain_plots, wait_for_cells


@pytest.fixture(autouse=True)
def plain_plots(monkeypatch):
    monkeypatch.setattr("semisquares.plotting.render", None)  # to be restored
    use_plain_plots()


def files(folder):
    """Return the content of every file below a folder, except the ledger."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "ledger.sqlite"
    }


def refused(error):
    assert re.fullmatch(r"[^\n]*[^.]\.", str(error.value))
    assert ". " not in str(error.value)
    return str(error.value)


QUICK = Toy().settings("quick")


def test_a_run_gives_the_table_of_compute(tmp_path):
    table = run(PlainToy(), QUICK, tmp_path)
    with threadpool_limits(1):  # as in a run: bits depend on the number of threads
        expected = Toy().compute(QUICK)
    assert table.settings == QUICK
    pd.testing.assert_frame_equal(table.summary, expected.summary, check_exact=True)
    pd.testing.assert_frame_equal(
        table.details["columns"], expected.details["columns"], check_exact=True
    )


def test_a_run_writes_tables_settings_versions_and_plots(tmp_path):
    run(PlainToy(), QUICK, tmp_path)
    assert sorted(files(tmp_path)) == [
        "toy/columns.csv",
        "toy/figure.png",
        "toy/figure.svg",
        "toy/other.png",
        "toy/other.svg",
        "toy/settings.json",
        "toy/summary.csv",
    ]
    found = json.loads((tmp_path / "toy/settings.json").read_text())
    assert found["settings"] == {
        "figure": "toy",
        "preset": "quick",
        "repeats": 6,
        "datasets": [],
        "seed": 1,
    }
    assert found["versions"]["numpy"] == np.__version__
    assert (tmp_path / "toy/figure.svg").read_text() == "figure of 6 rows as svg"


class Shuffled(PlainToy):
    """The toy with its cells in another order."""

    def cells(self, settings):
        cells = super().cells(settings)
        return [str(cell) for cell in np.random.default_rng(0).permutation(cells)]


def test_jobs_and_order_change_no_byte(tmp_path):
    for name, toy, jobs in [
        ("one", PlainToy(), 1),
        ("two", PlainToy(0.01), 2),
        ("shuffled", Shuffled(), 1),
        ("shuffled two", Shuffled(0.01), 2),
    ]:
        run(toy, QUICK, tmp_path / name, jobs=jobs)
    first = files(tmp_path / "one")
    for name in ("two", "shuffled", "shuffled two"):
        assert files(tmp_path / name) == first


class Counted(PlainToy):
    """A toy that records which cells are computed, and fails or dies at some."""

    def __init__(self, log, fails_at=(), dies_at=(), out=None):
        super().__init__()
        self.log, self.fails_at, self.dies_at, self.out = log, fails_at, dies_at, out

    def compute_cell(self, settings, cell):
        if cell in self.fails_at:
            raise ZeroDivisionError("one over zero")
        if cell in self.dies_at:
            wait_for_cells(self.out, len(self.cells(settings)) - 1, self.out / "copy")
            os.kill(os.getpid(), signal.SIGKILL)
        self.log.append(cell)
        return super().compute_cell(settings, cell)


def test_a_finished_run_computes_nothing_again_and_changes_no_byte(tmp_path):
    run(PlainToy(), QUICK, tmp_path)
    before, log = files(tmp_path), []
    run(Counted(log), QUICK, tmp_path)
    assert log == []
    assert files(tmp_path) == before


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_cell_is_named_and_the_others_are_kept(tmp_path, jobs):
    with pytest.raises(FailedCell, match=re.escape("Cell 'c/4' of toy failed")) as error:
        run(Counted([], fails_at=["c/4"]), QUICK, tmp_path, jobs=jobs)
    printed = "".join(traceback.format_exception(error.value))
    assert "ZeroDivisionError: one over zero" in printed
    assert "in compute_cell" in printed
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        kept = set(ledger.cells("toy"))
    assert len(kept) >= 4 - (jobs - 1)  # all cells before it, except the one of another process
    assert files(tmp_path) == {}
    log = []
    run(Counted(log), QUICK, tmp_path)
    assert set(log) == set(Toy().cells(QUICK)) - kept


@posix_only
def test_a_killed_worker_is_said_in_a_sentence_and_the_others_are_kept(tmp_path):
    with pytest.raises(ReproduceError, match="perhaps because memory ran out; 5 of 6") as error:
        run(Counted([], dies_at=["c/4"], out=tmp_path), QUICK, tmp_path, jobs=2)
    refused(error)
    log = []
    run(Counted(log), QUICK, tmp_path)
    assert log == ["c/4"]


def test_progress_counts_cells_and_cpu_seconds_of_earlier_runs(tmp_path):
    with pytest.raises(FailedCell):
        run(Counted([], fails_at=["c/4"]), QUICK, tmp_path)
    calls = []
    run(PlainToy(), QUICK, tmp_path, progress=lambda *words: calls.append(words))
    assert [(done, total) for done, total, _ in calls] == [(4, 6), (5, 6), (6, 6)]
    seconds = [cpu for _, _, cpu in calls]
    assert 0 < seconds[0] < seconds[1] < seconds[2]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert seconds[2] == pytest.approx(sum(ledger.cells("toy").values()))


class Threads(PlainToy):
    """A toy that returns how many threads BLAS may use."""

    def compute_cell(self, settings, cell):
        from threadpoolctl import threadpool_info

        threads = [library["num_threads"] for library in threadpool_info()]
        return {"mean": np.array(max(threads)), "spread": np.zeros(1)}


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_process_has_one_blas_thread(tmp_path, jobs, monkeypatch):
    from threadpoolctl import threadpool_limits

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with threadpool_limits(2):
        table = run(Threads(), QUICK, tmp_path, jobs=jobs)
    assert set(table.summary["mean"]) == {1}


def test_a_run_leaves_the_threads_of_blas_as_they_were(tmp_path):
    from threadpoolctl import threadpool_info, threadpool_limits

    with threadpool_limits(2):
        run(PlainToy(), QUICK, tmp_path)
        assert {library["num_threads"] for library in threadpool_info()} == {2}


# Refusals

OTHER = {
    "repeats": (replace(QUICK, repeats=7), "repeats was 6 and is now 7;"),
    "seed": (replace(QUICK, seed=3), "seed was 1 and is now 3;"),
    "two": (
        replace(QUICK, preset="paper", datasets=("A", "B")),
        "preset was quick and is now paper, datasets was none and is now A,B;",
    ),
}


def unfinished(out):
    with pytest.raises(FailedCell):
        run(Counted([], fails_at=["c/4"]), QUICK, out)


def finished(out):
    run(PlainToy(), QUICK, out)


def finished_without_ledger(out):
    run(PlainToy(), QUICK, out)
    (out / "ledger.sqlite").unlink()


@pytest.mark.parametrize("state", [unfinished, finished, finished_without_ledger])
@pytest.mark.parametrize(("settings", "words"), OTHER.values(), ids=OTHER.keys())
def test_other_settings_are_refused_by_name_and_nothing_changes(tmp_path, state, settings, words):
    state(tmp_path)
    before = files(tmp_path)
    with pytest.raises(ReproduceError, match="holds toy with other settings: ") as error:
        run(PlainToy(), settings, tmp_path)
    assert words in refused(error)
    with pytest.raises(ReproduceError, match=re.escape(str(error.value))):
        check([(PlainToy(), settings)], tmp_path)
    assert files(tmp_path) == before
    run(PlainToy(), QUICK, tmp_path)


@pytest.mark.parametrize("state", [unfinished, finished_without_ledger])
def test_other_versions_are_refused_while_cells_are_missing(tmp_path, state, monkeypatch):
    state(tmp_path)
    before = files(tmp_path)
    monkeypatch.setattr(runner, "versions", lambda: {**versions(), "numpy": "9.9"})
    with pytest.raises(
        ReproduceError, match=r"other versions: numpy was .* and is now 9\.9"
    ) as error:
        run(PlainToy(), QUICK, tmp_path)
    refused(error)
    assert files(tmp_path) == before


def test_other_versions_render_a_finished_run_and_keep_its_versions(tmp_path, monkeypatch):
    run(PlainToy(), QUICK, tmp_path)
    before = files(tmp_path)
    monkeypatch.setattr(runner, "versions", lambda: {**versions(), "numpy": "9.9"})
    run(PlainToy(), QUICK, tmp_path)
    assert files(tmp_path) == before


def test_settings_may_change_as_long_as_there_is_no_cell(tmp_path):
    with pytest.raises(FailedCell):
        run(Counted([], fails_at=["c/0"]), QUICK, tmp_path)
    run(PlainToy(), replace(QUICK, seed=3), tmp_path)
    assert read_table(tmp_path / "toy").settings.seed == 3


def test_checking_a_new_folder_lets_it_run(tmp_path):
    check([(PlainToy(), QUICK)], tmp_path / "new")
    check([(PlainToy(), replace(QUICK, seed=2))], tmp_path / "new")
    run(PlainToy(), QUICK, tmp_path / "new")


def test_a_folder_in_use_is_refused(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite"):
        with pytest.raises(ReproduceError, match="is in use by another run") as error:
            run(PlainToy(), QUICK, tmp_path)
        refused(error)


@pytest.mark.parametrize("mine", ["report.html", "toy/summary.csv", "toy"])
def test_files_that_somebody_else_wrote_are_left_alone(tmp_path, mine):
    path = tmp_path / mine
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    with pytest.raises(ReproduceError, match="was not written by semisquares reproduce") as error:
        run(PlainToy(), QUICK, tmp_path)
    refused(error)
    assert path.read_text() == "mine"


@linux_only
def test_what_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    wrong = {
        tmp_path / "file": "file is not a folder; give another one",
        tmp_path / "file" / "below": "below is not a folder; give another one",
        Path("/proc/nobody/here"): "^No such file or directory making the folder /proc",
    }
    for out, words in wrong.items():
        with pytest.raises(ReproduceError, match=words) as error:
            run(PlainToy(), QUICK, out)
        refused(error)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere paths are shorter")
def test_a_folder_too_deep_for_the_ledger_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = Path("f/" * 2000)
    with pytest.raises(ReproduceError, match="give another folder") as error:
        run(PlainToy(), QUICK, out)
    refused(error)
    os.removedirs(out)  # pytest would recurse


def test_a_file_in_the_place_of_the_tables_is_refused_and_the_cells_are_kept(tmp_path):
    (tmp_path / "toy").write_text("mine")
    with pytest.raises(ReproduceError) as error:
        run(PlainToy(), QUICK, tmp_path)
    refused(error)
    assert (tmp_path / "toy").read_text() == "mine"


def test_settings_that_cannot_be_read_are_refused(tmp_path):
    run(PlainToy(), QUICK, tmp_path)
    (tmp_path / "ledger.sqlite").unlink()
    for content in ("{", "[]", '{"settings": 1}', "3"):
        (tmp_path / "toy/settings.json").write_text(content)
        with pytest.raises(ReproduceError, match="cannot be read as settings") as error:
            run(PlainToy(), QUICK, tmp_path)
        refused(error)


def test_a_disk_that_fills_up_keeps_the_old_table(tmp_path, monkeypatch):
    run(PlainToy(), QUICK, tmp_path)
    before = files(tmp_path)

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ReproduceError, match=r"^No space left on device writing ") as error:
        run(PlainToy(), QUICK, tmp_path)
    refused(error)
    assert files(tmp_path) == before


# Tables

TRICKY = pd.DataFrame(
    {
        "method": ["soft", 'a "quoted", one', "härd"],
        "n": [1, 2, 10**15],
        "error": [0.1 + 0.2, 5e-324, np.nan],
        "loss": [np.inf, -0.0, 1 / 3],
        "unique": [True, False, True],
        "name": ["NA", "nan", "None"],
    }
)


def test_a_table_is_read_as_it_was_written(tmp_path):
    settings = Settings("fig6", "paper", 3, ("WDBC", "Sonar"), seed=5)
    write_table(Table(settings, TRICKY, {"more": TRICKY[["loss"]]}), tmp_path)
    table = read_table(tmp_path)
    assert table.settings == settings
    assert list(table.details) == ["more"]
    pd.testing.assert_frame_equal(table.summary, TRICKY, check_exact=True)
    np.testing.assert_array_equal(np.signbit(table.summary["loss"]), [False, True, False])


def test_the_bytes_of_a_table_are_known(tmp_path):
    write_table(Table(QUICK, TRICKY), tmp_path, made_with={"numpy": "2.0"})
    assert (tmp_path / "summary.csv").read_bytes() == (
        b"method,n,error,loss,unique,name\n"
        b"soft,1,0.30000000000000004,inf,True,NA\n"
        b'"a ""quoted"", one",2,5e-324,-0.0,False,nan\n'
        b"h\xc3\xa4rd,1000000000000000,,0.3333333333333333,True,None\n"
    )
    assert (tmp_path / "settings.json").read_bytes() == (
        b'{\n  "settings": {\n    "figure": "toy",\n    "preset": "quick",\n    "repeats": 6,\n'
        b'    "datasets": [],\n    "seed": 1\n  },\n  "versions": {\n    "numpy": "2.0"\n  }\n}\n'
    )


def test_a_table_written_once_more_after_reading_has_the_same_bytes(tmp_path):
    write_table(Table(QUICK, TRICKY, {"more": TRICKY}), tmp_path / "a")
    write_table(read_table(tmp_path / "a"), tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_a_folder_without_a_table_is_said(tmp_path):
    with pytest.raises(ReproduceError, match="holds no finished table") as error:
        read_table(tmp_path)
    refused(error)


def test_real_plots_are_written_as_svg_and_png(tmp_path, monkeypatch):
    monkeypatch.undo()
    store.write_plots(Toy(), Toy().compute(QUICK), tmp_path)
    assert sorted(files(tmp_path)) == ["figure.png", "figure.svg", "other.png", "other.svg"]
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "figure.svg").read_bytes()
