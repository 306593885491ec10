"""All labelings of Gaussian classes: the best one, against brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from semisquares.baselines import all_labelings
from semisquares.baselines.all_labelings import AllLabelingsDiscriminant


def table(n_classes=2, n_unlabeled=6, d=2, seed=0, n_labeled=6):
    """Draw rows of Gaussian classes; -1 marks a missing label, the missing ones scattered."""
    rng = np.random.default_rng(seed)
    y = np.concatenate((np.arange(n_classes), rng.integers(n_classes, size=n_labeled)))
    truth = np.concatenate((y, rng.integers(n_classes, size=n_unlabeled)))
    X = 1.5 * rng.standard_normal((n_classes, d))[truth] + rng.standard_normal((len(truth), d))
    y = np.concatenate((y, np.full(n_unlabeled, -1)))
    order = rng.permutation(len(y))
    return X[order], y[order]


def log_likelihood(X, codes, n_classes, shrinkage, priors):
    """Fit Gaussian classes to labels and return their penalised log likelihood, term by term."""
    n, d = X.shape
    T = np.diag(X.var(axis=0))
    counts = np.bincount(codes, minlength=n_classes)
    shares = counts / n if priors is None else np.asarray(priors)
    rest = X - np.array([X[codes == k].mean(axis=0) for k in range(n_classes)])[codes]
    S = (rest.T @ rest + shrinkage * T) / (n + shrinkage)
    log_det = np.linalg.slogdet(S)[1]
    densities = -0.5 * (np.einsum("ij,ji->i", rest, np.linalg.solve(S, rest.T)) + log_det)
    densities -= 0.5 * d * np.log(2.0 * np.pi)
    penalty = 0.5 * shrinkage * (log_det + np.trace(np.linalg.solve(S, T)))
    return densities.sum() + np.log(shares)[codes].sum() - penalty


def brute_force(X, y, shrinkage, priors=None):
    """Fit every labeling; return the first of the best, and its log likelihood."""
    n_classes, free = y.max() + 1, np.flatnonzero(y < 0)
    labelings = list(product(range(n_classes), repeat=len(free)))
    completed = np.tile(y, (len(labelings), 1))
    completed[:, free] = labelings
    values = np.array([log_likelihood(X, c, n_classes, shrinkage, priors) for c in completed])
    return completed[np.argmax(values >= values.max() - 1e-8)], values.max()


@pytest.mark.parametrize("block", [2**14, 9, 1])
@pytest.mark.parametrize(
    ("n_classes", "n_unlabeled", "d", "shrinkage", "priors"),
    [
        (2, 7, 2, 0.0, None),
        (2, 7, 3, 1.0, [0.2, 0.8]),
        (2, 7, 2, 30.0, [0.2, 0.8]),
        (2, 6, 30, 0.5, None),
        (3, 5, 2, 1.0, None),
        (3, 4, 20, 2.0, [0.5, 0.3, 0.2]),
        (4, 4, 1, 0.0, None),
    ],
)
def test_the_labels_are_those_of_brute_force(
    monkeypatch, block, n_classes, n_unlabeled, d, shrinkage, priors
):
    monkeypatch.setattr(all_labelings, "BLOCK", block)
    for seed in range(2):
        X, y = table(n_classes, n_unlabeled, d, seed)
        model = AllLabelingsDiscriminant(shrinkage, priors=priors).fit(X, y)
        labels, value = brute_force(X, y, shrinkage, priors)
        np.testing.assert_array_equal(model.transduction_, labels)
        assert model.log_likelihood_ == pytest.approx(value, rel=1e-11)
        assert model.n_iter_ == n_classes**n_unlabeled


@settings(max_examples=25, deadline=None)
@given(
    n_classes=st.integers(2, 3),
    n_unlabeled=st.integers(0, 8),
    d=st.integers(1, 20),
    shrinkage=st.floats(0.01, 10.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_row_has_the_label_that_is_predicted_for_it(
    n_classes, n_unlabeled, d, shrinkage, seed
):
    X, y = table(n_classes, n_unlabeled, d, seed)
    model = AllLabelingsDiscriminant(shrinkage).fit(X, y)
    expected = np.where(y < 0, model.predict(X), y)
    np.testing.assert_array_equal(model.transduction_, expected)
    np.testing.assert_array_equal(model.label_distributions_, np.eye(n_classes)[expected])


@pytest.mark.parametrize("block", [2**14, 4, 1])
@pytest.mark.parametrize("seed", range(20))
def test_of_equally_likely_labelings_the_first_is_taken(monkeypatch, block, seed):
    # pairs c + x, c - x of opposite labels, and a row at c: mirrored labelings are equally likely
    monkeypatch.setattr(all_labelings, "BLOCK", block)
    half = np.random.default_rng(seed).standard_normal((5, 3))
    X = 0.7 + np.vstack((half, -half, np.zeros((1, 3))))
    y = np.array([0, 1, 1, -1, -1, 1, 0, 0, -1, -1, -1])
    model = AllLabelingsDiscriminant(1.0).fit(X, y)
    expected = brute_force(X, y, 1.0)[0]
    mirrored = 1 - expected[[8, 9, 3, 4, 10]]
    assert expected[[3, 4, 8, 9, 10]].tolist() < mirrored.tolist()
    np.testing.assert_array_equal(model.transduction_, expected)


def test_first_means_that_the_first_row_has_the_first_class():
    # of (0, 3) and (0, -3) one row is of each class: the rows of a class are then parallel
    X, y = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 3.0], [0.0, -3.0]]), [0, 1, -1, -1]
    model = AllLabelingsDiscriminant(0.1).fit(X, y)
    np.testing.assert_array_equal(model.transduction_, [0, 1, 0, 1])
    mirrored = AllLabelingsDiscriminant(0.1).fit(X[[0, 1, 3, 2]], y)
    np.testing.assert_array_equal(mirrored.transduction_, [0, 1, 0, 1])


def test_equal_priors_and_one_column_give_the_least_sum_of_squares():
    X, y = table(2, 8, 1, seed=3)
    model = AllLabelingsDiscriminant(0.0, priors=[0.5, 0.5]).fit(X, y)

    def within(labels):
        return sum(((X[labels == k] - X[labels == k].mean()) ** 2).sum() for k in (0, 1))

    completed = np.tile(y, (2**8, 1))
    completed[:, y < 0] = list(product((0, 1), repeat=8))
    assert within(model.transduction_) == pytest.approx(min(map(within, completed)), rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_rows_labeled_is_linear_discriminant_analysis(n_classes):
    X, y = table(n_classes, 0, n_labeled=30)
    model = AllLabelingsDiscriminant(0.0).fit(X, y)
    plain = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-10)
    assert model.n_iter_ == 1


@pytest.mark.parametrize(
    ("n_classes", "max_unlabeled", "fits"), [(2, 5, 5), (3, 5, 3), (4, 5, 2), (2, 0, 0)]
)
def test_more_labelings_than_the_limit_are_refused(n_classes, max_unlabeled, fits):
    model = AllLabelingsDiscriminant(max_unlabeled=max_unlabeled)
    model.fit(*table(n_classes, fits))
    message = rf"{fits + 1} unlabeled rows have {n_classes}\^{fits + 1} labelings.* give {fits} "
    with pytest.raises(ValueError, match=message):
        model.fit(*table(n_classes, fits + 1))


@pytest.mark.parametrize(
    "X",
    [
        [[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]],  # one labeling leaves no spread
        [[0.0], [1.0], [0.0], [1.0], [1e-9], [1.0]],  # one leaves a spread that is lost in rounding
        [[0.1, 0.7], [1.1, 0.3], [0.1, 0.7], [1.1, 0.3], [0.1, 0.7], [1.1, 0.3]],
        np.random.default_rng(0).standard_normal((6, 5)),  # every labeling leaves none
    ],
    ids=["points", "nearly", "pairs", "short"],
)
def test_an_unbounded_likelihood_is_answered_with_what_to_do(X):
    y = [0, 1, 0, 1, -1, -1]
    with pytest.raises(ValueError, match=r"likelihood has no maximum; pass a larger shrinkage"):
        AllLabelingsDiscriminant(0.0).fit(X, y)
    assert np.isfinite(AllLabelingsDiscriminant().fit(X, y).coef_).all()


def test_a_failed_fit_loses_nothing():
    X, y = table()
    model = AllLabelingsDiscriminant(max_unlabeled=6).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="max_unlabeled=6 allows"):
        model.fit(np.vstack((X, X)), np.tile(np.where(y < 0, None, y.astype(str)), 2))
    np.testing.assert_array_equal(model.predict(X), before)


def test_missing_values_mark_rows_as_the_marker_does():
    X, y = table()
    names = np.where(y < 0, None, np.where(y == 1, "yes", "no"))
    one, other = (AllLabelingsDiscriminant().fit(X, labels) for labels in (y, names))
    np.testing.assert_array_equal(np.where(one.transduction_, "yes", "no"), other.transduction_)
