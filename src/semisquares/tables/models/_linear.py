"""Linear decision values: what is kept of a fitted least squares classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.typing import Array
from ...core.labelings import soft_labels


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Decision values ``X coef' + intercept``, z less ½, and the soft labels that follow."""

    coef: Array
    """(1, n_features) for two classes, else (n_classes, n_features)."""
    intercept: Array
    """(1,) or (n_classes,)."""

    def decision(self, X: Array) -> Array:
        """Return decision values: (n,) for two classes, else (n, n_classes)."""
        scores = X @ self.coef.T + self.intercept
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def soft_labels(self, decision: Array) -> Array:
        """Return the soft labels, (n, n_classes)."""
        return soft_labels(decision + 0.5)

    def fits(self, n_features: int, n_classes: int) -> bool:
        """Tell whether it has weights for these features and classes, all finite."""
        n_outputs = 1 if n_classes == 2 else n_classes
        return (
            self.coef.dtype == self.intercept.dtype == np.float64
            and self.coef.shape == (n_outputs, n_features)
            and self.intercept.shape == (n_outputs,)
            and bool(np.isfinite(self.coef).all() and np.isfinite(self.intercept).all())
        )

    def to_plain(self) -> dict[str, Any]:
        """Return JSON values and arrays from which `from_plain` restores it."""
        return {"type": "linear", "coef": self.coef, "intercept": self.intercept}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> LinearScores:
        """Restore it from plain data."""
        if plain["type"] != "linear":
            raise ValueError(f"a classifier of type {plain['type']!r}")
        return cls(plain["coef"], plain["intercept"])
