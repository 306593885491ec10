"""One HTML page of a folder of results: it needs no network and opens from the disk.

The page is made from the stored tables and pictures alone, and holds no date or time: the same
folder gives the same bytes.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ..experiments.ledger import ReproduceError
from ..files import replaced
from .page import Page, gather

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["write"]

NAME = "report.html"
_FILES = ("page.html", "macros.html", "style.css")


def write(out: str | Path, command: str) -> Path:
    """Write `out`/report.html, of the figures that are finished there, and return its path.

    Parameters
    ----------
    out : path
        Folder of `semisquares.experiments.runner.run`.
    command : str
        What makes the folder, for whoever wants to run it again.
    """
    environment = _environment()  # a missing package is said before any work
    text = _render(environment, gather(Path(out), command))
    path = Path(out) / NAME
    try:
        with replaced(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise ReproduceError(
            f"{path} cannot be written ({error.strerror}); the tables are kept, so put that right "
            "and run the same command again."
        ) from error
    return path


def _environment() -> Environment:
    try:
        from jinja2 import DictLoader, Environment, StrictUndefined
    except ImportError:
        raise ImportError(
            "The report needs jinja2, which is not installed; run "
            "pip install 'semisquares[experiments]'."
        ) from None
    from .typeset import slug, typeset

    folder = resources.files(__package__) / "template"
    files = {name: (folder / name).read_text(encoding="utf-8") for name in _FILES}
    environment = Environment(
        loader=DictLoader(files),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"typeset": typeset, "slug": slug}
    return environment


def _render(environment: Environment, page: Page) -> str:
    from markupsafe import Markup

    style = Markup(environment.get_template("style.css").render())
    return environment.get_template("page.html").render(page=page, style=style)
