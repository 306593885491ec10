"""The commands for people's own tables: what they print and write, and their error messages."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semisquares import cli
from semisquares.cli.fit import METHODS
from semisquares.tables import load, save
from semisquares.tables._example import TABLE, TARGET, example_truth
from semisquares.tables.compare._rivals import LABELS
from semisquares.tables.models import _measuring as measuring
from semisquares.tables.report import _page
from support.command_line import PATIENCE, refused
from support.comparisons import binary
from support.forked_commands import begin_forked
from support.systems import posix_only

COMMANDS = [
    "example", "compare", "suggest", "label", "fit", "predict", "inspect", "review", "export",
    "reproduce", "datasets", "completion",
]  # fmt: skip


def patients(n_rows=80, n_labeled=30, seed=0):
    """Return a small table of two well separated classes, and the true labels."""
    rng = np.random.default_rng(seed)
    sick = rng.random(n_rows) < 0.5
    frame = pd.DataFrame(
        {
            "patient": [f"P{i:04d}" for i in range(n_rows)],
            "age": rng.integers(20, 90, n_rows),
            "pulse": rng.normal(60 + 40 * sick, 8).round(1),
            "ward": rng.choice(["north", "south", "east"], n_rows),
            "smoker": rng.choice(["yes", "no"], n_rows),
            "seen": pd.date_range("2024-01-01", periods=n_rows, freq="36h").strftime("%Y-%m-%d"),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "pulse"] = np.nan
    truth = np.where(sick, "ill", "well")
    frame["state"] = np.where(np.arange(n_rows) < n_labeled, truth, None)
    frame["seen"] = rng.permutation(frame["seen"].to_numpy(copy=True))
    return frame, truth


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """The path of the small table."""
    path = tmp_path_factory.mktemp("table") / "patients.csv"
    patients()[0].to_csv(path, index=False)
    return path


GIVEN = ("--method", "soft", "--alpha", "1", "--weight", "1", "--jobs", "1")


@pytest.fixture(scope="module")
def fitted():
    """A list that holds the bytes of a model of that table once it is fitted."""
    return []


@pytest.fixture
def model(semisquares, table, tmp_path, fitted):
    """The path of a model of that table."""
    path = tmp_path / "state.model"
    if not fitted:
        code, _, errors = semisquares("fit", table, "--target", "state", "-o", path, *GIVEN)
        assert code == 0
        assert errors == ""
        fitted.append(path.read_bytes())
    path.write_bytes(fitted[0])
    return path


# -- help and habits ----------------------------------------------------------------------------


def test_the_help_lists_every_command(semisquares):
    code, printed, _ = semisquares("--help")
    assert code == 0
    listed = re.findall(r"^  ([a-z]+) {2,}\S", printed, re.MULTILINE)
    assert listed == COMMANDS


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "datasets"])
def test_every_command_has_help_with_examples(semisquares, command, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda package: True)  # help needs nothing
    code, printed, _ = semisquares(command, "--help")
    assert code == 0
    assert re.search(rf"Examples:\n.*semisquares {command}", printed), printed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_the_shell(semisquares, shell):
    code, printed, errors = semisquares("completion", shell)
    assert (code, errors) == (0, "")
    assert f"_SEMISQUARES_COMPLETE={shell}_complete" in printed


def test_the_output_has_no_colours_without_a_terminal(semisquares, model):
    _, printed, errors = semisquares("inspect", model)
    assert "\x1b" not in printed + errors


@pytest.mark.parametrize(
    ("share", "line"),
    [
        (1e-15, "1 of 11 features has no effect (0 up to rounding)."),
        (0.0, "11 of 11 features have no effect (0 up to rounding)."),
    ],
)
def test_inspect_counts_features_whose_effect_is_rounding(semisquares, model, share, line):
    stored = load(model)
    coef = np.full_like(stored.classifier.coef, np.sign(share))
    coef[0, 1] = share
    save(replace(stored, classifier=replace(stored.classifier, coef=coef)), model)
    code, printed, _ = semisquares("inspect", model)
    assert code == 0
    assert line in printed
    assert not re.search(r"e−1\d", printed)
    found = json.loads(semisquares("inspect", model, "--json")[1])["features"]
    assert [one["weight"] for one in found].count(0.0) == int(line.split()[0])


# -- the example and the whole way --------------------------------------------------------------


def test_the_example_prints_three_commands_that_work(semisquares, tmp_path):
    code, printed, _ = semisquares("example", tmp_path / "my example")
    assert code == 0
    commands = [line for line in printed.splitlines() if line.startswith("  semisquares ")]
    assert [line.split()[1] for line in commands] == ["compare", "fit", "predict"]
    facts = json.loads(semisquares("example", tmp_path / "my example", "--json")[1])
    assert [f"  {command}" for command in facts["commands"]] == commands


def test_the_example_without_labels_prints_how_to_label_it(semisquares, tmp_path):
    words = ("example", tmp_path, "--without-labels", "--json")
    facts = json.loads(semisquares(*words)[1])
    assert [Path(name).name for name in facts["written"]] == [
        "unopened.csv", "new_rows.csv", "truth.csv",
    ]  # fmt: skip
    commands = [shlex.split(command) for command in facts["commands"]]
    assert [words[1] for words in commands] == ["suggest", "label", "compare", "fit", "predict"]
    assert commands[0][2] == commands[1][2] == facts["written"][0]
    labeled = commands[1][commands[1].index("-o") + 1]
    assert commands[2][2] == commands[3][2] == labeled
    assert semisquares(*commands[0][1:])[0] == 0


def test_predictions_are_correct_and_cells_are_kept(semisquares, model, table, tmp_path):
    frame, truth = patients()
    code, printed, errors = semisquares("predict", model, table, "-o", tmp_path / "out.csv")
    assert (code, errors) == (0, "")
    assert "80 rows, labels predicted" in printed
    out = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    kept = pd.read_csv(table, dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(out[kept.columns], kept)
    assert (out["state_predicted"] == truth).mean() > 0.95
    soft, decision = out["state_soft_well"].astype(float), out["state_decision_well"].astype(float)
    np.testing.assert_allclose(soft, np.clip(decision + 0.5, 0, 1), atol=1e-12)
    np.testing.assert_array_equal(decision > 0, out["state_predicted"] == "well")
    np.testing.assert_allclose(decision, load(model).predict(frame).decision, rtol=1e-12)


def test_predict_prints_nothing_with_quiet(semisquares, model, table):
    assert semisquares("predict", model, table, "-o", "out.csv", "--quiet") == (0, "", "")
    assert Path("out.csv").exists()


def test_only_missing_fills_the_empty_cells_and_marks_them(semisquares, model, table, tmp_path):
    code, _, _ = semisquares("predict", model, table, "--only-missing", "-o", tmp_path / "out.csv")
    assert code == 0
    before = pd.read_csv(table, dtype=str, keep_default_na=False)
    out = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    empty = before["state"] == ""
    assert out.columns.tolist() == [*before.columns, "state_filled", "state_probability"]
    assert ((out["state_probability"] == "") == ~empty).all()
    assert out["state_probability"][empty].astype(float).between(0.0, 1.0).all()
    assert (out["state_filled"] == np.where(empty, "true", "false")).all()
    pd.testing.assert_frame_equal(out[~empty][before.columns], before[~empty])
    assert (out["state"][empty].isin(["ill", "well"])).all()
    new = ["state_filled", "state_probability"]
    pd.testing.assert_frame_equal(out.drop(columns=["state", *new]), before.drop(columns="state"))


def test_predict_leaves_doubtful_cells_empty_and_counts_them(semisquares, model, table):
    sure = ("--min-confidence", "0.9")
    code, printed, _ = semisquares("predict", model, table, "-o", "out.csv", *sure)
    out = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    doubtful = out["state_probability"].astype(float) < 0.9
    assert code == 0
    assert 0 < doubtful.sum() < 80
    assert ((out["state_predicted"] == "") == doubtful).all()
    line = f"{doubtful.sum()} cells left empty: no prediction with a probability of at least 0.9."
    assert line in printed
    facts = json.loads(semisquares("predict", model, table, "-o", "a.csv", "--json", *sure)[1])
    assert (facts["doubtful"], facts["predicted"]) == (doubtful.sum(), 80 - doubtful.sum())


def test_predict_writes_the_probabilities_of_all_classes(semisquares, model, table):
    semisquares("predict", model, table, "-o", "out.csv", "--all-probabilities")
    out = pd.read_csv("out.csv")
    of_classes = out[["state_probability_ill", "state_probability_well"]]
    np.testing.assert_allclose(of_classes.sum(axis=1), 1.0, rtol=1e-12)
    well = out["state_predicted"] == "well"
    expected = np.where(well, of_classes["state_probability_well"], of_classes.iloc[:, 0])
    np.testing.assert_array_equal(out["state_probability"], expected)


@pytest.mark.parametrize("spelling", [("0", "1"), ("0.0", "1.0"), ("TRUE", "FALSE"), ("No", "Yes")])
def test_filled_cells_are_spelled_as_the_table_spells_its_labels(semisquares, tmp_path, spelling):
    frame, truth = patients()
    spelled = np.where(truth == "ill", *spelling)
    frame["state"] = np.where(np.arange(80) < 30, spelled, "")
    frame.to_csv(tmp_path / "t.csv", index=False)
    semisquares("fit", "t.csv", "--target", "state", "-o", "m", *GIVEN)
    code, _, _ = semisquares("predict", "m", "t.csv", "--only-missing", "-o", "out.csv")
    out = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert code == 0
    assert set(out["state"]) == set(spelling)
    assert (out["state"] == spelled).mean() > 0.95


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "csv.gz"])
def test_the_file_format_does_not_change_predictions(semisquares, model, table, tmp_path, ending):
    code, _, _ = semisquares("predict", model, table, "-o", tmp_path / f"out.{ending}")
    assert code == 0
    code, _, _ = semisquares("predict", model, table, "-o", "plain.csv")
    readers = {
        "tsv": lambda p: pd.read_csv(p, sep="\t"),
        "parquet": pd.read_parquet,
        "feather": pd.read_feather,
    }
    out = readers.get(ending, pd.read_csv)(tmp_path / f"out.{ending}")
    plain = pd.read_csv("plain.csv")
    np.testing.assert_allclose(out["state_decision_well"], plain["state_decision_well"], rtol=1e-12)


def test_standard_input_and_output_replace_files(semisquares, model, table):
    content = table.read_bytes()
    code, printed, errors = semisquares("predict", model, "-", "-o", "-", stdin=content)
    assert code == 0
    assert len(pd.read_csv(io.StringIO(printed))) == 80
    assert "80 rows" in errors  # text is not mixed with data


def test_fit_and_inspect_warn_about_a_worthless_model(semisquares):
    frame, _ = patients()
    frame["state"] = np.where(np.arange(80) < 50, np.where(np.arange(80) % 5, "ok", "worn"), None)
    frame[["age", "state"]].to_csv("noise.csv", index=False)
    words = ("--target", "state", "-o", "noise.model", "--method", "ridge", "--alpha", "60")
    runs = [semisquares("fit", "noise.csv", *words), semisquares("inspect", "noise.model")]
    for code, _, errors in runs:
        assert code == 0
        assert errors.startswith("Note: The model is no better than always answering 'ok': error")


def test_a_model_goes_through_a_pipe(semisquares, table, model, capfdbinary, monkeypatch):
    words = ["fit", table, "--target", "state", "-o", "-", *GIVEN, "--quiet"]
    monkeypatch.setattr(sys, "argv", ["semisquares", *map(str, words)])
    with pytest.raises(SystemExit):
        cli.main()
    stored = capfdbinary.readouterr().out
    code, printed, _ = semisquares("inspect", "-", "--quiet", stdin=stored)
    assert (code, printed) == (0, "Predicts 'state': ill, well\n")


def test_inspect_shows_the_members_of_an_average(semisquares, table, tmp_path):
    words = ("--target", "state", "--method", "averaged", "--drop", "pulse", "-o", "m.model")
    code, printed, _ = semisquares("fit", table, *words)
    assert code == 0
    assert "Averaged classifier: error " in printed
    code, printed, _ = semisquares("inspect", "m.model", "--top", "3")
    assert code == 0
    assert re.search(r"^An average of \d+ members\.$", printed, re.MULTILINE)
    assert re.search(r"^family +representation +setting +weight +log loss +acc", printed, re.M)
    assert "Strongest features" not in printed
    assert "certificate" not in printed
    facts = json.loads(semisquares("inspect", "m.model", "--json")[1])
    assert (facts["classifier"], facts["features"]) == ("averaged", [])
    assert sum(member["weight"] for member in facts["members"]) == pytest.approx(1.0)
    assert facts["rows_held"] == load("m.model").classifier.n_rows_held
    code, _, _ = semisquares("inspect", "m.model", "--plot", "m.png")
    assert (code, Path("m.png").read_bytes()[:4]) == (0, b"\x89PNG")
    code, _, _ = semisquares("predict", "m.model", table, "-o", "out.csv")
    assert code == 0
    written = [name for name in pd.read_csv("out.csv") if name.startswith("state_")]
    assert written == ["state_predicted", "state_probability", "state_decision_well"]


@pytest.mark.parametrize(
    ("flag", "note"),
    [
        ("--store-rows", r"\d+ rows of the table are stored with the model, .*; --no-rows leaves"),
        ("--no-rows", r"No row of the table is stored: .* costs [\d.]+ points of accuracy\."),
    ],
)
def test_fit_and_inspect_say_whether_rows_are_stored(semisquares, tmp_path, flag, note):
    rng = np.random.default_rng(0)
    X, outer = rng.normal(size=(120, 3)), np.arange(120) % 2
    X *= ((1.0 + outer) / np.linalg.norm(X, axis=1))[:, None]
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["shell"] = np.where(np.arange(120) < 60, np.where(outer, "out", "in"), None)
    frame.to_csv("t.csv", index=False)
    words = ("--target", "shell", "--method", "averaged", "-o", "m.model", flag)
    for code, _, errors in (semisquares("fit", "t.csv", *words), semisquares("inspect", "m.model")):
        assert code == 0
        assert re.search(f"^Note: {note}", errors, re.MULTILINE)
    printed = semisquares("inspect", "m.model")[1]
    assert ("no row of the table is stored" in printed) == (flag == "--no-rows")


def test_inspect_counts_the_trees_of_a_forest(semisquares, few_trees, table):
    words = ("--method", "forest", "--folds", "2", "--repeats", "1", "--jobs", "1")
    code, printed, _ = semisquares("fit", table, "--target", "state", "-o", "m.model", *words)
    assert code == 0
    assert "Random forest: error " in printed
    _, printed, _ = semisquares("inspect", "m.model")
    assert re.search(r"^10 trees with \d+ leaves\.$", printed, re.MULTILINE)


@pytest.mark.parametrize("method", measuring.WITHOUT_ALPHA)
def test_fit_writes_every_method_as_onnx(semisquares, few_trees, table, method):
    onnxruntime = pytest.importorskip("onnxruntime")
    words = ("--target", "state", "--drop", "seen", "-o", "m.model", "--method", method)
    few = ("--folds", "2", "--repeats", "1", "--jobs", "1")
    code, printed, _ = semisquares("fit", table, *words, *few, "--onnx", "m.onnx")
    assert code == 0
    assert "Its probabilities of 200 rows agree with the model's to " in printed
    session = onnxruntime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_outputs()][:2] == ["label", "probabilities"]


def test_fit_refuses_onnx_of_texts_before_the_work(semisquares, tmp_path):
    pytest.importorskip("onnxruntime")
    remarks = [f"{kind} and {k} more words" for k in range(20) for kind in ("good", "bad")]
    frame = pd.DataFrame({"remark": remarks, "state": ["ok", "worn"] * 20})
    frame.to_csv("t.csv", index=False)
    words = ("--target", "state", "-o", "m.model", "--onnx", "m.onnx", "--kind", "remark=text")
    code, _, errors = semisquares("fit", "t.csv", *words)
    assert code == 2
    assert "column 'remark', which holds text; fit without it (--drop remark), or use" in errors
    assert not Path("m.model").exists()


def test_the_methods_of_the_command_are_those_of_the_function():
    assert METHODS == measuring.METHODS


# -- compare ------------------------------------------------------------------------------------

FAST = ("--target", "state", "--repeats", "1", "--folds", "2", "--jobs", "1")


@pytest.mark.usefixtures("few_trees")
def test_compare_describes_the_table_then_answers_and_writes_the_report(semisquares, table):
    code, printed, _ = semisquares("compare", table, *FAST)
    assert code == 0
    assert "patients.csv: 80 rows, 30 with a label in 'state' (ill " in printed
    assert "5 columns are used: 2 numbers, 1 category, 1 boolean, 1 date;" in printed
    assert "left out: patient, an id (each of its 80 values occurs once)" in printed
    assert re.search(r"^Use the averaged classifier: error \d", printed, re.MULTILINE)
    few = "Too few labels to tell what unlabeled rows are worth: 30"
    assert re.search(rf"^{few}; about [\d,]+ more would be", printed, re.MULTILINE)
    next_command = f"semisquares suggest {table} --target state -n 50 -o to_label.csv"
    assert f"Rows to label: {next_command}" in printed
    for rival in LABELS.values():
        assert re.search(rf"^{rival} +\d+\.\d %", printed, re.MULTILINE), rival
    assert "bold" not in printed  # styles are for terminals
    assert "Report: patients.report.html" in printed
    page = Path("patients.report.html").read_text()
    assert few in page
    assert next_command in unescape(page)


QUICK_JSON = (*FAST, "--quick", "--json", "-o", "page.html")
NOTE_MODULES = """
import sys
from pathlib import Path
from semisquares import cli

