"""Invisible marks in the pages; the text between them is filled in from stored tables.

A number in a sentence is written as ``<!-- measured: KEY -->0.26<!-- / -->``. A whole table, list
or listing is a block on lines of its own: ``<!-- generated: NAME -->`` … ``<!-- / -->``. Marks do
not nest. They must not be inside code or formulas, where they would be visible, and the mark of a
number must not start a line, because Markdown would end the paragraph there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
_WHOLE = ("accuracy", "averaged", "cost", "helps", "index", "labeling", "real_tables")
MADE_WHOLE = ("_build", "api/generated", "gallery", *(f"evidence/{name}.md" for name in _WHOLE))
"""Folders and pages of docs/ that are generated as a whole, and checked by other tests."""

_OPEN = r"<!-- (?P<kind>measured|generated): (?P<key>[\w.-]+) -->"
_CLOSE = "<!-- / -->"
_BEGINS_A_LINE = re.compile(r"^(?:[ >]|[-*+] |\d+[.)] )*<!-- measured: ([\w.-]+)", re.MULTILINE)
_MARK = re.compile(rf"{_OPEN}(?P<inside>.*?){_CLOSE}", re.DOTALL)


class MarkError(ValueError):
    """A mark that is not closed, or whose key is unknown."""


@dataclass(frozen=True)
class Number:
    """A measured number: a function that reads it from a stored table, and one to format it."""

    read: Callable[[], Any]
    form: Callable[[Any], str] = str

    def __str__(self) -> str:
        return self.form(self.read())


@dataclass(frozen=True)
class Registry:
    """Everything that can be filled in between marks: numbers, and blocks of Markdown."""

    numbers: Mapping[str, Number]
    blocks: Mapping[str, Callable[[], str]]

    def content(self, kind: str, key: str) -> str:
        """Return the text between the marks of one key."""
        known: Mapping[str, Any] = self.numbers if kind == "measured" else self.blocks
        if key not in known:
            raise MarkError(
                f"nothing {kind} is called {key!r}; enter it in docs/measured.py, or use one of "
                f"{', '.join(sorted(known))}."
            )
        if kind == "measured":
            return str(known[key])
        return f"\n\n{known[key]().strip()}\n\n"

    def fill(self, text: str) -> str:
        """Return a text with everything between its marks filled in."""
        check_marks(text)
        return _MARK.sub(self._filled, text)

    def _filled(self, mark: re.Match[str]) -> str:
        opening = mark[0][: mark.start("inside") - mark.start()]
        return opening + self.content(mark["kind"], mark["key"]) + _CLOSE


def keys_of(text: str) -> list[tuple[str, str]]:
    """Return the kind ("measured" or "generated") and the key of each mark in a text."""
    return [(mark["kind"], mark["key"]) for mark in _MARK.finditer(text)]


def without_marked(text: str) -> str:
    """Return a text with each mark and its content replaced by a placeholder."""
    return _MARK.sub("▪", text)


def check_marks(text: str) -> None:
    """Raise MarkError if a mark is not closed, is inside another one, or starts a line."""
    for mark in _MARK.finditer(text):
        if re.search(_OPEN, mark["inside"]):
            raise MarkError(
                f"the mark of {mark['key']!r} is not closed before the next; put {_CLOSE} after "
                "what is measured."
            )
    rest = _MARK.sub("", text)
    if _CLOSE in rest or re.search(_OPEN, rest):
        raise MarkError(
            "a mark is opened and not closed, or the other way round; write <!-- measured: KEY "
            f"-->…{_CLOSE}."
        )
    if first := _BEGINS_A_LINE.search(text):
        raise MarkError(
            f"the mark of {first[1]!r} begins a line, where Markdown ends the paragraph; put a "
            "word of the sentence before it."
        )


def pages() -> dict[str, Path]:
    """Return the pages that may have marks, by their paths in the repository."""
    docs = REPOSITORY / "docs"
    whole = [docs / folder for folder in MADE_WHOLE]
    found = [
        path
        for path in sorted(docs.rglob("*.md"))
        if not any(path.is_relative_to(folder) for folder in whole)
    ]
    return {str(path.relative_to(REPOSITORY)): path for path in (REPOSITORY / "README.md", *found)}


def fill_pages(registry: Registry) -> list[str]:
    """Fill in the marks of all pages, and return the names of the pages that changed."""
    changed = []
    for name, path in pages().items():
        text = path.read_text(encoding="utf-8")
        try:
            filled = registry.fill(text)
        except MarkError as error:
            raise MarkError(f"{name}: {error}") from None
        if filled != text:
            path.write_text(filled, encoding="utf-8")
            changed.append(name)
    return changed
