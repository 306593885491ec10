"""A classifier is compared with always answering the most frequent class."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit

from semisquares import LeastSquaresClassifier
from semisquares.tables import compare_table, prepare
from semisquares.tables.compare.comparison import Estimate
from semisquares.tables.compare.notices.majority import (
    WIDER,
    Majority,
    against_majority,
    compare_with_majority,
)
from semisquares.tables.compare.splits import plan, training_mask


def gain_of_ridge(n_labels, share, distance, seed):
    """Cross-validate a ridge on normal clouds so far apart; the second has so many rows."""
    rng = np.random.default_rng(seed)
    codes = (np.arange(n_labels) < share * n_labels).astype(int)
    X = rng.normal(size=(n_labels, 5)) + distance * np.eye(5)[0] * codes[:, None]
    planned = plan(codes, repeats=2, seed=seed)
    accuracy = []
    for test in planned.tests:
        inside = training_mask(test, codes)
        model = LeastSquaresClassifier(10.0).fit(X[inside], codes[inside])
        accuracy.append(model.score(X[test], codes[test]))
    return against_majority(np.array(accuracy), planned, codes)


@pytest.mark.parametrize(("n_labels", "share"), [(40, 0.5), (100, 0.2), (200, 0.4)])
def test_noise_is_found_to_be_worthless(n_labels, share):
    found = [gain_of_ridge(n_labels, share, 0.0, seed) for seed in range(20)]
    assert sum(one.gain.low <= 0.0 for one in found) >= 19


@pytest.mark.parametrize(("n_labels", "share"), [(40, 0.5), (100, 0.2), (200, 0.4)])
def test_clouds_three_apart_are_not_suspected(n_labels, share):
    found = [gain_of_ridge(n_labels, share, 3.0, seed) for seed in range(20)]
    assert sum(one.gain.low <= 0.0 for one in found) <= 1


def test_the_error_of_one_answer_is_the_share_of_the_others():
    codes = np.array([1] * 30 + [0] * 15 + [2] * 5 + [-1] * 70)
    planned = plan(codes, repeats=3)
    same = np.array([np.mean(codes[test] == 1) for test in planned.tests])
    found = against_majority(same, planned, codes)
    assert (found.code, found.gain.mean) == (1, 0.0)
    assert found.error == pytest.approx(0.4)
    assert found.gain.low < 0.0 < found.gain.high


def notice(mean, half, auc=None):
    found = Majority(0, 0.2, Estimate(mean, mean - half, mean + half))
    return compare_with_majority("Tuned ridge", found, auc, ("ok", "worn"))


@pytest.mark.parametrize(
    ("mean", "half", "sentence"),
    [
        (-0.001, 0.02, "Tuned ridge is no better than always answering 'ok': error 20.1 % against "
         "20.0 %."),
        (0.0, 0.02, "Tuned ridge is no better than always answering 'ok': error 20.0 % "
         "either way."),
        (0.02, 0.03, "Tuned ridge may be no better than always answering 'ok': error "
         "18.0 % against 20.0 %, 95 % interval of the difference −1.0 to 5.0 points."),
    ],
)  # fmt: skip
def test_the_sentence_is(mean, half, sentence):
    assert notice(mean, half).sentence == sentence


def test_there_is_no_notice_if_the_classifier_is_better():
    assert notice(0.05, 0.03) is None
    assert notice(float("nan"), float("nan")) is None


@pytest.mark.parametrize(("low", "ranked"), [(0.55, True), (0.53, False), (0.45, False)])
def test_a_ranking_that_is_surely_better_than_chance_is_mentioned(low, ranked):
    found = notice(0.0, 0.02, auc=Estimate(0.65, low, 0.75))
    words = f"may be better than chance: AUC 0.65 (95 % interval {low} to 0.75)."
    assert found.meaning.endswith(words) == ranked


def test_surely_means_an_interval_of_99_per_cent_over_ten_folds():
    ratio = stdtrit(9, 0.995) / stdtrit(9, 0.975)
    assert ratio == pytest.approx(WIDER, abs=0.02)
    assert ratio < WIDER


def test_the_notice_comes_first_and_all_intervals_have_width():
    rng = np.random.default_rng(0)
    words = np.where(np.arange(80) % 4 == 0, "worn", "ok")
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    frame["state"] = np.where(np.arange(80) < 60, words, None)
    found = compare_table(prepare(frame, "state"), folds=2, quick=True)
    assert found.recommendation.method == "averaged"
    assert found.notices[0].kind == "majority"
    assert found.notices[0].sentence.startswith(
        "The averaged classifier is no better than always answering"
    )
    for rival in found.rivals:
        shown = [*rival.scores.values(), *rival.gains.values()]
        assert all(one.low < one.high for one in shown)
        assert all(-1.0 <= one.low <= one.mean <= one.high <= 1.0 for one in shown)
    gain, lost = found.verdict.gain, found.rival("labeled_only").gains["accuracy"]
    assert (lost.mean, lost.low, lost.high) == (-gain.mean, -gain.high, -gain.low)
    assert found.curve_repeats == 1
