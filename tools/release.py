"""Make the working tree that of a release: ``make release RELEASE=0.1.0``.

Sets the version in the package and in CITATION.cff, and gathers the files of ``changes/`` into
CHANGELOG.md. Nothing is committed, tagged or uploaded.
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
VERSIONED = {
    "src/semisquares/__init__.py": (r'^__version__ = ".*"$', '__version__ = "{version}"'),
    "CITATION.cff": (r"^version: .*$(?:\ndate-released: .*$)?", "version: {version}{released}"),
}
"""The files that name the version: the line, and what replaces it."""


def set_version(version: str, folder: Path = REPOSITORY) -> None:
    """Write the version into the files that name it, and the date into the citation.

    Parameters
    ----------
    version : str
        As ``0.1.0``, or ``0.2.0.dev0`` for what comes after a release.
    folder : Path
        The repository.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", version):
        sys.exit(
            f"{version!r} is not a version; give one such as 0.1.0: make release RELEASE=0.1.0"
        )
    today = datetime.datetime.now(datetime.UTC).date()
    released = "" if "dev" in version else f"\ndate-released: {today}"
    for name, (pattern, text) in VERSIONED.items():
        path = folder / name
        line = text.format(version=version, released=released)
        old = path.read_text(encoding="utf-8")
        new, n_lines = re.subn(pattern, line, old, flags=re.MULTILINE)
        if n_lines != 1:
            sys.exit(f"{path} has {n_lines} lines with a version, not one; correct it first.")
        path.write_text(new, encoding="utf-8", newline="\n")


def main(version: str) -> None:
    """Set the version; if it is a release, gather its changes."""
    set_version(version)
    if "dev" not in version:  # the version of the installed package may still be the old one
        gather = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", version]
        subprocess.run(gather, cwd=REPOSITORY, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:] or [""])
