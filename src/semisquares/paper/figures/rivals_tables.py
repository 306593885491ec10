"""The tables of `rivals`: learning curves, ranks of the methods, and what pairs of them make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .figure import Arrays
from .ranking import LEVEL, critical_difference, friedman, holm, mean_and_error, paired_p, ranks
from .rivals_methods import COMPETITORS, METHODS

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[Any]

NAMES = tuple(METHODS)


def curves(name: str, cell: Arrays) -> pd.DataFrame:
    """Put the repeats of one data set, arrays (repeats, methods, sizes), together as means."""
    import pandas as pd

    at = cell["n_unlabeled"]
    error, error_se = mean_and_error(cell["error"])
    loss, loss_se = mean_and_error(cell["loss"])
    supervised = cell["error"][:, [NAMES.index("supervised")]]
    difference, difference_se = mean_and_error(cell["error"] - supervised)
    able = [size <= (method.at_most or size) for method in METHODS.values() for size in at]
    table = {
        "dataset": name,
        "method": np.repeat(NAMES, len(at)),
        "n_unlabeled": np.tile(at, len(NAMES)),
        "error": error.ravel(),
        "error_se": error_se.ravel(),
        "difference": difference.ravel(),
        "difference_se": difference_se.ravel(),
        "loss": loss.ravel(),
        "loss_se": loss_se.ravel(),
        "repeats": len(cell["error"]),
        "failures": np.isnan(cell["error"]).sum(axis=0).ravel(),
        "unfinished": cell["unfinished"].sum(axis=0).ravel(),
    }
    return pd.DataFrame(table)[able]


def means(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the mean error over the data sets, at the sizes that all of them have.

    Where a method has no answer on one of them, it has no mean.
    """
    points = summary.groupby(["method", "n_unlabeled"], sort=False)
    found = points.agg(
        error=("error", lambda one: one.mean(skipna=False)),
        error_se=("error_se", lambda one: np.sqrt((one**2).sum(skipna=False)) / len(one)),
        datasets=("dataset", "size"),
    )
    return found[found["datasets"] == summary["dataset"].nunique()].reset_index()


def common_size(cells: Mapping[str, Arrays]) -> int:
    """Return the largest number of unlabeled rows that every data set has."""
    shared = set.intersection(*(set(cell["n_unlabeled"].tolist()) for cell in cells.values()))
    return int(max(shared))


def standings(cells: Mapping[str, Arrays]) -> dict[str, pd.DataFrame]:
    """Rank the methods and test them against each other, at the size that all data sets have."""
    at = common_size(cells)
    errors = {
        name: cell["error"][:, :, int(np.flatnonzero(cell["n_unlabeled"] == at)[0])]
        for name, cell in cells.items()
    }
    return {**_ranks(errors, at), "pairs": _pairs(errors)}


def _ranks(errors: Mapping[str, Array], at: int) -> dict[str, pd.DataFrame]:
    import pandas as pd

    places = [NAMES.index(method) for method in COMPETITORS]
    means = np.array([mean_and_error(error)[0][places] for error in errors.values()])
    placed = ranks(means)
    table = pd.DataFrame(
        {
            "method": COMPETITORS,
            "mean_rank": placed.mean(axis=0),
            "best_rank": placed.min(axis=0),
            "worst_rank": placed.max(axis=0),
        }
    )
    test = {
        "n_unlabeled": at,
        "datasets": len(errors),
        "methods": len(COMPETITORS),
        **asdict(friedman(means)),
        "critical_difference": critical_difference(len(COMPETITORS), len(errors)),
    }
    return {
        "ranks": table.sort_values("mean_rank", kind="stable", ignore_index=True),
        "friedman": pd.DataFrame([test]),
    }


def _pairs(errors: Mapping[str, Array]) -> pd.DataFrame:
    """Count the data sets on which one method is clearly better than another.

    By the paired t test over repeats, corrected by Holm for the data sets of each pair.
    """
    import pandas as pd

    methods = (*COMPETITORS, "oracle")
    places = [NAMES.index(method) for method in methods]
    shown = [error[:, places] for error in errors.values()]
    differences = [error[:, :, None] - error[:, None, :] for error in shown]
    clear = holm(np.array([paired_p(one) for one in differences])) < LEVEL
    means = np.array([mean_and_error(one)[0] for one in differences])
    better, worse = clear & (means < 0.0), clear & (means > 0.0)  # (data sets, methods, methods)
    names = np.array(list(errors))
    rows = [
        {
            "method": methods[i],
            "other": methods[j],
            "better": int(better[:, i, j].sum()),
            "equal": int((~better & ~worse)[:, i, j].sum()),
            "worse": int(worse[:, i, j].sum()),
            "better_on": " ".join(names[better[:, i, j]]),
            "worse_on": " ".join(names[worse[:, i, j]]),
        }
        for i, j in np.argwhere(~np.eye(len(methods), dtype=bool))
    ]
    return pd.DataFrame(rows)


def missing_outcomes(cells: Mapping[str, Arrays]) -> pd.DataFrame:
    """Say how far regression with missing outcomes is from the supervised fit."""
    import pandas as pd

    rows = []
    for name, cell in cells.items():
        for size, gaps in zip(cell["n_unlabeled"], cell["missing_outcomes"].T, strict=True):
            known = gaps[~np.isnan(gaps)]
            rows.append(
                {
                    "dataset": name,
                    "n_unlabeled": int(size),
                    "fits": len(known),
                    "open": len(gaps) - len(known),
                    "largest": known.max() if len(known) else np.nan,
                }
            )
    return pd.DataFrame(rows)
