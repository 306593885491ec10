"""What docs/guide/first_labels.md shows of the stored walk: texts, tables and a picture."""

from __future__ import annotations

import hashlib
import inspect
import json
import textwrap
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.peers.markdown import grid

from semisquares import plotting
from semisquares.plotting._style import INK

from .labeling_walk import (
    CHECK,
    COMMANDS,
    N_DRAWS,
    N_SESSIONS,
    PICTURES,
    SIZES,
    STORED,
    WRONG_KEYS,
)
from .marks import Number
from .pictures import pack

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

WIDEST = 92
"""Characters in a line that the page shows without scrolling."""
_GREEN, _GREY = "#009E73", "#8A8A8A"
_FROM = {
    "compare": "Use the",
    "fit": "Note:",
    "review": "About",
    "correct": "Label at",
    "fit-again": "Averaged",
}
"""How the first line begins that the page shows of a long output."""


@cache
def stored() -> dict[str, Any]:
    """Return what the walk stored."""
    found: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return found


def _terminal(key: str) -> str:
    """Return a command and what it printed, without the description of the columns if that is long.

    Sentences are broken as in a terminal; printed commands and lines of tables are not.
    """
    printed = stored()["printed"][key].splitlines()
    cut = next(k for k, line in enumerate(printed) if line.startswith(_FROM.get(key, "")))
    command = COMMANDS[key]
    if len(command) > WIDEST:
        command = command.replace(" -o ", " \\\n    -o ")
    shown = [*(["…"] if cut else []), *(part for line in printed[cut:] for part in _wrap(line))]
    return "\n".join(["```text", f"$ {command}", *shown, "```"])


def _wrap(line: str) -> list[str]:
    is_sentence = not line.startswith("  semisquares ") and "  " not in line.strip()
    if len(line) <= WIDEST or not is_sentence:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    kept = line.replace(" %", "\u00a0%")
    broken = textwrap.wrap(kept, WIDEST, subsequent_indent=indent, break_on_hyphens=False)
    return [part.replace("\u00a0", " ") for part in broken]


def _python(source: str, key: str) -> str:
    """Return a piece of Python and what it printed."""
    return f"```py\n{source.strip()}\n```\n\n```text\n{stored()['printed'][key]}\n```"


def by_probability() -> str:
    """Return how many predictions are right, by their probability, in Markdown."""
    rows = [
        [f"{low:.1f} to {high:.1f}", str(n), f"{right} ({100 * right / n:.0f} %)" if n else "–"]
        for low, high, n, right in reversed(stored()["by_probability"])
    ]
    return grid(["probability of the prediction", "pumps", "right"], rows)


def places() -> list[int]:
    """Return the places of the wrong labels on the list of doubtful ones, from 1 on."""
    wrong = {stored()["answers"][k - 1][0] + 1 for k in WRONG_KEYS}
    return [place for place, row in enumerate(stored()["doubtful"], 1) if row in wrong]


def found_wrong() -> str:
    """Return which of the wrong labels are on the list, in a sentence."""
    where = ", ".join(map(str, places())) or "none"
    return (
        f"Of the {len(WRONG_KEYS)} answers with the wrong key, {len(places())} are on this list "
        f"of {len(stored()['doubtful'])}, in places {where}."
    )


def right_again() -> str:
    """Return how many predictions are right before and after the correction, in a sentence."""
    printed = stored()["printed"]
    return (
        f"With the wrong labels, {printed['check']}; with the corrected ones, "
        f"{printed['check-again']}."
    )


def choices() -> str:
    """Return accuracies with suggested and with random labels, in Markdown."""
    columns = [np.array(stored()[name]).T for name in ("suggested", "random")]
    head = ["labels", f"suggested, mean of {N_SESSIONS}", "lowest to highest"]
    head += [f"random, mean of {N_DRAWS}", "lowest to highest"]
    rows = [
        [str(n), *(cell for found in pair for cell in _mean_and_range(found))]
        for n, *pair in zip(SIZES, *columns, strict=True)
    ]
    return grid(head, rows)


def _mean_and_range(found: Any) -> tuple[str, str]:
    return f"{found.mean():.3f}", f"{found.min():.3f} to {found.max():.3f}"


def draw_choices() -> Picture:
    """Draw the accuracy with suggested rows over that with random ones."""
    with plotting.style():
        picture, (panel,) = plotting.facets(1, 1, width=5.2, row_height=3.0)
        for name, colour, width in (("random", _GREY, 0.8), ("suggested", _GREEN, 1.3)):
            for k, accuracies in enumerate(stored()[name]):
                label = None if k else f"{name} rows"
                panel.plot(SIZES, accuracies, color=colour, lw=width, label=label)
        panel.set(xlabel="labels", ylabel="accuracy on other pumps", xticks=SIZES)
        panel.axhline(0.6, color=INK, lw=0.6, ls=":")
        panel.text(SIZES[-1], 0.605, "always “sound”", ha="right", va="bottom", fontsize=7)
        panel.legend(loc="upper left")
    return picture


def inputs_of_choices() -> str:
    """Return a digest of what the picture is drawn from."""
    digest = hashlib.sha256(inspect.getsource(draw_choices).encode())
    digest.update(json.dumps([stored()["suggested"], stored()["random"]]).encode())
    return digest.hexdigest()


def write_picture() -> None:
    """Write the picture."""
    (PICTURES / "choices.png").write_bytes(pack(draw_choices(), inputs_of_choices()))


BLOCKS: dict[str, Callable[[], str]] = {
    **{f"first-labels.{key}": lambda key=key: _terminal(key) for key in COMMANDS},
    "first-labels.check": lambda: _python(CHECK, "check"),
    "first-labels.by-probability": by_probability,
    "first-labels.found-wrong": found_wrong,
    "first-labels.right-again": right_again,
    "first-labels.choices": choices,
}
del BLOCKS["first-labels.predict-again"]  # says what the first prediction said

NUMBERS = {
    "first-labels.page-accuracy": Number(lambda: stored()["states"]["100"]["accuracy"]["text"]),
    "first-labels.at-random": Number(
        lambda: sum(drawn == "random" for _, _, drawn in stored()["answers"])
    ),
}
