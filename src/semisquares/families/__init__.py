"""Families: classifiers that score themselves out of sample, the members of an average."""

from .forest import Forest
from .hard_labels import HardLabelRidges
from .least_squares import LeastSquares
from .logistic import Logistic
from .protocol import Family, Features, FittedFamily, LabeledRows, Member, UnlabeledRows

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
