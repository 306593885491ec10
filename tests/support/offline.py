"""No test uses the network, not even one that handles the error of a failed connection."""

import ipaddress
import os
import socket
import sys

NOWHERE = ("127.0.0.1", 1)
"""The proxy of all processes that tests start; nothing listens there."""

attempts = []
"""Refused connections: code that handles the errors of a download may hide them."""


def enforce():
    """Refuse connections to other machines, also from child processes."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        os.environ[name] = os.environ[name.upper()] = "http://{}:{}".format(*NOWHERE)
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "localhost,127.0.0.1,::1"
    sys.addaudithook(_refuse)


def _refuse(event, arguments):
    if event == "socket.connect":
        sock, address = arguments
        outside = sock.type == socket.SOCK_STREAM and isinstance(address, tuple)
        host, port = address[:2] if outside else ("localhost", None)
    elif event == "socket.getaddrinfo":
        host, port = arguments[:2]
    else:
        return
    if not _is_here(host) or (host, port) == NOWHERE:
        attempts.append(
            f"The test tried to connect to {host}, port {port}; tests use what the package ships, "
            "skip what is not there, and never use the network."
        )
        raise ConnectionRefusedError(attempts[-1])


def _is_here(host):
    """Return whether a host is this machine."""
    if host in (None, "", "localhost", socket.gethostname()):
        return True
    try:
        address = ipaddress.ip_address(host)
        return address.is_loopback or address.is_unspecified
    except ValueError:  # a name
        return False
