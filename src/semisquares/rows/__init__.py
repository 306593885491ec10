"""Rows: the only place where a fit touches X. Sums over blocks of rows, in float64."""

from .in_memory import Relabeling, Rows, Sweep
from .tables import DenseTable, SparseTable, Table, centre
from .threads import single_threaded_blas
from .wide import Span, compress

__all__ = [
    "DenseTable",
    "Relabeling",
    "Rows",
    "Span",
    "SparseTable",
    "Sweep",
    "Table",
    "centre",
    "compress",
    "single_threaded_blas",
]
