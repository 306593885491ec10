"""Benchmarks: tables without a ratio are printed; those of scale measure what they say they do."""

import re
import shutil
from types import SimpleNamespace

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from benchmarks.cost_model import CostReport, PassCost, Rates, Work
from benchmarks.report import Line, read_lines
from distributed import LocalCluster

from benchmarks import __main__ as benchmarks_command
from benchmarks import breast_cancer, figures, scale, scale_files, scale_rivals, start_up
from semisquares import LeastSquaresClassifier, SoftLabelClassifier
from semisquares.core.rows.dask import add_in_tree


def test_the_breast_cancer_table_has_a_line_with_accuracy_certificate_and_time_for_each_rival(
    capsys, monkeypatch
):
    monkeypatch.setattr(breast_cancer, "SPLITS", 2)
    breast_cancer.main([])
    printed = capsys.readouterr().out
    for rival in ("supervised least squares", "tuned ridge", "soft labels", "hard labels"):
        assert re.search(rf"^{rival}.* 0\.\d{{3}} ± 0\.\d{{3}} .*\d\.\d$", printed, re.MULTILINE)
    gap = re.search(r"^soft labels, alpha=1 .* (\d\.\de[-+]\d+) ", printed, re.MULTILINE)
    assert float(gap[1]) < 1e-12


def test_the_numbers_of_a_run_are_stored_as_plain_data(tmp_path, monkeypatch, capsys):
    lines = [
        Line("10 classes, 50,000 × 100", "soft fit / RidgeClassifier", 3.53, None, 5.0, "4 steps"),
        Line("rows from 10⁴", "log-log slope", 0.735, 0.9, 1.1, "s: 0.01", {"passes": [8, 9]}),
        Line("w" * 60, "r" * 60, np.inf),
    ]
    passes = [PassCost("a sweep", 10.5, 11.25, 300, 300)]
    costs = CostReport(Rates(4e8, 1e9, 4e10, 500.0), 0.1, 0.01, passes, Work(1e9, 20, 10, 5), {})
    suite = SimpleNamespace(run=lambda repeats: iter([*lines, costs]))
    monkeypatch.setitem(benchmarks_command.SUITES, "small", suite)
    file = tmp_path / "run.json"
    monkeypatch.setattr("sys.argv", ["benchmarks", "small", "--json", str(file)])
    benchmarks_command.main()
    assert read_lines(file) == lines
    assert CostReport.read(file) == costs
    assert "3 ratios, 1 of those promised missed." in capsys.readouterr().out


def test_imports_are_measured_without_the_first_turn_which_compiles(monkeypatch):
    turns = iter([9, 0.002, 0.004, 0.003, 9, 0.1, 0.04, 0.2, 9, 0.3, 0.1, 0.2])
    monkeypatch.setattr(start_up, "_measure", lambda statement, before: next(turns))
    lines = list(start_up.run(3))
    assert [line.value for line in lines] == pytest.approx([3, 100, 200])
    assert [line.kept for line in lines] == [True, False, True]


def test_repeats_of_figures_are_measured_against_ridge_fits(monkeypatch):
    monkeypatch.setattr(figures, "DATASETS", ("Sonar",))
    monkeypatch.setattr(figures, "REPEATS", 1)
    lines = list(figures.run(1))
    assert len(lines) == 3
    assert all(line.value > 0.0 and "CPU-ms" in line.remark for line in lines)


def test_an_import_is_measured_in_a_process_that_prints_its_seconds():
    assert start_up._measure("import string") > 0.0


