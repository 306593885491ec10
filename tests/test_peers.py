"""The comparison with peers: fair splits, fits that may go wrong, cells that are kept."""

from __future__ import annotations

import time
from threading import Event

import numpy as np
import pytest
from benchmarks.peers import accuracy, cost, sets, storing
from benchmarks.peers.__main__ import main
from benchmarks.peers.fitting import Fitter, Limits, Outcome
from benchmarks.peers.methods import METHODS, alphas_of

import fake_peers
from command_line import PATIENCE
from semisquares import SoftLabelClassifierCV
from semisquares.errors import UserError

TWO = ("ridge_cv", "soft")


class InThisProcess(Fitter):
    """Fits here, notes what it was asked, and stops where it is told to."""

    def __init__(self, stop_after=None, versions="1", failing=(), methods=METHODS):
        super().__init__(Limits(5.0), methods=methods)
        self.asked, self.stop_after, self.made_with = [], stop_after, versions
        self.failing = failing

    def versions(self, name):
        return {"numpy": self.made_with}

    def fit(self, name, seed, **arrays):
        if len(self.asked) == self.stop_after:
            raise KeyboardInterrupt
        self.asked.append((name, seed, arrays))
        if name in self.failing:
            return Outcome("failed", "ValueError: no")
        return Outcome("ok", cpu=0.5, wall=0.5, predicted=np.zeros(len(arrays["X_test"])))

    def cost(self, name, n_rows, n_labels, seed):
        self.asked.append((name, n_rows, seed))
        if name in self.failing and n_rows > 10:
            return Outcome("timed out", "no model after 5 s of CPU time")
        return Outcome("ok", "", 0.1, 0.1, 2e8, 1e6, 0.9)


def run(folder, fitter, plan, jobs=1):
    folder.mkdir(exist_ok=True)
    with storing.open_ledger(folder, accuracy) as ledger:
        try:
            accuracy.run(plan, ledger, lambda: fitter, jobs=jobs)
        finally:
            storing.write_tables(ledger, folder, accuracy)
    return (folder / "errors.csv").read_bytes() + (folder / "fits.csv").read_bytes()


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


def test_the_ridge_chooses_among_the_ridges_of_soft_cv():
    split = sets.draw("Wine", "columns", 0)
    model = SoftLabelClassifierCV().fit(split.X, split.y)
    alphas = np.unique(model.cv_results_["param_alpha"])
    np.testing.assert_allclose(alphas_of(split.X[split.y >= 0]), alphas, rtol=1e-9)


def test_a_run_that_was_stopped_goes_on_and_ends_as_one_that_was_not(tmp_path):
    plan = accuracy.Plan(TWO, ("Haberman", "Wine"), splits=2)
    whole = run(tmp_path / "whole", InThisProcess(), plan)
    stopped, second = InThisProcess(stop_after=7), InThisProcess()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", stopped, plan)
    assert run(tmp_path / "parts", second, plan) == whole
    assert len(stopped.asked) + len(second.asked) == len(list(plan.cells()))


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


def test_a_method_is_measured_again_only_where_asked(tmp_path):
    plan = accuracy.Plan(TWO, ("Haberman",), splits=1)
    run(tmp_path, InThisProcess(), plan)
    with storing.open_ledger(tmp_path, accuracy) as ledger:
        ledger.forget(accuracy.part_of("soft"))
    again = InThisProcess()
    run(tmp_path, again, plan)
    assert [name for name, *_ in again.asked] == ["soft"] * 3


def test_cells_of_two_versions_are_not_mixed(tmp_path):
    plan = accuracy.Plan(("soft",), ("Haberman",), splits=1)
    run(tmp_path, InThisProcess(versions="1"), plan)
    with pytest.raises(UserError, match=r"numpy was 1 and is now 2; .*\(--again soft\)\.$"):
        run(tmp_path, InThisProcess(versions="2"), plan)


def test_tables_are_not_replaced_by_those_of_fewer_fits(tmp_path):
    plan = accuracy.Plan(("soft",), ("Haberman",), ("ten",), splits=1)
    run(tmp_path, InThisProcess(), plan)
    (tmp_path / "accuracy.sqlite").unlink()
    with pytest.raises(UserError, match=r"without accuracy\.sqlite, .* move the tables away"):
        run(tmp_path, InThisProcess(), plan)


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
    found = Fitter(limits, registry="tests.fake_peers", methods=fake_peers.METHODS)
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
    endless = fitter.fit("never_ends", 0, **arrays)
    assert (endless.status, endless.error) == ("timed out", "no model after 0.3 s of CPU time")
    fitter.limits = patient
    fine = fitter.fit("constant", 0, **arrays)
    assert fine.status == "ok"
    assert set(fine.predicted) == {arrays["y"][arrays["y"] >= 0][0]}


def test_the_cost_of_a_fit_is_its_memory_beyond_the_rows(fitter):
    found = fitter.cost("holds", 1000, 100, seed=0)
    assert found.status == "ok"
    assert found.beyond == pytest.approx(100e6, rel=0.1)
    assert found.wall > 0.0


def test_a_method_that_fails_with_some_rows_is_not_asked_for_more(tmp_path):
    fitter = InThisProcess(failing=("soft",))
    run(tmp_path, InThisProcess(), accuracy.Plan(TWO, ("Wine",), ("ten",), splits=1))
    assert storing.read(tmp_path).cost.empty
    with storing.open_ledger(tmp_path, cost) as ledger:
        cost.run(cost.Plan(TWO, (10, 20, 30), turns=2), ledger, lambda: fitter)
        storing.write_tables(ledger, tmp_path, cost)
    asked = [(name, rows) for name, rows, _ in fitter.asked]
    assert asked.count(("soft", 10)) == 2
    assert asked.count(("soft", 20)) == 1
    assert asked.count(("soft", 30)) == 0
    assert asked.count(("ridge_cv", 30)) == 2
    stored = storing.read(tmp_path).cost
    assert set(stored.loc[stored["status"] != "ok", "error"]) == {"no model after 5 s of CPU time"}


def test_the_command_measures_and_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.peers.__main__.Fitter", lambda *given: InThisProcess())
    words = ["accuracy", "--methods=-soft_cv", "--sets", "Wine", "--out", str(tmp_path)]
    main([*words, "--splits", "1"])
    main([*words, "--splits", "2", "--again", "soft"])
    stored = storing.read(tmp_path)
    assert len(stored.errors) == 2 * len(sets.REGIMES)
    assert "soft_cv" not in stored.methods
    with pytest.raises(SystemExit):
        main(["accuracy", "--methods", "unheard_of"])
    assert "use some of soft_cv" in capsys.readouterr().err
