"""All labelings (Hartley & Rao 1968): the labels for which the rows are most likely.

For least squares, `semisquares.HardLabelClassifier` with ``solver="enumerate"`` finds the best of
all labelings by branch and bound. This is the same idea for Gaussian classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from .._inputs.checks import Number
from .._inputs.labels import Labels
from .._utils.typing import Array
from ..estimators._base import one_hot
from ._base import free_rows, label_all
from ._discriminant import GaussianDiscriminant
from ._gaussian import WhitenedRows, complete_log_likelihood, fit_gaussian, log_prior, singular

BLOCK = 2**14
"""The largest number of labelings that are evaluated together."""
TIE = 1e-9
"""Log likelihoods that differ by less, per row, are equal: rounding is well below it."""


class AllLabelingsDiscriminant(GaussianDiscriminant):
    """Linear discriminant analysis with the most likely of all labelings.

    Maximises, over the labels q of the unlabeled rows and the Gaussian classes θ = (π, m, S),

        Σ_i log π_{q_i} N(x_i; m_{q_i}, S) - s/2 [ log det S + tr(S⁻¹ T) ],

    with the shrinkage s and the diagonal T of the variances of all rows. For given labels the best
    θ is known (`semisquares.baselines._gaussian`); it leaves, up to a constant,

        Σ_k n_k log π_k - (n + s)/2 log det S(q).

    1. Whiten the rows, so that det S is that of a K×K matrix of products of class sums;
    2. evaluate the K^U labelings in lexicographic order, in blocks that share the labels of their
       first rows, and with them all but the last terms of those products;
    3. take the most likely one; of equally likely ones, the first in lexicographic order.

    The time doubles with every row: about a second for 20 rows of two classes. At the solution
    every unlabeled row has the label that the classifier predicts for it. With equal `priors` it is
    the labeling of least det S: for one column, the least sum of squares within the classes.

    Parameters
    ----------
    shrinkage : float, default=1.0
        As in `EMDiscriminantClassifier`.
    priors : array-like of shape (n_classes,), optional
        As in `EMDiscriminantClassifier`.
    max_unlabeled : int, default=20
        The largest number of unlabeled rows for two classes; with more classes, there may be
        ``2 ** max_unlabeled`` labelings. ``fit`` raises an error if there are more.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.

    Attributes
    ----------
    classes_, coef_, intercept_, priors_, means_, covariance_
        As in `EMDiscriminantClassifier`.
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row: given, or that of the best labeling.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The same, one-hot.
    log_likelihood_ : float
        The maximum.
    n_iter_ : int
        The number of labelings, K^U.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    H. O. Hartley and J. N. K. Rao, "Classification and estimation in analysis of variance
    problems", Review of the International Statistical Institute 36, 141-147, 1968.

    Examples
    --------
    >>> from semisquares.baselines.all_labelings import AllLabelingsDiscriminant
    >>> X = [[-1.0], [1.0], [-1.5], [-0.9], [0.9], [1.3], [1.6]]
    >>> y = ["no", "yes", None, None, None, None, None]
    >>> model = AllLabelingsDiscriminant().fit(X, y)
    >>> model.transduction_.tolist()
    ['no', 'yes', 'no', 'no', 'yes', 'yes', 'yes']
    >>> model.n_iter_
    32
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GaussianDiscriminant._parameter_constraints,
        "max_unlabeled": [Number(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        shrinkage: float = 1.0,
        *,
        priors: Any = None,
        max_unlabeled: int = 20,
        unlabeled: Any = -1,
    ) -> None:
        self.shrinkage = shrinkage
        self.priors = priors
        self.max_unlabeled = max_unlabeled
        self.unlabeled = unlabeled

    def _fit_rows(self, X: Array, labels: Labels) -> None:
        given = self._given(X, labels)
        self._check_size(labels)
        found = _LabelingSearch.of(WhitenedRows.of(X, given), labels).best()
        codes = label_all(labels, labels.codes, found)
        q = one_hot(codes, len(labels.classes))
        model = fit_gaussian(X, q, given)
        self._set_model(model)
        self.label_distributions_ = q
        self.transduction_ = self.classes_[codes]
        self.log_likelihood_ = complete_log_likelihood(model, X, q) + log_prior(model, given)
        self.n_iter_ = len(labels.classes) ** len(found)

    def _check_size(self, labels: Labels) -> None:
        n_classes, n_free = len(labels.classes), labels.n_rows - len(labels.labeled)
        if float(n_free * np.log2(n_classes)) > self.max_unlabeled:  # any int, however large
            most = int(int(self.max_unlabeled) / np.log2(n_classes))
            raise ValueError(
                f"{n_free} unlabeled rows have {n_classes}^{n_free} labelings, and max_unlabeled="
                f"{self.max_unlabeled} allows 2^{self.max_unlabeled}; give {most} such rows or "
                "fewer, raise max_unlabeled (one more doubles the time), or use "
                "EMDiscriminantClassifier."
            )


@dataclass(frozen=True, eq=False)
class _LabelingSearch:
    """Search all labelings of the unlabeled rows, in whitened coordinates.

    With class sums c_k = Σ_{i in k} z_i, E = I - V'V has det E = det(N - CC'/(n+s)) / det N,
    where N is the diagonal matrix of the class counts.
    """

    free: Array
    """The unlabeled rows z, of shape (U, d)."""
    sums: Array
    """The class sums of the labeled rows, of shape (K, d)."""
    counts: Array
    """Their numbers, of shape (K,)."""
    rows: WhitenedRows

    @classmethod
    def of(cls, rows: WhitenedRows, labels: Labels) -> _LabelingSearch:
        known = one_hot(labels.codes, len(labels.classes))
        sums = known.T @ rows.Z[labels.labeled]
        return cls(rows.Z[free_rows(labels)], sums, known.sum(axis=0), rows)

    def best(self) -> Array:
        """Return the most likely labels; of several, the first."""
        tops = np.array([self._values(first).max() for first in self._firsts()])
        enough = tops.max() - TIE * self.rows.total
        block = next(islice(self._firsts(), int(np.argmax(tops >= enough)), None))
        winner = int(np.argmax(self._values(block) >= enough))
        counts, matrices = self._matrices(block)
        root = np.sqrt(counts[winner])
        if np.linalg.eigvalsh(matrices[winner] / np.outer(root, root))[0] < 1e-12:
            raise singular(int(counts[winner].sum()), self.free.shape[1])
        return np.concatenate((np.array(block, dtype=np.intp), self._last[winner]))

    @cached_property
    def _last(self) -> Array:
        """All labelings, in lexicographic order, of as many last rows as fit a block."""
        n_classes = len(self.counts)
        n_last = 0
        while n_last < len(self.free) and n_classes ** (n_last + 1) <= BLOCK:
            n_last += 1
        places = n_classes ** np.arange(n_last)[::-1]
        return np.arange(n_classes**n_last)[:, None] // places % n_classes

    def _firsts(self) -> Iterator[tuple[int, ...]]:
        """Return all labelings of the other rows, in lexicographic order."""
        return product(range(len(self.counts)), repeat=len(self.free) - self._last.shape[1])

    @cached_property
    def _inner(self) -> tuple[Array, Array]:
        """One-hot labels of the last rows (B, K, rows), and products of their class sums."""
        q = (self._last[:, None, :] == np.arange(len(self.counts))[:, None]).astype(np.float64)
        rows = self.free[len(self.free) - self._last.shape[1] :]
        return q, (q @ (rows @ rows.T)) @ q.swapaxes(1, 2)

    def _matrices(self, first: tuple[int, ...]) -> tuple[Array, Array]:
        """Return n_k and N - CC'/(n+s) for the labelings that begin with `first`."""
        q, inner = self._inner
        given = one_hot(np.array(first, dtype=np.intp), len(self.counts))
        sums = self.sums + given.T @ self.free[: len(first)]
        cross = q @ (self.free[len(first) :] @ sums.T)
        products = sums @ sums.T + cross + cross.swapaxes(1, 2) + inner
        counts = self.counts + given.sum(axis=0) + q.sum(axis=2)
        return counts, counts[:, :, None] * np.eye(len(self.counts)) - products / self.rows.total

    def _values(self, first: tuple[int, ...]) -> Array:
        """Return Σ n_k log π_k - (n+s)/2 log det E; very large if det E is 0 up to rounding."""
        counts, matrices = self._matrices(first)
        log_det = np.linalg.slogdet(matrices)[1] - np.log(counts).sum(axis=1)
        priors = self.rows.given.priors_of(counts)
        return (counts * np.log(priors)).sum(axis=1) - 0.5 * self.rows.total * log_det
