"""A table prepared in chunks gives the same as in memory, however it is split."""

from __future__ import annotations

import itertools
import pickle
import tracemalloc
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from semisquares.tables import TableError, prepare
from semisquares.tables._chunked import prepare_chunks
from semisquares.tables.columns._counts import MAX_KEPT, ValueCounts
from semisquares.tables.columns._moments import Moments
from semisquares.tables.columns._protocol import RowRange
from semisquares.tables.io import find, read, split
from semisquares.tables.schema import infer_columns, infer_schema, profile_columns

N = 240


@dataclass(frozen=True)
class Slice:
    """Some rows of a frame, in place of a chunk."""

    frame: pd.DataFrame
    start: int
    n_rows: int

    @property
    def names(self):
        return list(self.frame.columns)

    def read(self, columns=None):
        rows = self.frame.iloc[self.start : self.start + self.n_rows]
        return rows if columns is None else rows[list(columns)]


def slices(frame, places):
    """Split a frame at places, some of which may be the same."""
    ends = [0, *sorted(place % (len(frame) + 1) for place in places), len(frame)]
    return [Slice(frame, a, b - a) for a, b in itertools.pairwise(ends)]


def texts(cells):
    return pd.Series(cells, dtype=object).astype("str")


def table(n=N, seed=0):
    """Columns of all kinds, each of which looks different in some chunks."""
    rng = np.random.default_rng(seed)
    at, late = np.arange(n), np.arange(n) >= n - 3
    cents, days = rng.integers(100, 10**6, n), pd.Timestamp("2021-03-01") + pd.to_timedelta(at, "D")
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 90, n)),
            "large": np.sort(rng.normal(1e9, 1e-3, n)),
            "gone": np.where(at < n // 2, np.nan, rng.normal(size=n)),
            "late": late.astype(float),
            "same": 5,
            "nothing": np.full(n, np.nan),
            "counter": at + 1000,
            "restarted": at % (n // 2) + 7,
            "customer_id": rng.integers(1000, 9999, n),
            "House No": rng.integers(1, 400, n),
            "number": rng.integers(0, 4, n),
            "colour": texts(rng.choice(["red", "blue", "grey", None], n, p=[0.5, 0.3, 0.1, 0.1])),
            "site": texts(
                np.where(
                    late, "north", rng.choice(["a", "b ", "01", "1 "], n, p=[0.4, 0.3, 0.2, 0.1])
                )
            ),
            "town": texts([f"town {k}" for k in (rng.random(n) ** 3 * 70).astype(int)]),
            "key": texts([f"k{k:05d}" for k in at]),
            "remark": texts(
                [f"word {k} and {k % 7} more words" for k in rng.integers(0, n // 2, n)]
            ),
            "flag": pd.Series(rng.choice([True, False, None], n), dtype=object),
            "full": rng.random(n) < 0.3,
            "smokes": texts(rng.choice(["yes", "No", None], n)),
            "day": days.where(rng.random(n) < 0.9),
            "moment": pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 10**7, n), "s"),
            "iso": texts(days.strftime("%Y-%m-%d")),
            "written": texts([f"{k % 12 + 1:02d}/{30 if k == n - 1 else 1}/2020" for k in at]),
            "unclear": texts([f"{k % 12 + 1:02d}/05/2020" for k in at]),
            "brief": texts([f"{k % 12 + 1:02d}/05/{k % 28 + 1:02d}" for k in at]),
            "zip": texts([f"{1234 if k == n - 1 else 10001 + k % 9:05d}" for k in at]),
            "seqn": at * 7 + 233,
            "price": texts([f"${c // 100}.{c % 100:02d}" for c in cents]),
            "income": texts(
                [f"{c:,}" if k > n // 3 else f"{c % 999}" for k, c in enumerate(cents)]
            ),
            "account": texts([f"({c})" if k > n // 3 else f"{c}" for k, c in enumerate(cents)]),
            "point": texts([f"({c % 5})" for c in cents]),
            "serial": at + 10**17,
            "serial_id": np.where(at < n // 2, at, 10**17 + at),
            "plain": texts([f" {c}" for c in cents]),
            "mostly": texts(np.where(rng.random(n) < 0.2, rng.choice(["4", "7"], n), "few")),
            "levels": texts(
                np.where(at < 200, rng.choice(["inf", "7"], n), rng.choice(["x", "y"], n))
            ),
            "shop": texts(rng.choice(["s1", "s2", " ", None], n)),
            "sick": texts(rng.choice(["yes", "no", "NA", "?", None], n)),
            "sick_filled": texts(rng.choice(["true", "false", None], n)),
        }
    )
    frame.loc[frame["levels"].isin(["inf", "7"]) & (rng.random(n) < 0.6), "levels"] = "z"
    return frame


def assert_equal_encoders(one, other):
    """Check everything that a fitted encoder keeps."""
    assert one.columns == other.columns
    assert one.names == other.names
    assert [replace(f, scale=0.0) for f in one.features] == [
        replace(f, scale=0.0) for f in other.features
    ]
    kinds = ["number", "category", "boolean", "date", "text"]
    assert list(one.encoders) == list(other.encoders) == kinds
    for kind in one.encoders:
        found, expected = (table.encoders[kind].to_plain() for table in (one, other))
        assert found.keys() == expected.keys()
        for name, values in found.items():
            if isinstance(values, np.ndarray):
                np.testing.assert_allclose(values, expected[name], rtol=1e-12, atol=1e-15)
            else:
                assert values == expected[name]


def assert_as_in_memory(parts, frame, **options):
    streamed, whole = (
        prepare_chunks(parts, "sick", **options),
        prepare(frame, "sick", **options),
    )
    assert streamed.notes == whole.notes
    for name in ("classes", "counts", "spelling", "hints", "n_rows", "n_labeled"):
        assert getattr(streamed.target, name) == getattr(whole.target, name)
    assert_equal_encoders(streamed.encoder, whole.encoder)
    made = [streamed.transform(part) for part in parts]
    np.testing.assert_allclose(np.concatenate([X for X, _ in made]), whole.X, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(np.concatenate([codes for _, codes in made]), whole.codes)
    return streamed


@pytest.mark.parametrize("seed", [1, 5, pytest.param(2, marks=pytest.mark.slow)])
def test_parts_are_prepared_as_the_whole_table_is(seed):
    frame, rng = table(seed=seed), np.random.default_rng(seed)
    places = [0, N // 2, *rng.integers(0, N, seed), N - 2]
    assert_as_in_memory(slices(frame, places), frame, group="shop", unlabeled="?")


def test_requests_for_columns_apply_to_all_chunks():
    kinds = {"age": "category", "number": "boolean", "price": "number", "iso": "date"}
    kinds |= {"customer_id": "number", "plain": "category", "day": "category", "sick": "category"}
    frame = table().assign(number=lambda t: t["number"] % 2)
    streamed = assert_as_in_memory(
        slices(frame, [0, 50, 50, 238]), frame, kinds=kinds, drop=["town", "shop"]
    )
    found = {column.name: column.kind for column in streamed.columns}
    assert {name: found[name] for name in kinds if name != "sick"} == {
        name: kind for name, kind in kinds.items() if name != "sick"
    }


@pytest.mark.parametrize(
    ("order", "unclear", "brief"),
    [
        ("dmy", "dd/mm/yyyy", "dd/mm/yy"),
        ("mdy", "mm/dd/yyyy", "mm/dd/yy"),
        ("ymd", None, "yy/mm/dd"),
    ],
)
def test_a_named_order_settles_the_dates_of_all_chunks(order, unclear, brief):
    frame = table()
    streamed = assert_as_in_memory(slices(frame, [0, 50, 238]), frame, dates=order)
    formats = {column.name: column.format for column in streamed.columns}
    assert (formats["unclear"], formats["brief"]) == (unclear, brief)


def test_what_a_model_has_written_is_left_out_of_all_parts():
    known = {"sick_predicted": "yes", "sick_soft_yes": np.arange(N), "sick_decision_yes": 1.0}
    frame = table().assign(**known)
    streamed = assert_as_in_memory(slices(frame, [0, 50, 238]), frame, unlabeled="?")
    assert not {column.name for column in streamed.columns if column.used} & {
        *known,
        "sick_filled",
    }
    assert streamed.n_filled == prepare(frame, "sick", unlabeled="?").n_filled > 0


def test_a_large_table_is_judged_by_the_same_sample_of_its_rows():
    rng, n = np.random.default_rng(3), 101_000
    frame = pd.DataFrame(
        {"x": rng.integers(0, 90_000, n), "y": rng.normal(size=n), "row": range(n)}
    )
    series = [(name, frame[name]) for name in frame]
    parts = [
        dict(profile_columns([(k, v[a:b]) for k, v in series], {}, {}, RowRange(a, n)))
        for a, b in ((0, 33_333), (33_333, 33_335), (33_335, n))
    ]
    merged = {name: reduce(lambda a, b: a.merge(b), [p[name] for p in parts]) for name in frame}
    assert infer_columns(merged.items(), {}, {}) == infer_schema(frame)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_prepared_part_by_part_as_they_are_in_memory(tmp_path, ending):
    frame, n = table(480, seed=7), 480
    writers = {
        "csv": lambda some, path: some.to_csv(path, index=False),
        "parquet": lambda some, path: some.to_parquet(path, row_group_size=40),
    }
    writers[ending](frame[: n // 2], tmp_path / f"a.{ending}")
    writers[ending](frame[:0], tmp_path / f"b.{ending}")
    writers[ending](frame[n // 2 :], tmp_path / f"c.{ending}")
    source = find(str(tmp_path / f"*.{ending}"))
    parts = split(source, labels=["sick"], n_bytes=8 * 80 * len(frame.columns))
    assert len(parts) > 4
    assert_as_in_memory(parts, read(source, labels=["sick"]), unlabeled="?")


def test_a_streamed_table_travels(tmp_path):
    frame = table()
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    parts = split(find(str(tmp_path / "a.parquet")), labels=["sick"], n_bytes=100)
    streamed = prepare_chunks(parts, "sick", run=lambda work, some: [work(p) for p in some])
    moved = pickle.loads(pickle.dumps(streamed))
    X, codes = moved.transform(parts[1], np.float32)
    assert X.dtype == np.float32
    assert X.shape == (100, len(streamed.features))
    np.testing.assert_array_equal(codes, streamed.transform(parts[1])[1])


# -- faults ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells",
    [
        {"x": [1.0, np.inf, 2.0, np.inf]},
        {"x": [1.0, 1e200, 2.0, 3.0]},
        {"x": texts(["1", "2", "3", "few"])},
        {"x": [3.0, 3.0, 3.0, 3.0]},
        {"sick": texts(["a", "a", None, "a"])},
        {"sick": [0.5, 1.5, 2.5, 0.5]},
        {"sick": texts([None] * 4)},
    ],
)
def test_what_cannot_be_learned_from_is_refused_in_the_same_words(cells):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 3.0], "sick": texts(["a", "b", "a", "b"])} | cells)
    with pytest.raises(TableError) as expected:
        prepare(frame, "sick")
    with pytest.raises(TableError) as found:
        prepare_chunks(slices(frame, [1, 2]), "sick")
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["$5", "$6", "€5", "€6"], "number"),
        (["5", "6", "x", "7"], "number"),
        (["yes", "no", "perhaps", "no"], "boolean"),
        (["01/02/2020", "02/03/2020", "03/04/2020", "04/05/2020"], "date"),
        (["13/02/2020", "14/03/2020", "03/14/2020", "04/15/2020"], "date"),
    ],
)
def test_cells_that_are_not_of_the_requested_kind_are_refused_in_the_same_words(cells, kind):
    frame = pd.DataFrame({"x": texts(cells), "sick": texts(["a", "b", "a", "b"])})
    with pytest.raises(TableError) as expected:
        prepare(frame, "sick", kinds={"x": kind})
    with pytest.raises(TableError) as found:
        prepare_chunks(slices(frame, [1, 2]), "sick", kinds={"x": kind})
    assert str(found.value) == str(expected.value)


# -- what is merged --------------------------------------------------------------------------------


def test_moments_keep_their_digits_if_the_mean_is_large_and_rows_are_sorted():
    numbers = np.sort(np.random.default_rng(0).normal(1e9, 1e-3, 5_000))
    merged = reduce(lambda a, b: a.merge(b), map(Moments.of, np.array_split(numbers, 37)))
    exact = np.var((numbers - 1e9).astype(np.longdouble))
    np.testing.assert_allclose(merged.squares / 5_000, float(exact), rtol=1e-13)


def test_counts_are_the_same_in_whatever_order_and_grouping_they_are_merged():
    rng = np.random.default_rng(1)
    cells = np.array([f"t{k}" for k in rng.integers(0, 900, 3_000)], dtype=object)
    chunks = [
        ValueCounts.of(*pd.factorize(cells[a : a + 300]), a, most=100) for a in range(0, 3_000, 300)
    ]
    one = reduce(lambda a, b: a.merge(b), chunks)
    pairs = [chunks[k].merge(chunks[9 - k]) for k in (3, 0, 4, 1, 2)]
    other = reduce(lambda a, b: b.merge(a), pairs)
    assert (one.bound, one.values.tolist()) == (other.bound, other.values.tolist())
    assert one.counts.tolist() == [np.count_nonzero(cells == text) for text in one.values]
    assert one.first.tolist() == [np.argmax(cells == text) for text in one.values]
    assert not one.complete


def test_texts_beyond_all_bounds_are_counted_by_their_hashes_and_are_not_categories():
    n = 2 * MAX_KEPT
    frame = pd.DataFrame({"x": np.arange(n) % 7, "word": texts([f"w{k}" for k in range(n)])})
    frame["sick"] = texts(["a", "b"] * MAX_KEPT)
    columns = prepare_chunks(slices(frame, [n // 3, n // 2]), "sick").columns
    assert [column.kind for column in columns] == ["number", "id"]
    assert columns[1].n_distinct == pytest.approx(n, rel=0.01)
    assert "about" in columns[1].reason


def test_memory_is_that_of_a_few_chunks_however_many_there_are(tmp_path):
    rng, n, n_bytes = np.random.default_rng(0), 120_000, 1 << 18
    frame = pd.DataFrame(rng.normal(size=(n, 8))).add_prefix("x").round(2)
    frame["kind"] = texts(rng.choice(["a", "b", None], n))
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=3_000)
    parts = split(find(str(tmp_path / "a.parquet")), labels=["kind"], n_bytes=n_bytes)
    held, before = [], pa.total_allocated_bytes()  # by Arrow, which Python does not see

    def run(work, some):
        for part in some:
            yield work(part)
            held.append(pa.total_allocated_bytes() - before)

    tracemalloc.start()
    prepare_chunks(parts, "kind", run=run)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(held) == 2 * len(parts) == 80
    assert peak + max(held) < 2 * n_bytes < 8 * 9 * n / 16
