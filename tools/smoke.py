"""What has to work where semisquares is installed and nothing else of the repository is there.

`try_dist.py` runs it in a clean environment: ``smoke.py core VERSION`` where only the package and
what it needs are installed, ``smoke.py tables VERSION`` with the extras for the command line.
"""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path

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
    expect(about["License-Expression"] == "BSD-3-Clause", "the licence is not said")
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    readme = doctest.DocTestParser().get_doctest(about.get_payload(), {}, "README.md", None, None)
    ran = doctest.DocTestRunner(optionflags=options).run(readme)
    expect(ran.attempted > 5 and not ran.failed, "the example of the README does not run")
    done = command("--help")
    line = "pip install 'semisquares[cli,tables]'"
    expect(done.returncode == 2, "without click, --help did not end with 2")
    expect(line in done.stderr, f"without click, --help did not say {line}: {done.stderr}")


def tables() -> None:
    """Go from the example table to predictions, by the commands of the README."""
    expect(sys.argv[2] in said("--version"), "--version says another one")
    expect("Usage" in said("--help"), "--help does not help")
    said("example", "pumps")
    table, target = "pumps/pumps.csv", ("--target", "bearing")
    quick = ("--folds", "2", "--repeats", "1", "--json", "-o", "report.html")
    answer = json.loads(said("compare", table, *target, *quick))["verdict"]["answer"]
    expect(answer in ("yes", "no", "unclear"), f"compare answers {answer}")
    expect(Path("report.html").stat().st_size > 10_000, "the page of compare is empty")
    given = ("--method", "soft", "--alpha", "1", "--weight", "1")  # nothing to cross-validate
    said("fit", table, *target, *given, "-o", "pumps.model")
    said("predict", "pumps.model", "pumps/new_rows.csv", "-o", "predicted.csv")
    rows, predicted = (
        len(Path(name).read_text(encoding="utf-8").splitlines())
        for name in ("pumps/new_rows.csv", "predicted.csv")
    )
    expect(rows == predicted > 1, f"{rows} rows became {predicted} predictions")
    expect("bearing" in said("inspect", "pumps.model"), "inspect does not know the target")


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command that was installed beside this Python."""
    installed = str(Path(sys.executable).with_name("semisquares"))
    return subprocess.run([installed, *words], capture_output=True, text=True, timeout=300)


def said(*words: str) -> str:
    """Run a command that has to succeed, and return what it printed."""
    done = command(*words)
    expect(done.returncode == 0, f"semisquares {' '.join(words)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(holds: bool, otherwise: str) -> None:
    """End with a message where something is not as it has to be."""
    if not holds:
        sys.exit(f"smoke test: {otherwise}")


if __name__ == "__main__":
    {"core": core, "tables": tables}[sys.argv[1]]()
