"""The guard against the network: it sees connections and lookups, and leaves this machine alone."""

import socket
import subprocess
import sys

import pytest

from semisquares.paper.datasets import load
from support import offline


@pytest.fixture
def refused():
    """What was refused in a test, which does not fail for it."""
    yield offline.attempts
    offline.attempts.clear()


def test_a_connection_to_another_machine_is_refused_and_noted(refused):
    with socket.socket() as ours, pytest.raises(ConnectionRefusedError, match="tried to connect"):
        ours.connect(("192.0.2.1", 80))
    assert len(refused) == 1


def test_a_lookup_of_another_machine_is_refused_and_noted(refused):
    with pytest.raises(ConnectionRefusedError, match=r"www\.example\.org"):
        socket.getaddrinfo("www.example.org", 443)
    assert len(refused) == 1


def test_this_machine_can_be_reached():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    assert not offline.attempts


@pytest.mark.usefixtures("bare")
def test_a_download_is_noted_although_its_errors_are_handled(refused):
    with pytest.raises(FileNotFoundError, match="no download worked"):
        load("Diabetes")
    assert refused


@pytest.mark.usefixtures("bare")
def test_the_processes_of_a_test_find_no_network():
    script = """
from importlib import util
util.find_spec = lambda package: None
from semisquares.paper.datasets import load
load("Diabetes")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "no download worked" in done.stderr
    assert "(ProxyError)" in done.stderr
