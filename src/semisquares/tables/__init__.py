"""From a table with missing labels to a model: reading, preparing, comparing, fitting, storing."""

from .errors import TableError

__all__ = ["TableError"]
