"""The method pages: their folder, their table of methods, and the inputs of their pictures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from benchmarks.peers.markdown import grid

from semisquares.plotting import _decision, _rows

from . import example, pictures
from .example import METHODS, SHOWN, TEST_ROWS
from .pictures import PICTURES

METHOD_PAGES = Path(__file__).parent / "methods"
NUMBERS = METHOD_PAGES / "numbers.json"

Numbers = Mapping[str, Sequence[int]]


def read_numbers() -> dict[str, list[int]]:
    """Read how many test rows each method misclassified in each draw."""
    return json.loads(NUMBERS.read_text(encoding="utf-8"))


def table(numbers: Numbers) -> str:
    """Return the table of methods in Markdown."""
    head = ["method", "idea", "labels it fills in", "convex?", "error here", "mean of 100 draws"]
    rows = []
    for key, method in METHODS.items():
        shares = np.array(numbers[key]) / TEST_ROWS
        spread = shares.std(ddof=1) / np.sqrt(len(shares))
        link, mean = f"[{method.name}]({method.page}.md)", f"{shares.mean():.3f} ± {spread:.3f}"
        known = [method.idea, method.labels, method.convex]
        rows.append([link, *known, f"{shares[SHOWN]:.3f}", mean])
    return grid(head, rows)


def inputs_of(name: str, numbers: Numbers) -> str:
    """Return a digest of the inputs of a picture: the code, and the errors that it shows."""
    digest = hashlib.sha256()
    for module in (example, pictures, _decision, _rows):
        digest.update(Path(str(module.__file__)).read_text(encoding="utf-8").encode())
    digest.update(json.dumps([numbers[key][SHOWN] for key in PICTURES[name]]).encode())
    return digest.hexdigest()
