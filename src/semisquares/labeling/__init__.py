"""Which rows to label next.

>>> import numpy as np
>>> from semisquares.labeling import suggest
>>> X = np.random.default_rng(0).normal(size=(200, 3))
>>> suggest(None, X, np.full(200, -1), n=5).indices.shape    # no label yet
(5,)
"""

from ._suggesting import Suggestions, suggest

__all__ = ["Suggestions", "suggest"]
