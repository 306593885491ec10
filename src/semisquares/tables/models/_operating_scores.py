"""Scores at an operating point, on rows that neither a fit nor its calibration has seen.

1. In each split, choose and fit without the test rows, and keep their decision values.
2. Calibrate the decision values of a test set by those of the other test sets of the same repeat.
3. Score the answers of the operating point to these probabilities.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..._utils.messages import join
from ..._utils.typing import Array
from ..compare._rows import TableRows
from ..compare._tasks import ordered_map
from ..compare.comparison import METRICS
from ..compare.intervals import honest_scores, interval
from ..compare.notices.majority import against_majority
from ..compare.scores import score_predictions
from ..compare.splits import Plan, plan, training_mask
from ..errors import TableError
from ._calibrating import calibrate_method, decision_values
from ._measuring import FitOptions, Measurement, Setting, choose, fit_setting
from ._operating_point import OperatingPoint

__all__ = ["measure_at_point"]


def measure_at_point(
    rows: TableRows, names: Sequence[Any], options: FitOptions, point: OperatingPoint
) -> Measurement:
    """Cross-validate a method with the answers of an operating point, if the labels allow it.

    Parameters
    ----------
    rows : TableRows
    names : sequence
        The classes.
    options : FitOptions
    point : OperatingPoint

    Examples
    --------
    >>> from semisquares.tables.models._operating_point import Threshold
    >>> codes = np.arange(200) % 2
    >>> X = np.random.default_rng(0).normal(size=(200, 1)) + codes[:, None]
    >>> options = FitOptions("ridge", alpha=1.0, repeats=2)
    >>> rows, names = TableRows(X, codes), ("no", "yes")
    >>> for least in (0.5, 0.01):  # the second answers "yes" for each row
    ...     found = measure_at_point(rows, names, options, Threshold(1, least))
    ...     print(round(found.metrics["accuracy"].mean, 2))
    0.73
    0.5
    """
    try:
        planned = plan(
            rows.codes, rows.groups, folds=options.folds, repeats=options.repeats,
            seed=options.seed, names=names,
        )  # fmt: skip
        sent = replace(options, progress=None)  # a progress bar cannot be sent to other processes
        work = partial(_decide_split, rows, sent)
        found = ordered_map(work, planned.tests, jobs=options.jobs, progress=options.progress)
    except TableError as error:
        return Measurement({}, failure=join(" ", ("No scores could be measured.", error.message)))
    values = dict(zip(METRICS, _scores(rows.codes, planned, found, point).T, strict=True))
    scores = {name: interval(values[name], planned.ratio, lowest=0.0) for name in METRICS}
    majority = against_majority(values["accuracy"], planned, rows.codes)
    return Measurement(honest_scores(scores, planned.n_tested), majority=majority)


def _decide_split(rows: TableRows, options: FitOptions, test: Array) -> tuple[Array, Setting]:
    """Return decision values of test rows, and how they were fitted."""
    rows = replace(rows, X=np.asarray(rows.X))  # a worker gets a memory map
    inside = training_mask(test, rows.codes, rows.groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows gives them again
        setting = choose(rows, options, inside)
        model = fit_setting(setting, rows, inside)
    return decision_values(model, rows.X[test]), setting


def _scores(
    codes: Array, planned: Plan, found: Sequence[tuple[Array, Setting]], point: OperatingPoint
) -> Array:
    """Return the scores of each split, (n_splits, n_metrics)."""
    labels = np.bincount(codes[codes >= 0])
    scores = []
    for split, test in enumerate(planned.tests):
        first = split - split % planned.folds
        others = [k for k in range(first, first + planned.folds) if k != split]
        calibration = calibrate_method(
            found[split][1],
            np.concatenate([found[k][0] for k in others]),
            np.concatenate([codes[planned.tests[k]] for k in others]),
            labels - np.bincount(codes[test], minlength=len(labels)),
        )
        decision, truth = found[split][0], codes[test]
        p = calibration.probabilities(decision)
        ranking = p[:, 1:] if p.shape[1] == 2 else p
        scores.append(score_predictions(point.decide(p), p, ranking, truth))
    return np.array(scores)
