"""Pictures: of a fitted classifier in a line of code, and what all pictures here are made of.

Six displays in the manner of scikit-learn, each with a short function: `plot_decision` (boundary
and labels over two columns), `plot_soft_labels` (which labels the unlabeled rows got), `plot_path`
(the way of a solver), `plot_learning_curve` (the error as rows are added), `plot_members` (the
weights in an average) and `plot_reliability` (how often it is right, against how sure it is). They
draw on the axes that they are given, or in a new figure of pyplot.

Below them, what the report, the figures of the paper and the documentation share: one `style`, one
`look` per method, panels, legends, bands, and files that are the same every time.
"""

from .curves import (
    BAND_ALPHA,
    band,
    band_ends,
    interval_curve,
    legend_of_bands,
    legend_of_published,
    mark_sizes,
    published_curve,
    size_places,
)
from .decision import DecisionDisplay, plot_decision
from .learning_curves import Curve, LearningCurveDisplay, plot_learning_curve
from .looks import (
    BLACK,
    BLUE,
    CLASS_COLOURS,
    CLASS_MARKERS,
    GREEN,
    GREY,
    INK,
    LIGHT,
    LOOKS,
    MUTED,
    ONE_COLUMN,
    ORANGE,
    PNG_DPI,
    PURPLE,
    SKY,
    TWO_COLUMNS,
    VERMILION,
    YELLOW,
    Look,
    choose_view,
    look,
    style,
)
from .members import MembersDisplay, plot_members
from .paths import Path, PathDisplay, plot_path, surface
from .pictures import drawing_on, facets, headline, legend, letter, new_picture, render, save
from .reliability import ReliabilityDisplay, plot_reliability
from .rows import labeled_dots, legend_of_decision, true_dots
from .runs import BEHIND_TEXT, END_COLOURS, draw_contours, draw_end, draw_path, draw_runs, visible
from .soft_labels import SoftLabelsDisplay, plot_soft_labels

__all__ = [
    "BAND_ALPHA",
    "BEHIND_TEXT",
    "BLACK",
    "BLUE",
    "CLASS_COLOURS",
    "CLASS_MARKERS",
    "END_COLOURS",
    "GREEN",
    "GREY",
    "INK",
    "LIGHT",
    "LOOKS",
    "MUTED",
    "ONE_COLUMN",
    "ORANGE",
    "PNG_DPI",
    "PURPLE",
    "SKY",
    "TWO_COLUMNS",
    "VERMILION",
    "YELLOW",
    "Curve",
    "DecisionDisplay",
    "LearningCurveDisplay",
    "Look",
    "MembersDisplay",
    "Path",
    "PathDisplay",
    "ReliabilityDisplay",
    "SoftLabelsDisplay",
    "band",
    "band_ends",
    "choose_view",
    "draw_contours",
    "draw_end",
    "draw_path",
    "draw_runs",
    "drawing_on",
    "facets",
    "headline",
    "interval_curve",
    "labeled_dots",
    "legend",
    "legend_of_bands",
    "legend_of_decision",
    "legend_of_published",
    "letter",
    "look",
    "mark_sizes",
    "new_picture",
    "plot_decision",
    "plot_learning_curve",
    "plot_members",
    "plot_path",
    "plot_reliability",
    "plot_soft_labels",
    "published_curve",
    "render",
    "save",
    "size_places",
    "style",
    "surface",
    "true_dots",
    "visible",
]
