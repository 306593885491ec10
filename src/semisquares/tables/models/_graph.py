"""The operators of a model in an ONNX graph: encoder, classifier, calibration and labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..._utils.typing import Array
from ..columns._onnx import OnnxGraph
from ..errors import TableError
from ._calibration import DecisionCalibration
from ._graph_trees import add_single, add_total
from ._operating_point import Balanced, LeastCost, OperatingPoint, Threshold
from .model import TableModel
from .predictors import LinearScores, Predictor

if TYPE_CHECKING:
    from .predictors.averaged import AveragedScores
    from .predictors.logistic import LogisticScores
    from .predictors.trees import BoostingScores, ForestScores

__all__ = ["add_classifier", "add_encoder", "class_values"]


def add_encoder(graph: OnnxGraph, model: TableModel) -> str:
    """Add the encoders of all column types; return their features."""
    encoders = model.encoder.encoders.values()
    return graph.concat(*(block for encoder in encoders for block in encoder.add_to_graph(graph)))


def add_classifier(graph: OnnxGraph, model: TableModel, features: str) -> None:
    """Add decision values, soft labels, probabilities and labels of encoded rows.

    Raises
    ------
    TableError
        If the classifier is of a type that has no graph.
    """
    n_classes = len(model.classes)
    decision, soft = _operators(model)(graph, model.classifier, features, n_classes)
    known = model.calibration
    calibrated = soft
    if known is not None:
        calibrated = _calibrate(graph, known, _to_calibrate(graph, model.classifier, decision))
    if n_classes > 2:
        graph.add("Identity", decision, output="decision")
        place = graph.add("ArgMax", decision, attributes={"axis": 1, "keepdims": 0})
    else:
        flat = graph.add("Squeeze", decision, graph.constant([1]), output="decision")
        place = graph.cast(graph.add("Greater", flat, graph.constant(0.0)), "int64")
    if model.operating_point is not None:
        place = _answer(graph, model.operating_point, calibrated)
    graph.add("Identity", soft, output="soft_label")
    graph.add("Identity", calibrated, output="probabilities")
    values = graph.constant(class_values(model))
    graph.add("Gather", values, place, attributes={"axis": 0}, output="label")


def _answer(graph: OnnxGraph, point: OperatingPoint, probabilities: str) -> str:
    """Add the places of the classes that an operating point answers, as its `decide` does."""
    first = {"axis": 1, "keepdims": 0}
    if isinstance(point, Balanced):
        ratios = graph.add("Div", probabilities, graph.constant(point.shares))
        return graph.add("ArgMax", ratios, attributes=first)
    if isinstance(point, LeastCost):
        expected = graph.add("MatMul", probabilities, graph.constant(point.costs))
        return graph.add("ArgMin", expected, attributes=first)
    if isinstance(point, Threshold):
        own = graph.add("Gather", probabilities, graph.constant(point.code), attributes={"axis": 1})
        least = graph.constant(point.least)
        answered = graph.cast(graph.add("GreaterOrEqual", own, least), "int64")
        return answered if point.code else graph.add("Sub", graph.constant(1), answered)
    raise TableError(
        f"Answers of the kind {point.kind} cannot be written as ONNX; use the stored model.",
        code="onnx_operating_point",
    )


def class_values(model: TableModel) -> Array:
    """Return the classes as ONNX can hold them; texts as objects."""
    values = model.class_values()
    return values if values.dtype in (np.bool_, np.int64, np.float64) else values.astype(object)


# -- classifiers --------------------------------------------------------------------------------
# Each function returns decision values, (N, 1) for two classes and (N, K) for more, and soft labels
# or probabilities, (N, K), as `Predictor.evaluate` does.


def _add_linear(
    graph: OnnxGraph, scores: LinearScores, features: str, n_classes: int
) -> tuple[str, str]:
    decision = _add_scores(graph, scores, features)
    z = graph.add("Add", decision, graph.constant(0.5))
    if n_classes > 2:
        return decision, _project(graph, z, n_classes)
    second = graph.add("Clip", z, graph.constant(0.0), graph.constant(1.0))
    return decision, _both(graph, second)


def _add_logistic(
    graph: OnnxGraph, scores: LogisticScores, features: str, n_classes: int
) -> tuple[str, str]:
    return _add_probabilities(graph, _add_scores(graph, scores, features), n_classes)


def _add_boosting(
    graph: OnnxGraph, scores: BoostingScores, features: str, n_classes: int
) -> tuple[str, str]:
    total = add_total(graph, scores.trees, features, len(scores.baseline))
    decision = graph.add("Add", total, graph.constant(scores.baseline))
    return _add_probabilities(graph, decision, n_classes)


def _add_forest(
    graph: OnnxGraph, scores: ForestScores, features: str, n_classes: int
) -> tuple[str, str]:
    total = add_total(graph, scores.trees, add_single(graph, features), n_classes)
    shares = graph.add("Div", total, graph.constant(float(scores.trees.n_trees)))
    if n_classes > 2:
        return shares, shares
    second = graph.add("Gather", shares, graph.constant([1]), attributes={"axis": 1})
    return graph.add("Sub", second, graph.constant(0.5)), shares


def _add_averaged(
    graph: OnnxGraph, scores: AveragedScores, features: str, n_classes: int
) -> tuple[str, str]:
    from ._graph_average import add_average  # whose imports the other classifiers do not need

    return add_average(graph, scores, features, n_classes)


_OPERATORS: dict[str, Callable[[OnnxGraph, Any, str, int], tuple[str, str]]] = {
    "linear": _add_linear,
    "logistic": _add_logistic,
    "boosting": _add_boosting,
    "forest": _add_forest,
    "averaged": _add_averaged,
}
"""The functions by the type of the predictor."""


def _operators(model: TableModel) -> Callable[[OnnxGraph, Any, str, int], tuple[str, str]]:
    """Return the function that adds the classifier of a model to a graph."""
    found = _OPERATORS.get(model.classifier.type)
    if found is None:
        raise TableError(
            f"A model of type {model.classifier.type} cannot be written as ONNX; use the stored "
            "model itself.",
            code="onnx_unsupported",
        )
    return found


def _add_scores(graph: OnnxGraph, scores: LinearScores | LogisticScores, features: str) -> str:
    product = graph.add("MatMul", features, graph.constant(scores.coef.T))
    return graph.add("Add", product, graph.constant(scores.intercept))


def _add_probabilities(graph: OnnxGraph, decision: str, n_classes: int) -> tuple[str, str]:
    """Add the probabilities that follow from log-odds."""
    if n_classes > 2:
        return decision, graph.add("Softmax", decision, attributes={"axis": 1})
    return decision, _both(graph, graph.add("Sigmoid", decision))


def _both(graph: OnnxGraph, second: str) -> str:
    """Add the column of the first class before that of the second."""
    return graph.concat(graph.add("Sub", graph.constant(1.0), second), second)


def _project(graph: OnnxGraph, z: str, n_classes: int) -> str:
    """Add the projection onto the simplex, max(z - t, 0), t = max_k (sum of k largest - 1) / k."""
    axis, one = graph.constant([1]), graph.constant(1.0)
    z = graph.add("Sub", z, graph.add("ReduceMax", z, axis))  # as `project_simplex` does
    ordered = graph.add("TopK", z, graph.constant([n_classes]), n_outputs=2)
    sums = graph.add("CumSum", ordered, graph.constant(1))
    ranks = graph.constant(np.arange(1.0, n_classes + 1.0)[None])
    threshold = graph.add("ReduceMax", graph.add("Div", graph.add("Sub", sums, one), ranks), axis)
    return graph.add("Max", graph.add("Sub", z, threshold), graph.constant(0.0))


def _to_calibrate(graph: OnnxGraph, scores: Predictor, decision: str) -> str:
    """Add what the calibration takes, as `Predictor.to_calibrate` does: of a forest log-odds."""
    if scores.type != "forest":
        return decision
    forest = cast("ForestScores", scores)
    n_trees, n_classes = forest.trees.n_trees, forest.trees.value.shape[1]

    def logarithm(shares: str) -> str:
        """Add the logarithm of the number of trees, and half a tree."""
        trees = graph.add("Mul", shares, graph.constant(float(n_trees)))
        return graph.add("Log", graph.add("Add", trees, graph.constant(0.5)))

    if n_classes > 2:
        total = graph.constant(float(np.log(n_trees + 0.5 * n_classes)))
        return graph.add("Sub", logarithm(decision), total)
    half = graph.constant(0.5)
    second, first = graph.add("Add", half, decision), graph.add("Sub", half, decision)
    return graph.add("Sub", logarithm(second), logarithm(first))


def _calibrate(graph: OnnxGraph, calibration: DecisionCalibration, decision: str) -> str:
    """Add ``(1 - ε) softmax(slope · decision + offsets) + ε / n_classes``."""
    offsets = calibration.offsets
    sides = np.array([[-0.5, 0.5]]) if len(offsets) == 2 else 1.0  # as `by_class` does
    scaled = graph.add("Mul", decision, graph.constant(calibration.slope * sides))
    scores = graph.add("Add", scaled, graph.constant(offsets))
    p = graph.add("Softmax", scores, attributes={"axis": 1})
    kept = graph.add("Mul", p, graph.constant(1.0 - calibration.doubt))
    return graph.add("Add", kept, graph.constant(calibration.doubt / len(offsets)))
