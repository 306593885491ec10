"""Figure 6: the error as unlabeled rows are added, on sixteen data sets.

Each repeat draws L labeled rows, at least one of each class, and permutes the others once. The
unlabeled rows are the first s of those, and s doubles, so the sets are nested. **The test rows are
all rows after the first s**, so their number shrinks. L is the number of components plus five, and
at least 20.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import plotting
from ..._html.tables import grid
from ..._utils.typing import Array
from ..._utils.words import minus
from . import _published as published
from ._curves import Curves, draw_curves, method_labels, n_components
from ._figure import Agreement, Arrays, Finding, Settings, Table, clearly_lower
from ._nested import METHODS, Draw, nested_weights
from ._protocol import (
    MEASURES,
    RepeatedFigure,
    average,
    component_table,
    describe_repeats,
    labeled_first,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture


PUBLISHED_REPEATS = 1000
LARGEST_Z, LARGEST_MEAN_Z = 4.0, 1.2
ENOUGH_REPEATS = 20
"""With fewer repeats, a standard error is too uncertain for a verdict."""
ENOUGH_SETS = 5
"""All points of a data set share its draws, so the mean |z| over fewer sets is mostly chance."""
CHANCE_Z = np.sqrt(2 / np.pi)
"""The mean |z| of two samples that differ by chance alone."""


def n_labeled(n_components: int) -> int:
    """Return the number of labeled rows; it nearly always makes the supervised fit unique."""
    return max(n_components + 5, 20)


def sizes(settings: Settings, n_rows: int, labeled: int) -> tuple[int, ...]:
    """Return the numbers of unlabeled rows that leave at least one test row."""
    first, last = (0, 8) if settings.preset == "paper" else (1, 10)
    return tuple(2**k for k in range(first, last + 1) if labeled + 2**k < n_rows)


def draw_repeat(settings: Settings, name: str, repeat: int) -> Draw:
    """Draw one repeat, the same for all figures; rows are in the order labeled, unlabeled, test."""
    X, y = component_table(name, settings.preset)
    rng = replace(settings, figure="fig6").generator(name, repeat)
    order = labeled_first(y, rng)
    labeled = n_labeled(X.shape[1] - 1)
    return Draw(X[order], y[order], labeled, as_authors=settings.preset != "paper")


def measure(drawn: Draw, weights: Array, at: tuple[int, ...]) -> Arrays:
    """Return error and loss on the rows after each size, for weights (methods, sizes, p)."""
    X, y = drawn.X[drawn.n_labeled :], drawn.y[drawn.n_labeled :]
    n_methods, n_sizes, p = weights.shape
    z = (X @ weights.reshape(-1, p).T).reshape(len(X), n_methods, n_sizes)
    wrong = (z > 0.5) != (y > 0.5)[:, None, None]
    square = (z - y[:, None, None]) ** 2
    error = np.stack([wrong[s:, :, k].mean(axis=0) for k, s in enumerate(at)], axis=1)
    loss = np.stack([square[s:, :, k].mean(axis=0) for k, s in enumerate(at)], axis=1)
    return {"n_unlabeled": np.array(at), "error": error, "loss": loss}


class LearningCurves(RepeatedFigure):
    name: ClassVar = "fig6"
    place: ClassVar = "Figure 6"
    title: ClassVar = "More unlabeled rows, fewer errors"
    caption: ClassVar = (
        "Error on test rows as unlabeled rows are added to L labeled ones. Bands are two standard "
        "errors; wide faint lines are the published curves. The oracle knows the labels of the "
        "unlabeled rows. Then the squared loss of the same fits, on a logarithmic axis (its bands "
        "are two standard errors of the logarithm)."
    )
    repeats: ClassVar = {"authors": 1000, "paper": 1000, "quick": 40}
    views: ClassVar = {
        "error": "Classification error, as published",
        "loss": "Squared loss",
    }
    columns: ClassVar = {
        "dataset": "name of the data set",
        "method": "supervised, soft, hard (from the supervised weights) or oracle",
        "n_unlabeled": "number of unlabeled rows",
        **MEASURES,
    }

    def measure_repeat(self, settings: Settings, name: str, repeat: int) -> Arrays:
        drawn = draw_repeat(settings, name, repeat)
        at = sizes(settings, len(drawn.y), drawn.n_labeled)
        weights = nested_weights(drawn, at)
        return measure(drawn, np.stack([weights[m] for m in METHODS]), at)

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        summary = average_curves(self.join_blocks(settings, results), METHODS)
        details = {} if settings.preset == "paper" else {"agreement": z_scores(summary)}
        return Table(settings, summary, details)

    def draw(self, table: Table, view: str) -> Picture:
        shown = describe_curves(table.settings, view, method_labels(METHODS))
        known = view == "error" and table.settings.preset != "paper"
        return draw_curves(
            table.summary, shown, published=published.learning_curves() if known else None
        )

    def findings(self, table: Table) -> list[Finding]:
        return [*_agreement_findings(table), *_claims(table.summary)]

    def describe_run(self, settings: Settings) -> str:
        sizes = "1, 2, 4, … 256" if settings.preset == "paper" else "2, 4, 8, … 1024"
        return (
            f"{describe_repeats(settings)}, with {sizes} unlabeled rows as far as there are rows; "
            "supervised, soft, hard, and the oracle that knows the labels of the unlabeled rows."
        )

    def compare_with_paper(self, table: Table) -> Agreement:
        held = table.details.get("agreement")
        if held is None:
            return Agreement(
                "The published curves have other numbers of unlabeled rows than the text, so there "
                "are no points to compare in preset paper; see the verdicts above."
            )
        held = held.dropna(subset=["z"])
        if held.empty:
            return Agreement("There are too few repeats for the standard errors of a comparison.")
        return _compare(held.assign(size=held["z"].abs()))


def average_curves(cells: Mapping[str, Arrays], methods: tuple[str, ...]) -> pd.DataFrame:
    """Average learning curves, arrays of shape (repeats, methods, sizes) for each data set."""
    import pandas as pd

    frames = []
    for name, cell in cells.items():
        at = cell["n_unlabeled"]
        columns = {
            "dataset": name,
            "method": np.repeat(methods, len(at)),
            "n_unlabeled": np.tile(at, len(methods)),
            **average(cell),
        }
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def describe_curves(
    settings: Settings,
    view: str,
    labels: Mapping[str, str],
    styles: Mapping[str, plotting.MethodStyle] | None = None,
) -> Curves:
    """Return the description of a picture of learning curves, with L beside each data set."""
    names = settings.datasets
    notes = {name: f"L = {n_labeled(n_components(name, settings.preset))}" for name in names}
    return Curves("n_unlabeled", view, "unlabeled rows", labels, notes, styles=styles or {})


def z_scores(summary: pd.DataFrame) -> pd.DataFrame:
    """Compare our errors with the published ones: the difference and its z-score.

    The published standard error is assumed to be ours at 1000 repeats.
    """
    keys = ["dataset", "method", "n_unlabeled"]
    both = summary.merge(published.learning_curves(), on=keys, suffixes=("", "_published"))
    theirs = both["error_se"] * np.sqrt(both["repeats"] / PUBLISHED_REPEATS)
    difference = both["error"] - both["error_published"]
    spread = np.sqrt(both["error_se"] ** 2 + theirs**2)
    z = difference / spread.where(spread > 0.0)
    return both[[*keys, "error", "error_published"]].assign(difference=difference, z=z)


def _agreement_findings(table: Table) -> list[Finding]:
    if "agreement" not in table.details:
        return []
    held = table.details["agreement"]
    size = held["z"].abs()
    if size.isna().all():
        claim = "The errors agree with the published ones"
        return [Finding(claim, None, "too few repeats for a standard error")]
    few = table.settings.repeats < ENOUGH_REPEATS
    alone = held["dataset"].nunique() < ENOUGH_SETS
    worst = held.loc[size.idxmax()]
    points = f"{len(held)} published points of {held['dataset'].nunique()} data sets"
    return [
        Finding(
            f"The mean |z| of our error minus the published one is at most {LARGEST_MEAN_Z}",
            None if few or alone else bool(size.mean() <= LARGEST_MEAN_Z),
            f"{size.mean():.2f} over {points}",
            key="mean_z",
            numbers={
                "mean": float(size.mean()),
                "points": len(held),
                "datasets": held["dataset"].nunique(),
            },
        ),
        Finding(
            f"No |z| is above {LARGEST_Z:g}",
            None if few else bool(size.max() <= LARGEST_Z),
            f"largest {size.max():.2f} ({worst['dataset']}, {worst['method']}, "
            f"{worst['n_unlabeled']} unlabeled rows: {worst['error']:.4f} against "
            f"{worst['error_published']:.4f})",
            key="largest_z",
            numbers={"largest": float(size.max())},
        ),
    ]


def _claims(summary: pd.DataFrame) -> list[Finding]:
    largest = summary.groupby("dataset")["n_unlabeled"].transform("max")
    last = summary[summary["n_unlabeled"] == largest].set_index(["dataset", "method"])
    return [
        _beats(last, "soft", "hard", but="Haberman"),
        _beats(last, "soft", "supervised", but="Haberman"),
        _beats(last, "hard", "supervised", but="Diabetes"),
        _hard_can_fall(summary),
    ]


def _beats(last: pd.DataFrame, better: str, worse: str, *, but: str) -> Finding:
    """Check the published verdict at the largest number of unlabeled rows.

    A data set contradicts it if the means differ by two standard errors in the other direction.
    """
    names = list(last.index.unique("dataset"))
    error, spread = last["error"], last["error_se"]
    lost = {name for name in names if error[name, better] >= error[name, worse]}
    unexpected = sorted(lost ^ ({but} & set(names)))
    against = [
        name
        for name in unexpected
        if clearly_lower(
            error[name, better], error[name, worse], spread[name, better], spread[name, worse]
        )
        is not None
    ]
    evidence = f"{better} beats {worse} on {len(names) - len(lost)} of {len(names)}; not on: " + (
        ", ".join(sorted(lost)) or "none"
    )
    if unexpected and not against:
        evidence += f"; within two standard errors on {', '.join(unexpected)}"
    holds = (False if against else None) if unexpected else True
    few = last["repeats"].min() < ENOUGH_REPEATS or len(names) < 2
    return Finding(
        f"{better.capitalize()} beats {worse} on every data set but {but}, at the largest number "
        "of unlabeled rows",
        None if few else holds,
        evidence,
        key=f"{better}_beats_{worse}",
        numbers={"wins": len(names) - len(lost), "datasets": len(names), "lost": sorted(lost)},
    )


def _hard_can_fall(summary: pd.DataFrame) -> Finding:
    hard = summary[summary["method"] == "hard"]
    risen = []
    for name, curve in hard.groupby("dataset", sort=False):
        best = curve.loc[curve["error"].idxmin()]
        final = curve.loc[curve["n_unlabeled"].idxmax()]
        if clearly_lower(best["error"], final["error"], best["error_se"], final["error_se"]):
            risen.append(f"{name} {best['error']:.3f} → {final['error']:.3f}")
    return Finding(
        "Hard labels can get worse as unlabeled rows are added",
        True if risen else None,
        "the error rises by more than two standard errors after its minimum on: "
        + (", ".join(risen) or "none"),
    )


def _compare(held: pd.DataFrame) -> Agreement:
    sets = held.groupby("dataset", sort=False)
    mean = sets["size"].mean()
    header = ("data set", "points", "mean difference", "mean |z|", "largest |z|", "where")
    return Agreement(
        f"The mean |z| is {held['size'].mean():.2f} over {len(held)} published points of "
        f"{len(sets)} data sets, the largest is {held['size'].max():.2f}.",
        grid(
            "Our error minus the published one; z in standard errors",
            header,
            [_difference_row(str(name), part) for name, part in sets],
        ),
        "The published curves are read off the paper's vector figure; their standard error is "
        f"assumed to be ours at {PUBLISHED_REPEATS} repeats. Chance alone gives a mean |z| of "
        f"{CHANCE_Z:.2f}. All points of a data set share its draws, so they deviate together: "
        f"most of all on {mean.idxmax()}, where the mean |z| is {mean.max():.2f}.",
    )


def _difference_row(name: str, part: pd.DataFrame) -> tuple[str, ...]:
    """Return the row of a data set: its mean difference, and its point with the largest |z|."""
    worst = part.loc[part["size"].idxmax()]
    return (
        name,
        str(len(part)),
        minus(f"{part['difference'].mean():+.4f}"),
        f"{part['size'].mean():.2f}",
        f"{worst['size']:.2f}",
        f"{worst['method']},\N{NO-BREAK SPACE}{worst['n_unlabeled']}",
    )


FIG6 = LearningCurves()
