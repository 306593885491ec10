"""Refuse a fit that needs more memory than there is, before it starts.

With thousands of classes, arrays with a number for each row and class need the most memory. The
estimate is a lower bound, so no fit is refused that would have succeeded.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

from .._utils.errors import NotEnoughMemory

NEGLIGIBLE = 2**26
"""Fits that need fewer bytes are not checked, so that small fits start at once."""


def check_memory(n_numbers: float, n_rows: int, n_classes: int) -> None:
    """Refuse a fit that needs this many float64 numbers if memory is too small for them."""
    needed = 8.0 * n_numbers
    if needed < NEGLIGIBLE or needed <= (there := available_memory()):
        return
    raise NotEnoughMemory(
        f"A fit of {n_rows:,} rows and {n_classes:,} classes needs {_in_gb(needed)} of memory or "
        f"more, and {_in_gb(there)} are free; check that y holds classes and not names of single "
        "rows, merge rare classes, fit a sample of the rows, or use a machine with more memory."
    )


def available_memory() -> float:
    """Return the bytes that this process may still allocate; infinity if unknown."""
    return min(_free_on_machine(), _left_of_limit())


def _free_on_machine() -> float:
    """Return the free memory of a Linux machine, swap included; infinity elsewhere."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        kilobytes = {name: int(rest.split()[0]) for name, rest in (x.split(":", 1) for x in lines)}
        return 1024.0 * (kilobytes["MemAvailable"] + kilobytes["SwapFree"])
    except (OSError, ValueError, IndexError, KeyError):
        return math.inf


def _left_of_limit() -> float:
    """Return what a limit of the address space (`ulimit -v`) leaves for this process."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return math.inf
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return max(0.0, float(limit - pages * os.sysconf("SC_PAGE_SIZE")))
    except (ImportError, OSError, ValueError, AttributeError):
        return math.inf


def _in_gb(size: float) -> str:
    return f"{size / 1e9:.2g} GB" if size < 1e10 else f"{size / 1e9:,.0f} GB"
