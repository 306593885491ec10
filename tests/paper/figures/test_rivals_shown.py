"""The findings and plots of `rivals` for tables made by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from semisquares.paper._store import read_table, write_table
from semisquares.paper.figures._protocol import ALL
from semisquares.paper.figures.rivals import COMPETITORS, LABELS_ALONE, METHODS, shown_with
from semisquares.plotting import render
from support.made_rivals import NAMES, RIVALS, SOME, finding, made

# -- findings --------------------------------------------------------------------------------------


def test_a_method_that_is_always_best_is_ahead():
    table = made({name: 0.3 + 0.01 * k for k, name in enumerate(COMPETITORS)}, datasets=ALL)
    assert finding(table, "differ in mean rank").holds is True
    ahead = finding(table, "is ahead of all others")
    assert ahead.holds is False
    assert ahead.evidence.startswith("the best is supervised least squares (1.0); not sign")
    best = finding(table, "lowest error on most")
    assert best.holds is True
    names = ", ".join(ALL)
    assert best.evidence == (
        f"lowest error at 32 unlabeled rows: supervised least squares on {names}"
    )


@pytest.mark.parametrize(("soft", "holds"), [(0.25, True), (0.35, False), (0.3, False)])
def test_soft_labels_beat_supervised_where_they_do(soft, holds):
    table = made({"soft": soft, "oracle": 0.1})
    assert finding(table, "Soft labels beat supervised").holds is holds
    assert finding(table, "Soft labels beat hard").holds is holds


def test_the_share_of_the_gap_to_the_oracle_is_said():
    errors = {"supervised": 0.4, "oracle": 0.2, "soft": 0.25, "hard": 0.35}
    table = made({**errors, "implicitly_constrained": 0.3}, noise=1e-6)
    found = finding(table, "nearest to the oracle")
    assert found.holds is True
    assert "soft labels 75 %, hard labels 25 %, implicitly constrained 50 %" in found.evidence


def test_an_oracle_that_is_no_better_leaves_no_gap():
    found = finding(made({}, noise=0.0), "nearest to the oracle")
    assert found.holds is None
    assert found.evidence.endswith(": there is no gap to close")


@pytest.mark.parametrize(("error", "holds"), [(0.25, True), (0.35, False)])
def test_a_pessimist_is_held_against_its_own_classifier(error, holds):
    table = made({"contrastive_pessimistic": error, "supervised": 0.2})
    assert finding(table, "contrastive pessimistic LDA against supervised LDA").holds is holds


def test_where_an_optimist_hurts_is_said():
    found = finding(made({"hard": 0.5}), "optimist can hurt")
    assert found.holds is True
    assert f"hard labels on {', '.join(SOME)}; EM for LDA on none" in found.evidence
    assert finding(made({"hard": 0.2}), "optimist can hurt").holds is None


@pytest.mark.parametrize(("em", "holds"), [(0.25, True), (0.35, False)])
def test_unlabeled_rows_help_with_every_method_or_not(em, holds):
    learners = {name: 0.25 for name, one in METHODS.items() if one.without}
    assert finding(made({**learners, "em": em}), "With every method").holds is holds


@pytest.mark.parametrize(("ridge", "holds"), [(0.1, False), (0.4, True)])
def test_the_tuned_ridge_is_beaten_or_not(ridge, holds):
    assert finding(made({"ridge": ridge}), "tuned supervised ridge").holds is holds


def test_missing_outcomes_that_differ_are_found():
    def differ(cells):
        cells["WDBC/5-9"]["missing_outcomes"][0] = [1e-3, np.nan, 0.0]
        return cells

    assert finding(made({}), "missing outcomes").holds is True
    found = finding(made({}, datasets=["WDBC"], change=differ), "missing outcomes")
    assert found.holds is False
    assert found.evidence == (
        "decision values differ by at most 1e-03 of the largest, in 119 fits; in 1 more, labels "
        "do not determine the weights"
    )


@pytest.mark.parametrize(("datasets", "repeats"), [(SOME, 3), (SOME, 1), (["WDBC"], 40)])
def test_too_little_for_a_verdict_leaves_claims_open(datasets, repeats):
    table = made({"soft": 0.2}, datasets=datasets, repeats=repeats)
    found = RIVALS.findings(table)
    assert [one.holds for one in found[:11]] == [None] * 11


def test_findings_of_a_table_from_disk_are_the_same(tmp_path):
    for name, table in {"some": made({"soft": 0.2}), "one": made({}, datasets=["WDBC"])}.items():
        write_table(table, tmp_path / name)
        assert RIVALS.findings(read_table(tmp_path / name)) == RIVALS.findings(table)


# -- pictures --------------------------------------------------------------------------------------


@cache
def picture(view, n):
    errors = {name: 0.2 + 0.01 * k for k, name in enumerate(NAMES)}
    found = RIVALS.plot(made(errors, datasets=ALL[:n]), view)
    found.draw_without_rendering()
    return found


@pytest.mark.parametrize(
    ("view", "n"),
    [
        *((view, 1) for view in ("overview", "least_squares", "ranks", "pairs")),
        *((view, 16) for view in ("overview", "ranks", "pairs")),
        pytest.param("discriminants", 16, marks=pytest.mark.slow),
    ],
)
def test_nothing_is_cut_off(view, n):
    found = picture(view, n)
    box = found.get_tightbbox()
    width, height = found.get_size_inches()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= width + 0.02
    assert box.y1 <= height + 0.02


def test_curves_have_a_panel_for_each_data_set():
    panels = picture("discriminants", 16).axes
    assert [panel.get_title(loc="left") for panel in panels] == list(ALL)


def test_every_method_is_in_a_picture_of_curves_and_differs_from_its_neighbours():
    groups = {one.group for one in METHODS.values()}
    assert {name for group in groups for name in shown_with(group)} == set(METHODS)
    for group in groups:
        styles = [METHODS[name].style for name in shown_with(group)]
        for aspect in ("label", "colour", "marker", "line"):
            assert len({getattr(style, aspect) for style in styles}) == len(styles)


def test_labels_of_methods_differ():
    assert len({one.style.label for one in METHODS.values()}) == len(METHODS)


def test_the_overview_shows_means_over_the_data_sets():
    errors = {name: 0.2 + 0.01 * k for k, name in enumerate(NAMES)}
    table = made(errors, datasets=ALL[:2], noise=0.05)
    panel = RIVALS.plot(table, "overview").axes[0]
    (line,) = [one for one in panel.lines if one.get_label() == "soft labels"]
    soft = table.summary[table.summary["method"] == "soft"]
    assert_allclose(line.get_ydata(), soft.groupby("n_unlabeled")["error"].mean())


def test_ranks_are_written_and_hollow_without_unlabeled_rows():
    panel = picture("ranks", 16).axes[0]
    dots = [line for line in panel.lines if str(line.get_label()).startswith("mean rank")]
    hollow = [line for line in dots if line.get_markerfacecolor() == "white"]
    assert (len(dots), len(hollow)) == (len(COMPETITORS), len(LABELS_ALONE))
    assert_allclose(sorted(line.get_xdata()[0] for line in dots), range(1, len(COMPETITORS) + 1))


def test_pairs_show_how_many_data_sets_the_row_wins():
    panel = picture("pairs", 16).axes[0]
    rows = [text.get_text() for text in panel.get_yticklabels()]
    soft, hard = rows.index("soft labels"), rows.index("hard labels")
    won = {tuple(text.get_position()): text.get_text() for text in panel.texts}
    assert (won[hard, soft], won[soft, hard]) == ("16", "0")
    assert len(won) == len(rows) * (len(rows) - 1)


def test_the_same_table_gives_the_same_bytes():
    first, second = (RIVALS.plot(made({}, datasets=["WDBC"]), "ranks") for _ in range(2))
    assert render(first, "svg") == render(second, "svg")
