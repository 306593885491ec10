"""The content of the page, gathered from a folder of results; the template lays it out."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ... import __version__
from ..._html.pictures import Picture, embed
from ..._html.tables import Grid, grid, preview
from ..._html.typeset import sentence
from ..._utils.words import counted
from .. import figures
from .._store import no_table, read_record, read_table
from ..datasets.catalogue import sources_table
from ..figures._figure import PRESETS, Agreement, Figure, Finding, Settings
from ._differences import CHAPTERS, Chapter

VERDICTS = {True: "holds", False: "does not hold", None: "unclear"}


@dataclass(frozen=True)
class FindingVerdict:
    """A claim, whether it holds, and why."""

    claim: str
    verdict: str
    evidence: str


@dataclass(frozen=True)
class View:
    """A picture with its title and its alternative text."""

    title: str
    alt: str
    picture: Picture | None
    name: str


@dataclass(frozen=True)
class Section:
    """The section of one figure."""

    name: str
    place: str
    title: str
    caption: str
    settings: Settings
    run: str
    randomness: str
    command: str
    views: tuple[View, ...]
    verdicts: tuple[FindingVerdict, ...]
    agreement: Agreement
    columns: Grid
    preview: Grid
    files: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """The whole page."""

    version: str
    commands: tuple[str, ...]
    sections: tuple[Section, ...]
    tally: str
    settings: Grid
    presets: Mapping[str, str]
    seeds: str
    versions: tuple[tuple[str, str], ...]
    chapters: tuple[Chapter, ...]
    sources: tuple[Mapping[str, str], ...]


def gather(out: Path, command: str) -> Page:
    """Gather the page of all figures that are finished in a folder."""
    finished = [f for f in figures.FIGURES.values() if read_record(out / f.name) is not None]
    if not finished:
        raise no_table(out)
    sections = tuple(_section(figure, out) for figure in finished)
    used = {name for section in sections for name in section.settings.datasets}
    presets = [section.settings.preset for section in sections]
    return Page(
        version=__version__,
        commands=_commands(command, sections),
        sections=sections,
        tally=_tally([verdict for section in sections for verdict in section.verdicts]),
        settings=_settings(sections),
        presets={name: PRESETS.get(name, "") for name in dict.fromkeys(presets)},
        seeds=", ".join(dict.fromkeys(str(section.settings.seed) for section in sections)),
        versions=_versions(finished, out),
        chapters=CHAPTERS,
        sources=tuple(source for source in sources_table() if source["name"] in used),
    )


def _commands(command: str, sections: tuple[Section, ...]) -> tuple[str, ...]:
    """Return the command that made the page, or one per figure if it took several."""
    words = command.split()
    named = "all" in words or {section.name for section in sections} <= set(words)
    if named and all(section.settings.preset in words for section in sections):
        return (command,)
    return tuple(section.command for section in sections)


def _section(figure: Figure, out: Path) -> Section:
    folder = out / figure.name
    table = read_table(folder)
    details = tuple(f"{figure.name}/{name}.csv" for name in sorted(table.details))
    meanings = list(figure.columns.items())
    return Section(
        name=figure.name,
        place=figure.place,
        title=figure.title,
        caption=figure.caption,
        settings=table.settings,
        run=figure.describe_run(table.settings),
        randomness=_randomness(figure, table.settings),
        command=command_of(figure, table.settings),
        views=tuple(_view(figure, view, folder) for view in figure.views),
        verdicts=tuple(map(_verdict, figure.findings(table))),
        agreement=figure.compare_with_paper(table),
        columns=grid(f"The columns of {figure.name}/summary.csv", ("column", "meaning"), meanings),
        preview=preview(table.summary, f"{figure.name}/summary.csv"),
        files=(f"{figure.name}/summary.csv", *details, f"{figure.name}/settings.json"),
    )


def _randomness(figure: Figure, settings: Settings) -> str:
    if not figure.uses_seed:
        return "The seed changes nothing here."
    return f"Seed {settings.seed}; each cell has random numbers of its own."


def command_of(figure: Figure, settings: Settings) -> str:
    """Return the command that runs one figure with these settings."""
    usual = figure.settings(settings.preset, seed=settings.seed)
    words = ["semisquares", "reproduce", figure.name, "--preset", settings.preset]
    words += ["--seed", str(settings.seed)]
    if settings.datasets != usual.datasets:
        words += ["--datasets", ",".join(settings.datasets)]
    if settings.repeats != usual.repeats:
        words += ["--repeats", str(settings.repeats)]
    return shlex.join([*words, "--out", "DIR"])


def _view(figure: Figure, view: str, folder: Path) -> View:
    title = figure.views[view]
    what = f"{figure.title}: {title}" if title else figure.title
    return View(
        title=title,
        alt=f"Plot of “{what}”; the caption and the findings describe it.",
        picture=embed(folder, view),
        name=view,
    )


def _verdict(finding: Finding) -> FindingVerdict:
    return FindingVerdict(
        finding.claim.strip().removesuffix("."),
        VERDICTS[finding.holds],
        sentence(finding.evidence),
    )


def _tally(verdicts: Sequence[FindingVerdict]) -> str:
    """Return a sentence that counts the verdicts."""
    counts = {word: sum(v.verdict == word for v in verdicts) for word in VERDICTS.values()}
    hold, fail, unknown = counts.values()
    parts = [f"{hold} {'holds' if hold == 1 else 'hold'}"]
    parts += [f"{fail} {'does' if fail == 1 else 'do'} not"] if fail else []
    verb = "is" if unknown == 1 else "are"
    parts += [f"{unknown} {verb} unclear from these tables"] if unknown else []
    joined = " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
    return f"Of {counted(len(verdicts), 'claim')}, {joined}."


def _settings(sections: Sequence[Section]) -> Grid:
    rows = [
        (
            section.name,
            section.settings.preset,
            f"{section.settings.repeats:,}",
            str(len(section.settings.datasets) or "–"),
            str(section.settings.seed),
        )
        for section in sections
    ]
    return grid(
        "Settings of each figure", ("figure", "preset", "repeats", "data sets", "seed"), rows
    )


def _versions(figures: Sequence[Figure], out: Path) -> tuple[tuple[str, str], ...]:
    """Return the figures grouped by the versions that computed them: pairs (figures, versions)."""
    groups: dict[str, list[str]] = {}
    for figure in figures:
        record = read_record(out / figure.name)
        assert record is not None
        versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
        groups.setdefault(versions, []).append(figure.name)
    return tuple((", ".join(names), versions) for versions, names in groups.items())
