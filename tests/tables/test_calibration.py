"""Probabilities of stored models: calibrated on rows that were left out, and never certain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier

from semisquares.tables import TableError, fit_table, prepare
from semisquares.tables.compare import _rivals as rivals
from semisquares.tables.compare._rows import TableRows
from semisquares.tables.models import _calibrating, fitting
from semisquares.tables.models._calibrating import (
    calibrate_decisions,
    calibrate_fit,
    calibrate_log_odds,
    decision_values,
    left_out_decisions,
)
from semisquares.tables.models._calibration import DecisionCalibration
from semisquares.tables.models._converting import predictor_of
from semisquares.tables.models._measuring import (
    FitOptions,
    Setting,
    choose,
    fit_setting,
    without_alpha,
)
from semisquares.tables.models.files import dumps, loads

RIDGE = Setting("ridge", 1.0, 0.0, seed=0)


def clouds(n_rows, n_classes=2, shares=None, seed=0, part=0):
    """Return rows of overlapping Gaussian classes, and the classes; `part` draws fresh rows."""
    centers = 0.7 * np.random.default_rng(seed).normal(size=(n_classes, 5))
    rng = np.random.default_rng([seed, part])
    truth = rng.choice(n_classes, size=n_rows, p=shares)
    return rng.normal(size=(n_rows, 5)) + centers[truth], truth


def fitted(method, n_labeled, alpha=None, n_classes=2, shares=None, seed=0):
    """Return a classifier of some labels and its calibration."""
    X, truth = clouds(600, n_classes, shares, seed)
    rows = TableRows(X, np.where(np.arange(600) < n_labeled, truth, -1))
    weight = None if alpha is None or method == "ridge" else 0.1
    setting = choose(rows, FitOptions(method, alpha, weight))
    classifier = fit_setting(setting, rows)
    return classifier, calibrate_fit(rows, setting, classifier)


# -- calibrated ---------------------------------------------------------------------------------


SKEWED, THREE = (2, (0.85, 0.15)), (3, (0.5, 0.3, 0.2))


@pytest.mark.parametrize(
    ("method", "n_classes", "shares"),
    [
        ("ridge", 2, None),
        ("ridge", *THREE),
        ("soft", *SKEWED),
        ("soft", *THREE),
        ("hard", *SKEWED),
        pytest.param("ridge", *SKEWED, marks=pytest.mark.slow),
        pytest.param("soft", 2, None, marks=pytest.mark.slow),
        pytest.param("hard", 2, None, marks=pytest.mark.slow),
        pytest.param("hard", *THREE, marks=pytest.mark.slow),
    ],
)
def test_probabilities_are_frequencies_on_fresh_rows(method, n_classes, shares):
    errors = np.array([reliability(method, n_classes, shares, seed) for seed in range(8)])
    assert abs(errors).max() < 0.12  # each calibration has 500 labels
    assert abs(errors.mean(axis=0)).max() < 0.03


def reliability(method, n_classes, shares, seed):
    """Return mean probability less frequency of the last class, in fifths of fresh rows."""
    classifier, calibration = fitted(method, 500, 1.0, n_classes, shares, seed)
    X, truth = clouds(10_000, n_classes, shares, seed, part=1)
    p = calibration.probabilities(classifier.decision_function(X))[:, -1]
    error = (p - (truth == n_classes - 1))[np.argsort(p)]
    return error.reshape(5, -1).mean(axis=1)


TWO = (2, (0.8, 0.2))


@pytest.mark.parametrize(
    ("method", "n_classes", "shares"),
    [
        ("logistic", *THREE),
        ("forest", *TWO),
        ("boosting", *TWO),
        pytest.param("logistic", *TWO, marks=pytest.mark.slow),
        pytest.param("forest", *THREE, marks=pytest.mark.slow),
        pytest.param("boosting", *THREE, marks=pytest.mark.slow),
    ],
)
def test_probabilities_of_other_methods_are_frequencies_too(method, n_classes, shares, monkeypatch):
    monkeypatch.setattr(  # the claim holds for 100 trees too
        rivals, "_forest", lambda seed: RandomForestClassifier(30, random_state=seed)
    )
    losses, errors = [], []
    setting = without_alpha(method, 0)
    for seed in (1, 2, 3):
        X, truth = clouds(200, n_classes, shares, seed)
        rows = TableRows(X, truth)
        classifier = fit_setting(setting, rows)
        calibration = calibrate_fit(rows, setting, classifier)
        X, truth = clouds(5_000, n_classes, shares, seed, part=1)
        p = calibration.probabilities(decision_values(classifier, X))
        own = np.clip(classifier.predict_proba(X), 1e-3, None)
        losses.append([-np.log(q[np.arange(5_000), truth]).mean() for q in (p, own)])
        error = (p[:, -1] - (truth == n_classes - 1))[np.argsort(p[:, -1])]
        errors.append(error.reshape(5, -1).mean(axis=1))
    calibrated, own = np.mean(losses, axis=0)
    assert calibrated < own + 0.01
    assert abs(np.mean(errors, axis=0)).max() < 0.08
    assert (calibrated < own - 0.05) == (method == "boosting")  # it is far too sure


def test_log_odds_that_need_no_correction_get_next_to_none():
    rng = np.random.default_rng(0)
    codes = (rng.random(4_000) < 0.2).astype(int)
    log_odds = np.log(0.25) + rng.normal(size=4_000) + codes - 0.5
    found = calibrate_log_odds(log_odds, codes, np.bincount(codes))
    assert found.slope == pytest.approx(1.0, abs=0.1)
    np.testing.assert_allclose(found.offsets, 0.0, atol=0.1)


def test_log_odds_of_noise_become_the_shares_of_the_classes():
    rng = np.random.default_rng(0)
    codes = np.arange(2_000) % 10 // 9
    found = calibrate_log_odds(4.0 * rng.normal(size=2_000), codes, np.bincount(codes))
    p = found.probabilities(np.array([-8.0, 0.0, 8.0]))
    np.testing.assert_allclose(p[:, 1], 0.1, atol=0.07)


def test_log_odds_that_no_row_can_test_are_taken_as_they_are():
    found = calibrate_log_odds(np.array([1.0]), np.empty(0, dtype=int), np.array([3, 1]))
    assert (found.slope, found.offsets.tolist()) == (1.0, [0.0, 0.0])


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("method", ["logistic", "forest", "boosting"])
def test_other_methods_are_fitted_at_most_five_times_more(method, monkeypatch):
    fits, fit = [], _calibrating.fit_setting

    def watched(setting, rows, inside):
        fits.append(inside)
        return fit(setting, rows, inside)

    monkeypatch.setattr(_calibrating, "fit_setting", watched)
    X, truth = clouds(60)
    _, codes = left_out_decisions(TableRows(X, truth), without_alpha(method, 0))
    assert (len(fits), len(codes)) == (5, 60)
    np.testing.assert_array_equal(np.sum(~np.array(fits), axis=0), 1)


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("method", ["logistic", "forest", "boosting"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_stored_model_of_any_method_is_calibrated(method, n_classes, monkeypatch):
    classifiers = []
    monkeypatch.setattr(
        fitting, "predictor_of", lambda one: classifiers.append(one) or predictor_of(one)
    )
    frame, model = model_of(n_classes, method=method)
    again = loads(dumps(model))
    assert again.is_calibrated
    X = model.encoder.transform(frame.drop(columns="label"))
    expected = model.calibration.probabilities(decision_values(classifiers[0], X))
    np.testing.assert_allclose(again.predict(frame).probabilities, expected, rtol=1e-12)


def test_a_method_that_fails_with_fewer_labels_is_calibrated_by_the_other_folds(monkeypatch):
    fit = _calibrating.fit_setting

    def sometimes(setting, rows, inside):
        if not inside[0]:
            raise TableError("Too few.", code="method_failed")
        return fit(setting, rows, inside)

    monkeypatch.setattr(_calibrating, "fit_setting", sometimes)
    X, truth = clouds(60)
    _, codes = left_out_decisions(TableRows(X, truth), RIDGE)
    assert len(codes) == 54


@pytest.mark.parametrize("n_labeled", [24, 100])
def test_few_labels_give_probabilities_that_are_right_on_average(n_labeled):
    sure, right = [], []
    for seed in range(12):
        classifier, calibration = fitted("ridge", n_labeled, seed=seed)
        X, truth = clouds(4_000, seed=seed, part=1)
        p = calibration.probabilities(classifier.decision_function(X))
        sure.append(p.max(axis=1).mean())
        right.append((p.argmax(axis=1) == truth).mean())
    assert abs(np.mean(sure) - np.mean(right)) < 0.04


def test_probabilities_of_noise_are_the_shares_of_the_classes():
    rng = np.random.default_rng(0)
    codes = (rng.random(2_000) < 0.25).astype(np.intp)
    found = calibrate_decisions(rng.normal(size=2_000), codes, np.bincount(codes))
    p = found.probabilities(np.array([-1.0, 0.0, 1.0]))[:, 1]
    np.testing.assert_allclose(p, 0.25, atol=0.05)


def test_known_log_odds_are_found():
    rng = np.random.default_rng(0)
    decision = rng.normal(size=50_000)
    codes = (rng.random(50_000) < expit(3.0 * decision - 1.0)).astype(np.intp)
    found = calibrate_decisions(decision, codes, np.bincount(codes))
    at = np.array([-0.5, 0.0, 0.5])
    np.testing.assert_allclose(found.probabilities(at)[:, 1], expit(3.0 * at - 1.0), atol=0.01)


def test_with_equal_odds_at_zero_only_the_slope_is_fitted():
    rng = np.random.default_rng(0)
    decision = rng.normal(size=50_000) - 1.0
    codes = (rng.random(50_000) < expit(3.0 * decision)).astype(np.intp)
    found = calibrate_decisions(decision, codes, np.bincount(codes), balanced=True)
    assert not found.offsets.any()
    assert found.slope == pytest.approx(3.0, rel=0.03)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_predicted_class_of_a_tuned_classifier_is_the_most_probable(n_classes):
    classifier, calibration = fitted("soft", 100, n_classes=n_classes)
    X, _ = clouds(2_000, n_classes, part=1)
    p = calibration.probabilities(classifier.decision_function(X))
    np.testing.assert_array_equal(p.argmax(axis=1), classifier.predict(X))


# -- shape --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["ridge", "soft", "hard"])
def test_probabilities_sum_to_one_and_rise_with_the_decision_value(method):
    _, calibration = fitted(method, 40, 1.0)
    p = calibration.probabilities(np.linspace(-3.0, 3.0, 101))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert (np.diff(p[:, 1]) > 0.0).all()
    _, of_three = fitted(method, 60, 1.0, n_classes=3)
    step = np.outer(np.linspace(-3.0, 3.0, 101), np.eye(3)[1])
    p = of_three.probabilities(step)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert (np.diff(p[:, 1]) > 0.0).all()


@pytest.mark.parametrize("balanced", [True, False])
def test_separable_labels_give_no_certainty(balanced):
    codes = np.arange(20) % 2
    decision = np.where(codes, 5.0, -5.0)
    found = calibrate_decisions(decision, codes, np.bincount(codes), balanced=balanced)
    p = found.probabilities(np.array([-1e9, 5.0, 1e9]))
    assert p.min() == pytest.approx(0.5 / 22)
    assert 0.8 < p[1, 1] <= p[2, 1] < 1.0


@pytest.mark.parametrize("balanced", [True, False])
def test_equal_decision_values_give_the_shares(balanced):
    codes = np.array([0, 0, 0, 1])
    found = calibrate_decisions(np.full(4, -0.25), codes, np.array([3, 1]), balanced=balanced)
    assert found.slope == 0.0
    expected = [3.5 / 5 * 5 / 6 + 1 / 12, 1.5 / 5 * 5 / 6 + 1 / 12]
    np.testing.assert_allclose(found.probabilities(np.array([7.0]))[0], expected)


# -- left-out rows ------------------------------------------------------------------------------


def test_every_labeled_row_is_left_out_once():
    X, truth = clouds(30)
    codes = np.where(np.arange(30) < 24, truth, -1)
    decision, tested = left_out_decisions(TableRows(X, codes), RIDGE)
    np.testing.assert_array_equal(np.sort(tested), np.sort(codes[:24]))
    assert decision.shape == (24,)


def test_a_left_out_rows_label_does_not_matter(monkeypatch):
    X, truth = clouds(12)
    codes = truth.astype(np.intp)
    codes[:4] = [0, 1, 0, 1]
    monkeypatch.setattr(_calibrating, "_folds", lambda *options: [np.array([0])])
    other = np.where(np.arange(12) == 0, 1, codes)
    values = [left_out_decisions(TableRows(X, y), RIDGE)[0] for y in (codes, other)]
    assert values[0] == values[1]


def test_rows_of_a_group_are_left_out_together(monkeypatch):
    X, truth = clouds(60)
    groups = np.arange(60) // 3
    rows = TableRows(X, truth, groups)
    seen = []
    fit = _calibrating.fit_setting

    def watched(setting, rows, inside):
        seen.append(inside)
        return fit(setting, rows, inside)

    monkeypatch.setattr(_calibrating, "fit_setting", watched)
    left_out_decisions(rows, RIDGE)
    np.testing.assert_array_equal(np.sum(~np.array(seen), axis=0), 1)
    assert all(set(groups[inside]).isdisjoint(groups[~inside]) for inside in seen)


def test_many_labels_are_not_all_left_out(monkeypatch):
    monkeypatch.setattr(_calibrating, "ENOUGH", 50)
    X, truth = clouds(300)
    assert len(left_out_decisions(TableRows(X, truth), RIDGE)[1]) == 60


@pytest.mark.parametrize("codes", [[0, 1, -1, -1], [0, 0, 0, 1]])
def test_labels_that_cannot_be_left_out_give_the_usual_slope(codes):
    X, codes = np.array([[0.0], [1.0], [2.0], [9.0]]), np.array(codes)
    classifier = fit_setting(RIDGE, TableRows(X, codes))
    found = calibrate_fit(TableRows(X, codes), RIDGE, classifier)
    p = found.probabilities(classifier.decision_function(X))
    assert 0.05 < p.min() < p.max() < 0.95
    assert found.slope > 0.0


# -- stored -------------------------------------------------------------------------------------


def model_of(n_classes=2, **options):
    X, truth = clouds(80, n_classes)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["label"] = np.where(np.arange(80) < 30, np.array(["x", "y", "z"])[truth], None)
    return frame, fit_table(prepare(frame, "label"), folds=2, repeats=1, **options)


def test_a_stored_model_gives_the_same_probabilities():
    frame, model = model_of(method="soft", alpha=1.0, weight=0.1)
    again = loads(dumps(model))
    assert again.is_calibrated
    expected = model.calibration.probabilities(model.predict(frame).decision)
    np.testing.assert_array_equal(again.predict(frame).probabilities, expected)


@pytest.mark.parametrize(
    "changes",
    [{"slope": -1.0}, {"slope": np.inf}, {"doubt": 0.0}, {"offsets": np.zeros(3)}],
)
def test_a_file_with_a_calibration_that_makes_no_sense_is_refused(changes):
    _, model = model_of(method="ridge", alpha=1.0)
    wrong = replace(model, calibration=replace(model.calibration, **changes))
    assert model.calibration.fits(2)
    assert not wrong.calibration.fits(2)
    with pytest.raises((TableError, ValueError)):
        loads(dumps(wrong))


def test_a_file_without_a_calibration_can_be_read():
    frame, model = model_of(method="ridge", alpha=1.0)
    plain = model.to_plain()
    del plain["calibration"]
    old = type(model).from_plain(plain)
    assert not old.is_calibrated
    found = old.predict(frame)
    np.testing.assert_array_equal(found.probabilities, found.soft_labels)


def test_a_calibration_of_another_type_is_refused():
    _, model = model_of(method="ridge", alpha=1.0)
    with pytest.raises(TableError, match="calibration is of type dict"):
        replace(model, calibration={"slope": 1.0})
    assert isinstance(model.calibration, DecisionCalibration)
