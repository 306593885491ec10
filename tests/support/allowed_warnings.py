"""Marks for tests in which warnings may occur that they are not about."""

from __future__ import annotations

import pytest

collapse_allowed = pytest.mark.filterwarnings(
    "ignore::semisquares._utils.errors.CollapsedLabelsWarning"
)
copies_allowed = pytest.mark.filterwarnings("ignore:Columns .* are combinations:UserWarning")
early_stop_allowed = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
