"""Chunks of a table have the cells and types that the whole table has."""

from __future__ import annotations

import datetime
import gzip
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from pyarrow import feather, parquet

from semisquares.tables import TableError
from semisquares.tables.io import find, read, split
from support.table_files import put

CELLS = [
    *(
        "1",
        "-7",
        "007",
        "0x1F",
        "9007199254740993",
        "1.5",
        "1e3",
        "true",
        "False",
        "",
        "NA",
        " 12",
        "?",
    ),
    *("2020-01-01", "1500-03-02", "2020-01-01 10:00:00", "2020-01-01 10:00:00.25", "10:30"),
    *("2020-01-01T10:00:00Z", "x", "ü", '"a,b"', '"say ""hi"""', '"two\nlines"', '5" pipe', '""'),
    *('"1"', '"cr\r\nlf"', '"x"y', "None", "nan"),
]


def joined(chunks, **options):
    return pd.concat([chunk.read(**options) for chunk in chunks])


def assert_same(source, *, n_bytes, **options):
    """Check the cells, and that each chunk has the types of all."""
    chunks = split(source, n_bytes=n_bytes, **options)
    whole = read(source, **options)
    assert_frame_equal(joined(chunks), whole)
    assert all(chunk.read().dtypes.equals(whole.dtypes) for chunk in chunks)
    assert sum(chunk.n_rows for chunk in chunks) == len(whole)
    return chunks


# -- CSV -------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25, derandomize=True)
@given(
    columns=st.lists(
        st.lists(st.sampled_from(CELLS), min_size=1, max_size=3), min_size=2, max_size=3
    ),
    seed=st.integers(0, 99),
    n_files=st.integers(1, 2),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    last=st.booleans(),
    n_bytes=st.sampled_from([24, 60, 200]),
)
def test_chunks_of_a_csv_have_the_cells_and_types_of_the_whole(
    tmp_path_factory, columns, seed, n_files, end, last, n_bytes
):
    folder, rng = tmp_path_factory.mktemp("csv"), np.random.default_rng(seed)
    for k in range(n_files):
        rows = [",".join(rng.choice(some) for some in columns) for _ in range(8)]
        lines = [",".join(f"c{j}" for j in range(len(columns))), *rows]
        put(folder, f"{k}.csv", (end.join(lines) + end * last).encode())
    source = find(str(folder / "*.csv"), delimiter=",")
    assert_same(source, n_bytes=n_bytes, missing=["?"], labels=["c0"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("\ufeffa;b\n1,5;x\n2;y\n;z\n".encode(), {}),
        ("größe,b\n1,ä\n2,\n".encode("latin-1"), {"encoding": "latin-1"}),
        (b"a\tb\n1\t2\n\n\n3\t4", {}),
        (b'\n\n"a\nb",c\n1,"2\n"\n3,4\n5,6\n7,8\n', {}),
    ],
)
def test_a_chunk_is_read_as_its_file_is(tmp_path, content, said):
    source = find(put(tmp_path, "a.txt", content), **said)
    assert len(assert_same(source, n_bytes=8)) >= 2


@pytest.mark.parametrize(("before", "after", "dtype"), [("1", "2.5", "float64"), ("1", "x", "str")])
def test_what_the_last_row_holds_settles_the_type_in_the_first_chunk(
    tmp_path, before, after, dtype
):
    rows = [f"{before},a"] * 50 + [f"{after},b"]
    source = find(put(tmp_path, "a.csv", "\n".join(["n,t", *rows]).encode()))
    first, *others = assert_same(source, n_bytes=64)
    assert len(others) > 5
    assert pd.api.types.pandas_dtype(dtype) == first.read(["n"])["n"].dtype


def test_a_line_end_inside_of_a_cell_ends_no_chunk(tmp_path):
    rows = [f'{k},"a\n{k},""b"",\r\nc"' for k in range(9)]
    source = find(put(tmp_path, "a.csv", "\n".join(["n,t", *rows]).encode()))
    counts = {len(assert_same(source, n_bytes=n_bytes)) for n_bytes in range(16, 400, 24)}
    assert len(counts) > 3


def test_a_cell_that_is_longer_than_a_chunk_stays_whole(tmp_path):
    rows = ["1,x", f'2,"{"long, " * 100}\n"', "3,y"]
    source = find(put(tmp_path, "a.csv", "\n".join(["n,t", *rows]).encode()))
    assert [chunk.n_rows for chunk in assert_same(source, n_bytes=16)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n3.5,x\n", mtime=0)),
        ("a.csv", "a,b\n1,2\n3.5,x\n".encode("utf-16")),
    ],
)
def test_a_text_without_random_access_is_split_as_well(tmp_path, name, content):
    source = find(put(tmp_path, name, content))
    assert [chunk.n_rows for chunk in assert_same(source, n_bytes=16)] == [1, 1]


