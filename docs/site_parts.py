"""Extensions of Sphinx for this site.

They set formulas without a network, make warnings of gallery examples errors, link code in texts to
the reference, show pictures in the size in which they were drawn, and keep a number in a table and
its error on one line.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_WORDINGS = {
    r"\n\s*\n": "\n",
    r"\\dots(?![a-z])": r"\\ldots",
    r"\\texttt(?![a-z])": r"\\mathtt",
    r"\\textstyle(?![a-z])": "",
    r"\\([dt]?frac)\s*(\d)(\d)": r"\\\1{\2}{\3}",
}
"""LaTeX that docutils cannot read, and equivalents that it can."""
_FENCE = re.compile(r"<mo( class=\"\w+\")?>([‖{}⌈⌉⌊⌋])</mo>")
_kept: list[Any] = []
WIDE = 5.5
"""Width in inches beyond which text becomes unreadable if a phone shows the whole picture."""


def mathml(tex: str, *, block: bool) -> str:
    """Convert a formula to MathML, which browsers display without a library.

    MathJax would be a download of megabytes for each reader, or megabytes in this repository.

    Examples
    --------
    >>> mathml("x^2", block=False).count("<msup>")
    1
    """
    from docutils.utils.math import latex2mathml

    for pattern, wording in _WORDINGS.items():
        tex = re.sub(pattern, wording, tex)
    found = str(latex2mathml.tex2mathml(tex.strip(), as_block=block))
    # as in LaTeX, only \left and \right make fences stretch
    if re.search(r"\\left(?![a-z])", tex):
        return found
    return _FENCE.sub(r'<mo stretchy="false"\1>\2</mo>', found)


def warnings_are_errors(gallery_conf: Any, name: str, when: str) -> None:
    """Turn warnings of gallery examples into errors; restore the filters of Sphinx afterwards."""
    if when == "before":
        _kept[:] = warnings.filters
        warnings.simplefilter("error")
    else:
        warnings.filters[:] = _kept  # type: ignore[index]


def _inline(writer: Any, node: Any) -> None:
    """Write a formula within a line, and skip its node."""
    from docutils import nodes

    writer.body.append(_checked(node, block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: Any) -> None:
    """Write a displayed formula, and skip its node."""
    from docutils import nodes

    writer.body.append(f'<div class="formula">{_checked(node, block=True)}</div>\n')
    raise nodes.SkipNode


def _checked(node: Any, *, block: bool) -> str:
    """Return the MathML of a node; warn if docutils cannot read the formula."""
    from docutils.utils.math import MathError
    from sphinx.util import logging

    try:
        return mathml(node.astext(), block=block)
    except MathError as error:
        logger = logging.getLogger(__name__)
        logger.warning("formula %r: %s", node.astext(), error, location=node, type="formula")
        return ""


def lead_to_reference(app: Sphinx, tree: Any, page: str) -> None:
    """Link every piece of inline code that is one of our names to the reference."""
    from docutils import nodes

    places = _places(app.env)
    for code in list(tree.findall(nodes.literal)):
        place, anchor = places.get(code.astext().partition("(")[0], (page, ""))
        outer = (nodes.reference, nodes.title)
        if place == page or any(isinstance(code.parent, kind) for kind in outer):
            continue
        uri = app.builder.get_relative_uri(page, place) + anchor
        link = nodes.reference("", "", code.deepcopy(), internal=True, refuri=uri)
        code.replace_self(link)


def inches(path: Path) -> float:
    """Return the width in which a picture was drawn; 0 if unknown, as for thumbnails."""
    from PIL import Image

    if path.suffix == ".svg":
        found = re.search(r'<svg[^>]* width="([\d.]+)pt"', path.read_text(encoding="utf-8"))
        return float(found[1]) / 72.0 if found else 0.0
    with Image.open(path) as picture:
        return float(picture.width / picture.info.get("dpi", (float("inf"),))[0])


def size_pictures(app: Sphinx, tree: Any, page: str) -> None:
    """Show pictures as wide as they were drawn, so that all text has the same size.

    Wide pictures get a class, and site.css lets them scroll on narrow screens.
    """
    from docutils import nodes

    for picture in list(tree.findall(nodes.image)):
        width = inches(Path(app.srcdir, picture["uri"]))
        if width > 0.0:
            picture["width"] = f"{96 * width:.0f}px"
            picture["classes"] += ["wide"] if width > WIDE else []
    for picture in list(tree.findall(lambda node: node.tagname == "imgsgnode")):  # the gallery's
        if inches(Path(app.srcdir, picture["uri"].lstrip("/"))) > WIDE:
            picture["class"] = [f"{picture['class'][0]} wide"]
        picture.replace_self(nodes.container("", picture.deepcopy(), classes=["picture"]))


def join_errors(app: Sphinx, tree: Any, page: str) -> None:
    """Keep a number and what follows its ± on one line, in the cells of tables."""
    from docutils import nodes

    for cell in tree.findall(nodes.entry):
        for text in list(cell.findall(nodes.Text)):
            joined = text.astext().replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
            text.parent.replace(text, nodes.Text(joined))


def _places(env: Any) -> dict[str, tuple[str, str]]:
    """Return the page and anchor of each name; short names only if they are not plain words."""
    objects = env.domaindata["py"]["objects"]
    places = {
        f"semisquares.{page.removeprefix('api/')}": (page, "")
        for page in env.found_docs
        if page.startswith("api/") and page.count("/") == 1
    }
    for name, entry in objects.items():
        if entry.objtype in ("class", "exception", "function"):
            short = name.rpartition(".")[2]
            place = (entry.docname, f"#{entry.node_id}")
            places[name] = place
            if re.search(r"_|[A-Z].*[A-Z]", short):
                places[short] = place
    return places


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extensions."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("doctree-resolved", lead_to_reference)
    app.connect("doctree-resolved", size_pictures)
    app.connect("doctree-resolved", join_errors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
