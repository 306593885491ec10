"""Figure 5: descents from random labelings, the exact solution, and the published counts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr

from semisquares.core.labelings import HardLabels, SoftLabels
from semisquares.paper.figures import FIGURES
from semisquares.paper.figures import _published as published
from semisquares.paper.figures._protocol import raw_table, with_constant
from semisquares.paper.figures.fig5_local_optima import (
    LABEL_TOL,
    MAX_STEPS,
    METHODS,
    N_STARTS,
    draw_resample,
    number_distinct,
    principal_axes,
    rank_correlation,
    run,
    solve,
)

FIG5 = FIGURES["fig5"]


def drawn(name="Sonar", number=1, preset="authors"):
    return draw_resample(FIG5.settings(preset), name, number)


@pytest.mark.parametrize(
    ("preset", "counts"), [("authors", (29, 117, 62)), ("paper", (33, 133, 42))]
)
def test_rows_are_split_as_the_scripts_or_the_text_say(preset, counts):
    found = drawn(preset=preset)
    assert (len(found.labeled), len(found.unlabeled), len(found.test)) == counts


def test_principal_axes_keep_distances_and_span_the_rows():
    rows = np.random.default_rng(0).normal(size=(30, 4)) @ np.ones((4, 1)) * np.arange(1.0, 6.0)
    rows[:, 1] = np.linspace(0, 1, 30)
    axes = principal_axes(rows)
    assert axes.shape == (5, 2)
    assert_allclose(axes.T @ axes, np.eye(2), atol=1e-12)
    assert_allclose(rows @ axes @ axes.T, rows, atol=1e-12)


@pytest.mark.parametrize("labeling", [SoftLabels(), HardLabels()])
def test_a_descent_is_that_of_least_squares_on_the_raw_features(labeling):
    """Every step fits all rows with their labels, whatever the axes and the batches."""
    settings = FIG5.settings("authors")
    X, y = raw_table("Mammography")
    found = drawn("Mammography")
    order = settings.generator("Mammography", 1).permutation(len(y))
    A = with_constant(X)[order[: len(found.labeled) + len(found.unlabeled)]]
    labels = np.random.default_rng(0).uniform(size=(len(found.unlabeled), 3))
    ends = run(found, labels, labeling, max_steps=4)
    for k in range(3):
        u = labels[:, k]
        for _ in range(ends.steps[k]):
            w = np.linalg.lstsq(A, np.append(found.y, u))[0]
            z = A[len(found.y) :] @ w
            u = labeling.impute(z)
        assert_allclose(found.unlabeled @ ends.weights[:, k], z, atol=1e-8)


def test_runs_end_by_the_authors_rule_or_are_said_to_be_stopped():
    found = drawn("Mammography")
    labels = np.random.default_rng(1).uniform(size=(len(found.unlabeled), 5))
    ends = run(found, labels, SoftLabels())
    assert ends.ended.all()
    assert (ends.steps < MAX_STEPS).all()
    imputed = np.clip(found.unlabeled @ ends.weights, 0, 1)
    again = run(found, imputed, SoftLabels(), max_steps=1).weights
    moved = np.abs(np.clip(found.unlabeled @ again, 0, 1) - imputed).sum(axis=0)
    assert (moved <= LABEL_TOL).all()
    early = run(found, labels, SoftLabels(), max_steps=3)
    assert not early.ended.any()
    assert_array_equal(early.steps, 3)


@pytest.mark.parametrize("name", ["Haberman", "Mammography", "SPECT", "Transfusion"])
def test_where_block_descent_ends_the_exact_solution_is_the_same(name):
    found = drawn(name)
    labels = np.random.default_rng(2).uniform(size=(len(found.unlabeled), 4))
    descended = run(found, labels, SoftLabels())
    exact = solve(found, np.zeros_like(descended.weights))
    assert descended.ended.all()
    labels = [np.clip(found.unlabeled @ ends.weights, 0, 1) for ends in (descended, exact)]
    assert_allclose(labels[0], labels[1], atol=1e-6)


def test_exact_solutions_from_any_start_are_one_even_where_labels_are_fewer_than_features():
    found = drawn("Sonar")
    assert found.labeled.shape[0] < found.labeled.shape[1]
    starts = np.random.default_rng(3).normal(size=(found.labeled.shape[1], 10))
    weights = solve(found, starts).weights
    assert_allclose(weights, weights[:, :1].repeat(10, axis=1), atol=1e-9)


def test_distinct_points_are_numbered_in_order():
    points = np.array([[0.0, 1.0], [0.5, 0.5], [1e-8, 1.0], [0.5, 0.5 + 1e-3]])
    assert_array_equal(number_distinct(points, 1e-6), [0, 1, 0, 2])


def test_rounding_of_J_does_not_decide_ranks():
    rng = np.random.default_rng(0)
    J, accuracy = rng.integers(1, 5, size=50).astype(float), rng.integers(3, size=50) / 3.0
    expected = spearmanr(J, accuracy).statistic
    rounded = J * (1.0 + 1e-14 * rng.standard_normal(50))
    assert abs(spearmanr(rounded, accuracy).statistic - expected) > 1e-3
    value = number_distinct(rounded[:, None], 1e-6)
    assert_allclose(rank_correlation(rounded, value, accuracy), expected, atol=1e-12)
    assert np.isnan(rank_correlation(1.0 + 1e-14 * rounded, np.zeros(50), accuracy))


@pytest.fixture(scope="module")
def table():
    return FIG5.compute(FIG5.settings("authors", datasets=("Ionosphere", "Mammography"), repeats=6))


def test_a_row_sums_up_its_runs(table):
    assert list(table.summary.columns) == list(FIG5.columns)
    assert len(table.summary) == 2 * 6 * len(METHODS)
    runs = table.details["runs"].query("dataset == 'Ionosphere' and method == 'hard' and run > 0")
    row = table.summary.query("dataset == 'Ionosphere' and method == 'hard'").iloc[0]
    assert len(runs) == N_STARTS
    assert row["distinct_accuracies"] == runs["accuracy"].nunique()
    assert row["accuracy_lowest_J"] == runs.loc[runs["J"].idxmin(), "accuracy"]
    assert row["distinct_labelings"] >= row["distinct_accuracies"]


def test_soft_has_one_optimum_and_hard_has_many(table):
    exact = table.summary.query("method == 'soft exact'")
    assert (exact["distinct_labelings"] == 1).all()
    assert (table.summary.query("method == 'hard'")["distinct_labelings"] > 3).all()
    assert FIG5.findings(table)[0].holds is True


@pytest.mark.parametrize("name", ["Ionosphere", "Mammography"])
def test_accuracies_and_counts_agree_with_the_published_ones(name, table):
    ours = table.summary.query("dataset == @name and method == 'hard'")
    known = published.local_optima().query("dataset == @name and method == 'hard'")
    for our, their in {
        "accuracy_supervised": "accuracy_supervised",
        "accuracy_supervised_start": "accuracy_supervised_start",
        "accuracy_mean": "mean",
        "distinct_accuracies": "distinct_accuracies",
    }.items():
        spread = np.hypot(ours[our].sem(), known[their].sem())
        assert abs(ours[our].mean() - known[their].mean()) < 4.0 * spread


def test_the_published_counts_are_those_of_the_figure():
    known = published.local_optima()
    first = known[known["resample"] == 1].groupby("method")["distinct_accuracies"].sum()
    assert dict(first) == {"hard": 290, "soft": 20}
