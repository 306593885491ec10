"""Whatever holds the numbers, the model is the same; X is read in place and never densified."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from semisquares import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)

MODELS = [
    LeastSquaresClassifier(),
    SoftLabelClassifier(),
    SoftLabelClassifier(solver="block"),
    HardLabelClassifier(),
]
FEATURES = ["a", "b", "c", "d"]


@pytest.fixture(params=MODELS, ids=repr)
def model(request):
    return clone(request.param)


@pytest.fixture
def X():
    """Whole numbers, many of them zero: exact in every type."""
    drawn = np.random.default_rng(0).integers(-9, 10, (80, 4))
    return np.where(np.abs(drawn) < 4, 0, drawn).astype(np.float64)


@pytest.fixture
def y(X):
    return np.where(np.arange(80) % 3 == 0, X[:, 0] + X[:, 1] > 0, -1)


@pytest.fixture
def y_of_three(X):
    return np.where(np.arange(80) % 3 == 0, np.digitize(X[:, 0] + X[:, 1], [-3, 3]), -1)


def assert_same(model, plain, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=rtol, atol=atol)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=rtol, atol=atol)
    assert model.coef_.dtype == model.intercept_.dtype == np.float64


# X


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def every_other(X):
    """Return X as a view of every other row and column of a larger array."""
    larger = np.full((2 * X.shape[0], 2 * X.shape[1]), 7.0)
    larger[::2, ::2] = X
    return larger[::2, ::2]


def misaligned(X):
    """Return X at an address that no float64 should have."""
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64).reshape(X.shape)
    view[:] = X
    return view


DENSE = {
    "float64": np.array,
    "float32": np.float32,
    "float16": np.float16,
    "F order": np.asfortranarray,
    "F order, float32": lambda X: np.asfortranarray(X, dtype=np.float32),
    "read-only": read_only,
    "read-only, float32": lambda X: read_only(X.astype(np.float32)),
    "every other": every_other,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "big endian": lambda X: X.astype(">f8"),
    "misaligned": misaligned,
    "int64": np.int64,
    "int8": np.int8,
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
}
SPARSE = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "lil_array": sparse.lil_array,
    "csr, float32": lambda X: sparse.csr_array(X, dtype=np.float32),
    "csr, int": lambda X: sparse.csr_array(X, dtype=np.int64),
    "csr, every number zero or not": lambda X: every_entry(X),
    "csr, unsorted": lambda X: unsorted(X),
    "csr, duplicates": lambda X: duplicates(X),
}
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=FEATURES),
    "pandas, mixed numbers": lambda X: pd.DataFrame(X, columns=FEATURES).astype(
        {"a": "int8", "b": "float32", "c": "Int64"}
    ),
    "pandas, sparse": lambda X: pd.DataFrame(X, columns=FEATURES).astype(
        pd.SparseDtype("float64", 0.0)
    ),
    "pandas, pyarrow": lambda X: pd.DataFrame(X, columns=FEATURES).astype("double[pyarrow]"),
    "polars": lambda X: pl.DataFrame(X, schema=FEATURES),
    "polars, mixed numbers": lambda X: pl.DataFrame(X, schema=FEATURES).cast(
        {"a": pl.Int8, "b": pl.Float32}
    ),
}
FORMS = DENSE | SPARSE | FRAMES


def every_entry(X):
    """Return X as CSR with the zeros stored."""
    n, d = X.shape
    return sparse.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)))


def unsorted(X):
    """Return X as CSR with the columns of every row in falling order."""
    n, d = X.shape
    columns = np.tile(np.arange(d)[::-1], n)
    return sparse.csr_array((X[:, ::-1].ravel(), columns, np.arange(0, n * d + 1, d)))


def duplicates(X):
    """Return X as CSR with every number stored as two halves."""
    n, d = X.shape
    columns = np.tile(np.repeat(np.arange(d), 2), n)
    return sparse.csr_array((np.repeat(X / 2, 2), columns, np.arange(0, 2 * n * d + 1, 2 * d)))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_x_gives_the_model_of_the_plain_array(model, X, y, form):
    plain = clone(model).fit(X, y)
    given = FORMS[form](X)
    model.fit(given, y)
    assert_same(model, plain)
    np.testing.assert_allclose(
        model.decision_function(given), plain.decision_function(X), rtol=1e-10, atol=1e-12
    )
    np.testing.assert_array_equal(model.predict(given), plain.predict(X))


@pytest.mark.parametrize("form", ["float32", "F order", "every other", "csr_array", "polars"])
def test_every_form_of_x_gives_the_model_of_the_plain_array_with_three_classes(
    model, X, y_of_three, form
):
    plain = clone(model).fit(X, y_of_three)
    assert_same(model.fit(FORMS[form](X), y_of_three), plain, rtol=1e-9)


@pytest.mark.parametrize("form", ["float32", "F order", "csr_array", "csc_array"])
@pytest.mark.parametrize(
    "params", [{"fit_intercept": False}, {"alpha": 0.0}, {"alpha": 30}], ids=str
)
def test_every_form_of_x_gives_the_same_whatever_the_parameters(model, X, y, form, params):
    plain = clone(model).set_params(**params).fit(X, y)
    assert_same(model.set_params(**params).fit(FORMS[form](X), y), plain)


@pytest.mark.parametrize("form", ["float32", "F order", "every other", "csr_array", "csc_array"])
def test_every_form_of_an_x_with_more_columns_than_rows_gives_the_same(model, form):
    wide = np.random.default_rng(0).integers(-5, 6, (30, 70)).astype(np.float64)
    y = np.where(np.arange(30) % 2 == 0, wide[:, 0] > 0, -1)
    plain = clone(model).fit(wide, y)
    assert_same(model.fit(FORMS[form](wide), y), plain, rtol=1e-9)


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "csr, float32", "csr, unsorted"])
def test_every_form_of_an_x_too_wide_for_a_gram_matrix_gives_the_same(model, form):
    rng = np.random.default_rng(0)
    wide = np.where(rng.uniform(size=(40, 5000)) < 0.01, rng.integers(-5, 6, (40, 5000)), 0.0)
    y = np.where(np.arange(40) % 2 == 0, wide[:, 0] + rng.normal(size=40) > 0, -1)
    plain = clone(model).fit(wide, y)
    assert_same(model.fit(FORMS[form](wide), y), plain, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    "form", ["float32", "F order", "every other", "csr_matrix", "csr_array", "polars"]
)
def test_every_form_of_x_leads_to_the_same_choice(X, y, form):
    plain = SoftLabelClassifierCV().fit(X, y)
    model = SoftLabelClassifierCV().fit(FORMS[form](X), y)
    assert model.unlabeled_weight_ == plain.unlabeled_weight_
    np.testing.assert_allclose(model.alpha_, plain.alpha_, rtol=1e-12)
    assert_same(model, plain, rtol=1e-9)


@pytest.mark.parametrize("write", [np.array, sparse.csr_array, sparse.csc_matrix])
def test_float32_gives_the_model_of_the_same_numbers_in_float64(model, y, write):
    X = np.random.default_rng(0).normal(3.0, 1.0, size=(80, 4)).astype(np.float32)
    plain = clone(model).fit(X.astype(np.float64), y)
    X = write(X)
    assert_same(model.fit(X, y), plain)
    assert model.decision_function(X).dtype == np.float64
    np.testing.assert_allclose(
        model.decision_function(X), plain.decision_function(X.astype(np.float64)), rtol=1e-10
    )


def test_float32_far_from_the_origin_loses_no_digits(model, y):
    X = (1e4 + np.random.default_rng(0).normal(size=(80, 4))).astype(np.float32)
    plain = clone(model).fit(X.astype(np.float64), y)
    assert_same(model.fit(X, y), plain, rtol=1e-8)


def test_a_memory_map_gives_the_model_of_the_array(model, X, y, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(model.fit(mapped, y), clone(model).fit(X, y))


@pytest.mark.parametrize("form", ["pandas", "pandas, mixed numbers", "polars"])
def test_frames_leave_their_column_names(model, X, y, form):
    model.fit(FORMS[form](X), y)
    np.testing.assert_array_equal(model.feature_names_in_, FEATURES)


@pytest.mark.parametrize("form", DENSE)
def test_a_fit_does_not_change_a_dense_x(model, X, y, form):
    given = DENSE[form](X)
    before = np.array(given)
    model.fit(given, y)
    assert np.array(given).tobytes() == before.tobytes()


@pytest.mark.parametrize("form", SPARSE)
def test_a_fit_does_not_change_a_sparse_x(model, X, y, form):
    given = SPARSE[form](X)
    before = [getattr(given, part).copy() for part in parts_of(given)]
    model.fit(given, y)
    for part, old in zip(parts_of(given), before, strict=True):
        np.testing.assert_array_equal(getattr(given, part), old, strict=True)


def parts_of(X):
    return {"coo": ("data", "row", "col"), "lil": ("data", "rows")}.get(
        X.format, ("data", "indices", "indptr")
    )


def test_a_fit_changes_neither_y_nor_the_weights(model, X, y):
    weight = np.linspace(0.5, 2.0, 80)
    before = y.copy(), weight.copy()
    model.fit(X, y, weight)
    np.testing.assert_array_equal(y, before[0])
    np.testing.assert_array_equal(weight, before[1])


# y


def as_objects(y, names, missing):
    return np.array([missing if label == -1 else names[label] for label in y], dtype=object)


def categorical(y):
    return pd.Series(as_objects(y, ["no", "yes"], None)).astype("category")


def reversed_categorical(y):
    """Return categories in falling order, with one that no row has."""
    values = as_objects(y, ["no", "yes"], None)
    return pd.Series(pd.Categorical(values, categories=["yes", "no", "never"], ordered=True))


LABELS = {
    "list": (lambda y: y.tolist(), [0, 1]),
    "int8": (np.int8, [0, 1]),
    "float": (np.float64, [0, 1]),
    "float, NaN": (lambda y: np.where(y == -1, np.nan, y), [0, 1]),
    "bools and None": (lambda y: as_objects(y, [False, True], None), [False, True]),
    "bools and -1": (lambda y: as_objects(y, [False, True], -1).tolist(), [False, True]),
    "strings and None": (lambda y: as_objects(y, ["no", "yes"], None), ["no", "yes"]),
    "strings and NaN": (lambda y: as_objects(y, ["no", "yes"], np.nan).tolist(), ["no", "yes"]),
    "ints and None": (lambda y: as_objects(y, [3, 7], None).tolist(), [3, 7]),
    "None and -1": (
        lambda y: np.where(
            np.arange(80) % 2, as_objects(y, [3, 7], None), as_objects(y, [3, 7], -1)
        ),
        [3, 7],
    ),
    "pandas": (pd.Series, [0, 1]),
    "pandas, other index": (lambda y: pd.Series(y, index=np.arange(80)[::-1]), [0, 1]),
    "pandas, NA": (lambda y: pd.Series(y).replace(-1, None).astype("Int64"), [0, 1]),
    "pandas, boolean": (
        lambda y: pd.Series(as_objects(y, [False, True], None), dtype="boolean"),
        [False, True],
    ),
    "pandas, string": (
        lambda y: pd.Series(as_objects(y, ["no", "yes"], None), dtype="string"),
        ["no", "yes"],
    ),
    "pandas, categorical": (categorical, ["no", "yes"]),
    "pandas, falling categorical": (reversed_categorical, ["no", "yes"]),
    "polars": (lambda y: pl.Series(y), [0, 1]),
    "polars, null": (
        lambda y: pl.Series(as_objects(y, ["no", "yes"], None).tolist()),
        ["no", "yes"],
    ),
    "polars, categorical": (
        lambda y: pl.Series(as_objects(y, ["no", "yes"], None).tolist(), dtype=pl.Categorical),
        ["no", "yes"],
    ),
}


@pytest.mark.parametrize("form", LABELS)
def test_every_form_of_y_gives_the_model_of_the_plain_labels(model, X, y, form):
    plain = clone(model).fit(X, y)
    write, classes = LABELS[form]
    given = write(y)
    model.fit(X, given)
    assert_same(model, plain, rtol=1e-14)
    assert model.classes_.tolist() == classes
    assert model.predict(X).tolist() == np.array(classes)[plain.predict(X)].tolist()
    assert model.score(X, given) == plain.score(X, y)


@pytest.mark.parametrize("marker", [0, "?", "unknown", 99])
def test_any_marker_of_a_missing_label_will_do(model, X, y, marker):
    plain = clone(model).fit(X, y)
    given = as_objects(y, [["1", "2"], [1, 2]][isinstance(marker, int)], marker)
    model.set_params(unlabeled=marker).fit(X, given)
    assert_same(model, plain, rtol=1e-14)
    assert model.score(X, given) == plain.score(X, y)


@pytest.mark.parametrize("write", [list, pd.Series, np.float32, np.int64])
def test_every_form_of_weights_gives_the_same(model, X, y, write):
    weight = np.arange(80) % 3 + 1.0
    plain = clone(model).fit(X, y, weight)
    assert_same(model.fit(X, y, sample_weight=write(weight)), plain, rtol=1e-14)


# memory


def peak_of_fit(model, X, y):
    """Return how many bytes a fit holds at most, besides X and y; each thread holds blocks."""
    tracemalloc.start()
    try:
        with threadpool_limits(1):
            model.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return 200,000 rows of 50 columns, 80 MB, in memory and on disk; two classes far apart."""
    path = tmp_path_factory.mktemp("large") / "X.npy"
    X = np.random.default_rng(0).standard_normal((200_000, 50))
    X[::2, 0] += 6.0
    np.save(path, X)
    y = np.full(len(X), -1)
    y[:200] = np.arange(200) % 2
    return X, y, path


