"""Rows whose sums follow the formulas of `RowSums` literally: no blocks, threads or updates.

A is the design matrix (x, 1), a the weights, t the labels of all rows with the known ones in place.
"""

from __future__ import annotations

import numpy as np

from semisquares.core.rows import Relabeling, Sweep


class NaiveRows:
    in_memory = shift = None
    gram_columns = np.inf
    passes = ()

    def __init__(self, X, known, y, weight, unlabeled_weight=1.0, intercept=True):
        self.X, self.known, self.y, self.weight = X, known, y, weight
        self.unlabeled_weight, self.intercept = unlabeled_weight, intercept
        self.a = np.where(known, weight, unlabeled_weight * weight)
        self.A = np.hstack([X] + [np.ones((len(X), 1))] * intercept)
        self.n_rows, self.n_features = self.most_sampled, _ = X.shape
        self.n_weights, self.n_unlabeled = self.A.shape[1], int((~known).sum())
        self.weights_shape = (self.n_weights, *y.shape[1:])
        self.total_weight, self.labeled_total = self.a.sum(), self.a[known].sum()
        self.heaviest, self.longest_sum = self.a.max(), self.n_rows
        self.labeled_gram, self.full_gram = self.gram(known), self.gram(known | ~known)
        self.labeled_moment = self.moment_of(self.filled(np.zeros((len(X), *y.shape[1:]))))
        self.diagonal = self.full_gram.diagonal()
        self.n_nonzero = np.count_nonzero(X[self.a > 0], axis=0)
        best = np.average(y, axis=0, weights=self.a[known]) if intercept else 0.0
        self.constant_loss = self.total((y - best) ** 2, known)

    def gram(self, rows, count=1.0):
        return self.A.T @ ((rows * count * self.a)[:, None] * self.A)

    def moment_of(self, r):
        return self.A.T @ (self.a * r.T).T

    def total(self, values, rows=slice(None)):
        return float((self.a[rows] * values.T).sum())

    def filled(self, labels):
        t = labels.copy()
        t[self.known] = self.y
        return t

    def reweighted(self, *, unlabeled_weight):
        given = self.X, self.known, self.y, self.weight
        return NaiveRows(*given, unlabeled_weight, self.intercept)

    def sample(self, n_unlabeled, rng):
        free = np.flatnonzero(~self.known)
        chosen = np.append(np.flatnonzero(self.known), rng.permutation(free)[:n_unlabeled])
        share = self.weight[free].sum() / self.weight[chosen][~self.known[chosen]].sum()
        given = self.X[chosen], self.known[chosen], self.y, self.weight[chosen]
        return NaiveRows(*given, share * self.unlabeled_weight, self.intercept)

    def labeled_product(self, V):
        return self.labeled_gram @ V

    def labeled_loss(self, w):
        return self.total((self.A @ w - self.filled(self.A @ w)) ** 2)

    def full_product(self, V):
        return self.full_gram @ V

    def decisions(self, w):
        return self.A @ w

    def sweep(self, w, labeling, predicted=None):
        z = self.A @ w
        piece, r = labeling.piece(z), z - self.filled(labeling.impute(z))
        piece[self.known] = labeling.pinned
        differs = True if predicted is None else (piece != predicted).reshape(len(z), -1).any(1)
        changed = int(np.sum(differs * np.ones(len(z))))
        squares = self.total((self.X**2).sum(axis=1))
        return Sweep(w, z, piece, self.total(r**2), self.moment_of(r), changed, squares)

    def active_gram(self, piece, since=None):
        return self.gram((piece != 0) & ~self.known) / self.unlabeled_weight

    def curvature_product(self, V, piece, labeling):
        return self.moment_of(labeling.curve(piece, self.A @ V))

    def outside_grams(self, support):
        size = support.sum(axis=1)
        count = np.where(self.known, 1.0, 1.0 + 1.0 / np.maximum(size, 1))
        return np.stack([self.gram(~inside, count) for inside in support.T])

    def outside_sums(self, z, support):
        count = 1.0 + 1.0 / np.maximum(support.sum(axis=1), 1)
        b = (~self.known * self.a * count)[:, None] * ~support
        gram = self.A.T @ (b.sum(axis=1)[:, None] * self.A)
        return gram, b.sum(axis=0), self.A.T @ (b * z)

    def n_outside(self, support):
        return int((~support).sum())

    def slope(self, first, second, t, labeling):
        z = first + t * (second - first)
        return self.total((z - self.filled(labeling.impute(z))) * (second - first))

    def boundary_rows(self, sweep, decrease, labeling):
        return None

    def with_pieces(self, piece, boundary, moved):
        raise NotImplementedError  # there are no boundary rows

    def dual_step(self, step, piece, labeling, everywhere):
        V = self.A @ step if everywhere else labeling.curve(piece, self.A @ step)
        return V, self.moment_of(V), self.total(V**2)

    def dual_overshoot(self, z, piece, V, left, labeling, everywhere):
        free, u = ~self.known, labeling.impute(z)
        theta = (self.a * (z - u - V).T).T
        value = (theta * u).reshape(len(z), -1).sum(axis=1)
        excess = labeling.support(theta[free]) - value[free]
        return 2.0 * float(excess.sum()) + 4.0 * left * float(np.sqrt(self.a[free]).sum())

    def imputed(self, z, labeling):
        return labeling.impute(z)

    def loss(self, z, labeling):
        return self.total((z - self.filled(labeling.impute(z))) ** 2)

    def moment(self, labels):
        return self.moment_of(self.filled(labels))

    def relabel(self, w, labels, moment, labeling, *, before=True):
        z = self.A @ w
        new, losses = self.filled(labeling.impute(z)), []
        for t in (self.filled(labels), new):
            losses.append(self.total((z - t) ** 2) + self.total(labeling.penalty(t) * ~self.known))
        changed = (new != self.filled(labels)).reshape(len(z), -1).any(axis=1).sum()
        return Relabeling(new, self.moment(new), losses[0] * before, losses[1], changed)

    def class_counts(self, labels):
        classes = labels.argmax(axis=1) if labels.ndim == 2 else (labels > 0.5).astype(int)
        return np.bincount(classes[~self.known], minlength=max(2, *labels.shape[1:], 2))

    def read_labels(self, labels):
        return np.asarray(labels, dtype=float)

    def classes_of(self, labels):
        t = self.filled(labels)
        return t.argmax(axis=1) if t.ndim == 2 else (t > 0.5).astype(int)

    def labels_of(self, classes):
        return classes.astype(float) if self.y.ndim == 1 else np.eye(self.y.shape[1])[classes]
