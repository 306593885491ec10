"""What is wrong with a table or a model file."""

from __future__ import annotations

from ..errors import UserError

__all__ = ["TableError"]


class TableError(UserError, ValueError):
    """A table, a model file or a wish that cannot be met."""
