"""Names of a package that are imported on first use."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # without typing, whose import the command line would wait for
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

__all__ = ["import_on_first_use"]


def import_on_first_use(
    package: str, homes: Mapping[str, str], exported: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str to str
        For each name to import later, the module of the package that defines it.
    exported : sequence of str
        All names that the package exports.

    Examples
    --------
    >>> get, names = import_on_first_use("semisquares", {"SoftLabelClassifier": "estimators"}, [])
    >>> get("SoftLabelClassifier")()
    SoftLabelClassifier()
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{homes[name]}", package), name)

    def names() -> list[str]:
        return sorted({*vars(import_module(package)), *exported})

    return get, names
