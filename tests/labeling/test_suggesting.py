"""Suggested rows are those whose labels lower the weighted variances most."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from semisquares import AveragedClassifier, SoftLabelClassifier
from semisquares.labeling import Suggestions, _suggesting, suggest
from semisquares.representations import KernelRepresentation
from semisquares.representations._maps import laplace_kernel

QUICK = AveragedClassifier("least_squares", representations=("linear",))


def clouds(n_rows=120, n_labels=8, n_columns=3, n_classes=2, seed=0):
    """Return rows around a centre per class, and labels of the first ones."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_columns)) + 2.0 * truth[:, None]
    return X, np.where(np.arange(n_rows) < n_labels, truth, -1), truth


def similarities(X, rows, others):
    kernel = KernelRepresentation().fit(X)
    one, other = (kernel.scaling_.apply(X[some], 0) for some in (rows, others))
    return laplace_kernel(one, other, kernel.width_)


def remaining_variances(X, labeled):
    """Compute the posterior variances of all rows from scratch, given labels of some rows."""
    every = np.arange(len(X))
    prior = similarities(X, every, every)
    known = similarities(X, labeled, labeled) + _suggesting.NOISE * np.eye(len(labeled))
    across = similarities(X, labeled, every)
    return np.diag(prior - across.T @ np.linalg.inv(known) @ across)


def weights_of(X, y):
    """Return what each row counts: the more, the more uncertain it is; a labeled one nothing."""
    p = np.sort(clone(QUICK).fit(X, y).predict_proba(X), axis=1)
    margin = p[:, -1] - p[:, -2]
    floor = _suggesting.FLOOR
    weights = floor + (1.0 - floor) * (1.0 - margin) ** _suggesting.SHARPNESS
    return np.where(y < 0, weights, 0.0)


def best_by_brute_force(X, labeled, weights, y):
    """Return the row whose label lowers the weighted sum of variances most, and by how much."""
    before = weights @ remaining_variances(X, labeled)
    gains = {
        row: before - weights @ remaining_variances(X, [*labeled, row])
        for row in np.flatnonzero(y < 0)
        if row not in labeled
    }
    best = max(gains, key=gains.__getitem__)
    return best, gains[best]


def test_the_first_suggestion_lowers_the_weighted_variances_most():
    X, y, _ = clouds(n_rows=40)
    labeled, weights = list(np.flatnonzero(y >= 0)), weights_of(X, y)
    best, gain = best_by_brute_force(X, labeled, weights, y)
    found = suggest(QUICK, X, y, n=1)
    assert found.indices.tolist() == [best]
    np.testing.assert_allclose(
        found.scores, gain / (weights @ remaining_variances(X, labeled)), rtol=1e-8
    )


def test_a_batch_repeats_the_single_choice_with_the_variances_that_are_left():
    X, y, _ = clouds(n_rows=30)
    labeled, weights = list(np.flatnonzero(y >= 0)), weights_of(X, y)
    total = weights @ remaining_variances(X, labeled)
    found = suggest(QUICK, X, y, n=6)
    for row, score, novelty in zip(found.indices, found.scores, found.novelty, strict=True):
        best, gain = best_by_brute_force(X, labeled, weights, y)
        assert row == best
        np.testing.assert_allclose(score, gain / total, rtol=1e-7)
        np.testing.assert_allclose(novelty, remaining_variances(X, labeled)[row], rtol=1e-7)
        labeled.append(row)


def test_without_labels_the_rows_that_represent_the_table_come_first():
    X, _, _ = clouds(n_rows=40)
    every = np.arange(40)
    prior = similarities(X, every, every)
    drops = (prior**2).sum(axis=1) / (1.0 + _suggesting.NOISE)
    found = suggest(QUICK, X, np.full(40, -1), n=3)
    assert found.indices[0] == drops.argmax()
    np.testing.assert_allclose(found.scores[0], drops.max() / 40, rtol=1e-8)
    np.testing.assert_allclose(found.reach, prior.mean(axis=1)[found.indices])
    assert found.reasons[0] == "speaks for many others"
    assert "uncertain" not in found.reasons
    assert (found.uncertainty == 1.0).all()


def test_labels_of_one_class_make_all_rows_equally_uncertain():
    X, y, _ = clouds()
    found = suggest(QUICK, X, np.where(y == 0, 0, -1), n=5)
    assert (found.uncertainty == 1.0).all()
    assert "uncertain" not in found.reasons


