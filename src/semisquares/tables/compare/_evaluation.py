"""Cross-validation: scores of the rivals, summarised over the splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.typing import Array
from ._rivals import ALL
from ._rows import TableRows
from ._tasks import Outcome, Progress, Task, run_tasks
from ._tuning import search_size
from .comparison import METRICS, Rival, TrainingSize
from .intervals import honest_gains, honest_scores, interval
from .notices.fit_warnings import FitWarning
from .splits import Plan, plan

__all__ = ["Evaluation", "evaluate", "split_tasks", "summarise"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The results of repeated cross-validation."""

    plan: Plan
    scores: Mapping[str, Mapping[str, Array]]
    """By rival and metric: a value for each split, in the order of the plan; NaN if undefined."""
    rivals: tuple[Rival, ...]
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
        Some of `ALL`; the scores of one do not depend on the others.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=100)
    >>> X = rng.normal(size=(100, 2)) + 2 * truth[:, None]
    >>> codes = np.where(np.arange(100) < 20, truth, -1)
    >>> found = evaluate(TableRows(X, codes), repeats=2, rivals=("ridge", "soft"))
    >>> found.plan.folds, found.scores["ridge"]["accuracy"].shape
    (5, (10,))
    """
    planned = plan(rows.codes, rows.groups, folds=folds, repeats=repeats, seed=seed, names=names)
    tasks = split_tasks(planned, rivals)
    return summarise(rows, planned, run_tasks(rows, tasks, seed=seed, jobs=jobs, progress=progress))


def split_tasks(planned: Plan, rivals: Sequence[str]) -> list[Task]:
    """Return a task for each split: the rivals learn from all its training rows."""
    return [Task(k, test, tuple(rivals)) for k, test in enumerate(planned.tests)]


def summarise(
    rows: TableRows, planned: Plan, outcomes: Sequence[Mapping[str, Outcome]]
) -> Evaluation:
    """Summarise the outcomes of `split_tasks`."""
    by_rival = {name: [outcome[name] for outcome in outcomes] for name in outcomes[0]}
    scores = {
        name: dict(zip(METRICS, np.array([one.scores for one in found]).T, strict=True))
        for name, found in by_rival.items()
    }
    most_unlabeled = max(map(_mean_unlabeled, by_rival.values()))
    size = TrainingSize(
        n_labeled=planned.n_labeled - len(planned.tests[0]),
        fewest_labels=_fewest_labels(rows.codes, planned),
        n_unlabeled=round(rows.count * most_unlabeled),
        most_searched=search_size(rows.X.shape[1]),
    )
    return Evaluation(
        planned,
        scores,
        tuple(_summarise(name, by_rival[name], scores, planned, size) for name in by_rival),
        tuple(found for name in by_rival for found in _count_warnings(name, by_rival[name])),
    )


def _fewest_labels(codes: Array, planned: Plan) -> int:
    """Count the labels of the rarest class in the training set that has the fewest."""
    counts = np.bincount(codes[codes >= 0])
    taken = (np.bincount(codes[test], minlength=len(counts)) for test in planned.tests)
    return min(int((counts - some).min()) for some in taken)


def _summarise(
    name: str,
    outcomes: Sequence[Outcome],
    scores: Mapping[str, Mapping[str, Array]],
    planned: Plan,
    size: TrainingSize,
) -> Rival:
    """Summarise the outcomes of a rival over all splits."""
    failures = [one.fitted.failed for one in outcomes if one.fitted.failed]
    estimates, gains = {}, {}
    if not failures:
        for metric in METRICS:
            values = scores[name][metric]
            estimates[metric] = interval(values, planned.ratio, lowest=0.0)
            if "averaged" in scores and name != "averaged":
                averaged = scores["averaged"][metric]
                gain = averaged - values if metric == "squared_loss" else values - averaged
                gains[metric] = interval(gain, planned.ratio)
    return Rival(
        name,
        size,
        _mean_unlabeled(outcomes),
        honest_scores(estimates, planned.n_tested),
        honest_gains(gains, planned.n_tested),
        float(np.mean([one.fitted.seconds for one in outcomes])),
        _failure(failures, len(outcomes)),
    )


def _mean_unlabeled(outcomes: Sequence[Outcome]) -> int:
    return round(float(np.mean([one.fitted.n_unlabeled for one in outcomes])))


def _failure(failures: Sequence[str], n_fits: int) -> str:
    if not failures or len(failures) == n_fits:
        return "".join(failures[:1])
    return f"{len(failures)} of {n_fits} fits failed: {failures[0]}"


def _count_warnings(name: str, outcomes: Sequence[Outcome]) -> Iterator[FitWarning]:
    """Count the fits that gave each kind of warning."""
    caught = [{one.kind: one.message for one in o.fitted.warnings} for o in outcomes]
    for kind in dict.fromkeys(kind for one in caught for kind in one):
        messages = [one[kind] for one in caught if kind in one]
        yield FitWarning(kind, name, len(messages), len(outcomes), messages[0])
