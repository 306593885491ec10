"""How the page of a comparison writes numbers."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from ..._html.typeset import typeset
from ..._utils import words
from ..._utils.words import NONE, fixed
from ..compare.comparison import Estimate

if TYPE_CHECKING:
    from markupsafe import Markup


def percent(share: float, decimals: int = 1) -> str:
    """Write a share in percent, on one line, and never a positive share as zero.

    Examples
    --------
    >>> percent(0.0813), percent(0.00047)
    ('8.1\\xa0%', '0.05\\xa0%')
    """
    return unbroken(words.percent(share, decimals, never_zero=True))


def spread(low: str, high: str) -> str:
    """Write an interval between two numbers.

    Examples
    --------
    >>> spread("90.5", "93.3"), spread("−0.4", "+2.2"), spread("–", "–")
    ('90.5–93.3', '−0.4 to +2.2', '')
    """
    if NONE in (low, high):
        return ""
    return f"{low} to {high}" if low[0] in "−+" or high[0] in "−+" else f"{low}–{high}"


def unbroken(sentence: str) -> str:
    """Keep the numbers in a sentence on one line with their units.

    Examples
    --------
    >>> unbroken("From 8.1 % on, 0.4–2.2 points.").split(" ")
    ['From', '8.1\\xa0%', 'on,', '0.4–2.2\\xa0points.']
    """
    return re.sub(r"(?<=\d) (?=%|points?\b)", "\N{NO-BREAK SPACE}", sentence)


def with_interval(value: Estimate, *, decimals: int = 1, scale: float = 100.0) -> tuple[str, str]:
    """Write a mean, and its interval.

    Examples
    --------
    >>> with_interval(Estimate(0.919, 0.905, 0.933))
    ('91.9', '90.5–93.3')
    """
    mean, low, high = (fixed(scale * end, decimals) for end in (value.mean, value.low, value.high))
    return mean, spread(low, high)


def few_digits(number: float) -> Markup:
    """Write a number to three digits, with a power of ten if it is very small or large.

    Examples
    --------
    >>> print(few_digits(-0.0004), few_digits(2.5e-9))
    −0.0004 2.5·10<sup>−9</sup>
    """
    return typeset(f"{number:.3g}") if math.isfinite(number) else typeset(NONE)
