"""Processes that answer row after row until they are killed, forked from one that is ready."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

from semisquares.labeling._journal import Journal
from semisquares.labeling._session import LabelingSession

N_ROWS = 4_000
ABOUT = {"target": "kind", "rows": N_ROWS}
LABELS = ("eel", "carp", "æsh")


def say(*what):
    os.write(1, json.dumps(what).encode() + b"\n")


def answer_until_killed(path):
    """Open the journal, and answer row after row; print each answer when it is stored."""
    journal = Journal(path, ABOUT)
    session = LabelingSession([None] * N_ROWS, journal, order="random")
    say("open", os.getpid())
    while session.current is not None:
        row, turn = session.current.row, session.turn
        label = LABELS[turn % len(LABELS)]
        session.answer(row, "label", label, turn=turn, note="x" * (turn % 50))
        say(row, label)


def serve():
    """Fork a process for each path on standard input, and print "gone" when it has ended."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            answer_until_killed(json.loads(line))
            os._exit(0)
        os.waitpid(child, 0)
        say("gone")


@contextmanager
def killing():
    """Yield a function that runs such a process, kills it, and returns what it has printed."""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as ready:

        def killed_after(path, n_answers):
            ready.stdin.write(json.dumps(str(path)) + "\n")
            ready.stdin.flush()
            said, pid = json.loads(ready.stdout.readline())
            assert said == "open"
            answers = [json.loads(ready.stdout.readline()) for _ in range(n_answers)]
            os.kill(pid, signal.SIGKILL)
            while (answer := json.loads(ready.stdout.readline())) != ["gone"]:
                answers.append(answer)  # printed before the signal arrived
            return [tuple(answer) for answer in answers]

        yield killed_after
        ready.stdin.close()


if __name__ == "__main__":
    serve()
