"""How many labels are wrong, from leave-one-out probabilities alone."""

import numpy as np
import pytest

from semisquares.labeling._wrong_labels import find_wrong_labels


def drawn(seed, *, n=300, n_classes=2, rate=0.1, sure=3.0, slope=1.0, mislabeled=None):
    """Draw probabilities, classes by them, and labels of which some are wrong.

    The probabilities that are returned are flatter than the true ones if `slope` is more than 1.
    Only labels of the class `mislabeled` are wrong, if it is given.
    """
    rng = np.random.default_rng(seed)
    logs = sure * rng.normal(size=(n, n_classes))
    proba = np.exp(slope * logs)
    proba /= proba.sum(axis=1, keepdims=True)
    truth = (proba.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    wrong = (rng.random(n) < rate) & np.isin(truth, range(n_classes)[mislabeled or slice(None)])
    codes = np.where(wrong, (truth + rng.integers(1, n_classes, size=n)) % n_classes, truth)
    seen = np.exp(logs)
    return seen / seen.sum(axis=1, keepdims=True), codes, wrong


@pytest.mark.parametrize(
    ("n_classes", "rate", "slope"),
    [
        (2, 0.0, 1.0),
        (2, 0.2, 2.0),
        (4, 0.1, 1.0),
        pytest.param(2, 0.05, 2.0, marks=pytest.mark.slow),
        pytest.param(2, 0.2, 1.0, marks=pytest.mark.slow),
        pytest.param(4, 0.0, 2.0, marks=pytest.mark.slow),
    ],
)
def test_the_interval_holds_the_number_of_wrong_labels_as_often_as_it_says(n_classes, rate, slope):
    held = []
    for seed in range(15):
        proba, codes, wrong = drawn(seed, n_classes=n_classes, rate=rate, slope=slope)
        found = find_wrong_labels(proba, codes)
        held.append(found.low <= wrong.sum() <= found.high)
        assert found.low <= found.expected <= found.high + 1
    assert np.mean(held) >= 0.8


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_whose_labels_alone_are_wrong_is_recognised(n_classes):
    """With one rate for all classes, the interval would be far below the number of wrong labels."""
    held, shares = [], []
    for seed in range(12):
        proba, codes, wrong = drawn(seed, n_classes=n_classes, rate=0.3, mislabeled=slice(1))
        found = find_wrong_labels(proba, codes)
        held.append(found.low <= wrong.sum() <= found.high)
        of_others = codes != 0
        shares.append(found.probability[of_others].sum() / found.expected)
    assert np.mean(held) >= 0.75
    assert np.mean(shares) > 0.9


def test_classes_that_overlap_are_not_taken_for_wrong_labels():
    """Without wrong labels a third of the labels contradict the probabilities."""
    proba, codes, _ = drawn(0, n=2000, rate=0.0, sure=0.5)
    found = find_wrong_labels(proba, codes)
    assert np.mean(proba.argmax(axis=1) != codes) > 0.3
    assert found.low < 60


def test_the_interval_is_wider_if_classes_overlap():
    widths = []
    for sure in (4.0, 0.7):
        found = find_wrong_labels(*drawn(0, sure=sure)[:2])
        widths.append(found.high - found.low)
    assert widths[1] > 2 * widths[0]


def test_probabilities_to_be_wrong_are_calibrated():
    pairs = []
    for seed in range(12):
        proba, codes, wrong = drawn(seed, n=500)
        pairs.append((find_wrong_labels(proba, codes).probability, wrong))
    found, wrong = map(np.concatenate, zip(*pairs, strict=True))
    likely = found > 0.5
    assert wrong[likely].mean() == pytest.approx(found[likely].mean(), abs=0.06)
    assert wrong[~likely].mean() == pytest.approx(found[~likely].mean(), abs=0.02)


def test_many_labels_give_a_narrow_interval():
    proba, codes, wrong = drawn(0, n=20_000, rate=0.05)
    found = find_wrong_labels(proba, codes)
    assert found.expected == pytest.approx(wrong.sum(), rel=0.1)
    assert found.high - found.low < 0.3 * wrong.sum()


def test_impossible_labels_are_wrong_and_finite():
    proba = np.tile([[1.0, 0.0]], (50, 1))
    codes = np.r_[1, np.zeros(49, dtype=int)]
    found = find_wrong_labels(proba, codes)
    assert found.probability[0] > 0.99
    assert np.isfinite(found.probability).all()


def test_no_labels_are_no_wrong_labels():
    found = find_wrong_labels(np.empty((0, 3)), np.empty(0, dtype=int))
    assert (found.expected, found.low, found.high) == (0.0, 0, 0)
