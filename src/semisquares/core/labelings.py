"""Labelings (§IV): how a missing label is filled in, given the decision value of its row.

A labeling is a rule `impute` and its derivative, side by side. Minimising the labels out of the
paper's objectives leaves, for every unlabeled row, the squared distance between its decision value
z and ``impute(z)``:

====================  ==================================  =============================
labeling              impute(z)                           objective
====================  ==================================  =============================
`SoftLabels`          clip(z, 0, 1)                       J_l, label based (§IV-A)
`HardLabels`          1[z > ½]                            J_r, responsibility based (§IV-B)
`DialLabels(tau)`     clip((z - τ/2) / (1-τ), 0, 1)       J_l + τ Σ u(1-u): between the two
`FreeLabels`          z                                   missing outcomes (Yates 1933)
`SimplexLabels`       projection on the simplex           J_l for more than two classes
`ArgmaxLabels`        one-hot of the largest value        J_r for more than two classes
`SimplexDialLabels`   projection of z / (1-τ)             between those two
====================  ==================================  =============================

Decision values have the shape ``(rows, ...)``; labelings for more than two classes take the last
axis as the classes, the others work value by value.

Each rule is affine on **pieces**: `piece` returns the piece of a row, and `curve` multiplies by the
curvature there, ``v - impute'(z) v``. While no row changes its piece, the objective is a single
quadratic, which is what the Newton solver relies on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from .._utils.typing import Array

GATHERED = 4
"""Rows whose support is not settled yet are copied if they are at most 1/4 of all."""

LARGE = 16.0
"""Labels lose digits if decision values of their supports are larger, unless they are shifted."""

CACHED_VALUES = 1 << 19
"""Labels with about this many values are computed, or read, at a time."""

Borders = Mapping[float, tuple[int, int]]
"""Decision values at which two pieces meet, each with the pieces below and above."""


class Labeling(Protocol):
    """A rule that fills in the labels of rows from their decision values."""

    per_class: ClassVar[bool]
    """Whether the last axis of the decision values is the classes."""

    def impute(self, z: Array) -> Array:
        """Return the label of lowest cost at decision value z."""

    def penalty(self, u: Array) -> Array:
        """Return the cost of label u besides its squared distance to z, row by row."""


class ConvexLabeling(Labeling, Protocol):
    """A labeling whose objective is convex: it has pieces, a curvature and a dual."""

    pinned: ClassVar[int]
    """The piece of labeled rows: full curvature. Piece 0 has no curvature (two classes)."""

    @property
    def borders(self) -> Borders:
        """Where pieces meet; empty if they do not meet in single values."""

    def piece(self, z: Array) -> Array:
        """Return the affine piece of `impute` that each row is on."""

    def curve(self, piece: Array, v: Array) -> Array:
        """Multiply by the curvature on the pieces: ``v - impute'(z) v``."""

    def support(self, theta: Array) -> Array:
        """Return the support function of the label set, ``max_u θ'u``, row by row."""


@dataclass(frozen=True)
class SoftLabels:
    """Labels in [0, 1]: the decision value, clipped (§IV-A)."""

    per_class: ClassVar[bool] = False
    pinned: ClassVar[int] = 2
    borders: ClassVar[Borders] = {0.0: (-1, 0), 1.0: (0, 1)}

    def impute(self, z: Array) -> Array:
        return z.clip(0.0, 1.0)

    def penalty(self, u: Array) -> Array:
        return np.zeros(u.shape)

    def piece(self, z: Array) -> Array:
        # -1 below 0, 0 inside, +1 above 1
        return (z > 1.0).view(np.int8) - (z < 0.0).view(np.int8)

    def curve(self, piece: Array, v: Array) -> Array:
        return np.where(piece != 0, v, 0.0)

    def support(self, theta: Array) -> Array:
        return np.maximum(theta, 0.0)


@dataclass(frozen=True)
class FreeLabels:
    """Labels without bounds: a missing outcome takes the value of its own prediction (§II-B)."""

    per_class: ClassVar[bool] = False
    pinned: ClassVar[int] = 2
    borders: ClassVar[Borders] = {}

    def impute(self, z: Array) -> Array:
        return z.copy()

    def penalty(self, u: Array) -> Array:
        return np.zeros(u.shape)

    def piece(self, z: Array) -> Array:
        return np.zeros(z.shape, dtype=np.int8)

    def curve(self, piece: Array, v: Array) -> Array:
        return np.where(piece != 0, v, 0.0)

    def support(self, theta: Array) -> Array:
        return np.where(theta == 0.0, 0.0, np.inf)


