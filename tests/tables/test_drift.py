"""Rows that differ from those of the fit are noticed; rows from the same source are not."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import chi2, fisher_exact

from semisquares.tables import fit_table, prepare
from semisquares.tables._chunked import prepare_chunks
from semisquares.tables._drift import Drift, _same_share, chi_squared_tail
from semisquares.tables._predicting import PredictionCounts, predict_rows
from semisquares.tables.columns import _summary
from semisquares.tables.columns._summary import ColumnSummary, sampled_rows
from semisquares.tables.io import find, split
from semisquares.tables.models.files import dumps, loads
from support.table_files import csv_of

DAY = pd.Timestamp("2022-01-01")


def rows(n, seed):
    """Draw rows with columns of every type, heavy tails, ties and missing cells."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(5.0, 2.0, n),
            "pay": rng.lognormal(3.0, 1.5, n),
            "children": rng.poisson(0.7, n),
            "town": rng.choice(["Ulm", "Bern", "Graz", "Linz"], n, p=[0.6, 0.3, 0.08, 0.02]),
            "street": rng.choice([f"s{k}" for k in range(80)], n),
            "smokes": rng.choice(["yes", "no"], n, p=[0.1, 0.9]),
            "seen": DAY + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "label": rng.choice(["a", "b"], n),
        }
    )
    for k, name in enumerate(("size", "town", "smokes", "seen")):
        frame.loc[rng.random(n) < 0.05 * k, name] = None
    return frame


@pytest.fixture(scope="module")
def model():
    table = prepare(rows(1000, 0), "label")
    fitted = fit_table(table, method="ridge", alpha=1.0, folds=2, repeats=1)
    return loads(dumps(fitted))


@pytest.mark.parametrize("n_rows", [50, 500, 5000])
def test_rows_from_the_same_source_give_no_note(model, n_rows):
    found = [model.predict(rows(n_rows, seed)).drift.notes for seed in range(1, 41)]
    assert found == [[]] * 40


@pytest.mark.parametrize("n_rows", [30, 300])
def test_a_small_fit_gives_no_note_either(n_rows):
    found = []
    for seed in range(20):
        encoder = prepare(rows(90, 100 + seed), "label", kinds={"street": "category"}).encoder
        new = rows(n_rows, 200 + seed).drop(columns="label")
        found += encoder.drift(encoder.clean(new)).notes
    assert found == []


@pytest.mark.parametrize("n_fitted", [60, 600, 6000])
def test_levels_that_the_fit_has_not_seen_are_expected_if_many_are_rare(n_fitted):
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        names = np.where(rng.random(n_fitted + 500) < 0.5, 0, rng.zipf(1.3, n_fitted + 500))
        frame = pd.DataFrame({"name": [f"n{k}" for k in names]})
        frame["label"] = rng.choice(["a", "b"], len(frame))
        encoder = prepare(frame[:n_fitted], "label", kinds={"name": "category"}).encoder
        found += encoder.drift(encoder.clean(frame[n_fitted:].drop(columns="label"))).notes
    assert found == []


