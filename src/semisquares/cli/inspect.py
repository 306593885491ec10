"""``semisquares inspect``: what is in a stored model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.errors import UserError
from .._utils.words import os_error
from . import options, require
from .places import FILE, checked

if TYPE_CHECKING:
    from rich.table import Table

    from ..tables.compare.comparison import Strength
    from ..tables.models import TableModel
    from .talk import Talk

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
    "--top", type=click.IntRange(min=1), default=12, show_default=True, metavar="N",
    help="How many of the strongest features to show.",
)  # fmt: skip
@click.option(
    "--plot", type=FILE, metavar="FILE", help="Draw them, as PNG or SVG by the name's ending."
)
@options.words
def inspect(model: str, talk: Talk, top: int, plot: str | None) -> None:
    """Show what MODEL predicts, from which columns, how well, and by which features."""
    kind = None if plot is None else _kind_of_picture(plot)
    with checked(reads=[model], writes={"--plot": plot}):
        from ..tables.compare.strengths import strengths
        from .models import open_model

        if plot is not None:
            require("matplotlib", extras="cli,tables")
            from ..tables.report import drawing  # noqa: F401

    stored = open_model(talk, model)
    names = tuple(map(str, stored.classes))
    ranked = strengths(stored.classifier, stored.preparation.features_, names)
    _print(talk, stored)
    for note in stored.about.get("notes", ()):
        talk.warn(note)
    direction = f" towards {names[1]!r}" if len(names) == 2 else ""
    talk.say(
        f"Strongest features: the change of the decision value{direction} by one standard "
        "deviation of a number, or by a level (strength), and by one unit (effect)",
        "dim",
    )
    talk.say_table(_features(ranked[:top], names))
    if plot is not None and kind is not None:
        _plot(ranked[:top], plot, kind)
        talk.answer(f"Plot: {plot}", style=None)
    talk.hand_over(
        {
            "target": stored.target,
            "group": stored.group,
            "unlabeled": stored.unlabeled,
            **stored.about,
            "features": [asdict(strength) for strength in ranked],
        }
    )


def _print(talk: Talk, model: TableModel) -> None:
    from .describe import listed, used

    about = model.about
    counts = ", ".join(
        f"{name} {count:,}" for name, count in zip(model.classes, about["counts"], strict=True)
    )
    talk.answer(f"Predicts {model.target!r}: {', '.join(map(str, model.classes))}")
    talk.say(f"  {about['summary']}")
    talk.say(
        f"  fitted to {about['source']}: {about['rows']:,} rows, {about['labeled']:,} labeled "
        f"({counts}), on {about['created']}"
    )
    columns = model.preparation.columns_
    talk.say(f"  {used(columns)}")
    for line in listed(columns):
        talk.say(f"    {line}")
    if about["metrics"]:
        talk.say("  on labeled rows that the fit had not seen (95 % interval):")
        for name, label in _METRICS.items():
            talk.say(f"    {label} {_estimate(about['metrics'][name])}")
    if about["verdict"]:
        talk.say(f"  verdict on the unlabeled rows: {about['verdict']['sentence']}")
    if about["certificate"] is not None:
        talk.say(
            f"  certificate: the fit is proven to be within {about['certificate']:.1e} of its "
            "optimum"
        )
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    talk.say(f"  {versions}\n")


def _estimate(estimate: Any) -> str:
    if estimate["mean"] is None:
        return "unknown"
    if estimate["low"] is None:
        return f"{estimate['mean']:.3f}"
    return f"{estimate['mean']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"


def _features(ranked: tuple[Strength, ...], names: tuple[str, ...]) -> Table:
    """Return the strongest features: by a common measure, and in the units of their columns."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("feature", overflow="fold")
    if len(names) > 2:
        table.add_column("towards", overflow="fold")
    table.add_column("strength", justify="right", no_wrap=True)
    table.add_column("effect", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for one in ranked:
        strength, effect = (f"{n:+.4g}".replace("-", "−") for n in (one.weight, one.effect))
        towards = [one.class_name] if len(names) > 2 else []
        table.add_row(one.feature, *towards, strength, effect, one.unit)
    return table


def _kind_of_picture(path: str) -> str:
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in ("png", "svg"):
        raise UserError(f"{path} names no kind of picture; end it in .png or .svg.")
    return kind


def _plot(ranked: tuple[Strength, ...], path: str, kind: str) -> None:
    from .. import plotting
    from .._utils.files import replaced
    from ..tables.report import drawing

    picture = drawing.strengths(ranked, n_shown=len(ranked))
    try:
        with replaced(path) as file:
            file.write(plotting.render(picture, kind))
    except OSError as error:
        raise UserError(f"{os_error(error, 'writing', path)}; give another name.") from None
