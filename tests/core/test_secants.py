"""Steps by secants, against conjugate gradients and known minima."""

import numpy as np
import pytest

from semisquares.core import linalg
from semisquares.core.solvers._secants import SecantSteps


def quadratic(n=12, condition=50.0):
    """Return a positive definite matrix, a diagonal preconditioner and a right-hand side."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(n, n)))[0]
    H = (axes * np.geomspace(1.0, condition, n)) @ axes.T
    return H, lambda r: r / H.diagonal(), rng.normal(size=n)


def descend(H, precondition, b, n_steps):
    """Return the points that steps by secants reach, from 0."""
    secants, points = SecantSteps(), [np.zeros(len(b))]
    for _ in range(n_steps):
        step = secants(H @ points[-1] - b, precondition)
        secants.add(step, H @ step)
        points.append(points[-1] + step)
    return points


@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_minima_within_the_steps_are_those_of_conjugate_gradients(n_steps):
    H, precondition, b = quadratic()
    points = descend(H, precondition, b, n_steps)
    S = np.diff(points, axis=0).T
    within = S @ np.linalg.solve(S.T @ H @ S, S.T @ b)
    found, products, _ = linalg.conjugate_gradient(
        lambda v: H @ v, b, precondition=precondition, done=lambda r: False, max_iter=n_steps
    )
    assert products == n_steps
    np.testing.assert_allclose(within, found, rtol=1e-8)


def test_the_step_after_some_others_is_the_minimum_within_them_and_a_new_direction():
    H, precondition, b = quadratic()
    points = descend(H, precondition, b, 4)
    S = np.diff(points[:4], axis=0).T
    within = S @ np.linalg.solve(S.T @ H @ S, S.T @ b)
    np.testing.assert_allclose(points[4], within - precondition(H @ within - b), rtol=1e-9)


def test_as_many_steps_as_unknowns_find_the_minimum():
    H, precondition, b = quadratic(n=6)
    np.testing.assert_allclose(descend(H, precondition, b, 8)[-1], np.linalg.solve(H, b), rtol=1e-9)


def test_matrices_are_stepped_with_as_vectors_are():
    H, precondition, b = quadratic()

    def as_vector(r):
        return precondition(r.ravel()).reshape(r.shape)

    secants, w = SecantSteps(), np.zeros((3, 4))
    for _ in range(3):
        gradient = (H @ w.ravel() - b).reshape(3, 4)
        step = secants(gradient, as_vector)
        secants.add(step, (H @ step.ravel()).reshape(3, 4))
        w = w + step
    np.testing.assert_allclose(w.ravel(), descend(H, precondition, b, 3)[-1], rtol=1e-12)


@pytest.mark.parametrize("change", [0.0, -1.0], ids=["flat", "rounding"])
def test_a_step_that_shows_no_curvature_is_forgotten(change):
    _, precondition, b = quadratic()
    secants = SecantSteps()
    secants.add(b, change * b)
    np.testing.assert_array_equal(secants(b, precondition), -precondition(b))


def test_steps_of_very_different_lengths_count_alike():
    H, precondition, b = quadratic()
    points = descend(H, precondition, b, 3)
    steps, scaled = np.diff(points, axis=0), SecantSteps()
    for step, size in zip(steps, (1e-8, 1.0, 1e8), strict=True):
        scaled.add(size * step, H @ (size * step))
    expected = descend(H, precondition, b, 4)[-1] - points[-1]
    found = scaled(H @ points[-1] - b, precondition)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
