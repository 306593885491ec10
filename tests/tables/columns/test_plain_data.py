"""Fitted encoders survive the way to plain data and back."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from semisquares.tables import TableEncoder
from semisquares.tables._encoding import Encoding, clean
from semisquares.tables.columns import COLUMN_TYPES


@pytest.fixture(scope="module")
def frame():
    rng, n = np.random.default_rng(0), 90
    dates = pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.integers(0, 9_000, n), "h")
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.normal(40, 9, n)),
            "dose": rng.normal(size=n),
            "town": rng.choice(
                ["Ulm", "Bonn", "Rom", None, "Lyon"], n, p=[0.5, 0.3, 0.1, 0.09, 0.01]
            ),
            "site": rng.choice(["n", "s"], n),
            "smokes": rng.choice(["yes", "no", None], n),
            "joined": pd.Series(dates).where(rng.random(n) < 0.9),
            "note": [f"seen {k} times by {k % 7} of us" if k % 8 else None for k in range(n)],
            "title": [f"a {k % 50} of {k % 11} and more" for k in range(n)],
        }
    )


def through_json(plain):
    """Write the JSON values of plain data as text and read them; arrays stay."""
    return {
        name: value if isinstance(value, np.ndarray) else json.loads(json.dumps(value))
        for name, value in plain.items()
    }


@pytest.mark.parametrize("kind", COLUMN_TYPES)
def test_an_encoder_from_plain_data_encodes_the_same_bits(kind, frame):
    table = TableEncoder().fit(frame)
    encoder = table.encoders_[kind]
    again = COLUMN_TYPES[kind].encoder.from_plain(through_json(encoder.to_plain()))
    cells = clean(frame, table.columns_)
    found, expected = (np.empty((len(frame), len(encoder.features))) for _ in range(2))
    again.encode(cells, found)
    encoder.encode(cells, expected)
    np.testing.assert_array_equal(found, expected)
    assert again.features == encoder.features
    assert again.columns == encoder.columns
    assert through_json(again.to_plain()).keys() == encoder.to_plain().keys()


@pytest.mark.parametrize("kind", COLUMN_TYPES)
def test_plain_data_is_json_and_arrays_of_numbers(kind, frame):
    plain = TableEncoder().fit(frame).encoders_[kind].to_plain()
    arrays = [value for value in plain.values() if isinstance(value, np.ndarray)]
    assert all(array.dtype.kind in "fi" for array in arrays)
    assert through_json(plain).keys() == plain.keys()


def test_the_encoding_of_a_table_survives_the_way_to_plain_data_without_its_cells(frame):
    encoding = TableEncoder().fit(frame).encoding_
    plain = encoding.to_plain()
    again = Encoding.from_plain(plain)
    np.testing.assert_array_equal(again.transform(frame), encoding.transform(frame))
    assert again.features == encoding.features
    assert again.names == encoding.names
    assert [one.as_dict() for one in again.columns] == [one.as_dict() for one in encoding.columns]
    assert {one.example for one in again.columns} == {""}
    assert "" not in {one.example for one in encoding.columns}
