"""Install the wheel of a folder in a clean environment and test it: ``try_dist.py dist``.

`python -m build` makes the wheel from the sdist, so testing the wheel tests both.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
IN_SDIST = ("CITATION.cff", "LICENSE", "Makefile", "tests/conftest.py", "benchmarks/results.json")


def main(dist: Path) -> None:
    """Check the two files, then install the wheel alone, then with extras."""
    version = _version()
    wheel, sdist = (_only(dist, f"semisquares-{version}{end}") for end in ("-*.whl", ".tar.gz"))
    _check_sdist(sdist, version)
    with tempfile.TemporaryDirectory(prefix="semisquares-") as name:
        folder = Path(name)
        venv.create(folder / "env", symlinks=os.name != "nt")  # with the pip of this environment
        python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
        for part, what in (("core", str(wheel)), ("tables", f"{wheel}[cli,tables]")):
            _say(f"Trying {part} in a clean environment")
            _run(sys.executable, "-m", "pip", "--python", python, "install", "-qq", what)
            smoke = (REPOSITORY / "tools" / "smoke.py").resolve()
            _run(python, "-I", smoke, part, version, folder=folder)
        _run(sys.executable, "-m", "pip", "--python", python, "check", "--quiet")
    _say(f"{wheel.name} and {sdist.name}: good")


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
    main(Path(sys.argv[1]))
