"""``semisquares inspect``: show what is in a model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import UserError
from .._utils.words import counted, os_error
from . import _options as options
from . import require
from ._paths import FILE, checked_paths

if TYPE_CHECKING:
    from rich.table import Table

    from ..tables._importance import ColumnImportance
    from ..tables._strengths import Strength
    from ..tables.models import TableModel
    from ..tables.models._contents import MemberWeight
    from ._output import Output

_BAR = 30
"""Characters of the longest bar."""
_METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "squared_loss": "squared loss",
}


@click.command(
    epilog=options.examples(
        "semisquares inspect churn.model",
        "semisquares inspect churn.model --top 30 --plot churn.png",
        "semisquares inspect churn.model --json | jq .metrics",
    )
)
@click.argument("model", type=FILE)
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
    help="Number of columns, features and members of an average to show; the strongest first.",
)  # fmt: skip
@click.option(
    "--plot", type=FILE, metavar="FILE",
    help="Plot the importance of the columns to a .png or .svg file.",
)  # fmt: skip
@options.output
def inspect(model: str, output: Output, top: int, plot: str | None) -> None:
    """Show what MODEL predicts, from which columns, how well, and which columns matter most.

    The importance of a column is the mean change in the probability of the predicted class if the
    column is set to its typical value. For a model with coefficients the strongest features are
    listed, too, and for an average its members. The command also shows whether the file holds rows
    of the table, and how much accuracy it costs, or would cost, to store none.
    """
    format = None if plot is None else _image_format(plot)
    with checked_paths(reads=[model], writes={"--plot": plot}):
        from ..tables._importance import stored_importance
        from ..tables._strengths import strengths
        from ..tables.models._contents import summarize
        from ._describe import describe_point
        from ._models import open_model

        if plot is not None:
            require("matplotlib", extras="cli,tables")
            from ..tables.report import _importance_bars  # noqa: F401

    stored = open_model(model)
    names = tuple(map(str, stored.classes))
    inside = summarize(stored.classifier)
    ranked: tuple[Strength, ...] = ()
    if inside.coef is not None:
        ranked = strengths(inside.coef, stored.encoder.features, names)
    importance = stored_importance(stored.about)
    if plot is not None and not importance:
        raise UserError(
            f"{model} was stored by a version that did not measure the importance of columns; "
            "leave --plot out, or fit it again."
        )
    _print(output, stored)
    for note in stored.about.get("notes", ()):
        output.warn(note)
    if importance:
        _print_importance(output, importance, top)
    shown = tuple(one for one in ranked if one.weight != 0.0)[:top]
    if ranked:
        direction = f" towards {names[1]!r}" if len(names) == 2 else ""
        output.info(
            f"Strongest features. Strength: change of the decision value{direction} per standard "
            "deviation of a number, or for a level. Effect: the same per unit."
            + " A text: of all its features together, without a sign."
            * any(not one.signed for one in shown),
            "dim",
        )
        if shown:
            output.info(_features(shown, names))
        if without := _without_effect(ranked):
            output.info(without, "dim")
    else:
        output.info(f"{inside.sentence[0].upper()}{inside.sentence[1:]}.", "dim")
    if inside.members:
        output.info(_members(inside.members[:top]))
    output.info()
    if plot is not None and format is not None:
        _plot(importance[:top], plot, format)
        output.result(f"Plot: {plot}", style=None)
    output.data(
        {
            "target": stored.target,
            "group": stored.group,
            "unlabeled": stored.unlabeled,
            **stored.about,
            "operating_point": describe_point(stored),
            "classifier": stored.classifier.type,
            "rows_held": stored.classifier.n_rows_held,
            "features": [asdict(strength) for strength in ranked],
            "members": [asdict(member) for member in inside.members],
        }
    )


def _print(output: Output, model: TableModel) -> None:
    from ._describe import describe_point, listed, used

    about = model.about
    counts = ", ".join(
        f"{name} {count:,}" for name, count in zip(model.classes, about["counts"], strict=True)
    )
    output.result(f"Predicts {model.target!r}: {', '.join(map(str, model.classes))}")
    output.info(f"  {about['summary']}")
    if point := describe_point(model):
        output.info(f"  operating point: {point['sentence']}")
    output.info(
        f"  fitted to {about['source']}: {about['rows']:,} rows, {about['labeled']:,} labeled "
        f"({counts}), on {about['created']}"
    )
    columns = model.encoder.columns
    output.info(f"  {used(columns)}")
    for line in listed(columns):
        output.info(f"    {line}")
    if about["metrics"]:
        output.info("  on held-out labeled rows (95 % interval):")
        for name, label in _METRICS.items():
            output.info(f"    {label} {_estimate(about['metrics'][name])}")
    if about["certificate"] is not None:
        output.info(
            f"  certificate: the fit is proven to be within {about['certificate']:.1e} of its "
            "optimum"
        )
    if not model.classifier.holds_rows:
        output.info("  no row of the table is stored")
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    output.info(f"  {versions}\n")


def _estimate(estimate: Any) -> str:
    if estimate["mean"] is None:
        return "unknown"
    if estimate["low"] is None:
        return f"{estimate['mean']:.3f}"
    return f"{estimate['mean']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"


def _print_importance(output: Output, found: tuple[ColumnImportance, ...], top: int) -> None:
    """Print the most important columns as bars, and how many others there are."""
    output.info(
        "Importance of the columns: mean change in the probability of the predicted class, in "
        "percentage points, if a column is set to its typical value.",
        "dim",
    )
    shown = [one for one in found if one.importance > 0.0][:top]
    if shown:
        output.info(_bars(shown))
    unused = sum(one.importance == 0.0 for one in found)
    less = len(found) - unused - len(shown)
    parts = [f"{less:,} with less"] * bool(less) + [f"{unused:,} that do not matter"] * bool(unused)
    if parts:
        output.info(f"  other columns: {', '.join(parts)}", "dim")
    output.info()


def _bars(shown: Sequence[ColumnImportance]) -> Table:
    """Return a table of columns with bars of characters, the longest for the largest."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for one in shown:
        length = max(1, round(_BAR * one.importance / shown[0].importance))
        table.add_row(one.column, f"{100.0 * one.importance:.1f}", "█" * length)
    return table


