r"""
3. Paths to the optima
======================

Both objectives can be minimised in the same way: fill in the labels, fit, fill in again. Where this
*ends* differs. Soft labels have one optimum, hard ones have many, and which of these is reached
depends on the start. The data are those of the paper's Figure 2: 400 points on a line, four of them
labeled. With an intercept there are two weights, so everything can be drawn in a plane.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from semisquares import HardLabelClassifier, SoftLabelClassifier, plotting
from semisquares.paper.datasets.generators import published_line

line = published_line()
X, y = line.X, line.y
print(f"{len(y)} rows, {np.sum(y >= 0)} of them labeled")

# %%
# Thirty starts
# -------------
# ``init`` takes weights as ``(coef, intercept)``, and ``record_path=True`` keeps every step. The
# intercept is that of the decision function, ½ below the one drawn. Hard labels warn if a class
# vanishes, which happens often from random starts; here we want to see that.

rng = np.random.default_rng(4)
starts = rng.normal(0.0, 0.6, size=(30, 2))


def fit_from(start, kind, **options):
    """Fit from given weights, and keep the path."""
    model = kind(alpha=0, init=(start[:1], start[1:]), record_path=True, **options)
    return model.fit(X, y)


soft = [fit_from(start, SoftLabelClassifier, solver="block") for start in starts]
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    hard = [fit_from(start, HardLabelClassifier) for start in starts]

with plotting.style():
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 4.0), layout="constrained", sharey=True)
    for panel, name, fits in zip(panels, ("Soft labels", "Hard labels"), (soft, hard), strict=True):
        plotting.plot_path(fits, X, y, kind="weights", ax=panel)
        panel.set(title=name, xlim=(-1.5, 1.5), ylim=(-0.7, 1.7))
    panels[1].set_ylabel("")
plt.show()

# %%
# Thin lines behind the paths are contours of the objective. On the left they are nested rings
# around one point: the problem is convex, in weights and labels *jointly*. On the right there are
# valleys. Runs of the same colour end at the same point; two of these points put all rows into one
# class.
#
# The lowest valley is not the best classifier
# --------------------------------------------

truth = line.truth
order = np.argsort([model.objective_ for model in hard])
seen = set()
for k in order:
    model = hard[k]
    if round(model.objective_, 6) not in seen:
        seen.add(round(model.objective_, 6))
        accuracy = np.mean(model.predict(X) == truth)
        print(f"hard: J = {model.objective_:7.3f}, accuracy {accuracy:.3f}")
print(f"soft: J = {soft[0].objective_:7.3f}, accuracy {np.mean(soft[0].predict(X) == truth):.3f}")

# %%
# The labelings that put all points into one class have by far the lowest J of the hard labels, but
# are useless. If you still want hard labels, start from the soft solution: ``init="soft"`` involves
# no randomness.

model = HardLabelClassifier(alpha=0, init="soft").fit(X, y)
print(
    f"hard from soft: J = {model.objective_:.3f}, accuracy {np.mean(model.predict(X) == truth):.3f}"
)

# %%
# Same end, other ways
# --------------------
# Soft labels have one optimum, and many ways lead to it. Newton's method on the active set gets
# there in a few steps; filling in and refitting takes hundreds.

fits = {
    "block descent": fit_from(starts[0], SoftLabelClassifier, solver="block"),
    "block descent, relaxation 1.8": fit_from(
        starts[0], SoftLabelClassifier, solver="block", relaxation=1.8
    ),
    "Newton": fit_from(starts[0], SoftLabelClassifier, solver="newton"),
}
with plotting.style():
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained")
    plotting.plot_path(fits, X, y, kind="weights", ax=panels[0])
    plotting.plot_path(fits, kind="objective", ax=panels[1])
    panels[0].get_legend().remove()
    panels[0].set_title("The path")
    panels[1].set_title("J above the optimum")
plt.show()
