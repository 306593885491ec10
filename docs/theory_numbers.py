"""The numbers in the pictures of the theory pages; `theory_pictures` only draws them.

Every function returns arrays by name. The problems are small and have fixed seeds: the data of the
paper's Figures 2 and 3, the common example of the method pages, and Gaussian clouds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisquares import SoftLabelClassifier
from semisquares.core.certificate import duality_gap
from semisquares.core.labelings import HardLabels, Labeling, SimplexLabels, SoftLabels, dial
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows
from semisquares.core.solvers import Step, block_descent, fit_labeled, minimise, newton
from semisquares.core.solvers.branch_and_bound import enumerate_labelings
from semisquares.core.solvers.enumerate import label_quadratic
from semisquares.paper.datasets import remove_labels, two_gaussians
from semisquares.paper.datasets.generators import published_line
from semisquares.paper.figures._descent import published_objective
from semisquares.paper.objectives import J_l, J_r, best_u, hessian_J_l

from .example import SHOWN, draw

Array = NDArray[Any]
Numbers = dict[str, Array]

TAU = 0.5
"""The position of the dial between soft and hard in the picture of a row's cost."""
BLOCK_STEPS = 1000
"""Fewer steps than block descent needs to stop: when it stops depends on rounding."""
LOO_DRAWS = 100
"""Number of draws of 20 rows in the picture of leave-one-out."""
ENDS = ((0.5027, -0.4274), (0.9950, -0.0042))
"""Two of the published hard optima of Figure 2: (intercept, slope)."""


def objective(X: Array, y: Array, labeling: Labeling, alpha: float = 0.0) -> Objective:
    """Return J for labels 0, 1, … or −1 (unlabeled)."""
    labeled = np.flatnonzero(y >= 0)
    known = y[labeled]
    targets = np.eye(known.max() + 1)[known] if labeling.per_class else known.astype(float)
    rows = MemoryRows(DenseTable(X), labeled, targets, labeled_weight=np.ones(len(labeled)))
    return Objective(rows, labeling, alpha)


def clouds() -> tuple[Array, Array]:
    """Draw the two overlapping clouds of the method pages' examples, with 8 of 400 labels."""
    X, truth = two_gaussians(400, 2, variance=1.0, random_state=0)
    return X, remove_labels(truth, n_labeled=8, random_state=3)


def row_cost() -> Numbers:
    """Return the imputed label of a row and its cost at decision value z: (labelings, z)."""
    z = np.linspace(-0.75, 1.75, 501)
    labelings = [dial(2, tau) for tau in (0.0, TAU, 1.0)]
    labels = np.array([labeling.impute(z) for labeling in labelings])
    penalty = [rule.penalty(u) for rule, u in zip(labelings, labels, strict=True)]
    return {"z": z, "label": labels, "cost": (z - labels) ** 2 + np.array(penalty)}