def test_many_classes_of_which_some_have_a_single_label():
    X, y, _ = clouds(n_rows=200, n_labels=15, n_classes=12)
    found = suggest(QUICK, X, y, n=10)
    assert len(set(found.indices)) == 10
    assert ((found.uncertainty >= 0.0) & (found.uncertainty <= 1.0)).all()


def test_one_label_per_class_gives_no_warning():
    X, y, _ = clouds(n_labels=2)
    assert len(suggest(QUICK, X, y, n=3)) == 3


def test_a_class_without_labels_is_found_though_the_classifier_is_certain():
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [4.0, 0.0], [12.0, 0.0]], 40, axis=0)
    X = centres + rng.normal(size=(120, 2))
    y = np.full(120, -1)
    y[:10], y[40:50] = 0, 1
    found = suggest(QUICK, X, y, n=5)
    assert found.indices.max() >= 80


@pytest.mark.parametrize("n_labels", [0, 1, 8, 100])
def test_no_labeled_row_is_suggested_and_none_twice(n_labels):
    X, y, _ = clouds(n_labels=n_labels)
    found = suggest(QUICK, X, y, n=1000)
    assert sorted(found.indices) == np.flatnonzero(y < 0).tolist()
    assert len(found.scores) == len(found.reasons) == len(found) == 120 - n_labels


def test_copies_are_suggested_once_and_copies_of_labeled_rows_never():
    X, y, _ = clouds(n_rows=30)
    twice, labels = np.vstack((X, X)), np.concatenate((y, np.full(30, -1)))
    found = suggest(QUICK, twice, labels, n=1000)
    assert sorted(found.indices) == np.flatnonzero(y < 0).tolist()


def test_copies_count_as_often_as_they_occur():
    X, _, _ = clouds(n_rows=40)
    far = X[7] + 9.0
    X = np.vstack((X, np.tile(far, (80, 1))))
    assert suggest(QUICK, X, np.full(120, -1), n=1).indices.tolist() == [40]


def test_the_order_of_the_rows_does_not_matter():
    X, y, _ = clouds()
    order = np.random.default_rng(1).permutation(len(X))
    found, shuffled = suggest(QUICK, X, y, n=15), suggest(QUICK, X[order], y[order], n=15)
    np.testing.assert_array_equal(order[shuffled.indices], found.indices)
    np.testing.assert_allclose(shuffled.scores, found.scores, rtol=1e-8)
    assert shuffled.reasons == found.reasons


def test_the_order_of_the_rows_does_not_matter_in_large_tables(monkeypatch):
    monkeypatch.setattr(_suggesting, "POOL", 30)
    monkeypatch.setattr(_suggesting, "MOST_LABELED", 5)
    X, y, _ = clouds(n_labels=20)
    order = np.random.default_rng(1).permutation(len(X))
    groups = np.arange(120) % 50
    found = suggest(QUICK, X, y, n=6, groups=groups)
    shuffled = suggest(QUICK, X[order], y[order], n=6, groups=groups[order])
    np.testing.assert_array_equal(order[shuffled.indices], found.indices)


def test_the_pool_has_rows_of_as_many_groups_as_possible(monkeypatch):
    monkeypatch.setattr(_suggesting, "POOL", 10)
    X, _, _ = clouds()
    groups = np.where(np.arange(120) < 111, 0, np.arange(120))
    found = suggest(QUICK, X, np.full(120, -1), n=2, groups=groups)
    every = _suggesting._pool(np.arange(120), np.zeros(120, bool), 2, groups)[0]
    assert len(set(groups[every])) == 10
    assert len(set(groups[found.indices])) == 2


def test_sparse_rows_are_like_dense_ones():
    X, y, _ = clouds()
    X[np.abs(X) < 1.0] = 0.0
    dense, rows = suggest(QUICK, X, y, n=10), suggest(QUICK, sparse.csr_matrix(X), y, n=10)
    np.testing.assert_array_equal(rows.indices, dense.indices)
    np.testing.assert_allclose(rows.scores, dense.scores, rtol=1e-8)


def test_a_fitted_model_and_an_unfitted_one_agree():
    X, y, _ = clouds()
    found, before = suggest(QUICK, X, y, n=10), suggest(clone(QUICK).fit(X, y), X, y, n=10)
    np.testing.assert_array_equal(found.indices, before.indices)
    np.testing.assert_array_equal(found.scores, before.scores)


