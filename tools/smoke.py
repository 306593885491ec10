"""Test an installed semisquares without the rest of the repository.

`try_dist.py` runs it in a clean environment: ``smoke.py core VERSION`` with only the package and
its dependencies, ``smoke.py tables VERSION`` with the extras for the command line, then
``smoke.py extras VERSION`` with all extras, in the same folder.
"""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

PUBLIC = (
    "baselines", "core.certificate", "core.labelings", "core.objective", "core.rows",
    "core.solvers", "families", "model_selection", "paper.objectives", "representations",
)  # fmt: skip
"""Modules that need no extra."""


def core() -> None:
    """Import everything that needs no extra, and run the example of the README."""
    import semisquares

    place = Path(semisquares.__file__).parent
    expect(place.is_relative_to(sys.prefix), f"semisquares was imported from {place}")
    expect((place / "py.typed").is_file(), "py.typed is missing")
    bundled = place / "paper" / "datasets" / "tables"
    expect(any(bundled.glob("*.csv")), "the data sets are missing")
    for name in PUBLIC:
        import_module(f"semisquares.{name}")
    about = metadata.metadata("semisquares")
    expect(semisquares.__version__ == about["Version"] == sys.argv[2], "versions differ")
    expect(about["License-Expression"] == "BSD-3-Clause", "the licence is missing")
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    readme = doctest.DocTestParser().get_doctest(about.get_payload(), {}, "README.md", None, None)
    ran = doctest.DocTestRunner(optionflags=options).run(readme)
    expect(ran.attempted > 5 and not ran.failed, "the example of the README does not run")
    done = command("--help")
    line = "pip install 'semisquares[cli,tables]'"
    expect(done.returncode == 2, "without click, --help did not end with 2")
    expect(line in done.stderr, f"without click, --help did not print {line}: {done.stderr}")


def tables() -> None:
    """Go from the example table to predictions, by the commands of the README."""
    expect(sys.argv[2] in output_of("--version"), "--version prints another version")
    expect("Usage" in output_of("--help"), "--help does not print the usage")
    output_of("example", "pumps")
    table, target = "pumps/pumps.csv", ("--target", "bearing")
    quick = ("--folds", "2", "--repeats", "1", "--json", "-o", "report.html")
    answer = json.loads(output_of("compare", table, *target, *quick))["verdict"]["answer"]
    expect(answer in ("yes", "no", "unclear"), f"compare answers {answer}")
    expect(Path("report.html").stat().st_size > 10_000, "the report of compare is empty")
    given = ("--method", "soft", "--alpha", "1", "--weight", "1")  # nothing to cross-validate
    output_of("fit", table, *target, *given, "-o", "pumps.model")
    output_of("predict", "pumps.model", "pumps/new_rows.csv", "-o", "predicted.csv")
    rows, predicted = (
        len(Path(name).read_text(encoding="utf-8").splitlines())
        for name in ("pumps/new_rows.csv", "predicted.csv")
    )
    expect(rows == predicted > 1, f"{rows} rows became {predicted} predictions")
    expect("bearing" in output_of("inspect", "pumps.model"), "inspect does not know the target")


def extras() -> None:
    """Use every other extra once, on the table and the model that `tables` has left."""
    output_of("predict", "pumps.model", "pumps/new_rows.csv", "-o", "predicted.xlsx")
    table, target = "pumps/pumps.csv", ("--target", "bearing")
    given = ("--method", "soft", "--alpha", "1", "--weight", "1", "--drop", "remark")
    output_of("fit", table, *target, *given, "--engine", "dask", "--jobs", "1", "-o", "dask.model")
    output_of("export", "dask.model", "-o", "pumps.onnx")  # which compares it with the model
    output_of("reproduce", "fig1", "--preset", "quick", "--out", "paper")
    expect(Path("paper/report.html").stat().st_size > 10_000, "the report of reproduce is empty")
    label(table, *target)


def label(*words: str) -> None:
    """Fetch the labeling page and the files that it names."""
    installed = str(Path(sys.executable).with_name("semisquares"))
    start = [installed, "label", *words, "--no-browser", "-o", "labeled.csv"]
    with subprocess.Popen(start, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().rpartition(" ")[2].strip()
        here = build_opener(ProxyHandler({}))  # it is on this machine, whatever the proxy
        sizes = {
            name: len(here.open(f"{address}{name}", timeout=60).read())
            for name in ("", "label.js", "label.css", "colours.css", "icon.svg", "state")
        }
        process.terminate()
    expect(min(sizes.values()) > 100, f"files of the labeling page are empty: {sizes}")


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command that is installed beside this Python."""
    installed = str(Path(sys.executable).with_name("semisquares"))
    return subprocess.run([installed, *words], capture_output=True, text=True, timeout=300)


def output_of(*words: str) -> str:
    """Run a command that must succeed, and return its output."""
    done = command(*words)
    expect(done.returncode == 0, f"semisquares {' '.join(words)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(holds: bool, otherwise: str) -> None:
    """Exit with a message unless a condition holds."""
    if not holds:
        sys.exit(f"smoke test: {otherwise}")


if __name__ == "__main__":
    {"core": core, "tables": tables, "extras": extras}[sys.argv[1]]()
