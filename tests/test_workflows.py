"""The jobs on GitHub: each is one target of the Makefile, and may do no more than it must."""

import re
from pathlib import Path

import pytest
import yaml
from tools.try_dist import supported_pythons

REPOSITORY = Path(__file__).parents[1]
FILES = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in FILES}
JOBS = {
    f"{workflow}.{name}": job
    for workflow, content in WORKFLOWS.items()
    for name, job in content["jobs"].items()
}
MAKING = {name: job for name, job in JOBS.items() if name != "release.publish"}
MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
WITH_NUMBERS = re.compile(r"(actions/[a-z-]+@v\d+|pypa/gh-action-pypi-publish@release/v\d+)")


def runs(job):
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("name", MAKING)
def test_a_job_runs_one_target_of_the_makefile(name):
    (command,) = runs(MAKING[name])
    made = re.fullmatch(r"make ([a-z-]+) (?:OLDEST_)?PYTHON=python", command)
    assert made[1] in TARGETS


def test_only_publishing_runs_no_command_and_gets_a_token():
    assert set(JOBS) - set(MAKING) == {"release.publish"}
    publish = JOBS["release.publish"]
    assert runs(publish) == []
    assert publish["environment"] == "pypi"
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == "build"
    assert [job for job in MAKING.values() if "permissions" in job] == []


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_workflow_may_only_read_and_knows_no_secret(workflow):
    assert WORKFLOWS[workflow]["permissions"] == {"contents": "read"}
    assert "secrets." not in (REPOSITORY / f".github/workflows/{workflow}.yml").read_text("utf-8")


@pytest.mark.parametrize("name", JOBS)
def test_actions_are_named_with_their_major_version(name):
    used = [step["uses"] for step in JOBS[name]["steps"] if "uses" in step]
    assert [one for one in used if not WITH_NUMBERS.fullmatch(one)] == []


@pytest.mark.parametrize("name", MAKING)
def test_a_checkout_leaves_no_credentials_to_the_tests(name):
    first = MAKING[name]["steps"][0]
    assert first["uses"].startswith("actions/checkout@")
    assert first["with"] == {"persist-credentials": False}


def test_the_tests_run_on_three_systems_and_all_pythons_that_the_package_names():
    matrix = JOBS["checks.tests"]["strategy"]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert matrix["python"] == supported_pythons() == ["3.11", "3.12", "3.13", "3.14"]


def test_lint_tests_docs_and_packages_have_a_job():
    made = {runs(job)[0].split()[1] for job in MAKING.values()}
    assert {"lint", "pytest", "test-oldest", "docs", "dist"} <= made


def test_a_release_is_built_for_tags_and_checks_that_the_tag_is_the_version():
    triggers = WORKFLOWS["release"][True]  # YAML 1.1 reads the key `on` as true
    assert triggers == {"push": {"tags": ["v*"]}}
    (build,) = [step for step in JOBS["release.build"]["steps"] if "run" in step]
    assert build["env"] == {"TAG": "${{ github.ref_name }}"}
    assert "$(if $(TAG),--tag $(TAG))" in MAKEFILE


def test_the_makefile_finds_the_commands_of_an_environment_on_windows():
    assert "SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)" in MAKEFILE
    assert not re.search(r"\.venv[a-z-]*/bin", MAKEFILE)


def test_lint_runs_with_the_oldest_and_the_newest_python():
    """Their types of NumPy differ, and `make test` must pass with both."""
    pythons = supported_pythons()
    assert JOBS["checks.lint"]["strategy"]["matrix"]["python"] == [pythons[0], pythons[-1]]
