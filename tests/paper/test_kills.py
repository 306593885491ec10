"""Kill runs at any moment: no stored cell is lost, and the finished tables are the same."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from semisquares.paper._runner import run
from support.command_line import PATIENCE
from support.systems import linux_only
from support.toy_figure import PlainToy, stored, use_plain_plots, wait_for_cells

pytestmark = linux_only  # which tells the session of every process

CELLS = 24
HERE = Path(__file__).parents[1]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
    "OPENBLAS_NUM_THREADS": "1",
}


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "ledger.sqlite"
    }


def processes_of(sessions):
    """Return the running processes of some sessions."""
    found = []
    for process in psutil.process_iter(["status"]):
        with suppress(ProcessLookupError):  # it has just ended
            if os.getsid(process.pid) in sessions:
                found.append(process)
    return [process for process in found if process.info["status"] != psutil.STATUS_ZOMBIE]


def all_gone(sessions):
    """Wait until all processes of these sessions have ended; return whether they have."""
    for _ in range(10 * PATIENCE):
        if not processes_of(sessions):
            return True
        time.sleep(0.1)
    return False


class Nursery:
    """A process with all imports done, which forks the runs that are killed."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from support import toy_figure; toy_figure.nursery()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**ENVIRONMENT, "PYTHONWARNINGS": "ignore"},  # loky warns after a kill
        )
        self.words = queue.Queue()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self):
        for line in self.process.stdout:
            self.words.put(line.split())

    def run_and_kill(self, out, jobs, *, lines, delay):
        """Kill a run some time after some of its lines; return its process id and status."""
        order = json.dumps([str(out), jobs, CELLS, {1: 0.004, 2: 0.02}[jobs]])
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        lines_read = [self.words.get()]
        pid = int(lines_read[0][1])
        while len(lines_read) <= lines and lines_read[-1][0] != "ended":
            lines_read.append(self.words.get())
        moment = time.monotonic() + delay
        with suppress(queue.Empty):  # or until it ends, if that is earlier
            while lines_read[-1][0] != "ended":
                lines_read.append(self.words.get(timeout=max(0.0, moment - time.monotonic())))
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        while lines_read[-1][0] != "ended":
            lines_read.append(self.words.get())
        return pid, int(lines_read[-1][1])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.listener.join()
        self.process.stdin.close()
        self.process.stdout.close()


def kill_until(folder, *, jobs, kills, seed):
    """Kill and resume runs, a new one whenever one is finished, until there were so many kills.

    A run is killed within its start, its next few cells or, when all are stored, the writing of
    tables and plots.
    """
    rng = np.random.default_rng(seed)
    sessions, statuses, outs, phases = set(), [], [], []
    with Nursery() as nursery:
        while statuses.count(signal.SIGKILL) < kills:
            out = folder / str(len(outs))
            out.mkdir()
            outs.append(out)
            count, status, patience = 0, signal.SIGKILL, 0.05
            while status == signal.SIGKILL:
                lines = rng.integers(0, min(CELLS - count + 2, 10))  # one at first, one a cell
                delay = rng.uniform(0, patience)
                pid, status = nursery.run_and_kill(out, jobs, lines=lines, delay=delay)
                before, count = count, stored(out, folder / "copy")
                assert count >= before + max(lines - 1, 0)  # one line per stored cell
                sessions.add(pid)
                statuses.append(status)
                phases.append((status, count))
                patience *= 1 + (count == CELLS)  # it has to end on a slow machine too
    return outs, sessions, statuses, phases


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    patch = pytest.MonkeyPatch()
    patch.setattr("semisquares.plotting.render", None)
    use_plain_plots()
    run(PlainToy(), PlainToy().settings("quick", repeats=CELLS), folder)
    patch.undo()
    return files(folder)


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_kills_lose_no_stored_cell_and_leave_no_trace(tmp_path, uninterrupted, times):
    work = [(1, 12 * times, 11), (2, 3 * times, 12)]
    for jobs, _, _ in work:
        (tmp_path / str(jobs)).mkdir()
    with ThreadPoolExecutor(2) as threads:
        done = [
            threads.submit(kill_until, tmp_path / str(jobs), jobs=jobs, kills=kills, seed=seed)
            for jobs, kills, seed in work
        ]
    results = [future.result() for future in done]
    statuses = [status for _, _, some, _ in results for status in some]
    assert statuses.count(signal.SIGKILL) >= 15 * times
    assert set(statuses) == {signal.SIGKILL, 0}
    phases = [phase for *_, some in results for phase in some]
    assert (signal.SIGKILL, CELLS) in phases  # some were killed while writing tables and plots
    for outs, sessions, _, _ in results:
        for out in outs:
            assert files(out) == uninterrupted
        assert all_gone(sessions)


