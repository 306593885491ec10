"""The interface of a predictor: a fitted classifier as plain data, which predicts with NumPy.

A predictor is a frozen dataclass of arrays, numbers and texts. Its module imports no scikit-learn,
so neither does reading a model file and predicting with it. A new kind of predictor is a class with
this interface and a line in the registry, `PREDICTORS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from ...._utils.typing import Array
from ._replacing import with_each_replaced

__all__ = ["Predictor"]


@runtime_checkable
class Predictor(Protocol):
    """A fitted classifier of encoded rows."""

    type: ClassVar[str]
    """Its name in the registry and in model files."""

    @property
    def n_rows_held(self) -> int:
        """How many rows of the table, encoded and standardised, it needs for its predictions."""
        return 0

    @property
    def holds_rows(self) -> bool:
        """Whether it needs rows of the table; they are stored with it."""
        return self.n_rows_held > 0

    def evaluate(self, X: Array) -> tuple[Array, Array]:
        """Return decision values and probabilities of encoded rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Finite numbers.

        Returns
        -------
        decision : ndarray of shape (n_rows,) or (n_rows, n_classes)
            For two classes positive if the second one is predicted; else the class with the
            largest value is predicted.
        probabilities : ndarray of shape (n_rows, n_classes)
            Not negative, each row sums to one. For linear least squares they are soft labels.
        """
        ...

    def decision(self, X: Array) -> Array:
        """Return the decision values of encoded rows."""
        return self.evaluate(X)[0]

    def probabilities(self, X: Array) -> Array:
        """Return the probabilities of encoded rows."""
        return self.evaluate(X)[1]

    def to_calibrate(self, decision: Array) -> Array:
        """Return what a calibration takes in place of decision values: for most, these."""
        return decision

    def replace_each(
        self, X: Array, columns: Sequence[Array], values: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield decision values and probabilities with one column after the other replaced.

        A predictor overrides it if there is a faster way than to evaluate all rows for each column.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            A block of encoded rows.
        columns : sequence of ndarrays
            The features of each column of the table, as positions.
        values : ndarray of shape (n_features,)
            What the features of the column are set to, in all rows.
        """
        for rows in with_each_replaced(X, columns, values):
            yield self.evaluate(rows)

    def fits(self, n_features: int, n_classes: int) -> bool:
        """Tell whether it is for this many features and classes, and makes sense.

        A model file can be forged: if this is true, `evaluate` ends and returns numbers.
        """
        ...

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it; "type" is its type.

        Arrays may be values of dicts, but not of lists.
        """
        ...

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Restore it from plain data; raise any exception if that is impossible."""
        ...
