"""Classes that predictions miss: said if rows enough let expect them, and not by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from semisquares.cli._parameters import in_options
from semisquares.tables import fit_table, prepare
from semisquares.tables._missed import find_missed
from semisquares.tables._predicting import PredictionCounts, predict_rows
from support.table_files import csv_of


@pytest.mark.parametrize(
    ("answers", "labels", "missed"),
    [
        ((500, 0), (88, 12), ["yes"]),
        ((0, 500), (88, 12), ["no"]),
        ((499, 1), (88, 12), []),  # answered once
        ((49, 0), (50, 50), []),  # few rows
        ((50, 0), (50, 50), ["yes"]),
        ((100, 0), (95, 5), []),  # five rows are expected: there may be none
        ((200, 0), (95, 5), ["yes"]),
        ((500, 0), None, []),  # nothing is known about the labels
    ],
)
def test_a_class_is_missed_if_rows_of_it_are_expected(answers, labels, missed):
    found = find_missed(np.array(answers), labels, ("no", "yes"))
    assert [one.name for one in found] == missed


def test_rows_like_the_labeled_ones_rarely_have_no_row_of_a_class():
    rng = np.random.default_rng(0)
    for n_rows, count in ((50, 14), (70, 10), (350, 2)):
        drawn = rng.binomial(n_rows, count / 100, size=10_000)
        alarms = [
            bool(find_missed(np.array([n_rows - k, k]), (100 - count, count), "ab")) for k in drawn
        ]
        assert np.mean(alarms) < 0.002


def table(n_rows=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 2)).round(3), columns=list("ab"))
    rare = rng.random(n_rows) < np.where(frame["a"] > 0, 0.2, 0.02)
    return frame.assign(label=np.where(rare, "rare", "usual"))


def predicted(model, frame, **options):
    counts = PredictionCounts()
    list(predict_rows(model, csv_of(frame), counts, rows=40, **options))
    return counts


def fitted():
    options = {"method": "ridge", "alpha": 1.0, "folds": 2, "repeats": 1}
    return fit_table(prepare(table(), "label"), **options, costs={"rare": 8})


def test_predicting_says_that_a_class_is_missed_over_all_batches():
    model = fitted()
    usual = table()[lambda rows: rows["a"] < -0.3]
    assert len(usual) > 90
    counts = predicted(model, usual)
    assert counts.labels == {"usual": len(usual)}
    assert [one.name for one in counts.missed] == ["rare"]
    (note,) = [note for note in counts.notes if "useless" in note]
    assert note.startswith(f"None of {len(usual)} rows is predicted to be of class 'rare'")
    assert "give --balanced or --costs" in in_options(note)
    assert note in model.predict(usual).notes
    assert predicted(model, table()).missed == ()
    assert predicted(model, usual.head(49)).missed == ()


def test_answers_that_are_left_out_as_doubtful_are_not_missed():
    counts = predicted(fitted(), table(), min_confidence=0.6)
    assert counts.labels.keys() == {"usual"}
    assert counts.missed == ()


def test_what_the_fit_has_said_is_not_said_twice():
    options = {"method": "ridge", "alpha": 1.0, "folds": 2, "repeats": 1}
    model = fit_table(prepare(table(), "label"), **options)
    assert model.useless_for == ["rare"]
    counts = predicted(model, table())
    assert [one.name for one in counts.missed] == ["rare"]
    assert not [note for note in counts.notes if "useless" in note]