def _without_effect(ranked: tuple[Strength, ...]) -> str:
    """Say how many features have no effect on any class, or ""."""
    features = {one.feature for one in ranked}
    n_without = len(features - {one.feature for one in ranked if one.weight != 0.0})
    if not n_without:
        return ""
    return (
        f"{n_without:,} of {counted(len(features), 'feature')} "
        f"{'has' if n_without == 1 else 'have'} no effect (0 up to rounding)."
    )


def _features(ranked: tuple[Strength, ...], names: tuple[str, ...]) -> Table:
    """Return a table of the strongest features."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("feature", overflow="fold")
    if len(names) > 2:
        table.add_column("towards", overflow="fold")
    table.add_column("strength", justify="right", no_wrap=True)
    table.add_column("effect", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for one in ranked:
        sign = "+" if one.signed else ""
        strength, effect = (f"{n:{sign}.4g}".replace("-", "−") for n in (one.weight, one.effect))
        towards = [one.class_name] if len(names) > 2 else []
        table.add_row(one.feature, *towards, strength, effect, one.unit)
    return table


def _members(members: Sequence[MemberWeight]) -> Table:
    """Return a table of the members of an average, those with the largest weights first."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("family", "representation", "setting"):
        table.add_column(name, overflow="fold")
    for name in ("weight", "log loss", "accuracy"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in members:
        scores = (f"{one.log_loss:.3f}", f"{one.accuracy:.3f}")
        table.add_row(one.family, one.representation, one.setting, f"{one.weight:.3f}", *scores)
    return table


def _image_format(path: str) -> str:
    format = Path(path).suffix.lower().removeprefix(".")
    if format not in ("png", "svg"):
        raise UserError(f"{path} is neither a PNG nor an SVG file; end its name in .png or .svg.")
    return format


def _plot(shown: tuple[ColumnImportance, ...], path: str, format: str) -> None:
    from .. import plotting
    from .._utils.files import atomic_write
    from ..tables.report import _importance_bars as bars

    picture = bars.importance(shown)
    try:
        with atomic_write(path) as file:
            file.write(plotting.render(picture, format))
    except OSError as error:
        raise UserError(f"{os_error(error, 'writing', path)}; choose another place.") from None
