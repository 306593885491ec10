"""Walk through docs/guide/first_labels.md for real: ``python -m docs.labeling_walk``.

The commands of the page are run in a folder of their own, and the labeling page is answered in
Chromium, with the true labels but for three wrong keys. `first_labels.json` stores what was printed
and measured, and docs/guide/pictures what was seen. It needs Playwright and Chromium and takes ten
minutes; ``python -m docs --fill`` then puts the stored texts and numbers into the pages.
"""

from __future__ import annotations

import importlib.util
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from itertools import pairwise
from os import chdir, environ
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from semisquares import AveragedClassifier
from semisquares.labeling._session import LabelingSession
from semisquares.labeling._updates import SameProcess
from semisquares.tables import _example as pumps
from semisquares.tables.dataset import prepare

STORED = Path(__file__).with_name("first_labels.json")
PICTURES = Path(__file__).parent / "guide" / "pictures"

COMMANDS = {
    "example": "semisquares example pumps --without-labels",
    "suggest": "semisquares suggest pumps/unopened.csv --target bearing -n 8",
    "label": "semisquares label pumps/unopened.csv --target bearing --class sound --class worn "
    "-o pumps/labeled.csv",
    "compare": "semisquares compare pumps/labeled.csv --target bearing -o pumps/report.html",
    "fit": "semisquares fit pumps/labeled.csv --target bearing -o pumps/my.model",
    "predict": "semisquares predict pumps/my.model pumps/labeled.csv --only-missing "
    "-o pumps/filled.csv",
    "review": "semisquares review pumps/labeled.csv --target bearing -o pumps/doubtful.csv",
    "correct": "semisquares label pumps/labeled.csv --target bearing --order doubtful "
    "-o pumps/corrected.csv",
    "fit-again": "semisquares fit pumps/corrected.csv --target bearing -o pumps/my.model",
    "predict-again": "semisquares predict pumps/my.model pumps/corrected.csv --only-missing "
    "-o pumps/filled.csv",
}
CHECK = """\
import pandas as pd

truth = pd.read_csv("pumps/truth.csv", index_col="pump")["bearing"]
filled = pd.read_csv("pumps/filled.csv", index_col="pump").query("bearing_filled")
right = filled["bearing"] == truth[filled.index]
print(f"{right.sum()} of {len(filled)} are right")
"""
N_LABELS = 100
WRONG_KEYS = (7, 37, 67)
"""Answers, counted from 1, that are given with the wrong key."""
SHOWN_AT = {0: "label_first", 30: "label_page", 100: "label_done"}
"""Numbers of labels at which the page is photographed."""
SIZES = (20, 40, 60, 80, 100)
N_SESSIONS, N_DRAWS = 4, 10
N_FRESH = 2_000
"""Further pumps, on which models of suggested and of random labels are compared."""
SCREEN = {"width": 1280, "height": 900}
WIDTH = 7.5
"""Of the screenshots, in inches."""
LINE = 100
"""Characters in a line of the terminal."""
_PATIENCE = 60_000
_IS_UP_TO_DATE = """async () => {
    const {found} = await ask("state");
    show(found);
    if (found.classes.some((one) => one.count === 0)) return true;  // there is no model yet
    return found.curve.length > 0 && found.curve.at(-1).n_labels === found.progress.done;
}"""
_TRANSIENT = re.compile(r" steps, about |^Writing .* took |^Seconds per fit")
"""Lines that a terminal overwrites, and times, which differ from run to run."""


def can_walk() -> bool:
    """Return whether there are Playwright and Chromium."""
    return importlib.util.find_spec("playwright") is not None and _chromium() is not None


