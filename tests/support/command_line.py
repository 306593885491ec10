"""Run the command line in a process of its own, and check its error messages."""

import re
import subprocess
import sys

PATIENCE = 600
"""Seconds after which a process is considered to hang, even on a busy machine."""


def begin(*words, folder, **options):
    """Start a command in a folder."""
    command = [sys.executable, "-m", "semisquares", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen(command, cwd=folder, start_new_session=True, **pipes)


def complaints(errors):
    """Return the messages on standard error without the progress lines of a slow machine."""
    return re.sub(r"^  \d+ of \d+ \w+, about .* left\n", "", errors, flags=re.MULTILINE)


def refused(answer):
    """Check that a command was refused with one sentence, and return that."""
    code, printed, errors = answer
    assert code == 2, errors
    assert printed == ""
    assert re.fullmatch(r"Error: [^\n]*[^.\n][.?]\n", errors), errors
    return errors
