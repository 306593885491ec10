"""The operators of a model in an ONNX graph: encoder and classifier."""

from __future__ import annotations

import numpy as np

from ..._utils.messages import Parameter
from ..._utils.typing import Array
from ..columns._onnx import OnnxGraph
from ..errors import TableError
from .model import TableModel
from .predictors import LinearScores

__all__ = ["add_classifier", "add_encoder", "class_values", "linear_scores"]


def add_encoder(graph: OnnxGraph, model: TableModel) -> str:
    """Add the encoders of all column types; return their features."""
    encoders = model.encoder.encoders.values()
    return graph.concat(*(block for encoder in encoders for block in encoder.add_to_graph(graph)))


# -- classifier ---------------------------------------------------------------------------------


def add_classifier(graph: OnnxGraph, model: TableModel, features: str) -> None:
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
        place = graph.cast(above, "int64")
        second = graph.add("Clip", graph.add("Add", column, half), zero, one)
        first = graph.add("Sub", one, second)
        graph.add("Concat", first, second, attributes={"axis": 1}, output="soft_label")
    values = graph.constant(class_values(model))
    graph.add("Gather", values, place, attributes={"axis": 0}, output="label")


def _project(graph: OnnxGraph, z: str, n_classes: int) -> None:
    """Add the projection onto the simplex, max(z - t, 0), t = max_k (sum of k largest - 1) / k."""
    axis, one = graph.constant([1]), graph.constant(1.0)
    z = graph.add("Sub", z, graph.add("ReduceMax", z, axis))  # as `project_simplex` does
    ordered = graph.add("TopK", z, graph.constant([n_classes]), n_outputs=2)
    sums = graph.add("CumSum", ordered, graph.constant(1))
    ranks = graph.constant(np.arange(1.0, n_classes + 1.0)[None])
    threshold = graph.add("ReduceMax", graph.add("Div", graph.add("Sub", sums, one), ranks), axis)
    above = graph.add("Sub", z, threshold)
    graph.add("Max", above, graph.constant(0.0), output="soft_label")


def _weights(model: TableModel) -> tuple[Array, Array]:
    scores = linear_scores(model)
    return scores.coef, scores.intercept


def linear_scores(model: TableModel) -> LinearScores:
    """Return the classifier of a model; raise TableError if its graph cannot be written."""
    if isinstance(model.classifier, LinearScores):
        return model.classifier
    raise TableError(
        "A model of type {type} cannot be written as ONNX yet; store it without ONNX, or fit it "
        "with {method}, hard or supervised.",
        code="onnx_unsupported",
        type=model.classifier.type,
        method=Parameter("method", "soft"),
    )


def class_values(model: TableModel) -> Array:
    """Return the classes as ONNX can hold them; texts as objects."""
    values = model.class_values()
    return values if values.dtype in (np.bool_, np.int64, np.float64) else values.astype(object)
