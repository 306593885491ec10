r"""
7. Curved boundaries: kernels by composition
============================================

The classifiers are linear in their columns. For a curved boundary, put a kernel map, such as
scikit-learn's ``Nystroem``, before the classifier. It is fitted to all rows, since it needs no
labels, and the problem stays convex, certified and fast.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelSpreading

from semisquares import SoftLabelClassifier, plotting

# %%
# Two moons, five labels each.

X, truth = make_moons(500, noise=0.12, random_state=0)
X_test, truth_test = make_moons(4000, noise=0.12, random_state=1)


def keep_labels(number):
    """Return the labels of five rows of each moon, -1 for the others."""
    rng = np.random.default_rng(number)
    y = np.full(len(truth), -1)
    for label in (0, 1):
        y[rng.choice(np.flatnonzero(truth == label), 5, replace=False)] = label
    return y


def kernel(alpha):
    """Return a soft-label classifier on 60 kernel columns."""
    return make_pipeline(
        Nystroem(gamma=2.0, n_components=60, random_state=0), SoftLabelClassifier(alpha)
    )


y = keep_labels(3)
models = {
    "linear": SoftLabelClassifier(),
    "kernel, alpha = 0.001": kernel(0.001),
    "kernel, alpha = 0.1": kernel(0.1),
}
with plotting.style():
    figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.4), layout="constrained", sharey=True)
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        shown = plotting.plot_decision(model.fit(X, y), X, y, ax=panel)
        panel.set_title(f"{name}: test error {1 - model.score(X_test, truth_test):.3f}")
        panel.label_outer()
    plotting.legend(figure, panels, n_columns=4, more=shown.handles_)
plt.show()

# %%
# Ten labels do not determine sixty weights. With a weak ridge, the supervised decision function
# (dashed) overshoots between the labels, the unlabeled rows prevent that where they lie, and the
# two boundaries differ. With a stronger ridge, decision values stay between 0 and 1, hardly any row
# pulls, and the boundaries are the same.
#
# What follows the moons better
# -----------------------------
# Soft labels assume that decision values should not overshoot. They do *not* assume that classes
# are clusters, or that labels spread along a moon. ``LabelSpreading`` assumes exactly that, and
# here it is true. The picture shows the means over twenty choices of the labels:

alphas = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
by_alpha = np.empty((20, len(alphas), 2))
spreading = np.empty(20)
for number in range(20):
    y = keep_labels(number)
    for k, alpha in enumerate(alphas):
        model = kernel(alpha).fit(X, y)
        mapped = model[:-1].transform(X_test)
        by_alpha[number, k] = (
            1 - model[-1].supervised_.score(mapped, truth_test),
            1 - model[-1].score(mapped, truth_test),
        )
    spreading[number] = 1 - LabelSpreading(gamma=30.0).fit(X, y).score(X_test, truth_test)

with plotting.style():
    figure, panel = plt.subplots(figsize=(5.4, 3.3), layout="constrained")
    for k, name in enumerate(("supervised", "soft")):
        mean = by_alpha[:, :, k].mean(axis=0)
        spread = by_alpha[:, :, k].std(axis=0, ddof=1) / np.sqrt(20)
        style = plotting.method_style(name)
        low, high = mean - 2 * spread, mean + 2 * spread
        panel.plot(
            alphas, mean, style.marker, linestyle=style.line, color=style.colour, label=style.label
        )
        panel.fill_between(
            alphas, low, high, color=style.colour, alpha=0.18, label="± 2 standard errors"
        )
    panel.axhline(spreading.mean(), color="black", linestyle=":", label="label spreading")
    panel.set(xscale="log", xlabel="alpha", ylabel="test error", ylim=(0, None))
    plotting.legend(figure, [panel], n_columns=2)
plt.show()

# %%
# For least squares the unlabeled rows change little here, whatever the ridge. If your classes are
# clusters, use a method that assumes clusters; and test it on held-out labeled rows before you
# trust it.
