"""The source tree: private files have an underscore, classes have names of their own."""

import ast
import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

import semisquares

SOURCE = Path(semisquares.__file__).parent
PAGES = SOURCE.parents[1] / "docs" / "api"

ONE_FILE_EACH = (
    "cli", "core/solvers", "families", "paper/figures", "tables/columns", "tables/compare/notices",
    "tables/models/predictors",
)  # fmt: skip
"""Rooms with one file per command, algorithm, family, figure, column type and notice."""
STAGES = {
    "core/linalg", "core/rows/reduce", "tables/schema", "tables/target",
    "tables/compare/intervals", "tables/compare/scores", "tables/compare/splits",
    "tables/compare/verdict",
}  # fmt: skip
"""Other files that a newcomer looks for by name."""


def _documented():
    """Return the files that define what the reference lists."""
    found = set()
    for page in PAGES.glob("*.md"):
        module = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if named := re.search(r"(?:currentmodule|automodule):: *(\S+)", line):
                module = importlib.import_module(named[1])
                found.add(module.__name__)
            elif named := re.fullmatch(r" *~?(?:semisquares\.)?(\w+)", line):
                thing = getattr(module, named[1], None)
                found.add(getattr(thing, "__module__", None))
    return found


def _modules():
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).with_suffix("").as_posix()
        if not any(part.startswith("_") for part in name.split("/")):
            yield name


@pytest.mark.skipif(not PAGES.exists(), reason="the pages of the reference are not here")
def test_a_file_without_an_underscore_is_documented_or_one_of_its_kind():
    documented = _documented()
    assert len(documented) > 20
    others = [
        name
        for name in _modules()
        if "semisquares." + name.replace("/", ".") not in documented
        and name.rpartition("/")[0] not in ONE_FILE_EACH
        and name not in STAGES
    ]
    assert others == []


def test_no_two_classes_have_the_same_name():
    names = Counter(
        node.name
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert names["SoftLabelClassifier"] == 1
    assert [name for name, count in names.items() if count > 1] == []