@dataclass(frozen=True)
class HardLabels:
    """Labels 0 or 1: a row is class 1 if its decision value is greater than ½ (§IV-B)."""

    per_class: ClassVar[bool] = False

    def impute(self, z: Array) -> Array:
        return (z > 0.5).astype(np.float64)

    def penalty(self, u: Array) -> Array:
        return u * (1.0 - u)


@dataclass(frozen=True)
class DialLabels:
    """Labels between soft (τ = 0) and hard (τ → 1): the minimiser of (z-u)² + τ u(1-u)."""

    tau: float
    per_class: ClassVar[bool] = False

    def impute(self, z: Array) -> Array:
        return np.clip((z - 0.5 * self.tau) / (1.0 - self.tau), 0.0, 1.0)

    def penalty(self, u: Array) -> Array:
        return self.tau * u * (1.0 - u)


def project_simplex(z: Array, support: Array | None = None) -> Array:
    """Project the last axis onto the probability simplex: ``max(z - t, 0)`` that sums to 1.

    `support` predicts the classes with a share of the label, as in `simplex_threshold`.

    >>> project_simplex(np.array([[0.2, 0.9, 0.5], [3.0, 0.0, 0.0]])).round(3)
    array([[0. , 0.7, 0.3],
           [1. , 0. , 0. ]])
    """
    z = z - z.max(axis=-1, keepdims=True)  # now t is in [-1, 0), whatever the size of z
    rows = z.reshape(-1, z.shape[-1])
    if support is None:
        support = np.ones(rows.shape, dtype=bool, order="F")
    t, _ = simplex_threshold(rows, support.reshape(rows.shape))
    return np.maximum(z - t.reshape(z.shape[:-1])[..., None], 0.0)


def simplex_threshold(z: Array, support: Array) -> tuple[Array, Array]:
    """Return t with ``Σ max(z - t, 0) = 1`` for each row, and its support, the classes with z > t.

    The classes S of the support determine ``t = (Σ z - 1) / |S|``, and t determines S. Going from
    one to the other is Newton's method for the sum, which is convex and decreasing in t: after the
    first step t only increases, so S only shrinks, until it stays the same. It starts at the
    `support` that is predicted, and ends there in all rows for which the prediction is right. A row
    that is predicted to have no support, a labeled one, has none.
    """
    t, new = _newton_threshold(z, support)
    empty = np.flatnonzero(~new.any(axis=1))
    lost = empty[support[empty].any(axis=1)]
    if len(lost):  # z is so large that z - 1 was rounded to z
        rows = z[lost]
        top = rows.max(axis=1)
        low, kept = _newton_threshold(rows - top[:, None], np.ones(rows.shape, dtype=bool))
        t[lost] = np.minimum(low + top, np.where(kept, rows, np.inf).min(axis=1))
        new[lost] = kept
    return t, new


def _newton_threshold(z: Array, support: Array) -> tuple[Array, Array]:
    """Find t as `simplex_threshold` does; a row loses its support if rounding puts t above z."""
    shrinks = False
    while True:
        size = support_sizes(support)
        t = np.multiply(z, support).sum(axis=1)
        t -= 1.0
        with np.errstate(divide="ignore"):
            t /= size
        t[size == 0] = np.inf
        new = z > t[:, None]
        if shrinks:  # rounding must not bring a class back
            new &= support
        changed = np.flatnonzero((new != support).any(axis=1))
        if not len(changed):
            return t, new
        if GATHERED * len(changed) <= len(z):
            break
        support, shrinks = new, True
    columns, kept = z.T.take(changed, axis=1), new.T.take(changed, axis=1)
    t[changed], new[changed] = _newton_threshold(columns.T, kept.T)
    return t, new


def support_sizes(support: Array) -> Array:
    """Return the number of classes in the support of each row; bytes are added fastest."""
    narrow = np.int8 if support.shape[1] < 128 else np.int32
    return np.add.reduce(support.view(np.int8), axis=1, dtype=narrow)


