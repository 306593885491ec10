"""From a prepared table to a model: choose, fit, measure, and note how it came about."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ..._utils.errors import CollapsedLabelsWarning
from ..._utils.messages import Message, Parameter
from ..._utils.versions import versions
from ..._utils.words import percent
from ...estimators import LeastSquaresClassifier, SoftLabelClassifierCV
from ..arguments import instance, texts
from ..compare.choice import thinned
from ..compare.comparison import plain
from ..compare.majority import worth
from ..compare.notices import leaks
from ..dataset import PREPARED, Prepared, TableInfo
from ..written import filled_note
from .measuring import METHODS, Measured, Order, Rows, decided, fit_as_asked, measure
from .model import TableModel, slim

__all__ = ["METHODS", "fit_order", "fit_table", "put_together", "told"]

Array = NDArray[Any]

Progress = Callable[[int, int], None]
_NAMES = {"soft": "Soft labels", "hard": "Hard labels", "supervised": "Ridge on the labels alone"}


def fit_table(
    prepared: Prepared,
    *,
    method: str = "auto",
    alpha: float | None = None,
    weight: float | None = None,
    missing: Sequence[str] = (),
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> TableModel:
    """Fit a classifier to a prepared table.

    Parameters
    ----------
    prepared : Prepared
    method : {"auto", "soft", "hard", "supervised"}
        "auto" compares soft labels with the tuned ridge as `compare_table` does, with the same
        verdict, and takes soft labels where that is "yes".
    alpha : float, optional
        The ridge; chosen by cross-validation if not given.
    weight : float, optional
        How much an unlabeled row counts; chosen by cross-validation for soft labels, 1 for hard
        ones, if not given.
    missing : sequence of str
        Spellings of missing cells that the table was read with, to be kept with the model.
    folds, repeats, seed, jobs
        As in `compare_table`.
    progress : callable, optional
        Hears ``(done, total)`` of the fits of the cross-validation.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables import fit_table, prepare
    >>> kinds = ["a", "a", "a", "b", "b", "b", None, None]
    >>> frame = pd.DataFrame({"size": [1, 2, 3, 7, 8, 9, 2, 8], "kind": kinds})
    >>> model = fit_table(prepare(frame, "kind"), method="soft", alpha=1.0, weight=1.0)
    >>> model.predict(frame).labels.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b', 'a', 'b']
    """
    instance("prepared", prepared, Prepared, PREPARED)
    missing = texts("missing", missing)
    order = Order(method, alpha, weight, folds, repeats, seed, jobs, progress)
    return fit_order(prepared, order, missing=missing)


def fit_order(prepared: Prepared, order: Order, *, missing: Sequence[str] = ()) -> TableModel:
    """Fit what is asked for to a prepared table: see `fit_table`."""
    rows = Rows(np.asarray(prepared.X), prepared.codes, prepared.groups)
    thin = Rows(*thinned(rows.X, rows.codes, rows.groups, order.seed))
    measured = measure(thin, prepared.target.classes, order)
    chosen = decided(order.method, measured.verdict)
    with told() as notes:
        classifier = fit_as_asked(rows, chosen, order.alpha, order.weight, order.seed)
    predicted = classifier.predict(rows.X)
    return put_together(prepared, prepared, order, measured, classifier, predicted, notes, missing)


def put_together(
    table: TableInfo,
    sample: Prepared,
    order: Order,
    measured: Measured,
    classifier: Any,
    predicted: Array,
    notes: Sequence[str],
    missing: Sequence[str],
) -> TableModel:
    """Put a model together: the encoder of a table, the classifier, and what is known of both.

    `sample` has many of its rows, all that are labeled, and `predicted` are predictions of these.
    """
    said = _filled(table) + _leaks(sample, order.seed) + _worth(table, measured, predicted)
    about = _about(table, order, classifier, measured, [*said, *notes])
    return TableModel(
        Pipeline([("encoder", table.encoder), ("classifier", slim(classifier))]),
        table.target.name,
        table.target.classes,
        group=table.group,
        unlabeled=table.unlabeled,
        missing=tuple(missing),
        about=about,
    )


@contextmanager
def told() -> Iterator[list[str]]:
    """Catch what a fit warns of, as notes for people."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    said = (w for w in caught if issubclass(w.category, UserWarning))  # not of files left open, say
    notes += [_for_people(warning) for warning in said]


