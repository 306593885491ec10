"""The command line and its command reproduce: output, progress and error messages."""

import math
import re
import signal
import sys
from io import StringIO
from types import SimpleNamespace
from typing import ClassVar

import pytest
from rich.console import Console

from semisquares import __version__, cli
from semisquares.cli import _progress, _signals
from semisquares.paper import figures
from semisquares.paper.datasets import DATASETS
from support.toy_figure import PlainToy, use_plain_plots


class DataToy(PlainToy):
    """A toy with a cell for every data set and repeat."""

    name = "data"
    title = "Random numbers of data sets"
    datasets: ClassVar = {
        "authors": ("Haberman", "Sonar", "WDBC"),
        "paper": ("Haberman", "Sonar", "WDBC"),
        "quick": ("Haberman", "Sonar"),
    }

    def cells(self, settings):
        return [f"{name}/{i}" for name in settings.datasets for i in range(settings.repeats)]


class Broken(PlainToy):
    """A toy whose cells must not be computed."""

    def compute_cell(self, settings, cell):
        raise ZeroDivisionError("one over zero")


@pytest.fixture
def world(monkeypatch):
    """The command line with two toy figures; yields a record of what it loaded and wrote."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    seen = SimpleNamespace(loaded=[], reports=[], missing={})

    def load(name):
        if name in seen.missing:
            raise FileNotFoundError(seen.missing[name])
        seen.loaded.append(name)

    def write(out, command):
        seen.reports.append(command)
        return out / "report.html"

    monkeypatch.setattr(figures, "FIGURES", {"toy": PlainToy(), "data": DataToy()})
    monkeypatch.setattr("semisquares.paper.datasets.load", load)
    monkeypatch.setattr("semisquares.paper.report.write", write)
    monkeypatch.setattr("semisquares.plotting.render", None)
    monkeypatch.setattr(_progress, "_SECONDS_BETWEEN_LINES", math.inf)  # as on a fast machine
    use_plain_plots()
    yield seen
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def semisquares(monkeypatch, capsys, world):
    """Return a function that runs a command and returns its exit code, output and errors."""

    def type_in(*words):
        monkeypatch.setattr(sys, "argv", ["semisquares", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        printed = capsys.readouterr()
        return end.value.code or 0, printed.out, printed.err

    return type_in


def one_sentence(text):
    assert re.fullmatch(r"[^\n]*[^.\n][.)?]+\n?", text), text
    return text


def test_the_version_is_printed(semisquares):
    assert semisquares("--version") == (0, f"semisquares {__version__}\n", "")


def test_without_a_command_the_commands_are_listed(semisquares):
    code, printed, _ = semisquares()
    assert code == 0
    assert "datasets" in printed
    assert "reproduce" in printed


def test_datasets_prints_citation_licence_and_source_of_all_sixteen(semisquares):
    code, printed, errors = semisquares("datasets")
    assert (code, errors) == (0, "")
    assert len(DATASETS) == 16
    for dataset in DATASETS.values():
        assert f"{dataset.name}: {dataset.n_rows} rows" in printed
        assert f"licence: {dataset.licence}; source: {dataset.source}" in printed
        assert f"  {dataset.citation}" in printed
        assert dataset.doi in printed


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("click", "--version"),
        ("rich", "datasets"),
        ("pyarrow", "compare"),
        ("pandas", "predict"),
        ("onnxruntime", "export"),
        ("pandas", "reproduce"),
        ("jinja2", "reproduce"),
    ],
)
def test_the_message_about_a_missing_package_says_how_to_install_it(
    semisquares, monkeypatch, package, command
):
    monkeypatch.setitem(sys.modules, package, None)
    extras = {"export": "cli,tables,export", "reproduce": "cli,paper"}
    code, _, errors = semisquares(command)
    assert code == 2
    assert one_sentence(errors) == (
        f"Error: This command needs {package}; run "
        f"pip install 'semisquares[{extras.get(command, 'cli,tables')}]'.\n"
    )


def test_datasets_needs_no_package_of_reproduce(semisquares, monkeypatch):
    for package in ("pandas", "matplotlib", "jinja2", "pooch"):
        monkeypatch.setitem(sys.modules, package, None)
    assert semisquares("datasets")[0] == 0


def test_a_run_prints_its_settings_findings_and_results(semisquares, world, tmp_path):
    code, printed, errors = semisquares("reproduce", "--preset", "quick", "--out", tmp_path)
    assert (code, errors) == (0, "")
    lines = printed.splitlines()
    assert lines[:6] == [
        "toy: Random numbers",
        "  repeats 6, preset quick, seed 1",
        "  6 cells",
        "  ✓ means are finite: all of [x]",
        "  ✗ means are zero: they are not",
        "  – means are odd: who can tell",
    ]
    assert re.fullmatch(
        rf"  \d.* s of CPU time in all; table and plots are in {re.escape(str(tmp_path))}/toy",
        lines[6],
    )
    assert lines[8:11] == [
        "data: Random numbers of data sets",
        "  Haberman, Sonar; repeats 6, preset quick, seed 1",
        "  12 cells",
    ]
    assert lines[-1] == f"Report: {tmp_path / 'report.html'}"
    assert world.loaded == ["Haberman", "Sonar"]
    assert (tmp_path / "toy/summary.csv").exists()
    assert (tmp_path / "data/summary.csv").exists()


def test_a_finished_command_computes_nothing_again(semisquares, monkeypatch, tmp_path):
    command = ("reproduce", "toy", "--preset", "quick", "--out", tmp_path)
    _, first, _ = semisquares(*command)
    before = {path: path.read_bytes() for path in tmp_path.glob("toy/*")}
    monkeypatch.setitem(figures.FIGURES, "toy", Broken())
    code, second, _ = semisquares(*command)
    assert code == 0
    assert "  6 cells; 6 of them are already done\n" in second
    assert first.replace("6 cells", "6 cells; 6 of them are already done") == second
    assert {path: path.read_bytes() for path in tmp_path.glob("toy/*")} == before


COMMANDS = {
    "figures": (["data"], "data --preset authors --out OUT --seed 1"),
    "all": (["all", "data"], "all data --preset authors --out OUT --seed 1"),
    "more": (
        ["data", "--datasets", "WDBC,sonar", "--repeats", "2", "--seed", "7", "--jobs", "1"],
        "data --preset authors --out OUT --seed 7 --datasets WDBC,sonar --repeats 2",
    ),
}


@pytest.mark.parametrize(("words", "expected"), COMMANDS.values(), ids=COMMANDS.keys())
def test_the_report_gets_a_command_that_reproduces_its_numbers(
    semisquares, world, tmp_path, words, expected
):
    assert semisquares("reproduce", *words, "--out", tmp_path)[0] == 0
    assert world.reports == [f"semisquares reproduce {expected}".replace("OUT", str(tmp_path))]


def test_data_sets_may_be_named_in_any_case_and_order(semisquares, world, tmp_path):
    options = ("--datasets", "wdbc, SONAR", "--repeats", "2", "--out", tmp_path)
    _, printed, _ = semisquares("reproduce", "data", *options)
    assert "  Sonar, WDBC; repeats 2, preset authors, seed 1\n  4 cells\n" in printed
    assert world.loaded == ["Sonar", "WDBC"]


def test_a_figure_on_generated_data_runs_whatever_data_sets_are_chosen(semisquares, tmp_path):
    _, printed, _ = semisquares(
        "reproduce", "--preset", "quick", "--datasets", "Sonar", "--out", tmp_path
    )
    assert "toy: Random numbers\n" in printed
    assert "  Sonar; repeats 6" in printed


def test_a_figure_without_the_chosen_data_sets_is_skipped_with_a_message(
    semisquares, monkeypatch, tmp_path
):
    class Other(DataToy):
        name = "other"
        datasets: ClassVar = {"quick": ("WDBC",)}

    monkeypatch.setitem(figures.FIGURES, "other", Other())
    options = ("--preset", "quick", "--datasets", "Sonar", OUT, tmp_path)
    code, printed, _ = semisquares("reproduce", "data", "other", *options)
    assert code == 0
    assert printed.startswith("other is skipped: it uses none of these data sets\n\ndata: ")


OUT = "--out"
USAGE = {
    "unknown figure": (["fig9", OUT], "No figure is called 'fig9'; use toy, data, or all."),
    "unknown preset": (
        ["--preset", "fast", OUT],
        "'fast' is not one of 'authors', 'paper', 'quick'",
    ),
    "unknown data set": (["--datasets", "Iris", OUT], "No data set is called 'Iris'; use one of"),
    "no data set": (["--datasets", "", OUT], "No data set is called ''"),
    "data for a figure without": (
        ["toy", "--datasets", "WDBC", OUT],
        "Preset authors of toy does not use WDBC; omit --datasets.",
    ),
    "data that a preset lacks": (
        ["--preset", "quick", "--datasets", "Sonar,WDBC", OUT],
        "Preset quick of toy, data does not use WDBC; it uses Haberman, Sonar.",
    ),
    "no repeats": (["--repeats", "0", OUT], "'--repeats': 0 is not in the range x>=1."),
    "repeats in words": (["--repeats", "many", OUT], "'many' is not a valid integer"),
    "no jobs": (["--jobs", "0", OUT], "'--jobs': 0 is not in the range x>=1."),
    "negative seed": (["--seed", "-1", OUT], "'--seed': -1 is not in the range x>=0."),
    "no such option": (["--speed", "9", OUT], "No such option"),
}


@pytest.mark.parametrize(("words", "sentence"), USAGE.values(), ids=USAGE.keys())
def test_wrong_arguments_are_refused_in_one_sentence_before_any_work(
    semisquares, tmp_path, words, sentence
):
    out = tmp_path / "new"
    code, printed, errors = semisquares("reproduce", *words, out)
    assert (code, printed) == (2, "")
    assert sentence in one_sentence(errors)
    assert not out.exists()


def test_a_command_without_a_folder_is_refused(semisquares):
    assert semisquares("reproduce", "toy") == (2, "", "Error: Missing option '--out'.\n")


def test_an_unknown_command_is_refused(semisquares):
    assert semisquares("fig6") == (2, "", "Error: No such command 'fig6'.\n")


def test_verdicts_are_words_if_the_terminal_cannot_encode_the_signs(monkeypatch, capsys):
    import io

    from rich.console import Console

    from semisquares.cli.reproduce import _print_findings
    from semisquares.paper.figures._figure import Finding

    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console(file=stream, highlight=False, markup=False)
    _print_findings(console, [Finding("A", True, "a"), Finding("B", False, "b")])
    stream.flush()
    assert stream.buffer.getvalue().decode() == "  yes: A: a\n  no: B: b\n"


def test_missing_data_is_reported_before_any_work(semisquares, world, tmp_path):
    world.missing["Sonar"] = "Sonar is not on this machine; run pip install sonar."
    out = tmp_path / "new"
    code, printed, errors = semisquares("reproduce", OUT, out)
    assert (code, printed) == (2, "")
    assert one_sentence(errors) == (
        "Error: Cannot load Sonar (Sonar is not on this machine; run pip install sonar); get what "
        "is missing, or omit it by --datasets Haberman,WDBC.\n"
    )
    assert not out.exists()


def test_missing_data_that_is_omitted_is_not_reported(semisquares, world, tmp_path):
    world.missing["Sonar"] = "Sonar is not on this machine."
    options = ("--datasets", "Haberman,WDBC", "--repeats", "1", OUT, tmp_path)
    assert semisquares("reproduce", *options)[0] == 0


def test_other_settings_of_any_figure_are_refused_before_any_work(semisquares, tmp_path):
    semisquares("reproduce", "data", "--preset", "quick", OUT, tmp_path)
    before = sorted(tmp_path.rglob("*"))
    code, printed, errors = semisquares("reproduce", "all", "--repeats", "3", OUT, tmp_path)
    assert (code, printed) == (2, "")
    assert one_sentence(errors) == (
        f"Error: {tmp_path} holds data with other settings: preset was quick and is now authors, "
        "repeats was 6 and is now 3, datasets was Haberman,Sonar and is now Haberman,Sonar,WDBC; "
        "give the settings that it has, or another folder (--out).\n"
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_is_not_accepted_as_a_folder(semisquares, tmp_path):
    (tmp_path / "file").write_text("mine")
    code, printed, errors = semisquares("reproduce", "toy", OUT, tmp_path / "file")
    assert (code, printed) == (2, "")
    assert "file is not a folder; give another one" in one_sentence(errors)


def test_a_bug_shows_its_traceback_and_how_to_report_it(semisquares, monkeypatch, tmp_path):
    monkeypatch.setitem(figures.FIGURES, "toy", Broken())
    code, _, errors = semisquares("reproduce", "toy", "--jobs", "1", OUT, tmp_path)
    assert code == 3
    assert "ZeroDivisionError: one over zero" in errors
    assert "FailedCell: Cell 'c/0' of toy failed" in errors
    assert "This is a bug in semisquares, not an error in your input. Please report it" in errors
    assert f"semisquares reproduce toy --jobs 1 --out {tmp_path}" in errors
    assert f"semisquares {__version__}, Python" in errors


def test_ctrl_c_while_data_is_loaded_prints_one_sentence(semisquares, monkeypatch, tmp_path):
    def load(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("semisquares.paper.datasets.load", load)
    code, _, errors = semisquares("reproduce", "data", OUT, tmp_path)
    assert (code, errors.strip()) == (130, "Stopped; run the same command to continue.")


def test_a_second_ctrl_c_does_not_interrupt_the_cleanup(monkeypatch):
    handler, now = _signals.SignalHandler(), 100.0
    handler.importing = False
    monkeypatch.setattr(_signals, "time", SimpleNamespace(monotonic=lambda: now))
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGINT, None)
    handler(signal.SIGINT, None)
    now += 3
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGINT, None)


# Progress


def printed_progress(console, steps):
    progress = _progress.CellProgress(console, "fig6")
    with progress:
        for step in steps:
            progress.update(*step)
    return console.file.getvalue()


def test_lines_show_the_time_left_without_a_terminal(monkeypatch):
    clock = iter([0.0, 5.0, 20.0, 25.0, 600.0])
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    steps = [(10, 100, 1.0), (11, 100, 2.0), (20, 100, 3.0), (21, 100, 4.0), (70, 100, 5.0)]
    console = Console(file=StringIO(), highlight=False)
    assert printed_progress(console, steps).splitlines() == [
        "  100 cells; 10 of them are already done",
        "  20 of 100 cells, about 2 min 40 s left",  # ten in 20 seconds, 80 to go
        "  70 of 100 cells, about 5 min 0 s left",  # sixty in ten minutes, 30 to go
    ]


def test_what_is_expected_counts_until_a_quarter_of_the_rest_is_done(monkeypatch):
    now = 0.0
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: now))
    bar = _progress.ProgressBar(Console(file=StringIO()), "comparing", "steps")
    assert bar.seconds_left(now) is None
    bar(0, 90)
    bar(10, 90)
    bar.expect(30.0)
    now = 5.0
    assert bar.seconds_left(now) == 25.0
    bar(20, 90)  # ten of the eighty that were left, in five seconds: half way to a quarter
    assert bar.seconds_left(now) == pytest.approx(0.5 * 25.0 + 0.5 * 35.0)
    bar(30, 90)
    assert bar.seconds_left(now) == pytest.approx(15.0)


def test_a_bar_shows_cells_and_time_left_on_a_terminal():
    console = Console(file=StringIO(), force_terminal=True, width=100, color_system=None)
    printed = printed_progress(console, [(0, 4, 0.0), (3, 4, 0.1)])
    assert "3/4 cells, " in printed
    assert "left" in printed
    assert "of them are already done" not in printed
