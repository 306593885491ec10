"""What a model file may hold: types of an allow-list, and parts that fit each other.

The list, `ALLOWED`, is checked before any object is made. A file that names another type or calls a
function is refused.
"""

from __future__ import annotations

import io
import json
from typing import Any
from zipfile import ZipFile

import numpy as np

from ...estimators import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from ..encoder import TableEncoder
from ..errors import TableError
from .model import TableModel

__all__ = ["ALLOWED", "checked_model", "import_skops", "refuse_other_types"]

MOST_BYTES = 2**30
"""Most bytes that a file may unpack to; a model with a million coefficients has far fewer."""

CLASSIFIERS = (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)

# What a file may hold: plain data first, then encoder, classifiers and the pipeline of both.
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
    "semisquares.tables.encoder.TableEncoder",
    "sklearn.pipeline.Pipeline",
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


def refuse_other_types(data: bytes, name: str) -> None:
    """Raise TableError if a file describes objects of types that are not allowed.

    skops alone would trust every estimator of scikit-learn.
    """
    with ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
            raise TableError(f"{name!r} unpacks to more than any model needs; do not trust it.")
        schema = json.loads(archive.read("schema.json"))
    others = set(import_skops().get_untrusted_types(data=data)) - set(ALLOWED)
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


def checked_model(content: Any) -> TableModel:
    """Return the model of a file; raise any exception if its parts do not fit each other."""
    about, classes = content["about"], tuple(content["classes"])
    about = json.loads(about) if isinstance(about, str) else about  # not text in older files
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
        [name for name, _ in model.pipeline.steps] == ["encoder", "classifier"],
        type(model.encoder) is TableEncoder,
        type(classifier) in CLASSIFIERS,
        np.array_equal(classifier.classes_, np.arange(n_classes)),
        classifier.coef_.shape == (n_rows, len(model.encoder.features_)),
        classifier.intercept_.shape == (n_rows,),
        classifier.n_features_in_ == classifier.coef_.shape[1],
        np.isfinite(classifier.coef_).all() and np.isfinite(classifier.intercept_).all(),
    )
    if not all(fits):
        raise ValueError("parts that do not fit each other")
    model.predict(model.made_up_rows(8))  # runs every encoder
    return model


def import_skops() -> Any:
    """Import skops late: it takes a second."""
    try:
        import skops.io
    except ImportError as error:
        raise TableError(
            "Model files need skops, which is not installed; "
            "install it with pip install 'semisquares[tables]'."
        ) from error
    return skops.io
