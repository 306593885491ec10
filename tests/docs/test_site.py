"""The site: every page can be reached, every link leads somewhere, every example runs."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from semisquares import cli
from semisquares.cli._commands import COMMANDS, commands
from support.page_examples import check_examples

DOCS = Path(__file__).parents[2] / "docs"
MADE = ("_build", "gallery", "generated", "used_in")
PAGES = {
    path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if not set(MADE) & set(path.relative_to(DOCS).parts)
}
WITH_EXAMPLES = [
    name
    for name, text in PAGES.items()
    if name.startswith(("index", "faq", "guide/", "extending/", "api/")) and "```python" in text
]
COMMAND_LINE = PAGES["guide/command_line"]
MODULES = (
    "semisquares",
    "semisquares.baselines",
    "semisquares.core.certificate",
    "semisquares.paper.datasets",
    "semisquares.families",
    "semisquares.labeling",
    "semisquares.core.labelings",
    "semisquares.model_selection",
    "semisquares.core.objective",
    "semisquares.paper.objectives",
    "semisquares.plotting",
    "semisquares.representations",
    "semisquares.core.rows",
    "semisquares.core.solvers",
    "semisquares.tables",
    "semisquares.tables.io.protocol",
)
FENCE = re.compile(r"^(```+|:::+).*?^\1$", re.MULTILINE | re.DOTALL)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r"^```\{literalinclude\} (\S+)\n:pyobject: (\S+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)


def prose(text):
    """Return a page without its code."""
    return re.sub(r"`[^`]*`", "", FENCE.sub("", text))


def entries(name):
    """Return the pages in the toctrees of a page."""
    listed = "\n".join(TOCTREE.findall(PAGES[name])).split("\n")
    folder = Path(name).parent
    return [(folder / line).as_posix() for line in listed if line and not line.startswith(":")]


def anchors(text):
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def exists(page, link):
    """Return whether a link leads to a file, and to a heading if it names one."""
    path, _, anchor = link.partition("#")
    target = (DOCS / page).parent / path if path else DOCS / f"{page}.md"
    made = re.fullmatch(r"(?:.*/)?gallery/(\w+)\.rst", path)
    if made:
        example = DOCS.parent / "examples" / f"{made[1]}.py"
        return made[1] == "index" or example.is_file()
    if not target.is_file():
        return False
    return not anchor or anchor in anchors(target.read_text(encoding="utf-8"))


def public_names(module):
    """Return the public classes and functions of a module."""
    found = import_module(module)
    own = [
        name
        for name, value in vars(found).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module
    ]
    names = getattr(found, "__all__", own)
    return {n for n in names if inspect.isclass(getattr(found, n)) or callable(getattr(found, n))}


def documented_names(module):
    """Return the names of a module that the reference lists."""
    blocks = re.findall(
        rf"^\.\. currentmodule:: {re.escape(module)}\n\n\.\. autosummary::\n(.*?)^```$",
        "\n".join(text for name, text in PAGES.items() if name.startswith("api/")),
        re.MULTILINE | re.DOTALL,
    )
    return set(re.findall(r"^   (\w+)$", "\n".join(blocks), re.MULTILINE))


def documented_options(command):
    """Return the options of a command on the page about the command line."""
    own = re.findall(rf"^## {command}\n(.*?)^## ", COMMAND_LINE, re.MULTILINE | re.DOTALL)
    shared = re.findall(r"^\| option \| of (.+) \|\n((?:\|.+\n)+)", COMMAND_LINE, re.MULTILINE)
    own += [table for commands_, table in shared if f"`{command}`" in commands_]
    cells = re.findall(r"^\| (.+?) \|", "\n".join(own), re.MULTILINE)
    with_words = re.findall(r"^(.+) have\s+`--json`\s+and\s+`--quiet`:", COMMAND_LINE, re.MULTILINE)
    words = {"--json", "--quiet"} if f"`{command}`" in with_words[0] else set()
    return words | set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(cells)))


NEEDS_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[NEEDS_TORCH] * ("import torch" in PAGES[name]))
        for name in WITH_EXAMPLES
    ],
)
def test_the_examples_of_a_page_run_and_print_what_it_says(name, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # for the page about tensors
    check_examples(name, PAGES[name])


def test_every_page_is_in_one_toctree():
    listed = [entry for name in PAGES for entry in entries(name)]
    assert sorted(listed) == sorted({*PAGES, "gallery/index"} - {"index"})


@pytest.mark.parametrize("name", PAGES)
def test_the_links_of_a_page_lead_somewhere(name):
    links = [link for link in LINK.findall(prose(PAGES[name])) if "://" not in link]
    assert not [link for link in links if not exists(name, link)]


def test_code_that_is_shown_from_the_source_is_there():
    shown = [(name, *found) for name in PAGES for found in INCLUDE.findall(PAGES[name])]
    assert shown
    for name, path, thing in shown:
        source = ((DOCS / name).parent / path).read_text(encoding="utf-8")
        assert re.search(rf"^(class|def) {re.escape(thing)}\b", source, re.MULTILINE), (name, thing)


@pytest.mark.parametrize("name", PAGES)
def test_the_pictures_of_a_page_say_how_wide_they_were_drawn(name):
    from docs.site_parts import inches

    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", FENCE.sub("", PAGES[name]))
    widths = [inches((DOCS / name).parent / picture) for picture in pictures]
    assert all(3.0 < width < 8.0 for width in widths), dict(zip(pictures, widths, strict=True))


def test_a_number_in_a_table_and_its_error_stay_on_one_line():
    from docs.site_parts import join_errors
    from docutils import nodes

    cell = nodes.entry("", nodes.paragraph("", "+0.4 ± 2.2 of 3"))
    outside = nodes.paragraph("", "1 ± 2")
    join_errors(None, nodes.container("", cell, outside), "")
    assert (cell.astext(), outside.astext()) == ("+0.4\xa0±\xa02.2 of 3", "1 ± 2")


@pytest.mark.parametrize("name", PAGES)
def test_the_formulas_of_a_page_can_be_set(name):
    from docs.site_parts import mathml

    for block, inline in FORMULA.findall(prose(PAGES[name])):
        assert mathml(block or inline, block=bool(block)).startswith("<math")


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_lists_all_that_is_public(module):
    assert documented_names(module) == public_names(module)


def test_the_page_on_the_command_line_has_all_commands():
    assert re.findall(r"^\| `([a-z]+)[ `]", COMMAND_LINE, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_on_the_command_line_has_all_options_of_a_command(command):
    context = click.Context(commands, resilient_parsing=True)  # whatever is installed
    known = commands.get_command(context, command).params
    names = {name for one in known for name in (*one.opts, *one.secondary_opts)}
    options = {name for name in names if name.startswith("-")}
    assert documented_options(command) == options


def test_the_page_on_the_command_line_has_all_exit_codes():
    codes = re.findall(r"^\| (\d+) \|", COMMAND_LINE, re.MULTILINE)
    assert codes == re.findall(r"\b\d+\b", cli.__doc__)
