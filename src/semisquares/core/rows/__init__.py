"""Rows: the only place where a fit touches X. Sums over blocks of rows, in float64."""

from .array_api import HOST, ArrayTable, Device, DeviceMatrix, Host, on_host
from .blocks import BlockRows, BlockRunner, BlockSettings, BlockTask, Pass, PerRow, RowTotals
from .dask import DaskRunner, compute
from .memory import MemoryRows
from .patterns import Patterns
from .protocol import Relabeling, RowSums, Sweep
from .table import (
    DenseTable,
    NumberTable,
    SparseTable,
    centre,
    sum_duplicates,
    to_own_columns,
    to_shifted_columns,
)
from .targets import Targets
from .threads import single_threaded_blas
from .tracking import TrackedLabels
from .wide import Span, compress

__all__ = [
    "HOST",
    "ArrayTable",
    "BlockRows",
    "BlockRunner",
    "BlockSettings",
    "BlockTask",
    "DaskRunner",
    "DenseTable",
    "Device",
    "DeviceMatrix",
    "Host",
    "MemoryRows",
    "NumberTable",
    "Pass",
    "Patterns",
    "PerRow",
    "Relabeling",
    "RowSums",
    "RowTotals",
    "Span",
    "SparseTable",
    "Sweep",
    "Targets",
    "TrackedLabels",
    "centre",
    "compress",
    "compute",
    "on_host",
    "single_threaded_blas",
    "sum_duplicates",
    "to_own_columns",
    "to_shifted_columns",
]
