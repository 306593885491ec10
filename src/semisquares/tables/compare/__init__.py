"""Do the unlabeled rows of a table help? This file puts the parts of the answer together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from ..._utils.versions import versions
from ...estimators import LeastSquaresClassifier, SoftLabelClassifier
from .._arguments import check_splits, instance, some_function
from .._strengths import strengths
from ..dataset import PREPARED, Prepared
from ..errors import TableError
from ._changes import changes
from ._curves import curve_repeats, label_curve, unlabeled_curve
from ._evaluation import Progress, evaluate
from ._rows import TableRows, subsample
from ._tuning import Pair, fit_pair, fit_rows
from .comparison import Changes, Comparison
from .notices import NoticeContext, Results, find_notices

__all__ = ["Comparison", "compare_table"]

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
    """Find out whether the unlabeled rows of a table help.

    Parameters
    ----------
    prepared : Prepared
        From `semisquares.tables.prepare`.
    folds : int, default=5
        Folds of the cross-validation; fewer if a class has fewer labels.
    repeats : int, optional
        Repeats of the cross-validation; by default 2 to 10, depending on the number of labels.
    seed : int, default=0
        Draws splits and samples. The same seed gives the same answer, whatever the number of jobs.
    jobs : int, default=1
        Number of processes.
    stage : callable, optional
        Called with the name of each stage. Returns a context manager whose value is called as
        ``progress(done, total)``.

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
    rows = TableRows(prepared.X, prepared.codes, prepared.groups)
    target = prepared.target
    if not target.n_unlabeled:
        raise TableError(
            "Every row has a label, so there is nothing that unlabeled rows could help with; "
            "fit a model to the table instead.",
            code="no_unlabeled_rows",
        )
    names = tuple(map(str, target.classes))
    sample = subsample(rows, seed)
    with stage("cross-validating") as progress:
        evaluation = evaluate(
            sample, folds=folds, repeats=repeats, seed=seed, jobs=jobs, progress=progress,
            names=target.classes,
        )  # fmt: skip
    few = evaluation.plan.first(curve_repeats(target.n_labeled) if repeats is None else 2)
    with stage("with fewer unlabeled rows") as progress:
        more_rows = unlabeled_curve(sample, few, seed=seed, jobs=jobs, progress=progress)
    with stage("with fewer labels") as progress:
        more_labels, trend = label_curve(sample, few, seed=seed, jobs=jobs, progress=progress)
    pair = fit_pair(rows, seed=seed)
    context = NoticeContext(prepared, seed, Results(evaluation, sample.codes, pair))
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
        curve_repeats=few.repeats,
        seed=seed,
        rivals=evaluation.rivals,
        verdict=evaluation.verdict,
        unlabeled_curve=more_rows,
        label_curve=more_labels,
        label_trend=trend,
        notices=find_notices(context),
        changes=_changes(rows, pair, names, seed),
        strengths=strengths(
            pair.soft_cv.coef_, prepared.features, names, spread=rows.X.std(axis=0)
        ),
        alpha=pair.choice.alpha,
        unlabeled_weight=pair.choice.unlabeled_weight,
        supervised_alpha=pair.choice.supervised_alpha,
        certificate=float(getattr(pair.soft_cv, "certificate_", float("nan"))),
        versions=versions("pandas"),
    )


def _changes(rows: TableRows, pair: Pair, names: tuple[str, ...], seed: int) -> Changes:
    """Compare the ridge with the chosen soft labels or, if that is the ridge, with plain ones."""
    used = not isinstance(pair.soft_cv, LeastSquaresClassifier)
    after = pair.soft_cv
    if not used:
        after = fit_rows(SoftLabelClassifier(pair.choice.supervised_alpha), rows)
    return changes(rows, pair.ridge, after, used=used, class_names=names, seed=seed)
