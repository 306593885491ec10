"""The command line as tests use it: in a process of its own, and what a refusal looks like."""

import re
import subprocess
import sys

PATIENCE = 600
"""Seconds after which a process hangs; no busy machine makes one of the tests take so long."""


def begin(*words, folder, **options):
    """Start a command in a folder."""
    command = [sys.executable, "-m", "semisquares", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen(command, cwd=folder, start_new_session=True, **pipes)


def complaints(errors):
    """Return what a command has said on standard error, but for how far it is, if it is slow."""
    return re.sub(r"^  \d+ of \d+ \w+, about .* left\n", "", errors, flags=re.MULTILINE)


def refused(answer):
    """Check that a command was refused with one sentence, and return that."""
    code, printed, errors = answer
    assert code == 2, errors
    assert printed == ""
    assert re.fullmatch(r"Error: [^\n]*[^.\n][.?]\n", errors), errors
    return errors
