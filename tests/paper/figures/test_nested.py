"""All methods on nested sets of unlabeled rows give the same fits as from scratch."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from semisquares import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from semisquares.core.curvature import fit_labeled
from semisquares.core.labelings import SoftLabels
from semisquares.paper.figures import FIGURES
from semisquares.paper.figures import fig6_learning_curves as fig6
from semisquares.paper.figures._descent import descend, descend_once
from semisquares.paper.figures._nested import METHODS, Draw, authors_solution, nested_weights
from semisquares.paper.figures._protocol import error_and_loss
from semisquares.paper.objectives import J_l

SIZES = (2, 4, 8, 16, 32, 64)


def drawn(seed, *, n_labeled=14, d=5, alpha=0.0, free_intercept=True, rank=None):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(100) % 2).astype(float)
    y[:2] = 0.0, 1.0
    X = rng.normal(size=(100, d)) + np.outer(y, np.linspace(0.2, 1.0, d))
    if rank is not None:
        X = X[:, :rank] @ rng.normal(size=(rank, d))
    X = np.column_stack((X, np.ones(100)))
    return Draw(X, y, n_labeled, alpha, as_authors=not free_intercept)


def estimator_weights(model, draw, size):
    """Fit a classifier to the same rows; return weights in the paper's scale, intercept last."""
    n = draw.n_labeled + size
    y = np.where(np.arange(n) < draw.n_labeled, draw.y[:n], -1).astype(int)
    model.fit(draw.features[:n], y)
    if not draw.free_intercept:
        return model.coef_.ravel()
    return np.append(model.coef_.ravel(), model.intercept_ + 0.5)


