"""All experiments by their names on the command line; a new one is entered here."""

from __future__ import annotations

from ._figure import Figure
from .fig1_example import FIG1
from .fig2_paths import FIG2
from .fig3_first_step import FIG3
from .fig4_failure import FIG4
from .fig5_local_optima import FIG5
from .fig6_learning_curves import FIG6
from .fractions_of_labels import FRACTIONS
from .ridge import RIDGE
from .rivals import RIVALS

FIGURES: dict[str, Figure] = {
    figure.name: figure for figure in (FIG1, FIG2, FIG3, FIG4, FIG5, FIG6, RIDGE, FRACTIONS, RIVALS)
}
