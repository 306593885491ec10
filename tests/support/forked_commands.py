"""Commands in processes of their own, forked from one that has imported what they need.

Importing takes most of the time of a short command. A forked command has its own folder, streams,
signals, session and exit code, as a new process has; only its imports are done, and
``semisquares label`` fits models in a thread instead of yet another process. Tests of imports, of
environment variables and of that process start their commands with `command_line.begin`.
"""

import atexit
import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from signal import SIGKILL
from threading import Thread

from support import command_line

IMPORTED = (
    "semisquares.cli._commands",
    "semisquares.cli.fit",
    "semisquares.cli.label",
    "semisquares.cli.predict",
    "semisquares.labeling._worker",
    "semisquares.tables.compare",
    "semisquares.tables.models.fitting",
)
OF_AN_EXTRA = ("semisquares.tables.labeling._server", "uvicorn.protocols.http.h11_impl")


def begin_forked(*words, folder, **options):
    """Start a command in a folder; in a new process if this system does not fork well."""
    if sys.platform != "linux":
        return command_line.begin(*words, folder=folder, **options)
    return ForkedCommand(words, folder, **options)


class ForkedCommand:
    """A running command, with what tests use of `subprocess.Popen`; one runs at a time.

    `run` is the function that gets the words in ``sys.argv``.
    """

    def __init__(self, words, folder, stdout=None, stderr=None, run="semisquares.cli:main"):
        connection, self._answers = _server()
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        words = [str(word) for word in words]
        asked = json.dumps({"words": words, "folder": str(folder), "run": run})
        printed_to = its_out if stdout is None else stdout.fileno()
        errors_to = printed_to if stderr == subprocess.STDOUT else its_err
        socket.send_fds(connection, [asked.encode()], [printed_to, errors_to])
        os.close(its_out)
        os.close(its_err)
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(err)
        self.pid, self.returncode = int(self._answers.readline()), None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.wait()
        for stream in (self.stdout, self.stderr):
            stream.close()

    def wait(self, timeout=None):
        """Wait for the end, and return the exit code; the connection has its own time limit."""
        if self.returncode is None:
            self.returncode = int(self._answers.readline())
        return self.returncode

    def communicate(self, timeout=None):
        """Wait for the end; return the rest of what is printed, and the errors."""
        errors = []
        reader = Thread(target=lambda: errors.append(self.stderr.read()))
        reader.start()
        printed = self.stdout.read()
        reader.join()
        self.__exit__()
        return printed, errors[0]

    def send_signal(self, number):
        """Send a signal to the command, if it has not ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self):
        """Kill the command, if it has not ended."""
        self.send_signal(SIGKILL)


@cache
def _server():
    """Start the process that forks, which ends with this one; return what to talk to it with."""
    ours, its = socket.socketpair()
    with its:
        process = subprocess.Popen(
            [sys.executable, "-m", "support.forked_commands", str(its.fileno())],
            cwd=Path(__file__).parents[1],
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
    ours.settimeout(command_line.PATIENCE)
    answers = ours.makefile()
    atexit.register(process.wait)
    atexit.register(ours.shutdown, socket.SHUT_RDWR)
    return ours, answers


def serve(connection):
    """Fork a process for each command that is asked for, and report its end.

    In the fork, return what to run.
    """
    _import_all()
    while True:
        content, streams, _, _ = socket.recv_fds(connection, 65536, 2)
        if not content:
            sys.exit()
        child = os.fork()
        if not child:
            connection.close()
            return _become(streams, **json.loads(content))
        for stream in streams:
            os.close(stream)
        connection.sendall(f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _import_all():
    for name in IMPORTED:
        import_module(name)
    with suppress(ImportError):
        for name in OF_AN_EXTRA:
            import_module(name)
    worker = import_module("semisquares.labeling._worker")
    worker.WorkerProcess = import_module("semisquares.labeling._updates").SameProcess


def _become(streams, words, folder, run):
    """Turn this process into that of a command, and return its function."""
    os.setsid()
    os.chdir(folder)
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
        os.close(stream)
    sys.argv = ["semisquares", *words]
    return resolve_name(run)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))()
