"""Pictures of a fitted classifier in one line of code, in the manner of scikit-learn.

Six displays, each with a short function: `plot_decision` (boundary and labels over two columns),
`plot_soft_labels` (the labels imputed to the unlabeled rows), `plot_path` (the path of a solver),
`plot_learning_curve` (the error as rows are added), `plot_members` (the weights in an average) and
`plot_reliability` (accuracy against probability). They draw on the axes that they are given, or in
a new pyplot figure.

All pictures share one `style` and one `method_style` per method. `new_picture` and `facets` make
figures without pyplot, `legend` adds a legend for all panels, and `render` and `save` give files
that are the same every time.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import import_on_first_use
from ._pictures import facets, legend, new_picture, render, save
from ._style import MethodStyle, method_style, style

if TYPE_CHECKING:
    from ._decision import DecisionDisplay, plot_decision
    from ._learning_curves import Curve, LearningCurveDisplay, plot_learning_curve
    from ._members import MembersDisplay, plot_members
    from ._paths import Path, PathDisplay, plot_path
    from ._reliability import ReliabilityDisplay, plot_reliability
    from ._soft_labels import SoftLabelsDisplay, plot_soft_labels

__all__ = [
    "Curve",
    "DecisionDisplay",
    "LearningCurveDisplay",
    "MembersDisplay",
    "MethodStyle",
    "Path",
    "PathDisplay",
    "ReliabilityDisplay",
    "SoftLabelsDisplay",
    "facets",
    "legend",
    "method_style",
    "new_picture",
    "plot_decision",
    "plot_learning_curve",
    "plot_members",
    "plot_path",
    "plot_reliability",
    "plot_soft_labels",
    "render",
    "save",
    "style",
]

_ON_FIRST_USE = {
    "Curve": "_learning_curves",
    "DecisionDisplay": "_decision",
    "LearningCurveDisplay": "_learning_curves",
    "MembersDisplay": "_members",
    "Path": "_paths",
    "PathDisplay": "_paths",
    "ReliabilityDisplay": "_reliability",
    "SoftLabelsDisplay": "_soft_labels",
    "plot_decision": "_decision",
    "plot_learning_curve": "_learning_curves",
    "plot_members": "_members",
    "plot_path": "_paths",
    "plot_reliability": "_reliability",
    "plot_soft_labels": "_soft_labels",
}
"""Modules that need scikit-learn, which pictures of a stored model or table do not wait for."""

__getattr__, __dir__ = import_on_first_use(__name__, _ON_FIRST_USE, __all__)
