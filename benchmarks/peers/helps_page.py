"""The page on whether unlabeled rows help, compared with a tuned ridge."""

from __future__ import annotations

from dataclasses import dataclass

from .comparing import Comparison, Mean
from .markdown import grid, interval, names, on_tables, points, spread
from .methods import METHODS
from .promises import RIDGE
from .reasons import CHOSEN, CHOSEN_ALONE
from .sets import REGIMES
from .storing import Stored

PAIRS = (
    (CHOSEN, RIDGE),
    (CHOSEN, CHOSEN_ALONE),
    ("soft", RIDGE),
    ("soft", "ridge"),
    ("hard", "ridge"),
    ("self_training", "logistic"),
)
"""Methods that use unlabeled rows, each with one to compare with that does not."""
OTHER_RIDGE = ((CHOSEN, RIDGE), ("soft", RIDGE))
"""Pairs that also differ in the ridge, so a gain need not come from the unlabeled rows."""
ONE_POINT = 0.01
TENTH = 0.001
"""A tenth of a point: the promised mean difference is not below minus this."""

TEXT = """
# Does it help?

This page compares classifiers that use unlabeled rows with *tuned* classifiers that do not, on the
same rows and splits ([how it was measured](index.md)). The tuned ridge is `RidgeClassifierCV` with
`alphas=np.logspace(-3, 4, 15)`, chosen by leave-one-out. `SoftLabelClassifierCV` chooses its ridge
penalty by another rule and shifts its intercept, so its difference from the tuned ridge has two
causes; the difference from its own `supervised_`, which follows the same rule without unlabeled
rows, shows what these rows are worth. `SoftLabelClassifier` and `HardLabelClassifier` have
`alpha=1` here, and it is fair to compare them with `RidgeClassifier` with the same `alpha`.

![Differences from the tuned ridge, table by table](pictures/helps.svg)

The paper's tables are above the line, simulated and other tables below it. Bars are 95 % intervals;
the axis is stretched around 0.

## Is `SoftLabelClassifierCV` safe?

It is meant for cases in which you do not know whether unlabeled rows help. We promise that, on
average over the paper's tables, it is at most a tenth of a point less accurate than the tuned
ridge. It may lose more on single tables; the table names those of the paper's tables on which it
is worse by more than a point even after two standard errors are added to the difference.

{safe}

{taken}
{regimes}
"""

REGIME = """
## {title}

{words}

Differences in points, with the half-widths of their 95 % intervals; the last column is the possible
gain: the tuned ridge with the labels of all training rows, minus the tuned ridge without them.

{table}
"""


@dataclass(frozen=True)
class Safety:
    """Whether the promise about `SoftLabelClassifierCV` holds in a regime."""

    mean: Mean
    worse: tuple[str, ...]
    """The paper's tables that are worse by a point beyond two standard errors."""

    @property
    def holds(self) -> bool:
        return bool(self.mean.value >= -TENTH)


def safety(comparison: Comparison) -> Safety:
    """Compare `SoftLabelClassifierCV` with the tuned ridge."""
    worse = []
    for table in comparison.paper:
        gain = comparison.difference(CHOSEN, RIDGE, table)
        if gain.value + 2.0 * gain.error < -ONE_POINT:
            worse.append(table)
    return Safety(comparison.mean_difference(CHOSEN, RIDGE), tuple(worse))


def helps_page(stored: Stored) -> str:
    """Return the page in Markdown."""
    parts = [_regime(Comparison(stored, regime), words) for regime, words in REGIMES.items()]
    return TEXT.format(safe=_safe(stored), taken=_taken(stored), regimes="".join(parts))


def _safe(stored: Stored) -> str:
    rows = []
    for regime, words in REGIMES.items():
        found = safety(Comparison(stored, regime))
        error = f"{100.0 * found.mean.error:.2f}"
        verdict = "holds" if found.holds else "**does not hold**"
        mean = points(found.mean.value, 2)
        rows.append([words, mean, error, names(found.worse), verdict])
    head = ["regime", "mean difference, points", "standard error"]
    head += ["tables worse by a point", "verdict"]
    return grid(head, rows)


def _taken(stored: Stored) -> str:
    """Say in how many splits the unlabeled rows changed a prediction."""
    shares = [
        f"{Comparison(stored, regime).differing(CHOSEN, CHOSEN_ALONE):.0%} ({words})"
        for regime, words in REGIMES.items()
    ]
    return f"""The unlabeled rows changed the number of errors, compared with `supervised_`, in this
share of the splits: {", ".join(shares)}."""


def _regime(comparison: Comparison, words: str) -> str:
    return REGIME.format(
        title=words[0].upper() + words[1:], words=_words(comparison), table=_table(comparison)
    )


def _words(comparison: Comparison) -> str:
    """Say for each pair whether the unlabeled rows help, and on which tables."""
    lines = []
    for method, without in PAIRS:
        gain = comparison.mean_difference(method, without)
        pair = comparison.pair(method, without, comparison.paper)
        same = (method, without) not in OTHER_RIDGE
        verdict = "no clear difference"
        if gain.low > 0.0:
            verdict = "unlabeled rows help" if same else "ahead"
        elif gain.high < 0.0:
            verdict = "unlabeled rows hurt" if same else "behind"
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
        left = comparison.difference("oracle", RIDGE, table)
        gains = [spread(comparison.difference(*pair, table)) for pair in PAIRS]
        rows.append(
            [table, str(sizes["labels"]), str(sizes["unlabeled"]), *gains, points(left.value)]
        )
    heads = [f"{METHODS[method].label} − {METHODS[other].label}" for method, other in PAIRS]
    return grid(["table", "labels", "unlabeled", *heads, "all labels − ridge"], rows)
