"""The pictures of the experiments on data sets, drawn from small tables made by hand."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from semisquares.paper._store import read_table, write_table
from semisquares.paper.datasets import learning_curve_table
from semisquares.paper.figures import FIGURES, Table
from semisquares.paper.figures._curves import N_COMPONENTS, limits, log_marks, n_components
from semisquares.paper.figures._protocol import ALL
from semisquares.paper.figures._published import learning_curves
from semisquares.paper.figures.fig5_local_optima import spread
from semisquares.paper.figures.ridge import CURVES as CURVES_OF_RIDGE
from semisquares.plotting import method_style, render
from support.pictures import line_of

FIG5, FIG6, RIDGE, FRACTIONS = (FIGURES[name] for name in ("fig5", "fig6", "ridge", "fractions"))
VIEWS = [(figure.name, view) for figure in (FIG5, FIG6, RIDGE, FRACTIONS) for view in figure.views]
SLOW = pytest.mark.slow
SIZES = [
    *((*name_and_view, 1) for name_and_view in VIEWS),
    *((figure.name, next(iter(figure.views)), 3) for figure in (FIG5, FIG6)),
    ("fig6", "error", 16),
    ("fig5", "objective", 16),
    *(pytest.param(*one, 16, marks=SLOW) for one in (("ridge", "error"), ("fig5", "accuracy"))),
    ("fractions", "loss", 5),
]
"""Views and numbers of data sets: enough of both to find layouts that do not fit."""
CURVES = [name_and_view for name_and_view in VIEWS if name_and_view[0] != "fig5"]
EVERY_VIEW = pytest.mark.parametrize(("name", "view"), VIEWS)
EVERY_CURVE = pytest.mark.parametrize(("name", "view"), CURVES)
VIEW_OF = {"fig5": "accuracy", "fig6": "error", "ridge": "error", "fractions": "error"}
METHODS = ("supervised", "soft", "hard", "oracle")
N_LABELED = {  # from the protocol
    "Haberman": 20, "Ionosphere": 35, "Parkinsons": 20, "Diabetes": 20, "Sonar": 48, "SPECT": 26,
    "SPECTF": 42, "Transfusion": 108, "WDBC": 22, "Mammography": 20, "Digit1": 226, "USPS": 188,
    "COIL2": 119, "BCI": 50, "g241c": 240, "g241d": 240,
}  # fmt: skip


def curves(name, datasets, *, preset="authors", repeats=20):
    """Make a table of falling curves, with a different height for each data set and method."""
    x = np.arange(1, 10) / 10 if name == "fractions" else 2 ** np.arange(1, 9)
    rivals = CURVES_OF_RIDGE if name == "ridge" else [(method, "0") for method in METHODS]
    frames = []
    for i, dataset in enumerate(datasets):
        for k, (method, alpha) in enumerate(rivals):
            error = 0.45 - 0.01 * k - 0.02 * i - 0.01 * np.arange(len(x))
            frame = pd.DataFrame({"dataset": dataset, "method": method, "error": error})
            frame["error_se"] = 0.004 + 0.001 * k if repeats > 1 else np.nan
            frame["loss"], frame["loss_se"] = 10 * error**3, 2 * frame["error_se"]
            frame["repeats"] = repeats
            frame = frame.assign(alpha=alpha) if name == "ridge" else frame
            places = {"labeled_share": x, "n_labeled": np.round(166 * x).astype(int)}
            places = places if name == "fractions" else {"n_unlabeled": x}
            frames.append(frame.assign(**places))
    settings = FIGURES[name].settings(preset, datasets=tuple(datasets), repeats=repeats)
    return Table(settings, pd.concat(frames, ignore_index=True))


def optima(datasets, *, preset="authors"):
    """Make a table of Figure 5 with one end of the soft runs and seven of the hard runs."""
    rows, runs = [], []
    run = np.arange(51)
    for i, dataset in enumerate(datasets):
        for method in ("soft", "soft exact", "hard"):
            hard = method == "hard"
            accuracy = 0.5 + 0.02 * i + (0.03 * (run % 7) if hard else 0.0 * run)
            J = 10 + np.cos(run) if hard else np.full(51, 3.0)
            runs.append(
                pd.DataFrame(
                    {"dataset": dataset, "method": method, "run": run, "accuracy": accuracy, "J": J}
                )
            )
            row = {"dataset": dataset, "resample": 1, "method": method}
            row["distinct_accuracies"], row["distinct_labelings"] = (7, 50) if hard else (1, 1)
            row["rank_correlation"] = -0.25 if hard else np.nan
            row["accuracy_supervised_start"] = accuracy[0]
            row["accuracy_supervised"] = 0.6
            rows += [row, {**row, "resample": 2, "distinct_accuracies": 3}]
    settings = FIG5.settings(preset, datasets=tuple(datasets))
    return Table(settings, pd.DataFrame(rows), {"runs": pd.concat(runs, ignore_index=True)})


def table(name, datasets, **settings):
    return optima(datasets, **settings) if name == "fig5" else curves(name, datasets, **settings)


@cache
def drawn(name, view, n):
    """Return a picture of the first n data sets, laid out."""
    picture = FIGURES[name].plot(table(name, ALL[:n]), view)
    picture.draw_without_rendering()
    return picture


def shown(picture):
    """Return the lines of the first panel, and all texts."""
    panel = picture.axes[0]
    lines = [(line.get_label(), line.get_xydata().tolist()) for line in panel.lines]
    return lines, [text.get_text() for text in panel.texts], panel.get_title(loc="right")


# every view


@pytest.mark.parametrize(("name", "view", "n"), SIZES)
def test_each_data_set_has_a_panel(name, view, n):
    assert [panel.get_title(loc="left") for panel in drawn(name, view, n).axes] == list(ALL[:n])


@pytest.mark.parametrize(("name", "view", "n"), SIZES)
def test_nothing_lies_on_anything_else(name, view, n):
    picture = drawn(name, view, n)
    panels = [panel.get_tightbbox() for panel in picture.axes]
    legend = picture.legends[0].get_window_extent()
    assert legend.x0 >= 0
    assert legend.x1 <= picture.bbox.x1
    boxes = [*panels, legend, *(text.get_window_extent() for text in picture.texts)]
    assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]


@pytest.mark.parametrize(
    ("name", "view"),
    [("fig5", "objective"), ("fig6", "error"), pytest.param("ridge", "error", marks=SLOW)],
)
def test_names_and_notes_of_panels_do_not_touch(name, view):
    for panel in drawn(name, view, 16).axes:
        left, right = (
            title.get_window_extent() for title in (panel._left_title, panel._right_title)
        )
        assert not left.overlaps(right)


@pytest.mark.parametrize(("name", "view"), VIEW_OF.items())
def test_the_same_table_gives_the_same_bytes(name, view):
    first, second = (FIGURES[name].plot(table(name, ALL[:1]), view) for _ in range(2))
    assert render(first, "svg") == render(second, "svg")


@EVERY_VIEW
def test_a_table_from_disk_is_drawn_as_the_one_in_memory(tmp_path, name, view):
    made = table(name, ALL[:1])
    write_table(made, tmp_path)
    stored = read_table(tmp_path)
    assert shown(FIGURES[name].plot(stored, view)) == shown(FIGURES[name].plot(made, view))


@pytest.mark.parametrize("name", ["fig5", "fig6", "ridge", "fractions"])
def test_the_first_view_is_drawn_where_none_is_named(name):
    made, figure = table(name, ALL[:1]), FIGURES[name]
    assert shown(figure.plot(made)) == shown(figure.plot(made, VIEW_OF[name]))


@pytest.mark.parametrize("name", ["fig5", "fig6", "ridge", "fractions"])
def test_an_unknown_view_is_refused_in_one_sentence(name):
    views = ", ".join(FIGURES[name].views)
    with pytest.raises(ValueError, match=rf"^There is no view 'x'; use one of {views}\.$"):
        FIGURES[name].plot(table(name, ALL[:1]), "x")


def test_a_named_view_is_chosen():
    error, loss = (FIG6.plot(table("fig6", ALL[:1]), view).axes[0] for view in ("error", "loss"))
    assert (error.get_yscale(), loss.get_yscale()) == ("linear", "log")


# curves


@EVERY_CURVE
def test_means_are_on_their_lines_and_in_sight(name, view):
    made = curves(name, ALL[:2])
    chosen = {"supervised": ("supervised", "0"), "soft labels": ("soft", "0")}
    for dataset, panel in zip(ALL, FIGURES[name].plot(made, view).axes, strict=False):
        for label, (method, alpha) in chosen.items():
            rows = made.summary[made.summary["dataset"] == dataset]
            rows = rows[(rows["method"] == method) & (rows.get("alpha", "0") == alpha)]
            line = line_of(panel, label)
            assert_array_equal(line.get_ydata(), rows[view])
            low, high = panel.get_ylim()
            assert low < rows[view].min()
            assert rows[view].max() < high


@EVERY_CURVE
def test_bands_are_around_the_means(name, view):
    for panel in FIGURES[name].plot(curves(name, ALL[:2]), view).axes:
        ours = [line for line in panel.lines if line.get_marker() != "None"]
        assert len(ours) == len(panel.collections) >= 4
        for line, band in zip(ours, panel.collections, strict=True):
            corners = band.get_paths()[0].vertices
            for x, mean in line.get_xydata():
                ends = corners[corners[:, 0] == x, 1]
                assert ends.min() < mean < ends.max()


def test_bands_of_errors_are_two_standard_errors():
    panel = FIG6.plot(curves("fig6", ["WDBC"]), "error").axes[0]
    for k, band in enumerate(panel.collections):
        corners = band.get_paths()[0].vertices
        height = np.ptp(corners[corners[:, 0] == 16, 1])
        assert_allclose(height, 4 * (0.004 + 0.001 * k))


@EVERY_CURVE
def test_a_single_repeat_has_curves_but_no_bands(name, view):
    picture = FIGURES[name].plot(curves(name, ALL[:1], repeats=1), view)
    picture.draw_without_rendering()
    texts = [text.get_text() for text in picture.legends[0].get_texts()]
    assert "± 2 standard errors" not in texts
    assert "soft labels" in texts


@EVERY_CURVE
def test_the_legend_has_every_curve_once(name, view):
    picture = drawn(name, view, 1)
    texts = [text.get_text() for text in picture.legends[0].get_texts()]
    assert len(set(texts)) == len(texts)
    assert {label for label in picture.axes[0].get_legend_handles_labels()[1]} <= set(texts)
    assert "± 2 standard errors" in texts


def test_an_exploding_loss_is_shown_whole_on_a_logarithmic_axis():
    made = curves("fig6", ["Transfusion"])
    made.summary.loc[7, ["loss", "loss_se"]] = 1e8, 0.9e8
    panel = FIG6.plot(made, "loss").axes[0]
    assert panel.get_yscale() == "log"
    assert panel.get_ylim()[1] > 1e8
    assert all((band.get_paths()[0].vertices[:, 1] > 0).all() for band in panel.collections)


@pytest.mark.parametrize("preset", ["authors", "quick"])
def test_published_curves_lie_behind_ours_on_every_set(preset):
    names = FIG6.datasets[preset]
    known = learning_curves()
    picture = FIG6.plot(curves("fig6", names, preset=preset), "error")
    for name, panel in zip(names, picture.axes, strict=True):
        lines = {tuple(line.get_ydata()): line for line in panel.lines}
        theirs = known[known["dataset"] == name].groupby("method")["error"].agg(tuple)
        assert len(lines) == 8
        assert len(theirs) == 4
        assert set(theirs) <= set(lines)
        for method, error in theirs.items():
            assert lines[error].get_color() == method_style(method).colour
            assert (
                lines[error].get_zorder() < line_of(panel, method_style(method).label).get_zorder()
            )
    assert "published" in [text.get_text() for text in picture.legends[0].get_texts()]


@pytest.mark.parametrize(("view", "preset"), [("loss", "authors"), ("error", "paper")])
def test_no_other_picture_has_published_curves(view, preset):
    picture = FIG6.plot(curves("fig6", ["WDBC"], preset=preset), view)
    assert [len(panel.lines) for panel in picture.axes] == [4]
    assert "published" not in [text.get_text() for text in picture.legends[0].get_texts()]


@pytest.mark.parametrize("name", ["fig6", "ridge"])
def test_panels_are_titled_with_the_number_of_labeled_rows(name):
    picture = FIGURES[name].plot(table(name, ALL), "error")
    notes = [panel.get_title(loc="right") for panel in picture.axes]
    assert notes == [f"L = {N_LABELED[dataset]}" for dataset in ALL]


def test_the_paper_has_fewer_labeled_rows_of_transfusion():
    picture = FIG6.plot(curves("fig6", ["Transfusion"], preset="paper"))
    assert picture.axes[0].get_title(loc="right") == "L = 20"


def test_all_data_sets_have_a_number_of_components():
    assert set(N_COMPONENTS) == set(ALL)


@pytest.mark.parametrize("preset", ["authors", "paper", "quick"])
@pytest.mark.parametrize("name", ["Haberman", "Mammography", "Transfusion"])
def test_the_numbers_of_components_are_those_of_the_tables(name, preset):
    X, _ = learning_curve_table(name, text_columns=preset != "paper")
    assert n_components(name, preset) == X.shape[1]


def test_ticks_are_powers_of_two():
    panel = drawn("fig6", "error", 1).axes[0]
    assert [text.get_text() for text in panel.get_xticklabels()] == [
        "2", "4", "8", "16", "32", "64", "128", "256",
    ]  # fmt: skip


def test_the_ridge_draws_six_rivals():
    made = curves("ridge", ["WDBC"])
    panel = RIDGE.plot(made).axes[0]
    rows = made.summary.groupby(["method", "alpha"])["error"].agg(tuple)
    found = {line.get_label(): tuple(line.get_ydata()) for line in panel.lines}
    assert found == {
        "supervised": rows["supervised", "0"],
        "soft labels": rows["soft", "0"],
        "hard labels from soft": rows["hard_from_soft", "0"],
        "supervised, tuned ridge": rows["ridge", "tuned"],
        "soft labels, λ = 10": rows["soft", "10"],
        "oracle": rows["oracle", "0"],
    }


def test_a_line_stands_where_labels_are_as_many_as_weights():
    # Sonar has 43 components and a constant; Haberman has more labels than that from the start
    haberman, sonar = FRACTIONS.plot(curves("fractions", ["Haberman", "Sonar"])).axes
    label = "as many labels as weights"
    (x, _), _ = line_of(sonar, label).get_xydata()
    assert_allclose(x, 0.2 + 0.1 * (44 - 33) / (50 - 33))
    assert label not in [line.get_label() for line in haberman.lines]


def test_limits_leave_out_what_would_dwarf_the_means():
    low, high = limits(np.array([0.2, 0.3]), np.array([0.15, 40.0]), log=False)
    assert 0.13 < low < 0.15
    assert 0.4 < high < 0.45


def test_limits_of_equal_means_have_some_room():
    low, high = limits(np.array([0.2, 0.2]), np.array([np.nan, np.nan]), log=False)
    assert low < 0.2 < high


@pytest.mark.parametrize("low", [1e-3, 0.15, 0.7, 3.0, 2e4])
@pytest.mark.parametrize("factor", [1.3, 3.0, 20.0, 1e3, 1e9])
def test_a_logarithmic_axis_names_a_few_numbers(low, factor):
    marks = log_marks(low, factor * low)
    assert 2 <= len(marks) <= 8
    assert low <= marks.min() < marks.max() <= factor * low


# figure 5


def test_every_run_is_a_dot_of_its_own():
    panel = FIG5.plot(optima(["WDBC"]), "accuracy").axes[0]
    dots = line_of(panel, "hard labels, random starts").get_xydata()
    assert len(np.unique(dots, axis=0)) == 50
    assert_allclose(np.unique(dots[:, 0]), 0.5 + 0.03 * np.arange(7))


def test_rows_of_methods_do_not_mix():
    panel = FIG5.plot(optima(["WDBC"]), "accuracy").axes[0]
    heights = [line.get_ydata() for line in panel.lines if "random" in str(line.get_label())]
    assert len(heights) == 3
    for height, found in zip((0, -1, -2), heights, strict=True):
        assert np.abs(np.asarray(found) - height).max() < 0.5


def test_equal_runs_are_spread_and_others_stay():
    places = spread(np.array([0.1, 0.2, 0.2, 0.2, 0.3]))
    assert places[0] == places[4] == places[2] == 0.0
    assert places[1] == -places[3] < 0.0


def test_more_equal_runs_make_a_taller_column():
    tall = [np.ptp(spread(np.zeros(n))) for n in (1, 2, 10, 50)]
    assert (np.diff(tall) > 0).all()


def test_supervised_weights_and_starts_are_marked():
    panel = FIG5.plot(optima(["WDBC"]), "accuracy").axes[0]
    assert_allclose(line_of(panel, "supervised weights").get_xdata(), 0.6)
    for line in (line for line in panel.lines if "supervised start" in str(line.get_label())):
        assert_allclose(line.get_xdata(), [0.5])


def test_the_distinct_ends_of_the_first_resample_are_written():
    panel = FIG5.plot(optima(["WDBC"]), "accuracy").axes[0]
    assert [text.get_text() for text in panel.texts] == ["1 | 1", "1 | 1", "7 | 50"]


def test_the_lowest_objective_of_the_random_starts_is_ringed():
    panel = FIG5.plot(optima(["WDBC"]), "objective").axes[0]
    # of the cosines of 1 … 50 that of 22, 7π + 0.009, is the lowest
    ((J, accuracy),) = line_of(panel, "lowest $J_r$ of these").get_xydata()
    assert_allclose((J, accuracy), (10 + np.cos(22), 0.5 + 0.03 * (22 % 7)))


def test_the_objective_is_drawn_beside_the_soft_solution():
    panel = FIG5.plot(optima(["WDBC"]), "objective").axes[0]
    assert_allclose(line_of(panel, "soft solution").get_ydata(), 0.5)
    assert_allclose(line_of(panel, "supervised weights").get_ydata(), 0.6)
    assert_allclose(line_of(panel, "hard labels, supervised start").get_xydata(), [[11.0, 0.5]])
    assert len(line_of(panel, "hard labels, random starts").get_xdata()) == 50
    assert panel.get_title(loc="right") == "ρ −0.25"


def test_without_a_rank_correlation_none_is_written():
    made = optima(["WDBC"])
    made = replace(made, summary=made.summary.assign(rank_correlation=np.nan))
    assert FIG5.plot(made, "objective").axes[0].get_title(loc="right") == ""
