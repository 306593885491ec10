"""What a release rests on: one version, whole packages, and files for the changelog."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from tools.oldest import oldest

import semisquares

REPOSITORY = Path(__file__).parents[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
KINDS = {kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]}
FRAGMENTS = sorted((REPOSITORY / "changes").glob("[!R]*"))


def test_the_version_is_written_in_one_place_and_the_citation_says_the_same():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/semisquares/__init__.py"
    assert CITATION["version"] == semisquares.__version__
    files = [*REPOSITORY.glob("src/semisquares/**/*.py"), *REPOSITORY.glob("docs/*.py")]
    files.append(REPOSITORY / "pyproject.toml")
    said = re.compile(r"^(?:__version__|version|release) *= *[\"']\d", re.MULTILINE)
    written = [path for path in files if said.search(path.read_text(encoding="utf-8"))]
    assert written == [REPOSITORY / "src" / "semisquares" / "__init__.py"]


def test_the_citation_is_about_this_software_and_names_the_paper():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    assert CITATION["type"] == "software"
    assert CITATION["license"] == PROJECT["project"]["license"]
    (paper,) = CITATION["references"]
    assert paper["doi"] == "10.1109/ICPR.2016.7899885"
    assert paper["title"] == "Optimistic Semi-supervised Least Squares Classification"


def test_a_wheel_has_the_mark_of_types_and_a_sdist_what_tests_and_pages_need():
    assert (REPOSITORY / "src" / "semisquares" / "py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["project"]["classifiers"]
    targets = PROJECT["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["packages"] == ["src/semisquares"]
    needed = {"src", "tests", "benchmarks", "changes", "docs", "results", "tools", "Makefile"}
    assert needed <= set(targets["sdist"]["only-include"])


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_a_file_for_the_changelog_has_a_kind_and_a_sentence(path):
    name, kind, ending = path.name.rsplit(".", 2)
    assert name.startswith("+")
    assert kind in KINDS
    assert ending == "md"
    assert re.match(r"\S.*\.$", path.read_text(encoding="utf-8").strip(), re.DOTALL)


def test_the_changelog_has_a_place_for_releases():
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.count(PROJECT["tool"]["towncrier"]["start_string"]) == 1


def test_ci_runs_the_tests_here_and_as_a_stranger_and_tries_the_packages():
    lines = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    made = [line for line in lines if line.startswith("make ")]
    assert made[:3] == ["make test", "make test-stranger", "make dist"]


def test_every_dependency_has_a_version_that_the_tests_can_be_run_with():
    extras = PROJECT["project"]["optional-dependencies"].values()
    asked = [*PROJECT["project"]["dependencies"], *(one for extra in extras for one in extra)]
    others = [one for one in asked if not one.startswith("semisquares[") and "==" not in one]
    pinned = {line.split("==")[0] for line in oldest(others)}
    assert pinned == {re.match(r"[\w.-]+", one)[0] for one in others}


def test_the_oldest_versions_are_the_lower_bounds():
    given = ["numpy>=2.0.1", "dask[array,dataframe]>=2025.1", "scikit-learn>=1.9,<2", "one==0.1"]
    assert oldest(given) == ["dask==2025.1", "numpy==2.0.1", "scikit-learn==1.9"]
