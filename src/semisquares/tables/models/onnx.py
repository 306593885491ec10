"""Models for other programs: an ONNX graph of preparation and classifier, checked when written.

The graph has an input for each column of the table that the model uses, of shape (N, 1):

========  ==============  =================================  ==================
column    type            value                              missing
========  ==============  =================================  ==================
number    tensor(double)  the number; durations in seconds   NaN
boolean   tensor(double)  0 or 1                             NaN
category  tensor(string)  the level, without blanks around   the empty string
========  ==============  =================================  ==================

Its outputs are ``label`` (N,), ``soft_label`` (N, K) and ``decision``, (N,) for two classes and
(N, K) for more. ONNX cannot read dates: a model that uses them becomes a graph of the classifier
alone, whose input ``features`` (N, p) takes what the model's preparation gives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import __version__
from ...files import replaced
from ..errors import TableError
from ..kinds import level_of, text_cells, to_booleans, to_numbers
from .model import UNKNOWN, Prediction, TableModel

__all__ = ["OnnxExport", "export_onnx"]

Array = NDArray[Any]

OPSETS = {"": 18, "ai.onnx.ml": 3}
IR_VERSION = 8  # these three are read by every onnxruntime since 1.14
OUTPUTS = ("label", "soft_label", "decision")
TOLERANCE = 1e-9


@dataclass(frozen=True)
class OnnxExport:
    """What was written, and how it was checked."""

    path: str
    whole: bool
    """Whether the preparation is in the graph; else it takes prepared features."""
    note: str
    """What a caller has to know, in a sentence."""
    inputs: tuple[str, ...]
    """Names of the graph's inputs; a column called as an output is has an underscore added."""
    n_checked: int
    """Rows on which the graph was compared with the model."""
    largest_difference: float
    """Between decision values of the two."""


def export_onnx(
    model: TableModel, path: str | Path, *, sample: pd.DataFrame | None = None
) -> OnnxExport:
    """Write a model as an ONNX graph, once its predictions are those of the model.

    Parameters
    ----------
    model : TableModel
    path : str or Path
        It is written at once, or not at all.
    sample : DataFrame, optional
        Rows of the table to compare predictions on, besides made-up ones that hold all levels,
        unseen ones and missing cells.

    Raises
    ------
    TableError
        Where graph and model disagree, or where onnx or onnxruntime are not installed.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from semisquares import SoftLabelClassifier
    >>> from semisquares.tables.preparation import make_table_pipeline
    >>> frame = pd.DataFrame({"age": [30, 40, 52, 61, 70], "town": ["A", "B", "B", "A", "A"]})
    >>> pipeline = make_table_pipeline(SoftLabelClassifier()).fit(frame, [0, 0, 1, -1, -1])
    >>> model = TableModel(pipeline, "sick", ("no", "yes"))
    >>> done = export_onnx(model, Path(tempfile.mkdtemp()) / "sick.onnx", sample=frame)
    >>> done.whole, done.inputs, done.largest_difference < 1e-9
    (True, ('age', 'town'), True)
    """
    _onnx()
    graph = _Graph()
    reason = _unsayable(model)
    if reason:
        features = graph.input("features", "double", len(model.preparation.features_))
    else:
        features = _prepare(graph, model)
    _classify(graph, model, features)
    data = _serialized(graph, model, reason)
    n_checked, largest = _compare(data, graph, model, sample)
    try:
        with replaced(path) as file:
            file.write(data)
    except OSError as error:
        raise TableError(
            f"The ONNX model cannot be written to {str(path)!r} "
            f"({(error.strerror or str(error)).lower()}); give a path that can be written to."
        ) from error
    return OnnxExport(str(path), not reason, _note(reason), tuple(graph.inputs), n_checked, largest)


# -- the graph ------------------------------------------------------------------------------------