@pytest.mark.parametrize("max_steps", [1, 16, 17, 50, 51, 52, 53, 100, 1000])
@pytest.mark.parametrize("n_unlabeled", [3, 6, 7, 60])  # with 6 columns
def test_one_run_ends_where_it_does_among_many(n_unlabeled, max_steps):
    draw = drawn(0)
    rows = draw.X[: 14 + n_unlabeled]
    rows = rows @ np.linalg.eigh(rows.T @ rows)[1]
    starts = np.random.default_rng(1).uniform(size=(n_unlabeled, 3))
    options = {"tol": 1e-8, "max_steps": max_steps}
    given = rows[:14], draw.y[:14], rows[14:]
    expected = descend(*given, starts, SoftLabels(), **options)
    for k in range(3):
        found = descend_once(*given, starts[:, k], SoftLabels(), **options)
        assert_allclose(found, expected.weights[:, k], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_leaps_are_taken_but_miss_neither_a_piece_nor_the_end(seed, monkeypatch):
    draw = drawn(seed, n_labeled=8)
    rows = draw.X @ np.linalg.eigh(draw.X.T @ draw.X)[1]
    labels = np.full((92, 1), 0.5)
    given, options = (rows[:8], draw.y[:8], rows[8:]), {"tol": 1e-8, "max_steps": 3000}
    expected = descend(*given, labels, SoftLabels(), **options)
    calls, impute = [], SoftLabels.impute
    monkeypatch.setattr(SoftLabels, "impute", lambda self, z: calls.append(0) or impute(self, z))
    found = descend_once(*given, labels[:, 0], SoftLabels(), **options)
    assert len(calls) < expected.steps[0]
    assert_allclose(found, expected.weights[:, 0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("free_intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_nested_fits_are_those_of_the_estimators_one_by_one(seed, free_intercept, alpha):
    draw = drawn(seed, alpha=alpha, free_intercept=free_intercept)
    found = nested_weights(draw, SIZES)
    options = {"alpha": alpha, "fit_intercept": free_intercept}
    models = {
        "supervised": LeastSquaresClassifier(**options),
        "soft": SoftLabelClassifier(**options),
        "hard": HardLabelClassifier(**options),
    }
    for k, size in enumerate(SIZES):
        for method, model in models.items():
            assert_allclose(
                found[method][k], estimator_weights(model, draw, size), rtol=1e-8, atol=1e-10
            )


@pytest.mark.parametrize("seed", range(4))
def test_with_few_labels_every_soft_fit_is_of_least_norm(seed):
    draw = drawn(seed, n_labeled=4, d=8)
    found = nested_weights(draw, SIZES)["soft"]
    for k, size in enumerate(SIZES):
        model = SoftLabelClassifier(alpha=0)
        assert_allclose(found[k], estimator_weights(model, draw, size), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rank", [3, None])
@pytest.mark.parametrize("free_intercept", [True, False])
def test_the_oracle_is_least_squares_with_all_labels_and_a_free_intercept(free_intercept, rank):
    draw = drawn(1, free_intercept=free_intercept, rank=rank)
    found = nested_weights(draw, SIZES)["oracle"]
    for k, size in enumerate(SIZES):
        n = draw.n_labeled + size
        X, y = draw.X[:n, :-1], draw.y[:n]
        w = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-10) @ (y - y.mean())
        assert_allclose(found[k], np.append(w, y.mean() - X.mean(axis=0) @ w), atol=1e-9)


def test_the_constant_counts_in_the_norm_where_it_is_a_feature():
    draw = drawn(2, n_labeled=4, d=8, free_intercept=False)
    found = nested_weights(draw, (2,), ("supervised",))["supervised"][0]
    assert_allclose(found, np.linalg.pinv(draw.X[:4]) @ draw.y[:4], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_with_few_labels_the_authors_soft_labels_are_where_their_iteration_ends(seed):
    draw = drawn(seed, n_labeled=4, d=8, free_intercept=False)
    found = nested_weights(draw, SIZES, ("soft", "supervised"))
    for w, supervised, size in zip(found["soft"], found["supervised"], SIZES, strict=True):
        X_u = draw.X[4 : 4 + size]
        pinv = np.linalg.pinv(draw.X[: 4 + size])
        u = np.clip(X_u @ supervised, 0, 1)
        for _ in range(1000):
            expected = pinv @ np.append(draw.y[:4], u)
            before, u = u, np.clip(X_u @ expected, 0, 1)
            if np.abs(u - before).sum() <= 1e-8:
                break
        assert_allclose(w, expected, atol=1e-8)


def test_on_transfusion_errors_have_settled_after_1000_steps_of_the_authors_iteration():
    settings = FIGURES["fig6"].settings("authors")
    errors = []
    for repeat in range(20):
        draw = fig6.draw_repeat(settings, "Transfusion", repeat)
        n_train = draw.n_labeled + 512
        objective = draw.objective(512)
        start = fit_labeled(objective)
        ends = [authors_solution(objective, start, max_steps=steps) for steps in (30, 1000, 10_000)]
        errors.append([error_and_loss(draw.X[n_train:], draw.y[n_train:], w)[0] for w in ends])
    early, settled, late = np.mean(errors, axis=0)
    assert abs(settled - late) < 0.002  # the standard error of a published point
    assert abs(early - late) > 0.002


@pytest.mark.parametrize("seed", range(4))
def test_hard_labels_from_the_soft_solution_end_where_the_estimator_does(seed):
    draw = drawn(seed)
    found = nested_weights(draw, SIZES, ("hard_from_soft",))["hard_from_soft"]
    for k, size in enumerate(SIZES):
        model = HardLabelClassifier(alpha=0, init="soft")
        assert_allclose(found[k], estimator_weights(model, draw, size), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_more_unlabeled_rows_never_lower_the_least_J(seed):
    draw = drawn(seed)
    soft = nested_weights(draw, SIZES)["soft"]
    L = draw.n_labeled
    values = [
        J_l(w, np.clip(X_u @ w, 0, 1), draw.X[:L], draw.y[:L], X_u)
        for w, X_u in ((w, draw.X[L : L + size]) for w, size in zip(soft, SIZES, strict=True))
    ]
    assert (np.diff(values) >= -1e-10).all()
    assert set(nested_weights(draw, SIZES)) == set(METHODS)
