"""The same answers from rows in blocks that Dask holds, whatever the blocks are."""

import warnings
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import clone
from sklearn.exceptions import ConvergenceWarning

from semisquares import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.core import certificate
from semisquares.core.rows import blocks
from semisquares.core.rows.blocks import NEAR_SHARE

MODELS = {
    "supervised": LeastSquaresClassifier(0.5),
    "soft": SoftLabelClassifier(0.5),
    "soft, no intercept": SoftLabelClassifier(0.5, fit_intercept=False, unlabeled_weight=0.3),
    "soft, no ridge": SoftLabelClassifier(0.0, class_weight="balanced"),
    "soft by blocks": SoftLabelClassifier(5.0, solver="block", tol=1e-24, max_iter=100_000),
    "hard": HardLabelClassifier(0.5),
    "hard from soft": HardLabelClassifier(0.5, init="soft", certify=True),
}


def table(n_classes=2, n_rows=300, n_columns=4, n_labels=40, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_rows)
    X = rng.normal(size=(n_rows, n_columns)) + 3.0 * np.eye(n_classes, n_columns)[truth]
    y = np.where(rng.permutation(n_rows) < n_labels, truth, -1)
    return X, y


def in_blocks(X, sizes):
    return da.from_array(X, chunks=(tuple(sizes), X.shape[1]))


def fitted(model, X, y, **options):
    return clone(model).fit(X, y, **options)


def assert_same(found, expected):
    largest = np.abs(expected.coef_).max()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-9 * largest)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=0, atol=1e-9 * largest)


def cut(n_rows, cuts):
    """Return sizes of blocks: the distances of sorted cuts, so that some may be 0."""
    ends = [0, *sorted(min(cut, n_rows) for cut in cuts), n_rows]
    return [b - a for a, b in pairwise(ends)]


