"""Splits: which labeled rows are tested, and which rows a classifier may learn from meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._inputs.untested import describe_untested, rows_to_test
from ..._utils.typing import Array
from ...model_selection import LabeledRepeatedStratifiedKFold, LabeledStratifiedGroupKFold
from ..errors import TableError

__all__ = [
    "Plan",
    "check_testable",
    "grouped_folds",
    "plan",
    "stratified_order",
    "training_mask",
]


LABELED_TESTS, MOST_REPEATS = 600, 4
"""By default repeats are chosen so that about this many rows are tested in total; at most so many,
as further ones hardly narrow the intervals, which allow for the overlap of the training sets."""
TRIES = 3
"""Give up after this many draws of group folds in a row that are known or not usable."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The test rows of every split, repeat by repeat.

    Training rows are not stored, as they are nearly all rows: see `training_mask`.
    """

    folds: int
    repeats: int
    tests: tuple[Array, ...]
    n_labeled: int
    n_held: int = 0
    """Labeled rows that are always trained on because they cannot be tested."""
    untested: tuple[int, ...] = ()
    """The classes that are not tested."""

    @property
    def n_tested(self) -> int:
        """Labeled rows that are tested."""
        return self.n_labeled - self.n_held

    @property
    def ratio(self) -> float:
        """Labeled rows in the test set divided by those in the training set."""
        n_test = self.n_tested / self.folds
        return n_test / (self.n_labeled - n_test)

    def first(self, repeats: int) -> Plan:
        """Return a plan of the first repeats: all of them if there are fewer."""
        repeats = min(repeats, self.repeats)
        return replace(self, repeats=repeats, tests=self.tests[: repeats * self.folds])


def plan(
    codes: Array,
    groups: Array | None = None,
    *,
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    names: Sequence[Any] | None = None,
) -> Plan:
    """Plan repeated stratified folds over the labeled rows; every test set has every class.

    The exception is a class with a single labeled row: it is always trained on and never tested.
    With groups, the same holds for a class whose labeled rows are all in one group, and for all
    rows of that group.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        The class of each row, 0 to K-1; -1 if it has no label.
    groups : ndarray of shape (n_rows,), optional
        Rows of one group, labeled or not, are never on both sides of a split. Few groups allow few
        different folds: repeats that would be equal to earlier ones are left out.
    folds : int, default=5
        At least 2; fewer are made if a class has fewer labeled rows (or groups).
    repeats : int, optional
        By default 4 for up to 150 labels, then fewer, at least 2.
    seed : int, default=0
        Shuffles the rows. Plans with the same seed start with the same repeats.
    names : sequence, optional
        The names of the classes in error messages.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([0, 1, -1, 0, 1, -1, 0, 1])
    >>> found = plan(codes, repeats=2)
    >>> found.folds, found.repeats, [test.size for test in found.tests]
    (3, 2, [2, 2, 2, 2, 2, 2])
    """
    check_testable(codes, groups, names)
    n_labeled = int((codes >= 0).sum())
    wanted = repeats or int(np.clip(round(LABELED_TESTS / n_labeled), 2, MOST_REPEATS))
    held = (codes >= 0) & ~rows_to_test(codes, groups)
    untested = tuple(np.setdiff1d(codes[held], codes[~held]).tolist())
    codes = np.where(held, -1, codes)  # so that they are in every training set
    if groups is not None:
        found = grouped_folds(codes, groups, folds=folds, repeats=wanted, seed=seed)
        if not found:
            raise TableError(
                "The groups cannot be cut in two so that every class has labeled rows in both "
                "parts; label rows of every class in more groups, or compare without groups.",
                code="groups_not_separable",
            )
        tests = tuple(test for repeat in found for test in repeat)
        return Plan(len(found[0]), len(found), tests, n_labeled, int(held.sum()), untested)
    folds = min(folds, int(np.unique(codes[codes >= 0], return_counts=True)[1].min()))
    splitter = LabeledRepeatedStratifiedKFold(folds, n_repeats=wanted, random_state=seed)
    tests = tuple(test for _, test in splitter.split(None, codes))
    return Plan(folds, wanted, tests, n_labeled, int(held.sum()), untested)


def training_mask(test: Array, codes: Array, groups: Array | None = None) -> Array:
    """Return a mask of the rows that may be learned from while the rows `test` are tested.

    These are all rows except the test rows and, with groups, except all rows of their groups.

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
    """Return the test rows of every fold of every repeat; [] if no split is possible.

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

    The first n rows are then a stratified sample, nested in those of a larger n.

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


def check_testable(codes: Array, groups: Array | None, names: Sequence[Any] | None) -> None:
    """Raise TableError if there are not two classes whose rows can be tested."""
    classes = np.unique(codes[codes >= 0])
    if len(classes) < 2:
        raise TableError(
            "The labels have fewer than two classes; label rows of another class.",
            code="fewer_than_two_classes",
        )
    tested = np.unique(codes[rows_to_test(codes, groups)])
    if len(tested) < 2:
        untested = np.setdiff1d(classes, tested)
        shown = [int(k) if names is None else names[int(k)] for k in untested]
        sentence = describe_untested(shown, grouped=groups is not None)
        other = " (or compare without groups)" if groups is not None else ""
        raise TableError(
            f"{sentence[:-1]}{other}, as errors can only be compared if rows of two classes or "
            "more are tested.",
            code="fewer_than_two_tested_classes",
        )


def _fewest_groups(codes: Array, groups: Array) -> int:
    """Return the smallest number of groups in which a class has labeled rows."""
    classes = np.unique(codes[codes >= 0])
    return min((len(np.unique(groups[codes == k])) for k in classes), default=0)


def _has_every_class(codes: Array, rows: Array) -> bool:
    return len(np.unique(codes[rows])) == len(np.unique(codes[codes >= 0]))
