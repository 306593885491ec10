"""Model files: plain data, whole or refused.

A model file is a ZIP archive of ``model.json``, a document, and of its arrays as ``.npy`` files,
in whose places the document has ``{"$npy": NAME}``. Its ZIP comment ends it with a line
``semisquares-model FORMAT sha256:DIGEST``. The digest is that of all bytes before it, and is
checked before anything is parsed. It detects accidents. Against malice, a file cannot name any
code: it holds texts, numbers and arrays of numbers, and one with anything else is refused. The
same model gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from ..._utils.files import atomic_write
from ..._utils.messages import Parameter
from ..._utils.versions import versions
from ..._utils.words import os_error
from .._arguments import instance, path_text
from ..errors import TableError
from .model import MODEL, TableModel

__all__ = ["dumps", "load", "loads", "save", "write_whole"]

FORMAT = 1
MARK = re.compile(rb"semisquares-model (\d{1,6}) sha256:([0-9a-f]{64})")
DIGEST = 64
LENGTH = 2
"""Bytes of the length of the ZIP comment, the last ones of an archive without comment."""
MOST_BYTES = 2**30
"""Most bytes that a file may unpack to; a model with a million coefficients has far fewer."""
DOCUMENT, ARRAY = "model.json", "$npy"
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
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
    """Write a model to a file atomically: whatever happens, it is the old file or the new one.

    Parameters
    ----------
    model : TableModel
        See `TableModel.to_plain` for what of its rows is written.
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
    >>> path = Path(tempfile.mkdtemp()) / "sick.model"
    >>> save(TableModel.from_pipeline(pipeline, "sick", ("no", "yes")), path)
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
    plain = model.to_plain(write)
    plain["about"] = {"versions": versions("pandas"), **plain["about"]}
    data = _pack(plain)
    comment = f"semisquares-model {FORMAT} sha256:".encode()
    length = struct.pack("<H", len(comment) + DIGEST)
    data = data[:-LENGTH] + length + comment
    return data + hashlib.sha256(data).hexdigest().encode()


def _pack(plain: dict[str, Any]) -> bytes:
    """Write plain data as a ZIP archive, the same bytes for the same data."""
    arrays: dict[str, Any] = {}

    def without_arrays(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: without_arrays(one, f"{name}{key}/") for key, one in value.items()}
        if isinstance(value, np.ndarray):
            arrays[f"{name[:-1]}.npy"] = value
            return {ARRAY: f"{name[:-1]}.npy"}
        return value

    document = without_arrays(plain, "")
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:  # ZipInfo's time is always that of 1980
        archive.writestr(ZipInfo(DOCUMENT), text.encode())
        for name, array in arrays.items():
            part = io.BytesIO()
            npy.write_array(part, array, allow_pickle=False)
            archive.writestr(ZipInfo(name), part.getvalue())
    return buffer.getvalue()


def write_whole(data: bytes, path: str | Path, what: str) -> None:
    """Write a file at once; `what` it holds is named in the message if that fails."""
    try:
        with atomic_write(path) as file:
            file.write(data)
    except OSError as error:
        raise TableError(
            f"{os_error(error, 'writing', repr(str(path)))}; give {what} a path in a folder that "
            "can be written to.",
            code="model_not_written",
        ) from error


# -- reading ------------------------------------------------------------------------------------


def load(path: str | Path) -> TableModel:
    """Read a model from a file that `save` has written; a file cannot hold code.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    TableError
        With one sentence that says what is wrong with the file.
    """
    name = path_text("path", path)
    if os.path.isdir(name):  # Windows would deny the permission to open it
        raise TableError(
            f"{name!r} is a folder; give the model file in it that semisquares fit has written.",
            code="model_is_folder",
        )
    try:
        with open(name, "rb") as file:
            data = file.read(4096)
            if data.startswith(b"PK"):  # otherwise it is not a model; it may be gigabytes
                data += file.read()
    except FileNotFoundError as error:
        raise TableError(
            f"There is no file {name!r}; give the path of a model that semisquares fit wrote.",
            code="model_not_found",
        ) from error
    except OSError as error:
        raise TableError(
            f"{os_error(error, 'reading', repr(name))}; give a model file that can be opened.",
            code="model_not_readable",
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
        raise TableError(_no_model(data, name), code="not_a_model")
    if hashlib.sha256(data[:-DIGEST]).hexdigest().encode() != mark[2]:
        raise TableError(_damaged(name), code="model_damaged")
    if int(mark[1]) > FORMAT:
        raise TableError(
            f"{name!r} was written by a newer semisquares (format {int(mark[1])}, this one reads "
            f"{FORMAT}): upgrade with pip install --upgrade semisquares.",
            code="model_newer",
        )
    try:
        return TableModel.from_plain(_unpack(data, name))
    except _Refused:
        raise
    except Exception as error:  # a digest can be forged, and then nothing is certain
        raise TableError(
            f"{name!r} looks like a semisquares model, but its content makes no sense "
            f"({type(error).__name__}); fit the model again.",
            code="model_senseless",
        ) from error


class _Refused(TableError):
    """A file that was not opened."""


def _unpack(data: bytes, name: str) -> dict[str, Any]:
    """Read the plain data of an archive; refuse one that holds anything else."""
    with ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
            raise _Refused(
                f"{name!r} unpacks to more than any model needs; do not trust it.",
                code="model_too_large",
            )
        document = json.loads(archive.read(DOCUMENT))
        unused = sorted(archive.namelist())
        unused.remove(DOCUMENT)

        def with_arrays(value: Any) -> Any:
            if isinstance(value, list):
                return [with_arrays(one) for one in value]
            if not isinstance(value, dict):
                return value
            if value.keys() != {ARRAY}:
                return {key: with_arrays(one) for key, one in value.items()}
            unused.remove(value[ARRAY])
            return _read_array(archive.read(value[ARRAY]), value[ARRAY], name)

        plain = with_arrays(document)
    if unused:
        raise _refusal(name, ", ".join(unused))
    return plain


def _read_array(data: bytes, place: str, name: str) -> Any:
    """Read an array of numbers; never a pickle, which could hold code."""
    part = io.BytesIO(data)
    shape, _, dtype = _HEADERS[npy.read_magic(part)](part)
    if dtype.kind not in "bif":
        raise _refusal(name, f"{place} of type {dtype}")
    if math.prod(shape) * dtype.itemsize != len(data) - part.tell():
        raise ValueError("an array of another length")
    part.seek(0)
    return npy.read_array(part, allow_pickle=False)


def _refusal(name: str, what: str) -> _Refused:
    return _Refused(
        f"{name!r} holds what no semisquares model does ({what}), so it was not opened; fit the "
        "model again, or ask whoever sent it.",
        code="model_foreign",
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
        f"{name!r} is not a semisquares model (it looks like {looks}); "
        "give a file that semisquares fit has written."
    )


def _look_of_text(head: bytes) -> str:
    if b"\x00" in head:
        return "binary data"
    first, _, rest = head.partition(b"\n")
    return "a CSV table" if rest and re.search(rb"[,;\t]", first) else "text"


def _damaged(name: str) -> str:
    return f"{name!r} is damaged or cut short; copy it again, or fit the model again."
