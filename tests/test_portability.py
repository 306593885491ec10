"""What would differ on Windows and macOS, as far as it can be tested on any machine."""

import ast
import io
import json
import math
import ntpath
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path, PureWindowsPath

import psutil  # noqa: F401 (whose import on Linux needs sysconf)
import pytest

from semisquares.cli import _engine
from semisquares.cli._output import Output
from semisquares.tables import find, read
from semisquares.tables.io import split

REPOSITORY = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "tools", "benchmarks", "docs", "examples", "changes", "results")
BUILT = {"__pycache__", "_build", "generated", "used_in", "gallery"}
CODE = ("src", "tools", "benchmarks", "docs", "examples")
TEXT = {"read_text", "write_text"}
FORBIDDEN = set('<>:"|?*\\')


def files(*folders):
    """Return the files of folders of the repository, without what is built there."""
    found = [path for folder in folders for path in (REPOSITORY / folder).rglob("*")]
    found = [path.relative_to(REPOSITORY) for path in found if path.is_file()]
    return [path for path in found if not BUILT & set(path.parts)]


# -- names and texts ----------------------------------------------------------------------------


def is_reserved(name):
    """Tell whether Windows reserves a name, as it does NUL."""
    if sys.version_info >= (3, 13):
        return ntpath.isreserved(name)
    return PureWindowsPath(name).is_reserved()


def test_windows_can_store_every_file_of_the_repository():
    names = [path.as_posix() for path in files(*FOLDERS)]
    assert len(names) > 500
    assert [name for name in names if FORBIDDEN & set(name) or len(name) > 150] == []
    parts = {part for name in names for part in name.split("/")}
    assert [part for part in parts if is_reserved(part)] == []
    assert [part for part in parts if part.endswith((".", " "))] == []
    twice = Counter(name.lower() for name in names)
    assert [name for name, count in twice.items() if count > 1] == []


def default_encodings(code):
    """Return the lines on which text is read or written in the encoding of the system."""
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call) or any(one.arg == "encoding" for one in node.keywords):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        mode = [one.value for one in node.keywords if one.arg == "mode"] + node.args[1:2]
        is_open = isinstance(node.func, ast.Name) and name == "open"
        is_text = is_open and "b" not in getattr(next(iter(mode), None), "value", "r")
        if is_text or (name in TEXT and len(node.args) <= (name == "write_text")):
            yield node.lineno


@pytest.mark.parametrize("folder", CODE)
def test_text_files_are_opened_with_an_encoding(folder):
    """Windows has another one than UTF-8."""
    found = {
        path.as_posix(): lines
        for path in files(folder)
        if path.suffix == ".py"
        and (lines := [*default_encodings((REPOSITORY / path).read_text(encoding="utf-8"))])
    }
    assert found == {}


def test_a_file_in_the_encoding_of_the_system_would_be_found():
    code = "open('a')\nopen('a', 'rb')\npath.write_text('a')\npath.read_text(encoding='utf-8')"
    assert [*default_encodings(code)] == [1, 3]


# -- tables that Windows writes -----------------------------------------------------------------

ROWS = [
    ("size", "note", "kind"),
    *((f"{k * 7 % 10},5", f"n{k % 3}", "ab"[k * 7 % 10 > 4]) for k in range(40)),
]
ROWS = [(*row[:2], row[2] if k % 2 or k == 0 else "") for k, row in enumerate(ROWS)]


def written(end, mark=""):
    """Write the rows as a CSV with line ends and, perhaps, a byte order mark."""
    return (mark + "".join(";".join(row) + end for row in ROWS)).encode()


def test_a_table_with_the_line_ends_of_windows_gives_the_same_predictions(semisquares):
    contents = {"lf": written("\n"), "crlf": written("\r\n", "\ufeff")}
    fit = ("--target", "kind", "--method", "soft", "--alpha", "1", "--weight", "1")
    for name, content in contents.items():
        Path(f"{name}.csv").write_bytes(content)
        code, _, errors = semisquares("fit", f"{name}.csv", *fit, "-o", f"{name}.model")
        assert code == 0, errors
        code, _, errors = semisquares(
            "predict", f"{name}.model", f"{name}.csv", "-o", f"{name}.out.csv"
        )
        assert code == 0, errors
    assert Path("crlf.out.csv").read_bytes() == Path("lf.out.csv").read_bytes()
    assert b"\r" not in Path("crlf.out.csv").read_bytes()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_cells_are_the_same_with_every_line_end(tmp_path, end):
    (tmp_path / "a.csv").write_bytes(written(end))
    notes = [row[1] for row in ROWS[1:]]
    assert read(tmp_path / "a.csv")["note"].tolist() == notes
    chunks = split(tmp_path / "a.csv", n_bytes=200)  # as Dask reads it
    assert len(chunks) > 2
    assert [note for chunk in chunks for note in chunk.read()["note"]] == notes


