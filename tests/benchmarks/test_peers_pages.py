"""The evidence pages: what they say of made-up tables, and that they are of the stored ones."""

from __future__ import annotations

import doctest
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from benchmarks.peers import accuracy, choosing, drawing, markdown, pages, storing
from benchmarks.peers.comparing import Comparison
from benchmarks.peers.helps_page import safety
from benchmarks.peers.methods import METHODS
from benchmarks.peers.reasons import losses
from benchmarks.peers.sets import PAPER, REGIMES
from docs.marks import Registry
from scipy import stats

from support import made_peers
from support.made_peers import TABLES, TEST_ROWS


@pytest.fixture(scope="module")
def made():
    """Return tables as a run would store them: soft_cv loses on USPS and Sonar, TSVM never ends."""
    return made_peers.stored(made_peers.RIGHT, made_peers.OTHERWISE)


@pytest.mark.parametrize("module", [accuracy, markdown])
def test_the_examples_of_docstrings_run(module):
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)


def column(made, table, regime, method):
    errors = made.errors
    mine = errors[(errors["table"] == table) & (errors["regime"] == regime)]
    return 1.0 - mine[method].to_numpy() / TEST_ROWS


def test_a_difference_and_its_interval_are_those_of_the_paired_t_test(made):
    first, second = (column(made, "USPS", "ten", name) for name in ("spreading_knn", "soft_cv"))
    expected = stats.ttest_rel(first, second)
    found = Comparison(made, "ten").difference("spreading_knn", "soft_cv", "USPS")
    low, high = expected.confidence_interval(0.95)
    np.testing.assert_allclose((found.low, found.high), (low, high), rtol=1e-9)
    assert found.value == pytest.approx((first - second).mean())


def test_clearly_better_is_by_the_paired_t_test_with_holms_correction(made):
    first, second = "self_training", "ridge_cv"
    p = {
        table: stats.ttest_rel(
            column(made, table, "ten", first), column(made, table, "ten", second)
        ).pvalue
        for table in TABLES
    }
    order = sorted(p, key=p.__getitem__)
    kept = [p[table] * (len(p) - place) < 0.05 for place, table in enumerate(order)]
    clear = {table for place, table in enumerate(order) if all(kept[: place + 1])}
    pair = Comparison(made, "ten").pair(first, second)
    assert {*pair.better, *pair.worse} == clear
    assert {table for table in TABLES if p[table] < 0.05} > clear  # where there is no correction
    assert "Sonar" in pair.worse
    assert {*pair.better, *pair.equal, *pair.worse} == set(TABLES)


def test_means_are_over_the_tables_of_the_paper(made):
    comparison = Comparison(made, "columns")
    expected = np.mean([column(made, table, "columns", "soft").mean() for table in TABLES[:4]])
    assert comparison.paper == list(TABLES[:4])
    assert comparison.mean_accuracy("soft").value == pytest.approx(expected)


def test_a_method_without_a_model_has_no_mean_and_no_verdict(made):
    comparison = Comparison(made, "ten")
    assert np.isnan(comparison.mean_accuracy("tsvm").value)
    assert comparison.pair("soft_cv", "tsvm").untold == TABLES


def test_a_loss_is_told_with_its_reason(made):
    told = {loss.table: loss for loss in losses(Comparison(made, "ten"))}
    assert set(told) == {"USPS", "Sonar"}
    assert told["USPS"].best == "spreading_knn"
    assert "no plane separates these classes" in told["USPS"].why
    assert told["Sonar"].best == "ridge_cv"
    assert "the unlabeled rows mislead" in told["Sonar"].why


@pytest.mark.parametrize("name", ["svc", "knn", "random_forest"])
def test_a_loss_to_a_curved_boundary_is_told_as_such(name):
    right = made_peers.RIGHT | {name: 0.70}
    stored = made_peers.stored(right, {"USPS": {name: 0.95}})
    (loss,) = losses(Comparison(stored, "ten"))
    assert (loss.table, loss.best) == ("USPS", name)
    assert "no plane separates these classes" in loss.why


@pytest.mark.parametrize("regime", REGIMES)
def test_the_classifier_that_chooses_is_safe_on_the_stored_splits(regime):
    stored = storing.read()
    assert safety(Comparison(stored, regime)).holds
    mine = stored.errors[stored.errors["table"].isin(PAPER) & (stored.errors["regime"] == regime)]
    assert len(mine) == len(PAPER) * accuracy.SPLITS
    assert mine[["soft_cv", "soft_cv_supervised", "ridge_fine"]].notna().all().all()


def test_a_table_that_is_a_point_worse_is_named_though_the_promise_on_the_mean_holds(made):
    found = safety(Comparison(made, "ten"))
    assert found.mean.value > 0.0
    assert found.worse == ("Sonar",)
    assert found.holds
    page = pages.page("helps", made)
    assert re.search(r"\| 10 labels per class \| \+\d\.\d\d \| \d\.\d\d \| Sonar \| holds \|", page)


