"""Which labeled rows are tested when, and which rows a classifier may then learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._inputs.untested import describe_untested, rows_to_test
from ...model_selection import LabeledRepeatedStratifiedKFold, LabeledStratifiedGroupKFold
from ..errors import TableError

__all__ = ["Plan", "grouped_folds", "plan", "stratified_order", "training_mask"]

Array = NDArray[Any]

LABELED_TESTS = 4000
"""About so many tests of labeled rows in all: few labels are split more often."""
TRIES = 3
"""Draws of group folds without a new or usable one, after which no more are drawn."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The test rows of every split: those of the first repeat, then of the second, and so on.

    Training rows are not kept, as they are nearly all rows: see `training_mask`.
    """

    folds: int
    repeats: int
    tests: tuple[Array, ...]
    n_labeled: int
    n_held: int = 0
    """Labeled rows that are always learned from, as they cannot be tested (see `untested`)."""
    untested: tuple[int, ...] = ()
    """The classes that are not tested."""

    @property
    def n_tested(self) -> int:
        """Labeled rows that are tested."""
        return self.n_labeled - self.n_held

    @property
    def ratio(self) -> float:
        """Labeled rows in a test set, for each one in its training set."""
        n_test = self.n_tested / self.folds
        return n_test / (self.n_labeled - n_test)


def plan(
    codes: Array,
    groups: Array | None = None,
    *,
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    names: Sequence[Any] | None = None,
) -> Plan:
    """Plan repeated stratified folds over the labeled rows; every test set holds every class.

    Only a class with a single labeled row is in no test set, as the row is always learned from;
    with groups, a class whose labeled rows are all in one group, and the rows of that group.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        The class of each row, 0 to K-1; -1 where it has no label.
    groups : ndarray of shape (n_rows,), optional
        Rows of one group are never on both sides of a split, labeled or not. Folds of groups
        cannot always be drawn anew: repeats that would be the same again are left out.
    folds : int, default=5
        Fewer are taken where a class has fewer labeled rows (or groups).
    repeats : int, optional
        10 for up to 400 labels, then fewer, 2 at the least.
    seed : int, default=0
        Shuffles the rows. Plans of the same seed begin with the same repeats.
    names : sequence, optional
        What to call the classes in errors.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([0, 1, -1, 0, 1, -1, 0, 1])
    >>> found = plan(codes, repeats=2)
    >>> found.folds, found.repeats, [test.size for test in found.tests]
    (3, 2, [2, 2, 2, 2, 2, 2])
    """
    _check(codes, groups, folds, names)
    n_labeled = int((codes >= 0).sum())
    wanted = repeats or int(np.clip(round(LABELED_TESTS / n_labeled), 2, 10))
    held = (codes >= 0) & ~rows_to_test(codes, groups)
    untested = tuple(np.setdiff1d(codes[held], codes[~held]).tolist())
    codes = np.where(held, -1, codes)  # so that they are in every training set
    if groups is not None:
        found = grouped_folds(codes, groups, folds=folds, repeats=wanted, seed=seed)
        if not found:
            raise TableError(
                "The groups cannot be cut in two so that every class has labeled rows in both "
                "parts; label rows of every class in more groups, or compare without groups."
            )
        tests = tuple(test for repeat in found for test in repeat)
        return Plan(len(found[0]), len(found), tests, n_labeled, int(held.sum()), untested)
    folds = min(folds, int(np.unique(codes[codes >= 0], return_counts=True)[1].min()))
    splitter = LabeledRepeatedStratifiedKFold(folds, n_repeats=wanted, random_state=seed)
    tests = tuple(test for _, test in splitter.split(None, codes))
    return Plan(folds, wanted, tests, n_labeled, int(held.sum()), untested)


def training_mask(test: Array, codes: Array, groups: Array | None = None) -> Array:
    """Say for every row whether it may be learned from while `test` is tested.

    All rows may but the test rows and, with groups, all rows of their groups.

    Examples
    --------
    >>> import numpy as np
    >>> codes, groups = np.array([0, 1, -1, 0, -1]), np.array([1, 2, 1, 3, 3])
    >>> training_mask(np.array([0]), codes, groups).tolist()
    [False, True, False, True, True]
    """
    if groups is not None:
        return np.isin(groups, np.unique(groups[test]), invert=True)
    inside = np.ones(len(codes), dtype=bool)
    inside[test] = False
    return inside


def grouped_folds(
    codes: Array, groups: Array, *, folds: int, repeats: int = 1, seed: int = 0
) -> list[list[Array]]:
    """Return the test rows of every fold of every repeat, or [] where there is no way to split.

    Examples
    --------
    >>> import numpy as np
    >>> codes, groups = np.array([0, 1, 0, 1, -1]), np.array([1, 1, 2, 2, 2])
    >>> (repeat,) = grouped_folds(codes, groups, folds=5)
    >>> sorted(test.tolist() for test in repeat)
    [[0, 1], [2, 3]]
    """
    found: list[list[Array]] = []
    for n_folds in range(min(folds, _fewest_groups(codes, groups)), 1, -1):
        rng, idle, seen = np.random.RandomState(seed), 0, set()
        while len(found) < repeats and idle < TRIES:
            splitter = LabeledStratifiedGroupKFold(n_folds, shuffle=True, random_state=rng)
            tests = [test for _, test in splitter.split(None, codes, groups)]
            mark = frozenset(test.tobytes() for test in tests)
            usable = mark not in seen and all(_has_every_class(codes, test) for test in tests)
            idle = 0 if usable else idle + 1
            seen.add(mark)
            found += [tests] * usable
        if found:
            break
    return found


def stratified_order(codes: Array, rng: np.random.Generator, *, least: int = 2) -> Array:
    """Order rows at random: `least` of every class first, then all classes in proportion.

    So the first n rows are a stratified sample, and those of a smaller n are among them.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([0] * 90 + [1] * 10)
    >>> order = stratified_order(codes, np.random.default_rng(0))
    >>> codes[order[:4]].tolist(), int(codes[order[:50]].sum())
    ([0, 0, 1, 1], 5)
    """
    order = rng.permutation(len(codes))
    shuffled = codes[order]
    counts = np.bincount(shuffled)
    by_class = np.argsort(shuffled, kind="stable")
    rank = np.empty(len(codes))
    rank[by_class] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    place = np.where(rank < least, shuffled - len(counts), (rank + 0.5) / counts[shuffled])
    return order[np.argsort(place, kind="stable")]


def _check(codes: Array, groups: Array | None, folds: int, names: Sequence[Any] | None) -> None:
    """Raise TableError where no folds can answer the question."""
    if folds < 2:
        raise TableError(f"{folds} folds were asked for, but rows can be tested with two or more.")
    classes = np.unique(codes[codes >= 0])
    if len(classes) < 2:
        raise TableError("The labels are of fewer than two classes; label rows of another class.")
    tested = np.unique(codes[rows_to_test(codes, groups)])
    if len(tested) < 2:
        untested = np.setdiff1d(classes, tested)
        said = [int(k) if names is None else names[int(k)] for k in untested]
        sentence = describe_untested(said, grouped=groups is not None)
        other = " (or compare without groups)" if groups is not None else ""
        raise TableError(
            f"{sentence[:-1]}{other}, as errors can only be compared if rows of two classes or "
            "more are tested."
        )


def _fewest_groups(codes: Array, groups: Array) -> int:
    """Count the groups of the class that has labeled rows in the fewest."""
    classes = np.unique(codes[codes >= 0])
    return min((len(np.unique(groups[codes == k])) for k in classes), default=0)


def _has_every_class(codes: Array, rows: Array) -> bool:
    return len(np.unique(codes[rows])) == len(np.unique(codes[codes >= 0]))
