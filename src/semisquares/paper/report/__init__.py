"""One HTML page about a folder of results, without links to anything on the network.

The page is made only from the stored tables and pictures and contains no date or time: the same
folder always gives the same bytes. The texts about a figure come from the figure itself.
"""

from __future__ import annotations

from pathlib import Path

from ..._html.environment import load_templates, style
from ..._utils.files import atomic_write
from ..._utils.words import os_error
from .._ledger import ReproduceError
from ._page import gather

__all__ = ["write"]

NAME = "report.html"


def write(out: str | Path, command: str) -> Path:
    """Write `out`/report.html about the figures that are finished there, and return its path.

    Parameters
    ----------
    out : path
        Folder of `semisquares.paper._runner.run`.
    command : str
        The command that made the folder, for readers who want to run it again.
    """
    environment = load_templates("paper")  # reports a missing package before any work
    template = environment.get_template("page.html")
    text = template.render(
        page=gather(Path(out), command), style=style(environment, "colours.css", "style.css")
    )
    path = Path(out) / NAME
    try:
        with atomic_write(path) as file:
            # the command may hold bytes that are not text
            file.write(text.encode(errors="replace"))
    except OSError as error:
        raise ReproduceError(
            f"{os_error(error, 'writing', str(path))}; the tables are kept, so correct that and "
            "run the same command again."
        ) from error
    return path
