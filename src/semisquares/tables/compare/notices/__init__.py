"""What to know before trusting a comparison: each file in this folder is one check.

A check is a module with

* `PRIORITY`, a number: notices of a smaller priority are listed first;
* `find(context)`, which returns a list of notices, or of None for what was not found. A notice is
  a frozen dataclass of numbers and names that derives from `Notice`; its `words` write sentences.

Files that start with an underscore are not checks.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from ..comparison import Notice
from ._context import NoticeContext, Results

__all__ = ["NoticeContext", "Results", "find_notices"]


def find_notices(context: NoticeContext) -> tuple[Notice, ...]:
    """Run all checks.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from semisquares.tables.dataset import prepare
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"day": rng.normal(size=400), "sick": rng.choice(["no", "yes"], 400)})
    >>> table.loc[table["day"] > -0.5, "sick"] = None
    >>> [notice.kind for notice in find_notices(NoticeContext(prepare(table, "sick"), seed=0))]
    ['shift']
    """
    found = (notice for check in _checks() for notice in check.find(context))
    return tuple(notice for notice in found if notice is not None)


def _checks() -> list[ModuleType]:
    names = sorted(found.name for found in iter_modules(__path__) if found.name[0] != "_")
    checks = [import_module(f"{__name__}.{name}") for name in names]
    return sorted(checks, key=lambda check: check.PRIORITY)