def walk() -> None:
    """Walk through the page, and store what was printed, seen and measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        printed = {key: _run(folder, COMMANDS[key]) for key in ("example", "suggest")}
        truth = pd.read_csv(folder / "pumps" / pumps.TRUTH)[pumps.TARGET].tolist()
        printed["label"], answers, states = _label(folder, truth)
        printed |= {key: _run(folder, COMMANDS[key]) for key in ("compare", "fit", "predict")}
        _photograph_report(folder / "pumps" / "report.html")
        found: dict[str, Any] = {}
        printed["check"] = _python(folder, CHECK, found)
        by_probability = _by_probability(found)
        printed["review"] = _run(folder, COMMANDS["review"])
        doubtful = pd.read_csv(folder / "pumps" / "doubtful.csv")["bearing_row"].tolist()
        printed["correct"] = _correct(folder, truth, len(doubtful))
        printed |= {key: _run(folder, COMMANDS[key]) for key in ("fit-again", "predict-again")}
        printed["check-again"] = _python(folder, CHECK, found)
    stored = {
        "printed": printed,
        "answers": answers,
        "states": states,
        "doubtful": doubtful,
        "by_probability": by_probability,
        **compare_choices([row for row, _, _ in answers]),
    }
    lines = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in stored.items()
    )
    STORED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def _by_probability(found: Mapping[str, Any]) -> list[tuple[float, float, int, int]]:
    """Return ranges of the probability with the numbers of predictions and of right ones."""
    probability, right = found["filled"]["bearing_probability"], found["right"]
    edges = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    ranges = []
    for low, high in pairwise(edges):
        inside = (low <= probability) & ((probability < high) | (high == 1.0))
        ranges.append((low, high, int(inside.sum()), int(right[inside].sum())))
    return ranges


# -- the terminal ---------------------------------------------------------------------------------


def _run(folder: Path, command: str) -> str:
    """Run a command in a folder, and return what a terminal shows of it in the end."""
    done = subprocess.run(
        _words(command), cwd=folder, env=_environment(), check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return _settled(done.stdout)


def _words(command: str) -> list[str]:
    return [sys.executable, "-m", *shlex.split(command)]


def _environment() -> dict[str, str]:
    """Return variables for a wide terminal whose two streams keep their order."""
    return {**environ, "COLUMNS": str(LINE), "PYTHONUNBUFFERED": "1"}


def _settled(printed: str) -> str:
    lines = [line.rstrip() for line in printed.splitlines() if not _TRANSIENT.search(line)]
    return "\n".join(lines).strip("\n")


def _python(folder: Path, source: str, names: dict[str, Any]) -> str:
    """Run a piece of Python in a folder, and return what it prints."""
    before, printed = Path.cwd(), io.StringIO()
    chdir(folder)
    try:
        with redirect_stdout(printed):
            exec(compile(source, "the page", "exec"), names)
    finally:
        chdir(before)
    return printed.getvalue().strip()


# -- the browser ----------------------------------------------------------------------------------


def _label(
    folder: Path, truth: Sequence[str]
) -> tuple[str, list[tuple[int, str, str]], dict[str, Any]]:
    """Label rows on the page.

    Returns
    -------
    printed : str
    answers : list of (row, label, drawn)
        In their order.
    states : dict
        What the page says at each number of labels that is photographed.
    """
    answers: list[tuple[int, str, str]] = []
    states: dict[str, Any] = {}
    with _page(folder, COMMANDS["label"]) as (tab, printed):
        tab.wait_for_timeout(10_000)  # the first suggestions; nothing on the page tells of them
        while True:
            n = len(answers)
            if n in SHOWN_AT:
                states[str(n)] = _photograph(tab, SHOWN_AT[n])
            if n == N_LABELS:
                break
            answers.append(_answer(tab, truth, is_wrong=n + 1 in WRONG_KEYS))
    return _settled("".join(printed)), answers, states


def _correct(folder: Path, truth: Sequence[str], n_rows: int) -> str:
    """Answer the page that reviews labels with the true ones; return what the command printed."""
    with _page(folder, COMMANDS["correct"]) as (tab, printed):
        _store_picture(tab.screenshot(), "review_page")
        for _ in range(n_rows):
            shown = tab.evaluate("() => state")
            if shown["row"] is None:
                break
            name = truth[shown["row"]["index"]]
            key = next(one["key"] for one in shown["classes"] if one["name"] == name)
            tab.keyboard.press(key)
            tab.wait_for_function("(turn) => state.turn !== turn", arg=shown["turn"])
    return _settled("".join(printed))


@contextmanager
def _page(folder: Path, command: str) -> Iterator[tuple[Any, list[str]]]:
    """Open the page of a labeling command, and finish it in the end.

    Yields the tab, and the lines that the command prints; they are complete in the end.
    """
    with (
        subprocess.Popen(
            [*_words(command), "--no-browser"], cwd=folder, env=_environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process,
        _tab() as tab,
    ):  # fmt: skip
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while not lines[-1].startswith("Label at "):
            assert lines[-1], "".join(lines)
            lines.append(process.stdout.readline())
        tab.goto(lines[-1].split()[-1])
        lines[-1] = re.sub(r"127\.0\.0\.1:\S+", "127.0.0.1:…", lines[-1])  # differs every time
        tab.wait_for_function("() => state !== null")
        yield tab, lines
        tab.get_by_role("button", name="Save and finish").click()
        lines.append(process.stdout.read())


def _answer(tab: Any, truth: Sequence[str], *, is_wrong: bool) -> tuple[int, str, str]:
    """Press the key of the row's class, and wait until the model has learned from it."""
    shown = tab.evaluate("() => state.row")
    row = shown["index"]
    place = pumps.STATES.index(truth[row])
    label = pumps.STATES[1 - place if is_wrong else place]
    tab.keyboard.press(str(pumps.STATES.index(label) + 1))
    tab.wait_for_function("(row) => state.row.index !== row", arg=row)
    while not tab.evaluate(_IS_UP_TO_DATE):
        tab.wait_for_timeout(100)
    return row, label, shown["drawn"]


