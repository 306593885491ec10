"""``semisquares fit --engine dask``: the same model from a table in chunks."""

import gc
import json

import numpy as np
import pandas as pd
import pytest
from distributed import Client

from semisquares.tables import load
from semisquares.tables._chunked import prepare_chunks
from semisquares.tables.dataset import prepare
from semisquares.tables.io import find, read, split
from semisquares.tables.models._measuring import FitOptions
from semisquares.tables.models._streaming import fit_streamed
from semisquares.tables.models.fitting import fit_prepared
from support.dask_workers import cluster


def frame(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.integers(2, size=n_rows)
    labels = np.where(rng.permutation(n_rows) < 60, np.array(["no", "yes"])[ill], None)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(50, 9, n_rows) + 9 * ill),
            "weight": rng.normal(70, 9, n_rows) - 6 * ill,
            "town": rng.choice(["Ulm", "Bern", "Graz"], n_rows),
            "clinic": rng.integers(12, size=n_rows),
            "seen": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(400, size=n_rows), "D"),
            "ill": labels,
        }
    )


@pytest.fixture
def folder(tmp_path):
    rows = frame()
    for k in range(3):
        rows[200 * k : 200 * k + 200].to_parquet(tmp_path / f"rows{k}.parquet", index=False)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


ORDERS = {
    "soft": FitOptions("soft", folds=2, repeats=1),
    "soft, given": FitOptions("soft", alpha=2.0, weight=0.5, folds=2, repeats=1),
    "hard": FitOptions("hard", folds=2, repeats=1),
    "hard, given": FitOptions("hard", alpha=2.0, weight=0.5, folds=2, repeats=1),
    "ridge": FitOptions("ridge", folds=2, repeats=1),
}


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("soft", None),
        *((name, "clinic") for name in ("soft, given", "hard, given", "ridge")),
        *(pytest.param(name, "clinic", marks=pytest.mark.slow) for name in ("soft", "hard")),
    ],
)
def test_a_table_in_chunks_gives_the_model_of_the_whole_table(folder, name, group):
    """The sample for tuning has all rows, so the result does not depend on chance."""
    source = find(str(folder / "rows*.parquet"))
    prepared = prepare(read(source, labels=["ill"]), "ill", group=group)
    chunks = split(source, labels=["ill"], n_bytes=4096)
    table = prepare_chunks(chunks, "ill", group=group)
    expected, found = fit_prepared(prepared, ORDERS[name]), fit_streamed(table, ORDERS[name])
    one, other = expected.classifier.coef, found.classifier.coef
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-9 * abs(one).max())
    assert found.calibration.slope == pytest.approx(expected.calibration.slope, rel=1e-9)
    offsets = expected.calibration.offsets
    np.testing.assert_allclose(found.calibration.offsets, offsets, rtol=1e-9, atol=1e-9)
    same = ("method", "alpha", "unlabeled_weight", "rows", "labeled", "metrics", "notes")
    for key in same:
        assert flat_entry(found, key) == pytest.approx(flat_entry(expected, key), rel=1e-9), key
    assert_same_importance(found, expected)


ORDINARY = ("logistic", "forest", "boosting")


def assert_same_importance(found, expected):
    """The table has more rows than importance is measured by."""
    one, other = (model.about["importance"] for model in (expected, found))
    assert [row["column"] for row in other] == [row["column"] for row in one]
    measured = [[row["importance"] for row in rows] for rows in (other, one)]
    np.testing.assert_allclose(*measured, rtol=0, atol=1e-9)


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize(
    ("method", "group"),
    [
        *((name, "clinic") for name in (*ORDINARY, "averaged")),
        pytest.param("averaged", None, marks=pytest.mark.slow),
    ],
)
def test_a_table_in_chunks_gives_the_probabilities_of_the_whole_table(folder, method, group):
    source = find(str(folder / "rows*.parquet"))
    prepared = prepare(read(source, labels=["ill"]), "ill", group=group)
    table = prepare_chunks(split(source, labels=["ill"], n_bytes=4096), "ill", group=group)
    order = FitOptions(method, folds=2, repeats=1)
    expected, found = fit_prepared(prepared, order), fit_streamed(table, order)
    one, other = (model.predict(frame()).soft_labels for model in (expected, found))
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-9)
    for key in ("method", "rows", "labeled", "metrics", "notes", "summary"):
        assert flat_entry(found, key) == pytest.approx(flat_entry(expected, key), rel=1e-9), key
    assert_same_importance(found, expected)
    one, other = (model.predict(frame(), explain=1).explanation for model in (expected, found))
    np.testing.assert_allclose(other.changes, one.changes, rtol=0, atol=1e-9)


