"""Feature strengths: how much each feature speaks for a class, in the units of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._utils.typing import Array
from .columns import Feature

__all__ = ["Strength", "strengths"]

NOISE = 1e-12
"""Coefficients that are smaller than this share of the largest are rounding errors."""


@dataclass(frozen=True)
class Strength:
    """How strongly a feature speaks for a class."""

    feature: str
    column: str
    class_name: str
    effect: float
    """Change of the decision value in the user's units."""
    unit: str
    weight: float
    """Change of the decision value for one standard deviation of the feature."""
    signed: bool = True
    """Whether the sign has a meaning; it has none for all features of a text together."""


def strengths(
    coef: ArrayLike,
    features: Sequence[Feature],
    class_names: Sequence[str],
    *,
    spread: ArrayLike | None = None,
) -> tuple[Strength, ...]:
    """List coefficients of a classifier, the strongest first.

    With two classes there is one for each feature, and a positive one speaks for the second class;
    with more there is one for each feature and class. Coefficients that are rounding errors
    relative to the largest are 0. A single feature of a text has no meaning, so those of a column
    are listed as one: the standard deviation of what they contribute to the decision value
    together, without a sign.

    Parameters
    ----------
    coef : array-like of shape (1 or n_classes, n_features)
        One row for two classes, else one per class.
    features : sequence of Feature
        The columns of `coef`.
    class_names : sequence of str
    spread : array-like of shape (n_features,), optional
        The standard deviations of the features, by which coefficients are multiplied: a level that
        few rows have changes few predictions. Without them, coefficients are taken as they are.

    Examples
    --------
    >>> features = [Feature("age", "age", 20.0, "per unit"), Feature("sex = f", "sex", 1.0, "")]
    >>> for one in strengths([0.2, -0.3], features, ["ill", "well"], spread=[1.0, 0.5]):
    ...     print(one.feature, one.class_name, one.effect, one.weight)
    age well 0.01 0.2
    sex = f well -0.3 -0.15
    """
    coef = np.atleast_2d(coef)
    coef = np.where(np.abs(coef) > NOISE * np.abs(coef).max(initial=0.0), coef, 0.0)
    towards = list(class_names)[-1:] if len(coef) == 1 else list(class_names)
    weight = coef * (1.0 if spread is None else np.asarray(spread))
    effect = coef / np.array([feature.scale for feature in features])
    order = np.argsort(-np.abs(weight), axis=None, kind="stable")
    found = [
        Strength(
            feature=features[j].name,
            column=features[j].column,
            class_name=str(towards[k]),
            effect=float(effect[k, j]),
            unit=features[j].unit,
            weight=float(weight[k, j]),
        )
        for k, j in zip(*np.unravel_index(order, coef.shape), strict=True)
        if features[j].role != "text"
    ]
    texts: dict[str, list[int]] = {}
    for j, feature in enumerate(features):
        if feature.role == "text":
            texts.setdefault(feature.column, []).append(j)
    found += [
        _together(column, str(name), effect[k, places])
        for column, places in texts.items()
        for k, name in enumerate(towards)
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.weight)))


def _together(column: str, class_name: str, effects: Array) -> Strength:
    """Describe all features of a text, which are uncorrelated up to their means."""
    size = float(np.sqrt(np.square(effects).sum()))
    name = f"{column} (text)"
    return Strength(name, column, class_name, size, "per standard deviation", size, signed=False)
