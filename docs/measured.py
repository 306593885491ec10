"""The registry of measured numbers: from the key of a mark to a stored table.

To write a measured number in a page, put it between marks (`docs.marks`), enter its key here, and
run ``python -m docs --fill``. Pages have no measured number without a stored table.
"""

from __future__ import annotations

from benchmarks.peers import choosing

from . import (
    billion,
    first_labels,
    label_members,
    label_review,
    pages,
    readme,
    reproduction,
    text_columns,
    verdict,
)
from .marks import Number, Registry
from .stored import SCALE, costs, listing, numbers, ratio, table


def _thousands(count: int) -> str:
    return f"{count:,}"


def _scale(what: str, ratio_of: str) -> Number:
    return Number(lambda: ratio(what, ratio_of, SCALE).value, readme.two_digits)


def _passes(place: int) -> Number:
    """Return the number of passes of a fit, by its place among fits of more and more rows."""
    return Number(lambda: ratio("rows from", "log-log slope", SCALE).numbers["passes"][place])


SCALE_LINES = {
    "fit-to-reading": ("20,000,000", "fit / (passes"),
    "slope": ("rows from", "log-log slope"),
    "two-workers": ("10,000,000", "one worker / two"),
    "soft-to-sgd": ("20,000,000", "soft fit / SGD"),
    "sgd-rough": ("2,000,000", "SGD to 0.01"),
    "sgd-fine": ("2,000,000", "SGD to 1e-05"),
    "dask-ml": ("2,000,000", "dask-ml"),
    "spark": ("2,000,000", "Spark"),
}

NUMBERS = {
    # benchmarks/results.json
    "large.soft-to-ridge": Number(
        lambda: ratio("500,000 × 100, overlapping", "soft fit / RidgeClassifier").value,
        readme.two_digits,
    ),
    "solvers.block-to-newton": Number(
        lambda: ratio("L=500, U=100,000", "block descent / Newton").value, readme.two_digits
    ),
    # benchmarks/scale_results.json
    **{f"scale.{key}": _scale(*line) for key, line in SCALE_LINES.items()},
    "scale.passes-of-few": _passes(0),
    "scale.passes-of-many": _passes(-1),
    "scale.model-off": Number(billion.model_off, "{:.2f}".format),
    # results/
    "fig5.lowest-behind-soft": Number(
        lambda: "{behind_soft} of {resamples}".format(**numbers("fig5", "lowest_objective"))
    ),
    "fig6.fits": Number(lambda: table("fig6").summary["repeats"].sum(), _thousands),
    "fig6.soft-beats-hard": Number(lambda: numbers("fig6", "soft_beats_hard")["wins"]),
    "fig6.soft-beats-supervised": Number(lambda: numbers("fig6", "soft_beats_supervised")["wins"]),
    "fig6.sets": Number(lambda: table("fig6").summary["dataset"].nunique()),
    # docs/first_labels.json
    **first_labels.NUMBERS,
}
"""Numbers in sentences."""

BLOCKS = {
    # README.md
    "readme.accuracies": readme.accuracies,
    "readme.verdict": verdict.sentence,
    "readme.paper": readme.paper,
    "readme.ratios": readme.ratios,
    # docs/methods/index.md
    "methods.table": lambda: pages.table(pages.read_numbers()),
    # docs/theory/averaging.md
    "averaging.labels": label_members.table,
    # docs/evidence/labeling_review.md
    **label_review.BLOCKS,
    # docs/guide/first_labels.md
    **first_labels.BLOCKS,
    # docs/guide/tables.md
    "tables.text": text_columns.table,
    # docs/choosing.md
    **{name: choosing.block(name) for name in choosing.BLOCKS},
    # docs/reproduction.md
    **{f"reproduction.{name}": made for name, made in reproduction.BLOCKS.items()},
    # docs/scale.md
    "scale.ratios": lambda: listing(SCALE),
    "scale.rates": billion.rates,
    "scale.passes": lambda: costs().passes_table,
    "scale.billion-words": billion.words,
    "scale.billion": lambda: costs().large_table,
}
"""Tables, lists and listings in Markdown."""

REGISTRY = Registry(NUMBERS, BLOCKS)
