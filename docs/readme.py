"""The tables of the README: the text is here, the numbers come from stored files."""

from __future__ import annotations

import re

from benchmarks.report import Line

from benchmarks import breast_cancer
from semisquares.paper.figures.rivals import METHODS

from .stored import findings, numbers, ratio, table

Row = tuple[str, ...]


def markdown(head: Row, rows: list[Row]) -> str:
    """Return a table in Markdown."""
    first, *lines = (
        "".join(f"| {cell} " if cell else "| " for cell in row) for row in [head, *rows]
    )
    return "\n".join(f"{line}|" for line in [first, "|---" * len(head), *lines])


def two_digits(value: float) -> str:
    """Format a ratio with two digits, or as a whole number from 100 on.

    More digits of a ratio of times would be noise.
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
    """Set parameters and class names as code."""
    return re.sub(r"alpha=\d|\w+CV", r"`\g<0>`", name)


def paper() -> str:
    """Return the table of the results of re-running the paper."""
    return markdown(("", ""), [*_published(), *_beyond()])


def _published() -> list[Row]:
    """Return the rows on the paper's own figures."""
    z, largest_z = numbers("fig6", "mean_z"), numbers("fig6", "largest_z")
    soft_hard = numbers("fig6", "soft_beats_hard")
    soft, hard = numbers("fig5", "one_soft_optimum"), numbers("fig5", "many_hard_optima")
    lowest = numbers("fig5", "lowest_objective")
    runs = [str(count) for count in numbers("fig2", "hard_optima")["runs"]]
    counts = " and ".join(", ".join(runs).rsplit(", ", 1))
    met = sum(finding.holds is True for finding in findings("fig2"))
    typical = numbers("fig4", "typical")
    return [
        (
            f"Figure 6, our error minus the published one, {z['points']} points of {z['datasets']} "
            "sets",
            f"mean \\|z\\| {z['mean']:.2f}, largest {largest_z['largest']:.2f}",
        ),
        (
            "soft beats hard at the largest number of unlabeled rows",
            f"on {soft_hard['wins']} of {soft_hard['datasets']} sets; not on "
            f"{', '.join(soft_hard['lost'])}, as published",
        ),
        (
            f"Figure 5, optima from 50 random starts in {soft['resamples']} resamples",
            f"exact soft: one, in {soft['with_one_optimum']} of {soft['resamples']}; hard: "
            f"{hard['median_accuracies']:g} accuracies and {hard['median_labelings']:g} labelings "
            "in the median",
        ),
        (
            "the random start with the lowest J_r, against the soft solution",
            f"less accurate in {lowest['behind_soft']} of {lowest['resamples']} resamples",
        ),
        (
            "Figure 2, data and starts re-created with R's generator",
            f"{met} of {len(findings('fig2'))} claims hold: one soft optimum, {len(runs)} "
            f"hard ones with {counts} runs, the same optima and numbers of steps as published",
        ),
        (
            f"Figure 4 over {table('fig4').settings.repeats} seeds: soft helps and hard hurts, as "
            "for the published one",
            f"{typical['like_the_example']} of the {typical['seeds']} seeds that keep labels of "
            "both classes",
        ),
    ]


def _beyond() -> list[Row]:
    """Return the rows on experiments beyond the paper."""
    against_supervised = numbers("ridge", "soft_helps")
    against_ridge = numbers("ridge", "soft_beats_ridge")
    details = table("rivals").details
    ranks, test = details["ranks"], details["friedman"].iloc[0]
    first = ", ".join(
        f"{_name(method)} {rank:.1f}"
        for method, rank in zip(ranks["method"][:4], ranks["mean_rank"][:4], strict=True)
    )
    apart = ranks["mean_rank"].min() + test["critical_difference"]
    changes = ", ".join(
        f"{_name(method)} {better} and {worse}"
        for method, (better, worse) in numbers("rivals", "all_help").items()
    )
    return [
        (
            "mean error at the largest number of unlabeled rows (`results/ridge`, "
            f"{table('ridge').settings.repeats} repeats): supervised, soft, **tuned supervised "
            "ridge**",
            f"{against_supervised['other_error']:.3f}, {against_supervised['error']:.3f}, "
            f"**{against_ridge['other_error']:.3f}**",
        ),
        (
            f"{test['methods']:.0f} methods by mean rank at {test['n_unlabeled']:.0f} unlabeled "
            f"rows (`results/rivals`, "
            f"{table('rivals').settings.repeats} repeats)",
            f"{first}, …; below {apart:.1f} no difference from the first is significant",
        ),
        (
            "data sets on which unlabeled rows help and hurt, against the same classifier without "
            "them",
            changes,
        ),
    ]


def _name(method: str) -> str:
    return METHODS[method].style.label


def ratios() -> str:
    """Return the table of times relative to those of rivals."""
    rows = [
        (fact, two_digits(line.value), f"`{suite}`") for suite, fact, line in _measured_ratios()
    ]
    return markdown(("fact", "ratio", "suite"), rows)


def _measured_ratios() -> list[tuple[str, str, Line]]:
    """Return suite, fact and stored line of each ratio in the README."""
    large, csv = "500,000 × 100, overlapping", "1,000,000 × 50, csv of 982 MB"
    block = ratio("L=500, U=100,000", "block descent / Newton")
    sparse = ratio("sparse 100,000 × 50,000", "soft fit / RidgeClassifier(sparse_cg)")
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
            'sparse 100,000 × 50,000, gap 1e-6, against `RidgeClassifier(solver="sparse_cg")`',
            sparse,
        ),
        (
            "classes",
            "10 classes, 50,000 × 100, against `RidgeClassifier` with all labels, in CPU time",
            ratio("10 classes, apart", "soft fit / RidgeClassifier"),
        ),
        (
            "classes",
            "the same with 100 classes",
            ratio("100 classes, apart", "soft fit / RidgeClassifier"),
        ),
        (
            "hard",
            "`HardLabelClassifier` against the exact soft fit, 1,000,000 × 50, in CPU time",
            ratio("1,000,000 × 50", "hard fit from supervised"),
        ),
        (
            "tables",
            f"`semisquares fit` of a CSV of {csv.replace(', csv of ', ' (')}) with alpha and "
            "weight given, against reading it",
            ratio(csv, "fit, alpha and weight given"),
        ),
        (
            "tables",
            "`semisquares predict` of it, against reading and writing it",
            ratio(csv, "predict / reading and writing"),
        ),
    ]
