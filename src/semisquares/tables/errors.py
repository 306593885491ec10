"""What is wrong with a table or a file, for whoever can put it right."""

from __future__ import annotations

__all__ = ["TableError"]


class TableError(ValueError):
    """One sentence: what was given, what is needed, what to do."""
