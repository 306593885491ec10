"""Settings of all tests: reproducible hypothesis runs, data sets, no network, Ctrl-C."""

import atexit
import gc
import io
import math
import os
import shutil
import signal
import sys
import tempfile
from types import SimpleNamespace

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from support import offline
from support.reference import SHARED

settings.register_profile(
    "default",
    deadline=None,
    max_examples=50,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # would fail on a busy machine
)
settings.load_profile("default")

if (SHARED / "datasets").is_dir():
    os.environ.setdefault("SEMISQUARES_DATA", str(SHARED / "datasets"))

if "MPLCONFIGDIR" not in os.environ:
    # a font cache that another installation of matplotlib wrote may name files that are gone
    os.environ["MPLCONFIGDIR"] = tempfile.mkdtemp(prefix="semisquares-fonts-")
    atexit.register(shutil.rmtree, os.environ["MPLCONFIGDIR"], ignore_errors=True)

offline.enforce()

# benchmarks measure with /proc, signals and limits that only POSIX has
collect_ignore_glob = [] if os.name == "posix" else ["benchmarks/*"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # as in a background job: the commands that tests stop by Ctrl-C would ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage while tests are imported and collected: all of it stays."""
    # not frozen afterwards: Hypothesis looks for references, which frozen objects do not show
    gc.disable()
    result = yield
    gc.enable()
    return result


def pytest_runtest_protocol(item, nextitem):
    """Send one report of a test that passes to the main process, where xdist sends six messages.

    They would take longer than most tests. The fixtures that ``--durations`` lists are sent, too.
    """
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > 0.1:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.fixture(autouse=True)
def no_network():
    """Fail a test that has tried to use the network, even if it handled the refusal."""
    yield
    refused = [offline.attempts.pop() for _ in list(offline.attempts)]
    assert not refused, refused[0]


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine without a data folder, a cache, or a package that contains data."""
    monkeypatch.delenv("SEMISQUARES_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)


@pytest.fixture
def few_trees(monkeypatch):
    """Ten trees in a forest, ten rounds of boosting, two penalties of logistic regression.

    For claims that hold for any number of them.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    monkeypatch.setattr("semisquares.tables.compare._rivals.PENALTIES", [0.1, 10.0])
    monkeypatch.setattr(
        "semisquares.tables.compare._rivals._forest",
        lambda seed: RandomForestClassifier(10, random_state=seed),
    )
    monkeypatch.setattr(
        "semisquares.tables.compare._rivals._boosting",
        lambda seed: HistGradientBoostingClassifier(
            max_iter=10, early_stopping=False, random_state=seed
        ),
    )


@pytest.fixture
def semisquares(monkeypatch, capfdbinary, tmp_path):
    """Return a function that runs a command in an empty folder: exit code, output, errors."""
    from semisquares import cli
    from semisquares.cli import _progress

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_progress, "_SECONDS_BETWEEN_LINES", math.inf)  # as on a fast machine

    def type_in(*words, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["semisquares", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            cli.main()
        printed = capfdbinary.readouterr()
        return end.value.code or 0, printed.out.decode(), printed.err.decode()

    yield type_in
    for number, handler in before.items():
        signal.signal(number, handler)
