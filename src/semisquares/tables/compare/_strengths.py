"""Feature strengths: how much each feature speaks for a class, in the units of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..columns import Feature
from .comparison import Strength

__all__ = ["strengths"]


def strengths(
    classifier: Any,
    features: Sequence[Feature],
    class_names: Sequence[str],
    *,
    top: int | None = None,
    spread: ArrayLike | None = None,
) -> tuple[Strength, ...]:
    """List the coefficients of a classifier, the strongest first.

    With two classes there is one for each feature, and a positive one speaks for the second class;
    with more there is one for each feature and class.

    Parameters
    ----------
    classifier : fitted linear classifier
        ``coef_`` has one row for two classes, else one per class.
    features : sequence of Feature
        The columns of ``coef_``.
    class_names : sequence of str
    top : int, optional
        The number to return; None for all.
    spread : array-like of shape (n_features,), optional
        The standard deviations of the features, by which coefficients are multiplied: a level that
        few rows have changes few predictions. Without them, coefficients are taken as they are.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> features = [Feature("age", "age", 20.0, "per unit"), Feature("sex = f", "sex", 1.0, "")]
    >>> classifier = SimpleNamespace(coef_=np.array([[0.2, -0.3]]))
    >>> for one in strengths(classifier, features, ["ill", "well"], spread=[1.0, 0.5]):
    ...     print(one.feature, one.class_name, one.effect, one.weight)
    age well 0.01 0.2
    sex = f well -0.3 -0.15
    """
    coef = np.atleast_2d(classifier.coef_)
    towards = list(class_names)[-1:] if len(coef) == 1 else list(class_names)
    weight = coef * (1.0 if spread is None else np.asarray(spread))
    effect = coef / np.array([feature.scale for feature in features])
    order = np.argsort(-np.abs(weight), axis=None, kind="stable")[:top]
    found = []
    for k, j in zip(*np.unravel_index(order, coef.shape), strict=True):
        feature = features[j]
        found.append(
            Strength(
                feature=feature.name,
                column=feature.column,
                class_name=str(towards[k]),
                effect=float(effect[k, j]),
                unit=feature.unit,
                weight=float(weight[k, j]),
            )
        )
    return tuple(found)
