"""Beyond Figure 6: its learning curves with all the other methods that the paper names.

The draws are those of Figure 6, at every second number of unlabeled rows, and no method penalises
its intercept. Methods are ranked and compared in pairs at the largest number of unlabeled rows that
all data sets have. Regression with missing outcomes (Yates) is the supervised fit: it has no curve,
and a table shows how closely they agree.

The parts of this file: the methods, their fits, the figure, its tables, plots and findings.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

from ... import HardLabelClassifier, SoftLabelClassifierCV, plotting
from ..._utils.typing import Array
from ..._utils.words import percent
from ...baselines import (
    AllLabelingsDiscriminant,
    ContrastivePessimisticDiscriminant,
    EMDiscriminantClassifier,
    ImplicitlyConstrainedClassifier,
    MissingOutcomeRegressor,
    SelfLearning,
    SemiSupervisedAdapter,
    TransductiveSVM,
)
from ...core.solvers.least_norm import leaves_weights_open
from ...plotting import MethodStyle
from ...plotting._curves import draw_band
from ...plotting._pictures import title_panel
from ...plotting._style import BLUE, GREY, INK, LIGHT, METHOD_STYLES, VERMILION
from . import fig6_learning_curves as fig6
from ._curves import draw_curves, log_ticks, mark_round
from ._figure import Arrays, Finding, Settings, Table
from ._nested import Draw, nested_weights
from ._protocol import (
    ALL,
    MEASURES,
    RepeatedFigure,
    compare_errors,
    describe_repeats,
)
from ._ranking import (
    LEVEL,
    critical_difference,
    friedman,
    holm,
    indistinguishable_runs,
    mean_and_error,
    paired_p,
    ranks,
)
from .fig6_learning_curves import ENOUGH_REPEATS, ENOUGH_SETS
from .ridge import tuned_ridge

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


QUICK = ("Haberman", "Ionosphere", "Sonar", "WDBC")
"""Small data sets that need no download."""
SAME_FIT = 1e-8
"""Decision values that differ by less, relative to the largest, belong to the same fit."""

# The methods. Least squares has no ridge, as in the paper, except for the two methods that tune
# one. Discriminants have a shrinkage of one row. The others have the defaults of their authors or
# of scikit-learn, except for label propagation and spreading: with the default kernel no row of
# these data reaches another, so they use nearest neighbours.

LEAST_SQUARES, DISCRIMINANTS, OTHERS = "least squares", "discriminants", "margins and graphs"
SHRINKAGE = 1.0
MOST_TO_ENUMERATE = 8
"""The time for trying all labelings doubles with every row."""
BEST_LABELING: Any = (GREY, "*", (0, (3, 1, 1, 1)))
"""The colour, marker and line of the methods that try all labelings."""


@dataclass(frozen=True)
class Method:
    """One method; without `make`, its weights come from Figure 6 or from the tuned ridge."""

    style: MethodStyle
    group: str
    make: Callable[[], Any] | None = None
    gives: str = "target"
    """What it predicts for a row: an estimate of the target, a probability, or only a side."""
    without: str | None = None
    """The same classifier without unlabeled rows, if there is one."""
    at_most: int | None = None
    """The largest number of unlabeled rows that it can handle."""


def _like(method: str, label: str) -> MethodStyle:
    """Return the style of another method with a label of its own."""
    return replace(METHOD_STYLES[method], label=label)


def _lda() -> Any:
    return EMDiscriminantClassifier(shrinkage=SHRINKAGE)


def _discriminant(
    style: MethodStyle, make: Callable[[], Any], at_most: int | None = None
) -> Method:
    """Describe a discriminant that uses unlabeled rows."""
    return Method(style, DISCRIMINANTS, make, "probability", "lda", at_most)


# Within a picture, colours, markers and lines differ. Across pictures a colour has one meaning:
# blue learns from labels alone, red labels rows by its own predictions, purple is pessimistic.
METHODS = {
    "supervised": Method(_like("supervised", "supervised least squares"), LEAST_SQUARES),
    "ridge": Method(METHOD_STYLES["ridge"], LEAST_SQUARES),
    "soft": Method(METHOD_STYLES["soft"], LEAST_SQUARES, without="supervised"),
    "soft_cv": Method(
        _like("soft_ridge", "tuned soft labels"),
        LEAST_SQUARES,
        SoftLabelClassifierCV,
        without="ridge",
    ),
    "hard": Method(METHOD_STYLES["hard"], LEAST_SQUARES, without="supervised"),
    "implicitly_constrained": Method(
        _like("hard_from_soft", "implicitly constrained"),
        LEAST_SQUARES,
        ImplicitlyConstrainedClassifier,
        without="supervised",
    ),
    "all_labelings": Method(
        MethodStyle("best labeling", *BEST_LABELING),
        LEAST_SQUARES,
        lambda: HardLabelClassifier(0.0, solver="enumerate"),
        without="supervised",
        at_most=MOST_TO_ENUMERATE,
    ),
    "oracle": Method(METHOD_STYLES["oracle"], LEAST_SQUARES),
    "lda": Method(_like("supervised", "supervised LDA"), DISCRIMINANTS, _lda, "probability"),
    "em": _discriminant(_like("ridge", "EM for LDA"), _lda),
    "self_learning": _discriminant(
        _like("hard", "self-learning LDA"), lambda: SelfLearning(_lda())
    ),
    "self_training": _discriminant(
        _like("soft_ridge", "self-training LDA"),
        lambda: SemiSupervisedAdapter(SelfTrainingClassifier(_lda())),
    ),
    "contrastive_pessimistic": _discriminant(
        _like("hard_from_soft", "contrastive pessimistic LDA"),
        lambda: ContrastivePessimisticDiscriminant(shrinkage=SHRINKAGE),
    ),
    "all_labelings_lda": _discriminant(
        MethodStyle("best labeling for LDA", *BEST_LABELING),
        lambda: AllLabelingsDiscriminant(shrinkage=SHRINKAGE),
        MOST_TO_ENUMERATE,
    ),
    "svm": Method(
        _like("supervised", "supervised SVM"),
        OTHERS,
        lambda: TransductiveSVM(C_unlabeled=0.0),
        gives="side",
    ),
    "transductive_svm": Method(
        _like("hard", "transductive SVM"), OTHERS, TransductiveSVM, gives="side", without="svm"
    ),
    "label_propagation": Method(
        _like("ridge", "label propagation"),
        OTHERS,
        lambda: SemiSupervisedAdapter(LabelPropagation(kernel="knn")),
        gives="probability",
    ),
    "label_spreading": Method(
        _like("soft_ridge", "label spreading"),
        OTHERS,
        lambda: SemiSupervisedAdapter(LabelSpreading(kernel="knn")),
        gives="probability",
    ),
}
"""All methods, in the order of legends; each group's supervised classifier first."""

