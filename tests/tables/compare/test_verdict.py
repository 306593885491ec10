"""Claims about the answer, its sentence, and the labels that would settle it."""

import itertools
import math

import pytest

from semisquares.tables.compare.comparison import Estimate
from semisquares.tables.compare.verdict import decide, labels_needed, most_to_gain


def verdict(gain, half, n_labels, *, ridge_error=0.2, n_unlabeled=100_000):
    estimate = Estimate(gain, gain - half, gain + half)
    return decide(
        ridge_error - gain, ridge_error, estimate, n_labels=n_labels, n_unlabeled=n_unlabeled
    )


@pytest.mark.parametrize(
    ("gain", "half", "n_labels", "sentence"),
    [
        (
            0.013,
            0.009,
            1000,
            "Unlabeled rows help: error 18.7 % against 20.0 % for tuned ridge, "
            "95 % interval of the difference 0.4–2.2 points.",
        ),
        (
            -0.016,
            0.012,
            1000,
            "Unlabeled rows do harm here; use the tuned ridge: error 20.0 % against 21.6 % with "
            "them, 95 % interval of the difference 0.4–2.8 points.",
        ),
        (
            -0.002,
            0.015,
            1000,
            "Unlabeled rows do not help here; use the tuned ridge: error 20.0 % against 20.2 % "
            "with them, and a gain of more than 1.3 points is unlikely.",
        ),
        (
            0.0,
            0.0,
            149,
            "Unlabeled rows do not help here; use the tuned ridge: error 20.0 % with and without "
            "them, and a gain of more than 2.0 points is unlikely.",
        ),
        (0.05, 0.30, 14, "Too few labels to tell: 14; label about 500 more."),
        (0.0, 0.5, 1500, "Too few labels to tell: 1,500; label about 940,000 more."),
    ],
)
def test_the_sentence_is(gain, half, n_labels, sentence):
    assert verdict(gain, half, n_labels, n_unlabeled=1_000_000).sentence == sentence


def test_labels_that_the_table_does_not_have_are_not_asked_for():
    assert verdict(0.05, 0.3, 14, n_unlabeled=99).sentence == (
        "Too few labels to tell: 14; about 500 more would be needed, but only 99 rows have none."
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
    found = verdict(0.03, 0.02, 500, ridge_error=0.1)
    assert (found.error, found.ridge_error, found.n_labels) == (0.07, 0.1, 500)
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
    found = verdict(0.5, 3.0, 6, ridge_error=0.6)
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
