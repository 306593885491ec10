"""Tables of very many columns: work that grows with the columns, not with their square."""

from __future__ import annotations

import io
import sys
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from semisquares.tables import TableError, find, fit_table, prepare, read
from semisquares.tables._options import check_column_options
from semisquares.tables._written import predictions_among
from semisquares.tables.io import MissingWords, TableFile, iter_chunks, split
from semisquares.tables.io import _names as column_names
from semisquares.tables.io._arrow import ArrowReader
from semisquares.tables.io._names import check_exist, check_names, check_same
from semisquares.tables.models.files import dumps, loads
from support.table_files import bytes_of, put

GROWTH = 2.2
"""Cost of twice the columns: twice as much, and a little for work that grows in steps."""


class Name(str):
    """A name that counts how often it is hashed or compared."""

    __slots__ = ()
    looks = 0

    def __hash__(self):
        Name.looks += 1
        return super().__hash__()

    def __eq__(self, other):
        Name.looks += 1
        return super().__eq__(other)


def looks_at(call, n_columns):
    """Count how often a call hashes or compares the names of columns."""
    names = [Name(f"y_soft_{place}") for place in range(n_columns)]
    others = [Name(name) for name in names]
    Name.looks = 0
    call(names, others)
    return Name.looks


CHECKS = {
    "check_names": lambda names, _: check_names(names, "a.csv"),
    "check_same": lambda names, others: check_same(names, "a.csv", others, "b.csv"),
    "check_exist": lambda names, others: check_exist(others, names, "a.csv"),
    "columns to leave out": lambda names, others: check_column_options(
        names, {}, others, ["number"]
    ),
    "kinds of columns": lambda names, others: check_column_options(
        names, dict.fromkeys(others, "number"), (), ["number"]
    ),
    "predictions_among": lambda names, _: predictions_among(names, "y"),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_names_are_looked_at_in_proportion_to_the_columns(check):
    assert looks_at(check, 800) <= GROWTH * looks_at(check, 400)


def wide(n_columns, n_rows=12):
    """Return a table of numbers, eight of whose rows have a label."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, n_columns)).round(3)).add_prefix("x")
    labels = np.where(np.arange(n_rows) < 8, np.where(np.arange(n_rows) % 2, "a", "b"), None)
    return frame.assign(y=labels)


def calls_of(work):
    """Count the calls of functions that some work takes."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def from_file_to_predictions(path):
    frame = read(find(path), labels=("y",))
    given = {"alpha": 1.0, "weight": 1.0, "folds": 2, "repeats": 1}
    model = fit_table(prepare(frame, "y"), method="soft", **given)
    return loads(dumps(model)).predict(frame)


def test_the_way_from_a_file_to_predictions_grows_with_the_columns(tmp_path):
    paths = {n: str(tmp_path / f"{n}.csv") for n in (10, 100, 200)}
    for n_columns, path in paths.items():
        wide(n_columns).to_csv(path, index=False)
    from_file_to_predictions(paths[10])  # so that imports and caches do not count
    calls = [calls_of(lambda: from_file_to_predictions(path)) for path in paths.values()]  # noqa: B023
    assert calls[2] - calls[0] <= GROWTH * (calls[1] - calls[0])


def objects_in_file(n_columns):
    """Count the objects that a model file describes one by one."""
    prepared = prepare(wide(n_columns), "y")
    given = {"alpha": 1.0, "weight": 1.0, "folds": 2, "repeats": 1}
    data = dumps(fit_table(prepared, method="soft", **given))
    with ZipFile(io.BytesIO(data)) as archive:
        return len(archive.namelist()), archive.read("model.json").count(b"{")


def test_a_model_file_has_as_many_arrays_for_many_columns_and_few_objects():
    (arrays, objects), (more_arrays, more_objects) = objects_in_file(20), objects_in_file(60)
    assert more_arrays == arrays
    assert more_objects - objects <= 4 * 40  # type, description, summary, importance


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(column_names, "MOST_COLUMNS", 3)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("way", [read, lambda source: list(iter_chunks(source)), split])
def test_a_table_of_more_columns_than_can_be_worked_on_is_refused(tmp_path, few, name, way):
    table = pa.table({place: [1, 2] for place in "abcd"})
    content = {"a.csv": "a,b,c,d\n1,2,3,4\n", "a.parquet": bytes_of(table, parquet.write_table)}
    source = find(put(tmp_path, name, content[name]))
    with pytest.raises(TableError, match=r" has 4 columns, and a table may have 3; leave out"):
        way(source)


def test_a_frame_of_more_columns_than_can_be_worked_on_is_refused(few):
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6], "y": ["p", "q"]})
    with pytest.raises(TableError, match="The table has 4 columns, and a table may have 3"):
        prepare(frame, "y")
    assert prepare(frame.drop(columns="a"), "y").X.shape == (2, 2)


def test_an_index_of_pandas_is_found_among_many_columns(tmp_path):
    path = str(tmp_path / "a.parquet")
    pd.DataFrame({f"x{k}": [1, 2] for k in range(50)}, index=["p", "q"]).to_parquet(path)
    file = ArrowReader(TableFile(path, path), "parquet", MissingWords())
    assert (len(file.names), file.index) == (50, ["__index_level_0__"])
