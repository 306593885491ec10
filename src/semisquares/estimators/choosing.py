"""The choice of `SoftLabelClassifierCV`: by rows that are left out one by one, or in splits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.arrays import Problem
from .._inputs.untested import rows_to_test
from .base import one_hot
from .evidence import Choice, Evidence, LeftOutRows
from .left_out import left_out_decisions
from .search import Search, best_choices

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Found:
    """What a search ends with."""

    choice: Choice
    supervised: Choice
    """The choice without unlabeled rows."""
    shifts: Array
    """How far intercepts are to move: unlabeled weights × alphas × outputs."""
    mean: Array
    """Mean scores: unlabeled weights × alphas."""
    std: Array
    n_splits: int
    splits: Array | None = None
    """Scores in every split: unlabeled weights × alphas × splits."""


def leave_one_out(
    problem: Problem, alphas: Array, weights: Array, rng: np.random.Generator
) -> Found | None:
    """Choose by leaving each labeled row out once; None if fewer than two classes can be tested."""
    rows, codes = problem.rows, problem.labels.codes
    tested = np.flatnonzero(rows_to_test(codes) & (rows.labeled_weight > 0.0))
    if len(np.unique(codes[tested])) < 2:
        return None
    sums = (rows.labeled_weight * rows.y.T).T
    left = rows.labeled_total - rows.labeled_weight[tested]
    means = ((sums.sum(axis=0) - sums[tested]).T / left).T
    z = left_out_decisions(problem, alphas, weights, rng)[:, :, tested]
    evidence = _weigh(problem, z - _centre(problem, means), tested)
    mean, weight = evidence.scores, rows.labeled_weight[tested]
    variance = (evidence.of_rows + mean[:, :, None]) ** 2 @ weight / weight.sum()
    return _found(problem, evidence, mean, np.sqrt(variance), len(tested))


def cross_validate(
    problem: Problem,
    alphas: Array,
    weights: Array,
    splits: Sequence[tuple[Array, Array]],
    scorer: Any,
    note: Callable[[str], Any],
) -> Found:
    """Choose by fitting every choice on every split: by a scorer, or by log loss if it is None."""
    rows = problem.rows
    search = Search(problem, alphas, weights)
    tests = [np.searchsorted(rows.labeled, test) for _, test in splits]
    values = []
    for k, (train, test) in enumerate(splits):
        w = search.fit(train)
        if scorer is None:
            kept = np.isin(rows.labeled, train)
            mean = np.average(rows.y[kept], axis=0, weights=rows.labeled_weight[kept])
            values.append(search.decisions(w, test) - _centre(problem, mean))
        else:
            values.append(search.scores(w, test, scorer))
        note(f"split {k + 1} of {len(splits)}")
    if scorer is not None:
        scores = np.stack(values, axis=-1)
        choice, alone = best_choices(scores)
        mean, std = scores.mean(axis=-1), scores.std(axis=-1)
        return Found(choice, alone, no_shifts(problem, mean.shape), mean, std, len(splits), scores)
    evidence = _weigh(problem, np.concatenate(values, axis=2), np.concatenate(tests))
    parts = np.split(evidence.of_rows, np.cumsum([len(test) for test in tests])[:-1], axis=2)
    means = [
        np.average(part, axis=-1, weights=rows.labeled_weight[test])
        for part, test in zip(parts, tests, strict=True)
    ]
    scores = -np.stack(means, axis=-1)
    return _found(problem, evidence, evidence.scores, scores.std(axis=-1), len(splits), scores)


def _weigh(problem: Problem, slopes: Array, tested: Array) -> Evidence:
    """Weigh the choices by slopes of tested rows."""
    rows, codes = problem.rows, problem.labels.codes
    shares = _means(problem) * rows.labeled_total + 0.5
    if not rows.intercept:  # the classes part where they do, not where their shares say
        shares[:] = 1.0
    n_labels = float(rows.labeled_weight[np.unique(tested)].sum())
    weight = rows.labeled_weight[tested]
    return Evidence.of(slopes, LeftOutRows(codes[tested], weight, n_labels, shares / shares.sum()))


def _means(problem: Problem) -> Array:
    """Return the share of each class among the labels, by their weights."""
    mass = problem.rows.labeled_weight @ one_hot(problem.labels.codes, problem.n_classes)
    return mass / mass.sum()


def _centre(problem: Problem, means: Array) -> Any:
    """Return what to subtract from decision values: the means of the labels that were left.

    Without an intercept decision values do not follow them, and 1 / classes is subtracted.
    """
    return means if problem.rows.intercept else 1.0 / problem.n_classes


def _found(
    problem: Problem,
    evidence: Evidence,
    mean: Array,
    std: Array,
    n_splits: int,
    splits: Array | None = None,
) -> Found:
    shifts = no_shifts(problem, mean.shape)
    if problem.rows.intercept:
        for choice in np.ndindex(mean.shape):
            shifts[choice] = evidence.shift(choice, _means(problem))
    return Found(evidence.choice, evidence.supervised, shifts, mean, std, n_splits, splits)


def no_shifts(problem: Problem, grid: tuple[int, ...]) -> Array:
    """Return shifts of 0 for all choices."""
    return np.zeros((*grid, 1 if problem.n_classes == 2 else problem.n_classes))
