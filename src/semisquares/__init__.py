"""semisquares: least squares classification for tables where few rows have labels."""

from __future__ import annotations

TYPE_CHECKING = False  # importing it from typing would slow down the command line
if TYPE_CHECKING:
    from typing import Any

    from .estimators import (
        AveragedClassifier,
        HardLabelClassifier,
        LeastSquaresClassifier,
        SoftLabelClassifier,
        SoftLabelClassifierCV,
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "AveragedClassifier",
    "HardLabelClassifier",
    "LeastSquaresClassifier",
    "SoftLabelClassifier",
    "SoftLabelClassifierCV",
]


def __getattr__(name: str) -> Any:
    """Import the classifiers on first use: tab completion must not wait for scikit-learn."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(".estimators", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
