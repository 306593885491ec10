"""What every experiment is made of: settings → cells → table → plots and findings.

A figure is computed in cells that know nothing of each other: a cell's numbers depend on the
settings and its own name alone, so that they may be computed in any order, by any number of
processes, and kept while the rest is still missing. Plots and findings read the table and compute
nothing that is not in it.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

Arrays = dict[str, NDArray[Any]]

PRESETS = ("authors", "paper", "quick")
"""What made the published figures; what the paper's text says; minutes, for demos and tests."""


@dataclass(frozen=True)
class Settings:
    """All that a figure's numbers depend on, beside the code: what `settings.json` holds."""

    figure: str
    preset: str
    repeats: int
    datasets: tuple[str, ...] = ()
    seed: int = 1

    def generator(self, *key: str | int) -> np.random.Generator:
        """Return the random generator of one piece of work, named by what it is for."""
        words = [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in key]
        return np.random.default_rng([self.seed, zlib.crc32(self.figure.encode()), *words])

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Table:
    """The numbers of a figure: `summary`, a row per run or cell, and what else its plots show."""

    settings: Settings
    summary: pd.DataFrame
    details: Mapping[str, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """A claim held against the table: `holds` is None where this table cannot tell."""

    claim: str
    holds: bool | None
    evidence: str


def clearly_lower(first: float, second: float, *errors: float) -> bool | None:
    """Tell whether one mean is below another by two standard errors; None where it is too close.

    Examples
    --------
    >>> clearly_lower(0.1, 0.2, 0.01, 0.01), clearly_lower(0.2, 0.1, 0.01), clearly_lower(1, 2, 3)
    (True, False, None)
    """
    difference = first - second
    if not abs(difference) > 2.0 * float(np.sqrt(np.sum(np.square(errors)))):
        return None
    return bool(difference < 0.0)


class Figure(ABC):
    """One experiment of the paper, or beyond it."""

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str]
    repeats: ClassVar[Mapping[str, int]]
    """How many repeats each preset makes."""
    datasets: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Which data sets each preset takes; none for a figure on generated data."""
    columns: ClassVar[Mapping[str, str]]
    """What each column of `summary.csv` means."""
    views: ClassVar[tuple[str, ...]] = ("figure",)
    """The plots that it has; the first is the paper's."""

    def settings(
        self,
        preset: str = "authors",
        *,
        datasets: tuple[str, ...] | None = None,
        repeats: int | None = None,
        seed: int = 1,
    ) -> Settings:
        """Return the settings of a preset, with what is said otherwise.

        Names of data sets may be in any case. A figure that has nothing to repeat keeps its one
        repeat.
        """
        if preset not in PRESETS:
            raise ValueError(f"No preset is called {preset!r}; use one of {', '.join(PRESETS)}.")
        if repeats is None or set(self.repeats.values()) == {1}:
            repeats = self.repeats[preset]
        for name, value, least in (("repeats", repeats, 1), ("seed", seed, 0)):
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name}={value!r}; it has to be a whole number from {least} on.")
        return Settings(self.name, preset, repeats, self._chosen(preset, datasets), seed)

    def _chosen(self, preset: str, datasets: tuple[str, ...] | None) -> tuple[str, ...]:
        known = self.datasets.get(preset, ())
        if datasets is None:
            return known
        asked = {name.strip().lower() for name in datasets}
        chosen = tuple(name for name in known if name.lower() in asked)
        if len(chosen) != len(asked) or not asked:
            raise ValueError(
                f"{self.name} has no such data sets in preset {preset}: "
                f"{', '.join(datasets) or 'none given'}; use some of {', '.join(known) or 'none'}."
            )
        return chosen

    @abstractmethod
    def cells(self, settings: Settings) -> list[str]:
        """Name the pieces of work, as in ``"WDBC/20"``."""

    @abstractmethod
    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        """Compute one cell from the settings and its name alone."""

    @abstractmethod
    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        """Put the cells' results together; their order does not matter."""

    @abstractmethod
    def plot(self, table: Table, view: str | None = None) -> Picture:
        """Draw a view of the table, by default the first."""

    def findings(self, table: Table) -> list[Finding]:
        """Hold the paper's claims, and ours, against the table."""
        return []

    def compute(self, settings: Settings) -> Table:
        """Compute the whole table here and now (`paper.runner.run` keeps the cells)."""
        return self.tabulate(
            settings, {cell: self.compute_cell(settings, cell) for cell in self.cells(settings)}
        )
