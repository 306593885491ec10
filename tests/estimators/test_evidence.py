"""Claims about the evidence behind `SoftLabelClassifierCV`: calibration, weights and the median."""

import numpy as np
import pytest

from semisquares.estimators._evidence import Evidence, LeftOutRows
from semisquares.families._calibration import calibrate
from semisquares.families._two_classes import calibrate_two


def slopes(n_rows=60, n_classes=2, seed=0):
    """Draw slopes of 3 weights × 4 alphas, and the classes of the rows."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % n_classes
    known = (codes - 0.5)[:, None] if n_classes == 2 else np.eye(n_classes)[codes]
    drawn = 0.3 * rng.normal(size=(3, 4, *known.shape)) + rng.uniform(0.05, 0.3) * known
    return drawn[..., 0] if n_classes == 2 else drawn, codes


def left_out_rows(codes, weight=None, n_labels=None):
    weight = np.ones(len(codes)) if weight is None else weight
    shares = np.bincount(codes) / len(codes)
    return LeftOutRows(codes, weight, n_labels or float(weight.sum()), shares)


@pytest.mark.parametrize("n_rows", [5, 50, 500])
def test_two_classes_are_calibrated_as_many_are(n_rows):
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(2, size=n_rows)
    x = rng.normal(size=(20, n_rows)) * np.exp(rng.normal(size=(20, 1)))
    x += rng.normal(size=(20, 1)) * (2 * codes - 1)
    weight, shares = rng.uniform(0.2, 2.0, size=n_rows), np.array([0.3, 0.7])
    odds = np.stack((-0.5 * x, 0.5 * x), axis=-1)
    expected = calibrate(odds, codes, weight, shares)
    found, losses = calibrate_two(x, codes, weight, shares)
    np.testing.assert_allclose(found.slopes, expected.slopes, rtol=1e-6)
    np.testing.assert_allclose(found.offsets, expected.offsets, atol=1e-6)
    np.testing.assert_allclose(losses, expected.losses(odds, codes), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shifted_decision_values_part_the_classes_where_their_probabilities_do(n_classes):
    drawn, codes = slopes(n_classes=n_classes)
    mean = np.linspace(1.0, 2.0, n_classes)
    mean /= mean.sum()
    evidence = Evidence.of(drawn, left_out_rows(codes))
    choice = (1, 2)
    z = drawn[choice] + (mean[1] if n_classes == 2 else mean) + evidence.shift(choice, mean)
    z = np.column_stack((1.0 - z, z)) if n_classes == 2 else z
    np.testing.assert_allclose(
        z.mean(axis=1),
        1.0 / n_classes + drawn[choice].reshape(60, -1).mean(axis=1) * (n_classes > 2),
    )
    odds = (
        np.stack((-0.5 * drawn[choice], 0.5 * drawn[choice]), -1)
        if n_classes == 2
        else drawn[choice]
    )
    scale = 1.5 / evidence.size[choice]
    calibration = evidence.calibration.of(slice(6, 7))
    probability = calibration.probabilities(scale * odds[None])[0]
    np.testing.assert_array_equal(z.argmax(axis=1), probability.argmax(axis=1))


def test_without_evidence_the_unlabeled_rows_are_left_out():
    drawn, codes = slopes()
    same = np.broadcast_to(drawn[:1, :1], drawn.shape)
    assert Evidence.of(same, left_out_rows(codes)).choice == (0, 1)


def test_with_much_evidence_the_best_choice_is_taken():
    drawn, codes = slopes()
    drawn[2, 3] += 0.3 * (codes - 0.5)
    assert Evidence.of(drawn, left_out_rows(codes, n_labels=1e5)).choice == (2, 3)


def test_with_little_evidence_it_is_the_median():
    drawn, codes = slopes()
    drawn[2, 3] += 0.3 * (codes - 0.5)
    assert Evidence.of(drawn, left_out_rows(codes, n_labels=1e-9)).choice == (0, 1)


def test_a_weight_of_two_is_a_row_that_is_tested_and_counted_twice():
    drawn, codes = slopes()
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    again = np.repeat(np.arange(60), weight.astype(int))
    weighted = Evidence.of(drawn, left_out_rows(codes, weight))
    shares = weighted.calibration.shares
    repeated = Evidence.of(drawn[:, :, again], LeftOutRows(codes[again], np.ones(80), 80.0, shares))
    np.testing.assert_allclose(weighted.losses, repeated.losses, rtol=1e-9)


def test_rows_that_are_tested_twice_are_no_more_evidence():
    drawn, codes = slopes()
    once = Evidence.of(drawn, left_out_rows(codes))
    twice = Evidence.of(
        np.tile(drawn, 2),
        LeftOutRows(np.tile(codes, 2), np.ones(120), 60.0, left_out_rows(codes).shares),
    )
    np.testing.assert_allclose(once.losses, twice.losses, rtol=1e-9)
    assert once.choice == twice.choice


def test_a_choice_that_predicts_nothing_has_no_weight():
    drawn, codes = slopes()
    drawn[0] = np.nan
    drawn[1] = 0.0
    drawn[2, :2] = np.nan
    evidence = Evidence.of(drawn, left_out_rows(codes))
    assert evidence.choice[0] == 2
    assert evidence.choice[1] >= 2
    assert np.isnan(evidence.scores[:2]).all()
    assert evidence.shift((0, 0), np.array([0.4, 0.6])) == 0.0
