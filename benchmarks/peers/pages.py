"""Write the evidence pages, including their text, from the stored tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from semisquares._utils.files import atomic_write

from . import storing
from .accuracy_page import accuracy_page
from .averaged_page import averaged_page
from .cost_page import cost_page
from .drawing import draw, drawn_from, inputs_of
from .helps_page import helps_page
from .overview_page import overview_page
from .storing import Stored

DOCS = Path(__file__).parents[2] / "docs"
MADE = "<!-- made by `python -m benchmarks.peers pages` from results/peers; do not edit -->\n\n"
PAGES: dict[str, Callable[[Stored], str]] = {
    "index": overview_page,
    "accuracy": accuracy_page,
    "averaged": averaged_page,
    "helps": helps_page,
    "cost": cost_page,
}
NEEDS = {
    "index": ("ridge_cv", "soft_cv"),
    "accuracy": ("ridge_cv", "soft_cv"),
    "helps": (
        "soft_cv",
        "soft",
        "hard",
        "soft_cv_supervised",
        "ridge_fine",
        "ridge",
        "self_training",
        "logistic",
        "oracle",
    ),
}
"""Methods that a page or picture needs."""


def page(name: str, stored: Stored) -> str:
    """Return the text of a page."""
    return MADE + PAGES[name](stored).strip() + "\n"


def write_pages(results: Path = storing.RESULTS, docs: Path = DOCS) -> None:
    """Write all pages and pictures; ``python -m docs --fill`` fills the page on choosing.

    Those that need methods that are not measured are left out.
    """
    stored, inputs = storing.read(results), inputs_of(results)

    def possible(names: Iterable[str]) -> list[str]:
        return [name for name in names if set(NEEDS.get(name, ())) <= set(stored.methods)]

    files = {f"{name}.md": page(name, stored).encode() for name in possible(PAGES)}
    pictures = possible(drawn_from(stored))
    files |= {f"pictures/{name}.svg": draw(name, stored, inputs) for name in pictures}
    for name, content in files.items():
        with atomic_write(docs / "evidence" / name) as file:
            file.write(content)
        sys.stdout.write(f"evidence/{name}: {len(content):,} bytes\n")
