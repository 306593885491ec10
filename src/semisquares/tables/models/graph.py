"""The operators of an ONNX graph: what preparation and classifier do, said in ONNX's own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TableError
from ..parts import encode_levels
from .model import UNKNOWN, TableModel

__all__ = [
    "OUTPUTS",
    "Graph",
    "add_classifier",
    "add_preparation",
    "class_values",
    "element_type",
    "import_onnx",
]

Array = NDArray[Any]

OUTPUTS = ("label", "soft_label", "decision")


@dataclass
class Graph:
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
        info = import_onnx().helper.make_tensor_value_info(name, element_type(kind), ["N", width])
        info.doc_string = column
        self.inputs[name] = column
        self.infos.append(info)
        return name

    def constant(self, values: Any) -> str:
        """Add an array of numbers, bools or texts."""
        onnx, array = import_onnx(), np.asarray(values)
        name = self.name(f"constant_{len(self.constants)}")
        if array.dtype == object:
            texts = [str(value).encode() for value in array.ravel()]
            tensor = onnx.helper.make_tensor(name, element_type("string"), array.shape, texts)
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
        node = import_onnx().helper.make_node(
            operator, inputs, outputs, domain=domain, **(attributes or {})
        )
        self.nodes.append(node)
        return outputs[0]


# -- preparation --------------------------------------------------------------------------------


def add_preparation(graph: Graph, model: TableModel) -> str:
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
            found += _looked_up(graph, part, names)
    return graph.add("Concat", *found, attributes={"axis": 1})


def _filled(graph: Graph, imputer: Any, names: list[str]) -> str:
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
    flags = graph.add("Cast", flags, attributes={"to": element_type("double")})
    return graph.add("Concat", filled, flags, attributes={"axis": 1})


def _looked_up(graph: Graph, encoder: Any, names: list[str]) -> list[str]:
    """Look up the features of each level, in the last row of a table those of all others."""
    levels = dict(zip(names, encoder.categories_, strict=True))
    tables = encode_levels(encoder, {n: np.append(some, UNKNOWN) for n, some in levels.items()})
    found = []
    for (name, known), rows in zip(levels.items(), tables, strict=True):
        keys = {
            "keys_strings": [str(level) for level in known],
            "values_int64s": list(range(len(known))),
            "default_int64": len(known),
        }
        column = graph.input(name, "string")
        place = graph.add("LabelEncoder", column, domain="ai.onnx.ml", attributes=keys)
        block = graph.add("Gather", graph.constant(rows), place, attributes={"axis": 0})
        found.append(graph.add("Squeeze", block, graph.constant([1])))
    return found


# -- classifier ---------------------------------------------------------------------------------


def add_classifier(graph: Graph, model: TableModel, features: str) -> None:
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
        place = graph.add("Cast", above, attributes={"to": element_type("int64")})
        second = graph.add("Clip", graph.add("Add", column, half), zero, one)
        first = graph.add("Sub", one, second)
        graph.add("Concat", first, second, attributes={"axis": 1}, output="soft_label")
    values = graph.constant(class_values(model))
    graph.add("Gather", values, place, attributes={"axis": 0}, output="label")


def _project(graph: Graph, z: str, n_classes: int) -> None:
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


def class_values(model: TableModel) -> Array:
    """Return the classes as ONNX can hold them; texts as objects."""
    values = model.class_values()
    return values if values.dtype in (np.bool_, np.int64, np.float64) else values.astype(object)


def element_type(name: str) -> int:
    """Return the number that ONNX has for a type of cells, such as "double" or "string"."""
    return int(getattr(import_onnx().TensorProto, name.upper()))


def import_onnx() -> Any:
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
