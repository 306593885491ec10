"""Claims about the answer, its sentence, and the labels that would settle it."""

import itertools
import math

import numpy as np
import pytest

from semisquares._utils.messages import render
from semisquares.tables.compare.comparison import Estimate
from semisquares.tables.compare.splits import Plan
from semisquares.tables.compare.verdict import (
    decide,
    deciding_metric,
    labels_needed,
    most_to_gain,
    recommend,
)


def verdict(gain, half, n_labels, *, without=0.2, n_unlabeled=100_000, **other):
    """Return the verdict on a gain over a classifier whose error without them is given."""
    estimate = Estimate(gain, gain - half, gain + half)
    counts = {"n_labels": n_labels, "n_rarest": n_labels // 2, "n_unlabeled": n_unlabeled}
    return decide(1.0 - without + gain, 1.0 - without, estimate, **{**counts, **other})


@pytest.mark.parametrize(
    ("gain", "half", "n_labels", "sentence"),
    [
        (
            0.013,
            0.009,
            1000,
            "Unlabeled rows help: error 18.7 % with them against 20.0 % without, 95 % interval of "
            "the difference 0.4–2.2 points.",
        ),
        (
            -0.016,
            0.012,
            1000,
            "Unlabeled rows do harm here; leave them out when you fit: error 21.6 % with them "
            "against 20.0 % without, 95 % interval of the difference 0.4–2.8 points.",
        ),
        (
            -0.002,
            0.015,
            1000,
            "Unlabeled rows do not help here: error 20.2 % with them against 20.0 % without, and a "
            "gain of more than 1.3 points is unlikely.",
        ),
        (
            0.0,
            0.0,
            149,
            "Unlabeled rows do not help here: error 20.0 % with and without them, and a gain of "
            "more than 2.0 points is unlikely.",
        ),
        (
            0.05,
            0.30,
            14,
            "Too few labels to tell what unlabeled rows are worth: 14; label about 500 more.",
        ),
        (
            0.0,
            0.5,
            1500,
            "Too few labels to tell what unlabeled rows are worth: 1,500; label about 940,000 "
            "more.",
        ),
    ],
)
def test_the_sentence_is(gain, half, n_labels, sentence):
    assert verdict(gain, half, n_labels, n_unlabeled=1_000_000).sentence == sentence


def test_labels_that_the_table_does_not_have_are_not_asked_for():
    assert verdict(0.05, 0.3, 14, n_unlabeled=99).sentence == (
        "Too few labels to tell what unlabeled rows are worth: 14; about 500 more would be needed, "
        "but only 99 rows have none."
    )


@pytest.mark.parametrize(("n_labels", "answer"), [(10, "unclear"), (148, "unclear"), (149, "no")])
def test_equal_predictions_on_few_labels_prove_nothing(n_labels, answer):
    """The chance of 148 equal predictions, where one in 50 differs, is 5.03 %: 0.98^148."""
    assert 0.98**148 > 0.05 > 0.98**149
    assert verdict(0.0, 0.0, n_labels).answer == answer


@pytest.mark.parametrize("sign", [1, -1])
def test_five_rows_of_difference_prove_nothing_and_six_do(sign):
    """A sign test of five rows has p = 1/16, of six rows 1/32."""
    assert verdict(sign * 5 / 60, 0.0, 60).answer == "unclear"
    assert verdict(sign * 6 / 60, 0.0, 60).answer == {1: "yes", -1: "no"}[sign]


def test_numbers_of_the_verdict_are_those_that_it_was_given():
    found = verdict(0.03, 0.02, 500, without=0.1)
    assert (found.score, found.score_without, found.n_labels) == (0.93, 0.9, 500)
    assert found.gain == Estimate(0.03, 0.03 - 0.02, 0.05)
    assert found.more_labels is None


@pytest.mark.parametrize("n_labels", [160, 400, 3000])
@pytest.mark.parametrize("gain", [0.0, 0.001, 0.0025])
def test_the_interval_beside_no_reaches_as_far_as_the_sentence_says(gain, n_labels):
    found = verdict(gain, 0.0, n_labels)
    assert found.gain.high == pytest.approx(most_to_gain(Estimate(gain, gain, gain), n_labels))
    words = f"a gain of more than {100 * found.gain.high:.1f} points is unlikely"
    assert (words in found.sentence) == (found.answer == "no")


def test_advice_goes_by_the_folds_as_what_is_unseen_falls_faster_than_an_interval():
    assert verdict(0.0, 0.0, 20).more_labels == 130  # to 149 labels


def test_no_difference_is_impossible():
    found = verdict(0.5, 3.0, 6, without=0.6)
    assert (found.gain.low, found.gain.high) == (-1.0, 1.0)


def test_after_labelling_as_many_as_advised_the_answer_is_clear():
    gains = (-0.1, -0.02, -0.001, 0.0, 0.004, 0.0099, 0.01, 0.0101, 0.019, 0.02, 0.03, 0.2)
    unclear = 0
    for gain, half, n_labels in itertools.product(gains, (0.0, 0.01, 0.05, 0.3), (4, 14, 60, 700)):
        now = verdict(gain, half, n_labels)
        unclear += now.answer == "unclear"
        more = now.more_labels or 0
        later = verdict(gain, half * math.sqrt(n_labels / (n_labels + more)), n_labels + more)
        assert later.answer != "unclear", (gain, half, n_labels, more)
    assert unclear > 80


@pytest.mark.parametrize(
    ("gain", "half", "n_labels", "more"),
    [(0.1, 0.101, 100, 10), (0.1, 0.2, 30, 100), (0.1, 0.3, 97, 780)],
)
def test_advice_is_rounded_up_to_two_digits(gain, half, n_labels, more):
    assert labels_needed(Estimate(gain, gain - half, gain + half), n_labels) == more


def test_a_table_without_unlabeled_rows_says_so():
    found = verdict(0.0, 0.0, 100, n_unlabeled=0)
    assert found.answer == "none"
    assert found.sentence.startswith("Every row has a label")


# -- rare classes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "metric"),
    [((50, 50), "accuracy"), ((80, 20), "accuracy"), ((81, 19), "auc"), ((90, 80, 5), "auc")],
)
def test_the_auc_decides_if_a_class_has_less_than_a_fifth_of_the_labels(counts, metric):
    assert deciding_metric(counts) == metric


