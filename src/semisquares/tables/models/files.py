"""Model files: whole or refused, and no code runs when they are read.

A model file is a skops file, a ZIP archive of arrays and of a description in JSON. Its ZIP comment
ends it with a line ``semisquares-model FORMAT sha256:DIGEST``. The digest is that of all bytes
before it, and is checked before anything is parsed. It tells accidents; what keeps malice out is
the audit: a file that names a type which no model has, or asks for a function, is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from zipfile import ZIP_DEFLATED

from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline

from ..._utils.files import atomic_write
from ..._utils.messages import Parameter, render
from ..._utils.versions import versions
from ..._utils.words import os_error
from .._arguments import instance, path_text
from ..errors import TableError
from ._audit import ALLOWED, checked_model, import_skops, refuse_other_types
from .model import MODEL, TableModel, slim, without_cells

__all__ = ["dumps", "load", "loads", "save", "version_note", "write_whole"]

FORMAT = 1
MARK = re.compile(rb"semisquares-model (\d{1,6}) sha256:([0-9a-f]{64})")
DIGEST = 64
LENGTH = 2
"""Bytes of the length of the ZIP comment, the last ones of an archive without comment."""
LOOKS = (
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PAR1", "a Parquet table"),
    (b"ARROW1", "a Feather table"),
    (b"\x80", "a pickle"),
    (b"\x1f\x8b", "a compressed file"),
    (b"\x08", "an ONNX model, which semisquares writes but does not read"),
    (b"{", "JSON"),
    (b"<", "a web page"),
)


# -- writing ------------------------------------------------------------------------------------


def save(model: TableModel, path: str | Path, *, write: Callable[[Parameter], str] = str) -> None:
    """Write a model to a file, at once: whatever happens, the file is the old or the new one.

    Parameters
    ----------
    model : TableModel
        It is written without anything of its rows, but for the levels of its categories.
    path : str or Path
    write : callable, default=str
        Writes the parameters that the model's notes name: the command line stores options.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from semisquares import LeastSquaresClassifier
    >>> from semisquares.tables import make_table_pipeline
    >>> frame = pd.DataFrame({"age": [30, 40, 52, 61]})
    >>> pipeline = make_table_pipeline(LeastSquaresClassifier()).fit(frame, [0, 0, 1, 1])
    >>> path = Path(tempfile.mkdtemp()) / "sick.skops"
    >>> save(TableModel(pipeline, "sick", ("no", "yes")), path)
    >>> load(path).predict(frame).labels.tolist()
    ['no', 'no', 'yes', 'yes']
    """
    path = path_text("path", path)
    write_whole(dumps(model, write=write), path, "the model")


def dumps(model: TableModel, *, write: Callable[[Parameter], str] = str) -> bytes:
    """Return the content of a model file.

    Parameters
    ----------
    model : TableModel
    write : callable, default=str
        Writes the parameters that the model's notes name: the command line stores options.
    """
    instance("model", model, TableModel, MODEL)
    skops = import_skops()
    encoder = without_cells(model.encoder, write)
    steps = [("encoder", encoder), ("classifier", slim(model.classifier))]
    about = render(dict(model.about), write)
    content = {
        "pipeline": Pipeline(steps),
        "target": model.target,
        "classes": list(model.classes),
        "group": model.group,
        "unlabeled": model.unlabeled,
        "missing": list(model.missing),
        "about": json.dumps({"versions": versions("pandas", "skops"), **about}),
    }
    data = skops.dumps(content, compression=ZIP_DEFLATED)
    comment = f"semisquares-model {FORMAT} sha256:".encode()
    length = struct.pack("<H", len(comment) + DIGEST)
    data = data[:-LENGTH] + length + comment
    return data + hashlib.sha256(data).hexdigest().encode()


def write_whole(data: bytes, path: str | Path, what: str) -> None:
    """Write a file at once; where that cannot be, say so of `what` it was to hold."""
    try:
        with atomic_write(path) as file:
            file.write(data)
    except OSError as error:
        raise TableError(
            f"{os_error(error, 'writing', repr(str(path)))}; give {what} a path in a folder that "
            "can be written to."
        ) from error


# -- reading ------------------------------------------------------------------------------------


def load(path: str | Path) -> TableModel:
    """Read a model from a file that `save` has written; no code in it is run.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    TableError
        With one sentence that says what is wrong with the file.
    """
    name = path_text("path", path)
    try:
        with open(name, "rb") as file:
            data = file.read(4096)
            if data.startswith(b"PK"):  # else it is no model, and may be a table of gigabytes
                data += file.read()
    except FileNotFoundError as error:
        raise TableError(
            f"There is no file {name!r}; give the path of a model that semisquares fit has written."
        ) from error
    except IsADirectoryError as error:
        raise TableError(
            f"{name!r} is a folder; give the model file in it that semisquares fit has written."
        ) from error
    except OSError as error:
        raise TableError(
            f"{os_error(error, 'reading', repr(name))}; give a model file that can be opened."
        ) from error
    return loads(data, name=name)


def loads(data: bytes, name: str = "the file") -> TableModel:
    """Read a model from the content of a model file.

    Parameters
    ----------
    data : bytes
    name : str
        What to call the file in messages.
    """
    instance("data", data, bytes, "the bytes of a model file")
    mark = MARK.fullmatch(data, max(0, data.rfind(b"semisquares-model ", -128)))
    if mark is None:
        raise TableError(_no_model(data, name))
    if hashlib.sha256(data[:-DIGEST]).hexdigest().encode() != mark[2]:
        raise TableError(_damaged(name))
    if int(mark[1]) > FORMAT:
        raise TableError(
            f"{name!r} was written by a newer semisquares (format {int(mark[1])}, this one reads "
            f"{FORMAT}): upgrade with pip install --upgrade semisquares."
        )
    skops = import_skops()
    try:
        refuse_other_types(data, name)
        with warnings.catch_warnings():  # version_note says it, once and in words
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            content = skops.loads(data, trusted=ALLOWED)
    except TableError:
        raise
    except Exception as error:  # a digest can be forged, and then nothing is certain
        raise _senseless(name, error) from error
    try:
        return checked_model(content)
    except Exception as error:
        raise _senseless(name, error) from error


def version_note(model: TableModel) -> str | None:
    """Say where a model was written with another scikit-learn, or return None.

    Parameters
    ----------
    model : TableModel
    """
    then, now = model.about.get("versions", {}).get("scikit-learn"), version("scikit-learn")
    if then is None or then.split(".")[:2] == now.split(".")[:2]:
        return None
    return (
        f"The model was written with scikit-learn {then} and is read with {now}; its predictions "
        "may differ from those of its day, so fit it again where that matters."
    )


def _no_model(data: bytes, name: str) -> str:
    """Say what a file is that does not end as a model does."""
    if not data:
        return f"{name!r} is empty; give a file that semisquares fit has written."
    end = data.rfind(b"PK\x05\x06")
    ours = re.search(rb"semisquares-model| sha256:", data[end:])
    if data.startswith(b"PK\x03\x04") and (end < 0 or ours):
        return _damaged(name)
    looks = next((words for start, words in LOOKS if data.startswith(start)), None)
    if looks is None:
        looks = _look_of_text(data[:4096])
    return (
        f"{name!r} is no semisquares model (it looks like {looks}); "
        "give a file that semisquares fit has written."
    )


def _look_of_text(head: bytes) -> str:
    if b"\x00" in head:
        return "binary data"
    first, _, rest = head.partition(b"\n")
    return "a CSV table" if rest and re.search(rb"[,;\t]", first) else "text"


def _senseless(name: str, error: Exception) -> TableError:
    return TableError(
        f"{name!r} has the outside of a semisquares model, but its content makes no sense "
        f"({type(error).__name__}); fit the model again."
    )


def _damaged(name: str) -> str:
    return f"{name!r} is damaged or cut short; copy it again, or fit the model again."
