r"""
6. Text: as many words as labels
================================

Text makes wide and sparse tables: a column for every word, nearly all cells empty. The classifiers
take sparse matrices and keep them sparse. Wide tables also show the well-known weakness of plain
least squares: it is at its worst if there are **as many labels as columns**. Then it fits every
label exactly, with enormous weights, and overshoots everywhere else. Overshooting is exactly what
unlabeled rows prevent.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifierCV

from semisquares import SoftLabelClassifier, plotting

GREY, LIGHT, ORANGE, SKY = "#8A8A8A", "#D4D4D4", "#E69F00", "#56B4E9"

# %%
# Documents from a small world
# ----------------------------
# The documents are artificial, so that no download is needed: notes from a kitchen and from a
# garden. Each mixes words of its own subject, everyday words, and now and then a word of the other
# subject.

WORDS = {
    "kitchen": "oven pan butter flour sugar whisk simmer roast dough spoon salt pepper onion broth "
    "grill bake fry recipe plate sauce vinegar noodle pastry yeast ladle skillet marinade cinnamon "
    "cream egg cheese garlic stew kettle apron crust batter glaze saucepan thyme",
    "garden": "soil seed shovel rake compost weed prune bloom petal root mulch hedge lawn fence "
    "sprout rain frost beetle worm bulb greenhouse trellis rose tulip ivy moss orchard graft "
    "nettle wheelbarrow hose gravel pond shrub fern daisy clover pollen bark sapling",
    "everyday": "today again with some little more then before after morning evening neighbour "
    "friend house table hand water time good new old small long first last bought found left right "
    "ready warm cold slowly nearly always never perhaps tomorrow week month",
}
POOLS = {subject: text.split() for subject, text in WORDS.items()}


def write_documents(n, rng):
    """Write n documents, half of them from the kitchen; the first words of a pool are frequent."""
    truth = np.arange(n) % 2
    often = 1.0 / (np.arange(40) + 3.0)
    often /= often.sum()
    texts = []
    for own, other in np.array([("kitchen", "garden"), ("garden", "kitchen")])[truth]:
        counts = rng.multinomial(rng.integers(8, 15), [0.35, 0.08, 0.57])
        pools = [POOLS[own], POOLS[other], POOLS["everyday"]]
        words = [rng.choice(pool, k, p=often) for pool, k in zip(pools, counts, strict=True)]
        texts.append(" ".join(rng.permutation(np.concatenate(words))))
    return texts, truth


rng = np.random.default_rng(0)
texts, truth = write_documents(2000, rng)
texts_test, truth_test = write_documents(4000, np.random.default_rng(1))
print(texts[0])
print(texts[1])

vectors = TfidfVectorizer()
X, X_test = vectors.fit_transform(texts), vectors.transform(texts_test)  # all texts: no labels
words = vectors.get_feature_names_out()
filled = X.nnz / np.prod(X.shape)
print(f"{X.shape[0]} documents, {X.shape[1]} words, {filled:.1%} of the cells filled")

# %%
# As many labels as words
# -----------------------
# There is almost no ridge (``alpha=1e-4``), and 120 documents have labels. Each bar is the weight
# of a word.

order = rng.permutation(len(texts))
y = np.full(len(texts), -1)
y[order[:120]] = truth[order[:120]]
model = SoftLabelClassifier(alpha=1e-4).fit(X, y)

pool_of = {word: k for k, pool in enumerate(POOLS.values()) for word in pool}
subject = np.array([pool_of[word] for word in words])
with plotting.style():
    figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
    for panel, name, fit in zip(
        panels, ("supervised", "soft labels"), (model.supervised_, model), strict=True
    ):
        weights = fit.coef_[0]
        ranks = weights.argsort().argsort()
        colours = (SKY, ORANGE, LIGHT)
        for k, (pool, colour) in enumerate(zip(POOLS, colours, strict=True)):
            mine = subject == k
            panel.vlines(ranks[mine], 0, weights[mine], color=colour, linewidth=2, label=pool)
        error = 1 - fit.score(X_test, truth_test)
        panel.set_title(f"{name}: test error {error:.3f}")
        panel.set(xlabel="words, sorted by weight", xticks=[])
    panels[0].set_ylabel("weight (mind the two scales)")
    panels[0].legend(loc="upper left")
plt.show()

# %%
# On the left words of all kinds are mixed, with weights many times too large. On the right most
# kitchen words are on one side and most garden words on the other. The decision values and the
# filled-in labels of the documents show the same: the supervised weights put many documents far
# beyond 0 or 1.

plotting.plot_soft_labels(model, X, y)
plt.show()

# %%
# More labels, and fewer
# ----------------------
# The peak is there, and the unlabeled documents remove it. But so does a ridge whose penalty is
# tuned on the labels, and it is the best almost everywhere. And on the left, with fewer labels than
# words, soft labels without a ridge can be worse than leaving the unlabeled documents out.

sizes = np.array([12, 24, 48, 72, 96, 120, 160, 240, 480, 960])
errors = np.empty((5, len(sizes), 3))
for repeat, k in np.ndindex(errors.shape[:2]):
    order = np.random.default_rng(repeat).permutation(len(texts))
    known = order[: sizes[k]]
    y = np.full(len(texts), -1)
    y[known] = truth[known]
    fit = SoftLabelClassifier(alpha=1e-4).fit(X, y)
    ridge = RidgeClassifierCV(np.logspace(-3, 2, 11)).fit(X[known], truth[known])
    fits = (fit.supervised_, fit, ridge)
    errors[repeat, k] = [1 - one.score(X_test, truth_test) for one in fits]

curves = []
for j, method in enumerate(("supervised", "soft", "ridge")):
    mean = errors[:, :, j].mean(axis=0)
    spread = errors[:, :, j].std(axis=0, ddof=1) / np.sqrt(len(errors))
    low, high = mean - 2 * spread, mean + 2 * spread
    curves.append(plotting.Curve(plotting.method_style(method), sizes, mean, low, high))
shown = plotting.LearningCurveDisplay(curves, x_label="labeled documents", y_label="test error")
shown.plot()
shown.ax_.axvline(np.log2(X.shape[1]), color=GREY, linewidth=0.8, zorder=0)
shown.ax_.text(np.log2(X.shape[1]) + 0.06, 0.42, "number of words", fontsize=8)
plt.show()
