r"""
14. Doubtful labels
===================

People press wrong keys, and spreadsheets are sorted by one column only. ``doubtful_labels`` lists
the labels that the classifier contradicts when it has not seen them, and estimates how many are
wrong. Here some labels are wrong on purpose, so that we can see which of them it finds, and where
it cannot find any.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from semisquares import AveragedClassifier
from semisquares.labeling import doubtful_labels
from semisquares.paper.datasets import remove_labels
from semisquares.plotting import style

ORANGE, GREY = "#D55E00", "#8A8A8A"

# %%
# Eight wrong labels
# ------------------
# 160 of the 569 rows have a label, and eight of these are replaced by the other class.

X, truth = load_breast_cancer(return_X_y=True)
y = remove_labels(truth, n_labeled=160, random_state=0)  # -1: no label
flipped = np.random.default_rng(0).choice(np.flatnonzero(y >= 0), 8, replace=False)
y[flipped] = 1 - y[flipped]

model = AveragedClassifier().fit(X, y)
found = doubtful_labels(model, X, y)
print(f"doubtful: {len(found)} of {found.n_labels} labels")
print(
    f"wrong: about {found.n_expected:.1f}, 90 % interval {found.interval}; in truth {len(flipped)}"
)
for row, given, likely, doubt in zip(
    found.indices[:4], found.given, found.likely, found.scores, strict=False
):
    print(f"row {row}: label {given}, likely {likely}, wrong with probability {doubt:.2f}")

# %%
# The list has the most doubtful label first. Each bar is a label of the list; its height is the
# probability that the label is wrong.


def plot_doubts(panel, found, flipped, title):
    """Draw a bar for each doubtful label, in another colour if it really is wrong."""
    is_wrong = np.isin(found.indices, flipped)
    places = np.arange(1, len(found) + 1)
    for which, colour, label in ((is_wrong, ORANGE, "wrong"), (~is_wrong, GREY, "right")):
        panel.bar(places[which], found.scores[which], color=colour, label=label)
    missed = len(flipped) - is_wrong.sum()
    panel.set(title=f"{title}: {missed} of {len(flipped)} not on the list")
    panel.set(xlabel="place on the list", ylim=(0, 1))
    panel.legend()


with style():
    figure, panel = plt.subplots(figsize=(5.2, 3.0), layout="constrained")
    plot_doubts(panel, found, flipped, "160 labels")
    panel.set_ylabel("probability of being wrong")
plt.show()

# %%
# Going through the list is much less work than going through all labels again. Most wrong labels
# are at its beginning; the right ones after them belong to rows near the boundary of the classes.
#
# What correcting them brings
# ---------------------------
# We look at the listed rows again, correct what is wrong, and fit again. The rows without a label
# show how good the models are.

corrected = y.copy()
corrected[found.indices] = truth[found.indices]
hidden = y == -1
for name, labels in (("as given", y), ("corrected", corrected)):
    score = AveragedClassifier().fit(X, labels).score(X[hidden], truth[hidden])
    print(f"labels {name:9s}: {score:.3f} of the other rows are right")

# %%
# A few wrong labels cost this classifier little: most members of the average are ridges, which no
# single row can move far. Correcting labels matters more for what is measured with them, because
# every wrong label counts as an error of the model.

print(f"left-out accuracy with the labels as given: {model.loo_score_:.3f}")
print(f"and with the corrected ones: {AveragedClassifier().fit(X, corrected).loo_score_:.3f}")

# %%
# If classes overlap
# ------------------
# If the classes overlap, right labels contradict the classifier as well, and nobody can tell the
# wrong ones from them. The list is long then, most of it is right, and the interval for the number
# of wrong labels is wide. Read that width as a warning: on such a table, the list says little.

rng = np.random.default_rng(1)
classes = rng.integers(2, size=400)
rows = rng.normal(size=(400, 4)) + 0.6 * classes[:, None]
labels = np.where(np.arange(400) < 160, classes, -1)
turned = rng.choice(160, 8, replace=False)
labels[turned] = 1 - labels[turned]
unclear = doubtful_labels(None, rows, labels)
print(f"wrong: about {unclear.n_expected:.1f}, 90 % interval {unclear.interval}; in truth 8")

with style():
    figure, panels = plt.subplots(1, 2, figsize=(7.8, 3.0), layout="constrained", sharey=True)
    plot_doubts(panels[0], found, flipped, "separated")
    plot_doubts(panels[1], unclear, turned, "overlapping")
    panels[0].set_ylabel("probability of being wrong")
plt.show()
