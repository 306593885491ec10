"""One line of a benchmark: a measured ratio and the range that we promise for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Line:
    """A measured ratio, and its promised range if there is one."""

    what: str
    ratio_of: str
    value: float
    low: float | None = None
    high: float | None = None
    remark: str = ""
    numbers: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """The numbers in the remark that pages quote, by name."""

    @property
    def kept(self) -> bool:
        low = -float("inf") if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        return low <= self.value <= high

    def __str__(self) -> str:
        ends = [f"≥ {self.low:g}"] if self.low is not None else []
        ends += [f"≤ {self.high:g}"] if self.high is not None else []
        promise = f"{' '.join(ends)} {'ok' if self.kept else 'MISSED'}" if ends else ""
        columns = f"{self.what:41s}  {self.ratio_of:37s}  {self.value:9.3g}"
        return f"{columns}  {promise:18s} {self.remark}"


def read_lines(path: Path) -> list[Line]:
    """Read the ratios that ``python -m benchmarks --json`` wrote to a file."""
    return [Line(**line) for line in json.loads(path.read_text(encoding="utf-8"))["lines"]]