@dataclass
class _Graph:
    """A graph under construction; every result gets a name of its own."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    """The column of each input."""
    infos: list[Any] = field(default_factory=list)
    taken: set[str] = field(default_factory=lambda: set(OUTPUTS))

    def name(self, wanted: str) -> str:
        """Return a name that nothing else in the graph has."""
        while not wanted or wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

    def input(self, column: str, kind: str, width: int = 1) -> str:
        """Add an input for a column."""
        name = self.name(column)
        info = _onnx().helper.make_tensor_value_info(name, _element_type(kind), ["N", width])
        info.doc_string = column
        self.inputs[name] = column
        self.infos.append(info)
        return name

    def constant(self, values: Any) -> str:
        """Add an array of numbers, bools or texts."""
        onnx, array = _onnx(), np.asarray(values)
        name = self.name(f"constant_{len(self.constants)}")
        if array.dtype == object:
            texts = [str(value).encode() for value in array.ravel()]
            tensor = onnx.helper.make_tensor(name, _element_type("string"), array.shape, texts)
        else:
            tensor = onnx.numpy_helper.from_array(array, name)
        self.constants.append(tensor)
        return name

    def add(
        self,
        operator: str,
        *inputs: str,
        attributes: Mapping[str, Any] | None = None,
        domain: str = "",
        output: str = "",
        n_outputs: int = 1,
    ) -> str:
        """Add an operator, and return the name of its first result."""
        place = len(self.nodes)
        outputs = [output or self.name(f"{operator}_{place}_{k}") for k in range(n_outputs)]
        node = _onnx().helper.make_node(
            operator, inputs, outputs, domain=domain, **(attributes or {})
        )
        self.nodes.append(node)
        return outputs[0]


def _unsayable(model: TableModel) -> str:
    """Say why the preparation cannot be in the graph; "" where it can."""
    dates = [c.name for c in model.preparation.columns_ if c.used and c.kind == "date"]
    if not dates:
        return ""
    listed = ", ".join(map(repr, dates))
    return f"ONNX cannot read the dates in column{'s' * (len(dates) > 1)} {listed}"


def _note(reason: str) -> str:
    if reason:
        return (
            f"{reason}, so the graph holds the classifier alone: its input 'features' takes what "
            "the preparation of the stored model gives."
        )
    return "The graph takes the columns of the table and holds preparation and classifier."


def _prepare(graph: _Graph, model: TableModel) -> str:
    """Add what `TablePreparation` does with each kind of columns, part by part in its order."""
    found = []
    for kind, part, names in model.preparation.transformer_.transformers_:
        if kind == "number":
            filled = _filled(graph, part["fill"], names)
            centred = graph.add("Sub", filled, graph.constant(part["scale"].mean_[None]))
            found.append(graph.add("Div", centred, graph.constant(part["scale"].scale_[None])))
        elif kind == "boolean":
            found.append(_filled(graph, part, names))
        elif kind == "category":
            tables = zip(names, part.categories_, _encoded(model, part, names), strict=True)
            found += [_looked_up(graph, *table) for table in tables]
    return graph.add("Concat", *found, attributes={"axis": 1})


def _filled(graph: _Graph, imputer: Any, names: list[str]) -> str:
    """Fill missing numbers, and append flags for the columns that had missing ones in `fit`."""
    columns = [graph.input(name, "double") for name in names]
    X = graph.add("Concat", *columns, attributes={"axis": 1})
    missing = graph.add("IsNaN", X)
    fill = graph.constant(imputer.statistics_.astype(np.float64)[None])
    filled = graph.add("Where", missing, fill, X)
    places = imputer.indicator_.features_
    if not len(places):
        return filled
    places = graph.constant(places.astype(np.int64))
    flags = graph.add("Gather", missing, places, attributes={"axis": 1})
    flags = graph.add("Cast", flags, attributes={"to": _element_type("double")})
    return graph.add("Concat", filled, flags, attributes={"axis": 1})


def _looked_up(graph: _Graph, name: str, levels: Array, rows: Array) -> str:
    """Look up the features of each level, in the last row those of all others."""
    keys = {
        "keys_strings": [str(level) for level in levels],
        "values_int64s": list(range(len(levels))),
        "default_int64": len(levels),
    }
    column = graph.input(name, "string")
    place = graph.add("LabelEncoder", column, domain="ai.onnx.ml", attributes=keys)
    block = graph.add("Gather", graph.constant(rows), place, attributes={"axis": 0})
    return graph.add("Squeeze", block, graph.constant([1]))


def _encoded(model: TableModel, encoder: Any, names: list[str]) -> list[Array]:
    """Ask the encoder for the features of each level of each column, and of an unknown one."""
    n_most = max(map(len, encoder.categories_)) + 1
    padded = {
        name: [*levels, *[UNKNOWN] * (n_most - len(levels))]
        for name, levels in zip(names, encoder.categories_, strict=True)
    }
    rows = encoder.transform(pd.DataFrame(padded, dtype=object))
    of = [f.column for f in model.preparation.features_ if f.column in padded]
    return [
        rows[: len(levels) + 1, [k for k, column in enumerate(of) if column == name]]
        for name, levels in zip(names, encoder.categories_, strict=True)
    ]


def _classify(graph: _Graph, model: TableModel, features: str) -> None:
    """Add decision values, labels and soft labels."""
    coef, intercept = _weights(model)
    product = graph.add("MatMul", features, graph.constant(coef.T))
    shift, half = graph.constant(intercept), graph.constant(0.5)
    if len(model.classes) > 2:
        decision = graph.add("Add", product, shift, output="decision")
        place = graph.add("ArgMax", decision, attributes={"axis": 1, "keepdims": 0})
        _project(graph, graph.add("Add", decision, half), len(model.classes))
    else:
        zero, one = graph.constant(0.0), graph.constant(1.0)
        column = graph.add("Add", product, shift)
        decision = graph.add("Squeeze", column, graph.constant([1]), output="decision")
        above = graph.add("Greater", decision, zero)
        place = graph.add("Cast", above, attributes={"to": _element_type("int64")})
        second = graph.add("Clip", graph.add("Add", column, half), zero, one)
        first = graph.add("Sub", one, second)
        graph.add("Concat", first, second, attributes={"axis": 1}, output="soft_label")
    values = graph.constant(_class_values(model))
    graph.add("Gather", values, place, attributes={"axis": 0}, output="label")


def _project(graph: _Graph, z: str, n_classes: int) -> None:
    """Add the projection on the simplex, max(z - t, 0), t = max_k (sum of k largest - 1) / k."""
    axis, one = graph.constant([1]), graph.constant(1.0)
    z = graph.add("Sub", z, graph.add("ReduceMax", z, axis))  # as `project_simplex` does
    ordered = graph.add("TopK", z, graph.constant([n_classes]), n_outputs=2)
    sums = graph.add("CumSum", ordered, graph.constant(1))
    ranks = graph.constant(np.arange(1.0, n_classes + 1.0)[None])
    threshold = graph.add("ReduceMax", graph.add("Div", graph.add("Sub", sums, one), ranks), axis)
    above = graph.add("Sub", z, threshold)
    graph.add("Max", above, graph.constant(0.0), output="soft_label")


def _weights(model: TableModel) -> tuple[Array, Array]:
    return model.classifier.coef_, model.classifier.intercept_


def _class_values(model: TableModel) -> Array:
    """Return the classes as ONNX can hold them; texts as objects."""
    values = model.class_values()
    return values if values.dtype in (np.bool_, np.int64, np.float64) else values.astype(object)


def _serialized(graph: _Graph, model: TableModel, reason: str) -> bytes:
    onnx = _onnx()
    n_classes = len(model.classes)
    kind = {"O": "string", "b": "bool", "f": "double"}.get(_class_values(model).dtype.kind, "int64")
    shapes = (["N"], ["N", n_classes], ["N"] if n_classes == 2 else ["N", n_classes])
    outputs = [
        onnx.helper.make_tensor_value_info(name, _element_type(element), shape)
        for name, element, shape in zip(OUTPUTS, (kind, "double", "double"), shapes, strict=True)
    ]
    names = [feature.name for feature in model.preparation.features_]
    body = onnx.helper.make_graph(graph.nodes, "table_model", graph.infos, outputs, graph.constants)
    body.doc_string = "Features: " + "; ".join(names)
    whole = onnx.helper.make_model(
        body,
        opset_imports=[onnx.helper.make_opsetid(*opset) for opset in OPSETS.items()],
        ir_version=IR_VERSION,
        producer_name="semisquares",
        producer_version=__version__,
        doc_string=f"Predicts {model.target!r}. {_note(reason)}",
    )
    about = {"classes": model.classes, "features": names, "inputs": graph.inputs}
    texts = {key: json.dumps(value, ensure_ascii=False) for key, value in about.items()}
    onnx.helper.set_model_props(whole, {"target": model.target, **texts})
    onnx.checker.check_model(whole, full_check=True)
    return whole.SerializeToString()


# -- the check ------------------------------------------------------------------------------------


def _compare(
    data: bytes, graph: _Graph, model: TableModel, sample: pd.DataFrame | None
) -> tuple[int, float]:
    """Run the graph beside the model; return the rows compared and the largest difference."""
    session = _session(data)
    n_checked, largest = 0, 0.0
    made_up = model.made_up_rows()
    for frame in (made_up,) if sample is None or not len(sample) else (sample, made_up):
        expected = model.predict(frame)
        found = session.run(list(OUTPUTS), _inputs(graph, model, frame))
        largest = max(largest, _difference(expected, *found))
        n_checked += len(frame)
    return n_checked, largest


def _inputs(graph: _Graph, model: TableModel, frame: pd.DataFrame) -> dict[str, Array]:
    """Return the rows of a table as the graph takes them."""
    features = model.features(frame)
    if _unsayable(model):
        return {"features": model.preparation.transform(features)}
    kinds = {column.name: column.kind for column in model.preparation.columns_}
    return {
        name: _cells(features[column], kinds[column])[:, None]
        for name, column in graph.inputs.items()
    }


def _cells(values: pd.Series, kind: str) -> Array:
    if kind == "number":
        return to_numbers(values, str(values.name))
    if kind == "boolean":
        return to_booleans(values, str(values.name))
    codes, levels = text_cells(values, level_of)
    return np.append(levels, "")[codes]


def _difference(expected: Prediction, labels: Array, soft: Array, decision: Array) -> float:
    """Return the largest difference of decision values; refuse where anything is another."""
    difference = float(np.abs(expected.decision - decision).max())
    size = TOLERANCE * max(1.0, float(np.abs(expected.decision).max()))
    if expected.decision.ndim == 2:
        ordered = np.sort(expected.decision, axis=1)
        margin = ordered[:, -1] - ordered[:, -2]
    else:
        margin = np.abs(expected.decision)
    wrong = (np.asarray(labels, dtype=object) != expected.labels) & (margin >= size)
    apart = float(np.abs(expected.soft_labels - soft).max())
    agree = difference <= size and apart <= size  # which NaN never is
    if wrong.any() or not agree:
        raise TableError(
            f"The ONNX model and the model disagree ({int(wrong.sum())} of {len(wrong)} labels, "
            f"decision values by {difference:.2g}), so nothing was written; use the stored model, "
            "and report this."
        )
    return difference


def _session(data: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _element_type(name: str) -> int:
    return int(getattr(_onnx().TensorProto, name.upper()))


def _onnx() -> Any:
    """Import onnx, and see that it can be checked with onnxruntime."""
    try:
        import onnx
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise TableError(
            f"Writing ONNX needs {error.name}, which is not installed; "
            "install it with pip install 'semisquares[export]'."
        ) from error
    return onnx
