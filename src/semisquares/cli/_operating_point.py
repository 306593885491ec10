"""The options --balanced, --threshold and --costs: which class is answered."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import UserError
from ._options import Command, grouped

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.models._operating_point import PointOptions

__all__ = ["PointArguments", "operating_point"]


@dataclass(frozen=True)
class PointArguments:
    """The options --balanced, --threshold and --costs, as they are written."""

    balanced: bool
    threshold: str | None
    costs: str | None

    def __post_init__(self) -> None:
        given = self.given
        if len(given) > 1:
            raise click.UsageError(
                f"{' and '.join(given)} both say which class is answered; give one of them."
            )

    @property
    def given(self) -> list[str]:
        """The names of the options that are given."""
        values = {"--threshold": self.threshold, "--costs": self.costs}
        found = [name for name, value in values.items() if value is not None]
        return ["--balanced"] * self.balanced + found

    @property
    def files(self) -> list[str]:
        """The file that --costs names, if it does."""
        return [self.costs] if self.costs is not None and os.path.exists(self.costs) else []

    def parse(self) -> PointOptions:
        """Read the numbers, and the file of costs."""
        from ..tables.models._operating_point import PointOptions

        if self.threshold is not None:
            return PointOptions(threshold=_threshold(self.threshold))
        if self.costs is not None:
            return PointOptions(costs=_table(self.costs) if self.files else _pairs(self.costs))
        return PointOptions(balanced=self.balanced)


def operating_point(command: Command) -> Command:
    """Add the options of `PointArguments`, passed as `point`."""
    return grouped(
        command, "point", PointArguments,
        click.option(
            "--balanced", is_flag=True,
            help="Answer as if all classes were equally frequent, so that rare ones are predicted "
            "more often.",
        ),
        click.option(
            "--threshold", metavar="[CLASS=]P",
            help="With two classes, answer CLASS if its probability is at least P; without "
            "CLASS, the one with fewer labels.",
        ),
        click.option(
            "--costs", metavar="CLASS=COST,… | FILE",
            help="Give the answer with the least expected cost. COST: that of missing a row of "
            "CLASS, 1 if not given. FILE: a table with a row for each true class, named in its "
            "first column, and a column with the costs of each answer.",
        ),
    )  # fmt: skip


def _threshold(given: str) -> Any:
    name, _, number = given.rpartition("=")
    least = _number(number)
    if least is None:
        raise click.UsageError(
            f"--threshold {given!r} is not a probability; write it as --threshold 0.2 or "
            "--threshold CLASS=0.2."
        )
    return {name: least} if name else least


def _pairs(given: str) -> dict[str, float]:
    """Read CLASS=COST,CLASS=COST."""
    found: dict[str, float] = {}
    for part in given.split(","):
        name, _, number = part.rpartition("=")
        cost = _number(number)
        if not name or cost is None:
            raise click.UsageError(
                f"--costs {given!r} is neither an existing file nor written as CLASS=COST,…; give "
                "classes whose names have commas in a file."
            )
        if name in found:
            raise click.UsageError(f"--costs {given!r} names {name!r} twice; give one cost.")
        found[name] = cost
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _table(path: str) -> pd.DataFrame:
    """Read a table of costs; its first column names the true classes."""
    from ..tables.io import find, read

    first = str(read(find(path)).columns[0])
    frame = read(find(path), labels=[first])
    if len(frame.columns) < 3:
        raise UserError(
            f"--costs {path!r} has {len(frame.columns)} column{'s' * (len(frame.columns) > 1)}; "
            "give it one with the names of the true classes, and one with the costs of each answer."
        )
    return frame.set_index(first)