try:
    cli.main()
finally:
    Path("modules.txt").write_text("\\n".join(sys.modules))
"""


@pytest.fixture(scope="module")
def compared(table, tmp_path_factory):
    """What a process of its own printed, the page that it wrote, and the modules that it loaded."""
    folder = tmp_path_factory.mktemp("compared")
    command = [sys.executable, "-c", NOTE_MODULES, "compare", str(table), *QUICK_JSON]
    environment = os.environ | {"PYTHONHASHSEED": "1"}  # sets are in another order here
    options = {"cwd": folder, "env": environment, "timeout": PATIENCE}
    done = subprocess.run(command, capture_output=True, text=True, check=True, **options)
    page, modules = (folder / name for name in ("page.html", "modules.txt"))
    return done.stdout, page.read_bytes(), modules.read_text().splitlines()


def test_two_runs_give_the_same_bytes_with_any_number_of_jobs(semisquares, table, compared):
    code, printed, _ = semisquares("compare", table, *QUICK_JSON, "--jobs", 2)
    assert code == 0
    assert json.loads(printed)["report"] == "page.html"
    assert (printed, Path("page.html").read_bytes()) == compared[:2]


@pytest.mark.usefixtures("few_trees")
def test_json_has_the_answers_and_check_exits_with_1(semisquares, table):
    words = ("--json", "--check", "--no-report", "--quick")
    code, printed, _ = semisquares("compare", table, *FAST, *words)
    assert code == 1  # the answer is not yes
    found = json.loads(printed)
    assert found["verdict"]["answer"] == "unclear"
    assert [rival["name"] for rival in found["rivals"]] == [
        "averaged", "labeled_only", "ridge", "logistic",
    ]  # fmt: skip
    assert found["recommendation"]["method"] == "averaged"
    assert found["report"] is None
    assert not list(Path().iterdir())


def test_comparing_a_table_loads_nothing_of_the_paper(compared):
    *_, loaded = compared
    assert "semisquares.tables.compare" in loaded
    assert [name for name in loaded if name.startswith("semisquares.paper")] == []


@pytest.mark.usefixtures("few_trees")
def test_compare_prints_the_seconds_per_fit(semisquares, table):
    _, printed, _ = semisquares("compare", table, *FAST, "--quick", "--no-report")
    assert re.search(r"^Seconds per fit: averaged cl\w+ \d\S*, .*\d\.$", printed, re.MULTILINE)
    assert "a quick comparison" in printed


def test_yes_is_exit_code_0_with_check_and_two_lines_with_quiet(semisquares, table, monkeypatch):
    monkeypatch.setattr(
        "semisquares.tables.compare.compare_table", lambda *a, **k: binary(notices=())
    )
    words = ("--target", "state", "--check", "--quiet", "--no-report")
    code, printed, errors = semisquares("compare", table, *words)
    assert (code, errors) == (0, "")
    assert printed == f"{binary().recommendation.sentence}\n{binary().verdict.sentence}\n"
    assert binary().verdict.answer == "yes"


def test_fit_averages_by_default(semisquares, tmp_path):
    semisquares("example", tmp_path)
    code, _, _ = semisquares("fit", TABLE, "--target", TARGET, "-o", "m")
    about = load("m").about
    assert code == 0
    assert about["method"] == "averaged"
    right = load("m").predict(pd.read_csv(TABLE)).labels == example_truth()[TABLE]
    assert right.mean() > 0.9


@pytest.mark.parametrize("command", ["fit", "predict", "inspect", "export"])
def test_json_of_every_command_is_an_object(semisquares, model, table, command):
    words = {
        "fit": ["fit", table, "--target", "state", "-o", "m", *GIVEN],
        "predict": ["predict", model, table, "-o", "out.csv"],
        "inspect": ["inspect", model],
        "export": ["export", model, "-o", "m.onnx"],
    }[command]
    code, printed, _ = semisquares(*words, "--json")
    assert code == 0
    assert isinstance(json.loads(printed), dict)


# -- bad tables ---------------------------------------------------------------------------------


def written(text, name="t.csv"):
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def rows(line, n=40):
    return "".join(line.format(i=i) for i in range(n))


BAD = {
    "no such file": (None, r"no file.*'patients?\.csv'|There is no"),
    "empty": ("", "empty"),
    "header only": ("a,b,state\n", "no rows|header"),
    "junk": (bytes(range(256)) * 20, "is not text"),
    "mixed encodings": (
        "naïve,b,state\n".encode() + rows("ü{i},1,x\n").encode() + b"\xfc,1,y\n", "encoding",
    ),
    "latin-1": (b"a,b,state\n" + 40 * b"\xfc,1,x\n", "--encoding"),
    "duplicate names": ("a,a,state\n" + rows("{i},1,x\n"), "'a'"),
    "no target": ("a,b,statte\n" + rows("{i},1,x\n"), "did you mean 'statte'"),
    "no label": ("a,b,state\n" + rows("{i},1,\n"), "no label"),
    "one class": ("a,b,state\n" + rows("{i},1,x\n"), "one class"),
    "a quantity": ("a,b,state\n" + rows("1,{i},{i}.5\n", 10_000), "a quantity, not a class"),
    "whole numbers": ("a,b,state\n" + rows("1,{i},{i}\n", 10_000), "a quantity, not a class"),
    "infinities": ("a,b,state\n" + rows("{i},1.5,x\n") + "1,inf,y\n2,2.5,\n", "infinit"),
    "mixed types": ("a,b,state\n" + rows("{i},{i},x\n") + "1,unknown,y\n2,2,\n", "mixes numbers"),
    "ragged": ("a,b,state\n" + rows("{i},1,x\n") + "1,2,3,4\n", "line 42"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("command", ["compare", "fit"])
def test_a_bad_table_gets_one_sentence_and_exit_code_2(semisquares, case, command):
    content, needs = BAD[case]
    name = "patient.csv" if content is None else written(content)
    out = ("-o", "m") if command == "fit" else ("--no-report",)
    message = refused(semisquares(command, name, "--target", "state", *out, "--quiet"))
    assert re.search(needs, message), message
    assert not Path("m").exists()


def test_the_message_about_a_wrong_delimiter_names_the_option(semisquares):
    name = written("a;b;state\n" + rows("{i};1;x\n"))
    message = refused(
        semisquares("compare", name, "--target", "state", "--delimiter", ",", "--quiet")
    )
    assert "--delimiter" in message


@pytest.mark.usefixtures("few_trees")
def test_a_fully_labeled_table_can_be_fitted_and_compared(semisquares):
    frame, truth = patients()
    frame.assign(state=truth).to_csv("t.csv", index=False)
    code, printed, _ = semisquares("compare", "t.csv", "--quick", "--no-report", *FAST)
    assert code == 0
    assert re.search(r"^Use the averaged classifier: error \d", printed, re.MULTILINE)
    assert "Every row has a label, so there are no unlabeled rows to learn from." in printed
    code, _, _ = semisquares("fit", "t.csv", "--target", "state", "-o", "m", *FAST[2:])
    assert code == 0
    about = load("m").about
    assert about["method"] == "averaged"
    assert about["metrics"]["accuracy"]["mean"] > 0.9


@pytest.mark.usefixtures("few_trees")
def test_a_class_with_one_row_is_compared_and_fitted_but_not_tested(semisquares, monkeypatch):
    monkeypatch.setattr(_page, "_pictures", lambda comparison: {})  # which take long
    frame, _ = patients()
    frame.loc[70, "state"] = "odd"
    frame.to_csv("t.csv", index=False)
    notice = "Class 'odd' has a single labeled row, so it is always trained on and never tested;"
    command = ("compare", "t.csv", "-o", "r.html", *FAST, "--quick")
    code, _, errors = semisquares(*command)
    assert code == 0
    assert errors.count(notice) == 1
    assert notice in unescape(Path("r.html").read_text(encoding="utf-8"))
    code, _, errors = semisquares("fit", "t.csv", "--target", "state", "-o", "m", *FAST[2:])
    assert code == 0
    assert errors.count(notice) == 1
    assert load("m").classes == ("ill", "odd", "well")
    assert load("m").about["metrics"]["accuracy"]["mean"] > 0.5


def test_a_table_with_one_testable_class_is_fitted_without_scores(semisquares):
    frame, _ = patients()
    frame.loc[frame["state"] == "ill", "state"] = None
    frame.loc[70, "state"] = "ill"
    frame.to_csv("t.csv", index=False)
    assert "Class 'ill' has a single labeled row" in refused(
        semisquares("compare", "t.csv", "--target", "state", "--quiet")
    )
    code, _, errors = semisquares("fit", "t.csv", "--target", "state", "-o", "m", "--jobs", "1")
    assert code == 0
    assert "No scores could be measured" in errors
    assert load("m").classes == ("ill", "well")


def test_predict_names_missing_and_extra_columns(semisquares, model):
    frame, _ = patients()
    frame.drop(columns="pulse").to_csv("less.csv", index=False)
    frame.assign(height=1).to_csv("more.csv", index=False)
    assert "'pulse'" in refused(semisquares("predict", model, "less.csv", "-o", "o.csv", "--quiet"))
    assert not Path("o.csv").exists()
    code, _, errors = semisquares("predict", model, "more.csv", "-o", "o.csv")
    assert code == 0
    assert "column 'height' that the model was not fitted with; it is ignored." in errors


def test_predict_accepts_and_counts_new_levels(semisquares, model):
    frame, _ = patients()
    frame.loc[:4, "ward"] = "west"
    frame.to_csv("t.csv", index=False)
    code, _, errors = semisquares("predict", model, "t.csv", "-o", "out.csv")
    assert code == 0
    assert "'ward' has values that the model has not seen, in 5 rows: 'west'" in errors


@pytest.mark.parametrize(
    ("words", "needs"),
    [
        (("fit", "T", "--target", "state", "-o", "m", "--alpha", "much"), "--alpha"),
        (("fit", "T", "--target", "state", "-o", "m", "--weight", "-1"), "--weight"),
        (("fit", "T", "--target", "state", "-o", "m", "--weight", "1"), "--weight"),
        (("fit", "T", "--target", "state"), "-o"),
        (("fit", "T", "--target", "state", "-o", "m", "--kind", "age"), "--kind age=number"),
        (("fit", "T", "--target", "state", "-o", "m", "--kind", "age=weight"), "'weight'"),
        (("fit", "T", "--target", "state", "-o", "m", "--drop", "agee"), "'age'"),
        (("fit", "T", "--target", "state", "--group", "state", "-o", "m"), "both target and group"),
        (("fit", "T", "--target", "state", "-o", "m", "--unlabeled", "?", "--unlabeled", "-"),
         "--unlabeled was given twice; give it once, and the other spellings with --missing."),
        (("compare", "T"), "--target"),
        (("predict", "T", "T", "-o", "out.csv"), "not a semisquares model"),
        (("predict", "nothing", "T", "-o", "out.csv"), "'nothing'"),
        (("predict", "M", "T", "-o", "out.xyz"), "out.xyz"),
        (("predict", "M", "T", "-o", "-", "--json"), "standard output"),
        (("inspect", "M", "--plot", "plot.doc"), ".png or .svg"),
        (("predict", "M", "T", "-o", "p.csv", "--min-confidence", "80"), "--min-confidence"),
        (("cmopare", "T"), "cmopare"),
    ],
)  # fmt: skip
def test_wrong_use_gets_one_sentence_and_exit_code_2(semisquares, model, table, words, needs):
    words = [{"T": table, "M": model}.get(word, word) for word in words]
    assert needs in refused(semisquares(*words, *(["--quiet"] * (words[0] != "cmopare"))))


# -- interruptions ------------------------------------------------------------------------------


HOURS = ("--repeats", "1000")


@posix_only
def test_ctrl_c_stops_a_comparison_during_its_fits(table, tmp_path):
    process = begin_forked("compare", table, "--target", "state", *HOURS, folder=tmp_path)
    line = process.stdout.readline()  # the table is read
    assert "80 rows" in line
    time.sleep(1.0)  # now workers are starting, or at work
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == "Stopped; nothing was written."
    assert list(tmp_path.iterdir()) == []


@posix_only
def test_ctrl_c_keeps_the_old_model(model, table, tmp_path):
    before = model.read_bytes()
    words = ("fit", table, "--target", "state", "--seed", "1", "-o", model, *HOURS)
    process = begin_forked(*words, folder=tmp_path)
    assert "Engine: memory" in process.stdout.readline()
    assert "80 rows" in process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert model.read_bytes() == before


def test_a_reader_that_leaves_early_is_not_an_error(model, table, tmp_path):
    process = begin_forked("predict", model, table, "-o", "-", "--quiet", folder=tmp_path)
    process.stdout.close()
    with process.stderr as stream:
        errors = stream.read()
    assert process.wait(timeout=PATIENCE) == 0
    assert errors == ""
