r"""
4. The duality gap, falling
===========================

How do we know that a solver has converged? "The last step was small" is not a proof: block descent
takes thousands of small steps. The soft problem is convex and has a *dual*: any dual point gives a
lower bound on J for all weights. The distance between J and that bound, the **duality gap**, limits
how far from the optimum we can be. It is computed from the weights alone, independently of the
solver. ``model.certificate_`` is that gap, relative to the J of the best constant.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from semisquares import SoftLabelClassifier, plotting
from semisquares.core.certificate import duality_gap
from semisquares.core.labelings import SoftLabels
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows
from semisquares.core.solvers import block_descent, fit_labeled, minimise

# %%
# The parts instead of the estimator
# ----------------------------------
# The estimator consists of three independent parts: rows, a labeling, a solver. Here we put them
# together by hand, so that we can certify every step.

rng = np.random.default_rng(0)
truth = rng.integers(2, size=3000)
X = rng.normal(size=(3000, 20)) + 0.5 * truth[:, None]
labeled = np.arange(60)
rows = MemoryRows(DenseTable(X), labeled, truth[labeled].astype(float), labeled_weight=np.ones(60))
objective = Objective(rows, SoftLabels(), alpha=1.0)
start = fit_labeled(objective)  # the supervised weights

steps = {"Newton": [start], "block descent": [start]}
exact = minimise(objective, start, callback=lambda step: steps["Newton"].append(step.w))
labels = rows.imputed(rows.decisions(start), objective.labeling)
block_descent(
    objective, labels, max_iter=2000, callback=lambda step: steps["block descent"].append(step.w)
)
for name, found in steps.items():
    print(f"{name}: {len(found) - 1} steps")

# %%
# Proof and truth
# ---------------
# The optimum is known here (Newton's method ends exactly at it), so we can draw both: how far J
# really is above the optimum, and the bound that the certificate proves. Steps are on a logarithmic
# axis, shifted by one so that the start is visible.

floor = np.finfo(float).eps
colours = {
    "Newton": plotting.method_style("soft").colour,
    "block descent": plotting.method_style("supervised").colour,
}
with plotting.style():
    figure, panel = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for name, found in steps.items():
        chosen = np.unique(np.geomspace(1, len(found), 40).astype(int)) - 1
        gaps = [duality_gap(objective, found[k]) for k in chosen]
        above = [max((gap.value - exact.value) / gap.scale, floor) for gap in gaps]
        proven = [max(gap.relative, floor) for gap in gaps]
        colour = colours[name]
        panel.plot(chosen + 1, proven, color=colour, label=f"{name}: proven gap")
        panel.plot(chosen + 1, above, ":", color=colour, label=f"{name}: true distance")
        panel.fill_between(chosen + 1, above, proven, color=colour, alpha=0.1, linewidth=0)
    panel.set(xscale="log", yscale="log", xlabel="step + 1", ylabel="relative to a constant's J")
    panel.xaxis.set_major_formatter("{x:g}")
    panel.grid(axis="y")
    panel.legend(loc="upper right")
plt.show()

# %%
# The proven gap is never below the true distance; it is a proof, not a guess. The gap of Newton's
# method drops abruptly: the objective is piecewise quadratic, and once the rows beyond 0 and 1 are
# the right ones, a single step is exact. Block descent reduces its distance by a constant share in
# every step; among a thousand such steps, none looks like the last.
#
# What you see of it
# ------------------
# The estimator certifies its result. If you stop it early, a warning and the certificate say so.

y = np.full(3000, -1)
y[labeled] = truth[labeled]
model = SoftLabelClassifier().fit(X, y)
print(f"Newton, {model.n_iter_} steps: certificate {model.certificate_:.1e}")
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    early = SoftLabelClassifier(solver="block", max_iter=20).fit(X, y)
print(f"block descent stopped after {early.n_iter_} steps: certificate {early.certificate_:.1e}")
print(f"rows that it puts into another class: {np.sum(early.predict(X) != model.predict(X))}")

# %%
# A certificate says that the *optimisation* has converged. It does not say that the classifier is
# good: the optimum of a badly chosen problem is certified just as well.
