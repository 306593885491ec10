"""A small, fast figure of random numbers, and processes that run it and can be killed."""

import json
import os
import shutil
import sys
import time
from contextlib import suppress
from typing import ClassVar

import numpy as np

from semisquares.paper._ledger import Ledger, ReproduceError
from semisquares.paper.figures._figure import Figure, Finding, Table


def stored(out, scratch):
    """Count the cells in a copy of the ledger: opening the original would repair it."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for path in out.glob("ledger.sqlite*"):
        shutil.copy(path, scratch)
    with Ledger(scratch / "ledger.sqlite") as ledger:
        return len(ledger.cells("toy"))


def wait_for_cells(out, n_cells, scratch):
    """Wait until a running process has stored `n_cells` cells."""
    found = 0
    while found < n_cells:
        time.sleep(0.05)
        with suppress(ReproduceError, FileNotFoundError):  # copied in the middle of a change
            found = stored(out, scratch)


class Toy(Figure):
    """Random numbers in cells that take `seconds` each, except for the first `quick` cells."""

    name = "toy"
    title = "Random numbers"
    caption = "Means of products of random matrices."
    repeats: ClassVar = {"authors": 40, "paper": 30, "quick": 6}
    columns: ClassVar = {"cell": "its name", "mean": "of a product", "spread": "of it"}
    views: ClassVar = {"figure": "", "other": "Other"}

    def __init__(self, seconds=0.0, quick=0):
        self.seconds, self.quick = seconds, quick

    def cells(self, settings):
        return [f"c/{i}" for i in range(settings.repeats)]

    def compute_cell(self, settings, cell):
        time.sleep(self.seconds * (cell not in self.cells(settings)[: self.quick]))
        rng = settings.generator(cell)
        X = rng.normal(size=(150, 150))
        product = X @ X.T @ X  # its last bits depend on the number of BLAS threads
        return {"mean": product.mean(), "spread": product.std(axis=0)}

    def tabulate(self, settings, results):
        import pandas as pd

        cells = sorted(results, key=lambda cell: int(cell.split("/")[1]))
        summary = pd.DataFrame(
            {
                "cell": cells,
                "mean": [float(results[cell]["mean"]) for cell in cells],
                "spread": [results[cell]["spread"].mean() for cell in cells],
            }
        )
        columns = pd.DataFrame({"spread": sum(results[cell]["spread"] for cell in cells)})
        return Table(settings, summary, {"columns": columns})

    def draw(self, table, view):
        from semisquares import plotting

        picture = plotting.new_picture(2, 2)
        picture.add_subplot().plot(table.summary["mean"])
        return picture

    def findings(self, table):
        return [
            Finding(
                "means are finite", bool(np.isfinite(table.summary["mean"]).all()), "all of [x]"
            ),
            Finding("means are zero", False, "they are not"),
            Finding("means are odd", None, "who can tell"),
        ]


class PlainToy(Toy):
    """A toy whose plots are strings, so that processes need not import matplotlib."""

    def plot(self, table, view=None):
        time.sleep(0.01)
        return f"{view} of {len(table.summary)} rows"


def use_plain_plots():
    from semisquares import plotting

    plotting.render = lambda picture, kind: f"{picture} as {kind}".encode()


def nursery():
    """Fork a run for every line of stdin, and print its events; forks start at once."""
    import pandas  # noqa: F401 (once, before the forks)

    from semisquares.paper._runner import run

    use_plain_plots()
    words = os.fdopen(os.dup(1), "w", buffering=1)  # not shared with workers, which print if killed
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        out, jobs, repeats, seconds = json.loads(line)
        toy = PlainToy(seconds)
        child = os.fork()
        if child == 0:
            os.setsid()  # a session of its own identifies its processes
            words.write(f"began {os.getpid()}\n")
            settings = toy.settings("quick", repeats=repeats)
            run(toy, settings, out, jobs=jobs, progress=lambda *_: words.write("progress\n"))
            return
        _, status = os.waitpid(child, 0)
        words.write(f"ended {status}\n")


def command_line():
    """Run the command `semisquares` with a toy as its only figure."""
    from types import SimpleNamespace

    from semisquares import cli
    from semisquares.paper import figures

    use_plain_plots()
    sys.modules["semisquares.paper.report"] = SimpleNamespace(
        write=lambda out, command: out / "report"
    )
    figures.FIGURES = {"toy": PlainToy(*json.loads(os.environ["TOY"]))}
    cli.main()