def convexity() -> Numbers:
    """Evaluate J_l along a label of Figure 3, and J between two hard optima of Figure 2."""
    X, y, X_u = np.array([[1.0, -1], [1, 1]]), np.array([0.0, 1]), np.array([[1.0, -1], [1, 4]])
    w = np.array([23 / 67, 14 / 67])
    u = best_u(w, X_u)
    t = np.linspace(-0.6, 0.6, 25)
    along = np.array([0.0, 0, 1, 0])  # the label of the left row alone
    measured = np.array([J_l(w, u + s * along[2:], X, y, X_u) for s in t])
    right = hessian_J_l(X, X_u)
    printed = right.copy()
    printed[2:, 2:] *= -1.0
    bends = [0.5 * along @ H @ along for H in (right, printed)]
    slope = (measured[-1] - measured[0]) / (t[-1] - t[0])  # exact: t is symmetric
    curves = [measured[len(t) // 2] + slope * t + bend * t**2 for bend in bends]
    line = published_line()
    share = np.linspace(-0.5, 1.5, 401)
    first, last = (np.array(end)[::-1] for end in ENDS)  # ours have the intercept last
    weights = first + share[:, None] * (last - first)
    between = []
    for method in ("soft", "hard"):
        problem = published_objective(line.X, line.y, method)
        rows = problem.rows
        between.append([rows.loss(rows.decisions(v), problem.labeling) for v in weights])
    return {
        "t": t, "measured": measured, "curves": np.array(curves), "share": share,
        "between": np.array(between),
    }  # fmt: skip


def newton_path(problem: Objective) -> list[Array]:
    """Return the supervised weights and the weights after every Newton step from them."""
    path = [fit_labeled(problem)]
    newton(problem, path[0], callback=lambda step: path.append(step.w))
    return path


def active_set() -> Numbers:
    """Follow Newton's method on the common example: weights and active set after each step."""
    example = draw(SHOWN)
    problem = objective(example.X, example.y, SoftLabels())
    path = newton_path(problem)
    sides = [SoftLabels().piece(problem.rows.decisions(w)) for w in path]
    return {"X": example.X, "y": example.y, "w": np.array(path), "side": np.array(sides)}


def gap() -> Numbers:
    """Return the certified and the true gap after steps of Newton's method and block descent."""
    problem = objective(*clouds(), SoftLabels())
    path = newton_path(problem)
    blocks: list[Array] = [path[0]]

    def keep(step: Step) -> None:
        blocks.append(step.w)

    labels = problem.labeling.impute(problem.rows.decisions(path[0]))
    block_descent(problem, labels, max_iter=BLOCK_STEPS, callback=keep)
    steps = np.unique(np.geomspace(1, BLOCK_STEPS, 60).astype(int))
    best = duality_gap(problem, path[-1]).value
    found: Numbers = {"newton_step": np.arange(1, len(path)), "block_step": steps}
    for name, weights in (("newton", path), ("block", blocks)):
        gaps = [duality_gap(problem, weights[k]) for k in found[f"{name}_step"]]
        found[f"{name}_gap"] = np.array([g.relative for g in gaps])
        found[f"{name}_true"] = np.array([(g.value - best) / g.scale for g in gaps])
    return found


def dial_path() -> Numbers:
    """Turn the dial from soft to hard on part of the common example: labels, J_l and J_r."""
    example = draw(SHOWN)
    free = np.flatnonzero(example.y < 0)[::4]
    index = np.concatenate((np.flatnonzero(example.y >= 0), free))
    X, y, truth = example.X[index], example.y[index], example.truth[free]
    problem = objective(X, y, SoftLabels())
    found = minimise(problem, fit_labeled(problem))
    labels = problem.labeling.impute(found.state.z)
    taus = np.linspace(0.0, 1.0, 41)
    unlabeled, values = [], []
    design = np.column_stack((X, np.ones(len(X))))
    known = y >= 0
    for tau in taus:
        turned = problem.with_labeling(dial(2, float(tau)))
        end = block_descent(turned, labels, max_iter=2000)
        labels = end.state.labels
        given = (design[known], y[known], design[~known])
        u = labels[~known]
        unlabeled.append(u)
        values.append([J_l(end.w, u, *given), J_r(end.w, u, *given)])
    return {
        "tau": taus, "label": np.array(unlabeled), "truth": truth, "value": np.array(values).T
    }  # fmt: skip


def branch_and_bound() -> Numbers:
    """Search for the best hard labels of 40 rows: the best value and the bound, by nodes."""
    X, truth = two_gaussians(46, 2, variance=1.5, random_state=1)
    y = remove_labels(truth, n_labeled=6, random_state=0)
    problem = objective(X, y, HardLabels())
    progress: list[tuple[float, float, float]] = []

    def record(n_nodes: int, value: float, bound: float) -> None:
        progress.append((n_nodes, value, bound))

    found = enumerate_labelings(*label_quadratic(problem), callback=record)
    nodes, value, bound = np.array(progress).T
    return {
        "nodes": nodes, "value": value, "bound": bound, "soft": np.array([found.relaxation])
    }  # fmt: skip


def simplex() -> Numbers:
    """Fit the labeled rows of three clouds; return decision values and labels of the others."""
    rng = np.random.default_rng(3)
    truth = np.arange(90) % 3
    centres = 1.6 * np.array([[0.0, 1.0], [-0.9, -0.5], [0.9, -0.5]])
    X = centres[truth] + rng.normal(size=(90, 2))
    y = np.where(np.arange(90) < 12, truth, -1)
    problem = objective(X, y, SimplexLabels())
    z = problem.rows.decisions(fit_labeled(problem))[problem.rows.unlabeled]
    return {"z": z, "label": problem.labeling.impute(z)}


def vanishing_ridge() -> Numbers:
    """Fit four labels in ten columns with smaller and smaller ridges, and without one."""
    X = np.random.default_rng(0).normal(size=(16, 10))
    y = np.where(np.arange(16) < 4, np.arange(16) % 2, -1)
    alphas = 10.0 ** np.linspace(2, -6, 33)
    coefs = [SoftLabelClassifier(alpha=alpha).fit(X, y).coef_[0] for alpha in alphas]
    limit = SoftLabelClassifier(alpha=0.0).fit(X, y).coef_[0]
    return {"alpha": alphas, "coef": np.array(coefs), "limit": limit}


def long_clouds(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw rows of 20 columns and alternating classes; columns of large spread differ most."""
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    spread = np.linspace(1.6, 0.4, 20)
    return spread * rng.normal(size=(n, 20)) + 0.35 * spread**2 * y[:, None], y


def left_out(X: Array, y: Array, alpha: float) -> tuple[Array, Array]:
    """Return the leave-one-out predictions of a ridge, with and without the intercept."""
    centred = X - X.mean(axis=0)
    ridge = centred.T @ centred + alpha * np.eye(X.shape[1])
    hat = 1.0 / len(y) + centred @ np.linalg.solve(ridge, centred.T)
    through = y - (y - hat @ y) / (1.0 - hat.diagonal())
    return through, through - (y.sum() - y) / (len(y) - 1)


def leave_one_out() -> Numbers:
    """Score ridges by leave-one-out on 20 labeled rows, and on test rows, in 100 draws.

    Accuracies have shape (draws, 3, strengths): with intercept, slope only, and on test rows.
    """
    rng = np.random.default_rng(0)
    strengths = 10.0 ** np.linspace(-3, 3, 25)
    X_test, y_test = long_clouds(1000, rng)
    accuracy = np.empty((LOO_DRAWS, 3, len(strengths)))
    for draw_number in range(LOO_DRAWS):
        X, y = long_clouds(20, rng)
        centred = X - X.mean(axis=0)
        for k, alpha in enumerate(strengths * (centred**2).sum() / 19):
            ridge = centred.T @ centred + alpha * np.eye(X.shape[1])
            z = (X_test - X.mean(axis=0)) @ np.linalg.solve(ridge, centred.T @ y) + y.mean()
            through, slope = left_out(X, y, alpha)
            right = [np.mean(through * y > 0), np.mean(slope * y > 0), np.mean(z * y_test > 0)]
            accuracy[draw_number, :, k] = right
    return {"strength": strengths, "accuracy": accuracy}
