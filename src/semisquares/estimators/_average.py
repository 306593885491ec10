"""The members of an average: their scores out of sample, their priors and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._utils.typing import Array
from ..families import Family, FittedFamily, LabeledRows
from ..families._calibration import Calibration, calibrate, member_weights


@dataclass(frozen=True, eq=False)
class Scores:
    """Out-of-sample scores of the members, their calibration and their weights."""

    calibration: Calibration
    losses: Array
    accuracies: Array
    weights: Array
    proba: Array
    """Out-of-sample probabilities of the average for the labeled rows: rows × classes."""


def score_members(rows: LabeledRows, left_out: Array, priors: Array, sharpness: float) -> Scores:
    """Calibrate the members by their log-odds for left-out rows, and weigh them by the loss."""
    calibration = calibrate(left_out, rows.codes, rows.weight, rows.shares)
    return weigh_members(rows, left_out, calibration, priors, sharpness)


def weigh_members(
    rows: LabeledRows, left_out: Array, calibration: Calibration, priors: Array, sharpness: float
) -> Scores:
    """Weigh calibrated members by the loss; a member without prior weight has none.

    `proba` averages the members for each row with weights that exclude the losses of its own block,
    so that a row does not choose the members that predict it.
    """
    share = rows.weight / rows.weight.sum()
    of_rows = calibration.losses(left_out, rows.codes) * share
    losses = of_rows.sum(axis=1)
    _, block = np.unique(rows.blocks, return_inverse=True)
    of_blocks = np.stack([np.bincount(block, one) for one in of_rows])
    others = losses[:, None] - of_blocks[:, block]
    own_weights = member_weights(priors[:, None], others, sharpness * rows.total)
    p = calibration.probabilities(left_out)
    return Scores(
        calibration,
        losses,
        (p.argmax(axis=2) == rows.codes) @ share,
        member_weights(priors, losses, sharpness * rows.total),
        np.einsum("mi,mik->ik", own_weights, p),
    )


def usable(
    families: Sequence[Family], rows: LabeledRows, masses: Mapping[str, float]
) -> Sequence[Family]:
    """Drop families that need unlabeled rows if there are none, unless only they have weight."""
    if rows.unlabeled is not None:
        return families
    others = [one for one in families if not getattr(one, "needs_unlabeled", False)]
    return others if any(prior_mass(one, masses) > 0.0 for one in others) else families


def prior_mass(family: Family, masses: Mapping[str, float]) -> float:
    """Return the prior weight of a family: the user's, the family's own, or 1."""
    return float(masses.get(family.name, getattr(family, "prior", 1.0)))


def priors_of(
    families: Sequence[Family], fitted: Sequence[FittedFamily], masses: Mapping[str, float]
) -> Array:
    """Return the prior weight of each member: its share of the prior weight of its family."""
    found = []
    for family, one in zip(families, fitted, strict=True):
        mine = np.array([member.prior for member in one.members])
        found.append(prior_mass(family, masses) * mine / mine.sum())
    return np.concatenate(found)


def priors_without(priors: Array, families: Array, kept: Array) -> Array:
    """Return the prior weights if only some members are kept: those that are left out have none.

    A family keeps its prior weight, as if it had never had the others, as long as it has a member.

    Examples
    --------
    >>> families = np.array(["ridge", "ridge", "ridge", "forest"])
    >>> kept = np.array([True, True, False, True])
    >>> priors_without(np.array([0.3, 0.3, 0.4, 1.0]), families, kept).tolist()
    [0.5, 0.5, 0.0, 1.0]
    """
    found = np.where(kept, priors, 0.0)
    for name in np.unique(families):
        mine = families == name
        rest = found[mine].sum()
        found[mine] *= priors[mine].sum() / rest if rest > 0.0 else 0.0
    return found
