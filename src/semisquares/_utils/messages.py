"""Sentences that name parameters: ``kinds={'age': 'date'}`` in Python, an option in a shell.

A message is a string made from a template and named fields, which it keeps as data. The string
names parameters as Python does; `render` writes them in other ways.
"""

from __future__ import annotations

TYPE_CHECKING = False  # a command imports this before it listens to Ctrl-C
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

__all__ = ["Message", "Parameter", "join", "render"]


class Parameter:
    """A parameter of a public function, and a value to give it.

    Parameters
    ----------
    name : str
        The name in Python.
    value : object, optional
        Without one, only the name is written.

    Examples
    --------
    >>> print(Parameter("unlabeled", "?"), Parameter("group"))
    unlabeled='?' group
    """

    def __init__(self, name: str, value: object = None) -> None:
        self.name, self.value = name, value

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"

    __repr__ = __str__


class Message(str):
    """A sentence made of a template and named fields.

    Parameters
    ----------
    template : str
        A format string; taken literally if there are no fields.
    **fields : object
        The values of the fields: any objects, parameters, or other messages.

    Examples
    --------
    >>> mark = Parameter("unlabeled", "?")
    >>> hint = Message("{value!r} looks missing; give {mark}.", value="?", mark=mark)
    >>> print(hint)
    '?' looks missing; give unlabeled='?'.
    >>> print(hint.render(lambda parameter: f"--{parameter.name} {parameter.value}"))
    '?' looks missing; give --unlabeled ?.
    """

    template: str
    fields: Mapping[str, Any]

    def __new__(cls, template: str, /, **fields: Any) -> Message:
        self = super().__new__(cls, template.format(**fields) if fields else template)
        self.template, self.fields = template, fields
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str], Mapping[str, Any]]:
        """Let messages be copied and pickled."""
        return (self.template,), self.fields

    def render(self, write: Callable[[Parameter], str]) -> str:
        """Write the sentence with parameters as `write` spells them."""
        if not self.fields:
            return self.template
        return self.template.format(**{k: render(v, write) for k, v in self.fields.items()})


def render(value: Any, write: Callable[[Parameter], str]) -> Any:
    """Write the parameters in a message, an error, or lists and dicts of them; keep other values.

    Examples
    --------
    >>> note = Message("see {group}", group=Parameter("group", "town"))
    >>> render({"notes": [note, "fine"]}, lambda parameter: f"--{parameter.name}")
    {'notes': ['see --group', 'fine']}
    """
    if isinstance(value, Parameter):
        return write(value)
    message = getattr(value, "message", None) if isinstance(value, Exception) else value
    if isinstance(message, Message):
        return message.render(write)
    if isinstance(value, dict):
        return {key: render(one, write) for key, one in value.items()}
    if isinstance(value, list):
        return [render(one, write) for one in value]
    return value


def join(separator: str, texts: Iterable[str]) -> Message:
    """Join texts as `str.join` does, and keep the parameters that they name.

    Examples
    --------
    >>> join(" ", ["Rows repeat.", Message("See {group}.", group=Parameter("group"))])
    'Rows repeat. See group.'
    """
    fields = {f"text{i}": text for i, text in enumerate(texts)}
    return Message(separator.join(f"{{{name}}}" for name in fields), **fields)
