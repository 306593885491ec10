"""The comparison with peers: fair splits, fits that may go wrong, cells that are kept."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from threading import Event

import numpy as np
import pytest
from benchmarks.peers import accuracy, cost, sets, storing
from benchmarks.peers.__main__ import main
from benchmarks.peers.fitting import Fitter, Limits, Outcome, cpu_seconds
from benchmarks.peers.restoring import restore
from benchmarks.peers.supervised import alphas_of
from benchmarks.peers.writing import write_tables

from semisquares import SoftLabelClassifierCV
from semisquares._utils.errors import UserError
from semisquares.paper._ledger import Ledger
from support import fake_peers
from support.command_line import PATIENCE

TWO = ("ridge_cv", "soft")


class InThisProcess(Fitter):
    """Fits here, notes what it was asked, and stops where it is told to.

    Methods fail, or a method in a split, and some are certain of what they say.
    """

    def __init__(self, stop_after=None, versions="1", failing=(), certain=()):
        super().__init__(Limits(5.0))
        self.asked, self.stop_after, self.made_with = [], stop_after, versions
        self.failing, self.certain = failing, certain

    def versions(self, name):
        return {"numpy": self.made_with}

    def fit(self, name, seed, **arrays):
        if len(self.asked) == self.stop_after:
            raise KeyboardInterrupt
        self.asked.append((name, seed, arrays))
        if name in self.failing or (name, seed) in self.failing:
            return Outcome("failed", "ValueError: no")
        n_rows, n_classes = len(arrays["X_test"]), int(arrays["truth"].max()) + 1
        said = {"predicted": np.zeros(n_rows, int), "probabilities": None}
        if name in self.certain:
            said["probabilities"] = np.tile(np.eye(n_classes)[0], (n_rows, 1))
        return Outcome("ok", cpu=0.5, wall=0.5, **said)

    def cost(self, name, n_rows, n_labels, seed):
        self.asked.append((name, n_rows, seed))
        if name in self.failing and n_rows > 10:
            return Outcome("timed out", "no model after 5 s of CPU time")
        return Outcome("ok", "", 0.1, 0.1, 2e8, 1e6, 0.9)


def run(folder, fitter, plan, jobs=1):
    folder.mkdir(exist_ok=True)
    with Ledger(folder / "accuracy.sqlite") as ledger:
        restore(ledger, storing.read(folder), accuracy, plan.methods)
        try:
            accuracy.run(plan, ledger, lambda: fitter, jobs=jobs)
        finally:
            write_tables(ledger, folder, accuracy)
    return files(folder)


def files(folder):
    """Return all stored tables, and what their methods were measured with."""
    paths = (*folder.glob("*.csv"), *folder.glob("*.json"))
    return {path.name: path.read_text() for path in paths}


def test_every_method_gets_the_same_rows_and_the_test_rows_are_no_training_rows(tmp_path):
    fitter = InThisProcess()
    run(tmp_path, fitter, accuracy.Plan(TWO, ("Wine",), splits=2))
    first, second = fitter.asked[::2], fitter.asked[1::2]
    assert [name for name, *_ in (*first, *second)] == [TWO[0]] * 6 + [TWO[1]] * 6
    for (_, seed, arrays), (_, other_seed, others) in zip(first, second, strict=True):
        assert seed == other_seed
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, others[name])
        training = {row.tobytes() for row in arrays["X"]}
        assert not training & {row.tobytes() for row in arrays["X_test"]}


@pytest.mark.parametrize("regime", sets.REGIMES)
def test_a_regime_labels_as_many_rows_as_it_says(regime):
    X, y = sets.table("Wine")
    split = sets.draw("Wine", regime, 3)
    n_train = len(split.y)
    wanted = {"ten": 30, "columns": X.shape[1], "half": n_train // 2}[regime]
    assert (split.y >= 0).sum() == wanted
    assert np.bincount(split.y[split.y >= 0]).min() >= sets.OF_EACH
    assert len(split.y_test) == pytest.approx(sets.TEST_SHARE * len(y), abs=1)
    np.testing.assert_array_equal(split.y[split.y >= 0], split.truth[split.y >= 0])
    np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(split.X.std(axis=0), 1.0)


def test_few_columns_still_get_ten_labels_and_splits_differ():
    assert (sets.draw("Haberman", "columns", 0).y >= 0).sum() == sets.LEAST
    first, second = (sets.draw("Haberman", "ten", number) for number in (0, 1))
    assert not np.array_equal(first.X_test, second.X_test)


def test_the_ridges_of_the_ridge_are_around_those_of_soft_cv():
    split = sets.draw("Wine", "columns", 0)
    model = SoftLabelClassifierCV().fit(split.X, split.y)
    alphas = model.cv_results_["param_alpha"]
    ridges = alphas_of(split.X[split.y >= 0])
    np.testing.assert_allclose(ridges[[1, -2]], [alphas.min(), alphas.max()], rtol=1e-9)


class StoppedAmidst(InThisProcess):
    """Stops in one thread while another waits for a fit, which ends when it is killed."""

    def __init__(self):
        super().__init__()
        self.begun, self.killed, self.ended = Event(), Event(), Event()
        self.closed_too_early = False

    def fit(self, name, seed, **arrays):
        if name == "ridge_cv":
            assert self.begun.wait(PATIENCE)
            raise KeyboardInterrupt
        self.begun.set()
        assert self.killed.wait(PATIENCE)
        time.sleep(0.1)  # as a process does that is being killed
        self.ended.set()
        return Outcome("failed", "its process was killed")

    def kill(self):
        self.killed.set()

    def close(self):
        self.closed_too_early |= self.begun.is_set() and not self.ended.is_set()


def test_a_stop_ends_what_other_threads_wait_for_before_it_clears_up(tmp_path):
    fitter = StoppedAmidst()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, fitter, accuracy.Plan(TWO, ("Haberman",), splits=2), jobs=2)
    assert fitter.ended.is_set()
    assert not fitter.closed_too_early


def test_the_number_of_jobs_does_not_show_in_the_tables(tmp_path):
    plan = accuracy.Plan(TWO, ("Wine",), splits=4)
    one, three = (
        run(tmp_path / str(jobs), InThisProcess(failing=("soft",)), plan, jobs) for jobs in (1, 3)
    )
    assert one == three


def test_a_method_is_measured_again_only_where_asked(tmp_path, command):
    command("--methods", "ridge_cv,soft", "--splits", "1")
    again = command("--methods", "ridge_cv", "--splits", "1", "--again", "soft")
    assert {name for name, *_ in again.asked} == {"soft"}
    assert len(again.asked) == len(sets.REGIMES)


def test_cells_of_two_versions_are_not_mixed(tmp_path):
    plan = accuracy.Plan(("soft",), ("Haberman",), splits=1)
    run(tmp_path, InThisProcess(versions="1"), plan)
    with pytest.raises(UserError, match=r"numpy was 1 and is now 2; .*\(--again soft\)\.$"):
        run(tmp_path, InThisProcess(versions="2"), plan)


LEDGER = "accuracy.sqlite"


@pytest.mark.parametrize("lost", [[], [LEDGER]], ids=["ledger and tables", "tables alone"])
def test_a_stopped_run_goes_on_from_what_is_there_and_ends_as_a_whole_one(tmp_path, lost):
    plan = accuracy.Plan(("soft", "ridge_cv", "logistic"), ("Haberman", "Wine"), splits=6)
    told = {"failing": ("soft",), "certain": ("logistic",)}
    whole = run(tmp_path / "whole", InThisProcess(**told), plan)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", InThisProcess(stop_after=60, **told), plan)
    for name in lost:
        (tmp_path / "parts" / name).unlink()
    second = InThisProcess(**told)
    assert run(tmp_path / "parts", second, plan) == whole
    assert 60 + len(second.asked) == 2 * len(sets.REGIMES) * (6 + 6 + accuracy.STRIKES)


def test_splits_that_a_method_has_not_come_to_are_not_taken_for_failed_ones(tmp_path):
    others, told = accuracy.Plan(("soft",), ("Haberman",), splits=6), {"failing": [("hard", 1)]}
    mine = replace(others, methods=("hard",))
    run(tmp_path / "whole", InThisProcess(), others)
    run(tmp_path / "parts", InThisProcess(), others)
    whole = run(tmp_path / "whole", InThisProcess(**told), mine)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", InThisProcess(stop_after=8, **told), mine)
    (tmp_path / "parts" / LEDGER).unlink()
    assert run(tmp_path / "parts", InThisProcess(**told), mine) == whole


def test_a_method_that_is_added_leaves_the_stored_fits_of_others_as_they_are(tmp_path):
    both, told = accuracy.Plan(TWO, ("Haberman", "Wine"), splits=2), {"certain": TWO}
    whole = run(tmp_path / "whole", InThisProcess(**told), both)
    run(tmp_path / "parts", InThisProcess(**told), replace(both, methods=TWO[:1]))
    (tmp_path / "parts" / LEDGER).unlink()
    assert run(tmp_path / "parts", InThisProcess(**told), replace(both, methods=TWO[1:])) == whole


def test_stored_fits_stay_until_all_of_them_are_measured_anew(tmp_path):
    plan = accuracy.Plan(("soft",), ("Haberman",), splits=3)
    before = run(tmp_path, InThisProcess(), plan)
    (tmp_path / LEDGER).unlink()
    with Ledger(tmp_path / LEDGER) as ledger:
        fitter = InThisProcess(certain=("soft",), versions="2")
        accuracy.run(replace(plan, splits=2), ledger, lambda: fitter)
        assert write_tables(ledger, tmp_path, accuracy) == {"soft": len(sets.REGIMES)}
        assert files(tmp_path) == before
        accuracy.run(plan, ledger, lambda: fitter)
        assert write_tables(ledger, tmp_path, accuracy) == {}
    stored = storing.read(tmp_path)
    assert stored.versions["soft"]["numpy"] == "2"
    assert stored.scores["log_loss"]["soft"].notna().all()


def test_the_stored_tables_come_back_from_a_ledger_that_is_made_of_them(tmp_path):
    shutil.copytree(storing.RESULTS, tmp_path, dirs_exist_ok=True, ignore=lambda *_: {LEDGER})
    before = files(tmp_path)
    for part in (accuracy, cost):
        with Ledger(tmp_path / f"{part.PART}.sqlite") as ledger:
            restore(ledger, storing.read(tmp_path), part, ["tsvm"])  # which fails in many ways
            assert write_tables(ledger, tmp_path, part) == {}
            assert ledger.record(part.part_of("tsvm")) is not None
    assert files(tmp_path).items() >= before.items()


def test_a_method_that_fails_three_times_is_given_up_there_and_its_error_stored(tmp_path):
    fitter = InThisProcess(failing=("soft",))
    run(tmp_path, fitter, accuracy.Plan(TWO, ("Haberman",), ("ten",), splits=5))
    assert [name for name, *_ in fitter.asked].count("soft") == accuracy.STRIKES
    stored = storing.read(tmp_path)
    mine = stored.fits[stored.fits["method"] == "soft"].iloc[0]
    assert (mine["fits"], mine["ok"], mine["status"]) == (3, 0, "failed")
    assert mine["error"] == "ValueError: no"
    assert stored.errors["soft"].isna().all()
    assert stored.errors["ridge_cv"].notna().all()


@pytest.fixture
def arrays():
    split = sets.draw("Haberman", "ten", 0)
    return {"X": split.X, "y": split.y, "truth": split.truth, "X_test": split.X_test}


@pytest.fixture
def fitter():
    limits = Limits(60.0, 4 * 2**30)
    found = Fitter(limits, registry="tests.support.fake_peers", methods=fake_peers.METHODS)
    with found:
        yield found


def test_what_goes_wrong_in_a_fit_is_told_and_the_next_one_is_fine(fitter, arrays):
    told = {
        name: fitter.fit(name, 0, **arrays)
        for name in ("raises", "imports", "gives_nan", "elsewhere", "wants_much", "is_killed")
    }
    said = {name: (one.status, one.error) for name, one in told.items()}
    assert said["raises"] == ("failed", "ValueError: no luck today")
    assert said["imports"][0] == said["elsewhere"][0] == "not installed"
    assert "a_package_that_nobody_has" in said["imports"][1]
    assert "--python lamda=PATH" in said["elsewhere"][1]
    assert said["gives_nan"][0] == "failed"
    assert said["wants_much"][1].startswith("MemoryError") or "allocate" in said["wants_much"][1]
    assert said["is_killed"] == (
        "failed",
        "its process was killed, as the system does for want of memory",
    )
    patient, fitter.limits = fitter.limits, Limits(0.3)
    late = fitter.fit("never_ends", 0, **arrays)
    assert (late.status, late.error) == ("timed out", "no model after 0.3 s of CPU time")
    fitter.limits = patient
    fine = fitter.fit("constant", 0, **arrays)
    assert fine.status == "ok"
    assert set(fine.predicted) == {arrays["y"][arrays["y"] >= 0][0]}


@pytest.mark.parametrize(("spent", "status"), [([1, 2, 3], "ok"), ([1, 2, 2], "timed out")])
def test_a_fit_on_a_busy_machine_is_waited_for_while_it_is_at_work(
    fitter, arrays, monkeypatch, spent, status
):
    fitter.fit("constant", 0, **arrays)
    waits = iter([*spent, "an answer"])
    said = {"an answer": ([True], [], [])}
    now = []

    def wait(*given):
        now.append(next(waits))
        return said.get(now[-1], ([], [], []))

    monkeypatch.setattr("benchmarks.peers.fitting.select.select", wait)
    monkeypatch.setattr("benchmarks.peers.fitting.cpu_seconds", lambda pid: now[-1])
    assert fitter.fit("constant", 0, **arrays).status == status


def test_a_process_has_spent_cpu_time_and_one_that_is_gone_none():
    assert cpu_seconds(os.getpid()) > 0.0
    assert cpu_seconds(2**30) == 0.0


def test_probabilities_have_a_column_for_each_class_and_none_for_a_model_without(fitter):
    split = sets.draw("Wine", "ten", 0)
    arrays = {"X": split.X, "y": split.y, "truth": split.truth, "X_test": split.X_test[:3]}
    found = fitter.fit("one_of_three", 0, **arrays).probabilities
    np.testing.assert_array_equal(found, [[1 / 3] * 3, [0, 0, 1], [0, 0, 1]])
    assert fitter.fit("constant", 0, **arrays).probabilities is None


def test_the_cost_of_a_fit_is_its_memory_beyond_the_rows(fitter):
    found = fitter.cost("holds", 1000, 100, seed=0)
    assert found.status == "ok"
    assert found.beyond == pytest.approx(100e6, rel=0.1)
    assert found.wall > 0.0


def test_a_method_that_fails_with_some_rows_is_not_asked_for_more(tmp_path):
    fitter = InThisProcess(failing=("soft",))
    run(tmp_path, InThisProcess(), accuracy.Plan(TWO, ("Wine",), ("ten",), splits=1))
    assert storing.read(tmp_path).cost.empty
    with Ledger(tmp_path / "cost.sqlite") as ledger:
        cost.run(cost.Plan(TWO, (10, 20, 30), turns=2), ledger, lambda: fitter)
        write_tables(ledger, tmp_path, cost)
    asked = [(name, rows) for name, rows, _ in fitter.asked]
    assert asked.count(("soft", 10)) == 2
    assert asked.count(("soft", 20)) == 1
    assert asked.count(("soft", 30)) == 0
    assert asked.count(("ridge_cv", 30)) == 2
    stored = storing.read(tmp_path).cost
    assert set(stored.loc[stored["status"] != "ok", "error"]) == {"no model after 5 s of CPU time"}


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Return the command, on the rows of Wine; it returns the fitter that it asked."""

    def run_command(*words, out=tmp_path):
        fitter = InThisProcess()
        monkeypatch.setattr("benchmarks.peers.__main__.Fitter", lambda *given: fitter)
        main(["accuracy", "--sets", "Wine", "--out", str(out), *words])
        return fitter

    return run_command


