"""Copies of labeled rows are counted, unless a split cannot separate them."""

import numpy as np
import pandas as pd
import pytest

from semisquares.tables.compare.notices.copies import copies_across, copies_labeled
from semisquares.tables.dataset import prepare
from support.partly_labeled import table


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
