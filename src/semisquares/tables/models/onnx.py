"""Models for other programs: an ONNX graph of encoder and classifier, checked when written.

The graph has an input for each column of the table that the model uses, of shape (N, 1):

========  ==============  ==================================  ================
column    type            value                               missing
========  ==============  ==================================  ================
number    tensor(double)  the number; durations in seconds    NaN
boolean   tensor(double)  1 for true or yes, 0 for the other  NaN
category  tensor(string)  the level, as `level_of` writes it  the empty string
========  ==============  ==================================  ================

Numbers are at most 1e150 in size. The outputs are what `TableModel.predict` returns: ``label``
(N,), ``probabilities`` (N, K), ``soft_label`` (N, K) and ``decision``, (N,) for two classes and
(N, K) for more. Everything is computed in double precision.

ONNX cannot read dates: a model that uses them becomes a graph of the classifier alone, whose input
``features`` (N, p) takes the output of the model's encoder. A model that uses texts is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ... import __version__
from ..._utils.messages import Parameter
from ..._utils.typing import Array
from ..._utils.words import counted
from .._arguments import instance, path_text
from .._encoding import Encoding, as_frame, clean, listed_columns
from ..columns import COLUMN_TYPES, most_specific_first
from ..columns._onnx import OUTPUTS, OnnxGraph, element_type, import_onnx
from ..errors import TableError
from ._graph import add_classifier, add_encoder, class_values
from .files import write_whole
from .model import MODEL, Prediction, TableModel

__all__ = ["OnnxExport", "check_exportable", "export_onnx"]


OPSETS = {"": 18, "ai.onnx.ml": 3}
IR_VERSION = 8  # these three are read by every onnxruntime since 1.14
TOLERANCE = 1e-9
FAR = 500.0
"""Decision values are compared up to this size: log-odds of more belong to 0 up to rounding."""
TEXT = "text"
_SHOWN = 5


@dataclass(frozen=True)
class OnnxExport:
    """What was written, and how it was checked."""

    path: str
    whole: bool
    """Whether the encoder is in the graph; if not, the graph takes encoded features."""
    note: str
    """What a caller needs to know, in a sentence."""
    inputs: tuple[str, ...]
    """Names of the graph's inputs; a column with the name of an output gets an underscore."""
    n_checked: int
    """Rows on which the graph was compared with the model."""
    largest_difference: float
    """Between probabilities of graph and model."""


def export_onnx(
    model: TableModel, path: str | Path, *, sample: pd.DataFrame | None = None
) -> OnnxExport:
    """Write a model as an ONNX graph, after checking that both predict the same.

    Parameters
    ----------
    model : TableModel
    path : str or Path
        The file is written completely or not at all.
    sample : DataFrame, optional
        Rows of the table to compare predictions on, besides made-up ones that hold all levels,
        unseen ones and missing cells.

    Raises
    ------
    TableError
        If graph and model disagree, if onnx or onnxruntime is not installed, or if the model uses
        columns of text.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.tables import make_table_pipeline
    >>> frame = pd.DataFrame({"age": [30, 40, 52, 61, 70], "town": ["A", "B", "B", "A", "A"]})
    >>> pipeline = make_table_pipeline(SoftLabelClassifier()).fit(frame, [0, 0, 1, -1, -1])
    >>> model = TableModel.from_pipeline(pipeline, "sick", ("no", "yes"))
    >>> done = export_onnx(model, Path(tempfile.mkdtemp()) / "sick.onnx", sample=frame)
    >>> done.whole, done.inputs, done.largest_difference < 1e-9
    (True, ('age', 'town'), True)
    """
    instance("model", model, TableModel, MODEL)
    path = path_text("path", path)
    sample = None if sample is None else as_frame(sample, "sample")
    check_exportable(model.encoder)
    import_onnx()
    graph = OnnxGraph()
    reason = _why_partial(model)
    if reason:
        features = graph.input("features", "double", len(model.encoder.features))
    else:
        features = add_encoder(graph, model)
    add_classifier(graph, model, features)
    data = _serialized(graph, model, reason)
    n_checked, largest = _compare(data, graph, model, sample)
    write_whole(data, path, "the ONNX model")
    note = _note(model, reason)
    return OnnxExport(path, not reason, note, tuple(graph.inputs), n_checked, largest)


def check_exportable(encoder: Encoding) -> None:
    """Raise TableError if there is no graph for models with this encoder: if it reads texts."""
    if TEXT not in encoder.encoders:
        return
    names = encoder.encoders[TEXT].columns
    holds, them = ("holds", "it") if len(names) == 1 else ("hold", "them")
    raise TableError(
        "ONNX cannot compute the features of {columns}, which {holds} text; fit without {them} "
        "({drop}), or use the stored model.",
        code="onnx_text",
        columns=listed_columns(names),
        holds=holds,
        them=them,
        drop=Parameter("drop", list(names)),
    )


