"""semisquares: least squares classification for tables where few rows have labels."""

from .estimators import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "HardLabelClassifier",
    "LeastSquaresClassifier",
    "SoftLabelClassifier",
    "SoftLabelClassifierCV",
]
