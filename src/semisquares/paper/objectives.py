"""The objectives of Krijthe & Loog (2016), §III, §IV and §VI, with their derivatives.

For readers and tests, not for solvers. Letters are the paper's; `alpha` is its λ. ``X_e`` is
[X; X_u], ``z = X_u w``, and an intercept is a constant column. All objectives are quadratic, so
Hessians are constant. `grad_J_r`, `hessian_J_l` and `hessian_J_r` correct and name printed errors.

The examples are Figure 3: x = -1, 1 labeled 0, 1, and x = -1, 4 unlabeled; w = (intercept, slope)
is (1/2, 1/2) supervised, (23/67, 14/67) after one soft step and (8/19, 7/38) in the limit.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vec = ArrayLike
Mat = ArrayLike
Diag = ArrayLike | None
Array = NDArray[np.float64]


def J_s(w: Vec, X: Mat, y: Vec, alpha: float = 0.0, *, penalty_diag: Diag = None) -> float:
    """Evaluate the supervised objective (§III): ``J_s(w) = ‖Xw − y‖² + λ w'Dw``.

    >>> J_s([1/2, 1/2], X=[[1, -1], [1, 1]], y=[0, 1], alpha=4)
    2.0

    Parameters
    ----------
    w, X, y : array-like of shapes (d,), (L, d), (L,)
    alpha : float
    penalty_diag : (d,), the diagonal of D, 0 for an unpenalised weight; None is the paper's ‖w‖²
    """
    w, X, y = _floats(w, X, y)
    residual = X @ w - y
    return float(residual @ residual + alpha * (_diagonal(X, penalty_diag) @ w**2))


def grad_J_s(w: Vec, X: Mat, y: Vec, alpha: float = 0.0, *, penalty_diag: Diag = None) -> Array:
    """Differentiate `J_s`: ``2X'(Xw − y) + 2λDw``, zero at the paper's closed form.

    >>> grad_J_s([1/2, 1/2], X=[[1, -1], [1, 1]], y=[0, 1])
    array([0., 0.])
    """
    w, X, y = _floats(w, X, y)
    return 2 * X.T @ (X @ w - y) + 2 * alpha * _diagonal(X, penalty_diag) * w


def hessian_J_s(X: Mat, alpha: float = 0.0, *, penalty_diag: Diag = None) -> Array:
    """Differentiate `grad_J_s`: ``2X'X + 2λD``, positive semi-definite.

    >>> hessian_J_s([[1, -1], [1, 1]], alpha=1, penalty_diag=[0, 1]).tolist()
    [[4.0, 0.0], [0.0, 6.0]]
    """
    (X,) = _floats(X)
    return 2 * X.T @ X + 2 * alpha * np.diag(_diagonal(X, penalty_diag))


def J_l(
    w: Vec, u: Vec, X: Mat, y: Vec, X_u: Mat, alpha: float = 0.0, *, penalty_diag: Diag = None
) -> float:
    """Evaluate the label based, soft objective (§IV-A): ``‖X_e w − [y; u]‖² + λ w'Dw``.

    It is `J_s` with labels ``u`` (U,), intended in [0, 1], for the rows ``X_u`` (U, d).

    >>> J_l([1/2, 1/2], [0, 1], [[1, -1], [1, 1]], [0, 1], [[1, -1], [1, 4]])
    2.25
    """
    return J_s(w, *_stack(X, y, X_u, u), alpha, penalty_diag=penalty_diag)


def grad_J_l(
    w: Vec, u: Vec, X: Mat, y: Vec, X_u: Mat, alpha: float = 0.0, *, penalty_diag: Diag = None
) -> tuple[Array, Array]:
    """Differentiate `J_l` by w and by u: ``2X_e'(X_e w − [y; u]) + 2λDw`` and ``−2(X_u w − u)``.

    >>> grad_J_l([1/2, 1/2], [0, 1], [[1, -1], [1, 1]], [0, 1], [[1, -1], [1, 4]])
    (array([ 3., 12.]), array([ 0., -3.]))
    """
    grad_w = grad_J_s(w, *_stack(X, y, X_u, u), alpha, penalty_diag=penalty_diag)
    w, u, X_u = _floats(w, u, X_u)
    return grad_w, 2 * (u - X_u @ w)


def hessian_J_l(X: Mat, X_u: Mat, alpha: float = 0.0, *, penalty_diag: Diag = None) -> Array:
    """Differentiate `grad_J_l`, over (w, u): ``[[2X_e'X_e + 2λD, −2X_u'], [−2X_u, 2I]]``.

    §VI prints ``[[2X_e'X_e, −2X_u'], [−2X_u, −2I]]`` and concludes that J_l is not convex. But its
    own gradient ``−2(X_u w − u)`` differentiates to **+2I**: J_l is the squared norm of an affine
    map of (w, u), plus a ridge, hence jointly convex. The Schur complement is `hessian_J_s`.

    >>> hessian_J_l([[1, -1], [1, 1]], [[1, 4]]).tolist()
    [[6.0, 8.0, -2.0], [8.0, 36.0, -8.0], [-2.0, -8.0, 2.0]]
    """
    X, X_u = _floats(X, X_u)
    H = hessian_J_s(np.vstack([X, X_u]), alpha, penalty_diag=penalty_diag)
    return np.block([[H, -2 * X_u.T], [-2 * X_u, 2 * np.eye(len(X_u))]])


def J_r(w: Vec, q: Vec, X: Mat, y: Vec, X_u: Mat, alpha: float = 0.0, *, m: float = 1.0,
        n: float = 0.0, penalty_diag: Diag = None) -> float:  # fmt: skip
    """Evaluate the responsibility based, hard objective (§IV-B), q (U,) intended in [0, 1].

    ``J_s(w) + Σ q_i (z_i − m)² + (1 − q_i)(z_i − n)²``; `m` and `n` encode the classes, also in y.
    For m = 1, n = 0 it is ``J_l(w, q) + Σ q_i (1 − q_i)``: equal to `J_l` if q is hard, else above.

    >>> J_r([1/2, 1/2], [1/2, 1], [[1, -1], [1, 1]], [0, 1], [[1, -1], [1, 4]])
    2.75
    """
    w, q, X_u = _floats(w, q, X_u)
    unlabeled = q @ (X_u @ w - m) ** 2 + (1 - q) @ (X_u @ w - n) ** 2
    return J_s(w, X, y, alpha, penalty_diag=penalty_diag) + float(unlabeled)


def grad_J_r(w: Vec, q: Vec, X: Mat, y: Vec, X_u: Mat, alpha: float = 0.0, *, m: float = 1.0,
             n: float = 0.0, penalty_diag: Diag = None) -> tuple[Array, Array]:  # fmt: skip
    """Differentiate `J_r` by w and q: ``2X_e'(X_e w − [y; t]) + 2λDw``, ``m² − n² − 2(m − n)z``.

    The labels are t = qm + (1 − q)n. §IV-B prints X_u instead of X_u' before them.

    >>> grad_J_r([1/2, 1/2], [0, 1], [[1, -1], [1, 1]], [0, 1], [[1, -1], [1, 4]])
    (array([ 3., 12.]), array([ 1., -4.]))
    """
    w, q, X_u = _floats(w, q, X_u)
    t = q * m + (1 - q) * n
    grad_w = grad_J_s(w, *_stack(X, y, X_u, t), alpha, penalty_diag=penalty_diag)
    return grad_w, m**2 - n**2 - 2 * (m - n) * (X_u @ w)


def hessian_J_r(X: Mat, X_u: Mat, alpha: float = 0.0, *, m: float = 1.0,
                n: float = 0.0, penalty_diag: Diag = None) -> Array:  # fmt: skip
    """Differentiate `grad_J_r`: ``[[2X_e'X_e + 2λD, −2(m − n)X_u'], [−2(m − n)X_u, 0]]``.

    Indefinite for X_u ≠ 0, m ≠ n: a zero diagonal block beside a nonzero off-diagonal one. Along
    (a, t X_u a) the quadratic form is ``const − 4(m − n) t ‖X_u a‖²``, of either sign. (§VI prints
    2 instead of 4, requires z₁ ≠ 0 instead of X_u z₁ ≠ 0, and omits 2λI in both Hessians.)

    >>> bool(np.linalg.eigvalsh(hessian_J_r([[1, -1], [1, 1]], [[1, -1], [1, 4]])).min() < 0)
    True
    """
    X, X_u = _floats(X, X_u)
    H = hessian_J_s(np.vstack([X, X_u]), alpha, penalty_diag=penalty_diag)
    cross = -2 * (m - n) * X_u
    return np.block([[H, cross.T], [cross, np.zeros((len(X_u), len(X_u)))]])


def best_u(w: Vec, X_u: Mat) -> Array:
    """Minimise `J_l` over u in [0, 1]^U for given w: ``u = clip(X_u w, 0, 1)`` (§IV-A).

    >>> best_u([1/2, 1/2], [[1, -1], [1, 4]])
    array([0., 1.])
    """
    w, X_u = _floats(w, X_u)
    return np.clip(X_u @ w, 0, 1)


def best_q(w: Vec, X_u: Mat, *, m: float = 1.0, n: float = 0.0) -> Array:
    """Minimise `J_r` over q in [0, 1]^U for given w: 1 if z is nearer to m, else 0 (§IV-B).

    That is ``1[z > (m + n)/2]`` if m > n, ``1[z < (m + n)/2]`` if m < n; a tie is 0, as in §III.

    >>> best_q([1/2, 1/2], [[1, -1], [1, 4]])
    array([0., 1.])
    """
    w, X_u = _floats(w, X_u)
    return np.where((m - n) * (X_u @ w - (m + n) / 2) > 0, 1.0, 0.0)


def _floats(*values: ArrayLike) -> list[Array]:
    """Convert every value to a float64 array, so that no small dtype overflows."""
    return [np.asarray(value, dtype=np.float64) for value in values]


def _diagonal(X: Array, penalty_diag: Diag) -> Array:
    """Return the diagonal of D, by default ones."""
    return np.ones(X.shape[1]) if penalty_diag is None else _floats(penalty_diag)[0]


def _stack(X: Mat, y: Vec, X_u: Mat, u: Vec) -> tuple[Array, Array]:
    """Return X_e and y_e, with the labeled rows above the unlabeled ones."""
    return np.vstack(_floats(X, X_u)), np.concatenate(_floats(y, u))