# Ctrl-C, as a terminal sends it: to every process of the command


HOURS = 36_000.0
"""Of a cell that is not waited for."""


def command(out, *, jobs, seconds, quick=0):
    script = "from support import toy_figure; toy_figure.command_line()"
    options = ["--preset", "quick", "--repeats", str(CELLS), "--out", str(out), "--jobs", str(jobs)]
    return subprocess.Popen(
        [sys.executable, "-u", "-c", script, "reproduce", "toy", *options],
        env={**ENVIRONMENT, "TOY": json.dumps([seconds, quick])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(process, word):
    lines = [process.stdout.readline()]
    while word not in lines[-1]:
        lines.append(process.stdout.readline())
    return lines


def assert_ctrl_c_stops(process, out, n_cells):
    """Press Ctrl-C; check that the command ends in one sentence that is true."""
    for _ in range(3):  # impatient fingers
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.05)
    _, errors = process.communicate(timeout=PATIENCE)
    assert errors == (
        f"Stopped; {n_cells} of {CELLS} cells of toy are kept in {out}; "
        "run the same command to continue.\n"
    )
    assert process.returncode == 130
    assert stored(out, out / "copy") == n_cells
    assert all_gone({process.pid})


@pytest.mark.parametrize(
    ("jobs", "quick", "delay"),
    [(1, 2, 0.0), (2, 0, 0.0), (2, 0, 0.3)],
    ids=["a long cell", "at the start", "starting workers"],
)
def test_ctrl_c_waits_for_no_cell_and_leaves_no_process(tmp_path, jobs, quick, delay):
    process = command(tmp_path, jobs=jobs, seconds=HOURS, quick=quick)
    wait_for(process, f"{CELLS} cells")
    wait_for_cells(tmp_path, quick, tmp_path / "copy")
    time.sleep(delay)
    assert_ctrl_c_stops(process, tmp_path, quick)


def test_a_polite_kill_stops_as_ctrl_c_does(tmp_path):
    process = command(tmp_path, jobs=2, seconds=HOURS)
    wait_for(process, f"{CELLS} cells")
    time.sleep(0.5)
    process.terminate()
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert errors.startswith(f"Stopped; 0 of {CELLS} cells")
    assert all_gone({process.pid})


def test_a_command_stopped_amid_cells_continues_to_the_same_tables(tmp_path, uninterrupted):
    process = command(tmp_path, jobs=2, seconds=HOURS, quick=3)
    wait_for_cells(tmp_path, 3, tmp_path / "copy")
    assert_ctrl_c_stops(process, tmp_path, 3)
    shutil.rmtree(tmp_path / "copy")
    again = command(tmp_path, jobs=1, seconds=0)
    printed, errors = again.communicate(timeout=PATIENCE)
    assert (again.returncode, errors) == (0, "")
    assert "3 of them are already done" in printed
    assert files(tmp_path) == uninterrupted


def test_two_commands_on_one_folder_are_refused(tmp_path):
    first = command(tmp_path, jobs=1, seconds=HOURS)
    wait_for(first, f"{CELLS} cells")
    second = command(tmp_path, jobs=1, seconds=0)
    _, errors = second.communicate(timeout=PATIENCE)
    first.kill()
    first.communicate()
    assert second.returncode == 2
    assert errors == (
        f"Error: {tmp_path} is in use by another run; wait for that one to end, or give another "
        "folder (--out).\n"
    )
