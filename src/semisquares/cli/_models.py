"""Read and write model files; - is standard input or output."""

from __future__ import annotations

import sys

from ..tables.models import TableModel, files
from ._parameters import option


def open_model(path: str) -> TableModel:
    """Read a model."""
    if path == "-":
        return files.loads(sys.stdin.buffer.read(), name="standard input")
    return files.load(path)


def store_model(model: TableModel, path: str) -> None:
    """Write a model completely or not at all."""
    if path == "-":
        sys.stdout.buffer.write(files.dumps(model, write=option))
        sys.stdout.buffer.flush()
    else:
        files.save(model, path, write=option)
