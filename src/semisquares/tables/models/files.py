"""Model files: whole or refused, and no code runs when they are read.

A model file is a skops file, a ZIP archive of arrays and of a description in JSON. Its ZIP comment
ends it with a line ``semisquares-model FORMAT sha256:DIGEST``. The digest is that of all bytes
before it, and is checked before anything is parsed. It tells accidents; what keeps malice out is
the list of types in `ALLOWED`: a file that names another type, or asks for a function, is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline

from ...estimators import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from ...files import replaced
from ...versions import versions
from ..errors import TableError
from ..preparation import TablePreparation
from .model import TableModel, slim

__all__ = ["dumps", "load", "loads", "save", "version_note"]

FORMAT = 1
MARK = re.compile(rb"semisquares-model (\d{1,6}) sha256:([0-9a-f]{64})")
DIGEST = 64
LENGTH = 2
"""Bytes of the length of the ZIP comment, the last ones of an archive without comment."""
MOST_BYTES = 2**30
"""Most that a file may unpack to; a model of a million coefficients is far below."""

CLASSIFIERS = (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)

# What a file may hold. Plain data first; then what the preparation and the classifiers are made of.
DATA = (
    "builtins.bool",
    "builtins.dict",
    "builtins.float",
    "builtins.int",
    "builtins.list",
    "builtins.slice",
    "builtins.str",
    "builtins.tuple",
    "numpy.bool",
    "numpy.dtype",
    "numpy.float64",
    "numpy.int64",
    "numpy.ndarray",
)
OBJECTS = (
    "semisquares.estimators.hard.HardLabelClassifier",
    "semisquares.estimators.soft.SoftLabelClassifier",
    "semisquares.estimators.soft_cv.SoftLabelClassifierCV",
    "semisquares.estimators.supervised.LeastSquaresClassifier",
    "semisquares.tables.dates.DateParts",
    "semisquares.tables.kinds.Column",
    "semisquares.tables.preparation.Feature",
    "semisquares.tables.preparation.TablePreparation",
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",
)
ALLOWED = DATA + OBJECTS
LOADERS = (  # how skops makes them: never by calling a function that the file names
    "DictNode",
    "DTypeNode",
    "JsonNode",
    "ListNode",
    "NdArrayNode",
    "ObjectNode",
    "SliceNode",
    "TupleNode",
    "TypeNode",
)
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


def save(model: TableModel, path: str | Path) -> None:
    """Write a model to a file, at once: whatever happens, the file is the old or the new one.

    Parameters
    ----------
    model : TableModel
        It is written without anything of its rows.
    path : str or Path

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from semisquares import LeastSquaresClassifier
    >>> from semisquares.tables.preparation import make_table_pipeline
    >>> frame = pd.DataFrame({"age": [30, 40, 52, 61]})
    >>> pipeline = make_table_pipeline(LeastSquaresClassifier()).fit(frame, [0, 0, 1, 1])
    >>> path = Path(tempfile.mkdtemp()) / "sick.skops"
    >>> save(TableModel(pipeline, "sick", ("no", "yes")), path)
    >>> load(path).predict(frame).labels.tolist()
    ['no', 'no', 'yes', 'yes']
    """
    data = dumps(model)
    try:
        with replaced(path) as file:
            file.write(data)
    except OSError as error:
        raise TableError(
            f"The model cannot be written to {str(path)!r} ({_reason(error)}); "
            "give a path in a folder that can be written to."
        ) from error


def dumps(model: TableModel) -> bytes:
    """Return the content of a model file.

    Parameters
    ----------
    model : TableModel
    """
    skops = _skops()
    steps = [("preparation", model.preparation), ("classifier", slim(model.classifier))]
    content = {
        "pipeline": Pipeline(steps),
        "target": model.target,
        "classes": list(model.classes),
        "group": model.group,
        "unlabeled": model.unlabeled,
        "missing": list(model.missing),
        "about": json.loads(json.dumps({"versions": versions("pandas", "skops"), **model.about})),
    }
    data = skops.dumps(content, compression=ZIP_DEFLATED)
    comment = f"semisquares-model {FORMAT} sha256:".encode()
    length = struct.pack("<H", len(comment) + DIGEST)
    data = data[:-LENGTH] + length + comment
    return data + hashlib.sha256(data).hexdigest().encode()


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
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
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
            f"The model {name!r} cannot be read ({_reason(error)}); give a file that can be opened."
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
    skops = _skops()
    try:
        _refuse_other_types(data, name)
        with warnings.catch_warnings():  # version_note says it, once and in words
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            content = skops.loads(data, trusted=ALLOWED)
        return _checked(content)
    except TableError:
        raise
    except Exception as error:  # a digest can be forged, and then nothing is certain
        raise TableError(
            f"{name!r} has the outside of a semisquares model, but its content makes no sense "
            f"({type(error).__name__}); fit the model again."
        ) from error


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


def _refuse_other_types(data: bytes, name: str) -> None:
    """Look through the description of all objects, before any of them is made.

    skops would trust every estimator of scikit-learn, too; this list is shorter.
    """
    with ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
            raise TableError(f"{name!r} unpacks to more than any model needs; do not trust it.")
        schema = json.loads(archive.read("schema.json"))
    others = set(_skops().get_untrusted_types(data=data)) - set(ALLOWED)
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict) and isinstance(loader := node.get("__loader__"), str):
            kind = f"{node.get('__module__')}.{node.get('__class__')}"
            if kind not in ALLOWED or loader not in LOADERS:
                others.add(kind)
        waiting += node.values() if isinstance(node, dict) else node if type(node) is list else ()
    if others:
        raise TableError(
            f"{name!r} holds what no semisquares model does ({', '.join(sorted(others))}), so it "
            "was not opened; fit the model again, or ask whoever sent it."
        )


def _checked(content: Any) -> TableModel:
    """Return the model of a file, or raise anything where its parts do not fit each other."""
    about, classes = content["about"], tuple(content["classes"])
    texts = (content["target"], *content["missing"])
    names = (content["group"], content["unlabeled"])
    model = TableModel(
        pipeline=content["pipeline"],
        target=content["target"],
        classes=classes,
        group=content["group"],
        unlabeled=content["unlabeled"],
        missing=tuple(content["missing"]),
        about=about,
    )
    classifier, n_classes = model.classifier, len(classes)
    n_rows = 1 if n_classes == 2 else n_classes
    fits = (
        type(about) is dict,
        all(isinstance(text, str) for text in texts),
        all(isinstance(text, str | None) for text in names),
        all(isinstance(value, str | int | float) for value in classes),
        n_classes == len(set(classes)) >= 2,
        len(model.spelled) in (0, n_classes),
        [name for name, _ in model.pipeline.steps] == ["preparation", "classifier"],
        type(model.preparation) is TablePreparation,
        type(classifier) in CLASSIFIERS,
        np.array_equal(classifier.classes_, np.arange(n_classes)),
        classifier.coef_.shape == (n_rows, len(model.preparation.features_)),
        classifier.intercept_.shape == (n_rows,),
        classifier.n_features_in_ == classifier.coef_.shape[1],
        np.isfinite(classifier.coef_).all() and np.isfinite(classifier.intercept_).all(),
    )
    if not all(fits):
        raise ValueError("parts that do not fit each other")
    model.predict(model.made_up_rows(8))  # which goes through every part
    return model


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


def _damaged(name: str) -> str:
    return f"{name!r} is damaged or cut short; copy it again, or fit the model again."


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _skops() -> Any:
    """Import skops late: it takes a second."""
    try:
        import skops.io
    except ImportError as error:
        raise TableError(
            "Model files need skops, which is not installed; "
            "install it with pip install 'semisquares[tables]'."
        ) from error
    return skops.io
