"""Do the unlabeled rows of a table help? Every part of the answer, put together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from numpy.typing import NDArray

from ..._utils.versions import versions
from ...estimators import LeastSquaresClassifier, SoftLabelClassifier
from ..arguments import check_splits, instance, some_function
from ..dataset import PREPARED, Prepared
from ..errors import TableError
from .changes import changes
from .choice import MOST_TESTED, Pair, fit_pair, fit_rows, search_size, thinned
from .comparison import Changes, Comparison, Notice
from .curves import curve_repeats, label_curve, unlabeled_curve
from .evaluation import Evaluation, Progress, evaluate
from .majority import against_majority, worth
from .notices import notices, untested
from .rivals import LABELS
from .strengths import strengths

__all__ = ["Comparison", "compare_table"]

_TROUBLES = {
    "lost_class": "gave a class to no unlabeled row at all: its labels collapsed.",
    "convergence": "stopped before its end.",
}
"""What warnings of fits mean for people who did not ask for the fits."""

Array = NDArray[Any]
Stage = Callable[[str], AbstractContextManager[Progress]]


def _silent(what: str) -> AbstractContextManager[Progress]:
    return nullcontext(lambda done, total: None)


def compare_table(
    prepared: Prepared,
    *,
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    stage: Stage = _silent,
) -> Comparison:
    """Answer whether the unlabeled rows of a table help, and gather what the answer rests on.

    Parameters
    ----------
    prepared : Prepared
        Of `semisquares.tables.prepare`.
    folds : int, default=5
        Folds of the cross-validation; fewer where a class has fewer labels.
    repeats : int, optional
        Repeats of it; 2 to 10 by the number of labels if not given.
    seed : int, default=0
        Of splits and samples. The same seed gives the same answer, whatever the number of jobs.
    jobs : int, default=1
        Number of processes.
    stage : callable, optional
        Called with the name of each part; gives a context manager whose value hears
        ``(done, total)``.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from semisquares.tables import compare_table, prepare
    >>> rng = np.random.default_rng(0)
    >>> sick = rng.random(90) < 0.5
    >>> frame = pd.DataFrame({"pulse": rng.normal(70 + 20 * sick, 8)})
    >>> frame["sick"] = np.where(np.arange(90) < 30, np.where(sick, "yes", "no"), None)
    >>> found = compare_table(prepare(frame, "sick"), folds=2, repeats=1)
    >>> found.verdict.answer, len(found.rivals)
    ('unclear', 6)
    """
    instance("prepared", prepared, Prepared, PREPARED)
    check_splits(folds=folds, repeats=repeats, seed=seed, jobs=jobs)
    some_function("stage", stage, "a function from a name to a context manager")
    X, codes, groups = prepared.X, prepared.codes, prepared.groups
    target = prepared.target
    if not target.n_unlabeled:
        raise TableError(
            "Every row has a label, so there is nothing that unlabeled rows could help with; "
            "use `semisquares fit` to get a model."
        )
    names = tuple(map(str, target.classes))
    few = None if repeats is None else min(repeats, 2)
    thin_X, thin_codes, thin_groups, count = thinned(X, codes, groups, seed)
    with stage("cross-validating") as progress:
        evaluation = evaluate(
            thin_X, thin_codes, thin_groups, folds=folds, repeats=repeats, seed=seed, jobs=jobs,
            count=count, progress=progress, names=target.classes,
        )  # fmt: skip
    with stage("with fewer unlabeled rows") as progress:
        more_rows = unlabeled_curve(
            thin_X, thin_codes, thin_groups, folds=folds, repeats=few, seed=seed, jobs=jobs,
            count=count, progress=progress,
        )  # fmt: skip
    with stage("with fewer labels") as progress:
        more_labels = label_curve(
            thin_X, thin_codes, thin_groups, folds=folds, repeats=few, seed=seed, jobs=jobs,
            count=count, progress=progress,
        )  # fmt: skip
    pair = fit_pair(X, codes, groups=groups, seed=seed)
    spread = X.std(axis=0)
    return Comparison(
        source=prepared.source,
        target=target.name,
        group=prepared.group,
        n_rows=target.n_rows,
        n_labeled=target.n_labeled,
        classes=names,
        counts=target.counts,
        columns=prepared.columns,
        folds=evaluation.plan.folds,
        repeats=evaluation.plan.repeats,
        curve_repeats=min(few or curve_repeats(target.n_labeled), evaluation.plan.repeats),
        seed=seed,
        rivals=evaluation.rivals,
        verdict=evaluation.verdict,
        unlabeled_curve=more_rows,
        label_curve=more_labels.points,
        label_sentence=more_labels.sentence,
        notices=(
            *_worth(evaluation, prepared, pair, thin_codes),
            *notices(prepared, seed=seed),
            *untested(evaluation.plan, target.classes, grouped=groups is not None),
            *_notices(evaluation, prepared),
        ),
        changes=_changes(prepared, pair, names, seed),
        strengths=strengths(pair.soft_cv, prepared.features, names, spread=spread),
        alpha=pair.choice.alpha,
        unlabeled_weight=pair.choice.unlabeled_weight,
        supervised_alpha=pair.choice.supervised_alpha,
        certificate=float(getattr(pair.soft_cv, "certificate_", float("nan"))),
        versions=versions("pandas"),
    )


def _changes(prepared: Prepared, pair: Pair, names: tuple[str, ...], seed: int) -> Changes:
    """Compare the ridge with the chosen soft labels; or, where it is chosen, with plain ones."""
    used = not isinstance(pair.soft_cv, LeastSquaresClassifier)
    after = pair.soft_cv
    if not used:
        plain = SoftLabelClassifier(pair.choice.supervised_alpha)
        after = fit_rows(plain, prepared.X, prepared.codes)
    return changes(
        prepared.X,
        prepared.codes,
        pair.ridge,
        after,
        used=used,
        method="soft_cv" if used else "soft",
        class_names=names,
        seed=seed,
    )


def _worth(evaluation: Evaluation, prepared: Prepared, pair: Pair, codes: Array) -> list[Notice]:
    """Ask whether the classifier that the verdict recommends is worth anything."""
    helps = evaluation.verdict.answer == "yes"
    name, model = ("soft_cv", pair.soft_cv) if helps else ("ridge", pair.ridge)
    auc = next(rival.scores["auc"] for rival in evaluation.rivals if rival.name == name)
    found = worth(
        LABELS[name].capitalize(),
        against_majority(evaluation.scores[name]["accuracy"], evaluation.plan, codes),
        auc,
        model.predict(prepared.X),
        prepared.target.classes,
    )
    return [found] if found else []


def _notices(evaluation: Evaluation, prepared: Prepared) -> list[Notice]:
    """Make notices of what the fits warned of, and of rows that were only sampled."""
    found = [
        Notice(
            trouble.kind,
            f"In {trouble.n_fits} of {trouble.of} fits, {LABELS[trouble.rival]} "
            f"{_TROUBLES.get(trouble.kind, f'warned: {trouble.sentence}')}",
            "Its scores here may say little about it.",
        )
        for trouble in evaluation.troubles
    ]
    n_unlabeled = prepared.target.n_unlabeled
    n_search = search_size(prepared.X.shape[1])
    if n_unlabeled > n_search:
        found.append(
            Notice(
                "sampled",
                f"With {n_unlabeled:,} unlabeled rows, some work was done on random samples of "
                f"them: the choice of alpha and weight on {n_search:,}, the tests on "
                f"{min(n_unlabeled, MOST_TESTED):,} and, of slow rivals, on fewer.",
                "A sampled row counts as often as makes up for the others, and what is fitted in "
                "the end sees all rows.",
            )
        )
    return found
