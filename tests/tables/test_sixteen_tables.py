"""The paper's sixteen data sets as people's tables: a fifth of the labels, a CSV, the commands."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.sixteen_tables import table_of

from semisquares.paper.datasets import DATASETS
from semisquares.tables import find, fit_table, load, prepare, read, save
from semisquares.tables._predicting import PredictionCounts, predict_rows
from semisquares.tables.io import writer
from support.reference import at_hand

WIDE = ("BCI", "COIL2", "Digit1", "g241c", "g241d", "USPS")
"""Choosing takes seconds on these; `python -m benchmarks.sixteen_tables` chooses on all."""
WISHES = {name: {"method": "soft", "alpha": 100.0, "weight": 0.1} for name in WIDE}


ALWAYS = ("Haberman", "Ionosphere", "SPECT", "BCI")
"""Whole numbers, measurements with a constant column, yes or no, and more columns than rows."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in ALWAYS)) for name in DATASETS],
)
def test_every_set_goes_from_a_csv_to_predictions_better_than_the_larger_class(name, tmp_path):
    frame, truth = at_hand(name, table_of)
    frame.to_csv(tmp_path / "table.csv", index=False)
    source = find(str(tmp_path / "table.csv"))
    prepared = prepare(read(source, text=("label",)), "label")
    assert prepared.target.n_labeled == frame["label"].notna().sum()
    save(fit_table(prepared, folds=2, repeats=1, **WISHES.get(name, {})), tmp_path / "model")
    model, counts = load(tmp_path / "model"), PredictionCounts()
    with writer(str(tmp_path / "out.csv"), dialect=source.dialect) as to:
        for batch in predict_rows(model, source, counts, only_missing=True):
            to.write(batch)
    out = pd.read_csv(tmp_path / "out.csv", dtype={"label": str})
    filled = out["label_filled"].to_numpy()
    np.testing.assert_array_equal(filled, frame["label"].isna())
    truth = truth.astype(str)
    np.testing.assert_array_equal(out["label"][~filled], truth[~filled])
    larger = pd.Series(truth[filled]).value_counts(normalize=True).max()
    assert (out["label"][filled] == truth[filled]).mean() > larger - 0.05
