"""The example is the same for everybody, can be read, and does what its description says."""

import hashlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from semisquares.tables import TableError
from semisquares.tables._example import (
    NEW_ROWS,
    TABLE,
    TARGET,
    TRUTH,
    UNLABELED,
    example_truth,
    write_example,
)
from semisquares.tables.compare._rows import TableRows
from semisquares.tables.compare._tuning import fit_pair
from semisquares.tables.compare.notices import NoticeContext, find_notices
from semisquares.tables.dataset import prepare


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example") / "new"
    assert write_example(folder) == [folder / TABLE, folder / NEW_ROWS]
    without = [folder / UNLABELED, folder / NEW_ROWS, folder / TRUTH]
    assert write_example(folder, labels=False) == without
    return folder


@pytest.fixture(scope="module")
def pumps(folder):
    return pd.read_csv(folder / TABLE)


def test_the_files_have_the_same_bytes_everywhere(folder):
    found = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16]
        for name in (TABLE, NEW_ROWS, UNLABELED, TRUTH)
    }
    assert found == {
        TABLE: "a48cce1e8bf1e472",
        NEW_ROWS: "257efbf16dfd30c9",
        UNLABELED: "dc3efe7eed25df56",
        TRUTH: "11c476f87927fc05",
    }


def test_writing_again_changes_nothing(folder):
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    write_example(folder)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_file_of_ones_own_is_left_alone(tmp_path):
    own = tmp_path / NEW_ROWS
    own.write_text("mine")
    with pytest.raises(TableError, match=r"new_rows.csv' exists already .* another folder\.$"):
        write_example(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [NEW_ROWS]
    assert own.read_text() == "mine"


def test_a_folder_that_is_a_file_is_reported(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TableError, match=r"not a folder; name another folder for the example\.$"):
        write_example(tmp_path / "file")


def test_the_table_has_every_kind_of_column(pumps):
    prepared = prepare(pumps, TARGET)
    columns = prepared.columns
    kinds = Counter(column.kind for column in columns)
    assert kinds.keys() == {"id", "constant", "category", "date", "boolean", "number", "text"}
    assert sum(column.n_missing > 0 for column in columns) == 2
    assert any("rare levels" in feature.name for feature in prepared.features)


def test_labels_are_few_true_and_missing_at_random(pumps):
    truth = np.array(example_truth()[TABLE])
    known = pumps[TARGET].notna().to_numpy()
    assert (len(pumps), known.sum()) == (800, 100)
    assert (pumps.loc[known, TARGET] == truth[known]).all()
    assert find_notices(NoticeContext(prepare(pumps, TARGET), seed=0)) == ()


def test_without_labels_only_the_target_differs_and_the_truth_is_apart(folder, pumps):
    bare = pd.read_csv(folder / UNLABELED)
    assert bare[TARGET].isna().all()
    pd.testing.assert_frame_equal(bare.drop(columns=TARGET), pumps.drop(columns=TARGET))
    truth = pd.read_csv(folder / TRUTH).set_index("pump")[TARGET]
    states = example_truth()
    assert truth[bare["pump"]].tolist() == list(states[TABLE])
    assert truth[pd.read_csv(folder / NEW_ROWS)["pump"]].tolist() == list(states[NEW_ROWS])


def test_new_rows_are_like_the_table_but_for_a_new_maker(folder, pumps):
    new = pd.read_csv(folder / NEW_ROWS)
    assert list(new.columns) == [name for name in pumps.columns if name != TARGET]
    assert len(new) == len(example_truth()[NEW_ROWS]) == 50
    unseen = prepare(pumps, TARGET).encoder.unseen(new)
    assert unseen.keys() == {"maker"}
    assert len(unseen["maker"]) == 1


def test_unlabeled_rows_help_on_rows_whose_label_is_hidden(folder, pumps):
    prepared = prepare(pumps, TARGET, drop=["remark"])  # which says nothing about the bearing
    pair = fit_pair(TableRows(prepared.X, prepared.codes))
    truth, classes = example_truth(), np.array(prepared.target.classes)
    hidden = prepared.codes < 0
    new = prepared.encoder.transform(pd.read_csv(folder / NEW_ROWS))
    for X, states in (
        (prepared.X[hidden], np.array(truth[TABLE])[hidden]),
        (new, np.array(truth[NEW_ROWS])),
    ):
        ridge, soft = (
            np.mean(classes[model.predict(X)] != states) for model in (pair.ridge, pair.soft)
        )
        assert soft < 0.12
        assert ridge - soft > 0.05


def test_a_remark_that_says_nothing_costs_little(pumps):
    prepared = prepare(pumps, TARGET)
    found = fit_pair(TableRows(prepared.X, prepared.codes)).soft.predict(prepared.X)
    truth = np.array(example_truth()[TABLE])
    hidden = prepared.codes < 0
    errors = np.array(prepared.target.classes)[found] != truth
    assert {f.role for f in prepared.features if f.column == "remark"} == {"text"}
    assert errors[hidden].mean() < 0.1
