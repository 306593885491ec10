"""Representations: features that are learned from all rows, without labels."""

from .graph import GraphRepresentation
from .kernel import KernelRepresentation
from .linear import LinearRepresentation

__all__ = ["GraphRepresentation", "KernelRepresentation", "LinearRepresentation"]
