"""A small table with labels missing at random, and its notices."""

import numpy as np
import pandas as pd

from semisquares.tables.compare.notices import NoticeContext, find_notices
from semisquares.tables.dataset import prepare


def table(n=400, n_labeled=80, n_columns=6, seed=0):
    """Draw numbers, and labels that are missing at random."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(n_columns)})
    label = rng.choice(["no", "yes"], n).astype(object)
    label[rng.permutation(n)[n_labeled:]] = None
    frame["y"] = label
    return frame


def notices(frame, **options):
    return find_notices(NoticeContext(prepare(frame, "y", **options), seed=0))


def kinds(frame, **options):
    return [notice.kind for notice in notices(frame, **options)]
