"""An ONNX graph under construction, to which encoders and classifiers add their operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._utils.typing import Array
from ..errors import TableError

OUTPUTS = ("label", "probabilities", "soft_label", "decision")


@dataclass
class OnnxGraph:
    """A graph under construction, in which every result has a unique name."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    """The column of each input."""
    infos: list[Any] = field(default_factory=list)
    taken: set[str] = field(default_factory=lambda: set(OUTPUTS))

    def name(self, wanted: str) -> str:
        """Return a name that is unique in the graph."""
        while not wanted or wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

    def input(self, column: str, element: str, width: int = 1) -> str:
        """Add an input for a column; `element` is a type such as "double" or "string"."""
        name, kind = self.name(column), element_type(element)
        info = import_onnx().helper.make_tensor_value_info(name, kind, ["N", width])
        info.doc_string = column
        self.inputs[name] = column
        self.infos.append(info)
        return name

    def constant(self, values: Any) -> str:
        """Add an array of numbers, bools or texts; return its name."""
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
        """Add an operator; return the name of its first result."""
        place = len(self.nodes)
        outputs = [output or self.name(f"{operator}_{place}_{k}") for k in range(n_outputs)]
        node = import_onnx().helper.make_node(
            operator, inputs, outputs, name=outputs[0], domain=domain, **(attributes or {})
        )
        self.nodes.append(node)
        return outputs[0]

    def cast(self, values: str, element: str) -> str:
        """Convert values to a type such as "double"."""
        return self.add("Cast", values, attributes={"to": element_type(element)})

    def concat(self, *columns: str) -> str:
        """Put columns beside each other."""
        return self.add("Concat", *columns, attributes={"axis": 1})

    def add_filled(self, columns: Sequence[str], fill: Array, flagged: Array) -> str:
        """Add double inputs with NaN replaced by `fill`, then flags for NaN in some of them."""
        X = self.concat(*(self.input(name, "double") for name in columns))
        missing = self.add("IsNaN", X)
        filled = self.add("Where", missing, self.constant(fill[None]), X)
        if not len(flagged):
            return filled
        places = self.constant(flagged.astype(np.int64))
        flags = self.add("Gather", missing, places, attributes={"axis": 1})
        return self.concat(filled, self.cast(flags, "double"))

    def add_lookup(self, column: str, levels: Sequence[str], rows: Array) -> str:
        """Add a string input, and look up the row of its level; the last row is for all others."""
        keys = {
            "keys_strings": list(levels),
            "values_int64s": list(range(len(levels))),
            "default_int64": len(levels),
        }
        text = self.input(column, "string")
        place = self.add("LabelEncoder", text, domain="ai.onnx.ml", attributes=keys)
        block = self.add("Gather", self.constant(rows), place, attributes={"axis": 0})
        return self.add("Squeeze", block, self.constant([1]))


def element_type(name: str) -> int:
    """Return the code of ONNX for a type of cells, such as "double" or "string"."""
    return int(getattr(import_onnx().TensorProto, name.upper()))


def import_onnx() -> Any:
    """Import onnx; check that onnxruntime is installed, too."""
    try:
        import onnx
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise TableError(
            f"Writing ONNX needs {error.name}, which is not installed; "
            "install it with pip install 'semisquares[export]'.",
            code="needs_onnx",
        ) from error
    return onnx
