"""Labels to doubt: found, ranked, with evidence."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from semisquares import AveragedClassifier
from semisquares.labeling import doubtful_labels
from support import flipped

QUICK = AveragedClassifier("least_squares", representations="linear")
"""A classifier that is fitted in milliseconds."""


@pytest.mark.parametrize("n_classes", [2, 3])
def test_wrong_labels_come_first(n_classes):
    X, y, wrong = flipped.draw(n_classes=n_classes)
    found = doubtful_labels(QUICK, X, y)
    assert set(found.indices[: len(wrong)]) == set(wrong)
    assert (found.scores[: len(wrong)] > 0.4).all()


def test_the_default_model_finds_wrong_labels():
    X, y, wrong = flipped.draw(n=200, n_labeled=80)
    found = doubtful_labels(None, X, y)
    assert set(found.indices[: len(wrong)]) == set(wrong)


def test_only_labels_that_are_contradicted_are_doubtful_and_the_worst_come_first():
    X, y, _ = flipped.draw(distance=2.0)
    found = doubtful_labels(QUICK, X, y)
    model = AveragedClassifier(**QUICK.get_params()).fit(X, y)
    assert len(found) == np.sum(model.classes_[model.loo_proba_.argmax(axis=1)] != y[y >= 0])
    assert (np.diff(found.scores) <= 0).all()
    assert (found.likely != found.given).all()
    assert (found.given == y[found.indices]).all()
    assert (found.given_probability < found.likely_probability).all()


def test_a_fitted_model_gives_its_own_leave_one_out_probabilities():
    X, y, _ = flipped.draw()
    model = AveragedClassifier(**QUICK.get_params()).fit(X, y)
    fresh, known = doubtful_labels(QUICK, X, y), doubtful_labels(model, X, y)
    np.testing.assert_array_equal(known.indices, fresh.indices)
    np.testing.assert_array_equal(known.scores, fresh.scores)
    place = np.searchsorted(model.loo_indices_, known.indices)
    given = np.searchsorted(model.classes_, known.given)
    np.testing.assert_array_equal(known.given_probability, model.loo_proba_[place, given])


def test_an_unfitted_model_stays_unfitted():
    X, y, _ = flipped.draw()
    model = AveragedClassifier(**QUICK.get_params())
    doubtful_labels(model, X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_the_interval_holds_the_number_of_wrong_labels_in_most_tables():
    held = []
    for seed in range(20):
        X, y, wrong = flipped.draw(seed, n_flipped=3 + seed % 20, distance=2.0 + seed % 3)
        low, high = doubtful_labels(QUICK, X, y).interval
        held.append(low <= len(wrong) <= high)
    assert np.mean(held) >= 0.8


def test_wrong_labels_of_one_class_alone_are_found_and_counted():
    held = []
    for seed in range(10):
        X, y, _ = flipped.draw(seed, n_flipped=0, distance=2.5)
        wrong = np.flatnonzero(y == 1)[:12]
        y[wrong] = 0
        found = doubtful_labels(QUICK, X, y)
        held.append(found.interval[0] <= 12 <= found.interval[1])
        assert np.isin(found.indices[:12], wrong).mean() > 0.6
    assert np.mean(held) >= 0.5


def test_the_order_of_rows_does_not_matter():
    X, y, _ = flipped.draw()
    order = np.random.default_rng(1).permutation(len(y))
    found, moved = doubtful_labels(QUICK, X, y), doubtful_labels(QUICK, X[order], y[order])
    np.testing.assert_array_equal(order[moved.indices], found.indices)
    assert moved.n_expected == pytest.approx(found.n_expected, rel=1e-6)


def test_texts_and_sparse_rows_give_the_same_answer():
    X, y, _ = flipped.draw()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    words = np.where(y < 0, None, np.where(y == 0, "ham", "spam"))
    found = doubtful_labels(QUICK, X, y)
    other = doubtful_labels(QUICK, sparse.csr_array(X), words)
    np.testing.assert_array_equal(found.indices, other.indices)
    assert set(other.given) <= {"ham", "spam"}


def test_the_nearest_labeled_rows_are_the_nearest():
    X, y, _ = flipped.draw()
    found = doubtful_labels(QUICK, X, y)
    labeled = np.flatnonzero(y >= 0)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    for row, nearest in zip(found.indices, found.nearest, strict=True):
        others = labeled[labeled != row]
        distances = ((scaled[others] - scaled[row]) ** 2).sum(axis=1)
        np.testing.assert_array_equal(nearest, others[np.argsort(distances)[:5]])


def test_fewer_labeled_rows_than_neighbours_are_filled_with_minus_one():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    y = np.array([0, 0, 1, 1, 1])
    found = doubtful_labels(QUICK, X, y)
    assert 2 in found.indices
    assert (found.nearest[:, 4] == -1).all()
    assert (found.nearest[:, :4] >= 0).all()


def test_rows_of_a_group_are_left_out_together_and_are_no_evidence_for_each_other():
    """Copies in which only the noise differs would confirm the wrong label of their group."""
    X, y, wrong = flipped.draw(n_labeled=100)
    rng = np.random.default_rng(2)
    X, y, groups = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(np.arange(len(y)), 3)
    X = X + 0.01 * rng.normal(size=X.shape)
    found = doubtful_labels(QUICK, X, y, groups=groups)
    assert set(groups[found.indices[: 3 * len(wrong)]]) == set(wrong)
    assert not (groups[found.nearest] == groups[found.indices][:, None]).any()


def test_the_only_label_of_a_class_is_not_doubted():
    X, y, _ = flipped.draw()
    y[0] = 7
    found = doubtful_labels(QUICK, X, y)
    assert found.untested.tolist() == [0]
    assert 0 not in found.indices
    assert found.n_labels == np.sum(y >= 0) - 1


def test_copies_of_the_only_row_of_a_class_are_not_doubted():
    X, y, _ = flipped.draw()
    X[:3], y[:3] = X[0], 7
    assert doubtful_labels(QUICK, X, y).untested.tolist() == [0, 1, 2]


def test_copies_with_different_labels_are_evidence_for_each_other():
    X, y, _ = flipped.draw(n_flipped=0)
    X[1], y[1] = X[0], 1 - y[0]
    found = doubtful_labels(QUICK, X, y)
    assert found.indices[0] == 1
    assert found.nearest[0, 0] == 0


def test_a_model_that_was_fitted_to_other_labels_is_refused():
    X, y, _ = flipped.draw()
    model = AveragedClassifier(**QUICK.get_params()).fit(X, y)
    changed = np.where(np.arange(len(y)) == 0, 1 - y, y)
    with pytest.raises(ValueError, match=r"not the 120 labels in the 400 rows of y; fit it"):
        doubtful_labels(model, X, changed)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"model": "default"}, TypeError, "model is 'default'; give an AveragedClassifier"),
        ({"y": np.zeros(400)}, ValueError, "labels of one class only"),
        ({"y": np.full(400, -1)}, ValueError, "None of the 400 rows of y has a label"),
        ({"groups": [1, 2]}, ValueError, "groups has shape"),
    ],
)
def test_what_cannot_be_reviewed_is_refused_in_a_sentence(given, error, message):
    X, y, _ = flipped.draw()
    arguments = {"model": QUICK, "y": y, "groups": None} | given
    with pytest.raises(error, match=message):
        doubtful_labels(arguments["model"], X, arguments["y"], groups=arguments["groups"])


def test_dask_rows_are_refused():
    da = pytest.importorskip("dask.array")
    X, y, _ = flipped.draw()
    with pytest.raises(TypeError, match="needs rows in memory"):
        doubtful_labels(QUICK, da.from_array(X), y)
