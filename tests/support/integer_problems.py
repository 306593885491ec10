"""Small problems of small integers, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from support.problems import Problem


@st.composite
def integer_problems(draw):
    """Small tables of small integers: full of ties, copies and rows that bind at 0 or 1."""
    d, n_labeled = draw(st.integers(1, 3)), draw(st.integers(2, 6))
    n = n_labeled + draw(st.integers(0, 10))
    X = draw(st.lists(st.lists(st.integers(-2, 2), min_size=d, max_size=d), min_size=n, max_size=n))
    y = np.r_[np.arange(n_labeled) % 2, np.full(n - n_labeled, -1)]
    return Problem(
        np.array(X, dtype=float),
        y,
        alpha=draw(st.sampled_from([0.0, 0.5])),
        intercept=draw(st.booleans()),
    )