def test_the_model_that_is_given_is_not_changed():
    X, y, _ = clouds()
    suggest(QUICK, X, y, n=2)
    assert not hasattr(QUICK, "classes_")


def test_frames_with_names_and_text_labels():
    X, y, _ = clouds()
    frame = pd.DataFrame(X, columns=list("abc"))
    texts = pd.Series(["ham", "spam", None], dtype=object).iloc[y].reset_index(drop=True)
    fitted = clone(QUICK).fit(frame, texts)
    expected = suggest(QUICK, X, y, n=7).indices
    np.testing.assert_array_equal(suggest(QUICK, frame, texts, n=7).indices, expected)
    np.testing.assert_array_equal(suggest(fitted, frame, texts, n=7).indices, expected)


def test_the_default_model_is_the_averaged_classifier():
    X, y, _ = clouds()
    found = suggest(None, X, y, n=4)
    assert isinstance(found, Suggestions)
    np.testing.assert_array_equal(found.indices, suggest(AveragedClassifier(), X, y, n=4).indices)


@pytest.mark.parametrize("n_labels", [0, 6])
def test_one_column_and_constant_columns(n_labels):
    X, y, _ = clouds(n_columns=1, n_labels=n_labels)
    wide = np.hstack((X, np.full((120, 2), 7.0)))
    found, same = suggest(QUICK, X, y, n=8), suggest(QUICK, wide, y, n=8)
    assert len(set(found.indices)) == 8
    assert len(set(same.indices)) == 8


def test_rows_that_are_all_alike_give_one_suggestion():
    assert suggest(QUICK, np.ones((9, 2)), np.full(9, -1), n=4).indices.tolist() == [0]


def test_no_group_gets_a_second_suggestion_before_every_group_has_one():
    X, y, _ = clouds()
    groups = np.array(["a", "b", "c", "d", "e"], dtype=object)[np.arange(120) % 5]
    picked = groups[suggest(QUICK, X, y, n=10, groups=groups).indices]
    assert sorted(picked[:5]) == sorted(picked[5:]) == list("abcde")


def test_an_uncertain_row_is_suggested_for_that_reason():
    X, y, _ = clouds(n_labels=100)
    X[110] = X[y >= 0].mean(axis=0)  # between the classes
    found = suggest(QUICK, X, y, n=20)
    assert found.reasons[found.indices.tolist().index(110)] == "uncertain"


def test_a_lone_row_without_anything_like_it_is_far_from_all_labels():
    X, y, _ = clouds(n_rows=40, n_labels=36)
    X[37] += 30.0
    found = suggest(QUICK, X, y, n=4)
    assert found.reasons[found.indices.tolist().index(37)] == "far from all labels"


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"model": SoftLabelClassifier()}, TypeError, "give an AveragedClassifier, or None"),
        ({"n": 0}, ValueError, "n is 0; give the number of rows to suggest, from 1 to 1,000"),
        ({"n": True}, ValueError, "n is True; give the number"),
        ({"n": 2.5}, ValueError, "n is 2.5; give the number"),
        ({"n": 1001}, ValueError, "n is 1001; give the number"),
        ({"y": np.zeros(5)}, ValueError, "y has 5 rows but X has 120"),
        ({"y": np.arange(120) % 2}, ValueError, "Each of the 120 rows of y has a label"),
        ({"groups": np.zeros(5)}, ValueError, "groups has 5 rows but X has 120"),
        ({"groups": np.zeros((120, 2))}, ValueError, "groups has shape"),
        ({"X": np.full((120, 3), np.nan)}, ValueError, "contains NaN"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(change, error, words):
    X, y, _ = clouds()
    with pytest.raises(error, match=words):
        suggest(**{"model": QUICK, "X": X, "y": y, **change})


def test_only_copies_of_labeled_rows_are_refused():
    X = np.tile([[0.0], [1.0]], (4, 1))
    with pytest.raises(ValueError, match="are all copies of labeled rows"):
        suggest(QUICK, X, [0, 1, -1, -1, -1, -1, -1, -1])


def test_dask_is_refused():
    array = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="suggest needs rows in memory"):
        suggest(QUICK, array.zeros((4, 2)), np.full(4, -1))


def test_a_fitted_model_with_other_columns_is_refused():
    X, y, _ = clouds()
    fitted = clone(QUICK).fit(X, y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        suggest(fitted, X[:, :2], y)
