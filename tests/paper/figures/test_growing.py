"""Fits to a growing number of unlabeled rows are those of least squares on the rows themselves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from semisquares.core.curvature import fit_labeled
from semisquares.core.labelings import HardLabels, SoftLabels
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows
from semisquares.paper.figures import _growing
from semisquares.paper.figures._growing import FewRows, ManyRows, growing_rows, settle
from semisquares.paper.figures._nested import Draw, nested_weights

D, L = 6, 12
SIZES = (1, 3, 7, 8, 20, 50)
"""Up to 7, the number of weights, the rows are few."""


def problem(seed, alpha):
    """Return rows that end with a constant, labels of the first, and growing unlabeled rows."""
    rng = np.random.default_rng(seed)
    X = np.column_stack((rng.normal(size=(L + SIZES[-1], D)), np.ones(L + SIZES[-1])))
    y = rng.permutation(np.arange(len(X)) % 2).astype(float)
    rows = MemoryRows(
        DenseTable(X[:, :D]), np.arange(L), y[:L], labeled_weight=np.ones(L), intercept=True
    )
    objective = Objective(rows, SoftLabels(), alpha)
    return X, y, growing_rows(objective, fit_labeled(objective), X[L:], SIZES)


def least_squares(X, y, alpha):
    """Fit by the rows of X and one row for each penalised weight."""
    penalty = np.sqrt(alpha) * np.eye(D, D + 1)
    return np.linalg.lstsq(np.vstack((X, penalty)), np.append(y, np.zeros(D)))[0]


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_labels_of_all_rows_are_fitted_by_least_squares(alpha):
    X, y, growing = problem(0, alpha)
    for size, rows in zip(SIZES, growing, strict=True):
        w, z = rows.fit(y[L:][:size])
        assert_allclose(w, least_squares(X[: L + size], y[: L + size], alpha), atol=1e-11)
        assert_allclose(z, X[L : L + size] @ w, atol=1e-11)


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_active_rows_are_fitted_by_least_squares_however_they_change(alpha):
    X, y, growing = problem(1, alpha)
    rng = np.random.default_rng(2)
    for size, rows in zip(SIZES, growing, strict=True):
        for _ in range(3):
            piece = rng.integers(-1, 2, size=size).astype(np.int8)
            w, z = rows.fit_active(piece)
            used = np.append(np.full(L, True), piece != 0)
            labels = np.append(y[:L], piece > 0)
            expected = least_squares(X[: L + size][used], labels[used], alpha)
            assert_allclose(w, expected, atol=1e-11)
            assert_allclose(z, X[L : L + size] @ w, atol=1e-11)


def test_the_smaller_matrix_is_used():
    kinds = [type(rows) for rows in problem(0, 0.0)[2]]
    assert kinds == [FewRows] * 3 + [ManyRows] * 3


@pytest.mark.parametrize("seed", range(5))
def test_pieces_settle_at_the_minimum_over_weights_and_soft_labels(seed):
    X, y, growing = problem(seed, 0.0)
    for size, rows in zip(SIZES, growing, strict=True):
        w = settle(rows.fit_active, SoftLabels().piece, np.zeros(size))
        matrix = np.block([[X[:L], np.zeros((L, size))], [X[L : L + size], -np.eye(size)]])
        target = np.append(y[:L], np.zeros(size))
        least = np.append(np.full(D + 1, -np.inf), np.zeros(size))
        most = np.append(np.full(D + 1, np.inf), np.ones(size))
        expected = lsq_linear(matrix, target, (least, most), method="bvls", tol=1e-14).x[: D + 1]
        assert_allclose(w, expected, atol=1e-7)


def test_hard_labels_settle_where_refitting_changes_none():
    X, y, growing = problem(3, 0.0)
    for size, rows in zip(SIZES, growing, strict=True):
        w = settle(rows.fit, HardLabels().impute, np.linspace(0, 1, size))
        labels = np.append(y[:L], X[L : L + size] @ w > 0.5)
        assert_allclose(w, least_squares(X[: L + size], labels, 0.0), atol=1e-11)


def test_states_that_keep_changing_do_not_settle():
    assert settle(lambda state: (state, 1.0 - state), np.copy, np.zeros(2)) is None


def test_fits_that_do_not_settle_are_left_to_the_solvers(monkeypatch):
    X, y, _ = problem(4, 0.0)
    methods = ("soft", "hard", "hard_from_soft")
    expected = nested_weights(Draw(X, y, L), SIZES, methods)
    monkeypatch.setattr(_growing, "MAX_STEPS", 0)
    found = nested_weights(Draw(X, y, L), SIZES, methods)
    for method in methods:
        assert_allclose(found[method], expected[method], atol=1e-10)


def test_a_matrix_without_digits_ends_the_fits():
    rows = ManyRows(-np.eye(2), np.zeros(2))
    assert settle(rows.fit_active, SoftLabels().piece, np.zeros(0)) is None
