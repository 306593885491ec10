"""The templates of all pages, ready to be filled in: every text is escaped."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_FILES = (
    "page.html",
    "macros.html",
    "colours.css",
    "style.css",
    "comparison.html",
    "comparison.css",
)


def load_templates(extra: str) -> Environment:
    """Return the templates; if jinja2 is missing, name the `extra` that installs it."""
    try:
        from jinja2 import DictLoader, Environment, StrictUndefined
    except ImportError:
        raise ImportError(
            "The report needs jinja2, which is not installed; run "
            f"pip install 'semisquares[{extra}]'."
        ) from None
    from .typeset import breakable, slug, typeset

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
    environment.filters |= {"typeset": typeset, "breakable": breakable, "slug": slug}
    return environment


def style(environment: Environment, *names: str) -> Markup:
    """Return style sheets joined, without escaping."""
    from markupsafe import Markup

    return Markup("".join(environment.get_template(name).render() for name in names))
