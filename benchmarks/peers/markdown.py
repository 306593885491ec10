"""Write tables, numbers and lists of names in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .comparing import Mean

NOTHING = "–"


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table.

    Examples
    --------
    >>> print(grid(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def share(mean: Mean) -> str:
    """Write an accuracy.

    Examples
    --------
    >>> share(Mean(0.71249, 0.001))
    '0.712'
    """
    return f"{mean.value:.3f}" if np.isfinite(mean.value) else NOTHING


def points(value: float, digits: int = 1) -> str:
    """Write a difference in points, with its sign.

    Examples
    --------
    >>> points(0.0123), points(-0.00001), points(0.0123, 2)
    ('+1.2', '0.0', '+1.23')
    """
    if not np.isfinite(value):
        return NOTHING
    text = f"{100.0 * value:+.{digits}f}"
    return f"{0.0:.{digits}f}" if float(text) == 0.0 else text.replace("-", "−")


def interval(mean: Mean, digits: int = 1) -> str:
    """Write a difference in points with its 95 % interval.

    Examples
    --------
    >>> interval(Mean(0.01, 0.002))
    '+1.0 (+0.6 to +1.4)'
    """
    if not np.isfinite(mean.half_width):
        return points(mean.value, digits)
    value, low, high = (points(one, digits) for one in (mean.value, mean.low, mean.high))
    return f"{value} ({low} to {high})"


def spread(mean: Mean) -> str:
    """Write a difference in points and half of its 95 % interval.

    Examples
    --------
    >>> spread(Mean(0.01, 0.002))
    '+1.0 ± 0.4'
    """
    if not np.isfinite(mean.half_width):
        return points(mean.value)
    return f"{points(mean.value)} ± {100.0 * mean.half_width:.1f}"


def names(words: Sequence[str]) -> str:
    """Join names.

    Examples
    --------
    >>> names(["a", "b", "c"]), names([]), names(["a"])
    ('a, b and c', 'none', 'a')
    """
    if not words:
        return "none"
    return " and ".join([", ".join(words[:-1])] * (len(words) > 1) + [words[-1]])


def count(number: int, one: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> count(1, "table"), count(3, "table"), count(0, "table")
    ('1 table', '3 tables', 'no table')
    """
    return f"{number or 'no'} {one}{'s' * (number > 1)}"


def on_tables(tables: Sequence[str]) -> str:
    """Write the number of tables and their names.

    Examples
    --------
    >>> on_tables(["Sonar", "BCI"]), on_tables([])
    ('2 tables (Sonar and BCI)', 'none')
    """
    return f"{count(len(tables), 'table')} ({names(tables)})" if tables else "none"


def number(value: float) -> str:
    """Write a number with two significant digits.

    Examples
    --------
    >>> number(0.01234), number(12.34), number(1234.5), number(float("nan"))
    ('0.012', '12', '1,234', '–')
    """
    if not np.isfinite(value):
        return NOTHING
    if abs(value) >= 10.0:
        return f"{value:,.0f}"
    return f"{value:.2g}" if abs(value) >= 1e-3 else f"{value:.4f}".rstrip("0").rstrip(".")
