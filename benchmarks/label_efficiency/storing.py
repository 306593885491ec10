"""The stored curves: one JSON file with a line for each, written again after every new one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.peers.sets import SETS
from semisquares._utils.files import atomic_write

from .curves import CLASSIFIERS, Curve
from .strategies import STRATEGIES

RESULTS = Path(__file__).resolve().parents[2] / "results" / "label_efficiency.json"

Key = tuple[str, str, str, int]


def key_of(curve: Curve) -> Key:
    """Return what identifies a curve."""
    return curve.classifier, curve.table, curve.strategy, curve.split


def read(path: Path = RESULTS) -> dict[Key, Curve]:
    """Read the stored curves; none if there is no file."""
    if not path.exists():
        return {}
    found = [_curve(one) for one in json.loads(path.read_text(encoding="utf-8"))]
    return {key_of(one): one for one in found}


def write(curves: Iterable[Curve], path: Path = RESULTS) -> None:
    """Store curves, ordered by classifier, table, strategy and split."""
    lines = [json.dumps(asdict(one)) for one in sorted(curves, key=_place)]
    with atomic_write(path) as file:
        file.write(("[\n" + ",\n".join(lines) + "\n]\n").encode())


def _curve(one: dict[str, Any]) -> Curve:
    return Curve(**{**one, "labels": tuple(one["labels"]), "correct": tuple(one["correct"])})


def _place(curve: Curve) -> tuple[int, ...]:
    orders = (list(CLASSIFIERS), list(SETS), list(STRATEGIES))
    known = [order.index(name) for order, name in zip(orders, key_of(curve)[:3], strict=True)]
    return (*known, curve.split)
