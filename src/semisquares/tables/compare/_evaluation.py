"""Cross-validation: the rivals are fitted and scored, split by split."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..._utils.processes import parallel_map
from ..._utils.typing import Array
from ..errors import TableError
from ._rivals import ALL, FittedRival, RivalFits, Training
from ._rows import TableRows
from ._tuning import search_size
from .comparison import METRICS, Rival, TrainingSize, Verdict
from .intervals import honest_gains, honest_scores, interval
from .notices.fit_warnings import FitWarning
from .scores import score
from .splits import Plan, plan, training_mask
from .verdict import decide

__all__ = ["Evaluation", "evaluate", "ordered_map", "split_seed"]

Progress = Callable[[int, int], None]

WORTH_PROCESSES = 4.0
"""Seconds of work from which more processes pay off: they take a second or two to start."""
SHARED = 1_000_000
"""Bytes from which an array is mapped by all processes instead of sent to each."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The results of repeated cross-validation, and the verdict."""

    plan: Plan
    scores: Mapping[str, Mapping[str, Array]]
    """By rival and metric: a value for each split, in the order of the plan; NaN if undefined."""
    rivals: tuple[Rival, ...]
    verdict: Verdict
    warnings: tuple[FitWarning, ...]


def evaluate(
    rows: TableRows,
    *,
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    rivals: Sequence[str] = ALL,
    names: Sequence[Any] | None = None,
) -> Evaluation:
    """Score the rivals on labeled rows that they have not seen, all on the same splits.

    Parameters
    ----------
    rows : TableRows
    folds, repeats, seed, names
        As in `plan`.
    jobs : int, default=1
        Number of processes; results do not depend on it.
    progress : callable, optional
        Called as ``progress(done, total)``.
    rivals : sequence of str
        Some of `ALL`, among them "ridge" and "soft_cv", whose scores do not depend on the others.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=100)
    >>> X = rng.normal(size=(100, 2)) + 2 * truth[:, None]
    >>> codes = np.where(np.arange(100) < 20, truth, -1)
    >>> found = evaluate(TableRows(X, codes), repeats=2, rivals=("ridge", "soft_cv"))
    >>> found.plan.folds, found.verdict.answer, found.scores["ridge"]["accuracy"].shape
    (5, 'unclear', (10,))
    """
    planned = plan(rows.codes, rows.groups, folds=folds, repeats=repeats, seed=seed, names=names)
    work = partial(_test_split, rows, tuple(rivals), seed)
    outcomes = ordered_map(work, list(enumerate(planned.tests)), jobs=jobs, progress=progress)
    by_rival = {name: [outcome[name] for outcome in outcomes] for name in rivals}
    scores = {
        name: dict(zip(METRICS, np.array([one.scores for one in found]).T, strict=True))
        for name, found in by_rival.items()
    }
    size = TrainingSize(
        n_labeled=planned.n_labeled - len(planned.tests[0]),
        fewest_labels=_fewest_labels(rows.codes, planned),
        n_unlabeled=round(rows.count * _mean_unlabeled(by_rival["soft_cv"])),
        most_searched=search_size(rows.X.shape[1]),
    )
    return Evaluation(
        planned,
        scores,
        tuple(_summarise(name, by_rival[name], scores, planned, size) for name in rivals),
        _verdict(rows, scores, planned),
        tuple(found for name in rivals for found in _count_warnings(name, by_rival[name])),
    )


def ordered_map(
    work: Callable[[Any], Any],
    items: Sequence[Any],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Any]:
    """Apply a function to every item; return the results in order, whatever the number of jobs.

    Examples
    --------
    >>> ordered_map(abs, [-1, 2, -3], progress=lambda done, total: None)
    [1, 2, 3]
    """
    report = progress or (lambda done, total: None)
    numbered, waiting = partial(_numbered, work), list(enumerate(items))
    start = time.perf_counter()
    found = dict(parallel_map(numbered, waiting[:1]))
    report(len(found), len(items))
    # the time of the first item tells whether the others are worth more processes
    worth = (time.perf_counter() - start) * len(waiting[1:]) > WORTH_PROCESSES
    with closing(
        parallel_map(numbered, waiting[1:], jobs=jobs if worth else 1, max_nbytes=SHARED)
    ) as done:
        for index, result in done:
            found[index] = result
            report(len(found), len(items))
    return [found[index] for index in range(len(items))]


