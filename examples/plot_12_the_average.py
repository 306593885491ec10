r"""
12. The average: from a few labels to predictions to trust
==========================================================

``AveragedClassifier`` fits about sixty simple classifiers, lets each predict the labeled rows out
of sample, and averages their probabilities, weighted by how good these predictions are. There is
nothing to set. This example fits one table and answers four questions: what are the unlabeled rows
worth, are the probabilities right, which predictions can be trusted, and which members made them?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from semisquares import AveragedClassifier, plotting
from semisquares.paper.datasets import remove_labels

GREEN, GREY = "#009E73", "#8A8A8A"

# %%
# Sixty labels
# ------------
# The rows are pictures of handwritten digits, 8 × 8 pixels, in ten classes. Sixty of 1,797 have a
# label; the others are in the table, too. We know their digits, and use them at the end of each
# section to check the model's own estimates.

X, truth = load_digits(return_X_y=True)
y = remove_labels(truth, n_labeled=60, random_state=0)  # -1: no label
hidden = y == -1
model = AveragedClassifier().fit(X, y)
print(f"by rows that were left out: {model.loo_score_:.2f} are right")
print(f"hidden rows:                {model.score(X[hidden], truth[hidden]):.2f} are right")

# %%
# What the unlabeled rows are worth
# ---------------------------------
# ``supervised_`` is the same classifier with representations learned from the labeled rows alone.
# The difference is what the unlabeled rows are worth, and the left-out predictions show it without
# a single further label.


def worth(model, X, y, truth):
    """Print accuracies with the unlabeled rows and without them."""
    hidden = y == -1
    for name, one in (("all rows", model), ("labeled rows", model.supervised_)):
        score = one.score(X[hidden], truth[hidden])
        print(f"{name:12s}: left out {one.loo_score_:.2f}, hidden {score:.2f}")


worth(model, X, y, truth)

# %%
# Here they are worth a lot: the digits form clusters, which are visible without labels. On a table
# of measurements that a plane separates well, they are worth next to nothing, and the model shows
# that, too:

X_cells, truth_cells = load_breast_cancer(return_X_y=True)
y_cells = remove_labels(truth_cells, n_labeled=30, random_state=0)
worth(AveragedClassifier().fit(X_cells, y_cells), X_cells, y_cells, truth_cells)

# %%
# Are the probabilities right?
# ----------------------------
# The left plot uses the sixty labels, each row predicted without itself: in practice this is all
# you have. The intervals are wide, and the line below the picture says how large the error would be
# if all probabilities were right. The right plot uses the hidden rows, which are numerous enough to
# be certain.

p = model.predict_proba(X[hidden])
with plotting.style():
    figure, panels = plt.subplots(1, 2, figsize=(7.8, 3.8), layout="constrained")
    plotting.plot_reliability(model, y, ax=panels[0])
    plotting.ReliabilityDisplay.from_predictions(
        truth[hidden], p, classes=model.classes_, ax=panels[1]
    )
plt.show()

# %%
# The model is never overconfident, but it is underconfident: of the hidden rows with a probability
# of one half, about four in five are right. Sixty labels could not show that: the diagonal is
# within their intervals, and the model cannot know more than they do.
#
# Which predictions to trust
# --------------------------
# Probabilities rank the predictions. Accept the most certain ones, and check the others yourself:
# those are also the rows whose labels would help most.

sure = p.max(axis=1)
right = model.classes_[p.argmax(axis=1)] == truth[hidden]
order = np.argsort(-sure)
taken = np.arange(1, len(order) + 1)
found = np.cumsum(right[order]) / taken
expected = np.cumsum(sure[order]) / taken
with plotting.style():
    figure, panel = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
    panel.plot(100 * taken / len(order), found, color=GREEN, label="are right")
    panel.plot(100 * taken / len(order), expected, "--", color=GREY, label="expected to be right")
    panel.set(xlabel="surest predictions taken, %", ylabel="share", ylim=(0.7, 1.01))
    panel.legend(loc="lower left")
plt.show()
half, tenth = len(order) // 2, len(order) // 10
print(f"the surer half: {found[half - 1]:.3f} are right")
print(f"the least sure tenth: {right[order[-tenth:]].mean():.2f} are right")

# %%
# Which members made them
# -----------------------
# ``members_`` has an entry for each member. These five have the largest weights:

members = model.members_
for k in np.argsort(-members["weight"])[:5]:
    print(
        f"{members['family'][k]:13s} {members['representation'][k]:17s} {members['setting'][k]:15s}"
        f" log loss {members['log_loss'][k]:.2f}, weight {members['weight'][k]:.2f}"
    )

# %%
# All of them in one picture: a bar for each representation, divided by the strength of its ridge.

plotting.plot_members(model)
plt.show()

# %%
# Digits that look alike are neighbours, and the graph has the largest weight. Logistic regression
# has most of the rest; trees need more than six labels per digit. Nobody had to know that in
# advance: the members were scored on rows that they had not seen.
