"""The table of trials with soft and hard labels as members of the average."""

from __future__ import annotations

import pandas as pd
from benchmarks.label_members import RESULTS, TRIALS
from benchmarks.peers.markdown import grid

COLUMNS = {
    "example": "example",
    "pumps": "pumps",
    "Clusters, ten": "Clusters, 20 labels",
    "Lengthwise, columns": "Lengthwise, 10 labels",
    "paper, ten": "16 tables, 10 per class",
    "paper, columns": "16 tables, labels ≈ columns",
    "paper, half": "16 tables, half",
}
LOSSES = ("paper, ten", "paper, columns", "paper, half")


def table() -> str:
    """Return the changes of accuracy, in percentage points, and of log loss, in Markdown."""
    stored = pd.read_csv(RESULTS, keep_default_na=False).set_index(["trial", "group"])
    head = ["trial", *COLUMNS.values(), "log loss of the 16, times 1,000"]
    without = [f"{stored.loc[('', group), 'accuracy']:.3f}" for group in COLUMNS]
    losses = ", ".join(f"{1000 * stored.loc[('', group), 'log_loss']:.0f}" for group in LOSSES)
    rows = [["without: accuracy", *without, losses]]
    for trial in TRIALS:
        cells = [_points(stored.loc[(trial, group)]) for group in COLUMNS]
        losses = ", ".join(_thousandths(stored.loc[(trial, group)]) for group in LOSSES)
        rows.append([trial, *cells, losses])
    return grid(head, rows)


def _points(line: pd.Series) -> str:
    return _signed(100 * line["accuracy"], 100 * line["error"])


def _thousandths(line: pd.Series) -> str:
    return _signed(1000 * line["log_loss"], 1000 * line["log_loss_error"])


def _signed(value: float, error: float) -> str:
    return f"{value:+.1f} ± {error:.1f}".replace("-", "−")
