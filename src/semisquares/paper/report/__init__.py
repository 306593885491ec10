"""One HTML page of a folder of results: it needs no network and opens from the disk.

The page is made from the stored tables and pictures alone, and holds no date or time: the same
folder gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..._html.environment import load_templates, style
from ..._utils.files import atomic_write
from ..._utils.words import os_error
from ..ledger import ReproduceError
from .page import Page, gather

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["write"]

NAME = "report.html"


def write(out: str | Path, command: str) -> Path:
    """Write `out`/report.html, of the figures that are finished there, and return its path.

    Parameters
    ----------
    out : path
        Folder of `semisquares.paper.runner.run`.
    command : str
        What makes the folder, for whoever wants to run it again.
    """
    environment = load_templates("paper")  # a missing package is said before any work
    text = _render(environment, gather(Path(out), command))
    path = Path(out) / NAME
    try:
        with atomic_write(path) as file:
            file.write(text.encode(errors="replace"))  # the command may hold bytes that are no text
    except OSError as error:
        raise ReproduceError(
            f"{os_error(error, 'writing', str(path))}; the tables are kept, so put that right and "
            "run the same command again."
        ) from error
    return path


def _render(environment: Environment, page: Page) -> str:
    template = environment.get_template("page.html")
    return template.render(page=page, style=style(environment, "style.css"))
