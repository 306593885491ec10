r"""
5. Pipelines, grid search and unlabeled rows
============================================

The classifiers are scikit-learn estimators: they go into pipelines and searches. One thing needs
care. Cross-validation must *test* on labeled rows only, and should *train* on all the others. A
plain ``cv=5`` does neither: it takes "no label", -1, for a class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semisquares import LeastSquaresClassifier, SoftLabelClassifier, SoftLabelClassifierCV, plotting
from semisquares.model_selection import LabeledRepeatedStratifiedKFold, LabeledStratifiedKFold

# %%
# This is a real table (breast cancer, 569 rows, 30 columns). We know all labels and keep 40. The
# scaler is fitted to all rows: it needs no labels.

X, truth = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(0)
y = np.full(len(truth), -1)
kept = rng.choice(len(truth), 40, replace=False)
y[kept] = truth[kept]
hidden = y == -1

pipeline = make_pipeline(StandardScaler(), SoftLabelClassifier())
plain = cross_val_score(pipeline, X, y, cv=5, scoring="accuracy")
ours = cross_val_score(pipeline, X, y, cv=LabeledStratifiedKFold(5))
print(f"cv=5 counts -1 as a class: {plain.mean():.3f}")
print(f"LabeledStratifiedKFold(5):  {ours.mean():.3f}")

# %%
# The first number comes from a test in which "-1" is the right answer for nearly every row, but no
# classifier here ever predicts it. It is meaningless.
#
# Search over the ridge and over the unlabeled rows
# -------------------------------------------------
# ``unlabeled_weight=0`` leaves the unlabeled rows out. With 0 in the grid, the labels decide
# whether the unlabeled rows help.

grid = {
    "softlabelclassifier__alpha": np.logspace(-3, 3, 7),
    "softlabelclassifier__unlabeled_weight": [0.0, 0.01, 0.1, 1.0],
}
cv = LabeledRepeatedStratifiedKFold(5, n_repeats=4, random_state=0)
search = GridSearchCV(pipeline, grid, cv=cv).fit(X, y)
scores = search.cv_results_["mean_test_score"].reshape(7, 4)

with plotting.style():
    figure, panel = plt.subplots(figsize=(5.0, 3.4), layout="constrained")
    shown = panel.pcolormesh(1 - scores.T, cmap="Greens_r", edgecolors="white", linewidth=1.5)
    for (row, column), score in np.ndenumerate(scores.T):
        dark = score > 0.5 * (scores.min() + scores.max())
        colour = "white" if dark else "black"
        panel.text(
            column + 0.5, row + 0.5, f"{1 - score:.3f}", ha="center", va="center", color=colour
        )
    panel.set(
        xticks=np.arange(7) + 0.5, xticklabels=[f"{a:g}" for a in np.logspace(-3, 3, 7)],
        yticks=np.arange(4) + 0.5, yticklabels=["0 (leave out)", "0.01", "0.1", "1"],
        xlabel="alpha", ylabel="unlabeled_weight", title="Error on held-out labeled rows",
    )  # fmt: skip
    figure.colorbar(shown, ax=panel, label="error")
plt.show()

# %%
# Look at the columns. With a weak ridge, on the left, unlabeled rows help a lot; with a well-chosen
# one the rows of the picture hardly differ. Much of what unlabeled rows achieve for least squares,
# a tuned ridge achieves without them, and 40 labels cannot tell the best few cells apart.
# ``SoftLabelClassifierCV`` is made for this case: it leaves the unlabeled rows out unless the
# labels clearly show that they help.

chosen = make_pipeline(StandardScaler(), SoftLabelClassifierCV()).fit(X, y)
alpha, weight = search.best_params_.values()
print(f"GridSearchCV took alpha = {alpha:g}, unlabeled_weight = {weight}")
print(
    f"SoftLabelClassifierCV took alpha = {chosen[-1].alpha_:.3g}, "
    f"unlabeled_weight = {chosen[-1].unlabeled_weight_}"
)

ridge = make_pipeline(StandardScaler(), RidgeClassifierCV(np.logspace(-3, 3, 7)))
ridge.fit(X[~hidden], y[~hidden])
weak = make_pipeline(StandardScaler(), LeastSquaresClassifier(1e-3)).fit(X, y)
weak_soft = make_pipeline(StandardScaler(), SoftLabelClassifier(1e-3)).fit(X, y)
for name, model in {
    "supervised, weak ridge": weak,
    "soft labels, weak ridge": weak_soft,
    "tuned ridge": ridge,
    "soft labels, grid search": search,
    "SoftLabelClassifierCV": chosen,
}.items():
    print(f"{name:26s} accuracy on the hidden labels {model.score(X[hidden], truth[hidden]):.3f}")

# %%
# The error as unlabeled rows come in
# -----------------------------------
# ``plot_learning_curve`` uses the same splits: the test rows are labeled, and more and more of the
# other rows are added to the training set. The bands account for folds that share rows, and are
# wide, as they should be with 40 labels.

with plotting.style():
    figure, panel = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
    shown = plotting.plot_learning_curve(
        {
            "supervised, alpha = 0.001": LeastSquaresClassifier(1e-3),
            "soft labels, alpha = 0.001": SoftLabelClassifier(1e-3),
            "soft labels, alpha = 10": SoftLabelClassifier(10.0),
        },
        StandardScaler().fit_transform(X),
        y,
        cv=cv,
        ax=panel,
    )
    plotting.legend(figure, [panel], n_columns=2, more=shown.handles_)
plt.show()
