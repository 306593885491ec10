"""Model files as commands read and write them: by name, or - for standard input and output."""

from __future__ import annotations

import sys

import skops.io  # noqa: F401 (now, not in the middle of the work)

from ..tables.models import TableModel, files
from .parameters import option
from .talk import Talk


def open_model(talk: Talk, path: str) -> TableModel:
    """Read a model, and say so where other versions have written it."""
    if path == "-":
        model = files.loads(sys.stdin.buffer.read(), name="standard input")
    else:
        model = files.load(path)
    if note := files.version_note(model):
        talk.warn(note)
    return model


def store_model(model: TableModel, path: str) -> None:
    """Write a model, whole or not at all."""
    if path == "-":
        sys.stdout.buffer.write(files.dumps(model, write=option))
        sys.stdout.buffer.flush()
    else:
        files.save(model, path, write=option)
