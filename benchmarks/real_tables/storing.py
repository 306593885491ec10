"""The results file: scores of every fit, stored as soon as it is done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semisquares._utils.files import atomic_write

RESULTS = Path(__file__).parents[1] / "real_tables.json"
MEASURES = ("accuracy", "balanced", "log_loss", "seconds")
"""The numbers of a fit, in this order; the log loss is None without probabilities."""
DIGITS = 5

Scores = Sequence[float | None]


@dataclass
class Results:
    """All fits: ``fits[table][labels][method][split]`` are the numbers of `MEASURES`."""

    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Rows, columns, classes and share of the rarest class of each table."""
    versions: dict[str, str] = field(default_factory=dict)
    fits: dict[str, dict[str, dict[str, dict[str, Scores]]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = RESULTS) -> Results:
        """Read a file; there may be none yet."""
        if not path.exists():
            return cls()
        stored = json.loads(path.read_text(encoding="utf-8"))
        return cls(stored["tables"], stored["versions"], stored["fits"])

    def write(self, path: Path) -> None:
        """Write the file, a line for each method with some number of labels."""
        text = json.dumps(
            {
                "measures": MEASURES,
                "versions": self.versions,
                "tables": self.tables,
                "fits": self.fits,
            },
            indent=1,
        )
        with atomic_write(path) as file:
            file.write((_join_short(text) + "\n").encode())

    def has(self, table: str, labels: int, method: str, split: int) -> bool:
        """Return whether a fit is stored."""
        return str(split) in self._of(table, labels, method)

    def add(
        self, table: str, labels: int, method: str, split: int, scores: Mapping[str, float | None]
    ) -> None:
        """Store the scores of a fit, rounded."""
        found = (scores[name] for name in MEASURES)
        rounded = [None if one is None else float(f"{one:.{DIGITS}g}") for one in found]
        of_table = self.fits.setdefault(table, {}).setdefault(str(labels), {})
        of_table.setdefault(method, {})[str(split)] = rounded

    def values(self, table: str, labels: int, method: str, measure: str) -> dict[int, float]:
        """Return a measure by split; those without probabilities have no log loss."""
        place = MEASURES.index(measure)
        found = self._of(table, labels, method)
        return {int(split): one[place] for split, one in found.items() if one[place] is not None}

    def _of(self, table: str, labels: int, method: str) -> dict[str, Scores]:
        return self.fits.get(table, {}).get(str(labels), {}).get(method, {})


def _join_short(text: str) -> str:
    """Put the numbers of a fit on one line, so that differences between files can be read."""
    lines: list[str] = []
    opened = False
    for line in text.splitlines():
        if opened:
            lines[-1] += line.strip() + " " * line.endswith(",")
        else:
            lines.append(line)
        opened = (opened or line.endswith("[")) and not line.strip().startswith("]")
    return "\n".join(lines)
