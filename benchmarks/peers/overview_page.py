"""The first evidence page: what was found, how it was measured, and who could not take part."""

from __future__ import annotations

from collections.abc import Sequence

from . import accuracy, sets
from .comparing import Comparison
from .fitting import OK
from .markdown import count, grid, interval, names, share
from .methods import METHODS
from .promises import are_measured
from .reasons import chosen, losses
from .sets import REGIMES
from .storing import Stored

TEXT = """
# Evidence

`semisquares` and what you would pick instead: the same rows, the same labels, the same machine, one
command. All numbers and sentences of these pages are made from the tables in `results/peers`.

- [Accuracy](accuracy.md): every method on every table, who is clearly better than whom, and where
  semisquares loses and why.
- [AveragedClassifier](averaged.md): what is promised of it, what the unlabeled rows are worth to
  it, and to whom it loses.
- [Does it help?](helps.md): what unlabeled rows are worth against a *tuned* ridge.
- [Time and memory](cost.md): up to a million rows.

## In short

{short}

## How it was measured

A table is split {splits} times. Each split sets {test:.0%} of the rows aside for testing, by class;
the others are the training rows, of which some keep their label:

{regimes}

In the latter two, two rows of each class come first, as cross-validation needs them; the others are
drawn whatever their class. All other training rows are unlabeled: methods that can use them do.
Columns are standardised by the training rows, labeled or not, and missing values are filled as in
the paper. Accuracy is that on the test rows, whose labels nobody saw. Balanced accuracy is the mean
over classes of the share of their rows that are right. Log loss is natural, with probabilities
clipped to 1e-15 and more: a class that a classifier has not seen has probability 0 before, and rows
of which it says nothing at all have the same for every class. The calibration error is the expected
one, by 15 equal bins of the confidence in the predicted class. Methods without probabilities have
neither, nor have those that were measured before these scores were. Every fit is a process's own
work with {seconds:g} s of CPU time and 8 GB of memory at most; after {strikes} failures and no
success a method is not asked again on that table and regime. Two methods are held against each
other in the splits in which both have a model.

Intervals are 95 %, from the spread over splits. Splits of a table share rows: intervals say how
sure a result is for these tables, not for one that nobody has seen. What to expect of a new table
is in the counts over tables. "Clearly" means a paired t test over the splits, corrected by Holm for
the number of tables, at 5 %.

Rules and settings of `semisquares` were chosen on other splits than these. One thing was learned
from these: that the rules by which `SoftLabelClassifierCV` took unlabeled rows before lose on some
of them. The rule of today was then chosen on the others.

## Methods

{methods}

Kernels of the graph methods have a width by the data, as scikit-learn's usual one reaches no other
row of standardised tables; of the five widths that were tried, on three of these splits of six
tables, it is the one that served them best. Likewise the settings of `LapSVM` are those that served
it best on the first split of three tables. Both are in favour of these methods. LAMDA-SSL does not
run with the scikit-learn of today (its classes ask for an attribute that is gone), and its list of
needs has PyTorch and packages beside it: it has an environment of its own with older versions.

`HistGradientBoostingClassifier` splits no node of fewer than 40 rows as it is, and is told to have
smaller leaves where labels are few; a third of the labels served it best of the shares that were
tried on other splits. `SVC` has its classes from its decision value and its probabilities from a
sigmoid that is fitted by folds, as scikit-learn tells its users to do.

Not here are deep methods, packages that label only the rows which they were given, so that nobody
can ask them about test rows (`graphlearning`), and `semisup-learn`, which is not on PyPI.

## Tables

{tables}

## What could not be done

TabPFN was not measured: `tabpfn` 9.2.0 on PyPI has no weights in it and loads them from a model hub
at its first use.

{failures}

## Again

    make bench-peers

measures everything into `build/peers` and writes these pages there; or in parts,
`python -m benchmarks.peers accuracy`, `cost` (which wants a quiet machine) and `pages`. Each fit is
kept as soon as it is there, and the same command goes on where it was stopped; from the stored
tables, too, so that only what is missing is measured. `--again METHOD` measures a method anew.
`--first-split 1000` takes other splits, for choices that the reported ones must not decide.

```{{toctree}}
:hidden:

accuracy
averaged
helps
cost
```
"""


def overview_page(stored: Stored) -> str:
    """Return the page in Markdown."""
    return TEXT.format(
        short=_short(stored),
        splits=stored.n_splits,
        test=sets.TEST_SHARE,
        regimes=_regimes(),
        seconds=accuracy.SECONDS,
        strikes=accuracy.STRIKES,
        methods=_methods(stored),
        tables=_tables(stored),
        failures="\n\n".join(filter(None, (_begun(stored), _failures(stored)))),
    )


