"""Rows: the only place where a fit touches X. Sums over blocks of rows, in float64."""

from .in_memory import Relabeling, Rows, Sweep
from .tables import DenseTable, SparseTable, Table, centre
from .threads import single_threaded_blas

__all__ = [
    "DenseTable",
    "Relabeling",
    "Rows",
    "SparseTable",
    "Sweep",
    "Table",
    "centre",
    "single_threaded_blas",
]