def _for_people(warning: warnings.WarningMessage) -> str:
    """Write a warning of a fit, which knows classes by numbers and has other parameters."""
    if issubclass(warning.category, CollapsedLabelsWarning):
        return Message(
            "Some class was given to no unlabeled row at all: the labels may have collapsed; try "
            "{method}, or a smaller {weight}.",
            method=Parameter("method", "soft"),
            weight=Parameter("weight"),
        )
    return str(warning.message)


def _filled(table: TableInfo) -> list[str]:
    """Say so where labels were filled in by a model."""
    target = table.target
    return [filled_note(target.name, target.n_labeled, table.n_filled)] if table.n_filled else []


def _leaks(sample: Prepared, seed: int) -> list[str]:
    """Say which columns give the label away, as `compare_table` does."""
    return [found.text for found in leaks(sample, seed=seed)]


def _worth(table: TableInfo, measured: Measured, predicted: Array) -> list[str]:
    """Say so where the model may be worth no more than one answer, or could not be tested."""
    notes = [measured.note] if measured.note else []
    if measured.majority is None:
        return notes
    auc, classes = measured.metrics["auc"], table.target.classes
    said = worth("The model", measured.majority, auc, predicted, classes)
    return [*notes, said.text] if said else notes


def _about(
    table: TableInfo, order: Order, classifier: Any, measured: Measured, notes: list[str]
) -> dict[str, Any]:
    """Note how the model came about, as JSON can say it."""
    target = table.target
    method = decided(order.method, measured.verdict)
    weight = _used_weight(classifier)
    certificate = float(getattr(classifier, "certificate_", math.nan))
    return plain(
        {
            "method": method,
            "asked": order.method,
            "alpha": _used_alpha(classifier),
            "unlabeled_weight": weight,
            "source": table.source,
            "rows": target.n_rows,
            "labeled": target.n_labeled,
            "classes": list(target.classes),
            "spelling": list(target.spelling),
            "counts": list(target.counts),
            "columns": [column.as_dict() for column in table.columns],
            "metrics": {name: asdict(one) for name, one in measured.metrics.items()},
            "verdict": None if measured.verdict is None else asdict(measured.verdict),
            "certificate": certificate,
            "seed": order.seed,
            "versions": versions("pandas", "skops"),
            "created": datetime.now(UTC).date().isoformat(),
            "summary": _summary(method, classifier, weight, measured, table),
            "notes": notes,
        }
    )


def _used_alpha(classifier: Any) -> float:
    chosen = isinstance(classifier, SoftLabelClassifierCV)
    return float(classifier.alpha_ if chosen else classifier.alpha)


def _used_weight(classifier: Any) -> float:
    if isinstance(classifier, LeastSquaresClassifier):
        return 0.0
    if isinstance(classifier, SoftLabelClassifierCV):
        return float(classifier.unlabeled_weight_)
    return float(classifier.unlabeled_weight)


def _summary(
    method: str, classifier: Any, weight: float, measured: Measured, table: TableInfo
) -> str:
    """Say in a sentence what the model is and how well it does."""
    alpha = _used_alpha(classifier)
    if method == "supervised":
        counts = ""
    elif not table.target.n_unlabeled:
        counts = ", no unlabeled rows"
    else:
        counts = f", an unlabeled row counts {weight:g}" if weight else ", unlabeled rows left out"
    accuracy = measured.metrics.get("accuracy")
    if accuracy is None:
        return f"{_NAMES[method]}, alpha {alpha:.3g}{counts}."
    return (
        f"{_NAMES[method]}, alpha {alpha:.3g}{counts}: error {percent(1 - accuracy.mean)} on "
        f"labeled rows that the fit had not seen (95 % interval {percent(1 - accuracy.high)} to "
        f"{percent(1 - accuracy.low)}){_against_a_model(table)}."
    )


def _against_a_model(table: TableInfo) -> str:
    """Say what an error means where labels were filled in by a model."""
    if not table.n_filled:
        return ""
    n_labels, verb = table.target.n_labeled, "was" if table.n_filled == 1 else "were"
    much = "mostly" if 2 * table.n_filled > n_labels else "partly"
    return (
        f"; {table.n_filled:,} of the {n_labels:,} labels {verb} filled in by a model, "
        f"so this error {much} says how far it agrees with that model"
    )
