"""Classifiers for tables in which few rows have labels."""

from typing import TYPE_CHECKING

from .._utils.lazy import import_on_first_use

if TYPE_CHECKING:
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

_HOMES = {
    "AveragedClassifier": "averaged",
    "HardLabelClassifier": "hard",
    "LeastSquaresClassifier": "supervised",
    "SoftLabelClassifier": "soft",
    "SoftLabelClassifierCV": "soft_cv",
}
"""Whoever needs one classifier does not wait for the trees and graphs of another."""

__getattr__, __dir__ = import_on_first_use(__name__, _HOMES, __all__)
