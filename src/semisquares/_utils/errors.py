"""Errors and warnings that users can act on."""

from __future__ import annotations

from .messages import Message

TYPE_CHECKING = False  # a command imports this before it listens to Ctrl-C
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["CollapsedLabelsWarning", "NotEnoughMemory", "UserError"]


class UserError(Exception):
    """One sentence: what was given, what is needed, what to do.

    The command line prints it and ends with exit code 2; any other error is a bug.

    Parameters
    ----------
    template : str
        The sentence, or a format string if there are fields: see `Message`.
    code : str, default=""
        A name for this error that programs can rely on: sentences may change.
    **fields : object
        The values of the fields.

    Examples
    --------
    >>> error = UserError("Column {name!r} is empty; fill it.", code="empty_column", name="age")
    >>> print(error, error.code, error.fields)
    Column 'age' is empty; fill it. empty_column {'name': 'age'}
    """

    def __init__(self, template: str, /, *, code: str = "", **fields: Any) -> None:
        if isinstance(template, Message) and not fields:
            self.message = template
        else:
            self.message = Message(template, **fields)
        self.code = code
        super().__init__(self.message)  # enough to pickle it: a message keeps its fields

    @property
    def fields(self) -> Mapping[str, Any]:
        """The values in the sentence, by name."""
        return self.message.fields


class NotEnoughMemory(MemoryError):
    """One sentence: how much memory a fit needs, how much is free, what to do."""


class CollapsedLabelsWarning(UserWarning):
    """No unlabeled row got some class in a hard-label fit, so its labels may have collapsed."""
