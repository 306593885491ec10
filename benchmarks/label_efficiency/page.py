"""The page on label efficiency, and its picture, made from the stored curves."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np

from benchmarks.peers.markdown import count, grid
from benchmarks.peers.sets import SETS
from semisquares import plotting
from semisquares._utils.files import atomic_write
from semisquares.plotting import MethodStyle
from semisquares.plotting._style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILION

from .comparing import MORE, OURS, PROMISES, RANDOM, Efficiency
from .curves import BATCH, CLASSIFIERS, ENOUGH, FIRST, MOST, ROWS
from .storing import RESULTS, read
from .strategies import PEER, STRATEGIES

DOCS = Path(__file__).parents[2] / "docs"
MADE = "<!-- made by `python -m benchmarks.label_efficiency page`; do not edit -->\n\n"
LOOKS = {
    "random": MethodStyle("at random", GREY, "o", "-"),
    "margin": MethodStyle("smallest margin", BLUE, "s", "-"),
    "badge": MethodStyle("Badge", ORANGE, "v", "-"),
    "clue": MethodStyle("Clue", VERMILION, "^", "-"),
    "typiclust": MethodStyle("TypiClust", PURPLE, "D", "-"),
    "coreset": MethodStyle("CoreSet", SKY, "P", "-"),
    "ours": MethodStyle("suggest", GREEN, "*", "-"),
}
LOWEST = 0.8
"""Panels start at this share of the accuracy with all labels, or above."""
WORDS = {
    "least_squares": '`AveragedClassifier(families="least_squares")`',
    "all": "`AveragedClassifier()`, all families",
}
TEXT = """
# Which rows to label

How many labels does a classifier need if [`suggest`](../api/labeling.md) chooses the rows, compared
with random rows and with other strategies of active learning? The classifier is the same for all of
them.

{results}

## How it was measured

The tables and splits are those of the [other pages](index.md), with at most {rows} training rows.
At first {first} rows have a label, with at least two classes among them; these are the same for all
strategies. Then each strategy chooses {batch} rows at a time, until {most} have a label or no row
is left. After each batch the classifier is fitted to all training rows, and tested on the test
rows, whose labels no strategy has seen. *Labels needed* is the number of labels with which the
accuracy first reaches {enough} of that with all labels; a run in which it never does counts as
{most}. Labels needed are summed over the tables, so those on which many labels are needed count
more. "Clearly" means significant at 5 % in a one-sided paired t test over the splits, with Holm's
correction for the number of tables.

The strategies of scikit-activeml {version} choose batches in their own batch mode, and get the
standardised columns and our classifier's probabilities; other settings are their defaults.
*Smallest margin* takes the rows whose two most probable classes are closest. The constants of
`suggest` were chosen on other splits.

The stored curves are in `results/label_efficiency.json`. `python -m benchmarks.label_efficiency`
measures what is missing there, and `python -m benchmarks.label_efficiency page` writes this page.
"""
RESULT = """
## {title}

{splits}

{promises}

{means}

### Table by table

Labels needed, as means over the splits; bold if `suggest` needs more than random choice.

{tables}

{where}
{failures}"""
NOT_YET = """
# Which rows to label

