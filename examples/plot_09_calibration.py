r"""
9. Soft labels are not probabilities
====================================

``predict_proba`` returns the soft label: the decision value, clipped to :math:`[0, 1]`. It sums to
one and it ranks the rows, but it is the result of a least squares fit, not the frequency of a
class. For probabilities, calibrate on labeled rows that the fit has not seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from semisquares import SoftLabelClassifier, plotting

GREY = "#8A8A8A"

# %%
# A table whose true probabilities are known
# ------------------------------------------
# There are two Gaussian classes, one twice as frequent as the other. Bayes' rule gives the true
# probability for each row, and we can compare everything with it.

D = 12
SHIFT = np.linspace(0.1, 0.8, D)


def draw(n, rng):
    """Draw rows, their classes, and the probability of class 1 of each."""
    truth = (rng.random(n) < 1 / 3).astype(int)
    X = rng.normal(size=(n, D)) + truth[:, None] * SHIFT
    log_odds = X @ SHIFT - 0.5 * SHIFT @ SHIFT + np.log(0.5)
    return X, truth, 1 / (1 + np.exp(-log_odds))


rng = np.random.default_rng(0)
X, truth, _ = draw(3000, rng)
X_test, truth_test, p_test = draw(20_000, np.random.default_rng(1))
y = np.full(len(truth), -1)
y[:150] = truth[:150]
X_cal, y_cal, _ = draw(300, np.random.default_rng(2))  # further labeled rows, for calibration

model = SoftLabelClassifier(alpha=1.0).fit(X, y)
calibrated = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid").fit(X_cal, y_cal)
predicted = {
    "soft label": model.predict_proba(X_test)[:, 1],
    "calibrated": calibrated.predict_proba(X_test)[:, 1],
}

# %%
# On the left, predictions are compared with observed frequencies, in groups of rows; on the right,
# with the true probability, row by row.

styles = {
    "soft label": plotting.method_style("soft"),
    "calibrated": plotting.method_style("hard_from_soft"),
}
with plotting.style():
    figure, (groups, single) = plt.subplots(1, 2, figsize=(7.6, 3.7), layout="constrained")
    for panel in (groups, single):
        panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    edges = np.linspace(0, 1, 11)
    for name, p in predicted.items():
        style = styles[name]
        bins = np.clip(np.digitize(p, edges) - 1, 0, 9)
        filled = [k for k in range(10) if np.sum(bins == k) >= 30]
        groups.plot(
            [p[bins == k].mean() for k in filled], [truth_test[bins == k].mean() for k in filled],
            color=style.colour, marker=style.marker, label=name,
        )  # fmt: skip
        single.plot(
            p_test[::20], p[::20], style.marker, color=style.colour, markersize=2.2, alpha=0.5,
            markeredgewidth=0,
        )  # fmt: skip
    groups.set(xlabel="predicted", ylabel="observed share of class 1", title="Reliability")
    single.set(xlabel="true probability of class 1", ylabel="predicted", title="Row by row")
    groups.legend(loc="upper left")
plt.show()

# %%
# Soft labels are too close to the middle: of the rows with a soft label of 0.65, about nine in ten
# are in class 1, and of those with 0.15, one in twenty. Calibrated probabilities are near the
# diagonal, as near as 300 labels allow. The scores show the same; the best possible scores are
# those of the true probabilities.


def log_loss(p):
    """Return the mean log loss, with p kept a little away from 0 and 1."""
    p = np.clip(p, 1e-3, 1 - 1e-3)
    return -np.mean(np.where(truth_test == 1, np.log(p), np.log(1 - p)))


for name, p in {**predicted, "true probability": p_test}.items():
    brier = np.mean((p - truth_test) ** 2)
    print(f"{name:17s} squared error {brier:.4f}, log loss {log_loss(p):.4f}")

# %%
# What the unlabeled rows got
# ---------------------------
# The labels that the fit filled in are not probabilities either, and need not be. Rows that would
# overshoot have labels of exactly 0 or 1.

plotting.plot_soft_labels(model, X, y)
plt.show()

# %%
# Keep two things in mind. Calibration needs labels of its own; with a handful of labels you cannot
# calibrate, and only have a ranking. And it cannot correct a shift: if the labeled rows are not
# like the others, neither are their class frequencies.
