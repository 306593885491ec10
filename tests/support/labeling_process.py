"""Processes that answer row after row until they are killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

from semisquares.labeling._journal import Journal
from semisquares.labeling._session import LabelingSession
from support.forked_commands import ForkedCommand

N_ROWS = 4_000
ABOUT = {"target": "kind", "rows": N_ROWS}
LABELS = ("eel", "carp", "æsh")


def say(*what):
    os.write(1, json.dumps(what).encode() + b"\n")


def answer_until_killed():
    """Open the journal, and answer row after row; print each answer when it is stored."""
    journal = Journal(sys.argv[1], ABOUT)
    session = LabelingSession([None] * N_ROWS, journal, order="random")
    say("open")
    while session.current is not None:
        row, turn = session.current.row, session.turn
        label = LABELS[turn % len(LABELS)]
        session.answer(row, "label", label, turn=turn, note="x" * (turn % 50))
        say(row, label)


def started(path):
    """Start such a process; a new one if this system does not fork well."""
    if sys.platform == "linux":
        run = f"{__name__}:{answer_until_killed.__name__}"
        return ForkedCommand([path], path.parent, run=run)
    command = [sys.executable, "-m", __name__, str(path)]
    folder = Path(__file__).parents[1]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


def killed_after(path, n_answers):
    """Run such a process, kill it, and return what it has printed."""
    with started(path) as process:
        assert json.loads(process.stdout.readline()) == ["open"]
        answers = [json.loads(process.stdout.readline()) for _ in range(n_answers)]
        process.kill()
        answers += map(json.loads, process.stdout)  # printed before the signal arrived
    return [tuple(answer) for answer in answers]


if __name__ == "__main__":
    answer_until_killed()
