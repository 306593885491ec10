"""The blocks of `reproduction.md`: the content of the report on `results/`, as Markdown.

The report gathers the stored tables, the findings and the published numbers. This module only
formats them as Markdown, and `docs.measured` puts them between marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from semisquares._html.tables import Grid
from semisquares.paper.figures import FIGURES
from semisquares.paper.report._differences import CHAPTERS, Chapter
from semisquares.paper.report._page import VERDICTS, Page, Section, gather

RESULTS = Path(__file__).parents[1] / "results"
COMMAND = "semisquares reproduce all --preset authors --out results"


@cache
def page() -> Page:
    """Gather the report on the stored results."""
    return gather(RESULTS, COMMAND)


def _overview() -> str:
    """Return how close each figure is to the published one, and the claims that do not hold."""
    near = [(_name(s), s.agreement.sentence, _count(s)) for s in page().sections]
    grid = _table(("figure", "compared with the paper", "claims that hold"), near)
    others = [_others(s) for s in page().sections if _others(s)]
    return "\n\n".join(map(_plain, (grid, "The other claims:", "\n".join(others))))


def _others(section: Section) -> str:
    """Return the claims of a figure that do not hold, and those that cannot be decided."""
    found = {
        word: [v.claim for v in section.verdicts if v.verdict == word]
        for word in (VERDICTS[False], VERDICTS[None])
    }
    parts = [f"*{word}:* {'; '.join(claims)}." for word, claims in found.items() if claims]
    return f"- **{_name(section)}**, {' '.join(parts)}" if parts else ""


def _name(section: Section) -> str:
    """Return the number of a figure in the paper, or its title if it goes beyond the paper."""
    return section.place if section.place.startswith("Figure") else section.title


def _count(section: Section) -> str:
    hold = sum(v.verdict == VERDICTS[True] for v in section.verdicts)
    return f"{hold} of {len(section.verdicts)}"


def _figure(section: Section) -> str:
    """Return what was run, our numbers beside the published ones, and claims with verdicts."""
    parts = [
        f"*What was run:* {section.run}",
        f"*Compared with the paper:* {section.agreement.sentence}",
    ]
    parts += _grid(section.agreement.grid)
    parts += [section.agreement.remark] if section.agreement.remark else []
    claims = [(v.claim, f"**{v.verdict}**", v.evidence) for v in section.verdicts]
    parts.append(_table(("claim", "in our run", "because"), claims))
    return "\n\n".join(_plain(part) for part in parts)


def _grid(grid: Grid | None) -> list[str]:
    if grid is None:
        return []
    return [f"{grid.caption}:", _table(grid.header, grid.rows, grid.numeric)]


def _chapter(chapter: Chapter) -> str:
    """Return the differences of a chapter as a list, each with what the presets do."""
    lines = []
    for point in chapter.points:
        presets = "; ".join(f"{name}: {what}" for name, what in point.presets.items())
        lines.append(f"- **{point.title}.** {point.text} *Here:* {presets}.")
    return _plain("\n".join(lines))


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool] = ()
) -> str:
    sides = [*numeric, *[False] * (len(header) - len(numeric))]
    lines = [header, ["---:" if right else "---" for right in sides], *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _plain(text: str) -> str:
    """Escape characters that have a meaning in Markdown."""
    return text.replace("\N{NO-BREAK SPACE}", " ").replace("<", "&lt;")


def _of_figure(name: str) -> Callable[[], str]:
    return lambda: _figure(next(section for section in page().sections if section.name == name))


def _of_chapter(chapter: Chapter) -> Callable[[], str]:
    return lambda: _chapter(chapter)


BLOCKS: dict[str, Callable[[], str]] = {
    "tally": lambda: page().tally,
    "overview": _overview,
    "settings": lambda: _table(page().settings.header, page().settings.rows),
    **{name: _of_figure(name) for name in FIGURES if name != "fig1"},  # its table is not stored
    **{chapter.title.lower().replace(" ", "-"): _of_chapter(chapter) for chapter in CHAPTERS},
}
"""The functions that make the blocks, by name."""
