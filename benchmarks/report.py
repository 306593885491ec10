"""One line of a benchmark: a ratio, and what we promise of it; as printed, and read again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_PRINTED = re.compile(
    r"(?P<what>\S.*?) {2,}(?P<ratio_of>\S.*?) {2,}(?P<value>[-+.\de]+|inf|nan)"
    r"(?: {2}(?P<promise>(?:[≥≤] \S+ )+)(?:ok|MISSED))?(?: +(?P<remark>.*))?"
)


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
        # two blanks after a text of any length: `read` takes it apart there
        said = f"{self.what:41s}  {self.ratio_of:37s}  {self.value:9.3g}"
        return f"{said}  {promise:18s} {self.remark}"

    @classmethod
    def read(cls, printed: str) -> Line | None:
        """Read a line as it was printed, its value to three digits; None for any other text."""
        found = _PRINTED.fullmatch(printed.rstrip())
        if found is None:
            return None
        ends = dict(re.findall(r"([≥≤]) (\S+)", found["promise"] or ""))
        low, high = (float(ends[sign]) if sign in ends else None for sign in "≥≤")
        value, remark = float(found["value"]), found["remark"] or ""
        return cls(found["what"], found["ratio_of"], value, low, high, remark)


def read_lines(path: Path) -> list[Line]:
    """Read all ratios of a file that holds what the benchmarks printed."""
    read = map(Line.read, path.read_text(encoding="utf-8").splitlines())
    return [line for line in read if line is not None]
