"""The options that say how a table is read: in `fit`, `compare` and `predict`, on both engines."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semisquares.cli._inputs import open_table, read_in_chunks
from semisquares.cli._options import Columns, Reading
from semisquares.cli._output import Output
from semisquares.tables import load
from semisquares.tables.io import read
from support.command_line import refused
from support.workbooks import xlsx_of

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
    path.write_text("Visits\n" + path.read_text())
    found = in_chunks(path, dates="mdy", skip_rows=1)
    assert {c.name: c.format for c in found.columns}["seen"] == "mm/dd/yyyy"
    assert len(found.chunks) > 1


def test_rows_above_the_header_are_pointed_out_and_skipped_by_all_commands(semisquares):
    visits().to_csv("plain.csv", index=False)
    Path("t.csv").write_text("Visits in 2024,,,\n" + Path("plain.csv").read_text())
    hint = "t.csv has 1 row above its header, such as a title; skip it with --skip-rows 1."
    command = ("t.csv", "--target", "late", "-o", "m")
    assert hint in refused(semisquares("fit", *command, "--quiet"))
    assert hint in refused(semisquares("compare", *command[:3]))
    model, _ = fit(semisquares, "t.csv", "--skip-rows", "1")
    assert kinds(model) == kinds(fit(semisquares, "plain.csv")[0])
    assert hint in refused(semisquares("predict", "m", "t.csv", "-o", "p.csv"))
    for words in (("t.csv", "--skip-rows", "1", "-o", "p.csv"), ("plain.csv", "-o", "q.csv")):
        assert semisquares("predict", "m", *words)[0] == 0
    assert Path("p.csv").read_text() == Path("q.csv").read_text()


def test_the_command_of_a_report_has_all_reading_options():
    reading = Reading(None, None, None, ("?",), 2, "Data")
    assert reading.arguments() == ["--skip-rows", "2", "--sheet", "Data", "--missing", "?"]
    columns = Columns("late", None, (), {}, None, "dmy")
    assert columns.arguments() == ["--target", "late", "--dates", "dmy"]


def test_a_sheet_is_read_by_all_commands_and_predictions_are_a_workbook(semisquares):
    frame = visits()
    rows = [list(frame), *frame.astype(object).where(frame.notna(), None).values.tolist()]
    sheets = {"Notes": [["by hand"]], "Visits": [["Visits in 2024"], *rows]}
    Path("t.xlsx").write_bytes(xlsx_of(sheets))
    command = ("t.xlsx", "--target", "late", "-o", "m", "--quiet")
    choose = "t.xlsx has 2 sheets: 'Notes', 'Visits'; choose one with --sheet Notes."
    assert choose in refused(semisquares("fit", *command))
    hint = "skip it with --skip-rows 1."
    assert hint in refused(semisquares("fit", *command, "--sheet", "Visits"))
    given = ("--sheet", "Visits", "--skip-rows", "1")
    model, _ = fit(semisquares, "t.xlsx", *given, "--dates", "mdy")
    assert kinds(model)["zip"] == ("category", None)
    assert kinds(model)["seen"] == ("date", "mm/dd/yyyy")
    assert semisquares("predict", "m", "t.xlsx", *given, "-o", "p.xlsx")[0] == 0
    found = read("p.xlsx", labels=["late"])
    np.testing.assert_allclose(found["late_decision_yes"], model.predict(frame).decision)
    assert found["zip"].tolist() == frame["zip"].tolist()


def test_an_unknown_order_of_dates_is_refused(semisquares):
    visits().to_csv("t.csv", index=False)
    command = ("fit", "t.csv", "--target", "late", "-o", "m", "--dates", "ydm")
    assert "'ydm' is not one of 'dmy', 'mdy', 'ymd'" in refused(semisquares(*command))
