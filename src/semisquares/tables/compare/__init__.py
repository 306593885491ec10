"""Which classifier suits a table, and what are its unlabeled rows worth?

This file puts the parts of the answers together.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..._inputs.untested import rows_to_test
from ..._utils.versions import versions
from .._arguments import check_splits, flag, instance, some_function
from .._importance import ColumnImportance, column_importance, importance_rows
from ..dataset import PREPARED, Prepared
from ..models._converting import predictor_of
from ._changes import changes
from ._curves import ComparisonCurves, curve_tasks, draw_curves
from ._evaluation import Evaluation, split_tasks, summarise
from ._rivals import ALL, QUICK, RivalFits, Training
from ._rows import TableRows, subsample
from ._tasks import Progress, run_tasks
from .comparison import Comparison, Part, Recommendation, Verdict
from .intervals import interval
from .notices import NoticeContext, Results, find_notices
from .notices.never_predicted import looked_at
from .splits import plan
from .verdict import decide, deciding_metric, recommend

__all__ = ["Comparison", "compare_table"]

QUICK_FOLDS = 3
"""Folds of a quick comparison at most."""
Stage = Callable[[str], AbstractContextManager[Progress]]


def _silent(what: str) -> AbstractContextManager[Progress]:
    return nullcontext(lambda done, total: None)


def compare_table(
    prepared: Prepared,
    *,
    quick: bool = False,
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    stage: Stage = _silent,
) -> Comparison:
    """Find out which classifier suits a table, and what its unlabeled rows are worth.

    Classifiers are cross-validated on the labeled rows; unlabeled rows are only used for training.
    The averaged classifier is recommended unless another one is better by more than chance. What
    the unlabeled rows are worth is the gain of the averaged classifier over the same classifier
    with everything learned from the labeled rows alone.

    Parameters
    ----------
    prepared : Prepared
        From `semisquares.tables.prepare`.
    quick : bool, default=False
        Whether to compare the averaged classifier only with the tuned ridge and logistic
        regression, with at most three folds, fewer repeats and without learning curves.
    folds : int, default=5
        Folds of the cross-validation; fewer if a class has fewer labels.
    repeats : int, optional
        Repeats of the cross-validation; by default 2 to 4, depending on the number of labels, and 1
        for a quick comparison.
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
    >>> found = compare_table(prepare(frame, "sick"), folds=2, repeats=1, quick=True)
    >>> found.recommendation.method, found.verdict.answer, len(found.rivals)
    ('averaged', 'unclear', 4)
    """
    instance("prepared", prepared, Prepared, PREPARED)
    flag("quick", quick)
    check_splits(folds=folds, repeats=repeats, seed=seed, jobs=jobs)
    some_function("stage", stage, "a function from a name to a context manager")
    rows = TableRows(prepared.X, prepared.codes, prepared.groups)
    target = prepared.target
    names = tuple(map(str, target.classes))
    sample = subsample(rows, seed)
    if quick:
        folds, repeats = min(folds, QUICK_FOLDS), repeats or 1
    planned = plan(
        sample.codes, sample.groups, folds=folds, repeats=repeats, seed=seed, names=target.classes
    )
    few = planned.first(1)
    splits = split_tasks(planned, QUICK if quick else ALL)
    between = [] if quick else curve_tasks(sample, few)
    with stage("comparing") as progress:
        outcomes = run_tasks(sample, splits + between, seed=seed, jobs=jobs, progress=progress)
    evaluation = summarise(sample, planned, outcomes[: len(splits)])
    curves = ComparisonCurves()
    if not quick:
        # the first splits measure the ends of the curves
        shown = [*range(len(few.tests)), *range(len(splits), len(outcomes))]
        tasks = splits + between
        curves = draw_curves(sample, few, [tasks[k] for k in shown], [outcomes[k] for k in shown])
    metric, n_rarest = deciding_metric(target.counts), min(target.counts)
    recommendation = recommend(evaluation.scores, planned, metric=metric, n_rarest=n_rarest)
    verdict = _verdict(evaluation, metric, n_rarest, target.n_unlabeled)
    fits = RivalFits(Training(rows, np.ones(len(rows.codes), dtype=bool), seed))
    averaged = fits.fit("averaged").model
    results = _results(evaluation, sample, fits, recommendation)
    context = NoticeContext(prepared, seed, results)
    return Comparison(
        source=prepared.source,
        target=target.name,
        group=prepared.group,
        n_rows=target.n_rows,
        n_labeled=target.n_labeled,
        classes=names,
        counts=target.counts,
        columns=prepared.columns,
        quick=quick,
        folds=planned.folds,
        repeats=planned.repeats,
        curve_repeats=few.repeats,
        seed=seed,
        rivals=evaluation.rivals,
        recommendation=recommendation,
        verdict=verdict,
        unlabeled_curve=curves.unlabeled,
        label_curve=curves.labels,
        label_trend=curves.trend,
        notices=find_notices(context),
        changes=None
        if quick
        else changes(rows, averaged.supervised_, averaged, class_names=names, seed=seed),
        importance=_importance(prepared, averaged),
        parts=_parts(averaged),
        certificate=float(averaged.certificate_),
        versions=versions("pandas"),
    )


def _results(
    evaluation: Evaluation, sample: TableRows, fits: RivalFits, found: Recommendation
) -> Results:
    """Predict rows of the table with the recommended classifier, for notices."""
    model, rows = fits.fit(found.method).model, fits.training.rows
    empty = np.empty(0, dtype=np.intp)
    left_out = (empty, empty)
    if found.method == "averaged":
        truth = rows.codes[fits.labels]
        groups = None if rows.groups is None else rows.groups[fits.labels]
        tested = rows_to_test(truth, groups)
        left_out = model.loo_proba_.argmax(axis=1)[tested], truth[tested]
    predicted = model.predict(looked_at(rows.X))
    return Results(evaluation, sample.codes, found.method, found.label, predicted, left_out)


def _verdict(evaluation: Evaluation, metric: str, n_rarest: int, n_unlabeled: int) -> Verdict:
    """Compare the averaged classifier with and without unlabeled rows."""
    planned, scores = evaluation.plan, evaluation.scores
    score, without = scores["averaged"][metric], scores["labeled_only"][metric]
    return decide(
        float(score.mean()), float(without.mean()), interval(score - without, planned.ratio),
        metric=metric, n_labels=planned.n_labeled, n_rarest=n_rarest, n_unlabeled=n_unlabeled,
    )  # fmt: skip


def _importance(prepared: Prepared, averaged: Any) -> tuple[ColumnImportance, ...]:
    """Measure how much each column matters to the average."""
    n_rows, n_columns = len(prepared.codes), len(prepared.encoder.places)
    X = np.asarray(prepared.X[importance_rows(0, n_rows, n_rows, n_columns)])
    return column_importance(prepared.encoder, predictor_of(averaged), None, X)


def _parts(averaged: Any) -> tuple[Part, ...]:
    """Summarise the families of an average, that of the largest weight first."""
    members = averaged.members_
    found = []
    for family in dict.fromkeys(members["family"].tolist()):
        mine = np.flatnonzero(members["family"] == family)
        best = mine[members["log_loss"][mine].argmin()]
        weight, error = members["weight"][mine].sum(), 1.0 - members["accuracy"][best]
        found.append(Part(family, float(weight), len(mine), float(error)))
    return tuple(sorted(found, key=lambda part: -part.weight))
