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
MOST_CLASSIFIED = 50_000
"""Of more unlabeled rows, so many are drawn: predicting takes longer than fitting."""
MOST_SHOWN = 2_000
MOST_EXAMPLES = 10
BINS = 20


def changes(
    rows: TableRows, before: Any, after: Any, *, class_names: Sequence[str], seed: int
) -> Changes:
    """Compare two classifiers on the unlabeled rows, or on many of them.

    Counts are over these rows, block by block; probabilities are returned for a random sample: of
    the second class or, with more than two classes, of the likeliest. The examples are the clearest
    changes: those in which the less certain of the two classifiers is most certain.

    Parameters
    ----------
    rows : TableRows
    before, after : fitted classifiers of the classes 0 to K-1
        The average of labeled rows only, and that of all rows.
    class_names : sequence of str
    seed : int
        Draws the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [6.0], [7.0], [0.8]])
    >>> codes = np.array([0, 1, -1, -1, -1, -1])
    >>> before = LogisticRegression().fit(X[:2], codes[:2])
    >>> after = LogisticRegression().fit(X[[0, 3]], [0, 1])
    >>> found = changes(TableRows(X, codes), before, after, class_names=["low", "high"], seed=0)
    >>> found.n_rows, found.n_changed, found.moves
    (4, 2, (('high', 'low', 2),))
    """
    names = [str(name) for name in class_names]
    rng = np.random.default_rng(seed)
    unlabeled = np.flatnonzero(rows.codes < 0)
    if len(unlabeled) > MOST_CLASSIFIED:
        unlabeled = np.sort(rng.choice(unlabeled, MOST_CLASSIFIED, replace=False))
    shown = np.zeros(len(unlabeled), dtype=bool)
    n_shown = min(len(unlabeled), MOST_SHOWN)
    shown[rng.choice(len(unlabeled), n_shown, replace=False)] = True
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    edges = np.linspace(0.0, 1.0, BINS + 1)
    histogram = np.zeros(BINS, dtype=np.int64)
    sample: list[Array] = []
    examples: list[tuple[float, int, Example]] = []
    for start, block in _blocks(rows.X, unlabeled, before, after):
        np.add.at(counts, (block.old, block.new), 1)
        histogram += np.histogram(block.after, edges)[0]
        pick = shown[start : start + len(block.old)]
        sample.append(np.stack([block.before, block.after, block.old != block.new])[:, pick])
        examples = heapq.nlargest(MOST_EXAMPLES, [*examples, *_clearest(block, names)])
    drawn = np.concatenate(sample, axis=1) if sample else np.zeros((3, 0))
    moves = _moves(counts, names)
    return Changes(
        n_rows=len(unlabeled),
        n_changed=sum(n for _, _, n in moves),
        moves=moves,
        before=tuple(drawn[0].tolist()),
        after=tuple(drawn[1].tolist()),
        changed=tuple((drawn[2] > 0).tolist()),
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
    old_sure: Array
    new_sure: Array
    """Probabilities of these classes."""
    before: Array
    after: Array
    """Probabilities of the second class or, with more than two, of the likeliest."""


def _blocks(X: Array, rows: Array, before: Any, after: Any) -> Iterator[tuple[int, _Predictions]]:
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        old, new = before.predict_proba(X[part]), after.predict_proba(X[part])
        old_sure, new_sure = old.max(axis=1), new.max(axis=1)
        shown = (old[:, 1], new[:, 1]) if old.shape[1] == 2 else (old_sure, new_sure)
        classes = old.argmax(axis=1), new.argmax(axis=1)
        yield start, _Predictions(part, *classes, old_sure, new_sure, *shown)


def _clearest(block: _Predictions, names: list[str]) -> list[tuple[float, int, Example]]:
    """Return the clearest changes of a block with their certainty; ties go to earlier rows."""
    places = np.flatnonzero(block.old != block.new)
    measure = np.minimum(block.old_sure[places], block.new_sure[places])
    order = np.argsort(-measure, kind="stable")[:MOST_EXAMPLES]
    found = []
    for place, clear in zip(places[order], measure[order], strict=True):
        row = int(block.rows[place])
        values = float(block.old_sure[place]), float(block.new_sure[place])
        example = (row + 1, names[block.old[place]], names[block.new[place]], *values)
        found.append((float(clear), -row, example))
    return found


def _moves(counts: Array, names: list[str]) -> tuple[tuple[str, str, int], ...]:
    """Count the changes from each class to another, the most frequent first."""
    found = [(names[i], names[j], int(counts[i, j])) for i, j in np.argwhere(counts) if i != j]
    return tuple(sorted(found, key=lambda move: -move[2]))
