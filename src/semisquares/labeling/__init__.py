"""Which rows to label next, and which labels are probably wrong.

>>> import numpy as np
>>> from semisquares.labeling import suggest
>>> X = np.random.default_rng(0).normal(size=(200, 3))
>>> suggest(None, X, np.full(200, -1), n=5).indices.shape    # no label yet
(5,)
"""

from typing import TYPE_CHECKING

from .._utils.lazy import import_on_first_use

if TYPE_CHECKING:
    from ._reviewing import DoubtfulLabels, doubtful_labels
    from ._suggesting import Suggestions, suggest

__all__ = ["DoubtfulLabels", "Suggestions", "doubtful_labels", "suggest"]

_ON_FIRST_USE = {
    "DoubtfulLabels": "_reviewing",
    "Suggestions": "_suggesting",
    "doubtful_labels": "_reviewing",
    "suggest": "_suggesting",
}
"""Modules that need scikit-learn, which listing the names does not wait for."""

__getattr__, __dir__ = import_on_first_use(__name__, _ON_FIRST_USE, __all__)
