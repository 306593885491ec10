r"""
13. Which rows to label
=======================

A label costs money or an afternoon, so the rows to label should be chosen well.
``semisquares.labeling.suggest`` looks for rows that are like many others whose class is uncertain.
This example shows which rows these are, how the accuracy rises with their labels and with those of
random rows, and a table on which suggested rows are no better.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone

from semisquares import AveragedClassifier
from semisquares.labeling import suggest
from semisquares.plotting import style

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8A8A8A"
QUICK = AveragedClassifier(families="least_squares")  # one family, to fit often in a few seconds

# %%
# A table with small groups
# -------------------------
# The rows of two classes form ten groups. Three groups have most of the rows; among random rows
# there are few of the others.

rng = np.random.default_rng(0)
CENTRES = rng.permutation([(x, y) for x in range(4) for y in range(3)])[:10]
SIZES = np.array([75, 55, 40, 10, 8, 8, 6, 6, 5, 5])


def draw(sizes, rng):
    """Draw rows of the groups, their classes, and their groups."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    X = CENTRES[group] + 0.17 * rng.normal(size=(len(group), 2))
    return X, CENTRES[group].sum(axis=1) % 2, group


X, truth, group = draw(SIZES, rng)
X_test, truth_test, _ = draw(4 * SIZES, rng)

# %%
# No row has a label at first. Then all rows are equally uncertain, and ``suggest`` names those that
# represent the others best. With ``y`` it also counts how certain the classifier is of each row,
# and the reasons change.

y = np.full(len(X), -1)  # -1: no label
first = suggest(QUICK, X, y, n=8)
y[first.indices] = truth[first.indices]
second = suggest(QUICK, X, y, n=8)
for name, found in (("without labels", first), ("with eight labels", second)):
    print(f"{name}: {', '.join(sorted(set(found.reasons)))}")

with style():
    figure, panels = plt.subplots(1, 2, figsize=(7.8, 3.4), layout="constrained", sharey=True)
    for panel, found, title in zip(
        panels, (first, second), ("the first eight rows", "the next eight"), strict=True
    ):
        panel.scatter(*X.T, s=7, c=np.where(truth == 1, ORANGE, BLUE), alpha=0.35, linewidths=0)
        for place, row in enumerate(found.indices, 1):
            panel.text(
                *X[row], place, ha="center", va="center", fontsize=7,
                bbox={"boxstyle": "circle,pad=0.25", "fc": "white", "ec": "black", "lw": 0.8},
            )  # fmt: skip
        panel.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# Large groups come first, then the others: each suggestion takes into account what the labels of
# those before it will tell. Random rows are in the three large groups most of the time.

both = np.concatenate([first.indices, second.indices])
random = [rng.choice(len(X), len(both), replace=False) for _ in range(100)]
print(f"groups with a label: {len(set(group[both]))} of {len(SIZES)} if rows are suggested,")
print(f"{np.mean([len(set(group[rows])) for rows in random]):.1f} on average if they are random")

# %%
# The learning curves
# -------------------
# We label four rows at a time, fit again, and count how many test rows are right. Random rows are
# drawn five times.


def curve(X, truth, X_test, truth_test, choose, n_batches=7):
    """Return the accuracy after each batch of four labels."""
    y = np.full(len(X), -1)
    model, accuracies = QUICK, []
    for _ in range(n_batches):
        rows = choose(model, y)
        y[rows] = truth[rows]
        if len(np.unique(y[y >= 0])) > 1:
            model = clone(QUICK).fit(X, y)
            accuracies.append(model.score(X_test, truth_test))
        else:
            accuracies.append(np.mean(truth_test == y.max()))  # the only class so far
    return np.array(accuracies)


def curves(X, truth, X_test, truth_test):
    """Return the curve of suggested rows, and those of random rows."""
    table = (X, truth, X_test, truth_test)
    suggested = curve(*table, lambda model, y: suggest(model, X, y, n=4).indices)
    random = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        random.append(curve(*table, lambda model, y, order=order: order[: (y >= 0).sum() + 4][-4:]))
    return suggested, np.array(random)


def plot_curves(panel, suggested, random, title):
    """Draw the curve of suggested rows over those of random ones."""
    labels = 4 * np.arange(1, len(suggested) + 1)
    panel.plot(labels, random.T, color=GREY, lw=0.8, alpha=0.7)
    panel.plot([], [], color=GREY, label="random rows, five times")
    panel.plot(labels, suggested, color=GREEN, lw=2, label="suggested rows")
    panel.set(title=title, xlabel="labels")


groups = curves(X, truth, X_test, truth_test)
for k in (1, 3, 6):
    print(
        f"{4 * (k + 1):2d} labels: suggested {groups[0][k]:.2f}, "
        f"random {groups[1][:, k].min():.2f} to {groups[1][:, k].max():.2f}"
    )

# %%
# When it does not matter
# -----------------------
# The classes of the second table overlap nearly everywhere. A row that is uncertain stays so,
# whatever is labeled, and no row speaks for a group of its own. All labels help a little, wherever
# they are; random rows are as good, or better.


def draw_overlapping(n, rng):
    """Draw rows of two classes whose means are close to each other, and the classes."""
    truth = rng.integers(2, size=n)
    return rng.normal(size=(n, 6)) + 0.35 * truth[:, None], truth


overlapping = curves(*draw_overlapping(200, rng), *draw_overlapping(1000, rng))
with style():
    figure, panels = plt.subplots(1, 2, figsize=(7.8, 3.2), layout="constrained", sharey=True)
    plot_curves(panels[0], *groups, "ten groups")
    plot_curves(panels[1], *overlapping, "overlapping classes")
    panels[0].set_ylabel("accuracy")
    panels[1].legend(loc="upper right")
plt.show()
for name, (suggested, random) in (("ten groups", groups), ("overlapping", overlapping)):
    gain = 100 * (suggested - random.mean(axis=0))
    print(f"{name}: points above the mean of random rows {', '.join(f'{g:+.0f}' for g in gain)}")

# %%
# So suggested rows pay if a table has parts that random rows miss. On real tables they usually do,
# though not on all of them: the page *Which rows to label* has the measurements. They are the hard
# rows, too: errors that are measured on them are larger than on all rows. That is why ``semisquares
# label`` draws every fifth row at random, and measures the accuracy on these.
