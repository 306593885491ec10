"""What is wrong with a table or a model file."""

from __future__ import annotations

from .._utils.errors import UserError

__all__ = ["CellError", "TableError"]


class TableError(UserError, ValueError):
    """A table, a model file or a wish that cannot be met."""


class CellError(TableError):
    """Cells that make no sense in a column, whatever the column is to the model.

    Parameters
    ----------
    fault : str
        What is wrong, a sentence without its end.
    remedy : str
        What to do with the cells.
    """

    def __init__(self, fault: str, remedy: str) -> None:
        super().__init__(f"{fault}; {remedy}.")
        self.fault, self.remedy = fault, remedy

    def __reduce__(self) -> tuple[type[CellError], tuple[str, str]]:
        """Let the error travel between processes."""
        return type(self), (self.fault, self.remedy)

    def with_way_out(self, other: str) -> CellError:
        """Return the same error with something else to do, where that is possible."""
        return CellError(self.fault, f"{self.remedy}, or {other}")
