"""The base class of all experiments: settings → cells → table → plots, findings and texts.

Cells are independent: the numbers of a cell depend only on the settings and its name. Cells can
therefore be computed in any order, by any number of processes, and kept until the others are done.
Plots, findings and texts read the table; they compute nothing that is not in it.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._utils.words import counted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

    from ..._html.tables import Grid

Arrays = dict[str, NDArray[Any]]

PRESETS = {
    "authors": "what made the published figures",
    "paper": "what the paper's text says",
    "quick": "minutes of work, for demonstrations and tests",
}
"""The presets and what each one computes."""


@dataclass(frozen=True)
class Settings:
    """Everything except the code that the numbers of a figure depend on (`settings.json`)."""

    figure: str
    preset: str
    repeats: int
    datasets: tuple[str, ...] = ()
    seed: int = 1

    def generator(self, *key: str | int) -> np.random.Generator:
        """Return the random generator for one piece of work, which `key` identifies."""
        words = [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in key]
        return np.random.default_rng([self.seed, zlib.crc32(self.figure.encode()), *words])


@dataclass(frozen=True)
class Table:
    """The numbers of a figure: a `summary`, and `details` that plots and findings also need."""

    settings: Settings
    summary: pd.DataFrame
    details: Mapping[str, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """A claim checked against the table: `holds` is None if this table cannot tell.

    Pages that quote what was measured find it by `key` in `numbers`; nothing parses `evidence`.
    """

    claim: str
    holds: bool | None
    evidence: str
    key: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Agreement:
    """How a figure compares with the paper: a sentence, a table of numbers, and a remark."""

    sentence: str
    grid: Grid | None = None
    remark: str = ""


def clearly_lower(first: float, second: float, *errors: float) -> bool | None:
    """Return whether one mean is below another by two standard errors; None if it is too close.

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
    """One experiment of the paper, or beyond it: its numbers, its plots and its texts."""

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str]
    place: ClassVar[str] = "Beyond the paper"
    """Where the paper has it, such as "Figure 1"."""
    repeats: ClassVar[Mapping[str, int]] = dict.fromkeys(PRESETS, 1)
    """The number of repeats in each preset; 1 in all of them if nothing is repeated."""
    datasets: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The data sets in each preset; empty for a figure on generated data."""
    columns: ClassVar[Mapping[str, str]]
    """The columns of `summary.csv` and their meanings."""
    views: ClassVar[Mapping[str, str]] = {"figure": ""}
    """The plots and their titles; the first is the paper's, and a single one needs no title."""
    uses_seed: ClassVar[bool] = True
    """Whether the seed changes the numbers; data from R's generator have a seed of their own."""

    def settings(
        self,
        preset: str = "authors",
        *,
        datasets: tuple[str, ...] | None = None,
        repeats: int | None = None,
        seed: int = 1,
    ) -> Settings:
        """Return the settings of a preset, with data sets, repeats and seed changed if given.

        Names of data sets may be in any case. A figure that repeats nothing ignores `repeats`.
        """
        if preset not in PRESETS:
            raise ValueError(f"No preset is called {preset!r}; use one of {', '.join(PRESETS)}.")
        if repeats is None or set(self.repeats.values()) == {1}:
            repeats = self.repeats[preset]
        for name, value, least in (("repeats", repeats, 1), ("seed", seed, 0)):
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name}={value!r}; give a whole number of at least {least}.")
        return Settings(self.name, preset, repeats, self._chosen(preset, datasets), seed)

    def _chosen(self, preset: str, datasets: tuple[str, ...] | None) -> tuple[str, ...]:
        known = self.datasets.get(preset, ())
        if datasets is None:
            return known
        wanted = {name.strip().lower() for name in datasets}
        chosen = tuple(name for name in known if name.lower() in wanted)
        if len(chosen) != len(wanted) or not wanted:
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
        """Combine the results of all cells, in any order."""

    @abstractmethod
    def draw(self, table: Table, view: str) -> Picture:
        """Draw a view of the table; called by `plot`, inside the style of all pictures."""

    def plot(self, table: Table, view: str | None = None) -> Picture:
        """Draw a view of the table, by default the first."""
        from ...plotting import style

        view = next(iter(self.views)) if view is None else view
        if view not in self.views:
            raise ValueError(f"There is no view {view!r}; use one of {', '.join(self.views)}.")
        with style():
            return self.draw(table, view)

    def findings(self, table: Table) -> list[Finding]:
        """Check the paper's claims, and ours, against the table."""
        return []

    def describe_run(self, settings: Settings) -> str:
        """Describe what was computed, in a sentence or two."""
        return f"{counted(settings.repeats, 'repeat')}."

    def compare_with_paper(self, table: Table) -> Agreement:
        """Compare the table with the published numbers."""
        return Agreement("The paper has no such figure.")

    def compute(self, settings: Settings) -> Table:
        """Compute the whole table in this process, without a ledger."""
        return self.tabulate(
            settings, {cell: self.compute_cell(settings, cell) for cell in self.cells(settings)}
        )
