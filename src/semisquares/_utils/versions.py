"""Versions of the software that computed a result."""

from __future__ import annotations

import sys
from functools import cache
from importlib import metadata

from .. import __version__

__all__ = ["versions"]


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of all that can change a result; even Python's sum() did, in 3.12.

    Examples
    --------
    >>> list(versions("pandas"))
    ['semisquares', 'python', 'numpy', 'scipy', 'scikit-learn', 'pandas']
    """
    names = ("numpy", "scipy", "scikit-learn", *packages)
    return {
        "semisquares": __version__,
        "python": ".".join(map(str, sys.version_info[:2])),
        **{name: _version(name) for name in names},
    }


@cache
def _version(name: str) -> str:
    # reading it from the files of the package takes a millisecond
    return metadata.version(name)
