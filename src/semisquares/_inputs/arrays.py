"""Read X, y and weights from users into rows and targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, validate_data

from .._utils.typing import Array
from ..core.rows import (
    HOST,
    ArrayTable,
    BlockRows,
    DenseTable,
    Device,
    DeviceMatrix,
    MemoryRows,
    NumberTable,
    Span,
    SparseTable,
    centre,
    compress,
    on_host,
    sum_duplicates,
    to_own_columns,
    to_shifted_columns,
)
from ..core.rows.targets import hard_labels
from .array_api import Place, place_of, place_of_rows, raw, to_numpy, types_in
from .checks import check_masked, check_table, column_names, read_floats
from .labels import Labels, read_labels
from .memory import check_memory

FLOATS = (np.float64, np.float32)
TARGETS = 2.0
"""A fit holds at least this many arrays with a number for each labeled row and class."""
WIDE_ROWS = 512
"""A sparse table with more columns than rows may use a basis of its row space up to this size."""
_SAMPLE = 256
"""Number of labeled rows, and of all rows, that decide whether columns need a shift."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows and targets of one fit, and the translation of weights to the user's columns."""

    X: Any
    rows: MemoryRows
    labels: Labels
    span: Span | None = None
    """The basis in which the rows are written, if the table has more columns than rows."""
    y_place: Place = HOST
    """Where y is, and therefore `classes_`."""

    @property
    def place(self) -> Place:
        """Where X is, and therefore the fitted arrays."""
        return self.X.device if isinstance(self.X, DeviceMatrix) else HOST

    @property
    def classes(self) -> Array:
        return self.labels.classes

    @property
    def partitioned(self) -> bool:
        """Whether Dask holds the rows."""
        return isinstance(self.rows, BlockRows)

    @property
    def n_classes(self) -> int:
        return len(self.labels.classes)

    def explain_overflow(self, estimator: Any) -> NoReturn:
        """Raise an error that explains why a sum over the rows is not finite."""
        explain_overflow(estimator, self.X)

    def to_user(self, w: Array) -> tuple[Array, Array]:
        """Translate weights to ``coef_`` and ``intercept_``: z - ½ in the user's columns."""
        if self.rows.intercept:
            w = to_own_columns(w, self.rows.shift)
            features, last = w[:-1], w[-1]
        else:
            features, last = w, np.zeros(w.shape[1:])
        if self.span is not None:
            features = self.span.to_columns(features)
            last = last - self.span.origin @ features if self.rows.intercept else last
        return np.atleast_2d(features.T), np.atleast_1d(last - 0.5)

    def paper_weights(self, w: Array) -> Array:
        """Translate weights to the user's columns, with the intercept last: z = x'w."""
        coef, intercept = self.to_user(w)
        return np.hstack((coef, intercept[:, None] + 0.5)) if self.rows.intercept else coef

    def in_own_columns(self, w: Array) -> tuple[MemoryRows, Array]:
        """Return rows and weights in the columns of X rather than in a basis of the row space."""
        if self.span is None:
            return self.rows, w
        rows = self.rows.written_in(_own_table(self.X, self.labels, self.rows.intercept))
        return rows, replace(self, rows=rows, span=None).from_user(*self.to_user(w))

    def from_user(self, coef: Any, intercept: Any) -> Array:
        """Translate ``coef_`` and ``intercept_`` to weights."""
        n_columns = self.X.shape[1]
        shape = (1 if self.n_classes == 2 else self.n_classes, n_columns)
        coef = read_numbers("coefficients", coef)
        last = read_numbers("an intercept", intercept)
        if coef.size != shape[0] * shape[1] or coef.shape[-1:] != (n_columns,):
            raise ValueError(
                f"init has coefficients of shape {coef.shape}; give shape {shape}, as in coef_."
            )
        if last.size not in (1, shape[0]):
            raise ValueError(
                f"init has an intercept of shape {last.shape}; give shape {shape[:1]}, as in "
                "intercept_."
            )
        features = coef.reshape(shape).T
        last = np.broadcast_to(last.ravel(), shape[:1]) + 0.5
        if self.span is not None:
            last = last + self.span.origin @ features
            features = self.span.from_columns(features)
        w = np.vstack((features, last)) if self.rows.intercept else features
        w = w[:, 0] if self.n_classes == 2 else w
        return to_shifted_columns(w, self.rows.shift) if self.rows.intercept else w


