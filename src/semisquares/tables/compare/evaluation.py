"""The rivals on labeled rows that they have not seen, split by split."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._utils.processes import parallel_map
from ..errors import TableError
from .choice import search_size
from .comparison import METRICS, Rival, Verdict
from .intervals import honest_gains, honest_scores, interval
from .rivals import ALL, LABELS, Fits, Fitted, Training, how
from .scores import score
from .splits import Plan, plan, training_mask
from .verdict import decide

__all__ = ["Evaluation", "Trouble", "evaluate", "in_order", "split_seed"]

Array = NDArray[Any]
Progress = Callable[[int, int], None]

WORTH_PROCESSES = 4.0
"""Seconds of work for which processes pay: they take a second or two to start."""
SHARED = 1_000_000
"""Arrays of so many bytes or more are mapped by all processes, not sent to each."""


@dataclass(frozen=True)
class Trouble:
    """What fits of a rival warned of, and how many of them did."""

    rival: str
    kind: str
    """"lost_class", "convergence" or "other"."""
    n_fits: int
    of: int
    sentence: str
    """The first of the warnings."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What repeated cross-validation says about the rivals, and the verdict."""

    plan: Plan
    seed: int
    scores: Mapping[str, Mapping[str, Array]]
    """Rival, measure: a value for each split, in the order of the plan; NaN where undefined."""
    rivals: tuple[Rival, ...]
    verdict: Verdict
    troubles: tuple[Trouble, ...]


def evaluate(
    X: Array,
    codes: Array,
    groups: Array | None = None,
    *,
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    rivals: Sequence[str] = ALL,
    count: float = 1.0,
    names: Sequence[Any] | None = None,
) -> Evaluation:
    """Test the rivals on labeled rows that they have not seen, all on the same splits.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Prepared features.
    codes : ndarray of shape (n_rows,)
        The class of each row, 0 to K-1; -1 where it has no label.
    groups : ndarray of shape (n_rows,), optional
        Rows of one group are never on both sides of a split.
    folds, repeats, seed, names
        As in `plan`.
    jobs : int, default=1
        Number of processes; it changes no digit.
    progress : callable, optional
        Told the number of splits that are done, and of all.
    rivals : sequence of str
        Which of `ALL`; "ridge" and "soft_cv" must be among them, and their scores do not depend on
        the others.
    count : float, default=1
        How often an unlabeled row counts, where these rows are a sample (`thinned`).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=100)
    >>> X = rng.normal(size=(100, 2)) + 2 * truth[:, None]
    >>> codes = np.where(np.arange(100) < 20, truth, -1)
    >>> found = evaluate(X, codes, repeats=2, rivals=("ridge", "soft_cv"))
    >>> found.plan.folds, found.verdict.answer, found.scores["ridge"]["accuracy"].shape
    (5, 'unclear', (10,))
    """
    planned = plan(codes, groups, folds=folds, repeats=repeats, seed=seed, names=names)
    work = partial(_test_split, X, codes, groups, tuple(rivals), seed, count)
    outcomes = in_order(work, list(enumerate(planned.tests)), jobs=jobs, progress=progress)
    by_rival = {name: [outcome[name] for outcome in outcomes] for name in rivals}
    scores = {
        name: dict(zip(METRICS, np.array([one.scores for one in found]).T, strict=True))
        for name, found in by_rival.items()
    }
    n_search = search_size(X.shape[1])
    return Evaluation(
        planned,
        seed,
        scores,
        tuple(_rival(name, by_rival, scores, codes, planned, count, n_search) for name in rivals),
        _verdict(codes, scores, planned, count),
        tuple(trouble for name in rivals for trouble in _troubles(name, by_rival[name])),
    )


def in_order(
    work: Callable[[Any], Any],
    items: Sequence[Any],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Any]:
    """Return `work` of every item, in their order however many processes share it.

    Examples
    --------
    >>> in_order(abs, [-1, 2, -3], progress=lambda done, total: None)
    [1, 2, 3]
    """
    tell = progress or (lambda done, total: None)
    numbered, waiting = partial(_numbered, work), list(enumerate(items))
    start = time.perf_counter()
    found = dict(parallel_map(numbered, waiting[:1]))
    tell(len(found), len(items))
    # the first tells whether the others are worth more processes, which take a while to start
    worth = (time.perf_counter() - start) * len(waiting[1:]) > WORTH_PROCESSES
    with closing(
        parallel_map(numbered, waiting[1:], jobs=jobs if worth else 1, max_nbytes=SHARED)
    ) as done:
        for index, result in done:
            found[index] = result
            tell(len(found), len(items))
    return [found[index] for index in range(len(items))]