LABELS_ALONE = ("supervised", "ridge", "lda", "svm")
"""Methods that ignore unlabeled rows, and are therefore fitted once for all their numbers."""
PESSIMISTS = ("implicitly_constrained", "contrastive_pessimistic")
OPTIMISTS = ("soft", "hard", "em", "self_learning", "self_training", "transductive_svm")
"""Optimists choose labels that suit the classifier, pessimists the opposite (the paper's terms)."""
COMPETITORS = tuple(
    name for name, method in METHODS.items() if method.at_most is None and name != "oracle"
)
"""The methods that can be ranked: not the oracle, nor those that handle only a few rows."""
WITHOUT_RIDGE = ("soft", "hard", "implicitly_constrained")
"""Least squares methods that use unlabeled rows and have no ridge."""
NAMES = tuple(METHODS)
BESIDE = ("soft", "oracle")
"""The methods that every picture of curves shows."""
SIDES = ("better", "worse")
BLUE_IS_BETTER = (VERMILION, "white", BLUE)


@dataclass(frozen=True)
class RivalPredictions:
    """The predictions of a method for the test rows, among all rows after the labeled ones."""

    z: Array
    """Above ½ for the first class; NaN for unlabeled rows, and if the fit raised an error."""
    unfinished: bool = False
    """Whether it warned that it had not converged."""


def measure(drawn: Draw, at: Sequence[int]) -> dict[str, Array]:
    """Fit every method to one draw; measure it on the test rows for each number of unlabeled rows.

    Returns
    -------
    error, loss, unfinished : ndarrays of shape (methods, sizes)
        `error` is NaN if a fit failed or there are more rows than the method can handle; `loss` is
        also NaN if a method predicts only sides.
    """
    found = {name: np.full((len(METHODS), len(at)), np.nan) for name in ("error", "loss")}
    found["unfinished"] = np.zeros((len(METHODS), len(at)), dtype=bool)
    weights = nested_weights(drawn, at)
    weights["ridge"] = np.tile(tuned_ridge(drawn), (len(at), 1))
    once = {name: _fit(METHODS[name], drawn, 0) for name in LABELS_ALONE if METHODS[name].make}
    rest, y = drawn.X[drawn.n_labeled :], drawn.y[drawn.n_labeled :]
    for place, (name, method) in enumerate(METHODS.items()):
        for k, size in enumerate(at):
            if method.at_most is not None and size > method.at_most:
                continue
            if name in weights:
                fitted = RivalPredictions(rest @ weights[name][k])
            else:
                fitted = once[name] if name in once else _fit(method, drawn, size)
            z, truth = fitted.z[size:], y[size:]
            found["unfinished"][place, k] = fitted.unfinished
            if np.isfinite(z).all():
                found["error"][place, k] = np.mean((z > 0.5) != (truth > 0.5))
                if method.gives != "side":
                    found["loss"][place, k] = np.mean((z - truth) ** 2)
    return found


