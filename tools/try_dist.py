"""Install sdist and wheel of a folder in clean environments and test them: ``try_dist.py dist``.

With ``--everywhere``, this is done on every Python that pyproject.toml names, if it is found on
this machine, and on the oldest of them also with the oldest dependencies that are allowed. With
``--tag v0.1.0``, the files must be those of that version.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

REPOSITORY = Path(__file__).resolve().parents[1]
IN_SDIST = ("CITATION.cff", "LICENSE", "Makefile", "tests/conftest.py", "benchmarks/results.json")
IN_WHEEL = ("py.typed", "paper/datasets/tables/", "_html/template/")
"""Files, and folders with files, of the package that are not code."""
EXTRAS = "cli,dask,excel,export,label,paper,tables"
NEWEST, OLDEST = "newest", "oldest"


@dataclass(frozen=True)
class Environment:
    """A Python, as a command, and which versions of the dependencies it gets."""

    python: tuple[str, ...]
    version: str
    dependencies: str = NEWEST

    def __str__(self) -> str:
        return f"Python {self.version} with the {self.dependencies} dependencies"


def main(dist: Path, *, everywhere: bool = False, tag: str | None = None) -> None:
    """Check the two files, then try them on this Python or on all that are found."""
    version = _version()
    if tag is not None and tag != f"v{version}":
        sys.exit(f"The tag is {tag}, but the version is {version}; tag the commit with v{version}.")
    wheel, sdist = (_only(dist, f"semisquares-{version}{end}") for end in ("-*.whl", ".tar.gz"))
    _check_sdist(sdist, version)
    _check_wheel(wheel)
    here = Environment((sys.executable,), "{}.{}".format(*sys.version_info))
    for environment in _found() if everywhere else [here]:
        _try(environment, wheel, sdist, version)
    _say(f"{wheel.name} and {sdist.name}: good")


def _found() -> list[Environment]:
    """Return the environments of this machine; say which Pythons are not there."""
    environments = []
    for version in supported_pythons():
        python = find_python(version)
        if python is None:
            _say(f"Python {version} was not found here; nothing is tried on it")
            continue
        if version == supported_pythons()[0]:
            environments.append(Environment(python, version, OLDEST))
        environments.append(Environment(python, version))
    return environments


def supported_pythons() -> list[str]:
    """Return the versions that the classifiers in pyproject.toml name, oldest first."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pattern = re.compile(r"Programming Language :: Python :: (3\.\d+)")
    found = [match[1] for one in project["classifiers"] if (match := pattern.fullmatch(one))]
    return sorted(found, key=lambda version: int(version.partition(".")[2]))


def find_python(version: str) -> tuple[str, ...] | None:
    """Return the command of a Python: this one, one on the PATH, of pyenv, or of the py launcher.

    Examples
    --------
    >>> find_python("2.0") is None
    True
    """
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    of_pyenv = [(str(path),) for path in sorted(versions.glob(f"{version}.*/bin/python"))]
    commands = [(sys.executable,), (f"python{version}",), *of_pyenv, ("py", f"-{version}")]
    return next((one for one in commands if _version_of(one) == version), None)


def _version_of(command: Sequence[str]) -> str | None:
    """Return the version of a Python that can make environments, or None."""
    code = "import sys, venv; print('{}.{}'.format(*sys.version_info))"
    try:
        done = subprocess.run([*command, "-c", code], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _try(environment: Environment, wheel: Path, sdist: Path, version: str) -> None:
    """Install the sdist alone, then the wheel with extras, in a new environment elsewhere."""
    with tempfile.TemporaryDirectory(prefix="semisquares-") as name:
        folder = Path(name).resolve()
        _run(*environment.python, "-m", "venv", "--without-pip", folder / "env")
        python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
        pip = (sys.executable, "-m", "pip", "--python", python)  # the pip of this environment
        limits: tuple[str | Path, ...] = ()
        if environment.dependencies == OLDEST:
            limits = ("--constraint", folder / "oldest.txt")
            oldest = [sys.executable, str(REPOSITORY / "tools" / "oldest.py")]
            limits[1].write_bytes(subprocess.run(oldest, stdout=-1, check=True).stdout)
        parts = {
            "core": f"{sdist}",
            "tables": f"{wheel}[cli,tables]",
            "extras": f"{wheel}[{EXTRAS}]",
        }
        for part, what in parts.items():
            _say(f"Trying {part} in a clean environment: {environment}")
            _run(*pip, "install", "-qq", *limits, what)
            if part == "tables":  # pip keeps what the sdist has installed: it has the same version
                _run(*pip, "install", "-qq", "--force-reinstall", "--no-deps", wheel)
            _run(python, "-I", REPOSITORY / "tools" / "smoke.py", part, version, folder=folder)
        _run(*pip, "check", "--quiet")


def _version() -> str:
    """Return the version, which is written in one place only."""
    text = (REPOSITORY / "src" / "semisquares" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    return version


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} files {pattern}; empty it and run make dist.")
    return found[0].resolve()


def _check_sdist(sdist: Path, version: str) -> None:
    with tarfile.open(sdist) as archive:
        names = set(archive.getnames())
    missing = [name for name in IN_SDIST if f"semisquares-{version}/{name}" not in names]
    if missing:
        sys.exit(f"{sdist.name} lacks {', '.join(missing)}.")


def _check_wheel(wheel: Path) -> None:
    """Check that the wheel has the package, its files that are not code, and nothing else."""
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    missing = [
        name for name in IN_WHEEL if not any(one.startswith(f"semisquares/{name}") for one in names)
    ]
    if missing:
        sys.exit(f"{wheel.name} lacks {', '.join(missing)}.")
    foreign = [name for name in names if not re.match(r"semisquares(-[^/]+\.dist-info)?/", name)]
    if foreign:
        sys.exit(f"{wheel.name} also has {', '.join(foreign)}.")


def _run(*words: str | Path, folder: Path | None = None) -> None:
    """Run a command, here or in a folder, without the environment variables of Python."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(list(map(str, words)), cwd=folder, env=clean)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, words))}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("dist", type=Path)
    parser.add_argument("--everywhere", action="store_true")
    parser.add_argument("--tag")
    main(**vars(parser.parse_args()))
