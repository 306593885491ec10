"""The learning curves of all methods: fits, measures and tables."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.semi_supervised
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from semisquares import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier, baselines
from semisquares.baselines import EMDiscriminantClassifier, OracleClassifier
from semisquares.paper.figures import FIGURES
from semisquares.paper.figures import fig6_learning_curves as fig6
from semisquares.paper.figures._protocol import OFFLINE, block_names
from semisquares.paper.figures.ridge import CURVES as CURVES_OF_RIDGE
from semisquares.paper.figures.rivals import (
    COMPETITORS,
    METHODS,
    measure,
    missing_outcomes,
)
from support.made_rivals import AT, NAMES, RIVALS, SOME, finding, made

RIDGE, FIG6 = FIGURES["ridge"], FIGURES["fig6"]


def drawn(name="WDBC", repeat=0):
    return replace(fig6.draw_repeat(FIG6.settings("authors"), name, repeat), as_authors=False)


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
    """Fails like a fit that cannot handle its data."""

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
    blocks = block_names(40, RIVALS.repeats_per_cell)
    error = np.concatenate([cells[f"WDBC/{block}"]["error"] for block in blocks])
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
    assert "missing because the fit failed: 3 of EM for LDA (WDBC);" in found.evidence


def test_a_method_that_always_fails_ranks_last():
    def fail(cells):
        for cell in cells.values():
            cell["error"][:, NAMES.index("em")] = np.nan
        return cells

    table = made({}, change=fail)
    assert table.details["ranks"]["method"].iloc[-1] == "em"
    assert (
        f"failed: 720 of EM for LDA ({', '.join(SOME)});"
        in finding(table, "gives an answer").evidence
    )
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
    assert set(RIVALS.settings("quick").datasets) <= set(OFFLINE)
