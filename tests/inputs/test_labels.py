"""Reading y: what counts as a label, which class it is, and what is said when y cannot be used."""

import datetime
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning

from semisquares._inputs.labels import labeled_mask, read_labels

NAN, NA = np.nan, pd.NA
DAY, NEXT = datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)


class OnlyAnArray:
    """An object that numpy can read and that has no shape of its own."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1, -1, 0, -1, 1])


# Every y below says: rows 0, 2, 4 are labeled, high, low, high.
INTS = {
    "list": [1, -1, 0, -1, 1],
    "list with None": [1, None, 0, -1, 1],
    "list with NaN": [1, NAN, 0, -1, 1],
    "tuple": (1, -1, 0, None, 1),
    "int64": np.array([1, -1, 0, -1, 1]),
    "int8": np.array([1, -1, 0, -1, 1], dtype=np.int8),
    "object with None": np.array([1, None, 0, -1, 1], dtype=object),
    "object with NA and NaT": np.array([1, NA, 0, pd.NaT, 1], dtype=object),
    "numpy scalars": [np.int64(1), np.float64("nan"), np.int64(0), -1, np.int32(1)],
    "masked array": np.ma.array([1, 0, 0, 1, 1], mask=[0, 1, 0, 1, 0]),
    "only __array__": OnlyAnArray(),
    "pandas": pd.Series([1, -1, 0, -1, 1], index=[7, 7, 3, 2, 1]),
    "pandas index": pd.Index([1, -1, 0, -1, 1]),
    "pandas Int64": pd.Series([1, NA, 0, -1, 1], dtype="Int64"),
    "pandas Int64 array": pd.array([1, NA, 0, -1, 1], dtype="Int64"),
    "pandas pyarrow": pd.Series([1, None, 0, -1, 1], dtype="int64[pyarrow]"),
    "pandas object": pd.Series([1, None, 0, NAN, 1], dtype=object),
    "pandas category": pd.Series([1, None, 0, -1, 1], dtype="category"),
    "polars": pl.Series([1, None, 0, -1, 1]),
}
FLOATS = {
    "list": [1.0, NAN, 0.0, -1.0, 1.0],
    "float64": np.array([1.0, NAN, 0.0, -1.0, 1.0]),
    "float32": np.array([1.0, NAN, 0.0, -1.0, 1.0], dtype=np.float32),
    "pandas": pd.Series([1.0, None, 0.0, -1.0, 1.0]),
    "pandas Float64": pd.Series([1.0, NA, 0.0, -1.0, 1.0], dtype="Float64"),
    "polars null and NaN": pl.Series([1.0, None, 0.0, NAN, 1.0]),
}
BOOLS = {
    "list with the marker": [True, -1, False, -1, True],
    "list with None": [True, None, False, None, True],
    "object": np.array([True, None, False, NAN, np.True_], dtype=object),
    "pandas boolean": pd.Series([True, NA, False, NA, True], dtype="boolean"),
    "polars": pl.Series([True, None, False, None, True]),
}
STRINGS = {
    "list with the marker": ["b", -1, "a", -1, "b"],
    "list with None": ["b", None, "a", None, "b"],
    "list with NaN": ["b", NAN, "a", None, "b"],
    "object": np.array(["b", None, "a", NAN, "b"], dtype=object),
    "object with NA and NaT": np.array(["b", NA, "a", pd.NaT, "b"], dtype=object),
    "StringDType": np.array(["b", NA, "a", NA, "b"], dtype=np.dtypes.StringDType(na_object=NA)),
    "pandas str": pd.Series(["b", None, "a", None, "b"]),
    "pandas string": pd.Series(["b", NA, "a", NA, "b"], dtype="string"),
    "pandas object": pd.Series(["b", None, "a", NAN, "b"], dtype=object),
    "pandas Categorical": pd.Categorical(["b", None, "a", None, "b"], categories=["z", "b", "a"]),
    "polars": pl.Series(["b", None, "a", None, "b"]),
    "polars Categorical": pl.Series(["b", None, "a", None, "b"], dtype=pl.Categorical),
}
DATES = {
    "numpy": np.array([NEXT, "NaT", DAY, "NaT", NEXT], dtype="datetime64[D]"),
    "pandas": pd.Series(pd.to_datetime([NEXT, None, DAY, None, NEXT])),
    "polars": pl.Series([NEXT, None, DAY, None, NEXT]),
}
KINDS = [
    pytest.param(y, np.array(classes), kinds, id=f"{what}: {name}")
    for what, cases, classes, kinds in [
        ("ints", INTS, [0, 1], "i"),
        ("floats", FLOATS, [0.0, 1.0], "f"),
        ("bools", BOOLS, [False, True], "b"),
        ("strings", STRINGS, ["a", "b"], "UO"),
        ("dates", DATES, np.array([DAY, NEXT], dtype="datetime64[us]"), "M"),
    ]
    for name, y in cases.items()
]


@pytest.mark.parametrize(("y", "classes", "kinds"), KINDS)
def test_every_kind_of_y_gives_the_same_labels(y, classes, kinds):
    labels = read_labels(y, n_rows=5)
    assert_array_equal(labels.labeled, [0, 2, 4])
    assert_array_equal(labels.codes, [1, 0, 1])
    assert_array_equal(labels.classes, classes)
    assert labels.classes.dtype.kind in kinds
    assert labels.labeled.dtype == labels.codes.dtype == np.intp
    assert labels.n_rows == 5


@pytest.mark.parametrize(("y", "classes", "kinds"), KINDS)
def test_the_mask_of_every_kind_of_y_is_the_same(y, classes, kinds):
    assert_array_equal(labeled_mask(y), [True, False, True, False, True], strict=True)


@pytest.mark.parametrize(
    "y",
    [
        np.array([[1], [-1], [0]]),
        [[1], [None], [0]],
        pd.DataFrame({"y": pd.array([1, NA, 0], dtype="Int64")}),
        pl.DataFrame({"y": [1, None, 0]}),
        np.ma.array([[1], [1], [0]], mask=[[0], [1], [0]]),
    ],
    ids=["numpy", "list", "pandas", "polars", "masked"],
)
def test_a_column_vector_is_read_with_a_warning(y):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array"):
        labels = read_labels(y)
    assert_array_equal(labels.labeled, [0, 2])
    assert_array_equal(labels.classes, np.array([0, 1]), strict=True)


@pytest.mark.parametrize(
    "y",
    [
        [2, -1, 0],
        [2.0, -1.0, 0.0],
        [True, False],
        ["b", "c", "a"],
        np.array(["bbb", "c"]),
        np.array(["b", "c"], dtype=object),
        np.array([3, 200], dtype=np.uint8),
        np.array(["2024-01-02", "2024-01-01"], dtype="datetime64[D]"),
    ],
    ids=str,
)
def test_classes_are_those_of_numpy_unique(y):
    assert_array_equal(read_labels(y, unlabeled=None).classes, np.unique(y), strict=True)


@pytest.mark.parametrize(
    ("y", "unlabeled", "labeled"),
    [
        (np.array(["a", "?", "b"]), "?", [0, 2]),
        (pd.Series(["a", "?", "b", None]), "?", [0, 2]),
        (pl.Series(["a", "-1", "b"]), "-1", [0, 2]),
        (["a", "", "b"], "", [0, 2]),
        ([1, 99, 2, -1], 99, [0, 2, 3]),
        ([1, 99, 2], np.int64(99), [0, 2]),
        ([1.0, 0.0, NAN], 0.5, [0, 1]),
        (np.array([1, 0]), "?", [0, 1]),
        (np.array([1, 255], dtype=np.uint8), -1, [0, 1]),
        (pd.Series(["b", "?", "a"], dtype="category"), "?", [0, 2]),
        ([1, NAN, 0], NAN, [0, 2]),
        ([1, NA, 0], NA, [0, 2]),
    ],
)
def test_any_scalar_can_be_the_marker(y, unlabeled, labeled):
    assert_array_equal(read_labels(y, unlabeled=unlabeled).labeled, labeled)
    assert_array_equal(np.flatnonzero(labeled_mask(y, unlabeled)), labeled)


@pytest.mark.parametrize("y", [[1, -1, None], np.array([1.0, -1.0, NAN]), pl.Series([1, -1, None])])
def test_without_a_marker_minus_one_is_a_class_and_missing_stays_missing(y):
    labels = read_labels(y, unlabeled=None)
    assert_array_equal(labels.classes, [-1, 1])
    assert_array_equal(labels.labeled, [0, 1])


def test_without_a_marker_the_string_none_is_a_class():
    with pytest.warns(UserWarning, match="the text 'None' as the label of 1 row,"):
        labels = read_labels(["None", "a"], unlabeled=None)
    assert_array_equal(labels.classes, ["None", "a"])


def test_ints_beyond_the_precision_of_floats_stay_exact_beside_missing_values():
    big = 2**53
    for y in pd.Series([big, NA, big + 1], dtype="Int64"), pl.Series([big, None, big + 1]):
        assert read_labels(y).classes.tolist() == [big, big + 1]


@pytest.mark.parametrize(
    "y",
    [
        np.array([-(2**63), 2**63 - 1, 5]),
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array([-128, 127, 0], dtype=np.int8),
        np.array([-1e300, 1e300, 0.0]),
        [2**70, 2**71, 3],
    ],
    ids=str,
)
def test_extreme_numbers_are_classes_like_others(y):
    labels = read_labels(y, unlabeled=None)
    assert labels.classes.tolist() == sorted(set(y))
    assert labels.classes[labels.codes].tolist() == list(y)


def test_reading_leaves_y_as_it_was_and_shares_no_memory_with_it():
    y = np.array([0, 1, 1, 0])
    labels = read_labels(y)
    labels.codes[:] = 7
    assert_array_equal(y, [0, 1, 1, 0])


LABELS = [
    st.integers(-3, 3),
    st.integers(-(2**62), 2**62),
    st.booleans(),
    st.integers(-9, 9).map(float),
    st.text("ab?-", min_size=1, max_size=3),
]
COLUMNS = [st.lists(st.sampled_from([None, NAN, -1]) | values, max_size=30) for values in LABELS]


@given(st.one_of(COLUMNS).filter(lambda y: len(set(y) - {None, NAN, -1}) > 1))
def test_mask_and_codes_reconstruct_y(y):
    mask, labels = labeled_mask(y), read_labels(y)
    column = np.array(y, dtype=object)
    assert_array_equal(np.flatnonzero(mask), labels.labeled)
    assert set(column[~mask]) <= {None, NAN, -1}
    assert column[mask].tolist() == labels.classes[labels.codes].tolist()
    assert labels.classes.tolist() == sorted(set(column[mask]))


NO_LABEL = "None of the 3 rows of y has a label, as missing values (NaN, None, NA) and unlabeled="
ERRORS = {
    "y is None": (None, {}, "requires y to be passed, but the target y is None"),
    "all marked": ([-1, -1, -1], {}, NO_LABEL + "-1 mark rows without one; label rows"),
    "all NaN": (np.full(3, NAN), {}, NO_LABEL + "-1"),
    "all missing": (pd.Series([None] * 3), {"unlabeled": "?"}, NO_LABEL + "'?'"),
    "all missing, polars": (pl.Series([None] * 3), {}, NO_LABEL),
    "no rows": ([], {}, "None of the 0 rows of y has a label"),
    "one class": ([1, 1, None], {}, "one class only, 1, and a classifier needs two; label some"),
    "one class and the marker": (
        [1, -1, -1],
        {},
        "pass unlabeled=None (or another marker) if -1 is a class, because rows with it (2 here) "
        'were read as "no label".',
    ),
    "one string class": (["a", "?", "a"], {"unlabeled": "?"}, "one class only, 'a'"),
    "marker as a string": (
        ["1", "-1"],
        {},
        "y holds the string '-1' but unlabeled=-1 is not a string; pass unlabeled='-1' if it marks "
        "missing labels, or unlabeled=None if it is a class.",
    ),
    "marker as a numpy string": (np.array(["a", -1, "b"]), {}, "pass unlabeled='-1'"),
    "marker as a pandas string": (pd.Series(["a", "-1"]), {}, "pass unlabeled='-1'"),
    "wrong length": ([0, 1, 1], {"n_rows": 4}, "y has 3 rows but X has 4; give y one value per"),
    "two columns": (np.eye(2), {}, "y should be a 1d array, got an array of shape (2, 2) instead"),
    "frame": (pd.DataFrame(np.eye(3)), {}, "got an array of shape (3, 3) instead"),
    "polars frame": (pl.DataFrame({"a": [1], "b": [0]}), {}, "shape (1, 2)"),
    "a scalar": (3, {}, "got an array of shape () instead"),
    "a string": ("abc", {}, "got an array of shape () instead"),
    "sparse": (csr_array(np.eye(2)), {}, "y is sparse, of shape (2, 2); pass a dense column"),
    "lists": ([[1, 2], [3]], {}, "y holds a list in a row; pass one label per row."),
    "arrays": ([np.ones(2), np.ones(3)], {}, "y holds a ndarray in a row"),
    "infinite": ([0.0, np.inf], {}, "y holds an infinite label; use NaN for a row without"),
    "minus infinite": (np.array([0.0, -np.inf]), {}, "y holds an infinite label"),
    "continuous": ([0.5, 1.7, NAN], {}, "Unknown label type: continuous, as y holds 0.5;"),
    "continuous float32": (np.array([1, 1.5], np.float32), {}, "Unknown label type: continuous"),
    "continuous polars": (pl.Series([0.5, None]), {}, "Unknown label type: continuous"),
    "complex": (np.array([1j, 2]), {}, "Unknown label type: complex128; make the labels in y"),
    "bytes": (np.array([b"a", b"b"]), {}, "Unknown label type: bytes_; make the labels in y"),
    "bytes objects": ([b"a", b"b"], {}, "Unknown label type: bytes; make the labels in y ints"),
    "ints and strings": ([0, "a", None], {}, "y mixes labels of type int and str; make them all"),
    "bools and strings": ([True, "a"], {}, "y mixes labels of type bool and str; make them all"),
    "marker is a list": ([0, 1], {"unlabeled": [0, 1]}, "unlabeled=[0, 1] is not a scalar; pass"),
}


@pytest.mark.parametrize(("y", "options", "sentence"), ERRORS.values(), ids=ERRORS.keys())
def test_what_cannot_be_read_is_said_in_one_sentence(y, options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)) as error:
        read_labels(y, **options)
    assert re.fullmatch(r"[^\n]*[^.]\.", str(error.value))
    assert ". " not in str(error.value)


def test_one_class_without_the_marker_does_not_speak_of_the_marker():
    with pytest.raises(ValueError, match=r"another class\.$"):
        read_labels([1, 1, None])


def calls_to_read(y):
    """Count the functions that are called, in Python and in C, while y is read."""
    calls = []
    sys.setprofile(lambda frame, event, function: calls.append(event))
    try:
        read_labels(y)
    finally:
        sys.setprofile(None)
    return sum(event.endswith("call") for event in calls)


def test_reading_an_integer_y_takes_fewer_calls_than_rows_whatever_its_length():
    y = np.random.default_rng(0).integers(-1, 2, 276)
    assert calls_to_read(y) == calls_to_read(np.tile(y, 100)) < len(y)