def test_line_ends_inside_a_cell_are_kept(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'size,note\r\n1,"two\r\nlines"\r\n2,one\r\n')
    assert read(tmp_path / "a.csv")["note"].tolist() == ["two\r\nlines", "one"]


# -- what Linux alone tells ---------------------------------------------------------------------


@pytest.fixture
def no_proc(monkeypatch):
    """A machine without /proc, which psutil opens in another way than we do, and sysconf."""
    monkeypatch.delattr(os, "sysconf", raising=False)
    opened = open

    def refuse(path, *args, **options):
        if str(path).startswith("/proc") and "encoding" in options:
            raise FileNotFoundError(2, "No such file or directory", path)
        return opened(path, *args, **options)

    monkeypatch.setattr("builtins.open", refuse)


@pytest.mark.usefixtures("no_proc")
def test_free_memory_is_known_without_proc():
    assert 0.0 < _engine._free_memory() < math.inf
    assert _engine.Engine("dask", None, None).bytes_per_worker(1) > 0


@pytest.mark.usefixtures("no_proc")
def test_without_proc_and_psutil_tables_are_read_into_memory(monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    source = find("-", stdin=io.BytesIO(written("\n")))
    assert _engine.Engine("auto", None, None).choose(source) == ("memory", "")


def test_json_keeps_all_characters_if_the_stream_has_few(monkeypatch):
    content = io.BytesIO()
    stream = io.TextIOWrapper(content, encoding="cp1252", errors="replace")
    monkeypatch.setattr(sys, "stdout", stream)
    Output(json=True).data({"class": "šedý − ž"})
    stream.flush()
    assert json.loads(content.getvalue()) == {"class": "šedý − ž"}


WITHOUT_POSIX = """
import multiprocessing.resource_tracker
import os
import shlex
import signal
import sys

import joblib, matplotlib.pyplot, pandas, pyarrow.parquet, sklearn.ensemble  # need some of this
multiprocessing.resource_tracker.ensure_running()  # which is not there on Windows
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("fork", "getuid", "geteuid", "getpgid", "killpg", "mkfifo", "setsid", "sysconf"):
    delattr(os, name)
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "pthread_sigmask", "setitimer"):
    delattr(signal, name)

from semisquares import cli

for line in sys.stdin.read().splitlines():
    sys.argv[1:] = shlex.split(line)
    try:
        cli.main()
    except SystemExit as end:
        assert not end.code, line
sys.stderr.write("done")
"""
COMMANDS = """\
example pumps
compare rows.csv --target kind --quick --folds 2 --repeats 1 --jobs 1 -o report.html
fit rows.csv --target kind -o kind.model --jobs 1
predict kind.model rows.csv -o predicted.csv
inspect kind.model
review rows.csv --target kind -o doubtful.csv
"""


def test_the_commands_need_nothing_that_windows_lacks(tmp_path):
    (tmp_path / "rows.csv").write_bytes(written("\r\n"))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX],
        input=COMMANDS, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr.endswith("done"), done.stderr
    names = {path.name for path in tmp_path.iterdir()}
    assert {"pumps", "report.html", "predicted.csv", "doubtful.csv"} <= names


# -- processes ----------------------------------------------------------------------------------

SPAWN = """
import multiprocessing

import numpy as np

from semisquares import AveragedClassifier
from semisquares._utils.processes import parallel_map
from semisquares.labeling._worker import WorkerProcess

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    assert sorted(parallel_map(abs, [-1, -2], jobs=2)) == [1, 2]
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 2.0 * y[:, None]
    worker = WorkerProcess(X)  # of the labeling page
    assert worker._started().poll() is None
    worker.stop()
    model = AveragedClassifier(n_jobs=2).fit(X, np.where(np.arange(60) % 3, y, -1))
    assert model.predict(X).shape == (60,)
    print("done")
"""


def test_worker_processes_need_no_fork(tmp_path):
    """Windows and macOS spawn processes, which import the script again."""
    (tmp_path / "script.py").write_text(SPAWN, encoding="utf-8")
    command = [sys.executable, "-W", "error::RuntimeWarning", "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
