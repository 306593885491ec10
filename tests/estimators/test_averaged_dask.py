"""The averaged classifier on rows that Dask holds: the same answers, one pass, nothing gathered."""

from collections import Counter

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from semisquares import AveragedClassifier
from semisquares.families import Forest, HardLabelRidges, LeastSquares, Logistic
from support.made_rows import clusters

SIZES = (0, 1, 120, 0, 78, 1)


def averaged():
    return AveragedClassifier(
        (LeastSquares(), Forest(20), Logistic(), HardLabelRidges()), n_graph_rows=80
    )


def in_blocks(X):
    return da.from_array(X, chunks=(SIZES, X.shape[1]))


@pytest.fixture(autouse=True)
def one_after_the_other():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_of_any_size_give_the_fit_in_memory(n_classes):
    X, y, _ = clusters(n_classes=n_classes)
    weight = np.random.default_rng(0).integers(0, 3, size=200)
    expected = averaged().fit(X, y, sample_weight=weight)
    found = averaged().fit(in_blocks(X), y, sample_weight=weight)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(found.loo_indices_, expected.loo_indices_)
    np.testing.assert_allclose(found.loo_proba_, expected.loo_proba_, atol=1e-9)


@pytest.mark.parametrize("write", [np.float32, sparse.csr_array], ids=["float32", "sparse"])
def test_blocks_of_any_kind_give_the_fit_in_memory(write):
    X, y, _ = clusters()
    X[abs(X) < 0.5] = 0.0
    expected = averaged().fit(write(X), y).predict_proba(write(X))
    blocks = in_blocks(X).map_blocks(write, dtype=write(X).dtype)
    found = averaged().fit(blocks, y).predict_proba(blocks).compute()
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_frames_groups_and_text_labels_are_taken():
    X, y, _ = clusters()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["kind"] = np.where(y < 0, None, np.array(["ash", "birch"], dtype=object)[y])
    table["group"] = np.arange(200) // 3
    frame = dd.from_pandas(table, npartitions=4)
    expected = averaged().fit(table[["a", "b", "c"]], table["kind"], groups=table["group"])
    found = averaged().fit(frame[["a", "b", "c"]], frame["kind"], groups=frame["group"])
    np.testing.assert_allclose(found.loo_proba_, expected.loo_proba_, atol=1e-9)
    assert found.classes_.tolist() == ["ash", "birch"]
    said = found.predict(frame[["a", "b", "c"]])
    np.testing.assert_array_equal(said.compute(), expected.predict(table[["a", "b", "c"]]))


def test_predictions_and_labels_of_training_rows_wait():
    X, y, _ = clusters()
    blocks = in_blocks(X)
    found, expected = averaged().fit(blocks, y), averaged().fit(X, y)
    for name in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(found, name)(blocks)
        assert isinstance(lazy, da.Array)
        np.testing.assert_allclose(lazy.compute(), getattr(expected, name)(X), atol=1e-6)
    np.testing.assert_array_equal(found.transduction_.compute(), expected.transduction_)
    np.testing.assert_allclose(
        found.label_distributions_.compute(), expected.label_distributions_, atol=1e-9
    )
    np.testing.assert_allclose(
        found.supervised_.predict_proba(X), expected.supervised_.predict_proba(X), atol=1e-9
    )


def test_a_fit_reads_every_block_once():
    X, y, _ = clusters()
    read = Counter()

    def count(block, block_info=None):
        if block_info:
            read[block_info[0]["chunk-location"]] += 1
        return block

    averaged().fit(da.from_array(X, chunks=(50, 3)).map_blocks(count, dtype=float), y)
    assert set(read.values()) == {1}
    assert len(read) == 4


def test_what_is_not_a_number_is_named_by_its_column():
    X, y, _ = clusters()
    X[150, 1] = np.nan
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=3)
    with pytest.raises(ValueError, match="first in column 'b'"):
        averaged().fit(frame, dd.from_pandas(pd.Series(y), npartitions=3))


def test_blocks_that_do_not_go_together_are_refused():
    X, y, _ = clusters()
    with pytest.raises(ValueError, match="y has 199 rows but X has 200"):
        averaged().fit(in_blocks(X), y[:-1])
