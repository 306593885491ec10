"""The page on the averaged classifier: promises, gains and losses, on made-up and stored tables."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.peers import drawing, pages, storing
from benchmarks.peers.comparing import Comparison
from benchmarks.peers.promises import ALONE, AVERAGED, PROMISES, are_measured
from benchmarks.peers.reasons import chosen, losses
from benchmarks.peers.sets import REGIMES

from support import made_peers

RIGHT = made_peers.RIGHT | {AVERAGED: 0.85, ALONE: 0.80, "ridge_fine": 0.75, "svc": 0.79}
LOG_LOSS = {AVERAGED: 0.4, "logistic_cv": 0.5, "svc": 0.45}
NEARLY = {table: {"svc": 0.845} for table in made_peers.TABLES}
CALIBRATION = {AVERAGED: 0.03, "logistic_cv": 0.04, "svc": 0.02}


def made(otherwise, *, log_loss=LOG_LOSS, calibration=CALIBRATION):
    return made_peers.stored(RIGHT, otherwise, log_loss=log_loss, calibration=calibration)


@pytest.fixture(scope="module")
def good():
    """Return tables on which all promises hold; without unlabeled rows it is better on Sonar."""
    return made({"Sonar": {ALONE: 0.95}})


def broken(stored):
    comparison = Comparison(stored, "ten")
    return {name for name, check in PROMISES.items() if not check(comparison).holds}


def test_promises_hold_where_it_is_the_best_in_all_ways(good):
    assert broken(good) == set()


@pytest.mark.parametrize(
    ("stored", "promises"),
    [
        ({"otherwise": NEARLY}, "a point more accurate"),
        ({"otherwise": {}, "log_loss": LOG_LOSS | {"svc": 0.4}}, "lowest log loss"),
        ({"otherwise": {"Moons": {"ridge_fine": 0.95}}}, "no table clearly"),
        ({"otherwise": {}, "calibration": CALIBRATION | {AVERAGED: 0.05}}, "calibration error"),
    ],
)
def test_a_promise_that_is_not_kept_is_found(stored, promises):
    (found,) = broken(made(**stored))
    assert found.startswith(promises)


def test_it_is_not_first_in_rank_where_a_peer_is_ahead_on_most_tables():
    worse = made({one: {"svc": 0.90} for one in made_peers.TABLES[:3]})
    assert "first in mean rank" in broken(worse)


def test_promises_about_scores_are_open_until_these_are_measured():
    comparison = Comparison(made({}, log_loss={}, calibration={}), "ten")
    open_ones = [name for name, check in PROMISES.items() if check(comparison).holds is None]
    assert [name.split()[0] for name in open_ones] == ["lowest", "calibration"]


def test_the_page_says_what_unlabeled_rows_are_worth_the_losses_as_well(good):
    page = pages.page("averaged", good)
    worth = page.partition("## What the unlabeled rows are worth")[2].partition("\n## ")[0]
    line = re.search(r"^- \*\*10 labels per class\*\*: .*$", worth, re.MULTILINE)[0]
    assert re.search(r"Clearly better on 4 tables \(Haberman \+\d", line)
    assert re.search(r"Clearly worse on 1 table \(Sonar −\d+\.\d\)\.$", line)
    assert re.search(r"\| Sonar \| \*\*−\d+\.\d ± \d\.\d\*\* \|", worth)


def test_the_page_names_the_peers_that_it_loses_to_and_the_tables():
    page = pages.page("averaged", made({"USPS": {"spreading_knn": 0.95}}))
    lost = page.partition("## Which methods beat it, and where")[2]
    assert re.search(r"\| `LabelSpreading \(neighbours\)` \| USPS \+\d+\.\d \| USPS", lost)
    assert "`SVC`" not in lost


def test_a_broken_promise_stands_out_on_the_page(good):
    assert "does not hold" not in pages.page("averaged", good)
    worse = made({"Moons": {"ridge_fine": 0.95}})
    assert "| Moons; the smallest gain is −" in pages.page("averaged", worse)
    assert "**does not hold**" in pages.page("averaged", worse)


def test_other_pages_hold_it_against_all_others_once_it_is_measured(good):
    assert chosen(Comparison(good, "ten")) == AVERAGED
    assert "`AveragedClassifier` has a mean accuracy of 0.8" in pages.page("index", good)
    assert "which `AveragedClassifier` is clearly better" in pages.page("accuracy", good)
    assert "| `AveragedClassifier` | 0.8" in pages.page("accuracy", good)


def test_a_loss_to_itself_without_unlabeled_rows_is_told_as_such():
    stored = made({"Sonar": {ALONE: 0.95, "svc": 0.93}})
    (loss,) = losses(Comparison(stored, "ten"))
    assert (loss.table, loss.best) == ("Sonar", "svc")
    assert "the unlabeled rows mislead" in loss.why


def test_scores_are_means_over_the_tables_of_the_paper(good):
    frame = good.scores["log_loss"]
    frame = frame.assign(svc=np.where(frame["table"] == "Moons", 9.0, np.arange(len(frame))))
    scores = good.scores | {"log_loss": frame}
    comparison = Comparison(replace(good, scores=scores), "half")
    mine = frame[(frame["regime"] == "half") & (frame["table"] != "Moons")]
    assert comparison.mean_score("log_loss", "svc").value == pytest.approx(mine["svc"].mean())
    assert np.isnan(comparison.mean_score("log_loss", "knn").value)


@pytest.mark.parametrize(
    "change",
    [{"fits": 11, "ok": 11}, {"table": "Moons"}, {"status": "not installed", "ok": 0}],
    ids=["some splits", "some tables", "not installed"],
)
def test_a_method_that_is_not_measured_everywhere_takes_no_part(good, change):
    others, mine = (
        good.fits[mask(good.fits["method"], "svc")] for mask in (pd.Series.ne, pd.Series.eq)
    )
    begun = replace(good, fits=pd.concat([others, mine.assign(**change)]))
    assert "svc" in Comparison(good, "ten").competitors
    assert "svc" not in Comparison(begun, "ten").competitors
    assert "left out until then: SVC." in pages.page("index", begun)


def test_without_it_the_page_says_so_and_there_is_no_picture():
    without = made_peers.stored(made_peers.RIGHT, {})
    assert "Not measured yet" in pages.page("averaged", without)
    assert "averaged" not in drawing.drawn_from(without)


def test_its_page_is_written_where_only_it_and_the_ridge_are_measured(tmp_path):
    few = {name: RIGHT[name] for name in (AVERAGED, "ridge_fine")}
    stored = made_peers.stored(few, {})
    for name in ("tables", "errors", "fits"):
        getattr(stored, name).drop(columns="tsvm", errors="ignore").to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    pages.write_pages(tmp_path, tmp_path)
    written = {path.name for path in (tmp_path / "evidence").rglob("*.*")}
    assert written == {"averaged.md", "cost.md", "averaged.svg"}


def test_its_picture_is_drawn_once_it_is_measured(good):
    assert "averaged" in drawing.drawn_from(good)
    assert drawing.draw("averaged", good, "a digest").startswith(b"<?xml")


@pytest.fixture(scope="module")
def measured():
    """Return the stored tables; skip the test while the classifier is not in all their splits."""
    stored = storing.read()
    if not are_measured(stored, AVERAGED):
        pytest.skip("AveragedClassifier is not measured in all stored splits yet")
    return stored


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("regime", REGIMES)
def test_what_is_promised_holds_on_the_stored_splits(regime, promise, measured):
    comparison = Comparison(measured, regime)
    found = PROMISES[promise](comparison)
    assert found.holds, found.words