def test_work_on_a_chunk_may_be_done_twice_as_dask_does_when_a_worker_is_lost(tmp_path):
    source = find(put(tmp_path, "a.csv", b"a,b\n1,x\n2.5,y\n"))
    chunks = split(source, n_bytes=16, run=lambda work, some: [(work(c), work(c))[1] for c in some])
    assert_frame_equal(joined(chunks), read(source))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n3\n5,6\n", "1 cell in line 3"),
        (b'a,b\n1,2\n3,"4\n5,6\n', "line 3 that is not closed"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,\xff\n", "not UTF-8"),
    ],
)
def test_a_fault_is_reported_with_its_line_in_the_file(tmp_path, content, words):
    with pytest.raises(TableError, match=words):
        split(find(put(tmp_path, "a.csv", content)), n_bytes=16)


# -- Parquet and Feather ---------------------------------------------------------------------------

DAY = datetime.date(2020, 2, 3)
COLUMNS = {
    "whole": pa.array([1, 2, 3, None, 5, 6]),
    "full": pa.array([1, 2, 3, 4, 5, 6], pa.int8()),
    "huge": pa.array([1, 2, 3, 4, 5, 2**64 - 1], pa.uint64()),
    "float": pa.array([1.5, None, float("nan"), 4, 5, 6], pa.float32()),
    "flag": pa.array([True, False, True, False, None, True]),
    "date": pa.array([DAY, DAY, None, DAY, DAY, DAY]),
    "moment": pa.array(
        [datetime.datetime(2020, 1, 1, h) for h in range(6)], pa.timestamp("ms", "UTC")
    ),
    "text": pa.array(["a", "NA", " ", None, "b", "?"]),
    "level": pa.array(["a", "b", "a", None, "b", "a"]).dictionary_encode(),
    "nothing": pa.nulls(6),
    "code": pa.array([7, 8, 9, 10, 11, 12]),
}


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("group", [1, 2, 4])
def test_chunks_of_a_binary_file_have_the_cells_and_types_of_the_whole(tmp_path, ending, group):
    write(pa.table(COLUMNS), tmp_path / f"a.{ending}", group)
    source = find(str(tmp_path / f"a.{ending}"))
    chunks = assert_same(
        source, n_bytes=8 * group * len(COLUMNS), missing=["?", "6"], text=["code"]
    )
    assert [chunk.n_rows for chunk in chunks] == [min(group, 6 - k) for k in range(0, 6, group)]


def write(table, path, group):
    writers = {
        ".parquet": lambda: parquet.write_table(table, path, row_group_size=group),
        ".feather": lambda: feather.write_feather(table, str(path), chunksize=group),
    }
    writers[path.suffix]()


def test_a_column_has_the_type_that_holds_it_in_all_files(tmp_path):
    flags, days = [True, False], pa.array([DAY, DAY])
    write(
        pa.table({"a": [1, 2], "b": [1, 2], "c": [None, None], "d": days}),
        tmp_path / "1.parquet",
        1,
    )
    moments = pa.array([datetime.datetime(2020, 1, 1, 5)] * 2, pa.timestamp("ms"))
    write(
        pa.table({"d": moments, "c": flags, "b": ["x", "y"], "a": [0.5, 2]}),
        tmp_path / "2.parquet",
        2,
    )
    assert len(assert_same(find(str(tmp_path / "*.parquet")), n_bytes=32)) == 3


def test_small_row_groups_are_read_together_and_large_ones_stay_whole(tmp_path):
    frame = pa.table({"a": np.arange(12.0), "b": np.arange(12.0)})
    write(frame, tmp_path / "1.parquet", 3)
    chunks = split(find(str(tmp_path / "1.parquet")), n_bytes=1 << 20)
    assert [chunk.n_rows for chunk in chunks] == [12]
    assert [chunk.n_rows for chunk in split(find(str(tmp_path / "1.parquet")), n_bytes=16)] == [
        3
    ] * 4


def test_a_chunk_can_be_pickled_and_reads_the_requested_columns(tmp_path):
    write(pa.table(COLUMNS), tmp_path / "a.parquet", 2)
    chunk = split(find(str(tmp_path / "a.parquet")), n_bytes=64)[1]
    moved = pickle.loads(pickle.dumps(chunk))
    assert len(pickle.dumps(chunk)) < 10_000
    assert_frame_equal(moved.read(["text", "whole"]), chunk.read()[["text", "whole"]])
    assert list(moved.read(["text"]).index) == [2, 3]


def test_chunks_of_a_stream_of_arrow_have_the_cells_and_types_of_the_whole(tmp_path):
    table = pa.table(COLUMNS)
    with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as stream:
        stream.write_table(table)
    source = find(str(tmp_path / "a.arrow"))
    chunks = assert_same(source, n_bytes=16 * len(COLUMNS), missing=["?", "6"], text=["code"])
    assert [chunk.n_rows for chunk in chunks] == [2, 2, 2]
