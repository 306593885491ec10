r"""
8. Many classes: digits
=======================

With more than two classes, a soft label is a point of the probability simplex: a share for every
class, summing to one. The filled-in label of a row is the *projection* of its decision values onto
the simplex, the problem is still convex, and ``label_distributions_`` has the result.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from semisquares import SoftLabelClassifier, plotting

ORANGE, SKY = "#E69F00", "#56B4E9"

# %%
# These are 1797 small pictures of digits; ten per class keep their label.

digits = load_digits()
X, truth = digits.data / 16.0, digits.target


def keep_labels(number, n_per_class=10):
    """Return the labels of a few rows of each class, -1 for the others."""
    rng = np.random.default_rng(number)
    y = np.full(len(truth), -1)
    for label in range(10):
        y[rng.choice(np.flatnonzero(truth == label), n_per_class, replace=False)] = label
    return y


y = keep_labels(0)
model = SoftLabelClassifier(alpha=1.0).fit(X, y)
free = y == -1
print(f"certificate {model.certificate_:.1e} after {model.n_iter_} steps")
print(f"accuracy on the unlabeled rows: {np.mean(model.transduction_[free] == truth[free]):.3f}")

# %%
# The least certain rows
# ----------------------
# Below each picture is its soft label; orange is the true digit. The first row shows the least
# certain pictures, the second the most certain of those that are wrong.

labels = model.label_distributions_
winner = labels.max(axis=1)
unsure = np.flatnonzero(free)[np.argsort(winner[free])[:8]]
wrong = np.flatnonzero(free & (model.transduction_ != truth))
wrong = wrong[np.argsort(-winner[wrong])[:8]]

with plotting.style():
    figure, panels = plt.subplots(
        4, 8, figsize=(8.4, 4.2), layout="constrained", height_ratios=[1.4, 1, 1.4, 1]
    )
    for row, chosen in ((0, unsure), (2, wrong)):
        for picture, bars, k in zip(panels[row], panels[row + 1], chosen, strict=True):
            picture.imshow(digits.images[k], cmap="gray_r")
            picture.set_axis_off()
            colours = [ORANGE if c == truth[k] else SKY for c in range(10)]
            bars.bar(range(10), labels[k], color=colours)
            bars.set(ylim=(0, 1), xticks=range(10), yticks=[])
            bars.tick_params(labelsize=5, length=1)
            bars.spines["left"].set_visible(False)
    panels[1, 0].set_ylabel("least certain")
    panels[3, 0].set_ylabel("certain, wrong")
plt.show()

# %%
# Do the unlabeled rows help?
# ---------------------------
# The picture compares them with the same ridge without unlabeled rows, over five choices of the
# labels:

alphas = np.logspace(-3, 2, 6)
errors = np.empty((5, len(alphas), 3))
for number in range(len(errors)):
    y = keep_labels(number)
    hidden = y == -1
    for k, alpha in enumerate(alphas):
        for j, weight in enumerate((1.0, 0.1)):
            fit = SoftLabelClassifier(alpha, unlabeled_weight=weight).fit(X, y)
            errors[number, k, j] = 1 - fit.score(X[hidden], truth[hidden])
        errors[number, k, 2] = 1 - fit.supervised_.score(X[hidden], truth[hidden])

styles = (
    plotting.method_style("soft"),
    plotting.MethodStyle("soft labels, weight 0.1", SKY, "P", (0, (8, 1.5))),
    plotting.method_style("supervised"),
)
with plotting.style():
    figure, panel = plt.subplots(figsize=(5.4, 3.3), layout="constrained")
    for j, style in enumerate(styles):
        spread = errors[:, :, j].std(axis=0, ddof=1) / np.sqrt(len(errors))
        mean = errors[:, :, j].mean(axis=0)
        low, high = mean - 2 * spread, mean + 2 * spread
        panel.plot(
            alphas, mean, style.marker, linestyle=style.line, color=style.colour, label=style.label
        )
        panel.fill_between(
            alphas, low, high, color=style.colour, alpha=0.18, label="± 2 standard errors"
        )
    panel.set(xscale="log", xlabel="alpha", ylabel="error on the unlabeled rows", ylim=(0, None))
    plotting.legend(figure, [panel], n_columns=2)
plt.show()

# %%
# With a weak ridge they help, as always. With the right ridge they *hurt*: the filled-in labels are
# often spread over wrong classes, as the pictures above show, and count as much as known ones. If
# an unlabeled row counts a tenth of a labeled one (``unlabeled_weight=0.1``), most of the gain
# remains and most of the harm disappears; ``SoftLabelClassifierCV`` tries several weights,
# including 0.
