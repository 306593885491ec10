"""Beyond the figures: how the methods compare as more of the rows have labels.

From the authors' second report: 20 % of the rows are test rows; of the others a growing share has
labels, and the rest is unlabeled. Preprocessing and methods are those of Figure 6, with an
unpenalised intercept. If there are too few labels to span the features, fits have the least norm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ._curves import Curves, draw_curves, method_labels, n_components
from ._figure import Agreement, Arrays, Finding, Settings, Table
from ._nested import METHODS, Draw, nested_weights
from ._protocol import (
    MEASURES,
    RepeatedFigure,
    average,
    compare_errors,
    component_table,
    describe_repeats,
    error_and_loss,
    labeled_first,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


TEST_SHARE = 0.2
SHARES = tuple(k / 10 for k in range(1, 10))


class Fractions(RepeatedFigure):
    name: ClassVar = "fractions"
    title: ClassVar = "As more rows have labels"
    caption: ClassVar = (
        "Error, then squared loss, on 20 % of the rows, as a growing share of the others has "
        "labels; the rest is unlabeled. The oracle knows all labels. At the grey line there are as "
        "many labels as weights; near it, least squares on the labeled rows alone is often at its "
        "worst. Bands are two standard errors (of the logarithm, on the logarithmic axis)."
    )
    columns: ClassVar = {
        "dataset": "name of the data set",
        "method": "supervised, soft, hard (from the supervised weights) or oracle",
        "labeled_share": "share of the training rows that have a label",
        "n_labeled": "number of those rows",
        **MEASURES,
    }

    def measure_repeat(self, settings: Settings, name: str, repeat: int) -> Arrays:
        """Return error and loss of each method at each share, of shape (shares, methods)."""
        X, y = component_table(name, settings.preset)
        order = labeled_first(y, settings.generator(name, repeat))
        X, y = X[order], y[order]
        found = []
        for share in SHARES:
            n_labeled, n_train = _counts(len(y), share)
            weights = nested_weights(Draw(X, y, n_labeled), (n_train - n_labeled,))
            found.append([error_and_loss(X[n_train:], y[n_train:], weights[m][0]) for m in METHODS])
        error, loss = np.moveaxis(np.array(found), -1, 0)
        return {"error": error, "loss": loss}

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        import pandas as pd

        frames = []
        for name, cell in self.join_blocks(settings, results).items():
            n_rows = len(component_table(name, settings.preset)[1])
            n_labeled = [_counts(n_rows, share)[0] for share in SHARES]
            columns = {
                "dataset": name,
                "method": np.repeat(METHODS, len(SHARES)),
                "labeled_share": np.tile(SHARES, len(METHODS)),
                "n_labeled": np.tile(n_labeled, len(METHODS)),
                **average({key: values.swapaxes(1, 2) for key, values in cell.items()}),
            }
            frames.append(pd.DataFrame(columns))
        return Table(settings, pd.concat(frames, ignore_index=True))

    def draw(self, table: Table, view: str) -> Picture:
        shown = Curves(
            x="labeled_share",
            y=view,
            x_label="rows with a label, %",
            labels=method_labels(METHODS),
            uprights=_as_many_labels_as_weights(table),
            upright_label="as many labels as weights",
            log_x=False,
        )
        return draw_curves(table.summary, shown)

    def findings(self, table: Table) -> list[Finding]:
        curves = {
            point: rows.set_index("dataset")
            for point, rows in table.summary.groupby(["method", "labeled_share"])
        }
        return [
            compare_errors(
                f"With {share:.0%} of the training rows labeled, soft labels help",
                curves["soft", share],
                curves["supervised", share],
            )
            for share in (SHARES[0], SHARES[-1])
        ]

    def describe_run(self, settings: Settings) -> str:
        return (
            f"{describe_repeats(settings)}: 20 % of the rows are for testing, and 10, 20, … 90 % "
            "of the others have labels."
        )

    def compare_with_paper(self, table: Table) -> Agreement:
        return Agreement(
            "The paper has no such figure; the experiment is from the authors' second report, "
            "whose numbers are not available to us."
        )


def _as_many_labels_as_weights(table: Table) -> dict[str, float]:
    """Return the share with as many labels as weights, for the data sets that have one."""
    found = {}
    for name, rows in table.summary.groupby("dataset", sort=False):
        n_weights = n_components(str(name), table.settings.preset) + 1
        one = rows.drop_duplicates("labeled_share").sort_values("labeled_share")
        if one["n_labeled"].min() <= n_weights <= one["n_labeled"].max():
            found[str(name)] = float(np.interp(n_weights, one["n_labeled"], one["labeled_share"]))
    return found


def _counts(n_rows: int, share: float) -> tuple[int, int]:
    """Return the numbers of labeled rows and of all training rows."""
    n_train = n_rows - round(TEST_SHARE * n_rows)
    return max(2, round(share * n_train)), n_train


FRACTIONS = Fractions()