def test_the_command_measures_and_goes_on(tmp_path, command):
    command("--methods=-soft_cv", "--splits", "1")
    command("--methods=-soft_cv", "--splits", "2", "--again", "soft")
    stored = storing.read(tmp_path)
    assert len(stored.errors) == 2 * len(sets.REGIMES)
    assert "soft_cv" not in stored.methods


def test_an_unknown_method_is_refused_with_the_known_ones(capsys):
    with pytest.raises(SystemExit):
        main(["accuracy", "--methods", "unheard_of"])
    assert "use some of averaged" in capsys.readouterr().err


def test_splits_may_begin_at_any_number(tmp_path, command):
    fitter = command("--methods", "soft", "--splits", "2", "--first-split", "2000")
    assert {seed for _, seed, _ in fitter.asked} == {2000, 2001}
    assert set(storing.read(tmp_path).errors["split"]) == {2000, 2001}


def test_splits_that_are_reported_are_not_mixed_with_others(tmp_path, command, monkeypatch):
    command("--methods", "soft", "--splits", "1")
    monkeypatch.setattr("benchmarks.peers.__main__.RESULTS", tmp_path / "of the repository")
    for out in (tmp_path, tmp_path / "of the repository"):
        with pytest.raises(SystemExit, match=r"^Error: Splits 1000 to 1001 .* \(--out\)\.$"):
            command("--methods", "soft", "--splits", "2", "--first-split", "1000", out=out)


def test_reported_splits_do_not_go_where_others_are(tmp_path, command):
    command("--methods", "soft", "--splits", "1", "--first-split", "1000")
    with pytest.raises(SystemExit, match="have their own folder"):
        command("--methods", "soft", "--splits", "1")
