"""Representations: features that are learned from all rows, without labels."""

from typing import TYPE_CHECKING

from .._utils.lazy import import_on_first_use

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

__getattr__, __dir__ = import_on_first_use(__name__, _ON_FIRST_USE, __all__)
