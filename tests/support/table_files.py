"""Small tables as files."""

from __future__ import annotations

import io

from semisquares.tables import find

PLAIN = "age,kind\n30,red\n41,blue\n"


def put(folder, name, content):
    """Write a file, text as UTF-8, and return its path."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def bytes_of(table, write):
    sink = io.BytesIO()
    write(table, sink)
    return sink.getvalue()


def csv_of(frame):
    """Return a frame as the source of a CSV table on standard input."""
    return find("-", stdin=io.BytesIO(frame.to_csv(index=False).encode()))