def soft_labels(z: Array, piece: Array | None = None, out: Array | None = None) -> Array:
    """Return the soft labels for decision values z, one column per class.

    With more than two classes, pieces that are known from a sweep save time, and so does writing
    the labels to `out`, which may be z itself.

    >>> soft_labels(np.array([-0.3, 0.25, 1.2]))
    array([[1.  , 0.  ],
           [0.75, 0.25],
           [0.  , 1.  ]])
    """
    if z.ndim == 2:
        u = np.empty_like(z) if out is None else out
        step = max(1, CACHED_VALUES // z.shape[1])
        for start in range(0, len(z), step):  # temporary arrays stay in the cache
            part = slice(start, start + step)
            if piece is None:
                u[part] = project_simplex(z[part])
            else:
                _label_supports(z[part], piece[part], u[part])
        return u
    u = np.empty((len(z), 2))
    np.clip(z, 0.0, 1.0, out=u[:, 1])
    np.subtract(1.0, u[:, 1], out=u[:, 0])
    return u


def _label_supports(z: Array, support: Array, out: Array) -> None:
    """Write soft labels with known supports; rows without a support get no label."""
    size = support_sizes(support)
    t = (np.multiply(z, support).sum(axis=1) - 1.0) / np.maximum(size, 1)
    if not np.abs(t[size > 0]).max(initial=0.0) <= LARGE:
        out[:] = project_simplex(z, support)
        return
    t[size == 0] = np.inf
    np.subtract(z, t[:, None], out=out)
    np.maximum(out, 0.0, out=out)


def largest_class(values: Array) -> Array:
    """Return the class with the largest value in each row, the first of several.

    `argmax` copies values in Fortran order row by row; parts of them stay in the cache.

    >>> largest_class(np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]]))
    array([1, 0])
    """
    found = np.empty(len(values), dtype=np.intp)
    step = max(1, CACHED_VALUES // values.shape[1])
    for start in range(0, len(values), step):
        values[start : start + step].argmax(axis=1, out=found[start : start + step])
    return found


@dataclass(frozen=True)
class SimplexLabels:
    """Labels on the probability simplex: soft labels for any number of classes."""

    per_class: ClassVar[bool] = True
    pinned: ClassVar[int] = 0
    borders: ClassVar[Borders] = {}

    def impute(self, z: Array) -> Array:
        return project_simplex(z)

    def penalty(self, u: Array) -> Array:
        return np.zeros(u.shape[:-1])

    def piece(self, z: Array) -> Array:
        # the support of the label: its classes with u > 0
        return project_simplex(z) > 0.0

    def residual(self, z: Array, predicted: Array | None = None) -> tuple[Array, Array]:
        """Return z - impute(z) and the pieces; right predictions of these save most of the time."""
        if predicted is None:
            predicted = np.ones(z.shape, dtype=bool, order="F")
        t, piece = simplex_threshold(z, predicted)
        return np.minimum(z, t[:, None]), piece

    def curve(self, piece: Array, v: Array) -> Array:
        # impute' is v - mean of v over the support, on the support, and 0 elsewhere
        # (products with 0 and 1 take half the time of np.where, and give the same bits)
        inside = piece.astype(v.dtype)
        changed = inside * v
        mean = changed.sum(axis=1)
        mean /= np.maximum(support_sizes(piece), 1)
        np.subtract(v, changed, out=changed)
        inside *= mean[:, None]
        changed += inside
        return changed

    def support(self, theta: Array) -> Array:
        return theta.max(axis=-1)


@dataclass(frozen=True)
class ArgmaxLabels:
    """One-hot labels of the largest decision value: hard labels for any number of classes."""

    per_class: ClassVar[bool] = True

    def impute(self, z: Array) -> Array:
        u = np.zeros(z.shape)
        np.put_along_axis(u, z.argmax(axis=-1)[..., None], 1.0, axis=-1)
        return u

    def penalty(self, u: Array) -> Array:
        return (u * (1.0 - u)).sum(axis=-1)


@dataclass(frozen=True)
class SimplexDialLabels:
    """Labels between the simplex (τ = 0) and the argmax (τ → 1)."""

    tau: float
    per_class: ClassVar[bool] = True

    def impute(self, z: Array) -> Array:
        return project_simplex(z / (1.0 - self.tau))

    def penalty(self, u: Array) -> Array:
        return self.tau * (u * (1.0 - u)).sum(axis=-1)


def soft(n_classes: int) -> SoftLabels | SimplexLabels:
    """Return the soft labeling for a number of classes."""
    return SoftLabels() if n_classes == 2 else SimplexLabels()


def hard(n_classes: int) -> HardLabels | ArgmaxLabels:
    """Return the hard labeling for a number of classes."""
    return HardLabels() if n_classes == 2 else ArgmaxLabels()


def dial(n_classes: int, tau: float) -> Labeling:
    """Return the labeling at τ in [0, 1], between soft and hard."""
    if tau >= 1.0:
        return hard(n_classes)
    return DialLabels(tau) if n_classes == 2 else SimplexDialLabels(tau)
