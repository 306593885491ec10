"""The tables of the README, made from what is stored; words here, numbers from the files."""

from __future__ import annotations

import re

from benchmarks.report import Line

from benchmarks import breast_cancer
from semisquares.paper.figures.rivals_methods import METHODS

from .stored import findings, ratio, said, table

Row = tuple[str, ...]

MEAN_ERRORS = r"mean error ([\d.]+) against ([\d.]+)"


def markdown(head: Row, rows: list[Row]) -> str:
    """Write a table in Markdown."""
    first, *lines = (
        "".join(f"| {cell} " if cell else "| " for cell in row) for row in [head, *rows]
    )
    return "\n".join(f"{line}|" for line in [first, "|---" * len(head), *lines])


def two_digits(value: float) -> str:
    """Write a ratio to two digits, to the next whole number where it is large.

    A ratio of times has no more: another run differs by its noise.
    """
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.2g}"


def accuracies() -> str:
    """Return the table of accuracies on the breast-cancer rows."""
    rows = []
    for name, accuracy in breast_cancer.read().items():
        mean, error = breast_cancer.mean_and_error(accuracy)
        rows.append((_as_code(name), f"{mean:.3f} ± {error:.3f}"))
    return markdown(("", "accuracy"), rows)


def _as_code(name: str) -> str:
    """Write what is typed as code."""
    return re.sub(r"alpha=\d|\w+CV", r"`\g<0>`", name)


def paper() -> str:
    """Return the table of what came out when the paper was run again."""
    return markdown(("", ""), [*_published(), *_beyond()])


def _published() -> list[Row]:
    """Return the rows on the paper's own figures."""
    z, points, sets = said("fig6", "Mean |z|", r"([\d.]+) over (\d+) .* of (\d+) data sets")
    (largest,) = said("fig6", "No |z|", r"largest ([\d.]+)")
    won, of, lost = said("fig6", "Soft beats hard", r"on (\d+) of (\d+); not on: ([^;]+)")
    one, resamples = said("fig5", "Solved to the end", r"in (\d+) of (\d+) resamples")
    accuracies, labelings = said("fig5", "Hard labels", r"(\d+) accuracies and (\d+) labelings")
    worse, starts = said("fig5", "The lowest J_r", r"in (\d+) of (\d+) resamples")
    hard = " and ".join(", ".join(_hard_runs()).rsplit(", ", 1))
    met = sum(one.holds is True for one in findings("fig2"))
    like, seeds = said("fig4", "The example, where", r"for (\d+) of (\d+) seeds")
    return [
        (
            f"Figure 6, ours less the published error, {points} points of {sets} sets",
            f"mean \\|z\\| {z}, largest {largest}",
        ),
        (
            "soft beats hard at the largest number of unlabeled rows",
            f"on {won} of {of} sets; not on {lost}, as published",
        ),
        (
            f"Figure 5, optima from 50 random starts in {resamples} resamples",
            f"exact soft: one, in {one} of {resamples}; hard: {accuracies} accuracies and "
            f"{labelings} labelings in the median",
        ),
        (
            "the random start with the lowest J_r, against the soft solution",
            f"less accurate in {worse} of {starts} resamples",
        ),
        (
            "Figure 2, data and starts by R's generator re-created",
            f"{met} of {len(findings('fig2'))} claims hold: one soft optimum, {len(_hard_runs())} "
            f"hard ones with {hard} runs, where they were published, in as many steps",
        ),
        (
            f"Figure 4 over {table('fig4').settings.repeats} seeds: soft helps and hard hurts, as "
            "for the published one",
            f"{like} of the {seeds} seeds that keep labels of both classes",
        ),
    ]


def _hard_runs() -> list[str]:
    """Return how many runs end in each of the hard optima of Figure 2."""
    (places,) = said("fig2", "Hard labels: the runs end", "(.*)")
    return re.findall(r"×(\d+)", places)


