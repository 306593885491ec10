"""What a release rests on: one version, whole packages, and files for the changelog."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from tools import release, try_dist
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
    needed |= {".ci", ".github", "SECURITY.md"}
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


def test_a_release_sets_the_version_in_both_files_and_the_date_in_the_citation(tmp_path):
    for name in release.VERSIONED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    release.set_version("7.8.9", tmp_path)
    release.set_version("7.8.10", tmp_path)
    cited = yaml.safe_load((tmp_path / "CITATION.cff").read_text(encoding="utf-8"))
    undated = {name: text for name, text in CITATION.items() if name != "date-released"}
    assert cited.keys() == {*undated, "date-released"}
    assert cited["version"] == "7.8.10"
    code = (tmp_path / "src" / "semisquares" / "__init__.py").read_text(encoding="utf-8")
    assert '\n__version__ = "7.8.10"\n' in code
    release.set_version("7.9.0.dev0", tmp_path)
    again = yaml.safe_load((tmp_path / "CITATION.cff").read_text(encoding="utf-8"))
    assert again == {**undated, "version": "7.9.0.dev0"}


@pytest.mark.parametrize("version", ["", "v0.1.0", "0.1", "next"])
def test_what_is_not_a_version_is_not_released(version, tmp_path):
    with pytest.raises(SystemExit, match="is not a version; give one such as"):
        release.set_version(version, tmp_path)


def test_the_pythons_of_this_machine_are_found():
    here = "{}.{}".format(*sys.version_info)
    assert try_dist.find_python(here) == (sys.executable,)
    assert try_dist.find_python("3.1") is None


def test_pythons_that_are_missing_are_named(monkeypatch, capsys):
    monkeypatch.setattr(try_dist, "supported_pythons", lambda: ["3.11", "3.12", "3.14"])
    monkeypatch.setattr(try_dist, "find_python", {"3.11": ("a",), "3.12": ("b",)}.get)
    found = [str(one) for one in try_dist._found()]
    assert found == [
        "Python 3.11 with the oldest dependencies",
        "Python 3.11 with the newest dependencies",
        "Python 3.12 with the newest dependencies",
    ]
    assert capsys.readouterr().out == "Python 3.14 was not found here; nothing is tried on it\n"


def test_a_tag_that_is_not_the_version_is_refused(tmp_path):
    with pytest.raises(SystemExit, match=r"The tag is v99, but the version is"):
        try_dist.main(tmp_path, tag="v99")


def test_a_wheel_without_its_data_or_with_other_files_is_refused(tmp_path):
    package = ["py.typed", "paper/datasets/tables/a.csv", "_html/template/page.html"]
    wheel = tmp_path / "semisquares.whl"
    for names, fault in {
        tuple(package[1:]): "lacks py.typed",
        (*package, "../tests/conftest.py"): "also has tests/conftest.py",
    }.items():
        with ZipFile(wheel, "w") as archive:
            for name in names:
                archive.writestr(os.path.normpath(f"semisquares/{name}").replace(os.sep, "/"), "")
        with pytest.raises(SystemExit, match=fault):
            try_dist._check_wheel(wheel)


def test_every_dependency_has_a_version_that_the_tests_can_be_run_with():
    extras = PROJECT["project"]["optional-dependencies"].values()
    asked = [*PROJECT["project"]["dependencies"], *(one for extra in extras for one in extra)]
    others = [one for one in asked if not one.startswith("semisquares[") and "==" not in one]
    pinned = {line.split("==")[0] for line in oldest(others)}
    assert pinned == {re.match(r"[\w.-]+", one)[0] for one in others}


def test_the_oldest_versions_are_the_lower_bounds():
    given = ["numpy>=2.0.1", "dask[array,dataframe]>=2025.1", "scikit-learn>=1.9,<2", "one==0.1"]
    assert oldest(given) == ["dask==2025.1", "numpy==2.0.1", "scikit-learn==1.9"]