def split_seed(seed: int, index: int) -> int:
    """Return the seed of a split: every split draws its own sample, in any process.

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
    fitted: Fitted


def _numbered(work: Callable[[Any], Any], item: tuple[int, Any]) -> tuple[int, Any]:
    return item[0], work(item[1])


def _test_split(
    X: Array,
    codes: Array,
    groups: Array | None,
    rivals: tuple[str, ...],
    seed: int,
    count: float,
    item: tuple[int, Array],
) -> dict[str, _Outcome]:
    """Fit every rival to the training rows of a split, and score it on the test rows."""
    index, test = item
    inside = training_mask(test, codes, groups)
    training = Training(np.asarray(X), codes, inside, groups, split_seed(seed, index), count)
    fits = Fits(training)
    outcomes = {}
    for name in rivals:
        try:
            fitted = fits.fit(name)
        except ValueError as error:
            raise TableError(str(error)) from error
        scores = (np.nan,) * len(METRICS)
        if not fitted.failed:
            scores = score(fitted.model, training.X[test], codes[test])
        outcomes[name] = _Outcome(scores, replace(fitted, model=None))  # models need not travel
    return outcomes


def _fewest_in_training(codes: Array, planned: Plan) -> int:
    """Count the labeled rows of the rarest class in the training set that has the fewest."""
    counts = np.bincount(codes[codes >= 0])
    taken = (np.bincount(codes[test], minlength=len(counts)) for test in planned.tests)
    return min(int((counts - some).min()) for some in taken)


def _rival(
    name: str,
    by_rival: Mapping[str, list[_Outcome]],
    scores: Mapping[str, Mapping[str, Array]],
    codes: Array,
    planned: Plan,
    count: float,
    n_search: int,
) -> Rival:
    """Sum a rival up."""
    fits = [one.fitted for one in by_rival[name]]
    text = how(
        name,
        fewest=_fewest_in_training(codes, planned),
        n_labeled=planned.n_labeled - len(planned.tests[0]),
        n_unlabeled=round(count * _mean_unlabeled([one.fitted for one in by_rival["soft_cv"]])),
        n_search=n_search,
    )
    failures = [fitted.failed for fitted in fits if fitted.failed]
    estimates, gains = {}, {}
    if not failures:
        for metric in METRICS:
            values, ridge = scores[name][metric], scores["ridge"][metric]
            estimates[metric] = interval(values, planned.ratio, lowest=0.0)
            gain = ridge - values if metric == "squared_loss" else values - ridge
            gains[metric] = interval(gain, planned.ratio)
    return Rival(
        name,
        LABELS[name],
        text,
        _mean_unlabeled(fits),
        honest_scores(estimates, planned.n_tested),
        {} if name == "ridge" else honest_gains(gains, planned.n_tested),
        float(np.mean([fitted.seconds for fitted in fits])),
        _failure(failures, len(fits)),
    )


def _mean_unlabeled(fits: Sequence[Fitted]) -> int:
    return round(float(np.mean([fitted.n_unlabeled for fitted in fits])))


def _failure(failures: Sequence[str], n_fits: int) -> str:
    if not failures or len(failures) == n_fits:
        return "".join(failures[:1])
    return f"{len(failures)} of {n_fits} fits failed: {failures[0]}"


def _verdict(
    codes: Array, scores: Mapping[str, Mapping[str, Array]], planned: Plan, count: float
) -> Verdict:
    """Compare the two rivals that were named beforehand."""
    chosen, ridge = scores["soft_cv"]["accuracy"], scores["ridge"]["accuracy"]
    return decide(
        float(1.0 - chosen.mean()),
        float(1.0 - ridge.mean()),
        interval(chosen - ridge, planned.ratio),
        n_labels=planned.n_labeled,
        n_unlabeled=round(count * (len(codes) - planned.n_labeled)),
    )


def _troubles(name: str, outcomes: Sequence[_Outcome]) -> Iterator[Trouble]:
    """Count the fits that warned, by kinds of warnings."""
    warned = [{one.kind: one.sentence for one in o.fitted.complaints} for o in outcomes]
    for kind in dict.fromkeys(kind for one in warned for kind in one):
        sentences = [one[kind] for one in warned if kind in one]
        yield Trouble(name, kind, len(sentences), len(outcomes), sentences[0])
