"""Messages of the library in the words of the command line: options instead of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

from .._utils.messages import Parameter, render

__all__ = ["in_options", "option"]

_OPTIONS = {"kinds": "--kind", "classes": "--class"}
"""Options whose name is not that of the parameter."""
_FLAGS = {("store_rows", True): "--store-rows", ("store_rows", False): "--no-rows"}
"""Options without a value, by parameter and value."""


def in_options(value: Any) -> Any:
    """Write a message or an error, or the messages in lists and dicts, with options.

    Examples
    --------
    >>> from semisquares._utils.messages import Message
    >>> in_options(Message("use {column}", column=Parameter("group", "home town")))
    "use --group 'home town'"
    """
    return render(value, option)


def option(parameter: Parameter) -> str:
    """Write a parameter as an option, ready for a shell.

    Examples
    --------
    >>> option(Parameter("kinds", {"age": "date"})), option(Parameter("only_missing"))
    ('--kind age=date', '--only-missing')
    >>> option(Parameter("drop", ["a", "b c"])), option(Parameter("delimiter", ","))
    ("--drop a --drop 'b c'", "--delimiter ','")
    >>> option(Parameter("store_rows", False))
    '--no-rows'
    """
    if isinstance(parameter.value, bool) and (parameter.name, parameter.value) in _FLAGS:
        return _FLAGS[parameter.name, parameter.value]
    name = _OPTIONS.get(parameter.name, f"--{parameter.name.replace('_', '-')}")
    value = parameter.value
    if value is None:
        return name
    if isinstance(value, Mapping):
        value = [f"{key}={one}" for key, one in value.items()]
    values = value if isinstance(value, list | tuple) else [value]
    return " ".join(f"{name} {_quote(str(one))}" for one in values)


def _quote(text: str) -> str:
    """Quote for a shell, and also a bare comma, which would look like a part of the sentence."""
    quoted = quote(text)
    return f"'{text}'" if quoted == text and not any(map(str.isalnum, text)) else quoted
