"""The learning curves of all methods: fits, tables, tests over data sets, findings and pictures."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import sklearn.semi_supervised
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from semisquares import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    baselines,
)
from semisquares.baselines import EMDiscriminantClassifier, OracleClassifier
from semisquares.experiments import FIGURES
from semisquares.experiments import fig6_learning_curves as fig6
from semisquares.experiments.protocol import ALL, AT_HAND, blocks
from semisquares.experiments.ranking import (
    critical_difference,
    friedman,
    holm,
    not_told_apart,
    paired_p,
    ranks,
)
from semisquares.experiments.ridge import RIVALS as CURVES_OF_RIDGE
from semisquares.experiments.rivals import REPEATS_PER_CELL
from semisquares.experiments.rivals_drawing import shown_with
from semisquares.experiments.rivals_methods import (
    COMPETITORS,
    LABELS_ALONE,
    METHODS,
    measure,
    missing_outcomes,
)
from semisquares.experiments.store import read_table, write_table
from semisquares.plotting import render

RIVALS, RIDGE, FIG6 = (FIGURES[name] for name in ("rivals", "ridge", "fig6"))
NAMES = list(METHODS)
SOME = ALL[:6]
AT = (2, 8, 32)


def drawn(name="WDBC", repeat=0):
    return replace(fig6.draw(FIG6.settings("authors"), name, repeat), as_authors=False)


def made(errors, *, datasets=SOME, repeats=40, sizes=AT, noise=0.01, change=lambda cells: cells):
    """Make a table whose methods have given errors, 0.3 for those not named."""
    rng = np.random.default_rng(0)
    settings = RIVALS.settings("authors", datasets=tuple(datasets), repeats=repeats)
    able = [[size <= (one.at_most or size) for size in sizes] for one in METHODS.values()]
    mean = np.array([errors.get(name, 0.3) for name in NAMES])
    cells = {}
    for cell in RIVALS.cells(settings):
        first, last = map(int, cell.split("/")[1].split("-"))
        shape = (last - first + 1, len(NAMES), len(sizes))
        error = mean[:, None] + noise * rng.standard_normal(shape)
        cells[cell] = {
            "n_unlabeled": np.array(sizes),
            "error": np.where(able, error, np.nan),
            "loss": np.where(able, error**2, np.nan),
            "unfinished": np.zeros(shape, dtype=bool),
            "missing_outcomes": np.full((shape[0], len(sizes)), 1e-12),
        }
    return RIVALS.tabulate(settings, change(cells))


def finding(table, words):
    (found,) = [one for one in RIVALS.findings(table) if words in one.claim]
    return found


# -- tests over data sets --------------------------------------------------------------------------

# Demšar (2006), Table 5a: k = 2 … 10
QUANTILES = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}


@pytest.mark.parametrize("level", QUANTILES)
def test_critical_differences_are_those_of_demsars_table(level):
    for k, q in enumerate(QUANTILES[level], start=2):
        expected = q * np.sqrt(k * (k + 1) / (6 * 30))
        assert_allclose(critical_difference(k, 30, level=level), expected, rtol=4e-4)


@pytest.mark.parametrize("seed", range(5))
def test_friedmans_test_is_scipys_with_ties_too(seed):
    errors = np.random.default_rng(seed).integers(6, size=(9, 5)) / 10
    assert_allclose(friedman(errors).chi_square, stats.friedmanchisquare(*errors.T).statistic)


@pytest.mark.parametrize("seed", range(3))
def test_iman_and_davenports_f_is_that_of_an_analysis_of_variance_of_ranks(seed):
    placed = ranks(np.random.default_rng(seed).random((8, 4)))
    between = 8 * ((placed.mean(axis=0) - 2.5) ** 2).sum() / 3
    left = ((placed - placed.mean(axis=0)) ** 2).sum() / (3 * 7)
    found = friedman(placed)
    assert_allclose(found.F, between / left)
    assert_allclose(found.p, stats.f.sf(between / left, 3, 21))


def test_methods_that_never_differ_have_equal_ranks():
    assert friedman(np.full((5, 4), 0.2)).p == 1.0


def test_methods_in_the_same_order_everywhere_differ_for_sure():
    found = friedman(np.tile([0.1, 0.2, 0.3], (5, 1)))
    assert (found.chi_square, found.F, found.p) == (10.0, np.inf, 0.0)


@pytest.mark.parametrize("shape", [(1, 5), (5, 2)])
def test_too_little_to_rank_is_not_tested(shape):
    assert np.isnan(friedman(np.random.default_rng(0).random(shape)).p)


def test_holm_multiplies_step_by_step():
    # 4 × 0.005, 3 × 0.01, 2 × 0.03, and 0.04 which is no smaller than the one before it
    assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])


def test_holm_takes_what_cannot_be_told_for_one():
    assert_allclose(holm(np.array([0.01, np.nan])), [0.02, 1.0])


def test_the_paired_test_is_students():
    a, b = np.random.default_rng(0).random((2, 12))
    assert_allclose(paired_p(a - b), stats.ttest_rel(a, b).pvalue)
    assert_allclose(paired_p(np.append(a - b, np.nan)), stats.ttest_rel(a, b).pvalue)


@pytest.mark.parametrize(("differences", "p"), [([0.2] * 4, 0.0), ([0.0] * 4, 1.0)])
def test_differences_that_do_not_vary_are_sure(differences, p):
    assert paired_p(np.array(differences)) == p


def test_one_difference_tells_nothing():
    assert np.isnan(paired_p(np.array([0.3, np.nan])))


def test_runs_that_are_part_of_others_are_left_out():
    assert not_told_apart([1.0, 2.0, 2.5, 3.1, 9.0], 1.5) == [(0, 2), (1, 3)]


# -- methods ---------------------------------------------------------------------------------------


def test_every_method_of_the_baselines_is_there():
    classes = {type(one.make()).__name__ for one in METHODS.values() if one.make}
    # the first is Figure 6's own oracle, and the second has a finding instead of a curve
    assert set(baselines.__all__) - classes == {"OracleClassifier", "MissingOutcomeRegressor"}


def test_every_semi_supervised_classifier_of_scikit_learn_is_there():
    models = [one.make() for one in METHODS.values() if one.make]
    wrapped = {
        type(model.estimator).__name__
        for model in models
        if isinstance(model, baselines.SemiSupervisedAdapter)
    }
    assert wrapped == set(sklearn.semi_supervised.__all__)


@pytest.fixture(scope="module")
def measured():
    return measure(drawn(), AT)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("supervised", LeastSquaresClassifier(0.0)),
        ("soft", SoftLabelClassifier(alpha=0.0)),
        ("hard", HardLabelClassifier(alpha=0.0)),
        ("em", EMDiscriminantClassifier()),
    ],
)
def test_errors_are_those_of_the_estimators_on_the_rows_after(measured, name, model):
    one = drawn()
    for k, size in enumerate(AT):
        n = one.n_labeled + size
        y = np.where(np.arange(n) < one.n_labeled, one.y[:n], -1)
        model.fit(one.X[:n, :-1], y)
        error = 1 - model.score(one.X[n:, :-1], one.y[n:])
        assert_allclose(measured["error"][NAMES.index(name), k], error)


def test_the_oracle_is_that_of_the_baselines(measured):
    one = drawn()
    n = one.n_labeled + AT[-1]
    model = OracleClassifier(LeastSquaresClassifier(0.0), one.y[:n]).fit(one.X[:n, :-1], one.y[:n])
    error = 1 - model.score(one.X[n:, :-1], one.y[n:])
    assert_allclose(measured["error"][NAMES.index("oracle"), -1], error)


def test_the_loss_of_probabilities_is_their_squared_distance_to_the_truth(measured):
    one = drawn()
    L, n = one.n_labeled, one.n_labeled + AT[-1]
    p = EMDiscriminantClassifier().fit(one.X[:L, :-1], one.y[:L]).predict_proba(one.X[n:, :-1])
    expected = np.mean((p[:, 1] - one.y[n:]) ** 2)
    assert_allclose(measured["loss"][NAMES.index("lda"), -1], expected)


def test_methods_that_give_sides_alone_have_no_loss(measured):
    without = np.flatnonzero(np.isnan(measured["loss"][:, 0]))
    assert [NAMES[k] for k in without] == ["svm", "transductive_svm"]


def test_all_labelings_are_looked_at_up_to_eight_rows(measured):
    short = np.flatnonzero(np.isnan(measured["error"][:, 2]))
    assert [NAMES[k] for k in short] == ["all_labelings", "all_labelings_lda"]
    assert np.isfinite(measured["error"][:, :2]).all()


class Refuses:
    """Fails as a fit may that cannot do with its data."""

    def fit(self, X, y):
        raise ValueError("singular")


class Hurries(EMDiscriminantClassifier):
    def fit(self, X, y):
        warnings.warn("not there yet", ConvergenceWarning, stacklevel=2)
        return super().fit(X, y)


def as_em(monkeypatch, make):
    monkeypatch.setitem(METHODS, "em", replace(METHODS["em"], make=make))


def test_a_fit_that_fails_has_no_error_and_others_stay(monkeypatch, measured):
    as_em(monkeypatch, Refuses)
    found = measure(drawn(), AT)
    place = NAMES.index("em")
    assert np.isnan(found["error"][place]).all()
    assert_array_equal(np.delete(found["error"], place, 0), np.delete(measured["error"], place, 0))


def test_a_fit_that_did_not_converge_is_noted_and_measured(monkeypatch, measured):
    as_em(monkeypatch, Hurries)
    found = measure(drawn(), AT)
    assert found["unfinished"].sum(axis=1).tolist() == [3 * (name == "em") for name in NAMES]
    assert_array_equal(found["error"], measured["error"])


def test_a_mistake_of_ours_is_no_failure_of_a_method(monkeypatch):
    as_em(monkeypatch, lambda: None)
    with pytest.raises(AttributeError):
        measure(drawn(), AT[:1])


def test_missing_outcomes_change_nothing_where_labels_settle_the_weights():
    assert missing_outcomes(drawn(), AT).max() < 1e-10


def test_missing_outcomes_tell_nothing_where_labels_leave_weights_open():
    assert np.isnan(missing_outcomes(drawn("Transfusion"), AT)).all()


# -- tables ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    return RIVALS.compute(RIVALS.settings("quick", datasets=("Haberman",), repeats=2))


def test_the_draws_are_those_of_the_ridge_at_every_second_size(small):
    settings = RIDGE.settings("quick", datasets=("Haberman",), repeats=2)
    theirs = RIDGE.compute_cell(settings, "Haberman/0-1")
    for name, curve in {
        "supervised": ("supervised", "0"),
        "soft": ("soft", "0"),
        "hard": ("hard", "0"),
        "ridge": ("ridge", "tuned"),
        "oracle": ("oracle", "0"),
    }.items():
        mine = small.summary[small.summary["method"] == name]
        error = theirs["error"][:, CURVES_OF_RIDGE.index(curve), ::2].mean(axis=0)
        assert_array_equal(mine["n_unlabeled"], theirs["n_unlabeled"][::2])
        assert_allclose(mine["error"], error)


def test_the_summary_has_the_promised_columns_and_a_row_for_every_fit(small):
    assert list(small.summary.columns) == list(RIVALS.columns)
    counts = small.summary["method"].value_counts()
    assert counts["all_labelings"] == counts["all_labelings_lda"] == 2
    assert counts.drop(["all_labelings", "all_labelings_lda"]).eq(4).all()
    assert small.summary["failures"].sum() == 0


def test_differences_are_taken_repeat_by_repeat():
    cells = {}

    def keep(found):
        cells.update(found)
        return found

    table = made({"soft": 0.2}, datasets=["WDBC"], change=keep)
    error = np.concatenate([cells[f"WDBC/{b}"]["error"] for b in blocks(40, REPEATS_PER_CELL)])
    gain = (error[:, NAMES.index("soft")] - error[:, NAMES.index("supervised")])[:, 1]
    row = table.summary.query("method == 'soft' and n_unlabeled == 8").iloc[0]
    assert_allclose(row["difference"], gain.mean())
    assert_allclose(row["difference_se"], stats.sem(gain))


def test_failed_repeats_are_left_out_of_means_and_counted():
    def fail(cells):
        cells["WDBC/0-4"]["error"][1, NAMES.index("em")] = np.nan
        return cells

    table = made({}, datasets=["WDBC"], change=fail)
    rows = table.summary[table.summary["method"] == "em"]
    assert rows["failures"].tolist() == [1, 1, 1]
    assert rows["error"].notna().all()
    found = finding(table, "gives an answer")
    assert found.holds is False
    assert "failed: EM for LDA 3;" in found.evidence


def test_a_method_that_always_fails_ranks_last():
    def fail(cells):
        for cell in cells.values():
            cell["error"][:, NAMES.index("em")] = np.nan
        return cells

    table = made({}, change=fail)
    assert table.details["ranks"]["method"].iloc[-1] == "em"
    assert "failed: EM for LDA 720;" in finding(table, "gives an answer").evidence
    RIVALS.plot(table, "overview").draw_without_rendering()


def test_ranks_are_at_the_largest_size_that_all_have():
    def shorten(cells):
        for name, cell in cells.items():
            n = 2 if name.startswith("WDBC") else 3
            cells[name] = {key: value[..., :n] for key, value in cell.items()}
        return cells

    table = made({}, datasets=["Haberman", "WDBC"], change=shorten)
    assert table.details["friedman"]["n_unlabeled"].tolist() == [8]


def test_mean_ranks_follow_the_errors_and_sum_to_those_of_all():
    order = list(COMPETITORS)[::-1]
    table = made({name: 0.1 + 0.02 * k for k, name in enumerate(order)}, noise=1e-4)
    found = table.details["ranks"]
    assert found["method"].tolist() == order
    assert_allclose(found["mean_rank"], np.arange(1, len(order) + 1))
    assert "oracle" not in order


def test_pairs_are_won_lost_or_neither():
    table = made({"soft": 0.25, "hard": 0.35, "oracle": 0.1})
    pairs = table.details["pairs"].set_index(["method", "other"])
    assert (pairs[["better", "equal", "worse"]].sum(axis=1) == len(SOME)).all()
    assert pairs.loc[("soft", "hard"), ["better", "worse"]].tolist() == [6, 0]
    assert pairs.loc[("hard", "soft"), ["better", "worse"]].tolist() == [0, 6]
    assert pairs.loc[("soft", "hard"), "better_on"] == " ".join(SOME)


def test_equal_methods_are_rarely_told_apart():
    pairs = made({}).details["pairs"]
    assert pairs["equal"].sum() > 0.97 * len(pairs) * len(SOME)


def test_the_order_of_cells_changes_no_number():
    one = made({"soft": 0.2})
    other = made({"soft": 0.2}, change=lambda cells: dict(reversed(cells.items())))
    pd.testing.assert_frame_equal(one.summary, other.summary)
    for name, detail in one.details.items():
        pd.testing.assert_frame_equal(detail, other.details[name])


def test_quick_needs_no_download():
    assert set(RIVALS.settings("quick").datasets) <= set(AT_HAND)


# -- findings --------------------------------------------------------------------------------------


def test_a_method_that_is_always_best_is_ahead():
    table = made({name: 0.3 + 0.01 * k for k, name in enumerate(COMPETITORS)}, datasets=ALL)
    assert finding(table, "differ in mean rank").holds is True
    ahead = finding(table, "is ahead of all others")
    assert ahead.holds is False
    assert ahead.evidence.startswith("the best is supervised least squares (1.0); not sign")
    best = finding(table, "lowest error on most")
    assert best.holds is True
    assert best.evidence == f"lowest are supervised least squares on {', '.join(ALL)}"


@pytest.mark.parametrize(("soft", "holds"), [(0.25, True), (0.35, False), (0.3, False)])
def test_soft_labels_beat_supervised_where_they_do(soft, holds):
    table = made({"soft": soft, "oracle": 0.1})
    assert finding(table, "Soft labels beat supervised").holds is holds
    assert finding(table, "Soft labels beat hard").holds is holds


def test_the_share_of_the_gap_to_the_oracle_is_said():
    errors = {"supervised": 0.4, "oracle": 0.2, "soft": 0.25, "hard": 0.35}
    table = made({**errors, "implicitly_constrained": 0.3}, noise=1e-6)
    found = finding(table, "nearest to the oracle")
    assert found.holds is True
    assert "soft labels 75 %, hard labels 25 %, implicitly constrained 50 %" in found.evidence


def test_an_oracle_that_is_no_better_leaves_no_gap():
    found = finding(made({}, noise=0.0), "nearest to the oracle")
    assert found.holds is None
    assert found.evidence.endswith(": there is no gap to close")


@pytest.mark.parametrize(("error", "holds"), [(0.25, True), (0.35, False)])
def test_a_pessimist_is_held_against_its_own_classifier(error, holds):
    table = made({"contrastive_pessimistic": error, "supervised": 0.2})
    assert finding(table, "contrastive pessimistic LDA against supervised LDA").holds is holds


def test_where_an_optimist_hurts_is_said():
    found = finding(made({"hard": 0.5}), "optimist can hurt")
    assert found.holds is True
    assert f"hard labels: {', '.join(SOME)}; EM for LDA: none" in found.evidence
    assert finding(made({"hard": 0.2}), "optimist can hurt").holds is None


@pytest.mark.parametrize(("em", "holds"), [(0.25, True), (0.35, False)])
def test_unlabeled_rows_help_with_every_method_or_not(em, holds):
    learners = {name: 0.25 for name, one in METHODS.items() if one.without}
    assert finding(made({**learners, "em": em}), "With every method").holds is holds


@pytest.mark.parametrize(("ridge", "holds"), [(0.1, False), (0.4, True)])
def test_the_tuned_ridge_is_beaten_or_not(ridge, holds):
    assert finding(made({"ridge": ridge}), "tuned supervised ridge").holds is holds


def test_missing_outcomes_that_differ_are_found():
    def differ(cells):
        cells["WDBC/5-9"]["missing_outcomes"][0] = [1e-3, np.nan, 0.0]
        return cells

    assert finding(made({}), "missing outcomes").holds is True
    found = finding(made({}, datasets=["WDBC"], change=differ), "missing outcomes")
    assert found.holds is False
    assert found.evidence == (
        "decision values differ by 1e-03 of the largest at most, in 119 fits; in 1 more, labels "
        "leave weights open"
    )


@pytest.mark.parametrize(("datasets", "repeats"), [(SOME, 3), (SOME, 1), (["WDBC"], 40)])
def test_too_little_for_a_verdict_leaves_claims_open(datasets, repeats):
    table = made({"soft": 0.2}, datasets=datasets, repeats=repeats)
    found = RIVALS.findings(table)
    assert [one.holds for one in found[:11]] == [None] * 11


def test_findings_of_a_table_from_disk_are_the_same(tmp_path):
    for name, table in {"some": made({"soft": 0.2}), "one": made({}, datasets=["WDBC"])}.items():
        write_table(table, tmp_path / name)
        assert RIVALS.findings(read_table(tmp_path / name)) == RIVALS.findings(table)


# -- pictures --------------------------------------------------------------------------------------


@cache
def picture(view, n):
    errors = {name: 0.2 + 0.01 * k for k, name in enumerate(NAMES)}
    found = RIVALS.plot(made(errors, datasets=ALL[:n]), view)
    found.draw_without_rendering()
    return found


@pytest.mark.parametrize(
    ("view", "n"),
    [
        *((view, 1) for view in ("overview", "least_squares", "ranks", "pairs")),
        *((view, 16) for view in ("overview", "discriminants", "ranks", "pairs")),
    ],
)
def test_nothing_is_cut_off(view, n):
    found = picture(view, n)
    box = found.get_tightbbox()
    width, height = found.get_size_inches()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= width + 0.02
    assert box.y1 <= height + 0.02


def test_curves_have_a_panel_for_each_data_set():
    panels = picture("discriminants", 16).axes
    assert [panel.get_title(loc="left") for panel in panels] == list(ALL)


def test_every_method_is_in_a_picture_of_curves_and_differs_from_its_neighbours():
    groups = {one.group for one in METHODS.values()}
    assert {name for group in groups for name in shown_with(group)} == set(METHODS)
    for group in groups:
        looks = [METHODS[name].look for name in shown_with(group)]
        for aspect in ("label", "colour", "marker", "line"):
            assert len({getattr(look, aspect) for look in looks}) == len(looks)


def test_labels_of_methods_differ():
    assert len({one.look.label for one in METHODS.values()}) == len(METHODS)


def test_the_overview_shows_means_over_the_data_sets():
    errors = {name: 0.2 + 0.01 * k for k, name in enumerate(NAMES)}
    table = made(errors, datasets=ALL[:2], noise=0.05)
    panel = RIVALS.plot(table, "overview").axes[0]
    (line,) = [one for one in panel.lines if one.get_label() == "soft labels"]
    soft = table.summary[table.summary["method"] == "soft"]
    assert_allclose(line.get_ydata(), soft.groupby("n_unlabeled")["error"].mean())


def test_ranks_are_written_and_hollow_without_unlabeled_rows():
    panel = picture("ranks", 16).axes[0]
    dots = [line for line in panel.lines if str(line.get_label()).startswith("mean rank")]
    hollow = [line for line in dots if line.get_markerfacecolor() == "white"]
    assert (len(dots), len(hollow)) == (len(COMPETITORS), len(LABELS_ALONE))
    assert_allclose(sorted(line.get_xdata()[0] for line in dots), range(1, len(COMPETITORS) + 1))


def test_pairs_show_how_many_data_sets_the_row_wins():
    panel = picture("pairs", 16).axes[0]
    rows = [text.get_text() for text in panel.get_yticklabels()]
    soft, hard = rows.index("soft labels"), rows.index("hard labels")
    won = {tuple(text.get_position()): text.get_text() for text in panel.texts}
    assert (won[hard, soft], won[soft, hard]) == ("16", "0")
    assert len(won) == len(rows) * (len(rows) - 1)


def test_the_same_table_gives_the_same_bytes():
    first, second = (RIVALS.plot(made({}, datasets=["WDBC"]), "ranks") for _ in range(2))
    assert render(first, "svg") == render(second, "svg")