def test_the_sentence_about_a_rare_class_gives_the_auc():
    found = verdict(0.03, 0.02, 500, n_rarest=20, metric="auc")
    assert found.sentence == (
        "Unlabeled rows help: AUC 0.830 with them against 0.800 without, 95 % interval of the "
        "difference 0.010–0.050."
    )


@pytest.mark.parametrize(("n_rarest", "answer"), [(5, "unclear"), (6, "yes")])
def test_an_auc_of_five_rows_proves_nothing(n_rarest, answer):
    assert verdict(0.2, 0.01, 500, n_rarest=n_rarest, metric="auc").answer == answer


# -- which classifier ---------------------------------------------------------------------------


def recommended(means, *, noise=0.01, n_labels=1000, metric="accuracy", n_rarest=400, seed=0):
    """Recommend one of classifiers with these means over ten splits, of independent noise."""
    rng = np.random.default_rng(seed)
    scores = {name: {metric: mean + noise * rng.normal(size=10)} for name, mean in means.items()}
    planned = Plan(folds=5, repeats=2, tests=(), n_labeled=n_labels)
    return recommend(scores, planned, metric=metric, n_rarest=n_rarest)


def test_the_averaged_classifier_is_recommended_if_nothing_is_clearly_better():
    found = recommended({"averaged": 0.8, "ridge": 0.7, "logistic": 0.802})
    assert (found.method, found.other, found.clear) == ("averaged", "logistic", False)
    found = recommended({"averaged": 0.8, "ridge": 0.7, "logistic": 0.75})
    assert (found.method, found.other, found.clear) == ("averaged", "logistic", True)
    assert found.lead.low > 0.0


def test_a_rival_that_is_clearly_better_is_recommended_and_of_two_the_better():
    found = recommended({"averaged": 0.8, "ridge": 0.86, "forest": 0.9})
    assert (found.method, found.other, found.clear) == ("forest", "averaged", True)
    assert found.lead.mean == pytest.approx(found.score - found.other_score)
    words = render(found.sentence, lambda parameter: f"--{parameter.name} {parameter.value}")
    assert words.startswith("Use random forest, --method forest: error 10.")


def test_the_same_classifier_without_unlabeled_rows_is_no_candidate():
    found = recommended({"averaged": 0.8, "labeled_only": 0.9, "ridge": 0.7})
    assert found.method == "averaged"


def test_a_rival_that_failed_is_no_candidate():
    assert recommended({"averaged": 0.8, "ridge": math.nan, "hard": 0.7}).other == "hard"


def test_of_many_rivals_chance_alone_recommends_one_in_a_few_tables_at_most():
    """Six rivals that are no better: the intervals together fail in five of a hundred tables."""
    names = ("averaged", "ridge", "logistic", "forest", "boosting", "soft", "hard")
    found = [recommended(dict.fromkeys(names, 0.8), seed=seed).method for seed in range(200)]
    assert sum(method != "averaged" for method in found) <= 12


def test_five_rows_of_difference_recommend_nothing():
    means = {"averaged": 0.8, "ridge": 0.8 + 5 / 60}
    assert recommended(means, noise=1e-12, n_labels=60).method == "averaged"
    means = {"averaged": 0.8, "ridge": 0.8 + 6.1 / 60}
    assert recommended(means, noise=1e-12, n_labels=60).method == "ridge"
