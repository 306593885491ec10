"""The peers that see the labeled rows alone, and the scores of what they say."""

from __future__ import annotations

import doctest

import numpy as np
import pandas as pd
import pytest
from benchmarks.peers import draws, scoring, supervised
from benchmarks.peers.methods import METHODS, Rows
from sklearn import metrics

ALONE = [
    *("ridge_fine", "logistic", "logistic_cv", "svc", "knn"),
    *("random_forest", "extra_trees", "hist_gradient_boosting"),
]


@pytest.mark.parametrize("module", [scoring, supervised])
def test_the_examples_of_docstrings_run(module):
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)


@pytest.mark.parametrize("name", ALONE)
def test_a_supervised_peer_learns_from_twenty_labels_and_does_not_see_other_rows(name):
    rows = draws.scaled_rows(400, 20, seed=0)
    model = METHODS[name].fit(rows)
    assert (model.predict(rows.X) == rows.truth).mean() > 0.65
    few = Rows(*(array[:20] for array in (rows.X, rows.y)), rows.seed, rows.truth[:20])
    np.testing.assert_array_equal(METHODS[name].fit(few).predict(rows.X), model.predict(rows.X))
    assert not METHODS[name].uses_unlabeled


@pytest.mark.parametrize("name", ALONE)
def test_a_supervised_peer_is_fitted_with_two_labels_of_a_class(name):
    rows = draws.scaled_rows(10, 10, seed=0)
    rare = Rows(rows.X, np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1]), rows.seed, rows.truth)
    assert set(METHODS[name].fit(rare).predict(rows.X)) <= {0, 1}


@pytest.fixture
def told():
    """Return classes, predictions and probabilities of three classes; some of them are 0."""
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([0.3, 0.3, 0.3], size=500)
    probabilities[:50] = np.eye(3)[rng.integers(3, size=50)]
    return rng.integers(3, size=500), probabilities.argmax(axis=1), probabilities


def test_log_loss_is_that_of_clipped_probabilities(told):
    truth, _, probabilities = told
    expected = metrics.log_loss(truth, np.clip(probabilities, 1e-15, 1.0 - 1e-15))
    assert scoring.log_loss(truth, probabilities) == pytest.approx(expected, rel=1e-9)
    assert scoring.log_loss(np.array([1]), np.array([[1.0, 0.0]])) == pytest.approx(-np.log(1e-15))


def test_balanced_accuracy_is_the_mean_recall(told):
    truth, predicted, _ = told
    expected = metrics.balanced_accuracy_score(truth, predicted)
    assert scoring.balanced_accuracy(truth, predicted) == pytest.approx(expected)


def test_calibration_error_is_the_gap_between_confidence_and_accuracy_by_bin(told):
    truth, predicted, probabilities = told
    confidence = probabilities.max(axis=1)
    frame = pd.DataFrame({"right": predicted == truth, "said": confidence})
    bins = frame.groupby(pd.cut(confidence, np.linspace(0.0, 1.0, 16)), observed=True)
    gaps = (bins["right"].mean() - bins["said"].mean()).abs()
    found = scoring.calibration_error(truth, predicted, probabilities)
    assert found == pytest.approx((gaps * bins.size()).sum() / len(frame))


def test_without_probabilities_only_the_balanced_accuracy_is_known(told):
    truth, predicted, _ = told
    found = scoring.scores(truth, predicted, None)
    assert np.isnan([found["log_loss"], found["calibration"]]).all()
    assert found["balanced"] == pytest.approx(scoring.balanced_accuracy(truth, predicted), rel=1e-4)