def read_numbers(what: str, given: Any) -> Array:
    """Read the numbers in a user's `init`."""
    values = read_floats(to_numpy(given))
    if not np.isfinite(values).all():
        raise ValueError(f"init has {what} that are not finite numbers; give numbers.")
    return values


def read_problem(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    unlabeled_weight: float,
    ridge: bool,
    arrays: float,
) -> Problem:
    """Check X, y and weights, and return them as rows.

    A table of floats is not copied unless it has more columns than rows and is collinear or has no
    `ridge`. `model` has the parameters fit_intercept, unlabeled and class_weight. `arrays` is the
    least number of arrays, with a number for each row and class, that the fit needs.
    """
    X = read_table(model, X)
    labels = read_labels(y, unlabeled=model.unlabeled, n_rows=X.shape[0])
    n_classes = len(labels.classes)
    n_numbers = TARGETS * len(labels.labeled) + arrays * labels.n_rows
    check_memory(n_numbers * (1 if n_classes == 2 else n_classes), labels.n_rows, n_classes)
    weight = read_weight(sample_weight, X)
    labeled = labeled_weight(labels, weight, model.class_weight)
    try:
        table, span = _write_rows(X, labels, fit_intercept=model.fit_intercept, ridge=ridge)
    except FloatingPointError:
        explain_overflow(model, X)
    rows = MemoryRows(
        table,
        labels.labeled,
        hard_labels(labels.codes, n_classes),
        labeled_weight=labeled,
        row_weight=weight,
        unlabeled_weight=unlabeled_weight,
        intercept=model.fit_intercept,
    )
    return Problem(X, rows, labels, span, place_of(y))


def _write_rows(
    X: Any, labels: Labels, *, fit_intercept: bool, ridge: bool
) -> tuple[NumberTable, Span | None]:
    """Choose a table: the columns of X, possibly shifted, or a basis of the row space."""
    n_rows, n_columns = X.shape
    # the basis is dense: for a sparse table of many rows it would be larger than the table
    worth = not sparse.issparse(X) or n_rows <= max(WIDE_ROWS, X.nnz**0.5)
    if n_columns > n_rows and worth:
        found = compress(X, intercept=fit_intercept, ridge=ridge)
        if found is not None:
            return found
    return _own_table(X, labels, fit_intercept), None


