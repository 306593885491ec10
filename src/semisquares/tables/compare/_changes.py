"""Changed predictions: how the unlabeled rows are classified without and with their help."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.typing import Array
from ._rows import TableRows
from .comparison import Changes

__all__ = ["changes"]

Example = tuple[int, str, str, float, float]

BLOCK = 65_536
"""Rows to predict at once."""
MOST_SHOWN = 2_000
MOST_EXAMPLES = 10
BINS = 20


def changes(
    rows: TableRows,
    before: Any,
    after: Any,
    *,
    used: bool,
    class_names: Sequence[str],
    seed: int,
) -> Changes:
    """Compare two classifiers on all unlabeled rows.

    Counts are over all of these rows, block by block; decision values are returned for a random
    sample. A decision value is z - ½, the distance to the boundary, positive for the second class;
    with more than two classes it is the lead of the winner over the next class. The examples are
    the clearest flips: those with the largest decision value of the less certain classifier.

    Parameters
    ----------
    rows : TableRows
    before, after : fitted classifiers of the classes 0 to K-1
        The tuned ridge, and the classifier with unlabeled rows.
    used : bool
        Whether `SoftLabelClassifierCV` used the unlabeled rows: `after` is then "soft_cv", else
        "soft".
    class_names : sequence of str
    seed : int
        Draws the rows whose decision values are returned.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import LeastSquaresClassifier, SoftLabelClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [0.8]])
    >>> codes = np.array([0, 1, -1, -1, -1, -1])
    >>> before = LeastSquaresClassifier(0.01).fit(X, codes)
    >>> after = SoftLabelClassifier(0.01).fit(X, codes)
    >>> found = changes(TableRows(X, codes), before, after, used=True,
    ...                 class_names=["low", "high"], seed=0)
    >>> found.n_rows, found.n_flipped, found.flips
    (4, 1, (('high', 'low', 1),))
    """
    names = [str(name) for name in class_names]
    unlabeled = np.flatnonzero(rows.codes < 0)
    shown = np.zeros(len(unlabeled), dtype=bool)
    n_shown = min(len(unlabeled), MOST_SHOWN)
    shown[np.random.default_rng(seed).choice(len(unlabeled), n_shown, replace=False)] = True
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    edges = np.linspace(0.0, 1.0, BINS + 1)
    histogram = np.zeros(BINS, dtype=np.int64)
    sample: list[Array] = []
    examples: list[tuple[float, int, Example]] = []
    for start, block in _blocks(rows.X, unlabeled, before, after):
        np.add.at(counts, (block.old, block.new), 1)
        histogram += np.histogram(block.soft, edges)[0]
        pick = shown[start : start + len(block.old)]
        sample.append(np.stack([block.before, block.after, block.old != block.new])[:, pick])
        examples = heapq.nlargest(MOST_EXAMPLES, [*examples, *_clearest(block, names)])
    drawn = np.concatenate(sample, axis=1) if sample else np.zeros((3, 0))
    flips = _flips(counts, names)
    return Changes(
        method="soft_cv" if used else "soft",
        used=used,
        n_rows=len(unlabeled),
        n_flipped=sum(n for _, _, n in flips),
        flips=flips,
        before=tuple(drawn[0].tolist()),
        after=tuple(drawn[1].tolist()),
        flipped=tuple((drawn[2] > 0).tolist()),
        histogram_edges=tuple(edges.tolist()),
        histogram=tuple(histogram.tolist()),
        examples=tuple(example for _, _, example in examples),
    )


@dataclass(frozen=True, eq=False)
class _Predictions:
    """Predictions for some rows, without and with unlabeled rows."""

    rows: Array
    old: Array
    new: Array
    """Classes."""
    before: Array
    after: Array
    """Decision values."""
    soft: Array
    """New soft labels for the second class or, with more than two, for the winner."""


def _blocks(X: Array, rows: Array, before: Any, after: Any) -> Iterator[tuple[int, _Predictions]]:
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        values = X[part]
        old, old_value = _decide(before.decision_function(values))
        new, new_value = _decide(after.decision_function(values))
        soft = after.predict_proba(values)
        shown = soft[:, 1] if soft.shape[1] == 2 else soft.max(axis=1)
        soft = np.clip(shown, 0.0, 1.0)
        yield start, _Predictions(part, old, new, old_value, new_value, soft)


def _decide(scores: Array) -> tuple[Array, Array]:
    """Return the class of each row and its decision value."""
    if scores.ndim == 1:
        return (scores > 0.0).astype(np.intp), scores
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return scores.argmax(axis=1), first - second


def _clearest(block: _Predictions, names: list[str]) -> list[tuple[float, int, Example]]:
    """Return the clearest flips of a block with their decision values; ties go to earlier rows."""
    flips = np.flatnonzero(block.old != block.new)
    measure = np.minimum(np.abs(block.before[flips]), np.abs(block.after[flips]))
    order = np.argsort(-measure, kind="stable")[:MOST_EXAMPLES]
    found = []
    for place, clear in zip(flips[order], measure[order], strict=True):
        row = int(block.rows[place])
        values = float(block.before[place]), float(block.after[place])
        example = (row + 1, names[block.old[place]], names[block.new[place]], *values)
        found.append((float(clear), -row, example))
    return found


def _flips(counts: Array, names: list[str]) -> tuple[tuple[str, str, int], ...]:
    """Count the changes from each class to another, the most frequent first."""
    changed = [(names[i], names[j], int(counts[i, j])) for i, j in np.argwhere(counts) if i != j]
    return tuple(sorted(changed, key=lambda flip: -flip[2]))