CHANGES = {
    "size": (lambda c: c + 3.0, "Column 'size' has the mean 7."),
    "pay": (lambda c: c * 5.0, "Column 'pay' has the mean "),
    "children": (lambda c: c + 1, "Column 'children' has the mean 1."),
    "town": (lambda c: c.replace("Ulm", "Bern"), "Column 'town' has 'Ulm' in 0.0 % instead of "),
    "street": (lambda c: "s1", "Column 'street' has 's1' in 100.0 % instead of "),
    "smokes": (lambda c: "yes", "Column 'smokes' has yes in 100.0 % instead of "),
    "seen": (lambda c: c + pd.Timedelta(days=800), "Column 'seen' has the mean 2025-"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_column_that_differs_is_named(model, name):
    change, words = CHANGES[name]
    new = rows(200, 1)
    new[name] = change(new[name])
    found = model.predict(new).drift
    assert {one.column for one in found.differing} == {name}
    assert found.notes[0] == (
        "The rows differ from those that the model was fitted on in 1 of 7 columns: its scores "
        "need not hold for them."
    )
    assert any(note.startswith(words) for note in found.notes[1:])


def test_missing_cells_that_were_filled_in_the_fit_are_noticed(model):
    new = rows(50, 1)
    new.loc[:14, "pay"] = None
    assert model.predict(new).drift.notes[1:] == [
        "Column 'pay' is missing in 30.0 % of the rows instead of 0.0 %."
    ]


def test_ten_rows_far_away_are_enough_but_not_one(model):
    far = rows(10, 1).assign(size=90.0)
    assert [one.column for one in model.predict(far).drift.differing] == ["size"]
    assert model.predict(far[:1]).drift.notes == []


def test_a_difference_that_is_certain_but_small_is_no_note(model):
    new = rows(5000, 1)
    new["size"] += 0.4
    found = next(one for one in model.predict(new).drift.columns if one.column == "size")
    assert found.p_value < 1e-5
    assert not found.differs


def test_batches_do_not_change_what_is_said(model):
    new = rows(300, 1).assign(size=lambda table: table["size"] + 3.0)
    whole = model.predict(new).drift.as_dict()
    counts = PredictionCounts()
    list(predict_rows(model, csv_of(new), counts, rows=7))
    assert counts.notes == model.predict(new).notes
    found = counts.drift.as_dict()
    assert (found["rows"], found["differing"]) == (300, ["size"])
    for one, other in zip(found["columns"], whole["columns"], strict=True):
        assert one["distance"] == pytest.approx(other["distance"])


def test_only_the_rows_that_are_filled_count(model):
    new = pd.concat([rows(200, 1), rows(200, 2).assign(size=90.0, label=None)])
    counts = PredictionCounts()
    pa.concat_tables(predict_rows(model, csv_of(new), counts, only_missing=True, rows=150))
    assert counts.drift.n_rows == 200
    assert [one.column for one in counts.drift.differing] == ["size"]


def test_a_table_in_chunks_has_the_summaries_of_the_whole_table(monkeypatch, tmp_path):
    monkeypatch.setattr(_summary, "MOST_SAMPLED", 300)
    frame = rows(1000, 0)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=90)
    chunks = split(find(str(tmp_path / "t.parquet")), labels=["label"], n_bytes=4096)
    assert len(chunks) > 5
    whole = prepare(frame, "label").encoder.to_plain()["summaries"]
    found = prepare_chunks(chunks, "label").encoder.to_plain()["summaries"]
    assert found.keys() == whole.keys()
    assert 200 < sum(whole["pay"]["counts"]) < 400
    for name, one in whole.items():
        moments, others = one.pop("moments"), found[name].pop("moments")
        assert found[name] == one
        assert others == pytest.approx(moments)


def test_a_sample_of_rows_has_no_rhythm():
    chosen = sampled_rows(0, 240_000, 240_000)
    hours = np.bincount(np.flatnonzero(chosen) % 24)
    assert hours.min() > 20
    parts = [sampled_rows(start, 60_000, 240_000) for start in range(0, 240_000, 60_000)]
    np.testing.assert_array_equal(np.concatenate(parts), chosen)


def test_a_summary_holds_no_cell_that_is_rare():
    table = prepare(rows(1000, 0), "label")
    plain = table.encoder.to_plain()["summaries"]
    assert max(len(one["edges"]) for one in plain.values()) == 19
    rare = prepare(rows(1000, 0), "label").encoder.summaries["street"].counts[-1]
    assert len(plain["street"]["levels"]) < 80
    assert rare > 0


def test_a_model_without_summaries_compares_nothing(model):
    plain = model.to_plain()
    del plain["encoder"]["summaries"]
    assert type(model).from_plain(plain).predict(rows(9, 1)).drift.as_dict()["columns"] == []


def test_a_summary_with_counts_that_do_not_fit_is_refused(model):
    plain = model.encoder.summaries["size"].to_plain()
    with pytest.raises(ValueError, match="do not fit"):
        ColumnSummary.from_plain(plain | {"counts": [1]})


def test_no_rows_are_no_difference(model):
    assert model.predict(rows(3, 1)[:0]).drift.notes == []
    assert Drift().merge(Drift()).as_dict()["columns"] == []


@pytest.mark.parametrize("degrees", [1, 2, 5, 50])
def test_the_tail_of_chi_squared_is_scipys(degrees):
    for x in (0.5, 4.0, 60.0, 200.0):
        assert chi_squared_tail(x, degrees) == pytest.approx(chi2.sf(x, degrees), rel=1e-9)


@pytest.mark.parametrize("counts", [(8, 50, 0, 1000), (9, 20, 9, 60), (0, 50, 300, 900)])
def test_the_test_of_two_shares_is_fishers(counts):
    k, n, others, m = counts
    tails = (
        fisher_exact([[k, n - k], [others, m - others]], alternative=way).pvalue
        for way in ("less", "greater")
    )
    assert _same_share(*counts) == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-9)


def test_the_command_says_what_differs_and_gives_the_numbers(semisquares):
    rows(300, 0).to_csv("t.csv", index=False)
    rows(100, 1).assign(size=90.0).to_csv("new.csv", index=False)
    given = ("--method", "ridge", "--alpha", "1", "--folds", "2", "--repeats", "1")
    semisquares("fit", "t.csv", "--target", "label", "-o", "m", "--jobs", "1", *given)
    code, _, notes = semisquares("predict", "m", "new.csv", "-o", "out.csv")
    assert code == 0
    assert "Note: The rows differ from those that the model was fitted on in 1 of 7" in notes
    assert "Note: Column 'size' has the mean 90 " in notes
    _, printed, _ = semisquares("predict", "m", "new.csv", "-o", "out.csv", "--json")
    found = json.loads(printed)["drift"]
    assert found["differing"] == ["size"]
    size = next(one for one in found["columns"] if one["column"] == "size")
    assert size["mean"]["here"] == 90.0
    assert size["distance"] > 0.9
