"""Shifts between labeled and unlabeled rows are found, and chance is not taken for one."""

import numpy as np
import pandas as pd
import pytest

from semisquares.tables.compare.notices.shift import _standard_error, shift
from semisquares.tables.dataset import prepare
from support.partly_labeled import table


def test_a_shifted_column_is_found_and_named():
    frame = table()
    frame["visit"] = np.random.default_rng(1).normal(size=400) + 2.0 * frame["y"].notna()
    notice = shift(prepare(frame, "y"), seed=0)
    assert notice.kind == "shift"
    assert notice.sentence.endswith("most by 'visit'.")
    # two normal clouds 2 apart: Φ(√2) = 0.92
    assert notice.auc == pytest.approx(0.92, abs=0.03)
    assert f"with AUC {notice.auc:.2f} (0.5 is chance)" in notice.sentence


def test_rows_that_were_suggested_are_no_shift_and_the_other_labels_are_still_tested():
    frame = table(n=400, n_labeled=100)
    labeled = np.flatnonzero(frame["y"].notna())
    shifted = np.random.default_rng(1).normal(size=400)
    shifted[labeled[:80]] += 3.0
    frame["visit"] = shifted
    assert shift(prepare(frame, "y"), seed=0) is not None
    drawn = np.full(400, None, dtype=object)
    drawn[labeled] = ["suggested"] * 80 + ["random"] * 20
    frame["y_drawn"] = drawn
    assert shift(prepare(frame, "y"), seed=0) is None
    frame.loc[labeled[80:], "visit"] += 3.0
    assert "'visit'" in shift(prepare(frame, "y"), seed=0).sentence


def test_a_shifted_level_is_found_and_named():
    frame = table(n=600)
    often = np.where(frame["y"].notna(), 0.8, 0.2)
    frame["clinic"] = np.where(np.random.default_rng(1).random(600) < often, "B", "A")
    assert "'clinic = " in shift(prepare(frame, "y"), seed=0).sentence


@pytest.mark.parametrize(
    ("n", "n_labeled", "n_columns"), [(200, 10, 3), (150, 12, 60), (150, 140, 40), (400, 80, 10)]
)
def test_labels_missing_at_random_are_no_shift(n, n_labeled, n_columns):
    frames = (table(n, n_labeled, n_columns, seed) for seed in range(5))
    assert [shift(prepare(frame, "y"), seed=0) for frame in frames] == [None] * 5


def test_whole_groups_labeled_at_random_are_no_shift():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 10)
    frame = pd.DataFrame(rng.normal(size=(40, 8))[patient], columns=list("abcdefgh"))
    frame += 0.1 * rng.normal(size=frame.shape)
    frame["y"] = np.where(patient < 12, np.where(rng.random(400) < 0.5, "no", "yes"), None)
    frame["patient"] = patient
    assert shift(prepare(frame, "y", group="patient"), seed=0) is None
    # without groups other rows of the same patient give a row away
    assert shift(prepare(frame, "y", drop=["patient"]), seed=0) is not None


def test_labeled_rows_written_three_times_are_no_shift():
    frame = table(n=200, n_labeled=40, n_columns=60)
    thrice = pd.concat([frame, frame[frame["y"].notna()], frame[frame["y"].notna()]])
    assert shift(prepare(thrice, "y"), seed=0) is None


def test_the_standard_error_is_root_two_times_that_of_a_given_classifier():
    # Hanley & McNeil's formula is exact for exponential scores: AUC = 3 / (3 + 1)
    rng = np.random.default_rng(0)
    high, low = rng.exponential(3.0, size=(4000, 15)), rng.exponential(1.0, size=(4000, 25))
    auc = np.mean(high[:, :, None] > low[:, None, :], axis=(1, 2))
    assert _standard_error(0.75, 15, 25) == pytest.approx(np.sqrt(2) * auc.std(), rel=0.04)
