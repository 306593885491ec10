"""One line of a benchmark: a ratio, and what we promise of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A measured ratio, and the range that it is promised to be in, where it is."""

    what: str
    ratio_of: str
    value: float
    low: float | None = None
    high: float | None = None
    remark: str = ""

    @property
    def kept(self) -> bool:
        low = -float("inf") if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        return low <= self.value <= high

    def __str__(self) -> str:
        ends = [f"≥ {self.low:g}"] if self.low is not None else []
        ends += [f"≤ {self.high:g}"] if self.high is not None else []
        promise = f"{' '.join(ends)} {'ok' if self.kept else 'MISSED'}" if ends else ""
        return f"{self.what:42s} {self.ratio_of:38s} {self.value:9.3g}  {promise:18s} {self.remark}"
