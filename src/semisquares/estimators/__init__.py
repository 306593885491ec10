"""Classifiers for tables in which few rows have labels."""

from .averaged import AveragedClassifier
from .hard import HardLabelClassifier
from .soft import SoftLabelClassifier
from .soft_cv import SoftLabelClassifierCV
from .supervised import LeastSquaresClassifier

__all__ = [
    "AveragedClassifier",
    "HardLabelClassifier",
    "LeastSquaresClassifier",
    "SoftLabelClassifier",
    "SoftLabelClassifierCV",
]
