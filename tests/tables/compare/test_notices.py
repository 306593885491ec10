"""Claims about notices: shifts, leaks and copies are found, and chance alone is not news."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from semisquares.cli._parameters import in_options
from semisquares.tables.compare.notices import (
    _auc_by_feature,
    _recall_by_level,
    copies_across,
    copies_labeled,
    imbalance,
    leaks,
    notices,
)
from semisquares.tables.compare.shift import _standard_error, shift
from semisquares.tables.dataset import prepare


def table(n=400, n_labeled=80, n_columns=6, seed=0):
    """Draw numbers, and classes of which labels are missing at random."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(n_columns)})
    label = rng.choice(["no", "yes"], n).astype(object)
    label[rng.permutation(n)[n_labeled:]] = None
    frame["y"] = label
    return frame


def kinds(frame, **options):
    return [notice.kind for notice in notices(prepare(frame, "y", **options), seed=0)]


# -- shift --------------------------------------------------------------------------------------


def test_a_shifted_column_is_found_and_named():
    frame = table()
    frame["visit"] = np.random.default_rng(1).normal(size=400) + 2.0 * frame["y"].notna()
    notice = shift(prepare(frame, "y"), seed=0)
    assert notice.kind == "shift"
    assert notice.sentence.endswith("most by 'visit'.")
    # two normal clouds 2 apart: Φ(√2) = 0.92
    told = float(notice.sentence.split("AUC ")[1].split()[0])
    assert told == pytest.approx(0.92, abs=0.03)


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


# -- leaks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["number", "date", "category", "boolean"])
def test_a_column_filled_with_the_label_is_a_leak_and_no_shift(kind):
    frame = table()
    cells = {
        "number": np.random.default_rng(1).normal(size=400),
        "date": pd.Series(pd.date_range("2020-01-01", periods=400)),
        "category": np.random.default_rng(1).choice(["a", "b", "c"], 400),
        "boolean": np.random.default_rng(1).choice(["yes", "no"], 400),
    }
    frame["found on"] = pd.Series(cells[kind]).where(frame["y"].notna())
    (notice,) = notices(prepare(frame, "y"), seed=0)
    assert notice.kind == "leak"
    assert notice.sentence.startswith("Column 'found on' is filled almost exactly where 'y' has")
    assert notice.sentence.endswith("drop=['found on'].")
    assert in_options(notice.sentence).endswith("--drop 'found on'.")


def test_a_column_empty_where_there_is_a_label_is_a_leak():
    frame = table()
    frame["x0"] = frame["x0"].where(frame["y"].isna())
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert notice.sentence.startswith("Column 'x0' is empty almost exactly where")


@pytest.mark.parametrize("filled", [0.01, 0.2, 0.99])
def test_gaps_at_random_are_no_leak(filled):
    frame = table()
    frame["x0"] = frame["x0"].where(np.random.default_rng(1).random(400) < filled)
    assert leaks(prepare(frame, "y"), seed=0) == []


def test_a_number_that_alone_tells_the_classes_apart_is_a_leak():
    frame = table()
    frame["score"] = np.random.default_rng(1).normal(size=400) + 9.0 * (frame["y"] == "yes")
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert notice.sentence == (
        "Column 'score' alone predicts 'y' almost perfectly; if it is known only after 'y', leave "
        "it out with drop=['score']."
    )


def test_codes_that_go_with_one_class_each_are_a_leak():
    frame = table()
    rng = np.random.default_rng(1)
    sick, well = rng.choice(["I10", "J20", "K30"], 400), rng.choice(["Z00", "Z01"], 400)
    frame["code"] = np.where(frame["y"] == "yes", sick, well)
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert "'code' alone predicts" in notice.sentence


def test_thousands_of_labels_are_looked_at():
    frame = table(n=7000, n_labeled=6000, n_columns=2)
    frame["copy"] = frame["y"].map({"yes": 1.5, "no": 2.5}).fillna(9.0)
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert "'copy' alone predicts" in notice.sentence


def test_a_code_that_occurs_once_predicts_nothing():
    found = _recall_by_level(np.array([0, 0, 1, 2, 2]), np.array([0, 0, 1, 1, 1]))
    assert found == pytest.approx((1 + 2 / 3) / 2)


def test_one_of_three_classes_told_apart_is_no_leak_but_all_three_are():
    frame = table(n=300, n_labeled=90)
    rng = np.random.default_rng(1)
    frame["y"] = frame["y"].where(frame["y"].isna(), rng.choice(["a", "b", "c"], 300))
    place = frame["y"].map({"a": 0, "b": 1, "c": 2}).fillna(0)
    frame["one"] = rng.normal(size=300) + 20.0 * (place == 2)
    frame["all"] = 10 + place
    (notice,) = leaks(prepare(frame, "y"), seed=0)
    assert notice.sentence.startswith("Column 'all' alone")


