"""What a model says while labels come in."""

import threading

import numpy as np
import pytest
from sklearn.base import clone

from semisquares import AveragedClassifier
from semisquares.labeling import _updates, doubtful_labels
from semisquares.labeling._session import LabelingSession
from semisquares.labeling._updates import (
    AccuracyEstimate,
    SameProcess,
    Update,
    Updater,
    advise,
    codes_of,
    find_update,
    wilson,
)
from support.command_line import PATIENCE

QUICK = AveragedClassifier("least_squares", representations=["linear"])


def rows(n_rows=200, n_labeled=40, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_rows)
    X = rng.normal(size=(n_rows, 4))
    X[:, 0] += 2.0 * truth
    return X, np.where(np.arange(n_rows) < n_labeled, truth, -1), truth


def test_wilson_is_the_interval_that_score_tests_do_not_reject():
    low, high = wilson(7, 20)
    for bound in (low, high):
        z = (7 / 20 - bound) / np.sqrt(bound * (1 - bound) / 20)
        assert abs(z) == pytest.approx(_updates.Z)
    assert wilson(0, 5)[0] == 0.0
    assert wilson(5, 5)[1] == 1.0


def test_accuracy_is_that_of_leaving_out_representative_rows():
    X, codes, _ = rows()
    chosen = list(range(0, 40, 3))
    found = find_update(X, codes, ["a", "b"], model=QUICK, representative=chosen)
    fitted = AveragedClassifier("least_squares", representations=["linear"]).fit(X, codes)
    right = (fitted.loo_proba_.argmax(axis=1) == codes[:40])[chosen]
    assert found.measurement == AccuracyEstimate(40, 14, right.mean(), *wilson(right.sum(), 14))


def test_a_worker_learns_once_from_the_rows():
    X, codes, truth = rows()
    worker = SameProcess(X)
    task = {"codes": codes, "classes": ["a", "b"], "with_gain": False}
    worker.find(task)
    before = worker._model.average_.learned.representations["kernel, p = 0"]
    found = worker.find({**task, "codes": np.where(np.arange(200) < 60, truth, -1)})
    assert worker._model.average_.learned.representations["kernel, p = 0"] is before
    assert found.n_labels == 60


def test_accuracy_is_measured_against_other_labels_if_they_are_given():
    X, codes, _ = rows()
    before = codes.copy()
    before[[0, 3]] = 1 - before[[0, 3]]
    chosen = list(range(0, 40, 3))
    found = find_update(X, codes, "ab", model=QUICK, representative=chosen, measured_codes=before)
    fitted = AveragedClassifier("least_squares", representations=["linear"]).fit(X, codes)
    right = (fitted.loo_proba_.argmax(axis=1) == before[:40])[chosen]
    assert found.measurement == AccuracyEstimate(40, 14, right.mean(), *wilson(right.sum(), 14))


def test_doubts_are_those_of_doubtful_labels_and_come_instead_of_suggestions():
    X, codes, _ = rows()
    groups = np.arange(200) // 2
    found = find_update(X, codes, "ab", model=QUICK, groups=groups, with_doubts=True)
    expected = doubtful_labels(clone(QUICK), X, codes, groups=groups)
    assert len(expected)
    np.testing.assert_array_equal(found.doubtful.indices, expected.indices)
    np.testing.assert_array_equal(found.doubtful.nearest, expected.nearest)
    assert (list(found.suggested), found.gain) == ([], None)
    assert find_update(X, codes, "ab", model=QUICK).doubtful is None


def test_there_is_no_accuracy_without_representative_rows():
    X, codes, _ = rows()
    assert find_update(X, codes, ["a", "b"], model=QUICK).measurement is None


def test_suggested_and_upcoming_rows_get_a_guess():
    X, codes, truth = rows()
    found = find_update(X, codes, ["a", "b"], model=QUICK, upcoming=[150, 151])
    assert set(found.guesses) == {*found.suggested, 150, 151}
    assert set(found.reasons) == set(found.suggested)
    assert len(found.suggested) == _updates.BATCH
    every = find_update(X, codes, ["a", "b"], model=QUICK, upcoming=range(200)).guesses
    right = [every[row].label == "ab"[truth[row]] for row in range(200)]
    assert np.mean(right) > 0.75
    assert all(0.5 <= guess.probability <= 1.0 for guess in every.values())


@pytest.mark.parametrize("n_classes", [0, 1])
def test_rows_are_suggested_before_there_are_two_classes(n_classes):
    X, _, _ = rows()
    codes = np.full(200, -1)
    codes[: 3 * n_classes] = 0
    found = find_update(X, codes, ["a", "b"], model=QUICK)
    assert len(found.suggested) == _updates.BATCH
    assert min(found.suggested) >= 3 * n_classes
    assert (found.measurement, found.gain, dict(found.guesses)) == (None, None, {})