def _beyond() -> list[Row]:
    """Return the rows on what goes beyond the paper."""
    soft, supervised = said("ridge", "Without a ridge, soft labels help", MEAN_ERRORS)
    _, ridge = said("ridge", "Without a ridge, they beat a tuned", MEAN_ERRORS)
    methods, rows = said("rivals", "The methods differ", r"(\d+) methods .* at (\d+) unlabeled")
    (changes,) = said("rivals", "With every method", r"without them: (.*)")
    details = table("rivals").details
    ranks = details["ranks"]
    first = ", ".join(
        f"{_name(method)} {rank:.1f}"
        for method, rank in zip(ranks["method"][:4], ranks["mean_rank"][:4], strict=True)
    )
    apart = ranks["mean_rank"].min() + details["friedman"]["critical_difference"].iloc[0]
    return [
        (
            "mean error at the largest number of unlabeled rows (`results/ridge`, "
            f"{table('ridge').settings.repeats} repeats): supervised, soft, **tuned supervised "
            "ridge**",
            f"{supervised}, {soft}, **{ridge}**",
        ),
        (
            f"{methods} methods by mean rank at {rows} unlabeled rows (`results/rivals`, "
            f"{table('rivals').settings.repeats} repeats)",
            f"{first}, …; below {apart:.1f} none is told apart from the first",
        ),
        (
            "data sets on which unlabeled rows help and hurt, against the same classifier without "
            "them",
            changes,
        ),
    ]


def _name(method: str) -> str:
    return METHODS[method].look.label


def ratios() -> str:
    """Return the table of times against those of rivals."""
    rows = [
        (fact, two_digits(line.value), f"`{suite}`") for suite, fact, line in _measured_ratios()
    ]
    return markdown(("fact", "ratio", "suite"), rows)


def _measured_ratios() -> list[tuple[str, str, Line]]:
    """List suite, fact and stored line of the ratios that the README shows."""
    large, csv = "500,000 × 100, overlapping", "1,000,000 × 50, csv of 982 MB"
    block = ratio("L=500, U=100,000", "block descent / Newton")
    sparse = ratio("sparse 100,000 × 50,000", "soft fit / RidgeClassifier(sparse_cg)")
    chosen = ratio(csv, "fit, method auto / reading")
    return [
        (
            "large",
            "exact soft fit, 500,000 × 100 with 2,000 labels, against `RidgeClassifier` with all "
            "labels",
            ratio(large, "soft fit / RidgeClassifier"),
        ),
        (
            "large",
            "the same against bare `X'X` and one Cholesky solve",
            ratio(large, "soft fit / bare X'X"),
        ),
        ("large", "extra memory of that fit, as a share of X", ratio(large, "extra memory / X")),
        (
            "solvers",
            "the paper's block descent against Newton, to a relative gap of 1e-10 "
            f"({block.remark})",
            block,
        ),
        (
            "solvers",
            "scipy's L-BFGS against Newton, to the same gap",
            ratio("L=500, U=100,000", "L-BFGS / Newton"),
        ),
        (
            "solvers",
            "log-log slope of the time in the number of unlabeled rows, 10⁴ to 10⁶ (1 is linear; "
            "small tables pay a fixed cost and use one thread)",
            ratio("U from 10⁴ to 10⁶", "log-log slope of time in U"),
        ),
        (
            "small",
            "small table (276 × 10), full `fit` against `RidgeClassifier().fit`",
            ratio("L=20, U=256, d=10", "soft fit / RidgeClassifier"),
        ),
        (
            "small",
            "10 classes, 50,000 × 100, against `RidgeClassifier`",
            ratio("10 classes, 50,000 × 100", "soft fit / RidgeClassifier"),
        ),
        (
            "small",
            'sparse 100,000 × 50,000, gap 1e-6, against `RidgeClassifier(solver="sparse_cg")`',
            sparse,
        ),
        (
            "tables",
            f"`semisquares fit` of a CSV of {csv.replace(', csv of ', ' (')}) with alpha and "
            "weight given, against reading it",
            ratio(csv, "fit, alpha and weight given"),
        ),
        ("tables", "the same with method auto", chosen),
        (
            "tables",
            "`semisquares predict` of it, against reading and writing it",
            ratio(csv, "predict / reading and writing"),
        ),
    ]
