"""The costs of the commands, on tables that are small enough for a test."""

from contextlib import nullcontext

import click
import numpy as np
import pandas as pd
import pytest

from benchmarks import __main__ as benchmarks_command
from benchmarks import table_costs, tables


@pytest.fixture
def in_turn(monkeypatch):
    """Run every rival once, and give the first 1 second, the second 2, and so on."""

    def once(rivals, repeats):
        for work in rivals.values():
            work()
        return {name: float(place) for place, name in enumerate(rivals, start=1)}

    monkeypatch.setattr(table_costs, "side_by_side", once)


@pytest.fixture
def compared(semisquares, monkeypatch):
    """Run commands and scripts in this process; only note commands that compare."""
    noted = []

    def cheaply(words):
        if "compare" in words:
            noted.append(words)
        elif words[:2] == ["-m", "semisquares"]:
            code, _, errors = semisquares(*words[2:])
            assert code == 0, errors
        else:
            script, argv = words[1], ["-c", *words[2:]]
            monkeypatch.setattr("sys.argv", argv)
            with pytest.raises(SystemExit, match="0") if argv[1:] else nullcontext():
                exec(script, {})

    monkeypatch.setattr(table_costs, "_process", cheaply)
    return noted


def test_the_small_table_has_the_shape_that_is_promised(tmp_path):
    frame = pd.read_csv(table_costs._write_penguins(tmp_path))
    assert frame.shape == (344, 17)
    assert frame["Species"].notna().sum() == 100


@pytest.mark.usefixtures("in_turn")
def test_every_command_is_measured_on_a_small_table(compared, tmp_path, monkeypatch):
    monkeypatch.setattr(table_costs, "PENGUINS", 60)
    monkeypatch.setattr(table_costs, "LABELED_PENGUINS", 20)
    table = table_costs._write_penguins(tmp_path)
    lines = table_costs._small_lines("small", table, "Species", 1)
    found = {line.ratio_of: line for line in lines}
    assert found["seconds of fit beyond imports"].value == 1.0  # 2 seconds less 1
    assert found["seconds of fit beyond imports"].high == 3.0
    assert found["seconds of compare"].value == 3.0
    assert (tmp_path / "out_penguins.csv").exists()
    assert str(tmp_path / "penguins.html") in compared[0]


@pytest.mark.parametrize("known", [False, True])
def test_quick_is_measured_only_if_it_is_an_option(known, tmp_path, monkeypatch, in_turn):
    words = []
    monkeypatch.setattr(table_costs, "_process", words.append)
    options = [click.Option(["--quick"], is_flag=True)] * known
    monkeypatch.setattr(table_costs.compare, "params", options)
    table = table_costs._write_penguins(tmp_path)
    lines = list(table_costs._small_lines("small", table, "Species", 1))
    (quick,) = [line for line in lines if line.ratio_of.endswith("--quick")]
    assert any("--quick" in one for one in words) == known
    assert np.isfinite(quick.value) == known
    assert ("left out" in quick.remark) == (not known)


@pytest.mark.usefixtures("in_turn")
@pytest.mark.parametrize(("suffix", "value", "high"), [(".csv", 2.0, 2.2), (".parquet", 1.0, 4.0)])
def test_a_fit_of_a_long_table_is_compared_with_reading_it(
    suffix, value, high, tmp_path, monkeypatch
):
    monkeypatch.setattr(tables, "ROWS", 300)
    short = tables._write
    monkeypatch.setattr(
        tables, "_write", lambda path, digits: short(path, digits, n_rows=300, n_labels=60)
    )
    line = table_costs._large_line(tmp_path / f"large{suffix}", 1)
    assert (line.value, line.high) == (value, high)
    assert (tmp_path / "large.model").exists()


def test_a_command_that_fails_stops_the_measuring():
    with pytest.raises(RuntimeError, match=r"failed: Error: .*nonsense"):
        table_costs._process(["-m", "semisquares", "nonsense"])


def test_costs_are_measured_only_if_they_are_named():
    assert "table_costs" in benchmarks_command.SUITES
    assert "table_costs" not in benchmarks_command.USUAL
