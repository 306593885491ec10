"""Calibrated probabilities of a classifier that has decision values.

The probability of class k is, with d the decision values of a row and ε small,

    P(k | d) = (1 - ε) softmax_k(slope · d_k + offset_k) + ε / n_classes

`_calibrating` finds slope and offsets. ε = 1 / (labels + 2): after n labels without an error, the
next one may still be an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ..._utils.typing import Array

__all__ = ["DecisionCalibration", "by_class"]


@dataclass(frozen=True, eq=False)
class DecisionCalibration:
    """Turns decision values into probabilities."""

    slope: float
    """Not negative: probabilities rise with decision values."""
    offsets: Array
    """(n_classes,)"""
    doubt: float
    """ε: the share of a probability that is divided equally among the classes."""

    def probabilities(self, decision: Array) -> Array:
        """Return probabilities, (n, n_classes), which are positive and sum to one.

        Parameters
        ----------
        decision : ndarray of shape (n,) or (n, n_classes)
            One column for two classes, positive for the second.

        Examples
        --------
        >>> import numpy as np
        >>> found = DecisionCalibration(4.0, np.zeros(2), doubt=0.02)
        >>> found.probabilities(np.array([-9.0, 0.0, 0.25, 9.0]))[:, 1].round(3)
        array([0.01 , 0.5  , 0.726, 0.99 ])
        """
        p = special.softmax(self.slope * by_class(decision) + self.offsets, axis=1)
        return (1.0 - self.doubt) * p + self.doubt / p.shape[1]

    def of_class(self, decision: Array, codes: Array) -> Array:
        """Return the probability of one class for each row, (n,); with two classes it is faster.

        Examples
        --------
        >>> import numpy as np
        >>> found = DecisionCalibration(4.0, np.zeros(2), doubt=0.02)
        >>> found.of_class(np.array([0.25, 0.25]), np.array([0, 1])).round(3)
        array([0.274, 0.726])
        """
        if decision.ndim == 2:
            return self.probabilities(decision)[np.arange(len(codes)), codes]
        sign = 2.0 * codes - 1.0
        odds = sign * (self.slope * decision + (self.offsets[1] - self.offsets[0]))
        return (1.0 - self.doubt) * special.expit(odds) + self.doubt / 2.0

    def fits(self, n_classes: int) -> bool:
        """Tell whether it is for so many classes, and finite."""
        return (
            isinstance(self.slope, float)
            and isinstance(self.doubt, float)
            and 0.0 <= self.slope < np.inf
            and 0.0 < self.doubt <= 1.0
            and self.offsets.dtype == np.float64
            and self.offsets.shape == (n_classes,)
            and bool(np.isfinite(self.offsets).all())
        )

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it."""
        return {"slope": self.slope, "offsets": self.offsets, "doubt": self.doubt}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> DecisionCalibration:
        """Restore it from plain data."""
        return cls(plain["slope"], plain["offsets"], plain["doubt"])


def by_class(decision: Array) -> Array:
    """Return a decision value for each class; of two classes, half the value each.

    Examples
    --------
    >>> import numpy as np
    >>> by_class(np.array([-1.0, 3.0])).tolist()
    [[0.5, -0.5], [-1.5, 1.5]]
    """
    return decision if decision.ndim == 2 else 0.5 * np.column_stack((-decision, decision))
