"""Families: classifiers that score themselves out of sample, the members of an average."""

from typing import TYPE_CHECKING

from .._utils.lazy import import_on_first_use
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

__getattr__, __dir__ = import_on_first_use(__name__, _ON_FIRST_USE, __all__)
