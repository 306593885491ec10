"""The theory pages: their folder, their pictures, and the inputs of the pictures."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from semisquares import plotting

from . import theory_numbers, theory_pictures
from .pictures import pack
from .theory_numbers import Numbers

THEORY_PAGES = Path(__file__).parent / "theory"
THEORY_PICTURES = (
    "row_cost", "convexity", "active_set", "gap", "dial_path", "branch_and_bound", "simplex",
    "vanishing_ridge", "leave_one_out",
)  # fmt: skip
"""Each name is a function of `theory_numbers` and one of `theory_pictures`."""


@cache
def numbers_of(name: str) -> Numbers:
    """Return the numbers of a picture, computed once."""
    return getattr(theory_numbers, name)()


def inputs_of(name: str) -> dict[str, Any]:
    """Return the inputs of a picture: a digest of the code, and a summary of its numbers.

    The summary is rounded, so that the file does not depend on the last bits of the numbers.
    """
    digest = hashlib.sha256()
    for module in (theory_numbers, theory_pictures):
        digest.update(Path(module.__file__).read_text(encoding="utf-8").encode())
    sums = {
        key: [round(float(summed), 9) for summed in (found.size, np.mean(found), np.std(found))]
        for key, found in numbers_of(name).items()
    }
    return {"code": digest.hexdigest(), "numbers": sums}


def write_pictures() -> dict[str, int]:
    """Write all pictures, and return their sizes in bytes."""
    sizes = {}
    for name in THEORY_PICTURES:
        with plotting.style():
            picture = getattr(theory_pictures, name)(numbers_of(name))
        content = pack(picture, json.dumps(inputs_of(name)))
        (THEORY_PAGES / "pictures" / f"{name}.png").write_bytes(content)
        sizes[name] = len(content)
    return sizes