def _short(stored: Stored) -> str:
    """Say in a list what each regime shows."""
    lines = []
    for regime, words in REGIMES.items():
        comparison = Comparison(stored, regime)
        ours = chosen(comparison)
        gain = comparison.mean_difference(ours, "ridge_cv")
        pair = comparison.pair(ours, "ridge_cv", comparison.paper)
        best = most_accurate(comparison)
        lost = [loss for loss in losses(comparison) if loss.table in comparison.paper]
        lines.append(
            f"- **{words[0].upper()}{words[1:]}.** `{METHODS[ours].label}` gets "
            f"{share(comparison.mean_accuracy(ours))} on average over the paper's tables, the "
            f"tuned ridge {share(comparison.mean_accuracy('ridge_cv'))}: {interval(gain)} points. "
            f"It is clearly better on {count(len(pair.better), 'table')}, clearly worse on "
            f"{len(pair.worse) or 'none'}. The most accurate method on average is "
            f"`{METHODS[best].label}` with {share(comparison.mean_accuracy(best))}; on "
            f"{count(len(lost), 'table')} some other method is clearly more accurate than "
            f"`{METHODS[ours].label}`."
        )
    return "\n".join(lines)


def most_accurate(comparison: Comparison, methods: Sequence[str] | None = None) -> str:
    """Return the method with the highest mean accuracy, of those with models on all tables."""
    among = comparison.competitors if methods is None else methods
    complete = [name for name in among if comparison.tables_of(name) == comparison.paper]
    return max(complete, key=lambda name: comparison.mean_accuracy(name).value)


def _regimes() -> str:
    details = {
        "ten": "ten rows of each class",
        "columns": "as many rows as there are columns, ten at least",
        "half": "half of the training rows",
    }
    return "\n".join(f"- *{REGIMES[name]}*: {words};" for name, words in details.items())[:-1] + "."


def _methods(stored: Stored) -> str:
    rows = []
    for name in stored.methods:
        method, versions = METHODS[name], stored.versions.get(name, {})
        package = f"{method.package} {versions.get(method.package, '(not measured)')}"
        with_sklearn = versions.get("scikit-learn")
        if method.environment and with_sklearn:
            package += f", with scikit-learn {with_sklearn}"
        used = "yes" if method.uses_unlabeled else "no"
        rows.append([f"`{method.label}`", package, method.what, used])
    return grid(["method", "from", "settings", "uses unlabeled rows"], rows)


def _tables(stored: Stored) -> str:
    comparisons = [Comparison(stored, regime) for regime in REGIMES]
    rows = []
    for row in stored.tables.itertuples():
        labels = [str(one.sizes(row.table)["labels"]) for one in comparisons]
        what = sets.MORE[row.table][0] if row.table in sets.MORE else "of the paper"
        numbers = (f"{row.rows:,}", str(row.columns), str(row.classes), ", ".join(labels))
        rows.append([row.table, *numbers, what])
    return grid(["table", "rows", "columns", "classes", "labels by regime", "what it is"], rows)


def _begun(stored: Stored) -> str:
    """Name the methods that take no part yet."""
    begun = [METHODS[one].label for one in stored.methods if not are_measured(stored, one)]
    if not begun:
        return ""
    return f"Not measured in all splits yet, and left out until then: {names(begun)}."


def _failures(stored: Stored) -> str:
    """Say which fits failed, and in whose words."""
    bad = stored.fits[stored.fits["status"] != OK]
    if bad.empty:
        return "Every fit of the accuracy part gave a model."
    rows = []
    for (method, status, error), group in bad.groupby(["method", "status", "error"], sort=False):
        tables = list(dict.fromkeys(group["table"]))
        failed = int((group["fits"] - group["ok"]).sum())
        of = int(group["fits"].sum())
        where = names(tables) if len(tables) <= 6 else f"{len(tables)} tables"
        rows.append([f"`{METHODS[method].label}`", where, status, f"{failed} of {of}", error])
    rows.sort(key=lambda row: list(COMPETITORS_BY_LABEL).index(row[0].strip("`")))
    head = ["method", "tables", "what came of it", "fits tried there", "the error in its own words"]
    return grid(head, rows)


COMPETITORS_BY_LABEL = {method.label: name for name, method in METHODS.items()}
