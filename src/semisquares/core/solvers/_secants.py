"""Steps from gradients alone: what earlier steps did to the gradient tells the curvature.

A step s that changed the gradient by y tells that the curvature H takes s to y. With all earlier
steps S and changes Y, and an approximation M of H for the other directions, the next step is

    γ from S'(g - Yγ) = 0,      step = -Sγ - M⁻¹(g - Yγ)

The first part goes to the minimum of J within the steps taken so far, as far as Y tells; the second
part is a new direction. On a quadratic, the minima within the steps are those of conjugate
gradients with the preconditioner M. A product with H is not needed: each step takes one gradient,
which may be of another quadratic, if some rows change their piece. This is Anderson's acceleration
of type I, also called a multisecant method (Fang & Saad, *Two classes of multisecant methods for
nonlinear acceleration*, 2009).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._utils.typing import Array

FLAT = 1e-10
"""Combinations of steps whose curvature is less, relative to the largest, are rounding."""


class SecantSteps:
    """Steps to the minimum of a smooth, convex function.

    >>> H = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> minimum, w = np.array([1.0, -1.0]), np.zeros(2)
    >>> secants = SecantSteps()
    >>> for _ in range(4):
    ...     step = secants(H @ (w - minimum), precondition=lambda r: r / H.diagonal())
    ...     w = w + step
    ...     secants.add(step, H @ step)
    >>> w.round(9)
    array([ 1., -1.])
    """

    def __init__(self) -> None:
        self._steps: list[Array] = []
        self._changes: list[Array] = []

    def add(self, step: Array, change: Array) -> None:
        """Remember a step and the change of the gradient that it made."""
        curvature = float(np.vdot(step, change))
        if curvature > 0.0:  # otherwise, the change is rounding
            size = 1.0 / np.sqrt(curvature)
            self._steps.append(size * step)
            self._changes.append(size * change)

    def __call__(self, gradient: Array, precondition: Callable[[Array], Array]) -> Array:
        """Return the step from the point with this gradient; `precondition` solves with M."""
        if not self._steps:
            return -precondition(gradient)
        S, Y = (np.reshape(some, (len(some), -1)) for some in (self._steps, self._changes))
        g = gradient.ravel()
        inside = np.linalg.lstsq(S @ Y.T, S @ g, rcond=FLAT)[0]
        outside = (g - inside @ Y).reshape(gradient.shape)
        return -(inside @ S).reshape(gradient.shape) - precondition(outside)
