r"""
1. Soft against hard labels
===========================

Six rows have a label, two hundred have none. A classifier that uses the unlabeled rows has to fill
in *something* for their labels, and the two least squares classifiers here differ only in that:

* **soft labels** are numbers in :math:`[0, 1]`, chosen together with the weights to minimise the
  squared loss over all rows;
* **hard labels** are 0 or 1, found by self-learning: fit, predict, fit to the predictions, and
  repeat until nothing changes.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from semisquares import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier, plotting

GREY = "#8A8A8A"

# %%
# Two long clouds
# ---------------
# Both classes have the same long shape. They differ in the direction *across* the clouds; three
# labels per class show it badly, the cloud of all rows shows it well.


def draw_clouds(n_rows, rng):
    """Draw two parallel clouds, half of the rows in each."""
    truth = np.arange(n_rows) % 2
    along, across = np.array([-0.87, 0.5]), np.array([0.5, 0.87])
    X = 1.3 * rng.normal(size=(n_rows, 1)) * along + 0.55 * rng.normal(size=(n_rows, 1)) * across
    return X + np.outer(2.2 * truth - 1.1, [1.0, 0.0]), truth


def keep_labels(truth, n_per_class, rng):
    """Return the labels with -1, "no label", in all but a few rows."""
    y = np.full(len(truth), -1)
    for label in (0, 1):
        kept = rng.choice(np.flatnonzero(truth == label), n_per_class, replace=False)
        y[kept] = label
    return y


rng = np.random.default_rng(22)  # a draw that shows it well; below are a hundred of them
X, truth = draw_clouds(206, rng)
y = keep_labels(truth, 3, rng)
X_test, truth_test = draw_clouds(10_000, np.random.default_rng(10**6))

# %%
# Large dots are the labeled rows. Small dots have the colour of the label that they got: blue or
# orange if it is 0 or 1, grey in between. The shades of the background are soft labels, too; beyond
# the dotted lines the label is 0 or 1.

models = {
    "supervised": LeastSquaresClassifier(alpha=0),
    "soft labels": SoftLabelClassifier(alpha=0),
    "hard labels": HardLabelClassifier(alpha=0),
}
with plotting.style():
    figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.5), layout="constrained", sharey=True)
    handles = []
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        handles += plotting.plot_decision(model.fit(X, y), X, y, ax=panel).handles_
        error = 1 - model.score(X_test, truth_test)
        panel.set_title(f"{name}: test error {error:.3f}")
        panel.label_outer()
    plotting.legend(figure, panels, n_columns=4, more=handles)
plt.show()

# %%
# Self-learning trusts its own predictions. Rows far on the wrong side of the first boundary get the
# wrong label, with full weight, and keep the boundary where it is. Soft labels can express "I do
# not know": near the boundary labels are grey, and grey rows do not pull at all. The next example
# shows why.
#
# One draw proves nothing
# -----------------------
# So here are a hundred. Each dot is one draw; below the diagonal, the unlabeled rows helped.
# (Sometimes hard labels collapse to one class, with a warning, which is not shown because the
# picture shows the effect.)

errors = []
for number in range(100):
    rng = np.random.default_rng(number)
    X, truth = draw_clouds(206, rng)
    y = keep_labels(truth, 3, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        errors.append([1 - model.fit(X, y).score(X_test, truth_test) for model in models.values()])
supervised, soft, hard = np.array(errors).T

with plotting.style():
    figure, panels = plt.subplots(1, 2, figsize=(7.1, 3.4), layout="constrained")
    for panel, name, found in zip(panels, ("soft", "hard"), (soft, hard), strict=True):
        style = plotting.method_style(name)
        panel.plot([0, 0.55], [0, 0.55], color=GREY, linewidth=0.8)
        dots = {"color": style.colour, "alpha": 0.6, "markeredgewidth": 0}
        panel.plot(supervised, found, style.marker, **dots)
        better = np.mean(found < supervised)
        panel.set_title(f"{style.label}: better in {better:.0%} of the draws")
        panel.set(xlim=(0, 0.55), ylim=(0, 0.55), xlabel="test error, supervised", aspect="equal")
    panels[0].set_ylabel("test error with unlabeled rows")
plt.show()

for name, found in (("supervised", supervised), ("soft", soft), ("hard", hard)):
    spread = found.std(ddof=1) / np.sqrt(len(found))
    print(f"{name:11s} mean test error {found.mean():.3f} ± {spread:.3f}")

# %%
# Both help in most draws, and about equally on average. They differ in how they fail. If the first
# boundary is good, self-learning sharpens it and is the better of the two; if it is bad,
# self-learning may go all the way in the wrong direction (the row of triangles at the top). Soft
# labels do not depend on the start, and lose less. And in some draws both are above the diagonal:
# unlabeled rows can hurt. The fifth example lets the labels decide.