def in_this_process(n_workers):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0"
    )


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own, as it reads Parquet
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")  # of older Dask
def test_the_scale_suite_measures_on_a_small_size_and_leaves_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(scale_files, "SIZES", 2)
    monkeypatch.setattr(scale, "SIZES", 2)
    monkeypatch.setattr(scale, "TASKS", 10)
    monkeypatch.setattr(scale, "ADDITIONS", 1000)
    monkeypatch.setattr(scale_rivals, "MOST_EPOCHS", 1)
    *measured, costs = scale.run(1, 400, tmp_path, in_this_process)
    lines = {line.ratio_of: line for line in measured}
    assert lines["certified relative gap"].value < 1e-12
    assert lines["fit / (passes × reading)"].value > 0.0
    assert not [line for line in lines.values() if line.low or line.high]  # promised of 8 GB only
    for one in costs.passes:  # but for the changes of a few pieces
        assert one.model_bytes == pytest.approx(one.measured_bytes, rel=0.05)
    assert "1,000,000,000 × 200, 50 workers" in str(costs)
    assert len(list(tmp_path.iterdir())) == 2


def test_every_size_of_the_scale_suite_has_the_same_labels(tmp_path):
    files = scale_files.Files(tmp_path, 100_000)
    files.write(0)
    files.write(1)
    first, second = (pd.read_parquet(files.path(k)) for k in (0, 1))
    assert (first["y"] >= 0).sum() == files.n_labels
    assert (second["y"] == -1).all()
    known = first["y"] >= 0
    assert (first["y"][known] == first["truth"][known]).all()
    assert set(first.dtypes[scale_files.NAMES]) == {np.dtype(np.float32)}


def test_files_that_do_not_fit_the_disk_are_not_begun(tmp_path, monkeypatch):
    little = shutil._ntuple_diskusage(10**9, 0, 10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: little)
    with (
        pytest.raises(SystemExit, match=r"need 8\.8 GB and .* has 1\.0 GB free; give --folder"),
        scale_files.files_in(tmp_path, 20_000_000),
    ):
        pass


def test_the_cost_model_knows_the_bytes_that_a_sweep_sends():
    X, truth = np.random.default_rng(0).normal(size=(90, 5)), np.arange(90) % 2
    X[truth == 1] += 1.0
    y = np.where(np.arange(90) % 10 < 2, truth, -1)
    with dask.config.set(scheduler="synchronous"):
        model = SoftLabelClassifier().fit(da.from_array(X, chunks=(10, 5)), y)
    sweep = next(one for one in model.solution_.passes if one.what == "sweep")
    assert sweep.bytes_sent == Work(90, 5, 10, 1, value_bytes=8).sent


@pytest.mark.parametrize("blocks", [1, 8, 9, 65])
def test_the_cost_model_counts_the_tasks_of_a_pass(blocks):
    tree = add_in_tree([dask.delayed(int)(b) for b in range(blocks)])
    assert Work(10 * blocks, 5, 10, 1).tasks == len(dict(tree.__dask_graph__()))


def test_a_pass_takes_as_long_as_its_slowest_part():
    work = Work(1e6, 100, 1000, 10, active=0.5, in_gram=0.5)
    free = 1e30
    assert Work(1e6, 100, 1000, 10).total(Rates(4e7, free, free, free, free)) == pytest.approx(1.0)
    assert work.total(Rates(free, 3e7, free, free, free)) == pytest.approx(1.0)
    assert work.total(Rates(free, free, 5e8, free, free)) == pytest.approx(1.0)
    assert work.total(Rates(free, free, free, work.tasks, free)) == pytest.approx(1.0)
    assert work.total(Rates(free, free, free, free, work.sent / 10)) == pytest.approx(1.0)


def test_descent_is_timed_until_the_loss_is_near_the_least():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    X = rng.normal(size=(2000, scale_files.COLUMNS)).astype(np.float32) + 0.1 * y[:, None]
    best = LeastSquaresClassifier(scale_rivals.ALPHA).fit(X, y)
    rows = [(X, y)]
    taken, model = scale_rivals.descend(lambda: iter(rows), best, rows, [0.1, 0.0], 20)
    found, least = (
        np.mean((scores - (2 * y - 1)) ** 2)
        for scores in (model.decision_function(X), 2.0 * best.decision_function(X))
    )
    assert 0.0 < taken[0] < taken[1] == np.inf
    assert found < 1.1 * least
