"""Where the theory pages are, their pictures, and what each picture is made from."""

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
"""Each is a function of `theory_numbers` and one of `theory_pictures`."""


@cache
def numbers_of(name: str) -> Numbers:
    """Compute the numbers of a picture, once."""
    return getattr(theory_numbers, name)()


def inputs_of(name: str) -> dict[str, Any]:
    """Return what a picture is made from: a digest of the code, and its numbers summed up.

    The sums are rounded, so that the file does not depend on the last bits of the numbers.
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
    """Write all pictures, and return how many bytes each has."""
    sizes = {}
    for name in THEORY_PICTURES:
        with plotting.style():
            picture = getattr(theory_pictures, name)(numbers_of(name))
        content = pack(picture, json.dumps(inputs_of(name)))
        (THEORY_PAGES / "pictures" / f"{name}.png").write_bytes(content)
        sizes[name] = len(content)
    return sizes
