"""Numbers, counts and errors as text, for every sentence that people read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from difflib import get_close_matches

__all__ = [
    "NONE",
    "counted",
    "did_you_mean",
    "duration",
    "fixed",
    "listed",
    "minus",
    "os_error",
    "percent",
    "points",
    "points_between",
    "signed",
]

NONE = "–"
"""Stands for a number that is not known."""


def minus(text: str) -> str:
    """Replace the hyphens of formatted numbers by minus signs.

    Examples
    --------
    >>> minus("(-1.5, 2.0)")
    '(−1.5, 2.0)'
    """
    return text.replace("-", "−")


def fixed(number: float, decimals: int = 1) -> str:
    """Write a number with a typographic minus sign; zero has no sign.

    Examples
    --------
    >>> fixed(-1.25, 2), fixed(-0.04), fixed(float("nan"))
    ('−1.25', '0.0', '–')
    """
    if not math.isfinite(number):
        return NONE
    text = f"{number:.{decimals}f}"
    return minus(text) if float(text) else text.removeprefix("-")


def signed(number: float, decimals: int = 2) -> str:
    """Write a number with its sign.

    Examples
    --------
    >>> signed(0.284), signed(-0.001), signed(-2, 0)
    ('+0.28', '0.00', '−2')
    """
    text = fixed(number, decimals)
    return f"+{text}" if text[0].isdigit() and float(text) else text


def percent(share: float, decimals: int = 1, *, never_zero: bool = False) -> str:
    """Write a share in percent.

    Parameters
    ----------
    share : float
    decimals : int, default=1
    never_zero : bool, default=False
        Add up to four decimals rather than round a small share to zero.

    Examples
    --------
    >>> percent(0.0814), percent(0.2, 0), percent(float("nan"))
    ('8.1 %', '20 %', '–')
    >>> percent(0.00047), percent(0.00047, never_zero=True)
    ('0.0 %', '0.05 %')
    """
    if not math.isfinite(share):
        return NONE
    while never_zero and decimals < 4 and 0.0 < abs(100 * share) < 0.5 * 10.0**-decimals:
        decimals += 1
    return f"{fixed(100 * share, decimals)} %"


def points(gain: float) -> str:
    """Write a difference of two shares in percentage points.

    Examples
    --------
    >>> points(0.013), points(-0.004), points(0.0001)
    ('+1.3', '−0.4', '0.0')
    """
    return signed(100 * gain, 1)


def points_between(low: float, high: float) -> str:
    """Write an interval for a difference of two shares.

    Examples
    --------
    >>> points_between(0.004, 0.022), points_between(-0.004, 0.022), points_between(0.0002, 0.01)
    ('0.4–2.2 points', '−0.4 to 2.2 points', '0.02–1.0 points')
    """
    low, high = 100 * low, 100 * high
    to = "–" if low >= 0.0 else " to "
    # "0.0–1.0" would hide that 0 is outside the interval
    decimals = 2 if low > 0.0 and round(low, 1) == 0.0 else 1
    return f"{fixed(low, decimals)}{to}{fixed(high)} points"


def duration(seconds: float) -> str:
    """Write a duration in its two largest units.

    Examples
    --------
    >>> [duration(seconds) for seconds in (0.34, 75, 3600 + 125)]
    ['0.3 s', '1 min 15 s', '1 h 2 min']
    """
    if seconds < 59.5:
        return f"{seconds:.{seconds < 9.95:d}f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun; the plural ends in "s" unless `many` is given.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row"), counted(2, "category", "categories")
    ('1 row', '1,200 rows', '2 categories')
    """
    noun = one if number == 1 else many or f"{one}s"
    return f"{number:,} {noun}"


def listed(names: Iterable[str], most: int) -> str:
    """Join names with commas; after `most` of them, write how many more there are.

    Examples
    --------
    >>> listed("abcde", 3)
    'a, b, c and 2 more'
    """
    names = list(names)
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def did_you_mean(
    name: str,
    known: Iterable[str],
    otherwise: str = "",
    *,
    cutoff: float = 0.6,
    show: Callable[[str], str] = repr,
) -> str:
    """Ask whether the most similar of the known names was meant.

    Parameters
    ----------
    name : str
        The name that was given.
    known : iterable of str
    otherwise : str, default=""
        Returned if no known name is similar.
    cutoff : float, default=0.6
        Similarity from which a name is suggested: 0 for any name, 1 for equal ones.
    show : callable, default=repr
        Writes the suggestion.

    Examples
    --------
    >>> did_you_mean("colr", ["color", "size"], "the columns are color and size.")
    "did you mean 'color'?"
    >>> did_you_mean("weight", ["color", "size"], "the columns are color and size.")
    'the columns are color and size.'
    """
    near = get_close_matches(str(name), list(known), n=1, cutoff=cutoff)
    return f"did you mean {show(near[0])}?" if near else otherwise


def os_error(error: OSError, doing: str, name: str) -> str:
    """Describe an error of the operating system, as the start of a sentence.

    Parameters
    ----------
    error : OSError
    doing : str
        "reading" or "writing".
    name : str
        The file, as the sentence should write it.

    Examples
    --------
    >>> os_error(PermissionError(13, "Permission denied"), "reading", "t.csv")
    'Permission denied reading t.csv'
    >>> os_error(IsADirectoryError(21, "Is a directory"), "writing", "results")
    'results is a folder'
    """
    if isinstance(error, IsADirectoryError):
        return f"{name} is a folder"
    if isinstance(error, NotADirectoryError):
        return f"A part of the path {name} is not a folder"
    if isinstance(error, FileExistsError):  # a file is in the place of a new folder
        return f"{name} is not a folder"
    reason = error.strerror or str(error) or type(error).__name__
    return f"{reason[0].upper()}{reason[1:]} {doing} {name}"
