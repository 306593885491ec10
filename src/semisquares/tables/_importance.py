"""How much each column of a table matters to a model: its mean change in the probability.

The importance of a column is the mean, over some rows of the table, of the absolute change in the
probability of the predicted class if the column is set to its typical value (see `_explaining`).
It is 0 for a column that the model does not use. Columns that say the same share their importance:
while one is set to its typical value, the others still speak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.typing import Array
from ._encoding import Encoding
from ._explaining import probability_changes
from .columns._summary import sampled_rows
from .models._operating_point import own_answers

if TYPE_CHECKING:
    from .models._calibration import DecisionCalibration
    from .models.predictors import Predictor

__all__ = [
    "MOST_ROWS",
    "ColumnImportance",
    "column_importance",
    "importance_rows",
    "stored_importance",
]


MOST_ROWS, FEWEST_ROWS = 500, 50
"""About this many rows of a table are looked at: means of changes are known to some 5 % then."""
MOST_CHANGES = 100_000
"""A table with many columns has fewer rows looked at, so that there are about this many changes."""


@dataclass(frozen=True)
class ColumnImportance:
    """How much a column of the table matters."""

    column: str
    importance: float
    """Mean absolute change in the probability of the predicted class, from 0 to 1."""


def importance_rows(start: int, n_rows: int, total: int, n_columns: int) -> Array | slice:
    """Choose the rows of a chunk that importance is measured by; about 500 of the table.

    With more than 200 columns they are fewer, down to about 50. Whether a row is chosen depends on
    its number alone, so that chunks do not change the choice.

    Parameters
    ----------
    start : int
        The position of the first row of the chunk in the table.
    n_rows : int
        Rows of the chunk.
    total : int
        Rows of the table.
    n_columns : int
        Columns of the table that are used.

    Examples
    --------
    >>> importance_rows(0, 3, 100, 20)
    slice(None, None, None)
    >>> int(importance_rows(0, 100_000, 100_000, 20).sum())
    517
    >>> int(importance_rows(0, 100_000, 100_000, 1_000).sum())
    121
    """
    most = max(FEWEST_ROWS, min(MOST_ROWS, MOST_CHANGES // max(1, n_columns)))
    return sampled_rows(start, n_rows, total, most)


def column_importance(
    encoder: Encoding,
    classifier: Predictor,
    calibration: DecisionCalibration | None,
    X: Array,
) -> tuple[ColumnImportance, ...]:
    """Measure the importance of each column that the encoder uses, the largest first.

    Parameters
    ----------
    encoder : Encoding
    classifier : Predictor
    calibration : DecisionCalibration, optional
        Turns decision values into probabilities; None for the classifier's own.
    X : ndarray of shape (n, n_features)
        Encoded rows, such as those that `importance_rows` chooses.

    Examples
    --------
    >>> import pandas as pd
    >>> from semisquares.tables import fit_table, prepare
    >>> kinds = ["a", "a", "a", "b", "b", "b", None, None]
    >>> sizes, tags = [1, 2, 3, 7, 8, 9, 2, 8], [0, 1, 0, 1, 0, 1, 0, 1]
    >>> table = prepare(pd.DataFrame({"size": sizes, "tag": tags, "kind": kinds}), "kind")
    >>> model = fit_table(table, method="soft", alpha=1.0, weight=1.0)
    >>> found = column_importance(model.encoder, model.classifier, model.calibration, table.X)
    >>> [one.column for one in found], found[0].importance > 0.2
    (['size', 'tag'], True)
    """
    codes = own_answers(classifier.decision(X))
    changes = probability_changes(encoder, classifier, calibration, X, codes)
    means = np.abs(changes).mean(axis=0) if len(X) else np.zeros(changes.shape[1])
    found = map(ColumnImportance, encoder.places, means.tolist())
    return tuple(sorted(found, key=lambda one: -one.importance))


def stored_importance(about: Mapping[str, Any]) -> tuple[ColumnImportance, ...]:
    """Return the importance that a fit has stored in `TableModel.about`; () in old model files.

    Examples
    --------
    >>> stored_importance({"importance": [{"column": "age", "importance": 0.25}]})
    (ColumnImportance(column='age', importance=0.25),)
    """
    records: Sequence[Mapping[str, Any]] = about.get("importance", ())
    return tuple(ColumnImportance(one["column"], one["importance"]) for one in records)
