"""The numbers of the published figures, to compare ours with.

J. H. Krijthe and M. Loog, *Optimistic Semi-supervised Least Squares Classification*, ICPR 2016:
Figure 5 from the authors' stored results, Figure 6 read off the vector figure (to 8e-5).
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def learning_curves() -> pd.DataFrame:
    """Return Figure 6, all sixteen data sets: dataset, method, n_unlabeled, error."""
    table = _read("fig6_learning_curves.csv").rename(columns={"U": "n_unlabeled"})
    return table.assign(method=table["method"].str.lower())


def local_optima() -> pd.DataFrame:
    """Return Figure 5, one row per data set, method and resample.

    Columns are the number of distinct accuracies from 50 random starts, their mean, deviation and
    range, and the accuracies from the supervised start and of the supervised weights.
    """
    return _read("fig5_per_resample.csv").rename(
        columns={
            "model": "method",
            "n_distinct": "distinct_accuracies",
            "acc_supinit": "accuracy_supervised_start",
            "acc_supervised": "accuracy_supervised",
        }
    )


def _read(name: str) -> pd.DataFrame:
    import pandas as pd

    folder = resources.files(__package__) / "published_tables"
    with (folder / name).open("rb") as file:
        return pd.read_csv(file)
