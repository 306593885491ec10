"""The averaged classifier in an ONNX graph: all members, calibrated and weighted.

Members that are linear in the features of a map are one matrix product: their weights, slopes and
offsets are multiplied in advance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._utils.typing import Array
from ...families._average import Average
from ...families._calibration import Calibration
from ...families._odds import ForestOdds, HardLabelOdds, LogisticOdds, RidgeOdds
from ...representations._distances import CLOSE, COPY
from ...representations._maps import GraphMap, KernelMap
from ...representations._neighbours import LEAST_EXPONENT, TIED, Graph
from ..columns._onnx import OnnxGraph
from ._graph_trees import add_single, add_total
from .predictors.averaged import AveragedScores

__all__ = ["add_average"]

_TINY = float(np.finfo(np.float64).tiny)


def add_average(
    graph: OnnxGraph, scores: AveragedScores, features: str, n_classes: int
) -> tuple[str, str]:
    """Add decision values and probabilities of encoded rows, as `AveragedScores.evaluate` does."""
    average = scores.average
    rows = _GraphRows(graph, average, features)
    found, weights, first = [], [], 0
    for part in average.families:
        mine = slice(first, first + len(part.members))
        first = mine.stop
        found.append(_add_part(rows, part, average.calibration.of(mine)))
        weights.append(average.weights[mine])
    # rows × members × classes
    p = graph.add("Softmax", graph.concat(*found), attributes={"axis": 2})
    weighted = graph.add("Mul", p, graph.constant(np.concatenate(weights)[None, :, None]))
    axis = graph.constant([1])
    total = graph.add("ReduceSum", weighted, axis, attributes={"keepdims": 0})
    p = graph.add("Div", total, graph.add("ReduceSum", total, axis))
    logs = graph.add("Log", graph.add("Max", p, graph.constant(_TINY)))
    if n_classes > 2:
        return logs, p
    return graph.add("MatMul", logs, graph.constant(np.array([[-1.0], [1.0]]))), p


class _GraphRows:
    """Encoded rows in the graph, with the results that several members share."""

    def __init__(self, graph: OnnxGraph, average: Average, features: str) -> None:
        self.graph, self.learned, self.features = graph, average.learned, features
        mean = graph.constant(self.learned.scaling.mean)
        self.centred = graph.add("Sub", features, mean)
        self._known: dict[int, Any] = {}

    def along(self, power: int) -> str:
        """Return X_p of the rows."""
        if power not in self._known:
            scaling = self.learned.scaling
            if power == 0:
                found = self.graph.add("Div", self.centred, self.graph.constant(scaling.scale))
            else:
                components = self.graph.constant(scaling.components(power))
                found = self.graph.add("MatMul", self.centred, components)
            self._known[power] = found
        name: str = self._known[power]
        return name

    def neighbours(self, power: int, near: Graph) -> tuple[str, str]:
        """Return the weights of the rows of a graph, and their totals or 1 if these are 0."""
        key = id(near)
        if key not in self._known:
            graph = self.graph
            weights = _add_neighbours(graph, self.along(power), near)
            total = graph.add("ReduceSum", weights, graph.constant([1]))
            some = graph.add("Greater", total, graph.constant(0.0))
            total = graph.add("Where", some, total, graph.constant(1.0))
            self._known[key] = weights, total
        weights, total = self._known[key]
        return weights, total


# -- members ------------------------------------------------------------------------------------


def _add_part(rows: _GraphRows, part: Any, calibration: Calibration) -> str:
    """Add ``slope · log-odds + offset + log share`` of some members: rows × members × classes."""
    graph, n_classes = rows.graph, len(calibration.shares)
    offsets = calibration.offsets + np.log(calibration.shares)
    if isinstance(part, ForestOdds):
        votes = add_total(graph, part.trees, add_single(graph, rows.features), n_classes)
        votes = graph.add("Add", votes, graph.constant(part.shares))
        parts = part.shares * (part.trees.n_trees + 1.0)
        odds = graph.add("Log", graph.add("Div", votes, graph.constant(parts)))
        scores = graph.add("Mul", odds, graph.constant(calibration.slopes))
    elif isinstance(part, RidgeOdds):
        coef = _by_class(part.coef, calibration)
        offsets = offsets - (part.mean @ coef).reshape(offsets.shape)
        scores = _add_map(rows, rows.learned.representations[part.representation], coef)
    elif isinstance(part, LogisticOdds):
        coef = _by_class(part.coef, calibration)
        slopes = calibration.slopes[:, None]
        offsets = offsets + slopes * (part.intercept - part.log_shares)
        scores = graph.add("MatMul", rows.along(0), graph.constant(coef))
    elif isinstance(part, HardLabelOdds):
        coef = _by_class(part.coef, calibration)
        offsets = offsets + _by_class(part.intercept[None], calibration).reshape(offsets.shape)
        scores = graph.add("MatMul", rows.features, graph.constant(coef))
    else:
        raise TypeError(f"members of type {type(part).__name__} have no graph")
    scores = graph.add("Add", scores, graph.constant(offsets.ravel()))
    return graph.add("Reshape", scores, graph.constant([0, *offsets.shape]))


def _by_class(coef: Array, calibration: Calibration) -> Array:
    """Return weights times slopes for all classes: features × (members · classes).

    `coef` is features × members × targets; with one target the classes have half of it each.
    """
    if coef.shape[2] == 1:
        coef = coef * np.array([-0.5, 0.5])
    return (coef * calibration.slopes[:, None]).reshape(len(coef), -1)


def _add_map(rows: _GraphRows, one: Any, coef: Array) -> str:
    """Add the features of a representation times some weights."""
    graph = rows.graph
    if isinstance(one, KernelMap):
        similar = _add_kernel(graph, rows.along(one.power), one)
        return graph.add("MatMul", similar, graph.constant(one.root @ coef))
    if isinstance(one, GraphMap):
        if len(one.graph.rows) < 2:  # without neighbours all features are 0
            nothing = graph.constant(np.zeros((len(rows.learned.scaling.mean), coef.shape[1])))
            return graph.add("MatMul", rows.features, nothing)
        weights, total = rows.neighbours(one.power, one.graph)
        functions = (one.graph.functions * one.gains) @ coef
        sums = graph.add("MatMul", weights, graph.constant(functions))
        return graph.add("Div", sums, total)
    scaling = rows.learned.scaling
    if one.power == 0:
        return graph.add("MatMul", rows.along(0), graph.constant(coef))
    along = scaling.components(one.power) @ coef
    return graph.add("MatMul", rows.centred, graph.constant(along))


# -- distances ----------------------------------------------------------------------------------


def _add_kernel(graph: OnnxGraph, rows: str, kernel: KernelMap) -> str:
    """Add ``exp(-√(d² / width))`` of rows and landmarks."""
    distances = _add_distances(graph, rows, kernel.landmarks)
    scaled = graph.add("Div", distances, graph.constant(kernel.width))
    return graph.add("Exp", graph.add("Neg", graph.add("Sqrt", scaled)))


def _add_neighbours(graph: OnnxGraph, rows: str, near: Graph) -> str:
    """Add the weight of each row of a graph of neighbours: 0 if it is not one of the nearest."""
    zero = graph.constant(0.0)
    n_nearest = min(near.n_neighbors, len(near.rows) - 1)
    distances = _add_distances(graph, rows, near.rows, without_copies=True)
    nearest = graph.add(
        "TopK", distances, graph.constant([n_nearest]), n_outputs=2, attributes={"largest": 0}
    )
    last = graph.add("ReduceMax", nearest, graph.constant([1]))
    last = graph.add("Where", graph.add("IsInf", last), zero, last)
    # last · TIED would be taken for last: onnxruntime reads constant factors in single precision
    most = graph.add("Add", last, graph.add("Mul", last, graph.constant(TIED - 1.0)))
    is_near = graph.add("LessOrEqual", distances, most)
    reach = graph.add("Max", last, graph.constant(float(near.reach.min())))
    width = graph.add("Sqrt", graph.add("Mul", reach, graph.constant(near.reach[None])))
    exponent = graph.add("Neg", graph.add("Div", distances, width))
    is_near = graph.add(
        "And", is_near, graph.add("Greater", exponent, graph.constant(LEAST_EXPONENT))
    )
    return graph.add("Where", is_near, graph.add("Exp", exponent), zero)


def _add_distances(
    graph: OnnxGraph, rows: str, fixed: Array, *, without_copies: bool = False
) -> str:
    """Add squared distances of rows and fixed rows, as `squared_distances` computes them.

    Pairs that are close are computed again from their differences. The distance of copies is
    infinite if they are left out.
    """
    others = graph.constant(fixed)
    a = _add_squares(graph, rows, fixed.shape[1])
    sizes = graph.add("Add", a, graph.constant((fixed**2).sum(axis=1)[None]))
    double = graph.add("Mul", rows, graph.constant(2.0))
    product = graph.add("MatMul", double, graph.add("Transpose", others))
    found = graph.add("Sub", sizes, product)
    close = graph.add("Less", found, graph.add("Mul", sizes, graph.constant(CLOSE)))
    pairs = graph.add("NonZero", close)
    i, j = (graph.add("Gather", pairs, graph.constant(k)) for k in (0, 1))
    mine, theirs = (graph.add("Gather", one, k) for one, k in ((rows, i), (others, j)))
    exact = _add_squares(graph, graph.add("Sub", mine, theirs), fixed.shape[1])
    exact = graph.add("Squeeze", exact, graph.constant([1]))
    places = graph.add("Transpose", pairs)
    if without_copies:
        limit = graph.add("Mul", graph.add("GatherND", sizes, places), graph.constant(COPY))
        copy = graph.add("LessOrEqual", exact, limit)
        exact = graph.add("Where", copy, graph.constant(np.inf), exact)
    return graph.add("ScatterND", found, places, exact)


def _add_squares(graph: OnnxGraph, rows: str, width: int) -> str:
    """Add the squared length of each row, (N, 1)."""
    squares = graph.add("Mul", rows, rows)
    return graph.add("MatMul", squares, graph.constant(np.ones((width, 1))))
