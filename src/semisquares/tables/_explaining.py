"""Why a model answers what it answers: the change if a column is set to its typical value.

With P the calibrated probability of the class that a row is given, the change of column j is

    P(row) - P(row with column j set to its typical value)

A positive change means that the cell speaks for the answer, compared with a typical cell. For
linear classifiers the decision value is a sum over columns, so the changes of the decision values
add up to the difference from the typical row; those of the probabilities need not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._utils.messages import Parameter
from .._utils.typing import Array
from ._encoding import Encoding
from .errors import TableError

if TYPE_CHECKING:
    from .models._calibration import DecisionCalibration
    from .models.predictors import Predictor

__all__ = ["Explanation", "probability_changes"]


AT_ONCE = 1 << 22
"""Rows are explained in blocks that need about this many numbers."""
FEW = 10
"""Up to this many maxima of a row are found faster one by one than by sorting."""
NOISE = 1e-9
"""Changes up to this size are rounding errors."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """The columns that moved each row most, the strongest first."""

    columns: tuple[str, ...]
    """The columns of the table that the model uses."""
    places: Array
    """(n, n_reasons): positions among `columns`; -1 if no further column moved the row."""
    changes: Array
    """(n, n_reasons): change in the probability of the predicted class; 0 where there is none."""

    @classmethod
    def strongest(cls, columns: Sequence[str], changes: Array, most: int) -> Explanation:
        """Keep the largest changes of each row, at most as many as there are columns.

        Equal changes keep the order of the columns in the table.

        Parameters
        ----------
        columns : sequence of str
        changes : ndarray of shape (n, n_columns)
            From `probability_changes`.
        most : int
            How many to keep for each row.

        Examples
        --------
        >>> found = Explanation.strongest(("age", "town"), np.array([[0.1, -0.3], [0.2, 0.0]]), 5)
        >>> found.names.tolist(), found.changes.tolist()
        ([['town', 'age'], ['age', None]], [[-0.3, 0.1], [0.2, 0.0]])
        """
        order = _largest(np.abs(changes), min(most, changes.shape[1]))
        kept = np.take_along_axis(changes, order, axis=1)
        return cls(tuple(columns), np.where(kept != 0.0, order, -1), kept)

    @property
    def names(self) -> Array:
        """The columns by name, (n, n_reasons), None if no further column moved the row."""
        return np.array([*self.columns, None], dtype=object)[self.places]


def _largest(sizes: Array, most: int) -> Array:
    """Return the positions of the largest numbers in each row, the first of equal ones first."""
    if most > FEW:
        return np.argsort(-sizes, axis=1, kind="stable")[:, :most]
    found, rows = np.empty((len(sizes), most), dtype=np.intp), np.arange(len(sizes))
    for k in range(most):
        found[:, k] = sizes.argmax(axis=1)
        sizes[rows, found[:, k]] = -1.0
    return found


def probability_changes(
    encoder: Encoding,
    classifier: Predictor,
    calibration: DecisionCalibration | None,
    X: Array,
    codes: Array,
) -> Array:
    """Return the changes in the probability of a class by each column, (n, n_columns).

    The columns are those that `encoder` uses, in the order of the table. Changes that are rounding
    errors are 0.

    Parameters
    ----------
    encoder : Encoding
        With a typical row.
    classifier : Predictor
    calibration : DecisionCalibration, optional
        Turns decision values into probabilities; None for the classifier's own.
    X : ndarray of shape (n, n_features)
        Encoded rows.
    codes : ndarray of shape (n,)
        The class of each row whose probability counts.
    """
    typical, columns = encoder.typical, list(encoder.places.values())
    if typical is None:
        raise TableError(
            "The model was stored by a version that could not explain predictions; fit it again, "
            "or leave {explain} out.",
            code="no_typical_row",
            explain=Parameter("explain"),
        )

    def own(values: tuple[Array, Array], codes: Array) -> Array:
        """Return the probability of the class of each row."""
        decision, p = values
        if calibration is None:
            return p[np.arange(len(p)), codes]
        return calibration.of_class(classifier.to_calibrate(decision), codes)

    changes = np.empty((len(X), len(columns)))
    step = max(64, AT_ONCE // (4 * len(columns) + 2 * X.shape[1] + 1))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        block, answers = X[rows], codes[rows]
        before = own(classifier.evaluate(block), answers)
        replaced = classifier.replace_each(block, columns, typical)
        for k, values in enumerate(replaced):
            changes[rows, k] = before - own(values, answers)
    changes[np.abs(changes) <= NOISE] = 0.0
    return changes
