"""semisquares: least squares classification for tables where few rows have labels."""

from __future__ import annotations

from ._utils.lazy import import_on_first_use

TYPE_CHECKING = False  # importing it from typing would slow down the command line
if TYPE_CHECKING:
    from .estimators import (
        AveragedClassifier,
        HardLabelClassifier,
        LeastSquaresClassifier,
        SoftLabelClassifier,
        SoftLabelClassifierCV,
    )

__version__ = "0.1.0"

__all__ = [
    "AveragedClassifier",
    "HardLabelClassifier",
    "LeastSquaresClassifier",
    "SoftLabelClassifier",
    "SoftLabelClassifierCV",
]

# tab completion must not wait for scikit-learn
__getattr__, __dir__ = import_on_first_use(__name__, dict.fromkeys(__all__, "estimators"), __all__)
