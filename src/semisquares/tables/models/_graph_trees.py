"""Decision trees in an ONNX graph, exact in double precision.

The operator for trees compares in double precision but returns single precision. So each tree
returns the number of its leaf, and the values of the leaves are looked up in double precision.
"""

from __future__ import annotations

import numpy as np

from ..._utils.typing import Array
from ...families._trees import Trees
from ..columns._onnx import OnnxGraph, import_onnx

__all__ = ["add_single", "add_total"]


def add_total(graph: OnnxGraph, trees: Trees, features: str, n_outputs: int) -> str:
    """Add the sum of the trees' values, (N, n_outputs), as `Trees.total` computes it."""
    values = graph.constant(trees.value[trees.left < 0])
    found = graph.add("Gather", values, _add_leaves(graph, trees, features), attributes={"axis": 0})
    parts = graph.constant([0, trees.n_trees * trees.value.shape[1] // n_outputs, n_outputs])
    return graph.add(
        "ReduceSum", graph.add("Reshape", found, parts), graph.constant([1]),
        attributes={"keepdims": 0},
    )  # fmt: skip


def add_single(graph: OnnxGraph, features: str) -> str:
    """Add the rounding of features to single precision, as `as_single` does; they stay doubles."""
    limit = float(np.finfo(np.float32).max)
    clipped = graph.add("Clip", features, graph.constant(-limit), graph.constant(limit))
    return graph.cast(graph.cast(clipped, "float"), "double")


def _add_leaves(graph: OnnxGraph, trees: Trees, features: str) -> str:
    """Add the number of each row's leaf among all leaves, (N, n_trees)."""
    onnx = import_onnx()
    leaf = trees.left < 0
    node, size = np.arange(len(leaf)), np.diff(trees.root, append=len(leaf))
    tree = np.repeat(np.arange(trees.n_trees), size)
    number = node - trees.root[tree]  # of a node in its tree
    children = {
        side: np.where(leaf, 0, child - trees.root[tree]).tolist()
        for side, child in (("true", trees.left), ("false", trees.right))
    }
    before: Array = np.cumsum(leaf) - leaf  # leaves before each node
    first = before[trees.root]
    own = before[leaf] - first[tree[leaf]]  # small, so exact in single precision
    attributes = {
        "n_targets": trees.n_trees,
        "nodes_treeids": tree.tolist(),
        "nodes_nodeids": number.tolist(),
        "nodes_featureids": np.where(leaf, 0, trees.feature).tolist(),
        "nodes_modes": np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        "nodes_values_as_tensor": onnx.numpy_helper.from_array(
            np.where(leaf, 0.0, trees.threshold), "thresholds"
        ),
        "nodes_truenodeids": children["true"],
        "nodes_falsenodeids": children["false"],
        "nodes_missing_value_tracks_true": np.where(leaf, 0, trees.missing_left).tolist(),
        "target_treeids": tree[leaf].tolist(),
        "target_nodeids": number[leaf].tolist(),
        "target_ids": tree[leaf].tolist(),
        "target_weights_as_tensor": onnx.numpy_helper.from_array(own.astype(np.float64), "leaves"),
    }
    found = graph.add("TreeEnsembleRegressor", features, domain="ai.onnx.ml", attributes=attributes)
    places = graph.cast(found, "int64")
    return graph.add("Add", places, graph.constant(first.astype(np.int64)[None]))