@pytest.fixture(autouse=True)
def one_after_the_other():
    """Small tasks are fastest in the calling thread; tests about schedulers choose their own."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_blocks_of_any_size_give_the_fit_in_memory(name, n_classes):
    X, y = table(n_classes)
    blocks = in_blocks(X, [0, 1, 120, 0, 178, 1])
    expected, found = fitted(MODELS[name], X, y), fitted(MODELS[name], blocks, y)
    assert_same(found, expected)


def test_the_path_from_soft_to_hard_labels_is_followed_in_blocks_too():
    X, y = table(n_rows=60, n_labels=10)
    model = HardLabelClassifier(0.5, init="path")
    assert_same(fitted(model, in_blocks(X, [60]), y), fitted(model, X, y))


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 120), max_size=8), seed=st.integers(0, 10**6))
def test_no_way_of_cutting_changes_the_soft_fit(cuts, seed):
    X, y = table(n_rows=120, n_labels=12, seed=seed)
    found = SoftLabelClassifier(0.1).fit(in_blocks(X, cut(120, cuts)), y)
    assert_same(found, SoftLabelClassifier(0.1).fit(X, y))
    assert found.certificate_ < 1e-12


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("write", [np.float32, sparse.csr_array])
def test_blocks_of_any_kind_give_the_fit_in_memory(write, n_classes):
    X, y = table(n_classes)
    X[np.abs(X) < 0.5] = 0.0
    expected = SoftLabelClassifier().fit(write(X), y)
    blocks = in_blocks(X, [150, 150]).map_blocks(write, dtype=write(X).dtype)
    assert_same(SoftLabelClassifier().fit(blocks, y), expected)


def test_columns_in_several_blocks_are_put_together():
    X, y = table()
    blocks = da.from_array(X, chunks=(100, 2))
    assert_same(SoftLabelClassifier().fit(blocks, y), SoftLabelClassifier().fit(X, y))


def test_columns_far_from_the_origin_lose_no_digits():
    X, y = table()
    far = X + 1e7
    blocks = in_blocks(far, [100, 200])
    expected = SoftLabelClassifier(0.5).fit(far, y)
    np.testing.assert_allclose(
        SoftLabelClassifier(0.5).fit(blocks, y).coef_, expected.coef_, rtol=1e-6
    )


def test_many_rows_start_from_a_sample_and_end_at_the_same_place():
    X, y = table(n_rows=60_000, n_labels=60)
    found = SoftLabelClassifier().fit(in_blocks(X, [10_000] * 6), y)
    assert_same(found, SoftLabelClassifier().fit(X, y))


def test_the_certificate_takes_no_pass_if_the_last_sweep_proves_enough(monkeypatch):
    monkeypatch.setattr(certificate, "GOOD_ENOUGH", 0.0)  # as if rounding hid the last digits
    X, y = table(n_rows=2_000)
    model = SoftLabelClassifier().fit(in_blocks(X, [500] * 4), y)
    assert {made.what for made in model.solution_.passes} <= {"sum_labeled", "sample", "sweep"}
    assert model.certificate_ <= 1e-13


def test_more_blocks_than_are_gathered_at_once_keep_their_order():
    X, y = table()
    sizes = [*range(1, 24), 24]
    found = SoftLabelClassifier().fit(in_blocks(X, sizes), y)
    assert found.label_distributions_.chunks[0] == tuple(sizes)
    assert_same(found, SoftLabelClassifier().fit(X, y))


def test_a_pass_records_the_share_of_the_blocks_that_it_read():
    X, y = table(n_labels=300)
    y[75:] = -1
    made = SoftLabelClassifier().fit(in_blocks(X, [75] * 4), y).solution_.passes
    assert [one.share for one in made] == [0.25] + [1.0] * (len(made) - 1)
    assert made[-1].what == "sweep"


@pytest.mark.parametrize(
    ("model", "sizes"), [(SoftLabelClassifier(), [90]), (LeastSquaresClassifier(), [10, 90, 200])]
)
def test_only_blocks_with_labels_are_read_for_them_if_others_are_read_later(
    model, sizes, monkeypatch
):
    X, y = table(n_labels=300)
    y[:10] = y[100:] = -1
    read, summed = [], blocks._sum_labeled
    monkeypatch.setattr(
        blocks, "_sum_labeled", lambda rows, *args: read.append(rows.n_rows) or summed(rows, *args)
    )
    assert_same(fitted(model, in_blocks(X, [10, 90, 200]), y), fitted(model, X, y))
    assert sorted(read) == sizes


@pytest.mark.parametrize(
    "model", [SoftLabelClassifier(), HardLabelClassifier(), LeastSquaresClassifier()]
)
def test_nan_is_found_in_blocks_without_labels(model):
    X, y = table(n_labels=300)
    X[250, 1], y[100:] = np.nan, -1
    with pytest.raises(ValueError, match="X contains NaN, 1 times, first in column"):
        model.fit(in_blocks(X, [100, 200]), y)


def test_numbers_whose_sum_only_float64_can_hold_are_no_infinity():
    X, y = table(n_labels=300)
    y[100:] = -1
    large = X.astype(np.float32)
    large[100:, 0] = 3e38
    blocks = in_blocks(large, [100, 200])
    model = LeastSquaresClassifier()
    assert_same(fitted(model, blocks, y), fitted(model, large, y))


def test_more_rows_need_no_more_passes():
    passes = []
    for n_rows in (5_000, 500_000):
        X, y = table(n_rows=n_rows, n_labels=50)
        model = SoftLabelClassifier().fit(da.from_array(X, chunks=(n_rows // 5, -1)), y)
        passes.append(model.solution_.n_passes)
    assert passes[1] <= passes[0]


def frame_of(X, y):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return frame.assign(kind=np.array(["a", "b", None], dtype=object)[y])


def test_a_frame_with_missing_text_labels_is_fitted_as_it_is():
    X, y = table()
    frame = frame_of(X, y)
    parts = dd.from_pandas(frame, npartitions=4)
    columns = list(frame.columns[:-1])
    expected = SoftLabelClassifier().fit(frame[columns], frame["kind"])
    found = SoftLabelClassifier().fit(parts[columns], parts["kind"])
    assert_same(found, expected)
    assert found.classes_.tolist() == ["a", "b"]
    assert found.feature_names_in_.tolist() == columns
    assert (
        found.predict(parts[columns]).compute().tolist()
        == expected.predict(frame[columns]).tolist()
    )


def test_a_part_of_a_frame_is_fitted_as_the_copy_that_a_worker_is_sent():
    X, y = table(n_rows=301, n_columns=9)
    wide = frame_of(X, y)
    parts = [wide.iloc[:120], wide.iloc[120:]]
    copies = [part.copy() for part in parts]

    def weights(parts):
        frame = dd.from_delayed([dask.delayed(part) for part in parts], meta=wide.iloc[:0])
        features = [name for name in wide.columns if name != "kind"]
        return SoftLabelClassifier().fit(frame[features], frame["kind"]).coef_

    np.testing.assert_array_equal(weights(parts), weights(copies))


def test_files_are_fitted_whatever_share_of_their_columns_is_read(tmp_path):
    X, y = table(n_columns=10)
    frame = frame_of(X, y)
    for k, part in enumerate(np.array_split(np.arange(len(frame)), 6)):
        frame.iloc[part].to_parquet(tmp_path / f"{k}.parquet")
    files = dd.read_parquet(tmp_path)
    for columns in (list(frame.columns[:-1]), ["x0", "x3"]):
        expected = SoftLabelClassifier().fit(frame[columns], frame["kind"])
        found = SoftLabelClassifier().fit(files[columns], files["kind"])
        assert_same(found, expected)
        assert len(found.predict(files[columns]).chunks[0]) == 6


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.tolist(),
        lambda y: pd.Series(y).replace(-1, pd.NA).astype("Int64"),
        lambda y: da.from_array(y, chunks=70),
        lambda y: np.where(y < 0, np.nan, y),
        lambda y: da.from_array(np.where(y < 0, np.nan, y), chunks=100),
    ],
    ids=["list", "pandas", "other blocks", "NaN", "NaN in blocks"],
)
def test_labels_may_be_written_in_any_way(write):
    X, y = table()
    found = SoftLabelClassifier().fit(in_blocks(X, [100, 100, 100]), write(y))
    assert_same(found, SoftLabelClassifier().fit(X, y))


@pytest.mark.parametrize("model", [SoftLabelClassifier(), LeastSquaresClassifier()])
def test_weights_of_rows_count_as_in_memory(model):
    X, y = table()
    weight = np.random.default_rng(1).uniform(0, 3, size=len(y))
    expected = fitted(model, X, y, sample_weight=weight)
    blocks = in_blocks(X, [299, 1])
    assert_same(fitted(model, blocks, y, sample_weight=weight), expected)
    assert_same(fitted(model, blocks, y, sample_weight=da.from_array(weight)), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_predictions_of_blocks_wait_until_they_are_asked_for(method, n_classes):
    X, y = table(n_classes)
    model = SoftLabelClassifier().fit(X, y)
    read = []
    blocks = in_blocks(X, [100, 200]).map_blocks(lambda x: read.append(len(x)) or x, dtype=X.dtype)
    read.clear()
    waiting = getattr(model, method)(blocks)
    assert isinstance(waiting, da.Array)
    assert not read
    expected = getattr(model, method)(X)
    assert waiting.shape == expected.shape
    np.testing.assert_allclose(waiting.compute(), expected, rtol=0, atol=1e-14)
    assert model.score(blocks, y) == model.score(X, y)


@pytest.mark.parametrize("model", [SoftLabelClassifier(), HardLabelClassifier()])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_of_all_rows_wait_too(model, n_classes):
    X, y = table(n_classes)
    expected, found = fitted(model, X, y), fitted(model, in_blocks(X, [99, 201]), y)
    np.testing.assert_allclose(
        found.label_distributions_.compute(), expected.label_distributions_, atol=1e-9
    )
    np.testing.assert_array_equal(found.transduction_.compute(), expected.transduction_)


def test_only_small_sums_and_few_rows_are_sent():
    X, y = table(n_rows=200_000, n_columns=10, n_labels=50)
    model = SoftLabelClassifier().fit(da.from_array(X, chunks=(20_000, -1)), y)
    one_block = 20_000 * 10 * 8
    sums, rows_near_a_border = 10 * (11 * 11 + 11 * 6) * 8, 1.5 * X.nbytes / NEAR_SHARE
    sweeps = model.solution_.passes[2:]
    assert sweeps
    assert max(made.bytes_sent for made in sweeps) < sums + rows_near_a_border
    assert model.solution_.passes[0].bytes_sent < one_block / 10


def test_no_gram_matrix_is_sent_that_no_step_needs():
    X, y = table(n_rows=40, n_columns=4200, n_labels=10)
    model = SoftLabelClassifier(tol=1e-3).fit(in_blocks(X, [40]), y)
    assert max(made.bytes_sent for made in model.solution_.passes) < 2 * X.nbytes
    assert model.certificate_ <= 1e-3


def test_sparse_columns_that_are_too_many_for_alpha_zero_are_told_so():
    X, y = table(n_columns=300, n_labels=299)
    blocks = in_blocks(X * (X > 2.5), [150, 150]).map_blocks(sparse.csr_array, dtype=float)
    with pytest.raises(ValueError, match="alpha=0 needs Gram matrices, but X has 300 sparse"):
        SoftLabelClassifier(0.0).fit(blocks, y)


def test_passes_are_told_when_asked_for(capsys):
    X, y = table()
    SoftLabelClassifier(verbose=1).fit(in_blocks(X, [100, 200]), y)
    assert "rows changed; pass of" in capsys.readouterr().out


BAD = {
    "blocks of unknown length": (
        lambda X, y: (X[X[:, 0] > -99], np.asarray(y)),
        "call X.compute_chunk_sizes",
    ),
    "other rows": (lambda X, y: (X, y[:-1]), "y has 299 rows but X has 300"),
    "other blocks": (
        lambda X, y: (X[X[:, 0] > -99], da.from_array(y, chunks=300)),
        "y has 1 blocks and X has 2",
    ),
    "blocks of other lengths": (
        lambda X, y: (X[X[:, 0] > -99], da.from_array(y, chunks=((99, 201),))),
        "A block of X has .* rows and its block of y",
    ),
    "no labels": (lambda X, y: (X, np.full(300, -1)), "None of the rows of y has a label"),
    "one class": (lambda X, y: (X, np.where(y == 1, -1, y)), "one class only"),
    "numbers and text": (
        lambda X, y: (X, np.array([0] * 150 + ["a"] * 150, dtype=object)),
        "mixes labels",
    ),
    "NaN": (lambda X, y: (da.where(X > 2.5, np.nan, X), y), "X contains NaN"),
    "infinity": (lambda X, y: (da.where(X > 2.5, np.inf, X), y), "X contains infinity"),
    "huge": (lambda X, y: (X * 1e200, y), "rescale the columns"),
    "three dimensions": (lambda X, y: (X[:, :, None], y), "give rows and a known number"),
    "y of two dimensions": (lambda X, y: (X, da.from_array(np.c_[y, y])), "y has 2 dimensions"),
    "text": (lambda X, y: (da.full((300, 4), "one", chunks=(150, 4)), y), "could not convert"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence(name):
    X, y = table()
    spoil, sentence = BAD[name]
    with pytest.raises(ValueError, match=sentence):
        SoftLabelClassifier().fit(*spoil(in_blocks(X, [100, 200]), y))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (SoftLabelClassifier(init="random"), "init='random' is for rows in memory"),
        (HardLabelClassifier(n_init=3), "n_init=3"),
        (HardLabelClassifier(solver="enumerate"), "solver='enumerate'"),
        (SoftLabelClassifier(0.0), "pass alpha > 0"),
        (SoftLabelClassifierCV(), "searches among rows in memory"),
    ],
)
def test_what_needs_rows_in_memory_says_so(model, sentence):
    X, y = table(n_labels=4)
    blocks = in_blocks(np.hstack((X, X)), [100, 200])
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks, y)
    assert not hasattr(model, "coef_")


def test_columns_that_a_frame_lacks_are_named():
    X, y = table()
    parts = dd.from_pandas(frame_of(X, y), npartitions=2)
    model = SoftLabelClassifier().fit(parts[["x0", "x1"]], parts["kind"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(parts[["x0", "x2"]])


def test_sparse_blocks_far_from_the_origin_are_fitted_as_dense_ones():
    rng = np.random.default_rng(0)
    codes = np.arange(1000) % 2
    X = rng.normal(size=(1000, 3)) + 1.5 * codes[:, None]
    X[:, :2] += 1e7
    X[rng.random(1000) < 0.5, 2] = 0.0
    X[301, 0] = 0.0  # a zero that is left out of a column far from the origin, in no sample
    y = np.where(np.arange(1000) < 60, codes, -1)
    blocks = da.from_array(X, chunks=(250, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        dense = SoftLabelClassifier().fit(blocks, y)
        far = SoftLabelClassifier().fit(blocks.map_blocks(sparse.csr_matrix), y)
    np.testing.assert_allclose(far.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
    assert far.objective_ == pytest.approx(dense.objective_, rel=1e-6)
