"""The first evidence page: results, how they were measured, and which fits failed."""

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

These pages compare `semisquares` with its alternatives, on the same rows, with the same labels and
on the same machine. The numbers come from stored tables. The command at the end of this page
measures those of the first three pages and of *Time and memory*; the others have commands of their
own.

- [Accuracy](accuracy.md): every method on every table, which methods are clearly better than
  others, and where and why semisquares loses.
- [AveragedClassifier](averaged.md): what we promise, what it gains from the unlabeled rows, and
  which methods beat it where.
- [Does it help?](helps.md): what unlabeled rows are worth, compared with a *tuned* ridge.
- [Real tables](real_tables.md): from CSV to prediction on tables as people have them, compared with
  scikit-learn's classifiers behind skrub.
- [Time and memory](cost.md): up to a million rows.
- [Which rows to label](labeling.md): how many labels are needed if `suggest` chooses the rows,
  compared with random rows and other strategies.
- [Wrong labels](labeling_review.md): how many of them `semisquares review` finds.

## In short

{short}

## How it was measured

A table is split {splits} times. Each split reserves {test:.0%} of the rows for testing, stratified
by class; the others are the training rows, of which some keep their label:

{regimes}

In the latter two, two rows of each class are labeled first, because cross-validation needs them;
the others are drawn regardless of their class. All other training rows are unlabeled, for the
methods that can use them. Columns are standardised with the training rows, labeled or not, and
missing values are filled as in the paper. Every fit runs in its own process, with at most
{seconds:g} s of CPU time and 8 GB of memory; after {strikes} failures without a success, a method
is not tried again on that table and regime. Two methods are compared on the splits on which both
have a model.

Accuracy is measured on the test rows, whose labels no method has seen. Balanced accuracy is the
mean over classes of the accuracy on their rows. Log loss uses natural logarithms, and probabilities
are clipped to at least 1e-15. Before clipping, a class that a classifier has not seen gets
probability 0, and a row for which it returns no probabilities gets equal ones for all classes. The
calibration error is the expected calibration error, with 15 equal bins of the confidence in the
predicted class. Methods without probabilities have no log loss and no calibration error. A few
methods were measured before these scores were added, and do not have them either.

Intervals are 95 % intervals, from the variation over splits. Splits of a table share rows: the
intervals say how certain a result is for these tables, not for a new one. For what to expect on a
new table, look at the counts over tables. "Clearly" means significant at 5 % in a paired t test
over the splits, with Holm's correction for the number of tables.

The rules and settings of `semisquares` were chosen on other splits than these, with one exception:
these splits showed that earlier rules by which `SoftLabelClassifierCV` used unlabeled rows lose on
some tables. The present rule was then chosen on other splits.

## Methods

{methods}

*The tuned ridge* is `RidgeClassifierCV` on this page and on [Accuracy](accuracy.md), and
`RidgeClassifierCV (fine grid)`, with more penalties, on [AveragedClassifier](averaged.md) and
[Does it help?](helps.md), so their numbers differ slightly.

The kernel width of the graph methods depends on the data, because with scikit-learn's default no
row of a standardised table reaches another. Of five widths that were tried on three of these splits
of six tables, it is the best one for these methods. Likewise, the settings of `LapSVM` are the best
ones for it on the first split of three tables. Both choices favour these methods. LAMDA-SSL does
not run with current versions of scikit-learn (its classes use an attribute that no longer exists),
and it requires PyTorch and related packages: it has its own environment with older versions.

By default `HistGradientBoostingClassifier` splits no node with fewer than 40 rows, so it gets
smaller leaves if there are few labels; of the shares that were tried on other splits, a third of
the labels was best. `SVC` predicts classes by its decision value, and probabilities by a sigmoid
fitted with cross-validation, as scikit-learn recommends.

Not included are deep methods, packages that only label the rows of the fit and cannot predict test
rows (`graphlearning`), and `semisup-learn`, which is not on PyPI.

## Tables

{tables}

## What could not be done

TabPFN was not measured: `tabpfn` 9.2.0 on PyPI does not contain the weights of the model, and
downloads them from a model hub when it is first used.

{failures}

## How to measure it again

    make bench-peers

measures them and writes the results and the pages to `build/peers`. To do it in parts, run
`python -m benchmarks.peers accuracy`, `cost` (which needs a machine without other load) and
`pages`. Each fit is stored as soon as it is done, and the same command continues a run that was
stopped; it also reads the stored tables, so that only what is missing is measured. `--again METHOD`
measures a method again. `--first-split 1000` uses other splits, for choices that must not depend on
the reported ones.

```{{toctree}}
:hidden:

accuracy
averaged
helps
real_tables
cost
labeling
labeling_review
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
    """Summarise each regime in a list."""
    lines = []
    for regime, words in REGIMES.items():
        comparison = Comparison(stored, regime)
        ours = chosen(comparison)
        gain = comparison.mean_difference(ours, "ridge_cv")
        pair = comparison.pair(ours, "ridge_cv", comparison.paper)
        best = most_accurate(comparison)
        lost = [loss for loss in losses(comparison) if loss.table in comparison.paper]
        lines.append(
            f"- **{words[0].upper()}{words[1:]}.** `{METHODS[ours].label}` has a mean "
            f"accuracy of {share(comparison.mean_accuracy(ours))} over the paper's tables, the "
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
        "columns": "as many rows as there are columns, at least ten",
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
        what = sets.MORE[row.table][0] if row.table in sets.MORE else "from the paper"
        numbers = (f"{row.rows:,}", str(row.columns), str(row.classes), ", ".join(labels))
        rows.append([row.table, *numbers, what])
    return grid(["table", "rows", "columns", "classes", "labels by regime", "what it is"], rows)


def _begun(stored: Stored) -> str:
    """Name the methods that are not measured completely."""
    begun = [METHODS[one].label for one in stored.methods if not are_measured(stored, one)]
    if not begun:
        return ""
    return f"Not measured in all splits yet, and left out until then: {names(begun)}."


def _failures(stored: Stored) -> str:
    """Tabulate the failed fits with their error messages."""
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
    head = ["method", "tables", "outcome", "failed fits", "error message"]
    return grid(head, rows)


COMPETITORS_BY_LABEL = {method.label: name for name, method in METHODS.items()}