def _fit(method: Method, drawn: Draw, n_unlabeled: int) -> RivalPredictions:
    """Fit one method to the labeled rows and the first `n_unlabeled` unlabeled rows."""
    assert method.make is not None
    L, n_train = drawn.n_labeled, drawn.n_labeled + n_unlabeled
    X, y = drawn.X[:, :-1], drawn.y[:n_train].copy()
    y[L:] = -1.0
    z = np.full(len(X) - L, np.nan)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = method.make().fit(X[:n_train], y)
            if method.gives == "probability":
                z[n_unlabeled:] = model.predict_proba(X[n_train:])[:, 1]
            else:
                z[n_unlabeled:] = model.decision_function(X[n_train:]) + 0.5
        except (ValueError, ArithmeticError):
            pass  # raised for unsuitable data; other errors are bugs
    return RivalPredictions(z, any(issubclass(w.category, ConvergenceWarning) for w in caught))


def missing_outcomes(drawn: Draw, at: Sequence[int]) -> Array:
    """Return how far regression with missing outcomes is from the supervised fit, for each size.

    This is the largest difference, relative to the largest decision value. It is NaN if the labeled
    rows do not determine the weights: the outcomes then select one of many fits.
    """
    L = drawn.n_labeled
    if leaves_weights_open(drawn.objective(at[0])):
        return np.full(len(at), np.nan)
    supervised = drawn.X @ nested_weights(drawn, at[:1], ("supervised",))["supervised"][0]
    found = []
    for size in at:
        y = drawn.y[: L + size].copy()
        y[L:] = np.nan
        model = MissingOutcomeRegressor("analytic").fit(drawn.X[: L + size, :-1], y)
        difference = model.predict(drawn.X[:, :-1]) - supervised
        found.append(np.abs(difference).max() / np.abs(supervised).max())
    return np.array(found)


