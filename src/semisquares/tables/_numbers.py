r"""What counts as a number in a cell of text: the one definition, as regular expressions.

The patterns have no flags, no named groups and only ``[0-9]`` for digits, so that Python's `re` and
RE2, which Arrow uses, read them alike. None has a capturing group.

Examples
--------
>>> import re
>>> [bool(re.fullmatch(NUMBER, text)) for text in ("-1.5e3", ".5", "5.", "1,5", "1,234", "0x1F")]
[True, True, True, False, False, False]
>>> [bool(re.fullmatch(amount(grouped()), text)) for text in ("$1,234.50", "(1,234)", "12,34")]
[True, True, False]
"""

from __future__ import annotations

import re

SIGN = "[+-]?"
EXPONENT = "(?:[eE][+-]?[0-9]+)?"
BLANKS = "[\\s\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]*"
"""Blanks around the digits; the last two are not in RE2's ``\\s``."""

_CURRENCY = "[$€£¥]"
_THOUSANDS = {".": ",", ",": "."}


def number(decimal: str = ".") -> str:
    """Match digits with or without a decimal mark, without sign and exponent: 5, 5., 5.0 and .5."""
    mark = re.escape(decimal)
    return rf"(?:[0-9]+(?:{mark}[0-9]*)?|{mark}[0-9]+)"


def fraction(decimal: str = ".") -> str:
    """Match digits with a decimal mark and digits after it: 5.0 and .5, but neither 5 nor 5."""
    return rf"(?:[0-9]*{re.escape(decimal)}[0-9]+)"


def grouped(decimal: str = ".", *, decimals: str = "*") -> str:
    """Match digits with a mark between thousands: 1,234 and 1,234.5.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal mark; the other one is between thousands.
    decimals : {"*", "+"}
        "+" requires a decimal mark with digits after it.
    """
    mark, thousands = re.escape(decimal), re.escape(_THOUSANDS[decimal])
    optional = "?" if decimals == "*" else ""
    return rf"(?:[1-9][0-9]{{0,2}}(?:{thousands}[0-9]{{3}})+(?:{mark}[0-9]{decimals}){optional})"


def amount(digits: str) -> str:
    """Match digits as people write amounts: $54.80, 72.5 %, (3.50), - € 5.

    Blanks follow the sign or bracket that they belong to, so that no text matches in two ways:
    Python's `re` would try all of them.
    """
    sign, currency, bracket = f"(?:[+-]{BLANKS})?", f"(?:{_CURRENCY}{BLANKS})?", rf"(?:\({BLANKS})?"
    before = f"{BLANKS}{bracket}{sign}{currency}{bracket}{sign}"
    after = rf"(?:{BLANKS}[$€£¥%])?(?:{BLANKS}\))?(?:{BLANKS}\))?{BLANKS}"
    return f"{before}{digits}{after}"


NUMBER = f"{SIGN}{number()}{EXPONENT}"
"""A plain number: what `float` reads, except "inf", "nan" and "1_000"."""
EXACT_WHOLE = "(?:0|[1-9][0-9]*)"
"""Digits that lose nothing as a whole number: 007 is a code."""
EXACT = r"(?:(?:0|[1-9][0-9]{0,15})(?:\.[0-9]*)?|\.[0-9]+)"
"""Digits that lose nothing as float64, except at the end of a long fraction."""