def test_safety_is_refused_where_the_mean_is_more_than_a_tenth_of_a_point_worse():
    worse = made_peers.RIGHT | {"soft_cv": made_peers.RIGHT["ridge_fine"] - 0.02}
    stored = made_peers.stored(worse, {})
    assert not safety(Comparison(stored, "ten")).holds
    assert "**does not hold**" in pages.page("helps", stored)


def test_the_pages_show_failures_in_their_own_words(made):
    overview, cost = pages.page("index", made), pages.page("cost", made)
    assert re.search(r"\| `TSVM` \| .* \| timed out \| 45 of 45 \| no model at all \|", overview)
    assert (
        "| `LabelSpreading (kernel)` | 100,000 | failed | MemoryError: Unable to allocate" in cost
    )


def test_the_page_on_cost_says_medians_and_growth(made):
    page = pages.page("cost", made)
    assert "| **`SoftLabelClassifier`** | 0.002 | 0.02 | 0.2 | 2 |" in page
    assert (
        "`SoftLabelClassifier`: 2 s for 1,000,000 rows; from 10,000 rows on it grows as rows^1.0"
        in page
    )


def test_without_costs_the_page_says_that_they_are_missing(made):
    assert "Not measured yet" in pages.page("cost", replace(made, cost=made.cost.iloc[:0]))


@pytest.mark.parametrize("name", ["accuracy", "helps", "time", "memory"])
def test_a_picture_is_drawn_from_tables_and_carries_what_it_is_made_from(name, made):
    drawn = drawing.draw(name, made, "a digest")
    assert drawn.startswith(b"<?xml")
    assert drawing.inputs_in(drawn) == "a digest"


@pytest.fixture(scope="module")
def stored():
    return storing.read()


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_page_is_what_the_stored_tables_give(name, stored):
    path = pages.DOCS / "evidence" / f"{name}.md"
    said = "run python -m benchmarks.peers pages"
    assert path.read_text(encoding="utf-8") == pages.page(name, stored), said


def test_pictures_are_made_from_the_stored_tables_and_the_code_at_hand(stored):
    paths = list((pages.DOCS / "evidence" / "pictures").iterdir())
    assert {path.stem for path in paths} == set(drawing.drawn_from(stored))
    made_from = {drawing.inputs_in(path.read_bytes()) for path in paths}
    assert made_from == {drawing.inputs_of(storing.RESULTS)}, "run python -m benchmarks.peers pages"


def test_the_page_on_choosing_has_every_block_and_no_other(made):
    text = (pages.DOCS / "choosing.md").read_text(encoding="utf-8")
    assert set(re.findall(r"generated: ([\w.-]+)", text)) == set(choosing.BLOCKS)
    registry = Registry({}, {name: partial(make, made) for name, make in choosing.BLOCKS.items()})
    filled = registry.fill(text)
    assert "| `SoftLabelClassifier` | 1,000,000 | 2 |" in filled
    assert registry.fill(filled) == filled


def test_no_table_of_the_page_on_choosing_is_wider_than_a_page():
    text = (pages.DOCS / "choosing.md").read_text(encoding="utf-8")
    heads = [line for line in text.splitlines() if re.fullmatch(r"\|(---\|)+", line)]
    assert len(heads) >= 5
    assert max(line.count("---") for line in heads) <= 5


@pytest.mark.parametrize("regime", REGIMES)
def test_self_training_is_as_accurate_as_the_classifier_in_it_as_the_page_says(regime, stored):
    gain = Comparison(stored, regime).mean_difference("self_training", "logistic")
    assert gain.low < 0.0 < gain.high


def test_tuned_classifiers_are_beaten_on_the_tables_that_the_page_lists(stored):
    counts = re.findall(r": (\d+) of (\d+) \(", choosing.beaten(stored))
    assert len(counts) == len(REGIMES)
    assert all(0 < int(beaten) <= int(tables) for beaten, tables in counts)


@pytest.mark.parametrize("regime", REGIMES)
def test_the_average_has_the_best_mean_accuracy_and_log_loss_as_the_page_says(regime, stored):
    comparison = Comparison(stored, regime)
    others = [name for name in comparison.competitors if name != "averaged"]
    assert all(comparison.mean_difference("averaged", name).value > 0.0 for name in others)
    losses = [comparison.mean_score("log_loss", name).value for name in others]
    assert comparison.mean_score("log_loss", "averaged").value < np.nanmin(losses)


def test_links_of_the_pages_lead_somewhere():
    folder = pages.DOCS / "evidence"
    for page in (*folder.glob("*.md"), pages.DOCS / "choosing.md"):
        links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
        assert not [link for link in links if not (page.parent / link).is_file()]


def test_every_method_that_is_stored_is_known(stored):
    assert set(stored.methods) <= set(METHODS)
    assert set(stored.fits["method"]) <= set(METHODS)