class Rivals(RepeatedFigure):
    name: ClassVar = "rivals"
    title: ClassVar = "Soft labels among their rivals"
    caption: ClassVar = (
        "Figure 6 with the other methods that the paper names, and scikit-learn's. First the mean "
        "error over the data sets, at the numbers of unlabeled rows that all of them have; then "
        "each data set, in one picture per kind of method, each with soft labels and the oracle "
        "(least squares that knows all labels). Bands are two standard errors. Least squares has "
        "no ridge, as in the paper, except for the two tuned methods; the others are regularised "
        "(LDA by a shrinkage of one row, SVM by C = 1), so compare a method with the same "
        "classifier without unlabeled rows to see what these do. Trying all labelings is possible "
        f"only for up to {MOST_TO_ENUMERATE} unlabeled rows. Then the mean ranks at the largest "
        "number of unlabeled rows that all data sets have, with bars beside methods that Nemenyi's "
        "test does not distinguish; and for each pair of methods, on how many data sets one is "
        "clearly better, by paired t tests over the repeats with Holm's correction for the number "
        "of data sets."
    )
    repeats: ClassVar = {"authors": 100, "paper": 100, "quick": 4}
    repeats_per_cell: ClassVar = 5
    datasets: ClassVar = {"authors": ALL, "paper": ALL, "quick": QUICK}
    views: ClassVar = {
        "overview": "Mean error over the data sets",
        "least_squares": "Error on each data set: least squares",
        "discriminants": "Error on each data set: discriminants",
        "others": "Error on each data set: margins and graphs",
        "ranks": "Mean ranks, and which of them differ significantly",
        "pairs": "Each method against each other",
    }
    columns: ClassVar = {
        "dataset": "name of the data set",
        "method": f"one of {', '.join(METHODS)}",
        "n_unlabeled": "number of unlabeled rows",
        "error": MEASURES["error"],
        "error_se": MEASURES["error_se"],
        "difference": "that error minus the error of supervised in the same repeats",
        "difference_se": "its standard error",
        "loss": "mean squared loss of the decision values, or of the probabilities, on the test "
        "rows; empty if a method gives neither",
        "loss_se": "its standard error",
        "repeats": "number of repeats",
        "failures": "number of repeats in which the fit raised an error; the means leave them out",
        "unfinished": "number of repeats in which the fit warned that it had not converged",
    }

    def measure_repeat(self, settings: Settings, name: str, repeat: int) -> Arrays:
        drawn = replace(fig6.draw_repeat(settings, name, repeat), as_authors=False)
        at = fig6.sizes(settings, len(drawn.y), drawn.n_labeled)[::2]
        # our own rows and parameters need no checks, which take a sixteenth of the time
        with config_context(assume_finite=True, skip_parameter_validation=True):
            measured = {**measure(drawn, at), "missing_outcomes": missing_outcomes(drawn, at)}
        return {"n_unlabeled": np.array(at), **measured}

    def tabulate(self, settings: Settings, results: Mapping[str, Arrays]) -> Table:
        import pandas as pd

        cells = self.join_blocks(settings, results)
        curves = [_curves_table(name, cell) for name, cell in cells.items()]
        summary = pd.concat(curves, ignore_index=True)
        details = {
            "means": _means_table(summary),
            **_standings(cells),
            "missing_outcomes": _missing_outcomes_table(cells),
        }
        return Table(settings, summary, details)

    def draw(self, table: Table, view: str) -> Picture:
        groups = {"least_squares": LEAST_SQUARES, "discriminants": DISCRIMINANTS, "others": OTHERS}
        whole = {"overview": _plot_overview, "ranks": _plot_ranks, "pairs": _plot_pairs}
        return _plot_group(table, groups[view]) if view in groups else whole[view](table)

    def findings(self, table: Table) -> list[Finding]:
        return [
            _ranks_differ(table),
            _one_is_ahead(table),
            _best_where(table),
            _beats(table, "soft", "supervised"),
            _beats(table, "soft", "hard"),
            _nearest_to_the_oracle(table),
            *(_never_hurts(table, name) for name in PESSIMISTS),
            _optimists_hurt(table),
            _all_help(table),
            _against_the_ridge(table),
            *_all_labelings(table),
            _missing_outcomes(table),
            _failures(table),
        ]

    def describe_run(self, settings: Settings) -> str:
        sizes = "1, 4, 16, 64, 256" if settings.preset == "paper" else "2, 8, 32, 128, 512"
        return (
            f"{describe_repeats(settings)}, drawn as in Figure 6, with {sizes} unlabeled rows as "
            f"far as there are rows; {len(METHODS)} methods, and regression with missing outcomes. "
            "The intercept is free."
        )


def _curves_table(name: str, cell: Arrays) -> pd.DataFrame:
    """Average the repeats of one data set, arrays of shape (repeats, methods, sizes)."""
    import pandas as pd

    at = cell["n_unlabeled"]
    error, error_se = mean_and_error(cell["error"])
    loss, loss_se = mean_and_error(cell["loss"])
    supervised = cell["error"][:, [NAMES.index("supervised")]]
    difference, difference_se = mean_and_error(cell["error"] - supervised)
    able = [size <= (method.at_most or size) for method in METHODS.values() for size in at]
    table = {
        "dataset": name,
        "method": np.repeat(NAMES, len(at)),
        "n_unlabeled": np.tile(at, len(NAMES)),
        "error": error.ravel(),
        "error_se": error_se.ravel(),
        "difference": difference.ravel(),
        "difference_se": difference_se.ravel(),
        "loss": loss.ravel(),
        "loss_se": loss_se.ravel(),
        "repeats": len(cell["error"]),
        "failures": np.isnan(cell["error"]).sum(axis=0).ravel(),
        "unfinished": cell["unfinished"].sum(axis=0).ravel(),
    }
    return pd.DataFrame(table)[able]


