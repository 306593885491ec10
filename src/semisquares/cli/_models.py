"""Read and write model files; - is standard input or output."""

from __future__ import annotations

import sys

import skops.io  # noqa: F401 (while signals may still end the process at once)

from ..tables.models import TableModel, files
from ._output import Output
from ._parameters import option


def open_model(output: Output, path: str) -> TableModel:
    """Read a model; warn if other versions have written it."""
    if path == "-":
        model = files.loads(sys.stdin.buffer.read(), name="standard input")
    else:
        model = files.load(path)
    if note := files.version_note(model):
        output.warn(note)
    return model


def store_model(model: TableModel, path: str) -> None:
    """Write a model completely or not at all."""
    if path == "-":
        sys.stdout.buffer.write(files.dumps(model, write=option))
        sys.stdout.buffer.flush()
    else:
        files.save(model, path, write=option)
