"""What holds for every test: reproducible hypothesis runs, where the data sets lie, a keyboard."""

import io
import os
import signal
import sys
from types import SimpleNamespace

import pytest
from hypothesis import settings

from reference import SHARED
from semisquares import cli

settings.register_profile(
    "default", deadline=None, max_examples=50, derandomize=True, database=None
)
settings.load_profile("default")

if (SHARED / "datasets").is_dir():
    os.environ.setdefault("SEMISQUARES_DATA", str(SHARED / "datasets"))


@pytest.fixture
def semisquares(monkeypatch, capfdbinary, tmp_path):
    """Give a function that runs a command in an empty folder: exit code, output and errors."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.chdir(tmp_path)

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
