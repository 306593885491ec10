"""Identifiers: numbers and names that tell rows apart, and tell nothing of them."""

from __future__ import annotations

import re

import numpy as np

from .._utils.messages import Message, Parameter
from .quantities import Numbers
from .tallies import Tally

_SAMPLE = 20_000
FEW_ROWS = 20
"""In so few rows it says nothing that a value does not repeat."""


def why_id(name: str, numbers: Numbers, n_rows: int, n_filled: int) -> str:
    """Say why numbers are an identifier, "" where they are a quantity."""
    if not numbers.whole:
        return ""
    if n_rows == n_filled >= FEW_ROWS and numbers.count_rows:
        return "it counts the rows"
    word = word_of_ids(name)
    # "house number" names a house, but Number = 3 may be how many: there, values tell
    if not word or (
        word in ("index", "row", "nr", "no", "number")
        and (numbers.n_distinct <= FEW_ROWS or numbers.n_distinct < 0.1 * numbers.n_sample)
    ):
        return ""
    repeats = numbers.n_distinct < numbers.n_sample
    why = Message("{word!r} in its name says that it is an identifier", word=word)
    if not repeats:
        return why
    group = Parameter("group", name)
    return Message(
        "{why}, and it repeats: rows may belong together, see {group}", why=why, group=group
    )


def kind_of_words(name: str, tally: Tally, n_distinct: int, n_filled: int) -> tuple[str, str]:
    """Tell whether text is "id", "text" (that is free) or "category", and why."""
    texts = tally.values
    about = "" if tally.complete else "about "
    share = n_distinct / n_filled
    sample = slice(None, None, max(1, len(texts) // _SAMPLE))
    n_words = np.array([len(text.split()) for text in texts[sample]])
    short = max(map(len, texts[sample])) <= 64 and n_words.max() == 1
    if share > 0.95 and n_filled >= FEW_ROWS and short:
        how = "each" if n_distinct == n_filled else "almost each"
        return "id", f"{how} of its {about}{n_distinct:,} values occurs once"
    many = share > 0.5 and n_filled >= FEW_ROWS
    if many and short and word_of_ids(name) in ("id", "uuid", "guid", "key"):
        why = "its name says that it is an identifier: rows may belong together, see {group}"
        return "id", Message(why, group=Parameter("group", name))
    wordy = np.average(n_words, weights=tally.counts[sample]) >= 4.0
    if many or (share > 0.2 and wordy) or not tally.complete:  # whose levels are not all known
        return (
            "text",
            f"free text, {about}{n_distinct:,} different ones in {n_filled:,} cells",
        )
    return "category", ""


def word_of_ids(name: str) -> str:
    """Return the word that makes "customer_id", "rowId" or "House No" the name of an identifier."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    anywhere = [word for word in words if word in ("id", "uuid", "guid")]
    at_the_end = [w for w in words[-1:] if w in ("key", "index", "row", "nr", "no", "number")]
    return next(iter(anywhere + at_the_end), "")
