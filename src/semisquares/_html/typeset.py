"""Plain text to HTML: the paper's letters, and names that can be linked to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

_LETTER = re.compile(r"(?<![\w.])([A-Za-z])_([a-z])(?![\w(])")
_POWER = re.compile(r"(?<![\w.])(−|-)?(\d(?:\.\d+)?)e([+−-])0*(\d+)(?![\w.]*\w)")
_APOSTROPHE = re.compile(r"(?<=\w)&#39;")
_MINUS = re.compile(r"(?<![\w.−-])-(?=\d)")


def typeset(text: str) -> Markup:
    """Escape a text, and typeset indices, powers of ten, minus signs and apostrophes.

    Examples
    --------
    >>> print(typeset("J_l < J_r, but J_lowest"))
    <i>J</i><sub>l</sub> &lt; <i>J</i><sub>r</sub>, but J_lowest
    >>> print(typeset("R's -0.5 to 2.5e-08, or 1e+06"))
    R’s −0.5 to 2.5·10<sup>−8</sup>, or 10<sup>6</sup>
    """
    from markupsafe import Markup, escape

    text = _APOSTROPHE.sub("\N{RIGHT SINGLE QUOTATION MARK}", str(escape(text)))
    text = _LETTER.sub(r"<i>\1</i><sub>\2</sub>", text)
    return Markup(_MINUS.sub("−", _POWER.sub(_power, text)))


def _power(found: re.Match[str]) -> str:
    sign, digits, side, exponent = found.groups()
    factor = "" if digits == "1" else f"{digits}·"
    return f"{'−' if sign else ''}{factor}10<sup>{'' if side == '+' else '−'}{exponent}</sup>"


def breakable(text: str) -> Markup:
    """Escape a text and allow line breaks in very long words; markup stays as it is.

    Examples
    --------
    >>> print(breakable("a < b"), breakable("x" * 45).count("<wbr>"))
    a &lt; b 2
    """
    from markupsafe import Markup

    if isinstance(text, Markup):
        return text
    parts = []
    for word in re.split(r"(\s+)", text):
        size = 20 if len(word) > 30 else 30
        pieces = [word[k : k + size] for k in range(0, len(word), size)]
        parts.append(Markup("<wbr>").join(pieces))
    return Markup("").join(parts)


def slug(text: str) -> str:
    """Return a text as an anchor on the page.

    Examples
    --------
    >>> slug("Text & scripts")
    'text-scripts'
    """
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))


def sentence(text: str) -> str:
    """Return a text with a capital and a full stop.

    Examples
    --------
    >>> sentence("soft beats hard on 15 of 16"), sentence("Σ ≤ 1?")
    ('Soft beats hard on 15 of 16.', 'Σ ≤ 1?')
    """
    text = text.strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."