@pytest.mark.parametrize(("n_columns", "n_found"), [(5, 1), (100, 0)])
def test_what_chance_does_among_many_columns_is_no_leak(n_columns, n_found):
    frame = table(n=60, n_labeled=0, n_columns=n_columns)
    frame.loc[:19, "y"] = ["yes"] * 5 + ["no"] * 15
    # one column of random numbers in 7,752 parts 5 labels from 15
    frame.loc[:19, "x0"] = np.arange(20.0)
    assert len(leaks(prepare(frame, "y"), seed=0)) == n_found


def test_the_auc_of_a_feature_is_scikit_learns():
    rng = np.random.default_rng(0)
    X, codes = rng.integers(6, size=(50, 1)).astype(float), rng.integers(2, size=50)
    expected = roc_auc_score(codes, X[:, 0])
    assert _auc_by_feature(X, codes) == pytest.approx(max(expected, 1.0 - expected))


# -- copies -------------------------------------------------------------------------------------


def with_copies(seed=0):
    """Draw a table some of whose rows are written again, labels and groups apart."""
    rng = np.random.default_rng(seed)
    frame = table(n=200, n_labeled=60, n_columns=4, seed=seed)
    again = frame.iloc[rng.choice(200, 50)].copy()
    again["y"] = rng.choice(np.array(["no", "yes", None], dtype=object), 50)
    frame = pd.concat([frame, again], ignore_index=True)
    frame["patient"] = rng.integers(25, size=250)
    return frame


def brute_force(frame, group=None):
    """Count labeled rows with an unlabeled copy, with a labeled one, with one of another label."""
    rows, labels = frame[["x0", "x1", "x2", "x3"]].to_numpy(), frame["y"].to_numpy()
    groups = np.arange(len(frame)) if group is None else frame[group].to_numpy()
    counts = np.zeros(3, dtype=int)
    for i in np.flatnonzero(frame["y"].notna()):
        copies = [
            j for j in range(len(rows)) if (rows[j] == rows[i]).all() and groups[j] != groups[i]
        ]
        known = [labels[j] for j in copies if labels[j] is not None and labels[j] == labels[j]]
        counts += [len(known) < len(copies), len(known) > 0, any(k != labels[i] for k in known)]
    return counts.tolist()


@pytest.mark.parametrize("group", [None, "patient"])
def test_copies_are_those_that_brute_force_finds(group):
    frame = with_copies()
    prepared = prepare(frame, "y", group=group, drop=[] if group else ["patient"])
    n_across, n_labeled, n_other = brute_force(frame, group)
    n = prepared.target.n_labeled
    across, labeled = copies_across(prepared).sentence, copies_labeled(prepared).sentence
    assert min(n_across, n_labeled, n_other) > 1
    assert (
        across == f"{n_across} of the {n} labeled rows equal an unlabeled row in every used column."
    )
    assert labeled == (
        f"{n_labeled} of the {n} labeled rows equal another labeled row in every used column; "
        f"{n_other} of them have copies with another label."
    )


def test_copies_within_a_group_are_harmless():
    frame = pd.concat([table(), table()], ignore_index=True)
    frame["patient"] = np.arange(800) % 400
    prepared = prepare(frame, "y", group="patient")
    assert copies_labeled(prepared) is None
    assert copies_across(prepared) is None


@pytest.mark.parametrize(("n_columns", "share"), [(4, 0.5), (20, 0.03)])
def test_equal_rows_of_few_values_are_spoken_of_soberly(n_columns, share):
    rng = np.random.default_rng(0)
    cells = np.where(rng.random((400, n_columns)) < share, "a", "b")
    frame = pd.DataFrame(cells).add_prefix("x")
    n_different = len(frame.drop_duplicates())
    notice = copies_labeled(prepare(frame.assign(y=table()["y"]), "y"))
    assert f"400 rows are {n_different} different ones" in notice.meaning


def test_a_table_written_twice_is_said_to_make_errors_look_small():
    twice = pd.concat([table(), table()], ignore_index=True)
    assert "look smaller" in copies_labeled(prepare(twice, "y")).meaning


# -- all together -------------------------------------------------------------------------------


def test_a_class_with_few_labels_is_named():
    frame = table(n_labeled=80)
    rare = frame.index[frame["y"].notna()][:3]
    frame.loc[rare, "y"] = "maybe"
    notice = imbalance(prepare(frame, "y"))
    assert notice.sentence == "Of 80 labels class 'maybe' has 3."
    assert "balanced accuracy" in notice.meaning


def test_few_labels_of_a_class_that_is_not_rare_are_a_matter_of_labels_alone():
    notice = imbalance(prepare(table(n_labeled=14), "y"))
    assert "balanced accuracy" not in notice.meaning


@pytest.mark.parametrize("seed", range(3))
def test_an_ordinary_table_has_no_notices(seed):
    assert kinds(table(seed=seed)) == []
