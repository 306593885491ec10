"""The options that say how a table is read: in `fit`, `compare` and `predict`, on both engines."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from semisquares.cli._inputs import open_table, read_in_chunks
from semisquares.cli._options import Columns, Reading
from semisquares.cli._output import Output
from semisquares.tables import load
from support.command_line import refused

GIVEN = ("--method", "soft", "--alpha", "1", "--weight", "1", "--jobs", "1")


def visits(n_rows=60):
    """Return a table with ambiguous dates and codes with leading zeros, two classes apart."""
    rng = np.random.default_rng(0)
    late = np.arange(n_rows) % 2 == 1
    days = pd.to_datetime([f"2024-{k % 5 + 1:02d}-{5 + 6 * (k % 2):02d}" for k in range(n_rows)])
    return pd.DataFrame(
        {
            "amount": rng.normal(3 * late).round(2),
            "zip": np.where(rng.random(n_rows) < 0.5, "01234", "94110"),
            "seen": days.strftime("%m/%d/%Y"),
            "late": np.where(np.arange(n_rows) < 24, np.where(late, "yes", "no"), None),
        }
    )


def fit(semisquares, table, *words):
    """Fit a model, and return it with what was printed on standard error."""
    code, _, errors = semisquares("fit", table, "--target", "late", "-o", "m", *GIVEN, *words)
    assert code == 0, errors
    return load("m"), errors


@pytest.fixture
def in_chunks(monkeypatch):
    """Return a function that prepares a table as `fit --engine dask` does, without workers."""
    monkeypatch.setattr("semisquares.tables.models._streaming.on_dask", map)

    def prepared(path, dates=None, **given):
        reading = Reading(
            **{field.name: None for field in fields(Reading)} | {"missing": ()} | given
        )
        columns = Columns("late", None, (), {}, None, dates)
        source = open_table(str(path), reading)
        output = Output(quiet=True)
        return read_in_chunks(output, str(path), reading, columns, source, n_bytes=512)

    return prepared


def kinds(model):
    return {column.name: (column.kind, column.format) for column in model.encoder.columns}


def test_what_cannot_be_told_is_said_with_the_option_that_settles_it(semisquares):
    visits().to_csv("t.csv", index=False)
    model, errors = fit(semisquares, "t.csv")
    assert kinds(model)["seen"] == ("category", None)
    assert "give --dates dmy or --dates mdy, or write them as yyyy-mm-dd" in errors
    assert "so they are taken for categories: give --kind zip=number" in errors


def test_the_order_of_dates_is_named_once_and_kept_in_the_model(semisquares):
    visits().to_csv("t.csv", index=False)
    model, errors = fit(semisquares, "t.csv", "--dates", "mdy")
    assert kinds(model)["seen"] == ("date", "mm/dd/yyyy")
    assert kinds(model)["zip"] == ("category", None)
    assert "--dates" not in errors
    code, _, _ = semisquares("predict", "m", "t.csv", "-o", "p.csv")
    assert code == 0
    found = pd.read_csv("p.csv", dtype={"zip": str})
    assert found["zip"].tolist() == visits()["zip"].tolist()
    frame = visits().assign(seen=pd.to_datetime(visits()["seen"], format="%m/%d/%Y"))
    np.testing.assert_allclose(found["late_decision_yes"], model.predict(frame).decision)


def test_chunks_are_read_with_the_same_options(tmp_path, in_chunks):
    path = tmp_path / "t.csv"
    visits().to_csv(path, index=False)
    found = in_chunks(path, dates="mdy")
    assert {c.name: c.format for c in found.columns}["seen"] == "mm/dd/yyyy"
    assert len(found.chunks) > 1


def test_an_unknown_order_of_dates_is_refused(semisquares):
    visits().to_csv("t.csv", index=False)
    command = ("fit", "t.csv", "--target", "late", "-o", "m", "--dates", "ydm")
    assert "'ydm' is not one of 'dmy', 'mdy', 'ymd'" in refused(semisquares(*command))
