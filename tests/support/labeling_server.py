"""Run ``semisquares label`` in a process of its own, and talk to its page."""

import http.client
import json
import signal
from contextlib import contextmanager

from support.command_line import PATIENCE
from support.forked_commands import begin_forked


class Running:
    """A command that serves a page."""

    def __init__(self, process):
        self.process = process
        self.said = []
        while not self.said or not self.said[-1].startswith("Label at "):
            line = process.stdout.readline()
            assert line, process.stderr.read()
            self.said.append(line.rstrip("\n"))
        self.address = self.said[-1].removeprefix("Label at ")
        _, _, self.host, self.token, _ = self.address.split("/")

    def request(self, path, body=None):
        """Return the status and the JSON of a request of the page."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        headers = {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        method, content = ("GET", None) if body is None else ("POST", json.dumps(body))
        connection.request(method, f"/{self.token}/{path}", content, headers)
        response = connection.getresponse()
        answer = response.status, json.loads(response.read())
        connection.close()
        return answer

    def state(self):
        return self.request("state")[1]

    def label(self, label):
        """Label the current row; return its index."""
        state = self.state()
        row = state["row"]["index"]
        answer = {"row": row, "turn": state["turn"], "kind": "label", "label": label}
        assert self.request("answer", answer)[0] == 200
        return row

    def stop(self, number=signal.SIGINT):
        """Send a signal; return exit code, output and errors."""
        self.process.send_signal(number)
        return self.end()

    def end(self):
        """Wait for the end; return exit code, output and errors."""
        printed, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, printed, errors


@contextmanager
def labeling(folder, *words, start=begin_forked, **options):
    """Start the command; kill it at the end, if it has not ended."""
    command = ("label", *words, "--no-browser")
    with start(*command, folder=folder, **options) as process:
        try:
            yield Running(process)
        finally:
            process.kill()
