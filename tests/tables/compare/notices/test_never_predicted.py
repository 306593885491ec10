"""A class that is never predicted, although it has labels: the classifier is useless for it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from semisquares.cli._parameters import in_options
from semisquares.tables import compare_table, fit_table, load, prepare, save
from semisquares.tables.compare.notices.never_predicted import never_predicted

CLASSES, LABELS = ("a", "b", "c", "d"), (90, 6, 3, 1)
TRUTH = np.repeat([0, 1, 2], [90, 6, 3])  # the class with a single label is not tested


def found(answers, predicted):
    return never_predicted(
        "The model", (np.array(answers), TRUTH), np.array(predicted), CLASSES, LABELS
    )


def test_a_class_that_is_predicted_somewhere_out_of_sample_and_in_the_table_is_not_named():
    assert found(TRUTH, [0, 1, 2, 3]) == []


def test_out_of_sample_counts_even_if_the_fit_gives_its_own_labels_back():
    (notice,) = found(np.where(TRUTH == 1, 0, TRUTH), [0, 1, 2, 3])
    assert (notice.classes, notice.n_labels) == (("b",), (6,))
    assert (notice.n_tested, notice.n_rows) == (99, 0)
    assert notice.sentence == (
        "The model is useless for class 'b': it predicts it for none of 99 labeled rows that it "
        "had not seen ('b' has 6 labels)."
    )
    assert notice.meaning.startswith("Few rows, if any, of that class are found; give balanced or")


def test_a_class_that_cannot_be_tested_is_looked_for_in_the_table():
    (notice,) = found(TRUTH, [0, 1, 2, 2, 1])
    assert (notice.classes, notice.n_tested, notice.n_rows) == (("d",), 0, 5)
    assert "it predicts it for none of 5 rows of the table ('d' has 1 label)." in notice.sentence
    assert notice.meaning.startswith("Rows of that class are given another one; give balanced or")


def test_classes_that_are_missed_in_different_ways_are_told_apart():
    notices = found(np.zeros(99, dtype=int), [0, 2])
    assert [(one.classes, one.n_tested, one.n_rows) for one in notices] == [
        (("b",), 99, 2),
        (("c",), 99, 0),
        (("d",), 0, 2),
    ]


def test_the_command_line_names_options():
    (notice,) = found(TRUTH, [0, 1, 2])
    assert "give --balanced or --costs to have it predicted" in in_options(notice.meaning)


def test_without_rows_to_leave_out_or_to_predict_nothing_is_said():
    none = np.empty(0, dtype=int)
    assert never_predicted("The model", (none, none), none, CLASSES, LABELS) == []


def skewed(n_rows=300):
    """Draw a table whose rare class can be ranked but is nowhere the most probable one."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 2)).round(3), columns=list("ab"))
    rare = rng.random(n_rows) < np.where(frame["a"] > 0, 0.2, 0.02)
    return frame.assign(label=np.where(rare, "rare", "usual"))


@pytest.mark.parametrize(
    "options",
    [{"method": "ridge", "alpha": 1.0}, {"method": "logistic"}, {"method": "averaged"}],
)
def test_a_fit_says_so_and_stores_it_and_a_balanced_one_need_not(options, tmp_path):
    rows = prepare(skewed(), "label")
    save(fit_table(rows, folds=2, repeats=1, **options), tmp_path / "m")
    model = load(tmp_path / "m")
    (notice,) = [one for one in model.about["notices"] if one["kind"] == "never_predicted"]
    assert notice["facts"]["classes"] == ["rare"]
    assert model.useless_for == ["rare"]
    assert any(one.startswith("The model is useless for class 'rare'") for one in model.warnings)
    balanced = fit_table(rows, folds=2, repeats=1, balanced=True, **options)
    assert balanced.useless_for == []


def test_a_comparison_says_that_its_classifier_is_useless_for_a_class():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    words = np.where(np.arange(120) % 8 == 0, "worn", "ok")
    frame["state"] = np.where(np.arange(120) < 80, words, None)
    found = compare_table(prepare(frame, "state"), folds=2, repeats=1, quick=True)
    assert found.recommendation.metric == "auc"
    (notice,) = (one for one in found.notices if one.kind == "never_predicted")
    assert notice.sentence.startswith("The averaged classifier is useless for class 'worn': it ")
