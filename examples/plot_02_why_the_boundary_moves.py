r"""
2. Why the soft boundary moves
==============================

With the best label filled in, an unlabeled row with decision value :math:`z` costs

.. math:: (z - \operatorname{clip}(z, 0, 1))^2.

Between 0 and 1 the cost is *zero*: such a row gets its decision value as its label, and does not
pull. A row beyond 0 or 1 costs its squared overshoot, and pulls the line back. So the unlabeled
rows never say which class they belong to. They only say: **a decision function that overshoots here
is too steep.**
"""

import matplotlib.pyplot as plt
import numpy as np

from semisquares import SoftLabelClassifier, plotting

GREY, LIGHT = "#8A8A8A", "#D4D4D4"
ORANGE, SKY, VERMILION = "#E69F00", "#56B4E9", "#D55E00"

# %%
# Four labels on a line
# ---------------------
# Four labeled rows give the dashed line. Among the unlabeled rows, one group is far to the right,
# where that line is far above 1.

X_labeled = np.array([[-1.2], [-0.6], [0.2], [0.7]])
labels = np.array([0, 0, 1, 1])
rng = np.random.default_rng(0)
X_free = np.concatenate((rng.normal(-0.9, 0.35, 12), rng.normal(2.6, 0.5, 14)))[:, None]
X = np.vstack((X_labeled, X_free))
y = np.append(labels, np.full(len(X_free), -1))


def draw_pulls(panel, model, name):
    """Draw a line, what it gives to the unlabeled rows, and how far each is beyond 0 or 1."""
    ends = np.array([-2.2, 3.9])
    style = plotting.method_style(name)
    z_line, z = (model.decision_function(x) + 0.5 for x in (ends[:, None], X_free))
    for level in (0.0, 0.5, 1.0):
        panel.axhline(level, color=LIGHT, linewidth=0.8, zorder=0)
    panel.plot(ends, z_line, color=style.colour, linestyle=style.line)
    label = np.clip(z, 0, 1)
    panel.vlines(X_free[:, 0], label, z, color=VERMILION, linewidth=1.0, label="pull")
    beyond = z != label
    panel.plot(X_free[~beyond, 0], z[~beyond], ".", color=GREY, label="no pull")
    panel.plot(X_free[beyond, 0], label[beyond], ".", color=VERMILION)
    for code in (0, 1):
        rows = labels == code
        dots = {"color": (SKY, ORANGE)[code], "markersize": 7, "markeredgecolor": "black"}
        panel.plot(X_labeled[rows, 0], labels[rows], "os"[code], **dots)
    where = -model.intercept_[0] / model.coef_[0, 0]
    panel.plot(where, 0.5, "D", color=style.colour, markersize=6, label="boundary")
    cost = np.sum((z - label) ** 2)
    panel.set_title(f"{style.label}: overshoot costs {cost:.2f}")
    panel.set(xlim=ends, ylim=(-0.8, 2.6), xlabel="x", yticks=[0, 0.5, 1])


model = SoftLabelClassifier(alpha=0).fit(X, y)
with plotting.style():
    figure, panels = plt.subplots(1, 2, figsize=(7.6, 3.2), layout="constrained", sharey=True)
    draw_pulls(panels[0], model.supervised_, "supervised")
    draw_pulls(panels[1], model, "soft")
    panels[0].set_ylabel("decision value z")
    panels[0].legend(loc="upper left")
plt.show()

# %%
# The right group pulls the line down on its side, while the labeled rows keep it up in the middle:
# it turns, and the boundary (the diamond) moves to the right, towards the gap between the groups.
# The method does not look for gaps: a line that is less steep simply crosses ½ later.
#
# How much the rows count
# -----------------------
# ``unlabeled_weight`` interpolates between the two pictures: 0 is supervised, 1 counts an unlabeled
# row like a labeled one.

weights = np.concatenate(([0.0], np.geomspace(1e-3, 30, 40)))
places, shares = [], []
for weight in weights:
    fit = SoftLabelClassifier(alpha=0, unlabeled_weight=weight).fit(X, y)
    places.append(-fit.intercept_[0] / fit.coef_[0, 0])
    z = fit.decision_function(X_free) + 0.5
    shares.append(np.mean((z < 0) | (z > 1)))

with plotting.style():
    figure, (where, how_many) = plt.subplots(1, 2, figsize=(7.6, 2.7), layout="constrained")
    where.semilogx(weights[1:], places[1:], color=plotting.method_style("soft").colour)
    where.axhline(places[0], color=plotting.method_style("supervised").colour, linestyle="--")
    where.set(xlabel="unlabeled_weight", ylabel="boundary at x", title="Where the boundary is")
    how_many.semilogx(weights[1:], 100 * np.array(shares[1:]), color=VERMILION)
    how_many.set(
        xlabel="unlabeled_weight", ylabel="rows beyond 0 or 1, %", title="How many rows still pull"
    )
plt.show()

# %%
# When nothing moves
# ------------------
# Now keep only the unlabeled rows at which the supervised line is between 0 and 1. They change
# nothing at all.

inside = np.abs(model.supervised_.decision_function(X)) <= 0.5
kept = inside | (y >= 0)
quiet = SoftLabelClassifier(alpha=0).fit(X[kept], y[kept])
print(f"slope with all rows: {model.supervised_.coef_[0, 0]:.3f} → {model.coef_[0, 0]:.3f}")
print(
    f"with {np.sum(kept & (y < 0))} quiet ones: {quiet.supervised_.coef_[0, 0]:.3f} → "
    f"{quiet.coef_[0, 0]:.3f}"
)

# %%
# This also shows when soft labels cannot help: with a strong ridge the supervised decision values
# rarely leave :math:`[0, 1]`, few rows pull, and the model is almost ``model.supervised_``.
