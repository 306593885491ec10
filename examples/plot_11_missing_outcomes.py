r"""
11. Where it comes from: missing outcomes
=========================================

In 1933 Frank Yates had field trials with lost plots, and no computer. His solution: fill in a guess
for the missing yields, fit as if nothing were missing, fill in the predictions of the fit, and fit
again. This converges to the fit of the *complete* plots: filled-in rows that lie on the line do not
pull, so **rows without an outcome teach a regression nothing**.

Semi-supervised least squares is the same iteration with one line changed. A label cannot be 2.5. If
the filled-in values are clipped to :math:`[0, 1]`, the unlabeled rows have an effect.
"""

import matplotlib.pyplot as plt
import numpy as np

from semisquares import SoftLabelClassifier, plotting
from semisquares.baselines import MissingOutcomeRegressor
from semisquares.core.labelings import SoftLabels

GREY, LIGHT = "#8A8A8A", "#D4D4D4"
ORANGE, SKY, VERMILION = "#E69F00", "#56B4E9", "#D55E00"

# %%
# The regression: it ends where it would have begun
# -------------------------------------------------

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 24))
outcome = 2.0 + 0.6 * x + rng.normal(0, 0.8, 24)
missing = np.isin(np.arange(24), [2, 5, 9, 10, 14, 15, 16, 20, 22])
y = np.where(missing, np.nan, outcome)

model = MissingOutcomeRegressor(init="zero", record_path=True).fit(x[:, None], y)
complete = np.polyfit(x[~missing], outcome[~missing], 1)
print(
    f"filled in, {model.n_iter_} fits: slope {model.coef_[0]:.6f}, intercept {model.intercept_:.6f}"
)
print(f"complete rows alone:    slope {complete[0]:.6f}, intercept {complete[1]:.6f}")

with plotting.style():
    figure, (lines, values) = plt.subplots(1, 2, figsize=(7.8, 3.4), layout="constrained")
    ends = np.array([0.0, 10.0])
    for k, step in enumerate(model.path_[:8]):
        slope, intercept = np.ravel(step.w)
        colour = plt.get_cmap("viridis")(k / 8)
        lines.plot(ends, intercept + slope * ends, color=colour, linewidth=0.9)
        lines.plot(x[missing], step.labels[missing], ".", color=colour, markersize=4)
    lines.plot(x[~missing], y[~missing], "o", color="black", markersize=4, label="known")
    lines.plot(
        [], [], ".-", color=plt.get_cmap("viridis")(0.5), label="fits, and what they fill in"
    )
    lines.legend(loc="upper left")
    lines.set(xlabel="x", ylabel="outcome", title="Fit, fill in, fit again")
    path = np.array([step.labels[missing] for step in model.path_])
    values.semilogy(np.abs(path - path[-1]).max(axis=1)[:-1], color=VERMILION)
    values.set(xlabel="step", ylabel="largest change still to come", title="How fast")
    values.grid(axis="y")
plt.show()

# %%
# The filled-in points start at zero, drag the line down, rise with it, and settle *on* it. The line
# has not changed, but Yates could now use the tables for complete trials.
#
# The same steps for labels
# -------------------------
# Now the outcome is a class, 0 or 1, known for six rows. Run the same code twice: once as it is,
# and once with labels clipped to :math:`[0, 1]`.


class WithinZeroAndOne(MissingOutcomeRegressor):
    """The same, but what is filled in is a label."""

    labeling = SoftLabels()


x = np.concatenate((rng.normal(-1.5, 0.7, 40), rng.normal(2.0, 1.2, 40)))
classes = np.repeat([0, 1], 40)
order = rng.permutation(80)
known = np.concatenate([order[classes[order] == k][:3] for k in (0, 1)])
free = np.setdiff1d(np.arange(80), known)
y = np.full(80, np.nan)
y[known] = classes[known]

X = x[:, None]
yates = MissingOutcomeRegressor().fit(X, y)
clipped = WithinZeroAndOne().fit(X, y)
soft = SoftLabelClassifier(alpha=0).fit(X, np.nan_to_num(y, nan=-1).astype(int))

with plotting.style():
    figure, panels = plt.subplots(1, 2, figsize=(7.8, 3.2), layout="constrained", sharey=True)
    ends = np.array([x.min() - 0.3, x.max() + 0.3])
    for panel, one, name in zip(panels, (yates, clipped), ("supervised", "soft"), strict=True):
        style = plotting.method_style(name)
        for level in (0.0, 1.0):
            panel.axhline(level, color=LIGHT, linewidth=0.8, zorder=0)
        panel.plot(ends, one.predict(ends[:, None]), color=style.colour, linestyle=style.line)
        panel.plot(x[free], one.filled_[free], ".", color=GREY, markersize=4)
        for code in (0, 1):
            mine = known[classes[known] == code]
            dots = {"color": (SKY, ORANGE)[code], "markersize": 7, "markeredgecolor": "black"}
            panel.plot(x[mine], classes[mine], "os"[code], **dots)
        panel.plot((0.5 - one.intercept_) / one.coef_[0], 0.5, "D", color=style.colour)
        panel.set(xlabel="x", yticks=[0, 0.5, 1])
    panels[0].set(title="Any number may be filled in", ylabel="label")
    panels[1].set_title("Only labels may")
plt.show()

# %%
# On the left, the grey points lie on the line of the six labeled rows: this is the supervised
# classifier. On the right, they cannot leave the strip; those that would leave it pull, and the
# line turns. This is the soft-label classifier, up to the accuracy of the iteration:

print(f"clipped regression: {clipped.coef_[0]:.8f}, soft labels: {soft.coef_[0, 0]:.8f}")