def test_notes_about_a_table_in_chunks_are_those_of_the_whole_table(folder):
    ill = frame()["ill"]
    rows = frame().assign(ill_filled=np.arange(600) % 2 == 0, ill_predicted=ill.fillna("no"))
    rows.assign(result=3 * (ill == "yes")).to_parquet(folder / "t.parquet", row_group_size=200)
    source, order = find(str(folder / "t.parquet")), FitOptions("ridge", alpha=2.0, folds=2)
    chunks = split(source, labels=["ill"], n_bytes=4096)
    assert len(chunks) > 2
    expected = fit_prepared(prepare(read(source, labels=["ill"]), "ill"), order).about
    found = fit_streamed(prepare_chunks(chunks, "ill"), order).about
    assert found["notes"] == expected["notes"]
    assert found["summary"] == expected["summary"]
    assert [one["kind"] for one in found["notices"]] == ["table", "shift", "leak"]
    n_filled = (ill.notna() & rows["ill_filled"]).sum()
    assert found["notes"][0].startswith(f"{n_filled} of the 60 labels")
    assert found["notes"][2].startswith("Column 'result' alone")


def test_notices_about_a_table_in_chunks_are_those_of_the_whole_table(folder):
    rows = frame().sort_values("age", ignore_index=True)
    rows["ill"] = np.where(np.arange(600) < 80, np.where(rows["age"] % 2 < 1, "no", "yes"), None)
    pd.concat([rows, rows[:40]]).to_parquet(folder / "t.parquet", row_group_size=200)
    source, order = find(str(folder / "t.parquet")), FitOptions("ridge", alpha=2.0, folds=2)
    chunks = split(source, labels=["ill"], n_bytes=4096)
    expected = fit_prepared(prepare(read(source, labels=["ill"]), "ill"), order).about["notices"]
    found = fit_streamed(prepare_chunks(chunks, "ill"), order).about["notices"]
    assert {"shift", "copies_labeled"} <= {one["kind"] for one in found}
    assert [one["sentence"] for one in found] == [one["sentence"] for one in expected]
    found, expected = (
        next(one["facts"]["auc"] for one in notices if one["kind"] == "shift")
        for notices in (found, expected)
    )
    assert found == pytest.approx(expected, rel=1e-9)


def flat_entry(model, key):
    """Return an entry of a model's description as a flat list of numbers and hashes of texts."""
    flat = pd.json_normalize({key: model.about[key]}, sep=".").iloc[0]
    return [value if isinstance(value, float | int) else hash(str(value)) for value in flat]


@pytest.fixture(scope="module")
def scheduler():
    with cluster(1) as workers, Client(workers):
        yield workers.scheduler_address


def test_the_command_fits_on_a_scheduler_and_says_so(semisquares, folder, scheduler):
    code, out, err = semisquares(
        "fit", str(folder / "rows*.parquet"), "--target", "ill", "-o", str(folder / "m"),
        "--engine", "dask", "--scheduler", scheduler, "--json", "--folds", "2", "--repeats", "1",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["rows"] == 600
    assert json.loads(out)["engine"] == "dask"
    assert load(str(folder / "m")).about["labeled"] == 60


def test_a_csv_on_a_scheduler_gives_the_same_model_and_leaves_nothing(
    semisquares, folder, scheduler
):
    def fit(*options):
        code, out, err = semisquares(
            "fit", str(folder / "rows.csv"), "--target", "ill", "-o", str(folder / "m"), "--json",
            "--method", "soft", "--alpha", "1", "--weight", "1", "--folds", "2", "--repeats", "1",
            *options,
        )  # fmt: skip
        assert code == 0, err
        return json.loads(out)

    before = sorted(folder.iterdir())
    found, expected = fit("--scheduler", scheduler), fit()
    assert (found.pop("engine"), expected.pop("engine")) == ("dask", "memory")
    metrics = [pd.json_normalize(one["metrics"]).iloc[0].tolist() for one in (found, expected)]
    assert metrics[0] == pytest.approx(metrics[1], rel=1e-9)
    assert [found[key] for key in ("rows", "labeled", "notes")] == [
        expected[key] for key in ("rows", "labeled", "notes")
    ]
    gc.collect(1)
    assert sorted({*folder.iterdir()} - {folder / "m"}) == before


def test_tables_that_fit_in_memory_are_read_at_once(semisquares, folder):
    code, out, err = semisquares(
        "fit", str(folder / "rows.csv"), "--target", "ill", "-o", str(folder / "m"),
        "--method", "soft", "--alpha", "1", "--weight", "1", "--folds", "2", "--repeats", "1",
    )  # fmt: skip
    assert code == 0, err
    assert "Engine: memory" in out


WRONG = {
    "no scheduler": (["--scheduler", "tcp://127.0.0.1:9"], "No Dask scheduler answers"),
    "no address": (["--scheduler", "nowhere"], "No Dask scheduler answers"),
    "no amount": (["--engine", "dask", "--memory-limit", "much"], "is not an amount of memory"),
    "no number": (["--engine", "dask", "--memory-limit", "1e400"], "is not an amount of memory"),
    "too little": (["--engine", "dask", "--memory-limit", "100MB"], "leaves too little"),
    "both": (["--engine", "memory", "--memory-limit", "2GB"], "need --engine dask"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options_get_one_sentence(semisquares, folder, monkeypatch, name):
    monkeypatch.setattr("semisquares.cli._engine.SCHEDULER_TIMEOUT", "1s")
    options, sentence = WRONG[name]
    code, _, err = semisquares(
        "fit", str(folder / "rows.csv"), "--target", "ill", "-o", str(folder / "m"), *options
    )
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err
