"""Numbers of a comparison as its page writes them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from ..._html.tables import minus
from ..._html.typeset import typeset
from ..compare.comparison import Estimate

if TYPE_CHECKING:
    from markupsafe import Markup

NONE = "–"


def percent(share: float, decimals: int = 1) -> str:
    """Return a share in per cent; number and sign stay on one line.

    Examples
    --------
    >>> percent(0.0813).split(), percent(0.00047).split(), percent(float("nan"))
    (['8.1', '%'], ['0.05', '%'], '–')
    """
    if not math.isfinite(share):
        return NONE
    while decimals < 4 and 0.0 < abs(100 * share) < 0.5 * 10.0**-decimals:
        decimals += 1  # a few of a million are not none
    return f"{_fixed(100 * share, decimals)}\N{NO-BREAK SPACE}%"


def points(gain: float) -> str:
    """Return a difference of shares in points, with its sign.

    Examples
    --------
    >>> points(0.013), points(-0.004), points(0.0001)
    ('+1.3', '−0.4', '0.0')
    """
    return signed(100 * gain, 1)


def signed(number: float, decimals: int = 2) -> str:
    """Return a number with its sign.

    Examples
    --------
    >>> signed(0.284), signed(-0.001)
    ('+0.28', '0.00')
    """
    said = _fixed(number, decimals)
    return f"+{said}" if said[0].isdigit() and float(said) else said


def spread(low: str, high: str) -> str:
    """Return an interval between two numbers.

    Examples
    --------
    >>> spread("90.5", "93.3"), spread("−0.4", "+2.2"), spread("–", "–")
    ('90.5–93.3', '−0.4 to +2.2', '')
    """
    if NONE in (low, high):
        return ""
    return f"{low} to {high}" if low[0] in "−+" or high[0] in "−+" else f"{low}–{high}"


def unbroken(sentence: str) -> str:
    """Return a sentence whose numbers and units stay on one line.

    Examples
    --------
    >>> unbroken("From 8.1 % on, 0.4–2.2 points.").split(" ")
    ['From', '8.1\\xa0%', 'on,', '0.4–2.2\\xa0points.']
    """
    return re.sub(r"(?<=\d) (?=%|points?\b)", "\N{NO-BREAK SPACE}", sentence)


def with_interval(value: Estimate, *, decimals: int = 1, scale: float = 100.0) -> tuple[str, str]:
    """Return a mean, and its interval.

    Examples
    --------
    >>> with_interval(Estimate(0.919, 0.905, 0.933))
    ('91.9', '90.5–93.3')
    """
    mean, low, high = (_fixed(scale * end, decimals) for end in (value.mean, value.low, value.high))
    return mean, spread(low, high)


def few_digits(number: float) -> Markup:
    """Return a number to three digits, with a power of ten where it is very small or large.

    Examples
    --------
    >>> print(few_digits(-0.0004), few_digits(2.5e-9))
    −0.0004 2.5·10<sup>−9</sup>
    """
    return typeset(f"{number:.3g}") if math.isfinite(number) else typeset(NONE)


def _fixed(number: float, decimals: int) -> str:
    """Round a number; what rounds to nothing has no sign."""
    if not math.isfinite(number):
        return NONE
    said = f"{number:.{decimals}f}"
    return minus(said if float(said) else said.removeprefix("-"))