Not measured yet: run `python -m benchmarks.label_efficiency`, then `python -m
benchmarks.label_efficiency page`. """


def page(curves: Path = RESULTS) -> str:
    """Return the page in Markdown."""
    stored = read(curves).values()
    found = {name: Efficiency.of(stored, name) for name in CLASSIFIERS}
    known = {name: one for name, one in found.items() if one.curves}
    if not known:
        return MADE + NOT_YET.strip() + "\n"
    versions = {one.version for one in stored if STRATEGIES[one.strategy].package == PEER}
    text = TEXT.format(
        results="\n".join(_result(name, one) for name, one in known.items()).strip(),
        rows=f"{ROWS:,}",
        first=FIRST,
        batch=BATCH,
        most=MOST,
        enough=f"{100 * ENOUGH:.0f} %",
        version=", ".join(sorted(versions)),
    )
    return MADE + text.strip() + "\n"


def _result(name: str, found: Efficiency) -> str:
    least, most = found.n_splits
    splits = f"{least}" if least == most else f"{least} to {most}"
    few = " These are few: the numbers may change when more are measured." if least < 5 else ""
    plural = "" if most == 1 else "s"
    if missing := [table for table in SETS if table not in found.tables]:
        few += f" Not measured by all strategies yet: {_listed(missing)}."
    picture = ""
    if name == "least_squares":
        picture = "\n\n![Accuracy against the number of labels, table by table](labeling.svg)"
    text = RESULT.format(
        title=WORDS[name],
        splits=f"{count(len(found.tables), 'table')}, {splits} split{plural} of each.{few}",
        promises=_promises(found),
        means=_means(found),
        tables=_tables(found) + picture,
        where=_where(found),
        failures=_failures(found),
    )
    return text.strip() + "\n"


def _promises(found: Efficiency) -> str:
    rows = []
    for what, check in PROMISES.items():
        kept = check(found)
        rows.append([what, kept.words, "holds" if kept.holds else "**does not hold**"])
    return grid(["promise", "found", "verdict"], rows)


def _means(found: Efficiency) -> str:
    rows = [
        [
            STRATEGIES[name].label,
            STRATEGIES[name].package or "–",
            f"{sum(found.needed(name, table) for table in found.tables):,.0f}",
            f"{found.ratio(name):.2f}",
            f"{found.mean_accuracy(name):.4f}",
        ]
        for name in sorted(found.strategies, key=found.ratio)
    ]
    head = ["strategy", "from", "labels needed, sum over tables", "against random", "mean accuracy"]
    return grid(head, rows)


def _tables(found: Efficiency) -> str:
    rows = []
    for table in found.tables:
        cells = {name: f"{found.needed(name, table):.0f}" for name in found.strategies}
        if found.needed(OURS, table) > found.needed(RANDOM, table):
            cells[OURS] = f"**{cells[OURS]}**"
        rows.append([table, *cells.values()])
    return grid(["table", *(STRATEGIES[name].label for name in found.strategies)], rows)


def _where(found: Efficiency) -> str:
    """Say where suggestions do not help."""
    ratios = {
        table: found.needed(OURS, table) / found.needed(RANDOM, table) for table in found.tables
    }
    worse = [table for table, ratio in ratios.items() if ratio > MORE]
    never = [
        table
        for table in found.tables
        if min(found.needed(name, table) for name in found.strategies) >= MOST
    ]
    at_once = [table for table in found.tables if found.needed(RANDOM, table) <= FIRST + BATCH]
    lines = ["Where it does not help:", ""]
    lines.append(
        f"- {_listed(worse)}: `suggest` needs more than {MORE} × the labels of random choice."
        if worse
        else f"- On no table does `suggest` need more than {MORE} × the labels of random choice."
    )
    if at_once:
        lines.append(
            f"- {_listed(at_once)}: {FIRST + BATCH} random labels are enough, so there is nothing "
            "to save."
        )
    if never:
        lines.append(f"- {_listed(never)}: {MOST} labels are too few for every strategy.")
    return "\n".join(lines)


def _failures(found: Efficiency) -> str:
    """Say which strategies raised errors."""
    lines = []
    for name in found.strategies:
        curves = [one for table in found.tables for one in found.of_table(name, table)]
        failures = sum(one.failures for one in curves)
        batches = sum(len(one.labels) - 1 for one in curves)
        if failures:
            tables = list(dict.fromkeys(one.table for one in curves if one.failures))
            lines.append(
                f"\n{STRATEGIES[name].label} raised an error, or chose a row twice, in "
                f"{failures:,} of {batches:,} batches ({_listed(tables)}); these were drawn at "
                "random."
            )
    return "\n".join(lines)


def _listed(tables: list[str]) -> str:
    return tables[0] if len(tables) == 1 else f"{', '.join(tables[:-1])} and {tables[-1]}"


def draw(curves: Path = RESULTS) -> bytes:
    """Return the picture as SVG, with the digest of its inputs in a comment."""
    found = Efficiency.of(read(curves).values(), "least_squares")
    with plotting.style():
        picture, panels = plotting.facets(len(found.tables), 4, row_height=1.45)
        for panel, table in zip(panels, found.tables, strict=True):
            goal = found.goal(table)
            panel.axhline(100 * ENOUGH * goal, color=INK, linewidth=0.6, linestyle=(0, (1, 1.2)))
            for name in found.strategies:
                labels, accuracies = found.mean_curve(name, table)
                look = LOOKS[name]
                panel.plot(
                    labels, 100 * accuracies, color=look.colour, label=look.label,
                    linewidth=1.8 if name == OURS else 0.8, zorder=3 if name == OURS else 2,
                )  # fmt: skip
            shown = [found.mean_curve(name, table)[1] for name in found.strategies]
            low = max(min(one.min() for one in shown), LOWEST * goal)
            high = max(goal, *(one.max() for one in shown))
            panel.set_ylim(100 * low - 1.0, 100 * high + 1.0)
            panel.set_xlim(0, MOST)
            panel.set_xticks(np.arange(0, MOST + 1, 50))
            panel.set_title(table, fontsize=7.6)
            panel.grid(True)
        for panel in panels[-4:]:
            panel.set_xlabel("labels")
        picture.supylabel("accuracy in %; dotted: 95 % of that with all labels", fontsize=8)
        plotting.legend(picture, panels, n_columns=4)
        return plotting.render(picture, "svg") + f"<!-- inputs {inputs(curves)} -->\n".encode()


def inputs(curves: Path = RESULTS) -> str:
    """Return a digest of the stored curves and of the code that draws them."""
    digest = hashlib.sha256()
    for path in (curves, Path(__file__), Path(__file__).with_name("comparing.py")):
        digest.update(path.read_text(encoding="utf-8").encode())
    return digest.hexdigest()


def write_page(curves: Path = RESULTS, docs: Path = DOCS) -> None:
    """Write the page and the picture."""
    files = {"labeling.md": page(curves).encode(), "labeling.svg": draw(curves)}
    for name, content in files.items():
        with atomic_write(docs / "evidence" / name) as file:
            file.write(content)
        sys.stdout.write(f"evidence/{name}: {len(content):,} bytes\n")
