"""The averaged classifier: its members with their weights, and what they need of all rows.

It is the fitted `Average` itself, without the members of negligible weight and without the rows
that it was fitted to, except those that kernel and graph members measure distances from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...._utils.typing import Array
from ....families import Member
from ....families._average import Average, Learned
from ....families._calibration import Calibration
from ....families._odds import ForestOdds, HardLabelOdds, LogisticOdds, MemberOdds, RidgeOdds
from ....families._trees import Trees
from ....representations._maps import FeatureMap, GraphMap, KernelMap, LinearMap
from ....representations._neighbours import Graph
from ....representations._scaling import FixedScaling
from ._average_replacing import average_each
from ._checks import is_floats, is_positive, is_whole
from .protocol import Predictor

__all__ = ["AveragedScores", "members_with_rows"]


MOST_POWER = 8
"""The largest power of a representation."""
_TEXTS = ("family", "representation", "setting")
_NUMBERS = ("log_loss", "accuracy")
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class AveragedScores(Predictor):
    """Calibrated probabilities of an average; decision values are log-odds, as in the classifier.

    With two classes the decision value is the log-odds of the second one, else there is a
    log-probability for each class.
    """

    type: ClassVar[str] = "averaged"
    average: Average
    """Its families hold the members that are kept, all of positive weight."""
    members: Mapping[str, Any]
    """By name, a value for each member: "family", "representation", "setting", "log_loss" and
    "accuracy" out of sample, and "weight"."""

    @classmethod
    def of(cls, model: Any) -> AveragedScores:
        """Take what prediction needs of a fitted AveragedClassifier."""
        average = model.average_
        used = np.flatnonzero(average.weights)
        parts = _parts(average)
        named = {part.representation for part in parts if isinstance(part, RidgeOdds)}
        maps = {
            name: _as_map(one)
            for name, one in average.learned.representations.items()
            if name in named
        }
        learned = Learned(_fixed(average.learned.scaling, maps.values()), maps)
        kept = Average(learned, parts, average.calibration.of(used), average.weights[used])
        members: dict[str, Any] = {
            name: np.asarray(model.members_[name])[used].tolist() for name in _TEXTS
        }
        members |= {name: np.asarray(model.members_[name])[used] for name in _NUMBERS}
        return cls(kept, members | {"weight": kept.weights})

    @property
    def n_rows_held(self) -> int:
        """How many rows kernels and graphs measure distances from; they share them."""
        maps = self.average.learned.representations.values()
        return max((len(rows) for rows in map(_rows_of, maps) if rows is not None), default=0)

    def evaluate(self, X: Array) -> tuple[Array, Array]:
        """Return decision values and probabilities."""
        return self._decided(self.average.predict_proba(X))

    def replace_each(
        self, X: Array, columns: Sequence[Array], values: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield decision values and probabilities with one column after the other replaced."""
        for probabilities in average_each(self.average, X, columns, values):
            yield self._decided(probabilities)

    def _decided(self, probabilities: Array) -> tuple[Array, Array]:
        logs = np.log(np.maximum(probabilities, _TINY))
        return (logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs), probabilities

    # -- checking -----------------------------------------------------------------------------

    def fits(self, n_features: int, n_classes: int) -> bool:
        """Tell whether all parts fit each other, and are finite."""
        average = self.average
        n_members = sum(len(part.members) for part in average.families)
        calibration, scaling = average.calibration, average.learned.scaling
        return (
            n_members > 0
            and all(len(self.members[name]) == n_members for name in _TEXTS)
            and all(isinstance(one, str) for name in _TEXTS for one in self.members[name])
            and all(is_floats(self.members[name], n_members) for name in _NUMBERS)
            and is_positive(average.weights, n_members)
            and is_positive(calibration.slopes, n_members)
            and is_floats(calibration.offsets, n_members, n_classes)
            and is_positive(calibration.shares, n_classes)
            and isinstance(scaling, FixedScaling)
            and _scaling_fits(scaling, n_features)
            and all(_map_fits(one, scaling) for one in average.learned.representations.values())
            and all(
                _part_fits(part, average.learned, n_features, n_classes)
                for part in average.families
            )
        )

    # -- plain data ---------------------------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it."""
        average = self.average
        learned, calibration = average.learned, average.calibration
        scaling = learned.scaling
        directions, spectrum = scaling.axes
        maps = learned.representations
        graphs = [one.graph for one in maps.values() if isinstance(one, GraphMap)]
        graphs = list({id(graph): graph for graph in graphs}.values())  # each once
        return {
            "type": self.type,
            "members": {name: self.members[name] for name in (*_TEXTS, *_NUMBERS)},
            "weights": average.weights,
            "calibration": {
                "slopes": calibration.slopes,
                "offsets": calibration.offsets,
                "shares": calibration.shares,
            },
            "scaling": {
                "mean": scaling.mean,
                "scale": scaling.scale,
                "directions": directions,
                "spectrum": spectrum,
            },
            "graphs": {str(k): _fields(graph, _GRAPH) for k, graph in enumerate(graphs)},
            "representations": {
                str(k): {"name": name, **_plain_map(one, graphs)}
                for k, (name, one) in enumerate(maps.items())
            },
            "parts": {str(k): _plain_part(part) for k, part in enumerate(average.families)},
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> AveragedScores:
        """Restore it from plain data."""
        graphs = {key: Graph(**_fields(one, _GRAPH)) for key, one in plain["graphs"].items()}
        maps = {one["name"]: _read_map(one, graphs) for one in plain["representations"].values()}
        members = {name: plain["members"][name] for name in (*_TEXTS, *_NUMBERS)}
        rows = [
            Member(representation, setting)
            for representation, setting in zip(
                members["representation"], members["setting"], strict=True
            )
        ]
        parts, first = [], 0
        for one in plain["parts"].values():
            last = first + one["n_members"]
            parts.append(_read_part(one, rows[first:last]))
            first = last
        if first != len(rows):
            raise ValueError("members without a part")
        scaling = FixedScaling(**_fields(plain["scaling"], _SCALING))
        calibration = Calibration(**_fields(plain["calibration"], _CALIBRATION))
        average = Average(Learned(scaling, maps), tuple(parts), calibration, plain["weights"])
        return cls(average, members | {"weight": average.weights})


# -- from a fitted classifier -------------------------------------------------------------------


def members_with_rows(model: Any) -> Array:
    """Tell for each member of a fitted AveragedClassifier whether it compares rows with others."""
    maps = model.average_.learned.representations
    with_rows = [name for name, one in maps.items() if _rows_of(_as_map(one)) is not None]
    return np.isin(model.members_["representation"], with_rows)


def _parts(average: Average) -> tuple[MemberOdds, ...]:
    """Return the members of positive weight, family by family."""
    found: list[MemberOdds] = []
    first = 0
    for family in average.families:
        used = np.flatnonzero(average.weights[first : first + len(family.members)])
        first += len(family.members)
        if len(used):
            if not hasattr(family, "keep"):
                raise ValueError(f"the family {type(family).__name__} has no method keep")
            found += family.keep(used)
    return tuple(found)


def _as_map(representation: Any) -> FeatureMap:
    """Return what computes the features of a representation."""
    found = representation.as_map() if hasattr(representation, "as_map") else None
    if not isinstance(found, LinearMap | KernelMap | GraphMap):
        name = type(representation).__name__
        raise ValueError(f"the representation {name} is not linear, a kernel or a graph")
    if not isinstance(_rows_of(found), np.ndarray | None):
        raise ValueError("its landmarks are sparse rows")
    return found


def _fixed(scaling: Any, maps: Any) -> FixedScaling:
    """Return the scaling without the summary of the rows; with directions if a map needs them."""
    if any(one.power > 0 for one in maps):
        directions, spectrum = scaling.axes
    else:
        directions, spectrum = np.zeros((len(scaling.mean), 0)), np.zeros(0)
    return FixedScaling(scaling.mean, scaling.scale, directions, spectrum)


def _rows_of(one: Any) -> Any:
    """Return the rows that a map measures distances from, or None."""
    if isinstance(one, KernelMap):
        return one.landmarks
    return one.graph.rows if isinstance(one, GraphMap) else None


# -- plain data of the parts --------------------------------------------------------------------

_SCALING = ("mean", "scale", "directions", "spectrum")
_CALIBRATION = ("slopes", "offsets", "shares")
_GRAPH = ("rows", "reach", "n_neighbors", "eigenvalues", "functions")
_PARTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "ridge": (RidgeOdds, ("representation", "coef", "mean")),
    "logistic": (LogisticOdds, ("coef", "intercept", "log_shares")),
    "hard_labels": (HardLabelOdds, ("coef", "intercept")),
}
"""Parts by their type, with their fields; a forest has trees, which are plain data themselves."""


