"""Solvers for the same problem to the same gap: Newton, block descent, L-BFGS, a QP solver."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csc_array, eye_array, hstack, vstack

from semisquares import SoftLabelClassifier
from semisquares.core.certificate import duality_gap
from semisquares.core.labelings import SoftLabels
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows

from .data import OVERLAPPING, Array, gaussians
from .report import Line
from .timing import seconds_of, side_by_side

LABELS, U, D, GAP = 500, 100_000, 100, 1e-10


def run(repeats: int) -> Iterator[Line]:
    yield from _against_iterations(repeats)
    yield from _against_qp()
    yield from _growth(repeats)


def _against_iterations(repeats: int) -> Iterator[Line]:
    X, _, y = gaussians(LABELS + U, D, LABELS, OVERLAPPING)
    newton = SoftLabelClassifier(tol=GAP)
    block = SoftLabelClassifier(tol=GAP, solver="block", max_iter=100_000)
    taken = side_by_side(
        {"newton": lambda: newton.fit(X, y), "lbfgs": lambda: lbfgs(X, y)}, repeats
    )
    what = f"L={LABELS}, U={U:,}, d={D}"
    ratio = seconds_of(lambda: block.fit(X, y)) / taken["newton"]
    shown = f"{block.n_iter_} steps against {newton.n_iter_}"
    yield Line(what, "block descent / Newton", ratio, low=100.0, remark=shown)
    found = lbfgs(X, y)
    shown = f"gaps {relative_gap(X, y, found):.0e} and {newton.certificate_:.0e}"
    ratio = taken["lbfgs"] / taken["newton"]
    yield Line(what, "L-BFGS / Newton", ratio, low=3.0, remark=shown)


def _problem(X: Array, y: Array) -> Objective:
    labeled = np.flatnonzero(y >= 0)
    targets = y[labeled].astype(float)
    rows = MemoryRows(DenseTable(X), labeled, targets, labeled_weight=np.ones(len(labeled)))
    return Objective(rows, SoftLabels(), 1.0)


def relative_gap(X: Array, y: Array, w: Array) -> float:
    """Return the certified relative gap of weights, the intercept last."""
    return duality_gap(_problem(X, y), w).relative


def lbfgs(X: Array, y: Array) -> Array:
    """Minimise the reduced objective (labels minimised out) with scipy, to the same gap."""
    known = y >= 0
    penalised = np.append(np.ones(X.shape[1]), 0.0)

    def value_and_gradient(w: Array) -> tuple[float, Array]:
        z = X @ w[:-1] + w[-1]
        r = z - np.where(known, y, np.clip(z, 0.0, 1.0))
        value = r @ r + w @ (penalised * w)
        return value, 2.0 * (np.append(X.T @ r, r.sum()) + penalised * w)

    start = np.zeros(X.shape[1] + 1)
    # gtol was halved until the certified gap was that of the rival
    options = {"maxiter": 10_000, "gtol": 2e-3, "ftol": 1e-16, "maxcor": 20}
    found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x)


def _against_qp() -> Iterator[Line]:
    """Compare with Clarabel on the problem in (w, u), in a size that it can solve."""
    from qpsolvers import solve_ls

    n_labels, n_unlabeled, d = 100, 2_000, 20
    X, _, y = gaussians(n_labels + n_unlabeled, d, n_labels, OVERLAPPING)
    known = y >= 0
    free = np.flatnonzero(~known)
    ones = np.ones((len(X), 1))
    labels = eye_array(len(X), format="csc")[:, free]
    ridge = np.hstack((np.eye(d), np.zeros((d, 1))))
    A = hstack((csc_array(np.hstack((X, ones))), -labels))
    A = vstack((A, csc_array(np.hstack((ridge, np.zeros((d, len(free))))))), format="csc")
    b = np.append(np.where(known, y, 0.0), np.zeros(d))
    low = np.append(np.full(d + 1, -np.inf), np.zeros(len(free)))
    high = np.append(np.full(d + 1, np.inf), np.ones(len(free)))
    model = SoftLabelClassifier()
    taken = side_by_side(
        {
            "newton": lambda: model.fit(X, y),
            "clarabel": lambda: solve_ls(A, b, lb=low, ub=high, solver="clarabel"),
        },
        3,
    )
    found = solve_ls(A, b, lb=low, ub=high, solver="clarabel")
    assert found is not None
    ours = np.append(model.coef_, model.intercept_ + 0.5)
    shown = f"weights differ by {np.abs(ours - found[: d + 1]).max():.0e}"
    what = f"L={n_labels}, U={n_unlabeled:,}, d={d}"
    yield Line(what, "Clarabel / Newton", taken["clarabel"] / taken["newton"], remark=shown)


def _growth(repeats: int) -> Iterator[Line]:
    """Fit the log-log slope of time in U."""
    sizes = [10_000, 31_623, 100_000, 316_228, 1_000_000]
    seconds = []
    for n_unlabeled in sizes:
        X, _, y = gaussians(LABELS + n_unlabeled, D, LABELS, OVERLAPPING)
        fit = side_by_side({"soft": lambda X=X, y=y: SoftLabelClassifier().fit(X, y)}, repeats)
        seconds.append(fit["soft"])
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    shown = "s: " + ", ".join(f"{t:.3g}" for t in seconds)
    what = "U from 10⁴ to 10⁶, d=100"
    yield Line(what, "log-log slope of time in U", slope, high=1.1, remark=shown)
