"""Representations: features that are learned from all rows, without labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .graph import GraphRepresentation
    from .kernel import KernelRepresentation
    from .linear import LinearRepresentation

__all__ = ["GraphRepresentation", "KernelRepresentation", "LinearRepresentation"]

_ON_FIRST_USE = {
    "GraphRepresentation": "graph",
    "KernelRepresentation": "kernel",
    "LinearRepresentation": "linear",
}
"""Modules that need scikit-learn, which predicting with a stored model does not wait for."""


def __getattr__(name: str) -> Any:
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_ON_FIRST_USE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
