"""The importance of columns: means of changes, which fits store and `inspect` shows."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from semisquares.tables import fit_table, load, prepare, save
from semisquares.tables._importance import (
    FEWEST_ROWS,
    MOST_ROWS,
    ColumnImportance,
    column_importance,
    importance_rows,
    stored_importance,
)
from semisquares.tables.models.model import TableModel
from semisquares.tables.models.predictors import LinearScores
from semisquares.tables.report._importance_bars import importance as draw

GIVEN = {"method": "ridge", "alpha": 1.0, "folds": 2, "repeats": 1}


def frame(n_rows=120, n_columns=3, seed=0):
    """Draw numbers of which the first matters most, and the last not at all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    score = 2.0 * X[:, 0] + X[:, 1] + rng.normal(size=n_rows)
    names = [f"c{k}" for k in range(n_columns)]
    return pd.DataFrame(X, columns=names).assign(ill=np.where(score > 0.0, "yes", "no"))


def numbers(model):
    return {one.column: one.importance for one in stored_importance(model.about)}


def test_importance_is_the_mean_size_of_the_changes():
    table = frame()
    model = fit_table(prepare(table, "ill"), **GIVEN)
    found = model.predict(table, explain=3).explanation
    sizes = {
        name: np.abs(found.changes[found.names == name]).sum() / len(table)
        for name in found.columns
    }
    assert numbers(model) == pytest.approx(sizes, rel=1e-12)
    ranked = [one["importance"] for one in model.about["importance"]]
    assert ranked == sorted(ranked, reverse=True)
    assert max(sizes, key=sizes.get) == "c0"


def test_a_column_without_effect_has_no_importance():
    rows = prepare(frame(), "ill")
    scores = LinearScores(np.array([[1.0, 0.0, -0.5]]), np.zeros(1))
    found = column_importance(rows.encoder, scores, None, rows.X)
    assert [one.column for one in found] == ["c0", "c2", "c1"]
    assert found[-1].importance == 0.0 < found[-2].importance


def test_the_order_of_the_rows_does_not_matter_if_all_are_used():
    table = frame(MOST_ROWS)
    order = np.random.default_rng(1).permutation(len(table))
    one, other = (fit_table(prepare(some, "ill"), **GIVEN) for some in (table, table.iloc[order]))
    rows, again = (
        prepare(table, "ill").X[importance_rows(0, MOST_ROWS, MOST_ROWS, 3)][places]
        for places in (slice(None), order)
    )
    expected, found = (
        column_importance(one.encoder, one.classifier, one.calibration, X) for X in (rows, again)
    )
    assert [row.column for row in found] == [row.column for row in expected]
    sizes = [[row.importance for row in ranked] for ranked in (found, expected)]
    np.testing.assert_allclose(*sizes, rtol=1e-12)
    assert numbers(other).keys() == numbers(one).keys()


def test_the_rows_that_are_looked_at_depend_neither_on_chunks_nor_on_chance():
    whole = importance_rows(0, 10_000, 10_000, 3)
    parts = [importance_rows(start, 2_500, 10_000, 3) for start in range(0, 10_000, 2_500)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert 0.8 * MOST_ROWS < whole.sum() < 1.2 * MOST_ROWS


@pytest.mark.parametrize(("n_columns", "n_rows"), [(1_000, 100), (20_000, FEWEST_ROWS)])
def test_fewer_rows_of_a_wide_table_are_looked_at(n_columns, n_rows):
    assert 0.7 * n_rows < importance_rows(0, 10_000, 10_000, n_columns).sum() < 1.3 * n_rows


def test_importance_without_rows_is_zero():
    rows = prepare(frame(), "ill")
    scores = LinearScores(np.ones((1, 3)), np.zeros(1))
    found = column_importance(rows.encoder, scores, None, rows.X[:0])
    assert [one.importance for one in found] == [0.0, 0.0, 0.0]


# -- inspect ------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path, monkeypatch) -> TableModel:
    """A model of twelve columns in the file m."""
    monkeypatch.chdir(tmp_path)
    found = fit_table(prepare(frame(n_columns=12), "ill"), **GIVEN)
    save(found, "m")
    return found


def bars(printed):
    """Return the words of the lines with bars."""
    return [line.split() for line in printed.split("\n") if "█" in line]


def test_inspect_shows_ten_columns_as_bars_and_lists_all_in_json(semisquares, model):
    code, printed, _ = semisquares("inspect", "m")
    assert code == 0
    assert "Importance of the columns: mean change in the probability" in printed
    shown, ranked = bars(printed), stored_importance(model.about)
    assert [name for name, _, _ in shown] == [one.column for one in ranked[:10]]
    assert [number for _, number, _ in shown] == [
        f"{100 * one.importance:.1f}" for one in ranked[:10]
    ]
    lengths = [len(bar) for _, _, bar in shown]
    assert lengths[0] == 30
    assert lengths == sorted(lengths, reverse=True)
    assert "other columns: 2 with less" in printed
    facts = json.loads(semisquares("inspect", "m", "--json")[1])
    assert facts["importance"] == [asdict(one) for one in ranked]
    assert len(bars(semisquares("inspect", "m", "--top", "3")[1])) == 3


def test_inspect_says_which_columns_do_not_matter(semisquares, model):
    about = dict(model.about)
    about["importance"] = [{"column": "c0", "importance": 0.2}] + [
        {"column": f"c{k}", "importance": 0.0} for k in range(1, 12)
    ]
    save(replace(model, about=about), "m")
    printed = semisquares("inspect", "m")[1]
    assert [words[:2] for words in bars(printed)] == [["c0", "20.0"]]
    assert "other columns: 11 that do not matter" in printed


def test_inspect_plots_the_importance(semisquares, model):
    code, printed, _ = semisquares("inspect", "m", "--plot", "m.svg", "--top", "4")
    assert (code, "Plot: m.svg" in printed) == (0, True)


def test_a_model_of_the_first_versions_has_no_importance(semisquares, model):
    about = {name: value for name, value in model.about.items() if name != "importance"}
    save(replace(model, about=about), "m")
    assert stored_importance(load("m").about) == ()
    code, printed, _ = semisquares("inspect", "m")
    assert (code, bars(printed), "Importance" in printed) == (0, [], False)
    code, _, errors = semisquares("inspect", "m", "--plot", "m.png")
    assert code == 2
    assert "m was stored by a version that did not measure the importance of columns" in errors


# -- the picture --------------------------------------------------------------------------------


@pytest.mark.parametrize("narrow", [False, True])
def test_the_picture_has_a_bar_for_each_column(narrow):
    shown = [ColumnImportance("age", 0.25), ColumnImportance("a $long$ name" * 9, 0.1)]
    panel = draw(shown, narrow=narrow).axes[0]
    assert [bar.get_width() for bar in panel.patches] == [25.0, 10.0]
    labels = [text.get_text() for text in panel.get_yticklabels()]
    assert labels[0] == "age"
    assert len(labels[1]) <= 40
    assert panel.get_xlim()[0] == 0.0


def test_the_picture_of_no_columns_is_empty():
    assert list(draw(()).axes[0].patches) == []