def _own_table(X: Any, labels: Labels, fit_intercept: bool) -> NumberTable:
    """Return a table of X itself, with columns shifted if they are far from the origin."""
    shift = None
    if fit_intercept:
        labeled = labels.labeled[:: max(1, len(labels.labeled) // _SAMPLE)]
        all_rows = np.arange(0, labels.n_rows, max(1, labels.n_rows // _SAMPLE))
        some = np.concatenate((labeled, all_rows))
        if isinstance(X, DeviceMatrix):
            shift = centre(on_host(X[some]), np.arange(len(some)))
        else:
            shift = centre(X, some)
    if isinstance(X, DeviceMatrix):
        return ArrayTable(X, shift)
    return (SparseTable if sparse.issparse(X) else DenseTable)(X, shift)


def read_table(estimator: Any, X: Any) -> Any:
    """Check X for one of our own fits: dense or sparse, float64 or float32, or on a device."""
    # the sums of the fit itself detect NaN and infinity: see `explain_overflow`
    X = read_columns(estimator, X, dtype=FLOATS, accept_sparse=True, finite=False)
    place = place_of(X)
    if isinstance(place, Device):
        return DeviceMatrix(X, place)
    return sum_duplicates(X) if sparse.issparse(X) else X


def read_columns(
    estimator: Any,
    X: Any,
    *,
    dtype: Any = np.float64,
    accept_sparse: bool = False,
    finite: bool = True,
    reset: bool = True,
) -> Any:
    """Check X as scikit-learn does; refuse what it would misread, and name text columns.

    `reset` is true in a fit, which sets the number and names of columns, and false in predictions,
    which compare them.
    """
    check_table(X)
    place = place_of_rows(estimator, X)
    try:
        return validate_data(
            estimator,
            X,
            accept_sparse="csr" if accept_sparse else False,
            dtype=types_in(place, dtype),
            ensure_all_finite=finite,
            reset=reset,
        )
    except (TypeError, ValueError) as error:
        names = [str(c) for c in column_names(X) if not _is_numeric(X[c])]
        if not names:
            raise
        text = "could not convert string" in str(error)
        reason = str(error) if text else f"of type {X[names[0]].dtype}"
        raise ValueError(
            f"X has columns that are not numeric: {', '.join(names)} ({reason}); encode or drop "
            "them, for instance with sklearn.compose.ColumnTransformer and OneHotEncoder."
        ) from None


def explain_overflow(estimator: Any, X: Any) -> NoReturn:
    """Raise an error that explains why a sum over the rows of X is not finite."""
    try:
        check_finite_rows(estimator, X)
    except ValueError as error:
        raise error from None
    largest = float(abs(X).max())
    if largest < 1e100:
        raise ValueError(
            "Sums over the rows overflow though X does not: alpha, sample_weight, class_weight or "
            "unlabeled_weight is too large; make it smaller."
        ) from None
    raise ValueError(
        f"X holds numbers as large as {largest:.3g}, whose squares overflow; rescale the "
        "columns, for instance with sklearn.preprocessing.StandardScaler."
    ) from None


def check_finite_rows(estimator: Any, X: Any) -> None:
    """Refuse NaN and infinity in rows that are read already."""
    assert_all_finite(raw(X), input_name="X", estimator_name=type(estimator).__name__)


def _is_numeric(column: Any) -> bool:
    if np.asarray(column).dtype.kind in "mM":
        return False
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def read_weight(sample_weight: Any, X: Any) -> Array | None:
    """Check the weights of the rows; None if there are none."""
    if sample_weight is None:
        return None
    check_masked("sample_weight", sample_weight)
    weight = _check_sample_weight(
        to_numpy(sample_weight),
        np.empty(X.shape[0]),  # a NumPy array, which the weights become wherever X is
        dtype=np.float64,
        ensure_non_negative=True,
        allow_all_zero_weights=True,
    )
    if not weight.any():
        raise ValueError(
            f"All {len(weight)} sample weights are zero; at least one labeled row of every class "
            "needs a positive weight."
        )
    return weight


def labeled_weight(labels: Labels, weight: Array | None, class_weight: Any) -> Array:
    """Return the weights of the labeled rows: sample weight times class weight."""
    labeled = np.ones(len(labels.labeled)) if weight is None else weight[labels.labeled]
    if weight is None and class_weight is None:
        return labeled
    if class_weight is not None:
        factors = compute_class_weight(
            class_weight,
            classes=labels.classes,
            y=labels.classes[labels.codes],
            sample_weight=None if weight is None else labeled,
        )
        if not (np.isfinite(factors) & (factors >= 0.0)).all():
            raise ValueError(
                f"class_weight={class_weight!r} must hold finite numbers, none of them negative."
            )
        labeled = labeled * factors[labels.codes]
    check_masses(labels.classes, np.bincount(labels.codes, labeled, len(labels.classes)))
    return labeled


def check_masses(classes: Array, mass: Array) -> None:
    """Refuse labels if fewer than two classes have a positive total weight."""
    if np.count_nonzero(mass) < 2:
        names = ", ".join(repr(c) for c in classes[mass > 0].tolist())
        raise ValueError(
            f"Labeled rows of positive weight are of one class only ({names or 'none'}) out of "
            f"{len(mass)}; a classifier needs two: give rows of another class a weight."
        )
