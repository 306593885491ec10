"""A table with columns of every type."""

from __future__ import annotations

import numpy as np
import pandas as pd

N = 120


def table(n=N, seed=0):
    """Draw a table with columns of every type and missing cells, typed as pandas would."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "dose": rng.normal(1e4, 1e-2, n),
            "colour": rng.choice(
                ["red", "green", "blue", "grey", "teal"], n, p=[5 / 8] + [3 / 32] * 4
            ),
            "smokes": rng.choice([True, False], n).astype(object),
            "joined": pd.Timestamp("2019-06-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "h"),
            "row": np.arange(n),
        }
    )
    for k, name in enumerate(("age", "colour", "smokes", "joined")):
        frame.loc[rng.choice(n, 6 + k, replace=False), name] = None
    return frame
