"""Reference numbers from the authors' R package (RSSL) and the published figures.

The files are beside the repository, not in it. A test that needs a missing file is skipped, or
fails with ``SEMISQUARES_REQUIRE_REFERENCE=1``::

    @pytest.mark.parametrize("name", RSSL_NAMES)
    def test_soft_weights_are_those_of_rssl(name):
        problem = rssl_problem(name)
        ...
"""

import csv
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from semisquares.paper import datasets

SHARED = Path(__file__).resolve().parents[2].parent / "shared"

RSSL_NAMES = (
    "badly_d6_lam",
    "binary_d8",
    "corr_d10",
    "corr_d10_imb",
    "corr_d10_noint",
    "corr_d15_tight_lam",
    "corr_d30",
    "corr_d30_imb",
    "corr_d30_noint_lam",
    "dup_d5",
    "heavy_d4",
    "imb_d4_rare",
    "mid_d20_big",
    "offset_d4",
    "plain_d1",
    "plain_d2",
    "plain_d2_imb",
    "plain_d2_noint_lam1",
    "plain_d2_sep",
    "plain_d3_U1",
    "plain_d5",
    "plain_d5_lam0",
    "plain_d5_lam3",
    "plain_d5_noint",
    "scaled_d6",
    "scaled_d6_lam",
    "sep_d4_imb_lam",
    "short_L10_d30",
    "short_L10_d30_Usmall",
    "short_L2_d2",
    "short_L4_d20_noint",
)
# RSSL dropped real directions here: compare with `soft_exact`, not with its own weights.
RSSL_TRUNCATED = ("badly_d6_lam", "offset_d4")
# One column is the rounded sum of two others: compare J, not weights.
RSSL_NEAR_COPY = ("dup_d5",)
# The soft minimiser is not unique: compare J, not weights.
RSSL_NOT_UNIQUE = ("short_L10_d30_Usmall",)
# Fewer labeled rows than features and no ridge: the supervised weights follow another convention.
RSSL_SHORT = tuple(name for name in RSSL_NAMES if name.startswith("short_"))
# RSSL's own weights, supervised and semi-supervised, are right to 1e-8 relative.
RSSL_REGULAR = tuple(
    name for name in RSSL_NAMES if name not in RSSL_TRUNCATED + RSSL_NEAR_COPY + RSSL_SHORT
)


@dataclass(frozen=True)
class RsslFit:
    """One fit: ``theta = (intercept, w…)``, or ``w`` alone without an intercept.

    ``labels`` are the labels that ``theta`` imputes to X_u, and ``objective`` is J there, in the
    paper's scale. What RSSL did not store is None.
    """

    theta: np.ndarray
    coef: np.ndarray
    intercept: float
    decision_test: np.ndarray | None
    labels: np.ndarray | None
    iterations: int | None
    objective: float | None
    labeled_mse: float | None


@dataclass(frozen=True)
class RsslStarted:
    """The two fits from a given start: labels of X_u, or a theta."""

    start: np.ndarray
    soft: RsslFit
    hard: RsslFit


@dataclass(frozen=True)
class SoftExact:
    """The exact soft minimiser, its J, and the J at which RSSL stopped."""

    theta: np.ndarray
    coef: np.ndarray
    intercept: float
    objective: float
    objective_rssl: float
    unique: bool


@dataclass(frozen=True)
class RsslProblem:
    """One problem with RSSL's answers; ``y == 1`` is the class encoded 1, ``alpha`` our ridge."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_u: np.ndarray
    y_u: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    alpha: float
    fit_intercept: bool
    penalty_diag: np.ndarray
    rssl_lambda: float
    supervised: RsslFit
    soft: RsslFit
    hard: RsslFit
    soft_defaults: RsslFit
    soft_3iter: RsslFit
    hard_2iter: RsslFit
    random_init: RsslStarted
    theta_init: RsslStarted
    selflearning: RsslFit
    icls: RsslFit
    soft_exact: SoftExact


def reference_file(name: str) -> Path:
    """Return the path of a reference file, such as ``"paper/fig2_runs.csv"``; skip without it."""
    path = SHARED / "reference" / name
    return (
        path if path.is_file() else absent(f"reference file {name} is not in ../shared/reference")
    )


def absent(reason: str) -> NoReturn:
    """Skip a test because a file beside the repository is missing; fail if it is required."""
    if os.environ.get("SEMISQUARES_REQUIRE_REFERENCE") == "1":
        pytest.fail(f"{reason} and SEMISQUARES_REQUIRE_REFERENCE=1 asks for it")
    pytest.skip(reason)


def at_hand(name: str, load: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Load a data set without the network; skip if it is not on this machine."""
    try:
        return (load or datasets.load)(name, download=False, **options)
    except FileNotFoundError as error:
        absent(str(error))


def reference_table(name: str) -> list[dict[str, str]]:
    """Read a reference CSV as one dict of strings per row."""
    with reference_file(name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@cache
def rssl_problem(name: str) -> RsslProblem:
    """Read one RSSL problem with its answers; its arrays are read-only."""
    raw = json.loads(reference_file(f"rssl/{name}.json").read_text(encoding="utf-8"))
    exact = next(row for row in reference_table("rssl/soft_exact.csv") if row["id"] == name)
    fit_intercept = raw["intercept"]
    fits = ("supervised", "soft", "hard", "soft_defaults", "soft_3iter", "hard_2iter")
    data = ("X", "y", "X_u", "y_u", "X_test", "y_test", "penalty_diag")
    return RsslProblem(
        name=name,
        alpha=float(raw["penalty_diag"][-1]),
        fit_intercept=fit_intercept,
        rssl_lambda=float(raw["lambda"]),
        random_init=_started(raw["random_init"], "resp0", fit_intercept),
        theta_init=_started(raw["theta_init"], "theta0", fit_intercept),
        selflearning=_fit(raw["selflearning"], fit_intercept),
        icls=_fit(raw["icls"]["qp_lambda2_0"], fit_intercept),
        soft_exact=SoftExact(
            **_weights(exact["theta"].split(), fit_intercept),
            objective=float(exact["phi_exact"]),
            objective_rssl=float(exact["phi_rssl_soft"]),
            unique=exact["unique"] == "True",
        ),
        **{key: _frozen(raw[key]) for key in data},
        **{key: _fit(raw[key], fit_intercept) for key in fits},
    )


def _started(raw: dict[str, Any], start: str, fit_intercept: bool) -> RsslStarted:
    return RsslStarted(
        _frozen(raw[start]), _fit(raw["soft"], fit_intercept), _fit(raw["hard"], fit_intercept)
    )


def _fit(raw: dict[str, Any], fit_intercept: bool) -> RsslFit:
    labels = raw.get("responsibilities", raw.get("labels"))
    decision_test = raw.get("decision_test")
    return RsslFit(
        **_weights(raw["theta"], fit_intercept),
        decision_test=None if decision_test is None else _frozen(decision_test),
        labels=None if labels is None else _frozen(labels),
        iterations=raw.get("iterations", raw.get("n_iter")),
        objective=raw.get("objective"),
        labeled_mse=raw.get("labeled_mse"),
    )


def _weights(theta: list[Any], fit_intercept: bool) -> dict[str, Any]:
    """Split theta into the paper's intercept (ours plus ½) and the features' weights."""
    theta = _frozen(theta)
    if fit_intercept:
        return {"theta": theta, "coef": theta[1:], "intercept": float(theta[0])}
    return {"theta": theta, "coef": theta, "intercept": 0.0}


def _frozen(values: list[Any]) -> np.ndarray:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array