def _fields(one: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return some fields of an object or entries of a mapping."""
    if isinstance(one, Mapping):
        return {name: one[name] for name in names}
    return {name: getattr(one, name) for name in names}


def _plain_part(part: Any) -> dict[str, Any]:
    n_members = len(part.members)
    if isinstance(part, ForestOdds):
        trees, shares = part.trees.to_plain(), part.shares
        return {"type": "forest", "n_members": n_members, "trees": trees, "shares": shares}
    kind, names = next(
        (kind, names) for kind, (cls, names) in _PARTS.items() if isinstance(part, cls)
    )
    return {"type": kind, "n_members": n_members, **_fields(part, names)}


def _read_part(plain: Mapping[str, Any], members: list[Member]) -> Any:
    if plain["type"] == "forest":
        return ForestOdds(members, Trees.from_plain(plain["trees"]), plain["shares"])
    cls, names = _PARTS[plain["type"]]
    return cls(members, **_fields(plain, names))


def _plain_map(one: Any, graphs: list[Graph]) -> dict[str, Any]:
    if isinstance(one, KernelMap):
        fields = _fields(one, ("power", "landmarks", "width", "root"))
        return {"type": "kernel", **fields}
    if isinstance(one, GraphMap):
        place = next(k for k, graph in enumerate(graphs) if graph is one.graph)
        return {"type": "graph", "power": one.power, "graph": str(place), "gains": one.gains}
    return {"type": "linear", "power": one.power}


def _read_map(plain: Mapping[str, Any], graphs: Mapping[str, Graph]) -> FeatureMap:
    kind, power = plain["type"], plain["power"]
    if kind == "linear":
        return LinearMap(power)
    if kind == "kernel":
        return KernelMap(power, plain["landmarks"], plain["width"], plain["root"])
    if kind == "graph":
        return GraphMap(power, graphs[plain["graph"]], plain["gains"])
    raise ValueError("a representation of an unknown type")


# -- checks of the parts ------------------------------------------------------------------------


def _scaling_fits(scaling: FixedScaling, n_features: int) -> bool:
    n_directions = np.size(scaling.spectrum)
    return (
        is_floats(scaling.mean, n_features)
        and is_positive(scaling.scale, n_features)
        and is_floats(scaling.directions, n_features, n_directions)
        and is_floats(scaling.spectrum, n_directions)
        and bool((scaling.spectrum >= 0.0).all())
    )


def _width(power: int, scaling: FixedScaling) -> int:
    """Return the number of columns in the coordinates of a power."""
    return len(scaling.mean) if power == 0 else len(scaling.spectrum)


def _map_fits(one: Any, scaling: FixedScaling) -> bool:
    if not is_whole(one.power, 0, MOST_POWER):
        return False
    width = _width(one.power, scaling)
    if isinstance(one, KernelMap):
        n_rows = len(one.landmarks)
        return (
            n_rows > 0
            and is_floats(one.landmarks, n_rows, width)
            and is_floats(one.root, n_rows, n_rows)
            and isinstance(one.width, float)
            and 0.0 < one.width < np.inf
        )
    if isinstance(one, GraphMap):
        graph, n_functions = one.graph, len(one.gains)
        n_rows = len(graph.rows)
        return (
            is_floats(graph.rows, n_rows, width)
            and is_positive(graph.reach, n_rows)
            and is_whole(graph.n_neighbors, 1, 2**31)
            and is_floats(graph.eigenvalues, n_functions)
            and is_floats(graph.functions, n_rows, n_functions)
            and is_floats(one.gains, n_functions)
        )
    return True


def _n_features_of(one: Any, scaling: FixedScaling) -> int:
    """Return the number of features of a map."""
    if isinstance(one, KernelMap):
        return len(one.root)
    return len(one.gains) if isinstance(one, GraphMap) else _width(one.power, scaling)


def _part_fits(part: Any, learned: Learned, n_features: int, n_classes: int) -> bool:
    n_members, n_targets = len(part.members), 1 if n_classes == 2 else n_classes
    if isinstance(part, RidgeOdds):
        scaling: Any = learned.scaling
        n = _n_features_of(learned.representations[part.representation], scaling)
        return is_floats(part.coef, n, n_members, n_targets) and is_floats(part.mean, n)
    if isinstance(part, LogisticOdds):
        return (
            is_floats(part.coef, n_features, n_members, n_classes)
            and is_floats(part.intercept, n_members, n_classes)
            and is_floats(part.log_shares, n_classes)
        )
    if isinstance(part, HardLabelOdds):
        fits = is_floats(part.coef, n_features, n_members, n_targets)
        return fits and is_floats(part.intercept, n_members, n_targets)
    return (
        n_members == 1
        and is_positive(part.shares, n_classes)
        and part.trees.fits(n_features, n_classes)
        and part.trees.value.shape[1] == n_classes
        and bool((part.trees.value >= 0.0).all())
    )