def test_nothing_is_suggested_when_all_rows_are_labeled():
    X, _, truth = rows()
    assert list(find_update(X, truth, ["a", "b"], model=QUICK).suggested) == []


def test_the_gain_of_more_labels_falls_as_labels_come_in():
    gains = []
    for n_labeled in (30, 1500):
        X, codes, _ = rows(2000, n_labeled, n_classes=3)
        X = np.hstack((X, np.random.default_rng(1).normal(size=(2000, 20))))
        gains.append(find_update(X, codes, list("abc"), model=QUICK).gain)
    assert 0.0 <= gains[1] < 0.001 < gains[0] < 0.2


def test_more_labels_bring_no_more_than_the_error_that_is_left():
    X, codes, truth = rows(n_labeled=120)
    X[:, 0] += 6.0 * truth  # the classes are far apart
    found = find_update(X, codes, ["a", "b"], model=QUICK, representative=range(120))
    assert found.measurement.accuracy == 1.0
    assert 0.0 <= found.gain <= (1.0 + 1e-9) * 0.5 / 121 * 10 / 130


def test_there_is_no_gain_from_few_labels():
    X, codes, _ = rows(n_labeled=19)
    assert find_update(X, codes, ["a", "b"], model=QUICK).gain is None


def test_halves_do_not_split_a_group():
    groups = np.arange(60) // 6
    halves = _updates._halves(np.arange(60) % 2, groups)
    assert all(len(set(halves[groups == group])) == 1 for group in range(10))
    assert abs(halves.mean() - 0.5) < 0.01


def test_the_feature_that_decides_is_the_strongest():
    X, codes, _ = rows()
    X[:, 3] = 1.0
    strength = find_update(X, codes, ["a", "b"], model=QUICK).strength
    assert strength.argmax() == 0
    assert strength[3] == 0.0


@pytest.mark.parametrize(
    ("n_labeled", "counts", "gains", "code"),
    [
        (50, {"a": 25, "b": 25}, [], "done"),
        (10, {"a": 10, "b": 0}, [], "classes"),
        (19, {"a": 10, "b": 9}, [0.0, 0.0], "early"),
        (30, {"a": 15, "b": 15}, [], "early"),
        (30, {"a": 15, "b": 15}, [0.0], "go_on"),
        (30, {"a": 15, "b": 15}, [0.0, 0.0], "stop"),
        (30, {"a": 15, "b": 15}, [0.0, 0.01], "go_on"),
    ],
)
def test_advice(n_labeled, counts, gains, code):
    assert advise(n_labeled, 50, counts, gains).code == code


def test_codes_are_places_in_the_classes():
    assert codes_of(["b", None, "a"], ["a", "b"]).tolist() == [1, -1, 0]


# -- the thread -----------------------------------------------------------------------------------


def session_of(codes):
    return LabelingSession([None if code < 0 else "ab"[code] for code in codes])


def test_the_thread_installs_what_it_finds_after_each_answer():
    X, codes, _ = rows()
    session = session_of(codes)
    updater = Updater(session, SameProcess(X, model=QUICK))
    updater.start()
    assert updater.wait(PATIENCE)
    assert session.update.n_labels == 40
    session.answer(session.current.row, "label", "a", turn=0)
    updater.request()
    assert updater.wait(PATIENCE)
    assert session.update.n_labels == 41
    assert session.measurements[-1].n_labels == 41
    assert len(updater.gains) >= 1
    updater.stop()


def test_answers_do_not_wait_for_the_model(monkeypatch):
    """The thread is held in a fit while ten rows are answered."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(*args, **options):
        begun.set()
        assert go_on.wait(PATIENCE)
        return Update(0)

    monkeypatch.setattr(_updates, "find_update", slow)
    X, codes, _ = rows()
    session = session_of(codes)
    updater = Updater(session, SameProcess(X))
    updater.start()
    assert begun.wait(PATIENCE)
    for _ in range(10):
        session.answer(session.current.row, "label", "a", turn=session.turn)
        updater.request()
    assert session.n_labeled == 50
    assert session.update is None
    go_on.set()
    assert updater.wait(PATIENCE)
    updater.stop()


def test_a_fit_that_fails_is_reported_and_labeling_goes_on(monkeypatch):
    def fail(*args, **options):
        raise ValueError("cannot\nfit")

    monkeypatch.setattr(_updates, "find_update", fail)
    X, codes, _ = rows()
    session = session_of(codes)
    updater = Updater(session, SameProcess(X))
    updater.start()
    assert updater.wait(PATIENCE)
    assert session.update.failure == "cannot fit"
    assert session.current is not None
    updater.stop()
