"""Figure 6 and experiments beyond it: draws, measures, tables, and the published numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import RidgeClassifierCV

from semisquares.paper.figures import FIGURES, Settings, Table
from semisquares.paper.figures import _published as published
from semisquares.paper.figures import fig6_learning_curves as fig6
from semisquares.paper.figures._nested import METHODS, Draw
from semisquares.paper.figures._protocol import ALL, OFFLINE, labeled_first
from semisquares.paper.figures.fractions_of_labels import SHARES
from semisquares.paper.figures.ridge import tuned_ridge
from support.reference import reference_table

FIG6, RIDGE, FRACTIONS = (FIGURES[name] for name in ("fig6", "ridge", "fractions"))

# rows, components, labeled rows and the largest number of unlabeled rows, from the protocol
PROTOCOL = {
    "Haberman": (306, 3, 20, 256),
    "Ionosphere": (351, 30, 35, 256),
    "Parkinsons": (195, 12, 20, 128),
    "Diabetes": (768, 8, 20, 512),
    "Sonar": (208, 43, 48, 128),
    "SPECT": (267, 21, 26, 128),
    "SPECTF": (267, 37, 42, 128),
    "Transfusion": (748, 103, 108, 512),
    "WDBC": (569, 17, 22, 512),
    "Mammography": (961, 9, 20, 512),
    "Digit1": (1500, 221, 226, 1024),
    "USPS": (1500, 183, 188, 1024),
    "COIL2": (1500, 114, 119, 1024),
    "BCI": (400, 45, 50, 256),
    "g241c": (1500, 235, 240, 1024),
    "g241d": (1500, 235, 240, 1024),
}


def settings(figure=FIG6, preset="authors", **options):
    return figure.settings(preset, **options)


# -- draws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_labels_and_sizes_are_the_protocols(name):
    n_rows, n_components, n_labeled, largest = PROTOCOL[name]
    assert fig6.n_labeled(n_components) == n_labeled
    sizes = fig6.sizes(settings(), n_rows, n_labeled)
    assert sizes[0] == 2
    assert sizes[-1] == largest


def test_the_text_of_the_paper_has_sizes_from_1_to_256():
    assert fig6.sizes(settings(preset="paper"), 1500, 200) == (1, 2, 4, 8, 16, 32, 64, 128, 256)


@pytest.mark.parametrize("seed", range(20))
def test_both_classes_are_among_the_labeled_rows_and_no_row_is_lost(seed):
    y = (np.arange(50) < 3).astype(float)
    order = labeled_first(y, np.random.default_rng(seed))
    assert_array_equal(np.sort(order), np.arange(50))
    assert set(y[order[:2]]) == {0.0, 1.0}


def test_a_repeat_depends_on_seed_data_set_and_number_alone():
    one, other = settings(datasets=("WDBC",), repeats=3), settings(repeats=900)
    assert_array_equal(fig6.draw_repeat(one, "WDBC", 2).y, fig6.draw_repeat(other, "WDBC", 2).y)
    assert_array_equal(fig6.draw_repeat(one, "WDBC", 2).X, fig6.draw_repeat(other, "WDBC", 2).X)
    assert (fig6.draw_repeat(one, "WDBC", 1).y != fig6.draw_repeat(one, "WDBC", 2).y).any()
    reseeded = settings(seed=2, repeats=3)
    assert (fig6.draw_repeat(reseeded, "WDBC", 2).y != fig6.draw_repeat(one, "WDBC", 2).y).any()


def test_the_authors_count_the_constant_and_read_transfusion_as_text():
    authors = fig6.draw_repeat(settings(), "Transfusion", 0)
    paper = fig6.draw_repeat(settings(preset="paper"), "Transfusion", 0)
    assert (authors.X.shape[1], authors.n_labeled, authors.free_intercept) == (104, 108, False)
    assert (paper.X.shape[1], paper.n_labeled, paper.free_intercept) == (4, 20, True)


# -- measures --------------------------------------------------------------------------------------


def test_the_test_rows_are_those_after_the_unlabeled_ones():
    X = np.column_stack((np.array([0.0, 1.0, 0.1, 0.9, 0.2, 0.6, 0.8]), np.ones(7)))
    drawn = Draw(X, np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]), n_labeled=2)
    weights = np.array([[[1.0, 0.0], [1.0, 0.0]], [[-1.0, 1.0], [0.0, 0.0]]])
    _, error, loss = fig6.measure(drawn, weights, (1, 3)).values()
    assert_allclose(error, [[2 / 4, 1 / 2], [2 / 4, 1 / 2]])
    assert_allclose(loss[0], [np.mean([0.01, 0.64, 0.36, 0.04]), np.mean([0.36, 0.04])])
    assert_allclose(loss[1], [np.mean([0.81, 0.04, 0.16, 0.64]), 0.5])


# -- tables ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    return FIG6.compute(settings(datasets=("WDBC", "Sonar"), repeats=25))


def test_the_summary_has_the_promised_columns(small):
    assert list(small.summary.columns) == [
        "dataset", "method", "n_unlabeled", "error", "error_se", "loss", "loss_se", "repeats",
    ]  # fmt: skip
    assert list(small.summary.columns) == list(FIG6.columns)
    assert len(small.summary) == 4 * (9 + 7)


def test_means_and_standard_errors_are_over_all_repeats(small):
    chosen = settings(datasets=("WDBC",), repeats=25)
    repeats = np.concatenate(
        [FIG6.compute_cell(chosen, cell)["error"] for cell in ("WDBC/0-19", "WDBC/20-24")]
    )
    rows = small.summary.query("dataset == 'WDBC' and method == 'soft'")
    curve = repeats[:, METHODS.index("soft")]
    assert_allclose(rows["error"], curve.mean(axis=0))
    assert_allclose(rows["error_se"], curve.std(axis=0, ddof=1) / 5)


def test_the_order_of_cells_changes_no_number(small):
    chosen = small.settings
    cells = FIG6.cells(chosen)
    results = {cell: FIG6.compute_cell(chosen, cell) for cell in reversed(cells)}
    pd.testing.assert_frame_equal(FIG6.tabulate(chosen, results).summary, small.summary)


def test_a_single_repeat_has_no_standard_error():
    table = FIG6.compute(settings(datasets=("Haberman",), repeats=1))
    assert table.summary["error_se"].isna().all()
    assert table.summary["error"].notna().all()
    assert FIG6.findings(table)


def test_quick_needs_no_download_and_no_other_package():
    assert set(settings(preset="quick").datasets) == set(OFFLINE)
    assert len(OFFLINE) == 8


# -- the published numbers -------------------------------------------------------------------------


def test_the_bundled_curves_are_those_of_the_reference_file():
    known = reference_table("paper/fig6_learning_curves.csv")
    ours = published.learning_curves()
    assert list(ours["dataset"]) == [row["dataset"] for row in known]
    assert list(ours["method"]) == [row["method"].lower() for row in known]
    assert list(ours["n_unlabeled"]) == [int(row["U"]) for row in known]
    assert list(ours["error"]) == [float(row["error"]) for row in known]


@pytest.mark.parametrize("name", ALL)
def test_every_point_that_is_computed_has_a_published_one(name):
    n_rows, _, n_labeled, _ = PROTOCOL[name]
    curves = published.learning_curves().query("dataset == @name").groupby("method")["n_unlabeled"]
    sizes = fig6.sizes(settings(), n_rows, n_labeled)
    assert dict(curves.agg(tuple)) == dict.fromkeys(METHODS, sizes)


@pytest.mark.parametrize(
    ("better", "worse", "lost"),
    [
        ("soft", "hard", ["Haberman"]),
        ("soft", "supervised", ["Haberman"]),
        ("hard", "supervised", ["Diabetes"]),
    ],
)
def test_the_exceptions_that_claims_name_are_those_of_the_published_curves(better, worse, lost):
    curves = published.learning_curves()
    largest = curves.groupby("dataset")["n_unlabeled"].transform("max")
    last = curves[curves["n_unlabeled"] == largest].pivot(
        index="dataset", columns="method", values="error"
    )
    assert list(last.index[last[better] >= last[worse]]) == lost


def test_z_is_the_difference_in_units_of_both_standard_errors():
    summary = pd.DataFrame(
        {
            "dataset": "WDBC",
            "method": "soft",
            "n_unlabeled": [2, 4],
            "error": [0.215750 + 0.01, 0.203752 - 0.02],
            "error_se": [0.01, 0.02],
            "repeats": 250,
        }
    )
    found = fig6.z_scores(summary)
    assert_allclose(found["difference"], [0.01, -0.02], atol=1e-9)
    assert_allclose(found["z"], [0.01 / np.hypot(0.01, 0.005), -0.02 / np.hypot(0.02, 0.01)])


@pytest.mark.parametrize(
    ("names", "n_sizes"),
    [
        (("Haberman", "Sonar"), 8 + 7),
        pytest.param(("Mammography", "SPECTF", "WDBC"), 9 + 7 + 9, marks=pytest.mark.slow),
    ],
)
def test_errors_agree_with_the_published_ones(names, n_sizes):
    held = FIG6.compute(settings(datasets=names, repeats=100)).details["agreement"]
    assert len(held) == 4 * n_sizes
    assert held["z"].abs().max() < 4.0
    assert held["z"].abs().mean() < 1.2


def test_equal_repeats_have_no_z_and_no_verdict():
    table = FIG6.compute(settings(datasets=("Sonar",), repeats=2))
    assert np.isfinite(table.details["agreement"]["z"].dropna()).all()
    assert {finding.holds for finding in FIG6.findings(table)[:2]} == {None}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "fast"}, "No preset is called 'fast'; use one of authors, paper, quick"),
        ({"datasets": ("WDBC", "Sonnar")}, "no such data sets in preset quick: WDBC, Sonnar"),
        ({"datasets": ("Diabetes",)}, "no such data sets in preset quick: Diabetes; use some of"),
        ({"datasets": ()}, "none given"),
        ({"repeats": 0}, "repeats=0; give a whole number of at least 1"),
        ({"repeats": 2.5}, "repeats=2.5"),
        ({"seed": -1}, "seed=-1; give a whole number of at least 0"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        settings(**{"preset": "quick", **options})


def test_names_of_data_sets_may_be_in_any_case():
    assert settings(datasets=("wdbc", " SONAR ")).datasets == ("Sonar", "WDBC")


def test_what_cannot_be_repeated_has_one_repeat():
    assert FIGURES["fig3"].settings("authors", repeats=7).repeats == 1


def test_findings_tell_what_differs():
    def table(hard_error, repeats=1000):
        rows = [
            (name, method, n, error, 0.001, 0.1, 0.001, repeats)
            for name in ("Sonar", "WDBC")
            for n in (2, 4)
            for method, error in zip(METHODS, (0.4, 0.3, hard_error[n], 0.1), strict=True)
        ]
        summary = pd.DataFrame(rows, columns=list(FIG6.columns))
        return Table(Settings("fig6", "paper", repeats, ("Sonar", "WDBC")), summary)

    better, supervised, hard, falls = FIG6.findings(table({2: 0.35, 4: 0.36}))
    assert [f.holds for f in (better, supervised, hard, falls)] == [True, True, True, True]
    worse = FIG6.findings(table({2: 0.25, 4: 0.25}))
    assert [f.holds for f in worse] == [False, True, True, None]
    assert "Sonar" in worse[0].evidence
    close = FIG6.findings(table({2: 0.2999, 4: 0.2999}))
    assert close[0].holds is None
    few = FIG6.findings(table({2: 0.35, 4: 0.36}, repeats=5))
    assert [f.holds for f in few[:3]] == [None, None, None]


# -- beyond ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Haberman", "SPECT", "WDBC"])
@pytest.mark.parametrize("repeat", range(5))
def test_the_tuned_ridge_decides_as_scikit_learn_does(name, repeat):
    drawn = fig6.draw_repeat(settings(RIDGE), name, repeat)
    L = drawn.n_labeled
    model = RidgeClassifierCV(alphas=10.0 ** np.arange(-3, 4.01, 0.5))
    model.fit(drawn.X[:L, :-1], drawn.y[:L])
    decisions = 2.0 * drawn.X @ tuned_ridge(drawn) - 1.0
    assert_allclose(decisions, model.decision_function(drawn.X[:, :-1]), atol=1e-9)


def test_the_ridge_table_has_a_curve_for_every_rival():
    table = RIDGE.compute(settings(RIDGE, datasets=("Haberman",), repeats=2))
    assert list(table.summary.columns) == list(RIDGE.columns)
    curves = table.summary.groupby(["method", "alpha"]).size()
    assert (curves == 8).all()
    assert len(curves) == 3 * 4 + 2
    tuned = table.summary.query("method == 'ridge'")
    assert set(tuned["alpha"]) == {"tuned"}
    assert len(RIDGE.findings(table)) == 5


def test_without_a_ridge_the_ridge_table_starts_from_the_same_draws():
    table = RIDGE.compute(settings(RIDGE, datasets=("Haberman",), repeats=5))
    plain = table.summary.query("method == 'supervised' and alpha == '0'")["error"]
    heavy = table.summary.query("method == 'supervised' and alpha == '10'")["error"]
    assert (plain.to_numpy() != heavy.to_numpy()).any()


def test_fractions_have_a_row_for_every_share_and_method():
    table = FRACTIONS.compute(settings(FRACTIONS, datasets=("Sonar",), repeats=3))
    assert list(table.summary.columns) == list(FRACTIONS.columns)
    assert len(table.summary) == len(SHARES) * len(METHODS)
    one = table.summary.query("method == 'oracle'")
    assert one["error"].nunique() == 1  # it has all labels, whatever their share
    assert list(one["n_labeled"]) == [round(0.1 * k * 166) for k in range(1, 10)]
    assert len(FRACTIONS.findings(table)) == 2
