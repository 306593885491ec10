"""Rows: the only place where a fit touches X. Sums over blocks of rows, in float64."""

from .blocks import Blocks, Frame, Known, Pass, PerRow, compute
from .in_memory import Rows
from .partitioned import Counts, PartitionedRows
from .results import Relabeling, Sweep
from .tables import DenseTable, SparseTable, Table, centre, sum_duplicates
from .threads import single_threaded_blas
from .wide import Span, compress

__all__ = [
    "Blocks",
    "Counts",
    "DenseTable",
    "Frame",
    "Known",
    "PartitionedRows",
    "Pass",
    "PerRow",
    "Relabeling",
    "Rows",
    "Span",
    "SparseTable",
    "Sweep",
    "Table",
    "centre",
    "compress",
    "compute",
    "single_threaded_blas",
    "sum_duplicates",
]
