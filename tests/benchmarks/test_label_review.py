"""The benchmark on wrong labels: its cases, and what its stored numbers promise."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.label_review import MOST_LABELS, RATES, SPLITS, Hits, Review, draw, main, read, run
from benchmarks.peers.sets import SETS

from benchmarks import label_review
from docs import label_review as pages
from semisquares import AveragedClassifier

QUICK = AveragedClassifier("least_squares", representations="linear")


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("table", ["Wine", "Lengthwise"])
def test_a_case_has_as_many_wrong_labels_as_it_should(table, rate):
    drawn = draw(table, rate, 1000)
    assert len(drawn.labeled) <= MOST_LABELS
    assert drawn.wrong.sum() == round(rate * len(drawn.labeled))
    assert set(drawn.given) <= set(drawn.split.truth)
    np.testing.assert_array_equal(drawn.y[drawn.labeled], drawn.given)
    assert (np.delete(drawn.y, drawn.labeled) == -1).all()


def test_the_same_number_gives_the_same_case():
    first, second = draw("Wine", 0.15, 1000), draw("Wine", 0.15, 1000)
    np.testing.assert_array_equal(first.y, second.y)
    assert (first.y != draw("Wine", 0.15, 1001).y).any()


def test_hits_are_counted_among_the_first_and_among_those_that_are_named():
    wrong = np.array([True, False, True, False, False])
    review = Review(np.array([1, 2, 0, 3, 4]), np.array([True, True, True, False, False]))
    assert Hits.of(review, wrong) == Hits(first=1, said=3, right=2)


def nothing(X, given):
    """Stand in for cleanlab: keep the order of the rows, and name no label."""
    return Review(np.arange(len(given)), np.zeros(len(given), dtype=bool))


def test_a_measured_case_has_all_that_the_pages_need():
    found = label_review.measure("Wine", 0.05, 1000, nothing, QUICK)
    stored = json.loads(json.dumps(found))
    assert stored.keys() == read()["cases"][0].keys()
    assert stored["ours"]["first"] >= 2
    assert stored["accuracy"]["cleanlab"] == stored["accuracy"]["given"]
    assert stored["cleanlab"]["said"] == 0


def test_a_run_goes_on_where_it_was_stopped(tmp_path):
    done = []

    def measured(table, rate, number):
        done.append((table, rate, number))
        return {"table": table, "rate": rate, "split": number}

    out = tmp_path / "out.json"
    run(out, ["Sonar"], [0], measured)
    run(out, ["Wine", "Sonar"], [0, 1], measured)
    assert len(done) == len(set(done)) == 8
    assert [one["table"] for one in read(out)["cases"][:4]] == ["Sonar", "Sonar", "Wine", "Wine"]


@pytest.mark.parametrize("words", [["--first-split", "1000"], ["--out", "other.json"]])
def test_splits_for_choices_are_not_mixed_with_those_that_are_reported(words, capsys):
    with pytest.raises(SystemExit):
        main(words)
    assert "give both --first-split 1000 and --out FILE, or neither" in capsys.readouterr().err


# -- the promises, on the stored cases ----------------------------------------------------------


@pytest.fixture(scope="module", params=RATES)
def stored(request):
    """Return the stored cases of one share of wrong labels."""
    found = pages.cases()
    return found[found["rate"] == request.param].reset_index(drop=True)


def test_every_table_and_split_is_stored_once(stored):
    pairs = set(zip(stored["table"], stored["split"], strict=True))
    assert pairs == {(table, number) for table in SETS for number in range(SPLITS)}
    assert len(stored) == len(pairs)


def test_it_finds_at_least_as_many_wrong_labels_as_cleanlab(stored):
    ours, theirs = (pages.first_found(stored, name) for name in ("ours", "cleanlab"))
    gain, error = pages.mean_over_tables(ours - theirs, stored)
    assert gain - 2 * error > 0.0


def test_what_it_says_to_be_wrong_is_wrong_more_often_than_what_cleanlab_says(stored):
    shares = [stored[f"{name}.right"].sum() / stored[f"{name}.said"].sum() for name in pages.NAMES]
    assert shares[0] > shares[1]


def test_removing_what_it_finds_leaves_a_better_classifier_than_removing_what_cleanlab_finds(
    stored,
):
    gain, _ = pages.mean_over_tables(stored["accuracy.ours"] - stored["accuracy.cleanlab"], stored)
    assert gain > 0.0


def test_removing_what_it_finds_costs_no_accuracy_to_speak_of(stored):
    gain, error = pages.mean_over_tables(stored["accuracy.ours"] - stored["accuracy.given"], stored)
    assert gain + 2 * error > 0.0


def test_the_interval_holds_the_number_of_wrong_labels_in_most_cases(stored):
    assert pages.is_inside(stored).mean() >= 0.8
