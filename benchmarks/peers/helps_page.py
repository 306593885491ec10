"""The page that asks whether unlabeled rows help, against a ridge that is tuned."""

from __future__ import annotations

from dataclasses import dataclass

from .comparing import Comparison, Mean
from .markdown import grid, interval, names, on_tables, points, spread
from .methods import METHODS
from .reasons import CHOSEN
from .sets import REGIMES
from .storing import Stored

PAIRS = (
    ("soft_cv", "ridge_cv"),
    ("soft", "ridge_cv"),
    ("soft", "ridge"),
    ("hard", "ridge"),
    ("self_training", "logistic"),
)
"""Methods that use unlabeled rows, and what is to be had without them."""
OTHER_RIDGE = ("soft", "ridge_cv")
"""The pair that differs in the ridge too."""
ONE_POINT = 0.01

TEXT = """
# Does it help?

What unlabeled rows are worth: the accuracy with them less that of a *tuned* classifier without
them, on the same rows and splits; [how it was measured](index.md). The ridge of `RidgeClassifierCV`
is tuned by leave-one-out, over eight powers of ten. `SoftLabelClassifierCV` chooses its ridge by
another rule, and moves its intercept: where the one is ahead of the other, it need not be by the
unlabeled rows. `SoftLabelClassifier` and `HardLabelClassifier` have `alpha=1` here, tuned by
nobody; beside the tuned ridge there is one with the same `alpha` (`RidgeClassifier`), which tells
what is due to the unlabeled rows and what to the ridge.

![Differences to the tuned ridge, table by table](pictures/helps.svg)

Above the line are the paper's tables; the drawn ones below it are of known kinds. Bars are 95 %
intervals; the axis is stretched around 0.

## Is `SoftLabelClassifierCV` safe?

It is to be used where nobody knows whether unlabeled rows help. So it should not be worse than the
tuned ridge, and better where something is to be gained.

{safe}

*Splits that differ* are those in which the two have other numbers of errors: there, unlabeled rows
were taken and changed something. With 15 labels for each class or fewer the labels have to speak
for them by four standard errors, which they hardly ever do. A regime *holds* where the mean over
the paper's tables is not below 0 by more than its standard error (with as many labels as columns:
where it is above 0), and no table is worse by a point beyond two standard errors.
{regimes}
"""

REGIME = """
## {title}

{words}

Differences in points, with half of their 95 % intervals; the last column is what there is to gain:
the tuned ridge that is told all labels, less the one that is not.

{table}
"""


@dataclass(frozen=True)
class Safety:
    """Whether a regime holds what is promised of `SoftLabelClassifierCV`."""

    mean: Mean
    worse: tuple[str, ...]
    """The paper's tables that are worse by a point beyond two standard errors."""
    gains: bool
    """Whether the mean has to be above 0."""
    differs: float
    """The share of splits in which unlabeled rows were taken and changed what is predicted."""

    @property
    def holds(self) -> bool:
        least = 0.0 if self.gains else -self.mean.error
        return bool(self.mean.value >= least) and not self.worse


def safety(comparison: Comparison) -> Safety:
    """Hold `SoftLabelClassifierCV` against the tuned ridge."""
    worse = []
    for table in comparison.paper:
        gain = comparison.difference(CHOSEN, "ridge_cv", table)
        if gain.value + 2.0 * gain.error < -ONE_POINT:
            worse.append(table)
    gains = comparison.regime == "columns"
    mean = comparison.mean_difference(CHOSEN, "ridge_cv")
    return Safety(mean, tuple(worse), gains, comparison.differing(CHOSEN, "ridge_cv"))


def helps_page(stored: Stored) -> str:
    """Return the page in Markdown."""
    parts = [_regime(Comparison(stored, regime), words) for regime, words in REGIMES.items()]
    return TEXT.format(safe=_safe(stored), regimes="".join(parts))


def _safe(stored: Stored) -> str:
    rows = []
    for regime, words in REGIMES.items():
        found = safety(Comparison(stored, regime))
        error = f"{100.0 * found.mean.error:.2f}"
        verdict = "holds" if found.holds else "**does not hold**"
        taken = f"{found.differs:.0%}"
        mean = points(found.mean.value, 2)
        rows.append([words, taken, mean, error, names(found.worse), verdict])
    head = ["regime", "splits that differ", "mean difference, points", "standard error"]
    head += ["tables a point worse", "verdict"]
    return grid(head, rows)


def _regime(comparison: Comparison, words: str) -> str:
    return REGIME.format(
        title=words[0].upper() + words[1:], words=_words(comparison), table=_table(comparison)
    )


def _words(comparison: Comparison) -> str:
    """Say for each pair whether the unlabeled rows help, and where not."""
    lines = []
    for method, without in PAIRS:
        gain = comparison.mean_difference(method, without)
        pair = comparison.pair(method, without, comparison.paper)
        same = (method, without) != OTHER_RIDGE
        verdict = "no clear difference"
        if gain.low > 0.0:
            verdict = "unlabeled rows help" if same else "ahead"
        elif gain.high < 0.0:
            verdict = "unlabeled rows harm" if same else "behind"
        lines.append(
            f"- `{METHODS[method].label}` against `{METHODS[without].label}`: {verdict}, "
            f"{interval(gain, 2)} points on average over the paper's tables; clearly better on "
            f"{on_tables(pair.better)}, clearly worse on {on_tables(pair.worse)}."
        )
    return "\n".join(lines)


def _table(comparison: Comparison) -> str:
    rows = []
    for table in comparison.tables:
        sizes = comparison.sizes(table)
        left = comparison.difference("oracle", "ridge_cv", table)
        gains = [spread(comparison.difference(*pair, table)) for pair in PAIRS]
        rows.append(
            [table, str(sizes["labels"]), str(sizes["unlabeled"]), *gains, points(left.value)]
        )
    heads = [f"{METHODS[method].label} − {METHODS[other].label}" for method, other in PAIRS]
    return grid(["table", "labels", "unlabeled", *heads, "all labels − ridge"], rows)
