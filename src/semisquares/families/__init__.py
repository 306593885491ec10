"""Families: classifiers that score themselves out of sample, the members of an average."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .protocol import Family, Features, FittedFamily, LabeledRows, Member, UnlabeledRows

if TYPE_CHECKING:
    from .forest import Forest
    from .hard_labels import HardLabelRidges
    from .least_squares import LeastSquares
    from .logistic import Logistic

__all__ = [
    "Family",
    "Features",
    "FittedFamily",
    "Forest",
    "HardLabelRidges",
    "LabeledRows",
    "LeastSquares",
    "Logistic",
    "Member",
    "UnlabeledRows",
]

_ON_FIRST_USE = {
    "Forest": "forest",
    "HardLabelRidges": "hard_labels",
    "LeastSquares": "least_squares",
    "Logistic": "logistic",
}
"""Some of these need scikit-learn, which predicting with a stored model does not wait for."""


def __getattr__(name: str) -> Any:
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_ON_FIRST_USE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
