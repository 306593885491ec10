"""What is wrong with a table or a model file."""

from __future__ import annotations

from .._utils.errors import UserError
from .._utils.messages import Message

__all__ = ["CellError", "TableError"]


class TableError(UserError, ValueError):
    """A table, a model file or an option that cannot be used."""


class CellError(TableError):
    """Cells that make no sense in a column, whatever type the column has.

    Parameters
    ----------
    fault : str
        What is wrong: a sentence without a full stop.
    remedy : str
        What to do with the cells.
    code : str, default="cells"
        As in `UserError`.
    """

    def __init__(self, fault: str, remedy: str, code: str = "cells") -> None:
        super().__init__("{fault}; {remedy}.", code=code, fault=fault, remedy=remedy)

    def __reduce__(self) -> tuple[type[CellError], tuple[str, str, str]]:
        """Let the error travel between processes."""
        return type(self), (self.fields["fault"], self.fields["remedy"], self.code)

    def or_else(self, other: str) -> CellError:
        """Return the same error with one more remedy."""
        remedy = Message("{first}, or {other}", first=self.fields["remedy"], other=other)
        return CellError(self.fields["fault"], remedy, code=self.code)
