"""The table of accuracies with and without text columns."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from benchmarks.peers.markdown import grid
from benchmarks.text_columns import STORED


def table() -> str:
    """Return accuracies in percent, and gains with their standard errors, in Markdown."""
    head = ["table", "text", "rows", "without text", "with text", "gain in points"]
    return grid(head, [_row(one) for one in json.loads(STORED.read_text(encoding="utf-8"))])


def _row(one: dict[str, Any]) -> list[str]:
    without, with_text = np.array(one["without"]), np.array(one["with_text"])
    gains = 100 * (with_text - without)
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    gain = f"{gains.mean():+.1f} ± {error:.1f}".replace("-", "−")
    accuracies = (f"{100 * accuracies.mean():.1f} %" for accuracies in (without, with_text))
    return [one["table"], f"`{one['text']}`", f"{one['rows']:,}", *accuracies, gain]
