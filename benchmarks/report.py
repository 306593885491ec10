"""One line of a benchmark: a ratio, and what we ask of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A measured ratio; `asked` tells whether `limit` is a promise or only a comparison."""

    what: str
    ratio_of: str
    value: float
    limit: float
    asked: bool
    remark: str = ""
    at_least: bool = False

    @property
    def kept(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        promise = f"{sign} {self.limit:g} {'ok' if self.kept else 'MISSED'}" if self.asked else ""
        return f"{self.what:42s} {self.ratio_of:38s} {self.value:9.3g}  {promise:12s} {self.remark}"
