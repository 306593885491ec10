"""Families: classifiers that score themselves out of sample, the members of an average."""

from .forest import Forest
from .least_squares import LeastSquares
from .logistic import Logistic
from .protocol import Family, Features, FittedFamily, LabeledRows, Member

__all__ = [
    "Family",
    "Features",
    "FittedFamily",
    "Forest",
    "LabeledRows",
    "LeastSquares",
    "Logistic",
    "Member",
]
