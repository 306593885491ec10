"""What counts as a number in a cell of text, for Python and for Arrow alike."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semisquares.tables._numbers import (
    EXACT,
    EXACT_WHOLE,
    NUMBER,
    amount,
    fraction,
    grouped,
    number,
)

PATTERNS = {
    "number": NUMBER,
    "exact": EXACT,
    "exact whole": EXACT_WHOLE,
    "fraction": fraction(","),
    "grouped": grouped(","),
    "grouped fraction": grouped(decimals="+"),
    "amount": amount(f"(?:{grouped()}|{number()})"),
}
TEXTS = {
    "number": (["0", "-1.5", "+.5", "5.", "1e3", "2.5E-07"], ["", ".", "1,5", "1 000", "inf", "٣"]),
    "exact": (["0", "10.50", ".5"], ["007", "12345678901234567"]),
    "exact whole": (["0", "70"], ["007", "0x1F", "1.0"]),
    "fraction": (["1,5", ",5"], ["1,", "15", "1.5"]),
    "grouped": (["1.234", "12.345.678,5"], ["1,234", "0.123", "1.23"]),
    "grouped fraction": (["1,234.5"], ["1,234", "1,234."]),
    "amount": (["$5", "- € 5", "(1,234.50)", " 72.5 % ", "$ (3)"], ["$", "5 kg", "1,23", "5-"]),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_matches_numbers_and_nothing_else(name):
    numbers, others = TEXTS[name]
    assert [text for text in numbers if not re.fullmatch(PATTERNS[name], text)] == []
    assert [text for text in others if re.fullmatch(PATTERNS[name], text)] == []


@given(st.lists(st.text("+-0159.,eE$€%() \u00a0x", max_size=9), min_size=1, max_size=50))
def test_python_and_arrow_agree_on_what_is_a_number(texts):
    for pattern in PATTERNS.values():
        found = pc.match_substring_regex(pa.array(texts), f"^(?:{pattern})$").to_pylist()
        assert found == [re.fullmatch(pattern, text) is not None for text in texts]


def test_a_long_run_of_blanks_is_tried_in_one_way_only():
    assert not re.fullmatch(PATTERNS["amount"], " " * 2_000 + "x")
