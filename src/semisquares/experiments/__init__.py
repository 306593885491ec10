"""The paper's experiments and what goes beyond them, run by `semisquares reproduce`.

A figure computes a table from settings, and draws pictures and findings from the table::

    from semisquares.experiments import FIGURES
    figure = FIGURES["fig3"]
    table = figure.compute(figure.settings("authors"))
    figure.plot(table)
"""

from .fig1_example import FIG1
from .fig2_paths import FIG2
from .fig3_first_step import FIG3
from .fig4_failure import FIG4
from .fig5_local_optima import FIG5
from .fig6_learning_curves import FIG6
from .figure import PRESETS, Figure, Finding, Settings, Table
from .fractions_of_labels import FRACTIONS
from .ridge import RIDGE
from .rivals import RIVALS

FIGURES: dict[str, Figure] = {
    figure.name: figure for figure in (FIG1, FIG2, FIG3, FIG4, FIG5, FIG6, RIDGE, FRACTIONS, RIVALS)
}
"""Every experiment, by the name that the command line knows."""

__all__ = ["FIGURES", "PRESETS", "Figure", "Finding", "Settings", "Table"]
