"""Figures 1 to 4: the published numbers, reproduced on the published data."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear

from semisquares import HardLabelClassifier, SoftLabelClassifier
from semisquares.core.solvers import fit_labeled
from semisquares.paper._store import read_table, write_table
from semisquares.paper.datasets.generators import published_plane
from semisquares.paper.figures.fig1_example import FIG1
from semisquares.paper.figures.fig2_paths import (
    FIG2,
    LABELINGS,
    PUBLISHED_HARD,
    published_descent,
    published_objective,
)
from semisquares.paper.figures.fig3_first_step import (
    FIG3,
    LABELED,
    UNLABELED,
    descend,
    fit,
    half_gradient,
    limits,
)
from semisquares.paper.figures.fig4_failure import FIG4
from semisquares.paper.objectives import J_l, grad_J_l
from semisquares.plotting import render
from support.allowed_warnings import collapse_allowed
from support.reference import reference_table

FIGURES = {figure.name: figure for figure in (FIG1, FIG2, FIG3, FIG4)}
VIEWS = [(name, view) for name, figure in FIGURES.items() for view in figure.views]
FEW = {"fig1": None, "fig2": 10, "fig3": None, "fig4": 20}
EVERY_FIGURE = pytest.mark.parametrize("name", FIGURES)
ENDS = ["end_intercept", "end_slope"]


@pytest.fixture(scope="module")
def results():
    """The cells of every figure, with few repeats."""
    settings = {
        name: figure.settings("quick", repeats=FEW[name]) for name, figure in FIGURES.items()
    }
    return {
        name: {
            cell: figure.compute_cell(settings[name], cell) for cell in figure.cells(settings[name])
        }
        for name, figure in FIGURES.items()
    }


@pytest.fixture(scope="module")
def tables(results):
    return {
        name: figure.tabulate(figure.settings("quick", repeats=FEW[name]), results[name])
        for name, figure in FIGURES.items()
    }


@pytest.fixture(scope="module")
def hard_runs():
    """All 100 published runs with hard labels."""
    settings = FIG2.settings()
    cells = [cell for cell in FIG2.cells(settings) if cell.startswith("hard/")]
    found = [FIG2.compute_cell(settings, cell) for cell in cells if cell != "hard/0-0"]
    return {name: np.concatenate([cell[name] for cell in found]) for name in found[0]}


def published_runs(method):
    return [row for row in reference_table("paper/fig2_runs.csv") if row["method"] == method]


def numbers(rows, *names):
    return np.array([[float(row[name]) for name in names] for row in rows])


def verdicts(name, table):
    return [finding.holds for finding in FIGURES[name].findings(table)]


# every figure


@EVERY_FIGURE
def test_every_column_of_the_summary_is_explained_in_its_order(tables, name):
    assert list(FIGURES[name].columns) == list(tables[name].summary.columns)


@EVERY_FIGURE
def test_every_claim_that_this_table_can_tell_about_holds(tables, name):
    assert False not in verdicts(name, tables[name])
    assert verdicts(name, tables[name]).count(True) >= 1


@EVERY_FIGURE
def test_the_order_of_the_cells_does_not_matter(results, tables, name):
    backwards = dict(reversed(results[name].items()))
    again = FIGURES[name].tabulate(tables[name].settings, backwards)
    assert again.summary.equals(tables[name].summary)
    assert all(again.details[key].equals(frame) for key, frame in tables[name].details.items())


@pytest.mark.parametrize(
    ("name", "cell"), [("fig2", "hard/1-10"), ("fig2", "surface"), ("fig4", "1-20")]
)
def test_a_cell_comes_out_the_same_again(results, tables, name, cell):
    again = FIGURES[name].compute_cell(tables[name].settings, cell)
    for key, array in results[name][cell].items():
        assert_array_equal(again[key], array)


def test_more_repeats_leave_the_first_runs_as_they_were(results):
    again = FIG2.compute_cell(FIG2.settings(repeats=100), "hard/1-10")
    assert_array_equal(again["end_slope"], results["fig2"]["hard/1-10"]["end_slope"])


@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_a_table_from_disk_is_drawn_as_the_one_in_memory(tables, tmp_path, name, view):
    figure = FIGURES[name]
    write_table(tables[name], tmp_path)
    stored = read_table(tmp_path)
    assert render(figure.plot(stored, view), "svg") == render(
        figure.plot(tables[name], view), "svg"
    )


@EVERY_FIGURE
def test_a_table_from_disk_has_the_same_findings(tables, tmp_path, name):
    write_table(tables[name], tmp_path)
    assert FIGURES[name].findings(read_table(tmp_path)) == FIGURES[name].findings(tables[name])


@pytest.mark.parametrize("name", [name for name, one in FIGURES.items() if len(one.views) > 1])
def test_the_first_view_is_drawn_where_none_is_named(tables, name):
    figure = FIGURES[name]
    first = figure.plot(tables[name], next(iter(figure.views)))
    assert render(figure.plot(tables[name]), "svg") == render(first, "svg")


# figure 1


def test_figure_1_is_the_published_data(tables):
    points = reference_table("paper/fig1_data.csv")
    assert_allclose(tables["fig1"].summary[["x"]], numbers(points, "x"), rtol=0, atol=1e-12)


def test_figure_1_shows_every_point_once_and_its_four_labels_large(tables):
    (axes,) = FIG1.plot(tables["fig1"]).axes
    sizes = [np.full(len(line.get_xdata()), line.get_markersize()) for line in axes.lines]
    sizes = np.concatenate(sizes)
    assert len(sizes) == 400
    assert (sizes > 5).sum() == 4


def test_figure_1_moves_no_dot_by_more_than_half_a_stack_and_hides_none(tables):
    (axes,) = FIG1.plot(tables["fig1"]).axes
    shown = np.concatenate([line.get_xydata() for line in axes.lines])
    x = np.sort(tables["fig1"].summary["x"])
    assert np.abs(np.sort(shown[:, 0]) - x).max() <= 0.05
    assert len(np.unique(shown.round(6), axis=0)) == 400


# figure 2


def test_hard_runs_end_where_the_published_ones_do(hard_runs):
    runs = published_runs("hard")
    ends = np.column_stack([hard_runs[name] for name in ENDS])
    expected = numbers(runs, "final_intercept", "final_slope")
    assert_allclose(ends, expected, rtol=0, atol=1e-12)


def test_hard_runs_take_as_many_steps_as_the_published_ones(hard_runs):
    assert_array_equal(hard_runs["steps"], numbers(published_runs("hard"), "iterations")[:, 0])


def test_hard_runs_end_in_four_optima_45_27_18_and_10(hard_runs):
    ends = np.column_stack([hard_runs[name] for name in ENDS])
    distance = np.abs(ends[:, None] - np.array(list(PUBLISHED_HARD))[None]).max(axis=2)
    assert distance.min(axis=1).max() < 1e-4
    assert np.bincount(distance.argmin(axis=1)).tolist() == [45, 27, 18, 10]


@pytest.mark.parametrize("cell", ["soft/1-10", "soft/91-100"])
def test_soft_runs_are_the_published_ones_to_the_last_step(cell):
    found = FIG2.compute_cell(FIG2.settings(), cell)
    runs = [published_runs("soft")[number - 1] for number in found["run"]]
    starts = np.column_stack((found["start_intercept"], found["start_slope"]))
    ends = np.column_stack((found["end_intercept"], found["end_slope"]))
    expected = numbers(runs, "start_intercept", "start_slope", "final_intercept", "final_slope")
    assert_allclose(starts, expected[:, :2], rtol=0, atol=1e-13)
    assert_allclose(ends, expected[:, 2:], rtol=0, atol=1e-13)
    assert_array_equal(found["steps"], numbers(runs, "iterations")[:, 0])


def test_from_the_supervised_weights_soft_labels_take_579_steps():
    assert FIG2.compute_cell(FIG2.settings(), "soft/0-0")["steps"].tolist() == [579]


def test_newton_finds_the_published_soft_optimum_from_every_start():
    settings = FIG2.settings()
    cells = [cell for cell in FIG2.cells(settings) if cell.startswith("exact/")]
    found = [FIG2.compute_cell(settings, cell) for cell in cells]
    ends = np.concatenate([np.column_stack([cell[name] for name in ENDS]) for cell in found])
    assert len(ends) == 101
    assert np.ptp(ends, axis=0).max() < 1e-14
    theirs = numbers(published_runs("soft"), "final_intercept", "final_slope")
    assert_allclose(ends[1:], theirs, rtol=0, atol=1e-9)


def test_paths_begin_at_the_start_and_end_at_the_end(tables):
    table = tables["fig2"]
    paths = table.details["paths"].groupby(["method", "run"])
    runs = table.summary.set_index(["method", "run"]).sort_index()
    assert_array_equal(
        paths[["intercept", "slope"]].first(), runs[["start_intercept", "start_slope"]]
    )
    assert_array_equal(paths[["intercept", "slope"]].last(), runs[ENDS])
    assert_array_equal(paths["step"].last(), runs["steps"])


def test_paths_are_thinned_to_a_small_table(tables):
    assert tables["fig2"].details["paths"].groupby(["method", "run"]).size().max() <= 40


@pytest.mark.parametrize("method", LABELINGS)
def test_J_falls_along_every_path(tables, method):
    line = FIG1.compute_cell(FIG1.settings(), "data")
    objective = published_objective(line["x"][:, None], line["label"], method)
    rows, paths = objective.rows, tables["fig2"].details["paths"]
    for _, path in paths[paths["method"] == method].groupby("run"):
        weights = path[["slope", "intercept"]].to_numpy()[1:]  # the start is not a step
        J = [rows.loss(rows.decisions(w), objective.labeling) for w in weights]
        assert np.diff(J).max(initial=0.0) <= 1e-12


def test_figure_2_counts_the_runs_of_every_optimum(tables):
    table = tables["fig2"]
    panels = FIG2.plot(table).axes
    hard = table.summary.query("method == 'hard' and run > 0")
    counts = [int(text.get_text().split()[0]) for text in panels[3].texts]
    assert counts == hard["optimum"].value_counts().sort_index().tolist()
    assert [text.get_text() for text in panels[2].texts] == ["all 10 runs"]


def test_figure_2_draws_every_path_in_every_panel(tables):
    from matplotlib.collections import LineCollection

    for panel in FIG2.plot(tables["fig2"]).axes:
        bundles = [part for part in panel.collections if type(part) is LineCollection]
        assert sum(len(bundle.get_segments()) for bundle in bundles) == 10


def test_figure_2_says_so_where_the_optima_are_not_the_published_ones(tables):
    table = tables["fig2"]
    moved = table.summary.assign(end_slope=table.summary["end_slope"] + 0.01)
    wrong = replace(table, summary=moved, settings=FIG2.settings())
    soft, _, hard, *_ = FIG2.findings(wrong)
    assert (soft.holds, hard.holds) == (False, False)


# figure 3


def test_the_supervised_line_one_step_and_the_limit_are_the_published_fractions():
    supervised = fit(LABELED)
    (limit,) = limits()
    found = [(line.intercept, line.slope) for line in (supervised, descend(supervised), limit)]
    assert found == [
        (Fraction(1, 2), Fraction(1, 2)),
        (Fraction(23, 67), Fraction(14, 67)),
        (Fraction(8, 19), Fraction(7, 38)),
    ]


def test_the_gradient_at_the_limit_is_exactly_zero_and_elsewhere_not():
    (limit,) = limits()
    assert half_gradient(limit) == (0, 0)
    assert half_gradient(fit(LABELED)) != (0, 0)


def test_the_limit_is_a_fixed_point_that_block_descent_comes_to():
    (limit,) = limits()
    assert descend(limit) == limit
    line = fit(LABELED)
    gaps = []
    for _ in range(12):
        line = descend(line)
        gaps.append(abs(line.intercept - limit.intercept) + abs(line.slope - limit.slope))
    assert all(later < earlier for earlier, later in pairwise(gaps))
    assert gaps[-1] < Fraction(1, 1000)


def test_the_limit_is_what_bounded_least_squares_finds():
    # ‖X_e w − [y; u]‖² over w and u in [0, 1]: one bounded problem in (intercept, slope, u)
    X = np.array([(1, x) for x, _ in LABELED] + [(1, x) for x in UNLABELED], dtype=float)
    A = np.hstack((X, np.vstack((np.zeros((2, 2)), -np.eye(2)))))
    bounds = ([-np.inf, -np.inf, 0, 0], [np.inf, np.inf, 1, 1])
    found = lsq_linear(A, [0, 1, 0, 0], bounds, tol=1e-15).x
    assert_allclose(found, [8 / 19, 7 / 38, 9 / 38, 1], rtol=0, atol=1e-6)


def test_the_table_of_figure_3_agrees_with_the_literal_objective_of_the_paper(tables):
    X, y = [[1, float(x)] for x, _ in LABELED], [float(label) for _, label in LABELED]
    X_u = [[1, float(x)] for x in UNLABELED]
    for _, row in tables["fig3"].summary.iterrows():
        w, u = [row["intercept"], row["slope"]], [row["u_left"], row["u_right"]]
        assert row["J"] == pytest.approx(J_l(w, u, X, y, X_u), abs=1e-14)
        gradient = [
            float(Fraction(row[f"gradient_{name}_exact"])) for name in ("intercept", "slope")
        ]
        assert_allclose(gradient, grad_J_l(w, u, X, y, X_u)[0] / 2, rtol=0, atol=1e-14)


def test_fractions_and_floats_of_figure_3_are_the_same_numbers(tables):
    summary = tables["fig3"].summary
    for name in ("intercept", "slope", "u_left", "u_right", "J", "boundary"):
        assert [float(Fraction(text)) for text in summary[f"{name}_exact"]] == summary[
            name
        ].tolist()


def test_decision_boundaries_of_figure_3_are_where_the_lines_are_one_half(tables):
    assert tables["fig3"].summary["boundary_exact"].tolist() == ["0", "3/4", "3/7"]


def test_figure_3_draws_three_lines_two_circles_and_two_dashed_verticals(tables):
    (axes,) = FIG3.plot(tables["fig3"]).axes
    texts = [text.get_text() for text in axes.texts]
    assert texts == [
        "supervised\n1/2 + 1/2 x",
        "one step\n23/67 + 14/67 x",
        "limit\n8/19 + 7/38 x",
    ]
    circles = [line for line in axes.lines if line.get_marker() == "o"]
    assert [line.get_xydata().tolist() for line in circles] == [[[-1, 0], [1, 1]]]
    verticals = [line.get_xdata()[0] for line in axes.lines if list(line.get_ydata()) == [0, 1]]
    assert verticals[:2] == [-1, 4]


# figure 4


@pytest.mark.parametrize(
    ("theirs", "ours"), [("supervised", "supervised"), ("soft", "soft_published"), ("hard", "hard")]
)
def test_weights_and_error_of_the_example_are_the_published_ones(tables, theirs, ours):
    row = next(row for row in reference_table("paper/fig4_results.csv") if row["method"] == theirs)
    found = tables["fig4"].details["example"].set_index("method").loc[ours]
    expected = [float(row[name]) for name in ("w0", "w1", "w2", "test_error")]
    mine = [float(found[name]) for name in ("intercept", "w1", "w2", "error")]
    assert_allclose(mine, expected, rtol=0, atol=1e-11)


def test_the_hard_run_of_the_example_takes_11_steps_and_the_soft_one_9554(tables):
    steps = tables["fig4"].details["example"].set_index("method")["steps"]
    assert (steps["hard"], steps["soft_published"], steps["soft_block"]) == (11, 1000, 9554)


def test_run_to_its_end_the_soft_error_of_the_example_is_16_percent(tables):
    errors = tables["fig4"].details["example"].set_index("method")["error"]
    assert (errors["soft"], errors["soft_block"]) == (0.16, 0.16)


@pytest.mark.parametrize("seed", [4, 5, 11, 17])
@pytest.mark.parametrize(
    ("method", "classifier"), [("soft", SoftLabelClassifier), ("hard", HardLabelClassifier)]
)
@collapse_allowed
def test_errors_of_a_seed_are_those_of_the_classifiers(tables, seed, method, classifier):
    plane = published_plane(seed)
    model = classifier(alpha=0.0).fit(plane.X, 1 - np.where(plane.y < 0, 2, plane.y))
    error = np.mean(model.predict(plane.X_test) != 1 - plane.y_test)
    summary = tables["fig4"].summary.set_index(["seed", "method"])
    assert summary.loc[(seed, method), "error"] == pytest.approx(error, abs=1e-12)


def test_the_oracle_of_a_seed_is_least_squares_on_all_labels(tables):
    plane = published_plane(5)
    A = np.column_stack((np.ones(1000), plane.X))
    w = np.linalg.lstsq(A, 1.0 - plane.truth)[0]
    row = tables["fig4"].summary.set_index(["seed", "method"]).loc[(5, "oracle")]
    assert_allclose([row["intercept"], row["w1"], row["w2"]], w, rtol=0, atol=1e-12)


def test_seeds_with_labels_of_one_class_are_left_empty_and_counted(tables):
    summary = tables["fig4"].summary
    alone = (summary["labels_0"] == 0) | (summary["labels_1"] == 0)
    assert_array_equal(summary["error"].isna(), alone)
    skipped = [seed for seed in range(1, 21) if len(set(published_plane(seed).y)) < 3]
    assert summary.loc[alone, "seed"].unique().tolist() == skipped != []
    evidence = FIG4.findings(tables["fig4"])[-1].evidence
    assert f"Of {20 - len(skipped)} seeds (without {len(skipped)} that have labels" in evidence


def test_the_example_is_the_row_of_seed_4(tables):
    table = tables["fig4"]
    study = table.summary[table.summary["seed"] == 4].set_index("method")
    example = table.details["example"].set_index("method").loc[study.index]
    assert_array_equal(study[["error", "w1", "w2"]], example[["error", "w1", "w2"]])


def test_the_example_draws_its_boundaries_with_their_errors(tables):
    (axes,) = FIG4.plot(tables["fig4"], "example").axes
    texts = " ".join(text.get_text() for text in axes.get_legend().get_texts())
    for error in ("0.2100", "0.5475", "0.1600", "0.1500"):
        assert error in texts


def test_boundaries_are_drawn_where_the_decision_value_is_one_half(tables):
    (axes,) = FIG4.plot(tables["fig4"], "example").axes
    example = tables["fig4"].details["example"].set_index("method")
    labels = {"supervised": "supervised", "hard": "hard labels", "soft": "soft labels, exact"}
    for method, label in labels.items():
        row = example.loc[method]
        (line,) = [line for line in axes.lines if str(line.get_label()).startswith(label)]
        for x1, x2 in (line.get_xy1(), line.get_xy2()):
            assert row["intercept"] + row["w1"] * x1 + row["w2"] * x2 == pytest.approx(0.5)


def test_the_study_draws_every_seed_and_names_three(tables):
    scatter, _ = FIG4.plot(tables["fig4"], "seeds").axes
    drawn = [len(line.get_xdata()) for line in scatter.lines]
    assert drawn.count(19) == 2
    assert [text.get_text() for text in scatter.texts][:3] == ["seed 4", "seed 5", "seed 11"]


def test_an_unknown_view_is_refused(tables):
    with pytest.raises(ValueError, match="boundary"):
        FIG4.plot(tables["fig4"], "boundary")


def test_a_descent_that_is_cut_short_has_the_first_steps_of_the_whole_one():
    plane = published_plane()
    objective = published_objective(plane.X, plane.y, "soft")
    w = fit_labeled(objective)
    path = []
    published_descent(objective, w, max_iter=30, path=path)
    cut = published_descent(objective, w, max_iter=20)
    assert_array_equal(cut.w, path[19])
