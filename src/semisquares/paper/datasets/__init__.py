"""The paper's data: its sixteen sets, the authors' preprocessing, and its generated data."""

from typing import TYPE_CHECKING

from ..._utils.lazy import import_on_first_use
from .catalogue import DATASETS, find, sources_table
from .dataset import Dataset

if TYPE_CHECKING:
    from .generators import diagonal_classes, remove_labels, two_gaussians
    from .loading import load
    from .preprocessing import features, learning_curve_table

__all__ = [
    "DATASETS",
    "Dataset",
    "diagonal_classes",
    "features",
    "find",
    "learning_curve_table",
    "load",
    "remove_labels",
    "sources_table",
    "two_gaussians",
]

_ON_FIRST_USE = {
    "diagonal_classes": "generators",
    "features": "preprocessing",
    "learning_curve_table": "preprocessing",
    "load": "loading",
    "remove_labels": "generators",
    "two_gaussians": "generators",
}
"""Modules that need scikit-learn, which a list of the sets does not wait for."""

__getattr__, __dir__ = import_on_first_use(__name__, _ON_FIRST_USE, __all__)