IN_PLACE = {
    "C": lambda X, path: X,
    "F": lambda X, path: np.asfortranarray(X),
    "read-only": lambda X, path: read_only(X),
    "memory map": lambda X, path: np.load(path, mmap_mode="r"),
    "rows of a larger array": lambda X, path: np.hstack((X, X))[:, :50],
}


@pytest.mark.parametrize("form", IN_PLACE)
@pytest.mark.parametrize("model", [SoftLabelClassifier(), HardLabelClassifier()], ids=repr)
def test_a_fit_does_not_copy_x(model, large, form):
    X, y, path = large
    given = IN_PLACE[form](X, path)
    assert peak_of_fit(clone(model), given, y) < 0.2 * X.nbytes


def test_a_supervised_fit_reads_the_labeled_rows_only(large):
    X, y, _ = large
    assert peak_of_fit(LeastSquaresClassifier(), X, y) < 0.02 * X.nbytes


def test_a_fit_of_float32_does_not_copy_x_to_float64(large):
    X, y, _ = large
    X = X.astype(np.float32)
    assert peak_of_fit(SoftLabelClassifier(), X, y) < 0.4 * X.nbytes


def sparse_table(n, d):
    """Return a sparse table with five numbers in every row, and labels for one row in ten."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, d, (n, 5)).ravel()
    X = sparse.csr_array((rng.normal(size=5 * n), (np.repeat(np.arange(n), 5), columns)), (n, d))
    return X, np.where(np.arange(n) % 10 == 0, np.asarray(X.sum(axis=1)) > 0, -1)


@pytest.mark.parametrize(
    "model",
    [SoftLabelClassifier(), SoftLabelClassifier(solver="block", tol=1e-6), HardLabelClassifier()],
    ids=repr,
)
@pytest.mark.parametrize(
    "shape", [(40_000, 1_000), (2_000, 20_000)], ids=["long", "too wide for a Gram matrix"]
)
def test_a_sparse_x_is_never_densified(model, shape):
    X, y = sparse_table(*shape)
    model = clone(model)
    assert peak_of_fit(model, X, y) < 0.15 * 8 * np.prod(shape)
    assert model.score(X, y) > 0.7


def test_a_sparse_x_with_many_columns_takes_less_than_the_dense_table():
    X, y = sparse_table(10_000, 1_500)
    assert peak_of_fit(SoftLabelClassifier(), X, y) < 0.9 * 8 * np.prod(X.shape)
