"""Columns that are left out: dropped, empty, constant and identifiers."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from ..._utils.messages import Message, Parameter
from ._counts import ValueCounts
from ._protocol import Column, Profile

FEW_ROWS = 20
"""With fewer rows, values that never repeat do not make an identifier."""
NUMBERING = ("index", "row", "nr", "no", "number", "seq", "seqn", "seqno", "seqnum", "rownum")
"""Words at the end of a name that make whole numbers an identifier if they hardly repeat."""
COUNTING = ("sequence", "serial", "record", "case", "obs", "observation")
"""Words that do so only if the numbers are all different and almost consecutive."""
_SAMPLE = 20_000

REASONS = {"id": "an id", "constant": "constant", "empty": "empty"}
"""What messages call columns that are left out, before the reason of each."""
TITLES = {
    "id": "identifier",
    "constant": "one value only",
    "empty": "empty",
    "dropped": "left out",
}
"""What the report calls them."""


def profile_dropped(values: pd.Series) -> Profile:
    """Count the filled cells of a column that is left out on request; nothing else is needed."""
    return Profile("", len(values), int(values.notna().sum()))


def describe_dropped(profile: Profile, name: str, reason: str) -> Column:
    """Describe a column that is left out on request."""
    return Column(name, "dropped", reason, profile.n_missing)


def unless_constant(column: Column, n_rows: int) -> Column:
    """Leave a column out if it is empty or has the same value in all rows."""
    if column.n_missing == n_rows:
        return replace(column, kind="empty", reason="it holds no value")
    if column.n_distinct == 1 and not column.n_missing:
        return replace(column, kind="constant", reason=f"it is {column.example!r} in all rows")
    return column


def classify_words(
    name: str, counts: ValueCounts, n_distinct: int, n_filled: int
) -> tuple[str, str]:
    """Tell whether text is "id", "text" (free text) or "category", and why an "id" is left out."""
    texts = counts.values
    about = "" if counts.complete else "about "
    share = n_distinct / n_filled
    sample = slice(None, None, max(1, len(texts) // _SAMPLE))
    n_words = np.array([len(text.split()) for text in texts[sample]])
    short = max(map(len, texts[sample])) <= 64 and n_words.max() == 1
    if share > 0.95 and n_filled >= FEW_ROWS and short:
        how = "each" if n_distinct == n_filled else "almost each"
        return "id", f"{how} of its {about}{n_distinct:,} values occurs once"
    many = share > 0.5 and n_filled >= FEW_ROWS
    if many and short and identifier_word(name) in ("id", "uuid", "guid", "key"):
        why = "its name says that it is an identifier: rows may belong together, see {group}"
        return "id", Message(why, group=Parameter("group", name))
    wordy = np.average(n_words, weights=counts.counts[sample]) >= 4.0
    if many or (share > 0.2 and wordy) or not counts.complete:  # not all levels are known
        return "text", ""
    return "category", ""


def identifier_word(name: str) -> str:
    """Return the word in a name that says that a column is an identifier, or "".

    Examples
    --------
    >>> [identifier_word(name) for name in ("customer_id", "rowId", "House No", "SEQN", "width")]
    ['id', 'id', 'no', 'seqn', '']
    """
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    anywhere = [word for word in words if word in ("id", "uuid", "guid")]
    at_the_end = [w for w in words[-1:] if w in ("key", *NUMBERING, *COUNTING)]
    return next(iter(anywhere + at_the_end), "")