def _means_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the mean error over the data sets, at the sizes that all of them have.

    A method without an error on one of them has no mean.
    """
    points = summary.groupby(["method", "n_unlabeled"], sort=False)
    found = points.agg(
        error=("error", lambda one: one.mean(skipna=False)),
        error_se=("error_se", lambda one: np.sqrt((one**2).sum(skipna=False)) / len(one)),
        datasets=("dataset", "size"),
    )
    return found[found["datasets"] == summary["dataset"].nunique()].reset_index()


def _standings(cells: Mapping[str, Arrays]) -> dict[str, pd.DataFrame]:
    """Rank the methods and compare them in pairs, at the largest size that all data sets have."""
    at = max(set.intersection(*(set(cell["n_unlabeled"].tolist()) for cell in cells.values())))
    errors = {
        name: cell["error"][:, :, int(np.flatnonzero(cell["n_unlabeled"] == at)[0])]
        for name, cell in cells.items()
    }
    return {**_rank_tables(errors, at), "pairs": _pairs_table(errors)}


def _rank_tables(errors: Mapping[str, Array], at: int) -> dict[str, pd.DataFrame]:
    import pandas as pd

    places = [NAMES.index(method) for method in COMPETITORS]
    means = np.array([mean_and_error(error)[0][places] for error in errors.values()])
    placed = ranks(means)
    table = pd.DataFrame(
        {
            "method": COMPETITORS,
            "mean_rank": placed.mean(axis=0),
            "best_rank": placed.min(axis=0),
            "worst_rank": placed.max(axis=0),
        }
    )
    test = {
        "n_unlabeled": at,
        "datasets": len(errors),
        "methods": len(COMPETITORS),
        **asdict(friedman(means)),
        "critical_difference": critical_difference(len(COMPETITORS), len(errors)),
    }
    return {
        "ranks": table.sort_values("mean_rank", kind="stable", ignore_index=True),
        "friedman": pd.DataFrame([test]),
    }


def _pairs_table(errors: Mapping[str, Array]) -> pd.DataFrame:
    """Count the data sets on which one method is clearly better than another.

    The test is a paired t test over repeats, with Holm's correction for the number of data sets.
    """
    import pandas as pd

    methods = (*COMPETITORS, "oracle")
    places = [NAMES.index(method) for method in methods]
    shown = [error[:, places] for error in errors.values()]
    differences = [error[:, :, None] - error[:, None, :] for error in shown]
    clear = holm(np.array([paired_p(one) for one in differences])) < LEVEL
    means = np.array([mean_and_error(one)[0] for one in differences])
    better, worse = clear & (means < 0.0), clear & (means > 0.0)  # (data sets, methods, methods)
    names = np.array(list(errors))
    rows = [
        {
            "method": methods[i],
            "other": methods[j],
            "better": int(better[:, i, j].sum()),
            "equal": int((~better & ~worse)[:, i, j].sum()),
            "worse": int(worse[:, i, j].sum()),
            "better_on": " ".join(names[better[:, i, j]]),
            "worse_on": " ".join(names[worse[:, i, j]]),
        }
        for i, j in np.argwhere(~np.eye(len(methods), dtype=bool))
    ]
    return pd.DataFrame(rows)


def _missing_outcomes_table(cells: Mapping[str, Arrays]) -> pd.DataFrame:
    """Return how far regression with missing outcomes is from the supervised fit."""
    import pandas as pd

    rows = []
    for name, cell in cells.items():
        for size, gaps in zip(cell["n_unlabeled"], cell["missing_outcomes"].T, strict=True):
            known = gaps[~np.isnan(gaps)]
            rows.append(
                {
                    "dataset": name,
                    "n_unlabeled": int(size),
                    "fits": len(known),
                    "open": len(gaps) - len(known),
                    "largest": known.max() if len(known) else np.nan,
                }
            )
    return pd.DataFrame(rows)


def shown_with(group: str) -> list[str]:
    """Return the methods in the picture of one group of methods."""
    return [name for name, one in METHODS.items() if one.group == group or name in BESIDE]


def _plot_overview(table: Table) -> Picture:
    """Draw the mean error over all data sets, at the sizes that all of them have."""
    means = table.details["means"]
    picture, panels = plotting.facets(3, 3, row_height=3.9, sharey=True)
    for panel, group in zip(panels, (LEAST_SQUARES, DISCRIMINANTS, OTHERS), strict=True):
        for name in shown_with(group):
            curve = means[means["method"] == name].dropna(subset=["error"])
            style = METHODS[name].style
            draw_band(panel, curve["n_unlabeled"], curve["error"], curve["error_se"], style)
        title_panel(panel, group)
        panel.set_xlabel("unlabeled rows")
    log_ticks(panels, means["n_unlabeled"].to_numpy())
    low, high = panels[0].get_ylim()
    mark_round(panels[0].yaxis, low, high)
    panels[0].set_ylabel(f"mean error over {len(table.settings.datasets)} data sets")
    for panel in panels:
        panel.legend(
            loc="upper center", bbox_to_anchor=(0.45, -0.14), fontsize=7.4, handlelength=3.0,
            labelspacing=0.25,
        )  # fmt: skip
    return picture


def _plot_group(table: Table, group: str) -> Picture:
    """Draw the error on each data set, for one group of methods."""
    styles = {name: METHODS[name].style for name in shown_with(group)}
    labels = {name: style.label for name, style in styles.items()}
    shown = fig6.describe_curves(table.settings, "error", labels, styles=styles)
    return draw_curves(table.summary.dropna(subset=["error"]), shown)


def _plot_ranks(table: Table) -> Picture:
    """Draw the mean ranks, and bars beside methods whose ranks do not differ significantly."""
    found = table.details["ranks"]
    test = table.details["friedman"].iloc[0]
    n = len(found)
    picture = plotting.new_picture(height=0.24 * n + 1.2)
    panel = picture.subplots()
    panel.hlines(
        np.arange(n), found["best_rank"], found["worst_rank"], color=LIGHT, linewidth=4.0,
        label="from the best to the worst rank",
    )  # fmt: skip
    for row, (name, rank) in enumerate(zip(found["method"], found["mean_rank"], strict=True)):
        alone = name in LABELS_ALONE
        colour = plotting.method_style("soft").colour if name == "soft" else INK
        panel.plot(
            rank, row, "o", color=colour, markersize=6.0, markeredgewidth=1.3, zorder=3,
            markerfacecolor="white" if alone else colour,
            label="mean rank, labels alone" if alone else "mean rank, with unlabeled rows",
        )  # fmt: skip
        panel.annotate(
            f"{rank:.1f}", (rank, row), (0, 4.5), textcoords="offset points", ha="center",
            fontsize=6.8, color=colour, zorder=4,
        )  # fmt: skip
    runs = indistinguishable_runs(found["mean_rank"].tolist(), float(test["critical_difference"]))
    for place, (first, last) in enumerate(runs):
        panel.plot(
            2 * [n + 0.9 + 0.4 * place], [first - 0.3, last + 0.3], color=INK,
            linewidth=2.6, solid_capstyle="butt", label="not told apart",
        )  # fmt: skip
    _mark_difference(panel, found["mean_rank"].iloc[0], float(test["critical_difference"]), n)
    panel.set_yticks(range(n), [METHODS[name].style.label for name in found["method"]])
    panel.set_ylim(n - 0.4, -1.0)
    panel.set_xlim(0.6, n + 0.8 + 0.4 * len(runs))
    panel.spines["bottom"].set_bounds(0.6, n + 0.4)
    panel.set_xticks(range(1, n + 1, 2))
    panel.set_xlabel(
        f"rank of the error at {test['n_unlabeled']:.0f} unlabeled rows, 1 is the lowest error"
    )
    plotting.legend(picture, [panel], n_columns=2)
    return picture


def _mark_difference(panel: Axes, low: float, difference: float, n: int) -> None:
    """Draw the critical difference as a length above the ranks, if it fits, and its value."""
    height, high = -1.1, low + difference
    words = f"critical difference {difference:.1f}"
    if high > n:
        panel.text(n, height, words, ha="right", va="bottom", fontsize=7.2)
        return
    panel.plot([low, high], [height, height], "|-", color=INK, clip_on=False, linewidth=1)
    panel.text((low + high) / 2, height - 0.2, words, ha="center", va="bottom", fontsize=7.2)


def _plot_pairs(table: Table) -> Picture:
    """Draw on how many data sets each method is clearly better than each other one."""
    from matplotlib.colors import LinearSegmentedColormap

    order = ["oracle", *table.details["ranks"]["method"]]
    pairs = table.details["pairs"].set_index(["method", "other"])
    n, most = len(order), len(table.settings.datasets)
    better, worse = (pairs[side].unstack().loc[order, order].to_numpy() for side in SIDES)
    lead = better - worse
    colours = LinearSegmentedColormap.from_list("pairs", BLUE_IS_BETTER)
    picture = plotting.new_picture(height=6.6)
    panel = picture.subplots()
    drawn = panel.imshow(lead, cmap=colours, vmin=-most, vmax=most, aspect="equal")
    for i, j in np.argwhere(~np.isnan(better)):
        dark = abs(lead[i, j]) > 0.85 * most
        panel.text(
            j, i, f"{better[i, j]:.0f}", ha="center", va="center", fontsize=7.2,
            color="white" if dark else INK,
        )  # fmt: skip
    labels = [METHODS[name].style.label for name in order]
    panel.set_xticks(range(n), labels, rotation=90)
    panel.set_yticks(range(n), labels)
    panel.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    panel.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    panel.grid(which="minor")
    panel.tick_params(which="both", length=0)
    panel.spines[:].set_visible(False)
    panel.set_facecolor(LIGHT)
    panel.set_title(f"on how many of {most} data sets the row is clearly better than the column")
    bar = picture.colorbar(drawn, ax=panel, shrink=0.5, aspect=24, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label("data sets on which the row is better,\nless those on which it is worse")
    return picture


def _name(method: str) -> str:
    return METHODS[method].style.label


def _enough(table: Table, n_sets: int = 2) -> bool:
    """Return whether there are enough repeats and data sets for a verdict."""
    return len(table.settings.datasets) >= n_sets and table.settings.repeats >= ENOUGH_REPEATS


def _ranks_differ(table: Table) -> Finding:
    test = table.details["friedman"].iloc[0]
    k, N = int(test["methods"]), int(test["datasets"])
    tested = bool(np.isfinite(test["p"]))
    return Finding(
        "The methods differ in mean rank",
        bool(test["p"] < LEVEL) if tested and _enough(table) else None,
        f"{k} methods on {N} data sets at {test['n_unlabeled']:.0f} unlabeled rows; Friedman's "
        f"test in the form of Iman and Davenport: F = {test['F']:.1f} with {k - 1} and "
        f"{(k - 1) * (N - 1)} degrees of freedom, p = {test['p']:.1g}"
        if tested
        else "one data set is too few for a test",
    )


def _one_is_ahead(table: Table) -> Finding:
    found, test = table.details["ranks"], table.details["friedman"].iloc[0]
    apart = float(test["critical_difference"])
    near = found[found["mean_rank"] - found["mean_rank"].min() <= apart]
    first, *others = (
        f"{_name(method)} ({rank:.1f})"
        for method, rank in zip(near["method"], near["mean_rank"], strict=True)
    )
    return Finding(
        "One method is ahead of all others in mean rank",
        bool(test["p"] < LEVEL and not others) if _enough(table, ENOUGH_SETS) else None,
        f"the best is {first}; not significantly worse (Nemenyi's test at {percent(LEVEL, 0)}: "
        f"within {apart:.1f}) are {', '.join(others) or 'none'}",
    )


def _common_size(table: Table) -> int:
    return int(table.details["friedman"]["n_unlabeled"].iloc[0])


def _here(table: Table) -> str:
    return f"at {_common_size(table)} unlabeled rows"


def _best_where(table: Table) -> Finding:
    here = table.summary[table.summary["n_unlabeled"] == _common_size(table)]
    here = here[here["method"].isin(COMPETITORS)].dropna(subset=["error"])
    best = here.loc[here.groupby("dataset", sort=False)["error"].idxmin()]
    wins = best.groupby("method", sort=False)["dataset"].agg(list)
    wins = wins.loc[wins.map(len).sort_values(ascending=False, kind="stable").index]
    return Finding(
        "One method has the lowest error on most data sets",
        len(wins.iloc[0]) > len(table.settings.datasets) / 2 if _enough(table) else None,
        f"lowest error {_here(table)}: "
        + "; ".join(f"{_name(m)} on {', '.join(sets)}" for m, sets in wins.items()),
    )


def _pair(table: Table, method: str, other: str) -> pd.Series:
    pairs = table.details["pairs"]
    return pairs[(pairs["method"] == method) & (pairs["other"] == other)].iloc[0]


def _without(table: Table, methods: Iterable[str]) -> dict[str, pd.Series]:
    """Compare methods with the same classifier without the unlabeled rows, if there is one."""
    pairs = ((name, METHODS[name].without) for name in methods)
    return {name: _pair(table, name, other) for name, other in pairs if other is not None}


def _worse_on(pair: pd.Series) -> str:
    """Name the data sets on which the first method of a pair is worse."""
    return ", ".join(str(pair["worse_on"]).split()) if pair["worse"] else "none"


def _score(table: Table, pair: pd.Series) -> str:
    return (
        f"{_here(table)} clearly better on {pair['better']}, worse on {pair['worse']} of "
        f"{len(table.settings.datasets)} data sets (worse: {_worse_on(pair)})"
    )


def _beats(table: Table, method: str, other: str) -> Finding:
    pair = _pair(table, method, other)
    return Finding(
        f"{_name(method).capitalize()} beat {_name(other)} on most data sets",
        bool(pair["better"] > len(table.settings.datasets) / 2) if _enough(table) else None,
        _score(table, pair),
    )


def _nearest_to_the_oracle(table: Table) -> Finding:
    means = table.details["means"]
    last = means[means["n_unlabeled"] == _common_size(table)]
    mean = last.set_index("method")["error"]
    gap = mean["supervised"] - mean["oracle"]
    claim = "Of least squares without a ridge, soft labels come nearest to the oracle"
    errors = (
        f"{_here(table)} the mean error is {mean['supervised']:.3f} supervised, "
        f"{mean['oracle']:.3f} for the oracle"
    )
    if not gap > 0.0:
        return Finding(claim, None, f"{errors}: there is no gap to close")
    closed = {name: (mean["supervised"] - mean[name]) / gap for name in WITHOUT_RIDGE}
    return Finding(
        claim,
        max(closed, key=closed.__getitem__) == "soft" if _enough(table) else None,
        f"{errors}; shares of that gap that are closed: "
        + ", ".join(f"{_name(name)} {percent(share, 0)}" for name, share in closed.items()),
    )


def _never_hurts(table: Table, method: str) -> Finding:
    pair = _without(table, [method])[method]
    return Finding(
        f"A pessimist never hurts: {_name(method)} against {_name(pair['other'])}",
        bool(pair["worse"] == 0) if _enough(table) else None,
        _score(table, pair),
    )


def _optimists_hurt(table: Table) -> Finding:
    pairs = _without(table, OPTIMISTS)
    hurt = any(pair["worse"] for pair in pairs.values())
    return Finding(
        "An optimist can hurt: there are data sets on which it is worse than without the "
        "unlabeled rows",
        True if hurt and _enough(table) else None,
        f"worse {_here(table)}: "
        + "; ".join(f"{_name(name)} on {_worse_on(pair)}" for name, pair in pairs.items()),
    )


def _all_help(table: Table) -> Finding:
    pairs = _without(table, COMPETITORS)
    return Finding(
        "With every method the unlabeled rows help on more data sets than they hurt",
        all(pair["better"] > pair["worse"] for pair in pairs.values()) if _enough(table) else None,
        f"{_here(table)}, help and hurt against the same classifier without them: "
        + ", ".join(
            f"{_name(m)} {pair['better']} and {pair['worse']}" for m, pair in pairs.items()
        ),
        key="all_help",
        numbers={m: (int(pair["better"]), int(pair["worse"])) for m, pair in pairs.items()},
    )


def _against_the_ridge(table: Table) -> Finding:
    learners = [name for name in COMPETITORS if name not in LABELS_ALONE]
    pairs = sorted(
        ((name, _pair(table, name, "ridge")) for name in learners),
        key=lambda one: one[1]["worse"] - one[1]["better"],
    )
    most = len(table.settings.datasets) / 2
    return Finding(
        "Some method that uses the unlabeled rows beats the tuned supervised ridge on most data "
        "sets",
        any(pair["better"] > most for _, pair in pairs) if _enough(table) else None,
        f"{_here(table)}, better and worse than the ridge: "
        + ", ".join(f"{_name(name)} {pair['better']} and {pair['worse']}" for name, pair in pairs),
    )


def _all_labelings(table: Table) -> list[Finding]:
    summary = table.summary
    at = summary["n_unlabeled"][summary["n_unlabeled"] <= MOST_TO_ENUMERATE].max()
    points = {
        method: rows.set_index("dataset")
        for method, rows in summary[summary["n_unlabeled"] == at].groupby("method")
    }
    return [
        compare_errors(
            f"With {at} unlabeled rows, the {_name(best)} has a lower error than {_name(local)}",
            points[best],
            points[local],
        )
        for best, local in (("all_labelings", "hard"), ("all_labelings_lda", "self_learning"))
    ]


def _missing_outcomes(table: Table) -> Finding:
    found = table.details["missing_outcomes"]
    fits, undecided = int(found["fits"].sum()), int(found["open"].sum())
    largest = float(found["largest"].max())
    return Finding(
        "Regression with missing outcomes (Yates) is the supervised fit",
        bool(largest < SAME_FIT) if fits else None,
        (
            f"decision values differ by at most {largest:.0e} of the largest, in {fits:,} fits"
            if fits
            else "no fit can be compared"
        )
        + (f"; in {undecided:,} more, labels do not determine the weights" if undecided else ""),
    )


def _failures(table: Table) -> Finding:
    failed, stopped = (_describe_fits(table, column) for column in ("failures", "unfinished"))
    return Finding(
        "Every fit gives an answer",
        bool((table.summary["failures"] == 0).all()),
        f"of {table.summary['repeats'].sum():,} errors, missing because the fit failed: {failed}; "
        f"from a fit that stopped before it converged: {stopped}",
    )


def _describe_fits(table: Table, column: str) -> str:
    """Describe how many fits of which methods `column` counts, and on which data sets."""
    some = table.summary[table.summary[column] > 0]
    counts = [
        f"{rows[column].sum()} of {_name(str(method))} ({', '.join(rows['dataset'].unique())})"
        for method, rows in some.groupby("method", sort=False)
    ]
    return ", ".join(counts) or "none"


RIVALS = Rivals()
