"""Columns that are exactly combinations of others: found in floating point, proven exactly.

One-hot columns with an intercept, copies and multiples are exactly dependent; other columns are
dependent only to rounding. A certificate must distinguish the two: along an exact dependence J is
constant, but along an approximate one large weights may still lower it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .._utils.typing import Array
from . import _dense as dense
from .rows import ArrayTable, DenseTable, MemoryRows, SparseTable

CANDIDATE = 1e-8
"""Columns of unit norm closer than this to the span of the others are candidates."""
MOST_DENOMINATOR = 1000
MOST_TERMS = 16
"""Combinations of more columns are recognised only with integer coefficients."""
MOST_FRACTIONS = 200_000
"""Exact arithmetic on more numbers takes too long."""


def independent_columns(rows: MemoryRows, triangle: Array, live: Array) -> Array:
    """Return the columns to keep (the intercept is last): all others are combinations of these.

    `triangle` is the R factor of some rows. It yields candidates, with coefficients that are small
    fractions, which are then proven on every row of X in integers or fractions. A column that
    cannot be proven dependent is kept. `live` are the columns that are not all zeros.
    """
    norms = np.sqrt(np.einsum("ij,ij->j", triangle, triangle))
    tables = (ArrayTable, DenseTable, SparseTable)
    if not (norms[live] > 0.0).all() or type(rows.table) not in tables:
        return live  # not enough rows, or a table that does not hold X as numbers
    # the intercept comes first: it is not a candidate
    live = live[np.argsort(live != rows.n_features, kind="stable")]
    R, order = _pivoted(triangle[:, live] / norms[live], fixed=int(rows.intercept))
    size = np.abs(R.diagonal())
    rank = int((size > CANDIDATE).sum())
    basis, candidates = live[order[:rank]], live[order[rank:]]
    scaled = dense.solve_triangular(R[:rank, :rank].T, R[:rank, rank:], transposed=True)
    coefficients = scaled * norms[candidates] / norms[basis, None]
    X = rows.table.X  # type: ignore[attr-defined]
    if not np.isfinite(coefficients).all():
        return np.sort(live)
    coefficients[np.abs(scaled) <= CANDIDATE] = 0.0
    nearest = np.rint(coefficients)
    whole = (np.abs(coefficients - nearest) <= CANDIDATE * (1.0 + np.abs(nearest))).all(axis=0)
    few = np.count_nonzero(coefficients, axis=0) <= MOST_TERMS
    dependent = [
        candidates[c]
        for c in np.flatnonzero(whole | few)
        if _is_combination(
            X, candidates[c], basis, (nearest if whole[c] else coefficients)[:, c], rows
        )
    ]
    return np.setdiff1d(live, dependent)


def _pivoted(matrix: Array, fixed: int) -> tuple[Array, Array]:
    """Return R and the order of its columns; the first `fixed` ones keep their place."""
    k = matrix.shape[1]
    R = dense.triangle_of(matrix)
    _, tail, order = dense.pivoted_qr(R[fixed:, fixed:])
    R = np.vstack((R[:fixed], np.zeros((k - fixed, k))))
    R[:fixed, fixed:] = R[:fixed, fixed:][:, order]
    R[fixed:, fixed:][: len(tail)] = tail[: k - fixed]
    return R, np.append(np.arange(fixed), fixed + order)


def _is_combination(X: Any, j: int, basis: Array, coefficients: Array, rows: MemoryRows) -> bool:
    """Return whether column j of X is provably a combination of basis columns and a constant."""
    features = basis < rows.n_features
    used = features & (coefficients != 0.0)
    terms = [Fraction(float(c)).limit_denominator(MOST_DENOMINATOR) for c in coefficients[used]]
    columns = [_column(X, b) for b in basis[used]]
    target = _column(X, j)
    if not np.isfinite(target).all() or not all(np.isfinite(x).all() for x in columns):
        return False
    first = Fraction(float(target[0])) - sum(
        (p * Fraction(float(x[0])) for p, x in zip(terms, columns, strict=True)), Fraction(0)
    )
    if first and not rows.intercept:
        return False
    common = math.lcm(*(t.denominator for t in terms))
    whole = [int(t * common) for t in terms]
    constant = first * common
    numbers: list[Any] = [common, constant, *whole]
    is_small = constant.denominator == 1 and all(abs(p) < 2**52 for p in numbers)
    if is_small and _are_whole([target, *columns], [common, *whole], int(constant)):
        parts = (p * x for p, x in zip(whole, columns, strict=True))
        return bool(np.array_equal(sum(parts, float(constant)), common * target))
    if len(target) * (len(terms) + 1) > MOST_FRACTIONS:
        return False
    return all(
        Fraction(float(t))
        == first
        + sum((p * Fraction(float(v)) for p, v in zip(terms, values, strict=True)), Fraction(0))
        for t, *values in zip(target, *columns, strict=True)
    )


def _are_whole(columns: list[Array], factors: list[int], constant: int) -> bool:
    """Return whether the sums of these multiples are integers that float64 represents exactly."""
    if not all((x == np.rint(x)).all() for x in columns):
        return False
    largest = abs(constant) + sum(
        abs(p) * float(np.abs(x).max()) for p, x in zip(factors, columns, strict=True)
    )
    return bool(largest < 2**52)


def _column(X: Any, j: int) -> Array:
    column = X[:, [j]]
    column = column.toarray() if hasattr(column, "toarray") else column
    return np.asarray(column[:, 0], dtype=np.float64)