def _why_partial(model: TableModel) -> str:
    """Return why the encoder cannot be in the graph, or "" if it can."""
    for kind, encoder in model.encoder.encoders.items():
        if not COLUMN_TYPES[kind].onnx_input:
            listed = ", ".join(map(repr, encoder.columns))
            columns = f"column{'s' * (len(encoder.columns) > 1)} {listed}"
            return f"ONNX cannot read the {COLUMN_TYPES[kind].plural} in {columns}"
    return ""


def _note(model: TableModel, reason: str) -> str:
    """Describe what the graph holds and which inputs it takes."""
    n_rows = model.classifier.n_rows_held
    rows = f" It holds {counted(n_rows, 'row')} of the table, encoded and standardised."
    rows *= n_rows > 0
    if reason:
        return (
            f"{reason}, so the graph holds the classifier alone: its input 'features' takes what "
            f"the encoder of the stored model gives.{rows}"
        )
    encoders = model.encoder.encoders
    inputs = "; ".join(
        one.onnx_input.format(columns=_some(encoders[one.name].columns))
        for one in most_specific_first()
        if one.name in encoders
    )
    return f"The graph holds encoder and classifier and takes the table's columns: {inputs}.{rows}"


def _some(names: tuple[str, ...]) -> str:
    """List the first few names."""
    return ", ".join(map(repr, names[:_SHOWN])) + ", …" * (len(names) > _SHOWN)


def _serialized(graph: OnnxGraph, model: TableModel, reason: str) -> bytes:
    onnx = import_onnx()
    n_classes = len(model.classes)
    kind = {"O": "string", "b": "bool", "f": "double"}.get(class_values(model).dtype.kind, "int64")
    by_class = ["N", n_classes]
    shapes = (["N"], by_class, by_class, ["N"] if n_classes == 2 else by_class)
    kinds = (kind, "double", "double", "double")
    outputs = [
        onnx.helper.make_tensor_value_info(name, element_type(element), shape)
        for name, element, shape in zip(OUTPUTS, kinds, shapes, strict=True)
    ]
    names = [feature.name for feature in model.encoder.features]
    body = onnx.helper.make_graph(graph.nodes, "table_model", graph.infos, outputs, graph.constants)
    body.doc_string = "Features: " + "; ".join(names)
    whole = onnx.helper.make_model(
        body,
        opset_imports=[onnx.helper.make_opsetid(*opset) for opset in OPSETS.items()],
        ir_version=IR_VERSION,
        producer_name="semisquares",
        producer_version=__version__,
        doc_string=f"Predicts {model.target!r}. {_note(model, reason)}",
    )
    about = {"classes": model.classes, "features": names, "inputs": graph.inputs}
    texts = {key: json.dumps(value, ensure_ascii=False) for key, value in about.items()}
    onnx.helper.set_model_props(whole, {"target": model.target, **texts})
    onnx.checker.check_model(whole, full_check=True)
    return whole.SerializeToString()


# -- the check ------------------------------------------------------------------------------------


def _compare(
    data: bytes, graph: OnnxGraph, model: TableModel, sample: pd.DataFrame | None
) -> tuple[int, float]:
    """Compare graph and model; return the number of rows and the largest difference."""
    session = _session(data)
    n_checked, largest = 0, 0.0
    made_up = model.made_up_rows()
    for frame in (made_up,) if sample is None or not len(sample) else (sample, made_up):
        expected = model.predict(frame)
        found = session.run(list(OUTPUTS), _inputs(graph, model, frame))
        largest = max(largest, _difference(expected, *found))
        n_checked += len(frame)
    return n_checked, largest


def _inputs(graph: OnnxGraph, model: TableModel, frame: pd.DataFrame) -> dict[str, Array]:
    """Return the rows of a table as inputs of the graph."""
    features = model.features(frame)
    if _why_partial(model):
        return {"features": model.encoder.transform(features)}
    cells = clean(features, model.encoder.columns)
    return {name: np.asarray(cells[column])[:, None] for name, column in graph.inputs.items()}


def _difference(
    expected: Prediction, labels: Array, probabilities: Array, soft: Array, decision: Array
) -> float:
    """Return the largest difference of probabilities; raise TableError beyond rounding."""
    known = np.clip(expected.decision, -FAR, FAR)
    size = TOLERANCE * max(1.0, float(np.abs(known).max()))
    if known.ndim == 2:
        ordered = np.sort(known, axis=1)
        margin = ordered[:, -1] - ordered[:, -2]
    else:
        margin = np.abs(known)
    wrong = (np.asarray(labels, dtype=object) != expected.labels) & (margin >= size)
    apart = [
        float(np.abs(one - other).max())
        for one, other in (
            (expected.probabilities, probabilities),
            (expected.soft_labels, soft),
            (known, np.clip(decision, -FAR, FAR)),
        )
    ]
    agree = all(difference <= size for difference in apart)  # False for NaN
    if wrong.any() or not agree:
        raise TableError(
            f"The ONNX model and the model disagree ({int(wrong.sum())} of {len(wrong)} labels, "
            f"probabilities by {apart[0]:.2g}, decision values by {apart[2]:.2g}), so nothing was "
            "written; use the stored model, and report this.",
            code="onnx_disagrees",
        )
    return apart[0]


def _session(data: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