def split_seed(seed: int, index: int) -> int:
    """Return the seed of a split, the same in every process.

    Examples
    --------
    >>> split_seed(0, 1) == split_seed(0, 1), split_seed(0, 1) == split_seed(0, 2)
    (True, False)
    """
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0] >> 1)


@dataclass(frozen=True)
class _Outcome:
    """A rival on one split."""

    scores: tuple[float, ...]
    fitted: FittedRival


def _numbered(work: Callable[[Any], Any], item: tuple[int, Any]) -> tuple[int, Any]:
    return item[0], work(item[1])


def _test_split(
    rows: TableRows, rivals: tuple[str, ...], seed: int, item: tuple[int, Array]
) -> dict[str, _Outcome]:
    """Fit every rival to the training rows of a split; score it on the test rows."""
    index, test = item
    rows = replace(rows, X=np.asarray(rows.X))  # a worker gets a memory map
    inside = training_mask(test, rows.codes, rows.groups)
    fits = RivalFits(Training(rows, inside, split_seed(seed, index)))
    outcomes = {}
    for name in rivals:
        try:
            fitted = fits.fit(name)
        except ValueError as error:
            raise TableError(str(error), code="fit_failed") from error
        scores = (np.nan,) * len(METRICS)
        if not fitted.failed:
            scores = score(fitted.model, rows.X[test], rows.codes[test])
        outcomes[name] = _Outcome(scores, replace(fitted, model=None))  # not to be sent back
    return outcomes


def _fewest_labels(codes: Array, planned: Plan) -> int:
    """Count the labels of the rarest class in the training set that has the fewest."""
    counts = np.bincount(codes[codes >= 0])
    taken = (np.bincount(codes[test], minlength=len(counts)) for test in planned.tests)
    return min(int((counts - some).min()) for some in taken)


def _summarise(
    name: str,
    outcomes: Sequence[_Outcome],
    scores: Mapping[str, Mapping[str, Array]],
    planned: Plan,
    size: TrainingSize,
) -> Rival:
    """Summarise the outcomes of a rival over all splits."""
    failures = [one.fitted.failed for one in outcomes if one.fitted.failed]
    estimates, gains = {}, {}
    if not failures:
        for metric in METRICS:
            values, ridge = scores[name][metric], scores["ridge"][metric]
            estimates[metric] = interval(values, planned.ratio, lowest=0.0)
            gain = ridge - values if metric == "squared_loss" else values - ridge
            gains[metric] = interval(gain, planned.ratio)
    return Rival(
        name,
        size,
        _mean_unlabeled(outcomes),
        honest_scores(estimates, planned.n_tested),
        {} if name == "ridge" else honest_gains(gains, planned.n_tested),
        float(np.mean([one.fitted.seconds for one in outcomes])),
        _failure(failures, len(outcomes)),
    )


def _mean_unlabeled(outcomes: Sequence[_Outcome]) -> int:
    return round(float(np.mean([one.fitted.n_unlabeled for one in outcomes])))


def _failure(failures: Sequence[str], n_fits: int) -> str:
    if not failures or len(failures) == n_fits:
        return "".join(failures[:1])
    return f"{len(failures)} of {n_fits} fits failed: {failures[0]}"


def _verdict(rows: TableRows, scores: Mapping[str, Mapping[str, Array]], planned: Plan) -> Verdict:
    """Compare the two rivals that were named beforehand."""
    chosen, ridge = scores["soft_cv"]["accuracy"], scores["ridge"]["accuracy"]
    return decide(
        float(1.0 - chosen.mean()),
        float(1.0 - ridge.mean()),
        interval(chosen - ridge, planned.ratio),
        n_labels=planned.n_labeled,
        n_unlabeled=round(rows.count * (len(rows.codes) - planned.n_labeled)),
    )


def _count_warnings(name: str, outcomes: Sequence[_Outcome]) -> Iterator[FitWarning]:
    """Count the fits that gave each kind of warning."""
    caught = [{one.kind: one.message for one in o.fitted.warnings} for o in outcomes]
    for kind in dict.fromkeys(kind for one in caught for kind in one):
        messages = [one[kind] for one in caught if kind in one]
        yield FitWarning(kind, name, len(messages), len(outcomes), messages[0])
