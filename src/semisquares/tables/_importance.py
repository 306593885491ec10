"""PLACEHOLDER until part C lands."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Importance:
    column: str
    change: float
