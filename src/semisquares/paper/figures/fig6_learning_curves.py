"""Figure 6: the error as unlabeled rows are added, on sixteen data sets.

Each repeat draws L labeled rows, one of each class among them, and permutes the others once. The
unlabeled rows are the first s of those, s doubling, so that the sets are nested; **the test rows
are all that come after s**, so that they become fewer. L is five more than there are components, 20
at the least.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import plotting
from . import published
from .curves import Curves, draw_curves, n_components
from .figure import Arrays, Figure, Finding, Settings, Table, clearly_lower
from .nested import METHODS, Draw, nested_weights
from .protocol import (
    DATASETS_OF,
    MEASURES,
    block_range,
    blocks,
    cells_of,
    component_table,
    labeled_first,
    mean_and_error,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

Array = NDArray[Any]

REPEATS_PER_CELL = 20
PUBLISHED_REPEATS = 1000
LARGEST_Z, LARGEST_MEAN_Z = 4.0, 1.2
ENOUGH_REPEATS = 20
"""With fewer, a standard error is itself too uncertain for a verdict."""
ENOUGH_SETS = 5
"""All points of a data set share its draws: the mean |z| of fewer sets is a matter of luck."""


def n_labeled(n_components: int) -> int:
    """Return how many rows have a label: enough for the supervised fit to be unique, mostly."""
    return max(n_components + 5, 20)


def sizes(settings: Settings, n_rows: int, labeled: int) -> tuple[int, ...]:
    """Return the numbers of unlabeled rows; at least one row is left to test on."""
    first, last = (0, 8) if settings.preset == "paper" else (1, 10)
    return tuple(2**k for k in range(first, last + 1) if labeled + 2**k < n_rows)


def draw(settings: Settings, name: str, repeat: int) -> Draw:
    """Draw one repeat: rows in the order labeled, unlabeled, test."""
    X, y = component_table(name, settings.preset)
    labeled = n_labeled(X.shape[1] - 1)
    order = labeled_first(y, settings.generator(name, repeat))
    as_authors = settings.preset != "paper"
    return Draw(X[order], y[order], labeled, as_authors=as_authors)


def measure(drawn: Draw, weights: Array, at: tuple[int, ...]) -> tuple[Array, Array]:
    """Return error and loss on the rows after each size, for weights (methods, sizes, p)."""
    X, y = drawn.X[drawn.n_labeled :], drawn.y[drawn.n_labeled :]
    n_methods, n_sizes, p = weights.shape
    z = (X @ weights.reshape(-1, p).T).reshape(len(X), n_methods, n_sizes)
    wrong = (z > 0.5) != (y > 0.5)[:, None, None]
    square = (z - y[:, None, None]) ** 2
    error = np.stack([wrong[s:, :, k].mean(axis=0) for k, s in enumerate(at)], axis=1)
    loss = np.stack([square[s:, :, k].mean(axis=0) for k, s in enumerate(at)], axis=1)
    return error, loss


class LearningCurves(Figure):
    name: ClassVar = "fig6"
    title: ClassVar = "More unlabeled rows, fewer errors"
    caption: ClassVar = (
        "Error on test rows as unlabeled rows are added, the number of labeled rows L kept. Bands "
        "are two standard errors; wide faint lines are the published curves. The oracle knows the "
        "labels of the unlabeled rows. Then the squared loss of the same fits, on a logarithmic "
        "axis (bands are of the logarithm)."
    )
    repeats: ClassVar = {"authors": 1000, "paper": 1000, "quick": 40}
    datasets: ClassVar = DATASETS_OF
    views: ClassVar = ("error", "loss")
    columns: ClassVar = {
        "dataset": "name of the data set",
        "method": "supervised, soft, hard (from the supervised weights) or oracle",
        "n_unlabeled": "number of unlabeled rows",
        **MEASURES,
    }

    def cells(self, settings: Settings) -> list[str]:
        return cells_of(settings, REPEATS_PER_CELL)

    def compute_cell(self, settings: Settings, cell: str) -> Arrays:
        name, repeats = block_range(cell)
        found = []
        for repeat in repeats:
            drawn = draw(settings, name, repeat)
            at = sizes(settings, len(drawn.y), drawn.n_labeled)
            weights = nested_weights(drawn, at)
            found.append(measure(drawn, np.stack([weights[m] for m in METHODS]), at))
        error, loss = map(np.array, zip(*found, strict=True))
        return {"n_unlabeled": np.array(at), "error": error, "loss": loss}

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        summary = curves(settings, results, METHODS)
        details = {} if settings.preset == "paper" else {"agreement": agreement(summary)}
        return Table(settings, summary, details)

    def plot(self, table: Table, view: str | None = None) -> Picture:
        view = plotting.choose_view(view, self.views)
        looks = {method: plotting.look(method).label for method in METHODS}
        shown = learning_curve_axes(table.settings, view, looks)
        known = view == "error" and table.settings.preset != "paper"
        with plotting.style():
            return draw_curves(
                table.summary, shown, published=published.learning_curves() if known else None
            )

    def findings(self, table: Table) -> list[Finding]:
        return [*_agreement_findings(table), *_claims(table.summary)]


def curves(
    settings: Settings, results: Mapping[str, Arrays], methods: tuple[str, ...]
) -> pd.DataFrame:
    """Put cells of learning curves, arrays (repeats, methods, sizes), together as means."""
    import pandas as pd

    frames = []
    for name in settings.datasets:
        mine = [results[f"{name}/{block}"] for block in blocks(settings.repeats, REPEATS_PER_CELL)]
        error, error_se = mean_and_error(np.concatenate([cell["error"] for cell in mine]))
        loss, loss_se = mean_and_error(np.concatenate([cell["loss"] for cell in mine]))
        at = mine[0]["n_unlabeled"]
        frames.append(
            pd.DataFrame(
                {
                    "dataset": name,
                    "method": np.repeat(methods, len(at)),
                    "n_unlabeled": np.tile(at, len(methods)),
                    "error": error.ravel(),
                    "error_se": error_se.ravel(),
                    "loss": loss.ravel(),
                    "loss_se": loss_se.ravel(),
                    "repeats": settings.repeats,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def learning_curve_axes(
    settings: Settings,
    view: str,
    labels: Mapping[str, str],
    looks: Mapping[str, plotting.Look] | None = None,
) -> Curves:
    """Say what a picture of learning curves shows; data sets have L beside their names."""
    names = settings.datasets
    notes = {name: f"L = {n_labeled(n_components(name, settings.preset))}" for name in names}
    return Curves("n_unlabeled", view, "unlabeled rows", labels, notes, looks=looks or {})


def agreement(summary: pd.DataFrame) -> pd.DataFrame:
    """Hold our errors against the published ones: the difference and its z-score.

    The published standard error is taken to be ours at 1000 repeats.
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
            f"Mean |z| of ours less the published error is at most {LARGEST_MEAN_Z}",
            None if few or alone else bool(size.mean() <= LARGEST_MEAN_Z),
            f"{size.mean():.2f} over {points}",
        ),
        Finding(
            f"No |z| is above {LARGEST_Z:g}",
            None if few else bool(size.max() <= LARGEST_Z),
            f"largest {size.max():.2f} ({worst['dataset']}, {worst['method']}, "
            f"{worst['n_unlabeled']} unlabeled rows: {worst['error']:.4f} against "
            f"{worst['error_published']:.4f})",
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
    """Hold the published verdict at the largest number of unlabeled rows against ours.

    A data set speaks against it if the means differ by two standard errors the other way.
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
        "by more than two standard errors after their best on: " + (", ".join(risen) or "none"),
    )


FIG6 = LearningCurves()
