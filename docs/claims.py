"""Find numbers in the pages that look measured and are not between marks.

A number looks measured if it has a decimal point, an exponent or a unit, or in phrases such as
"15 of 16" and "on 15". Powers of ten without a unit are settings. Code, formulas, addresses and
versions are ignored (other tests run the examples in code). `NOT_MEASURED` lists the exceptions,
each with its reason.
"""

from __future__ import annotations

import re

from .marks import without_marked

NOT_MEASURED: dict[str, dict[str, str]] = {
    "*": {
        "95 %": "the level of every interval",
        "90 % interval": "the level of the interval for wrong labels",
    },
    "docs/guide/command_line.md": {
        "15 of 100": "the difference of a column from which predict names it",
        "20 %": "the share below which a class is rare",
        "90 % interval": "the level of that interval",
        "10 of 100": "the same for missing cells",
    },
    "docs/guide/labeling.md": {
        "0.2 points": "the gain below which the page says that one can stop",
    },
    "docs/methods/all_labelings.md": {
        "14 of the 200": "how many rows it is given",
    },
    "docs/methods/index.md": {
        "draw 57 of 100": "which draw is shown",
        "14 of the 200": "how many rows a method is given",
    },
    "docs/methods/missing_outcomes.md": {
        "200 of 206": "how many outcomes of the example are missing",
    },
    "docs/scale.md": {
        "at most 64 MB": "how large a sample is taken",
        "and 64 MB": "how many rows near a border are gathered",
        "never more than 64 MB": "how many rows near a border are gathered",
        "at the moment (8 MB)": "how large a part of a block is cut for the cache",
        "50 MB": "how large the blocks are",
        "1.5 GB each": "what a worker is allowed",
        "800 GB": "how large a table is worked out",
        "10 Gbit/s": "the network that is assumed",
        "50 to 500 MB each": "what we advise, not measured",
        "82 kB for 100 columns, 8 MB for 1,000, 128 MB for 4,000": "from the formula before it",
        "found on 100,000 rows": "what we advise, not measured",
    },
}
"""Phrases that look measured but are not, by page ("*" for all pages), with their reasons."""

_NUMBER = r"(?<![\w.,])\d[\d,]*(?:\.\d+)?[¼½¾]?"
_UNIT = (
    r"(?:%|per cent|points?|times|[mµ]?s|seconds?|min|minutes?|h|hours?|CPU-\w+"
    r"|[kMGT]B(?:/s)?|[MG]flop/s|\w+/s)(?!\w)"
)
_CLAIMS = re.compile(
    r"(?<![\w.,])\d[\d,]*(?:\.\d+(?:e-?\d+)?|e-?\d+)(?!\w|\.\d)"  # 0.26 and 1e-8, not 0.9.7
    rf"|{_NUMBER}[ \u00a0-]?{_UNIT}"  # 3 s
    rf"|{_NUMBER} of (?:the |all )?\d+"  # 15 of 16
    r"|\bon \d+(?=[.,;:)]| \()"  # better on 15
)
_LEFT_OUT = (
    r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[^\n]*$",  # code between fences
    r"(?<=\n\n)(?:(?: {4}|\t)[^\n]*\n+)+",  # and indented
    r"`[^`]*`",
    r"\$\$.*?\$\$",
    r"\$[^$]*\$",
    r"<!--.*?-->",
    r"\]\([^)]*\)",
    r"<?https?://\S+|(?:doi|arXiv):\S+",
    r"(?:≥|>=|\b(?:Python|numpy|scipy|scikit-learn|pandas)) ?\d[\d.]*",  # a version
    r"(?<![\w.,])(?:0\.0*1|1e-?\d+)(?!\w|[.,]\d| ?%| [mµ]?s\b)",  # a power of ten
    r"^ *(?:\(\w+\)=|\[\^\w+\]:).*$",
)


def unmarked(page: str, text: str) -> list[str]:
    """Return numbers in a page that look measured and are not between marks, with context."""
    text = without_marked(text)
    for pattern in _LEFT_OUT:
        text = re.sub(pattern, " ▪ ", text, flags=re.DOTALL | re.MULTILINE)
    text = " ".join(text.split())
    for phrase in allowed(page):
        text = text.replace(phrase, "▪")
    return [
        f"… {text[max(0, claim.start() - 30) : claim.end() + 30]} …"
        for claim in _CLAIMS.finditer(text)
    ]


def allowed(page: str) -> dict[str, str]:
    """Return the phrases that a page may have without marks, and the reasons."""
    return {**NOT_MEASURED["*"], **NOT_MEASURED.get(page, {})}
