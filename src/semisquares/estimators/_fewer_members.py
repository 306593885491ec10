"""The averaged classifier without some of its members: weighed again, with nothing refitted."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from .._inputs.array_api import place_of
from .._utils.typing import Array
from ._average import priors_without, weigh_members
from .averaged import AveragedClassifier

__all__ = ["keep_members"]


def keep_members(model: AveragedClassifier, kept: Array) -> AveragedClassifier:
    """Return a fitted classifier whose other members have no weight.

    Each member is the same; the weights v ∝ prior · exp(-sharpness · L · loss) are those of an
    average that never had the others: a family keeps its prior weight, which the members that
    remain share. `loo_proba_` and `loo_score_` are those of that average.

    Parameters
    ----------
    model : AveragedClassifier
        A fitted classifier; it is not changed.
    kept : ndarray of shape (n_members,)
        A mask of the members to keep; one of them at least has a prior weight.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    >>> model = AveragedClassifier("least_squares", representations=["linear", "kernel"]).fit(X, y)
    >>> linear = np.char.startswith(model.members_["representation"], "linear")
    >>> fewer = keep_members(model, linear)
    >>> alone = AveragedClassifier("least_squares", representations="linear").fit(X, y)
    >>> bool(abs(fewer.predict_proba(X) - alone.predict_proba(X)).max() < 1e-12)
    True
    """
    average, later = model.average_, model._later
    fitted: Any = average.families
    rows = later.distinct.rows(average.learned, None)
    left_out = np.concatenate([one.left_out for one in fitted])
    priors = priors_without(later.priors, model.members_["family"], kept)
    scores = weigh_members(rows, left_out, average.calibration, priors, float(model.sharpness))
    found = copy(model)
    found._later = replace(later, known={}, priors=priors)
    place = place_of(model.loo_proba_)
    found._set_weights(average.learned, fitted, scores, rows, later.distinct, place)
    return found