def _photograph(tab: Any, name: str) -> dict[str, Any]:
    """Store a picture of the page; return what it says."""
    _store_picture(tab.screenshot(), name)
    state = tab.evaluate("() => state")
    return {key: state[key] for key in ("accuracy", "gain", "advice", "progress", "classes")}


def _photograph_report(page: Path) -> None:
    """Store a picture of the beginning of the report, down to its second section."""
    with _tab() as tab:
        tab.goto(page.as_uri())
        end = tab.get_by_role("heading", name="What was in the table").bounding_box()["y"] - 60
        beginning = {"x": 0, "y": 0, "width": SCREEN["width"], "height": end}
        _store_picture(tab.screenshot(clip=beginning, full_page=True), "report")


@contextmanager
def _tab() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        tab = browser.new_page(viewport=SCREEN, color_scheme="light")
        tab.set_default_timeout(_PATIENCE)
        yield tab
        browser.close()


def _chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def _store_picture(png: bytes, name: str) -> None:
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    dpi = picture.width / WIDTH
    picture.quantize(64, dither=Image.Dither.NONE).save(
        PICTURES / f"{name}.png", optimize=True, dpi=(dpi, dpi)
    )


# -- suggested rows and random ones ---------------------------------------------------------------


def compare_choices(walked: Sequence[int]) -> dict[str, Any]:
    """Return accuracies with the first labels of sessions, and with as many random rows.

    The first session is that of the page, the others have true answers only. Models are fitted to
    the true labels, so that only the choice of the rows differs. They are scored on pumps that are
    in no table: of those in the table, a session takes the hard ones away.
    """
    old, fresh = _numbers()
    sessions = [walked, *(session_rows(*old, seed=k) for k in range(N_SESSIONS - 1))]
    draws = [np.random.default_rng(k).permutation(pumps.N_PUMPS) for k in range(N_DRAWS)]
    return {
        name: [[_accuracy(rows[:n], old, fresh) for n in SIZES] for rows in orders]
        for name, orders in (("suggested", sessions), ("random", draws))
    }


def session_rows(X: Any, codes: Any, *, seed: int) -> list[int]:
    """Return the rows that a session with another seed asks for; all answers are true."""
    session = LabelingSession([None] * len(codes), classes=pumps.STATES, seed=seed)
    worker = SameProcess(X)
    for _ in range(N_LABELS):
        session.install(worker.find({**session.task()[1], "with_gain": False}))
        row = session.current.row
        session.answer(row, "label", pumps.STATES[codes[row]], turn=session.turn)
    return [answer.row for answer in session.answers]


def _numbers() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return features and classes of the pumps of the table, and of others."""
    with tempfile.TemporaryDirectory() as folder:
        path = pumps.write_example(folder, labels=False)[0]
        frame = pd.read_csv(path).assign(**{pumps.TARGET: pumps.example_truth()[pumps.TABLE]})
    prepared = prepare(frame, pumps.TARGET)
    drawn = pumps._draw(np.random.default_rng(1), N_FRESH)
    fresh = pd.read_csv(io.BytesIO(pumps._as_csv(drawn.columns)))
    return (prepared.X, prepared.codes), (prepared.encoder.transform(fresh), drawn.worn)


def _accuracy(rows: Sequence[int], old: tuple[Any, Any], fresh: tuple[Any, Any]) -> float:
    X, codes = old
    y = np.full(len(codes), -1)
    y[rows] = codes[rows]
    return float(AveragedClassifier().fit(X, y).score(*fresh))


if __name__ == "__main__":
    walk()
