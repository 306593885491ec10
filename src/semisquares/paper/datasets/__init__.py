"""The paper's data: its sixteen sets, the authors' preprocessing, and its generated data."""

from .catalogue import DATASETS, find, sources_table
from .dataset import Dataset
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
