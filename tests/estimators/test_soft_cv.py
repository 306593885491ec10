"""Claims about SoftLabelClassifierCV: the labels choose alpha and the weight of unlabeled rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold

from semisquares import LeastSquaresClassifier, SoftLabelClassifier, SoftLabelClassifierCV
from semisquares.core import objective
from semisquares.core.rows._design import Design
from semisquares.estimators import _leave_one_out
from semisquares.estimators._cross_validation import best_choices, clearly_positive
from semisquares.families._calibration import calibrate
from semisquares.families.least_squares import USUAL
from semisquares.model_selection import LabeledStratifiedKFold

ALPHAS = (0.1, 1.0, 10.0)
WEIGHTS = (0.0, 0.3, 1.0)


def table(n_labels=30, n_rows=150, d=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_rows)
    X = rng.normal(size=(n_rows, d)) + 1.2 * rng.normal(size=(n_classes, d))[truth]
    y = np.where(np.arange(n_rows) < n_labels, truth, -1)
    return X, y, truth


def slopes_of(model, X, y, train, test):
    """Predict test rows, less the mean of the training labels, with all classes in columns."""
    model.fit(X[train], y[train])
    z = model.decision_function(X[test]) + 0.5
    z = np.column_stack((1.0 - z, z)) if z.ndim == 1 else z
    known = y[train][y[train] >= 0]
    return z - np.eye(z.shape[1])[known].mean(axis=0)


def literal_scores(X, y, splits, alphas, weights):
    """Fit every choice on every training set, one by one, with the plain estimators."""
    codes = np.concatenate([y[test] for _, test in splits])
    shares = np.bincount(y[y >= 0]) + 0.5
    scores = []
    for weight in weights:
        for alpha in alphas:
            model = SoftLabelClassifier(alpha, unlabeled_weight=weight)
            slopes = np.concatenate([slopes_of(model, X, y, *split) for split in splits])
            odds = USUAL * slopes / np.sqrt(np.mean(slopes**2))
            odds = odds[None] / (2.0 if odds.shape[1] == 2 else 1.0)
            found = calibrate(odds, codes, np.ones(len(codes)), shares / shares.sum())
            scores.append(-found.losses(odds, codes).mean())
    return scores


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scores_are_those_of_fitting_every_choice_by_hand(n_classes, form):
    X, y, _ = table(n_classes=n_classes)
    splits = list(LabeledStratifiedKFold(3).split(X, y))
    model = SoftLabelClassifierCV(ALPHAS, unlabeled_weights=WEIGHTS, cv=splits).fit(form(X), y)
    expected = literal_scores(X, y, splits, ALPHAS, WEIGHTS)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], expected, rtol=1e-5)


def test_rows_outside_a_training_set_do_not_count():
    X, y, _ = table()
    # tests unlabeled rows too: those leave training as well
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = SoftLabelClassifierCV(ALPHAS, unlabeled_weights=WEIGHTS, cv=splits[:1]).fit(X, y)
    train, test = splits[0]
    test = test[y[test] >= 0]
    expected = literal_scores(X, y, [(train, test)], ALPHAS, WEIGHTS)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], expected, rtol=1e-5)


def test_sample_weights_are_repeated_rows_in_training_and_testing():
    X, y, _ = table(n_labels=20, n_rows=80)
    weight = np.random.default_rng(1).integers(1, 4, size=len(X))
    again = np.repeat(np.arange(len(X)), weight)
    fold = np.arange(len(X)) % 2
    splits = [(np.flatnonzero(fold != k), np.flatnonzero((fold == k) & (y >= 0))) for k in (0, 1)]
    repeated = [
        (np.flatnonzero(np.isin(again, train)), np.flatnonzero(np.isin(again, test)))
        for train, test in splits
    ]
    weighted = SoftLabelClassifierCV(ALPHAS, cv=splits).fit(X, y, sample_weight=weight)
    plain = SoftLabelClassifierCV(ALPHAS, cv=repeated).fit(X[again], y[again])
    np.testing.assert_allclose(
        weighted.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-5
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_fit_is_that_of_the_choice_with_its_intercept_moved(n_classes):
    X, y, _ = table(n_classes=n_classes)
    model = SoftLabelClassifierCV(ALPHAS).fit(X, y)
    chosen = SoftLabelClassifier(model.alpha_, unlabeled_weight=model.unlabeled_weight_).fit(X, y)
    np.testing.assert_allclose(model.coef_, chosen.coef_, rtol=1e-7)
    own = model.intercept_ - model.intercept_shift_
    np.testing.assert_allclose(own, chosen.intercept_, rtol=1e-7)
    assert model.certificate_ < 1e-12


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_that_are_filled_in_are_those_that_are_predicted(n_classes):
    X, y, _ = table(n_classes=n_classes)
    model = SoftLabelClassifierCV(ALPHAS).fit(X, y)
    missing = y < 0
    np.testing.assert_array_equal(model.transduction_[missing], model.predict(X[missing]))
    filled_in = model.label_distributions_[missing]
    np.testing.assert_allclose(filled_in, model.predict_proba(X[missing]), atol=1e-12)


def test_classes_part_where_they_are_equally_likely():
    X, y, truth = table(n_labels=200, n_rows=2000, d=3)
    rare = (truth == 0) | (np.arange(2000) % 8 == 0)  # one row of the second class in nine
    X, y, truth = X[rare], y[rare], truth[rare]
    # so strong a ridge that all decision values are on one side of ½
    model = SoftLabelClassifierCV([1e6]).fit(X, y)
    plain = LeastSquaresClassifier(1e6).fit(X, y)
    assert len(np.unique(plain.predict(X))) == 1
    assert len(np.unique(model.predict(X))) == 2
    assert model.score(X, truth) > plain.score(X, truth)


def test_leaving_the_unlabeled_rows_out_is_always_a_choice():
    X, y, _ = table()
    model = SoftLabelClassifierCV(ALPHAS, unlabeled_weights=[0.5]).fit(X, y)
    assert set(model.cv_results_["param_unlabeled_weight"]) == {0.0, 0.5}


def test_weight_zero_is_the_supervised_classifier():
    X, y, _ = table()
    model = SoftLabelClassifierCV(ALPHAS, unlabeled_weights=[0.0]).fit(X, y)
    plain = LeastSquaresClassifier(model.alpha_).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-12)
    np.testing.assert_allclose(model.supervised_.coef_, plain.coef_, atol=1e-12)


def test_by_a_scorer_the_supervised_classifier_has_the_best_score_without_unlabeled_rows():
    X, y, _ = table(n_labels=12, d=8)
    model = SoftLabelClassifierCV(ALPHAS, scoring="accuracy").fit(X, y)
    results = model.cv_results_
    without = results["param_unlabeled_weight"] == 0.0
    best = results["param_alpha"][without][results["mean_test_score"][without].argmax()]
    assert model.supervised_.alpha == best
    np.testing.assert_array_equal(model.intercept_shift_, [0.0])


def test_the_supervised_classifier_beside_it_is_what_weight_zero_gives():
    X, y, _ = table(n_labels=12, d=8)
    model = SoftLabelClassifierCV(ALPHAS).fit(X, y)
    alone = SoftLabelClassifierCV(ALPHAS, unlabeled_weights=[0.0]).fit(X, y)
    assert model.supervised_.alpha == alone.alpha_
    np.testing.assert_allclose(model.supervised_.coef_, alone.coef_, atol=1e-12)
    np.testing.assert_allclose(model.supervised_.intercept_, alone.intercept_, atol=1e-12)


# -- rows left out in closed form ---------------------------------------------------------------


def leave_out(X, y, alphas, weights, sample_weight=None, **options):
    """Return the closed form, and fits without each labeled row and their active sets."""
    cv = SoftLabelClassifierCV(alphas, **options)
    problem = cv._read(X, y, sample_weight, unlabeled_weight=1.0, ridge=True)
    rng = np.random.default_rng(0)
    found = _leave_one_out.left_out_decisions(problem, np.array(alphas), np.array(weights), rng)
    expected, outside = np.empty(found.shape), np.empty((*found.shape[:3], len(X)), dtype=bool)
    for i, weight in enumerate(weights):
        for j, alpha in enumerate(alphas):
            model = SoftLabelClassifier(alpha, unlabeled_weight=weight, **options)
            for k, row in enumerate(np.flatnonzero(y >= 0)):
                kept = np.delete(np.arange(len(X)), row)
                count = None if sample_weight is None else sample_weight[kept]
                z = model.fit(X[kept], y[kept], sample_weight=count).decision_function(X) + 0.5
                expected[i, j, k] = z[row]
                outside[i, j, k] = ((z < 0.0) | (z > 1.0)).reshape(len(X), -1).any(axis=1)
    return found, expected, outside[:, :, :, y < 0]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("d", [3, 30])
def test_without_unlabeled_rows_rows_left_out_are_as_fits_without_them_say(intercept, d):
    X, y, _ = table(n_labels=12, n_rows=20, d=d)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, size=len(X))
    found, expected, _ = leave_out(X, y, ALPHAS, [0.0], weight, fit_intercept=intercept)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_the_same_holds_for_three_classes():
    X, y, _ = table(n_labels=15, n_rows=20, n_classes=3)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, size=len(X))
    found, expected, _ = leave_out(X, y, ALPHAS, [0.0], weight)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def outside_of(alpha, weight, X, y, **options):
    """Tell which unlabeled rows are outside of [0, 1] in the fit to all rows."""
    model = SoftLabelClassifier(alpha, unlabeled_weight=weight, **options).fit(X, y)
    return np.abs(model.decision_function(X[y < 0])) > 0.5


@pytest.mark.parametrize("intercept", [True, False])
def test_with_unlabeled_rows_it_is_exact_while_the_active_set_stays(intercept):
    X, y, _ = table(n_labels=16, n_rows=40, seed=1)
    alphas, weights, options = (1.0, 30.0), [0.0, 0.3, 1.0], {"fit_intercept": intercept}
    found, expected, outside = leave_out(X, y, alphas, weights, **options)
    active = np.array([[outside_of(a, u, X, y, **options) for a in alphas] for u in weights])
    same = (outside == active[:, :, None]).all(axis=-1)
    assert active[1:].any()
    assert same[1:].mean() > 0.25
    np.testing.assert_allclose(found[same], expected[same], rtol=1e-6, atol=1e-7)
    # where it changes, little is lost
    assert np.abs(found - expected).max() < 0.2 * np.abs(expected).max()


def test_with_three_classes_and_unlabeled_rows_it_is_close():
    X, y, _ = table(n_labels=24, n_rows=60, n_classes=3, d=2)
    found, expected, outside = leave_out(2.0 * X, y, (1.0, 10.0), [0.0, 0.1, 1.0])
    supervised, soft_fits = expected[:1], expected[1:]
    assert outside[1:].any()
    error = np.sqrt(np.mean((found[1:] - soft_fits) ** 2))
    assert error < 0.3 * np.sqrt(np.mean((soft_fits - supervised) ** 2))


def test_leaving_rows_out_is_the_search_over_splits_of_one_row():
    X, y, _ = table(n_labels=20, n_rows=30)
    labeled = np.flatnonzero(y >= 0)
    everything = np.arange(len(X))
    splits = [
        (np.delete(everything, labeled[k]), labeled[k]) for _, k in LeaveOneOut().split(labeled)
    ]
    options = {"alphas": ALPHAS, "unlabeled_weights": [0.0]}
    closed = SoftLabelClassifierCV(**options).fit(X, y)
    fitted = SoftLabelClassifierCV(**options, cv=splits).fit(X, y)
    assert closed.alpha_ == fitted.alpha_
    np.testing.assert_allclose(closed.intercept_, fitted.intercept_, atol=1e-7)
    np.testing.assert_allclose(
        closed.cv_results_["mean_test_score"], fitted.cv_results_["mean_test_score"], rtol=1e-7
    )
    assert closed.n_splits_ == fitted.n_splits_ == 20


def test_with_many_columns_one_decomposition_leads_to_the_same_rows_left_out(monkeypatch):
    X, y, _ = table(n_labels=160, n_rows=172, d=130)
    problem = SoftLabelClassifierCV()._read(X, y, None, unlabeled_weight=1.0, ridge=True)
    choices = np.array([3.0, 30.0]), np.array(WEIGHTS)
    found = _leave_one_out.left_out_decisions(problem, *choices, np.random.default_rng(0))
    monkeypatch.setattr(objective, "ridge_factors", lambda *given: None)
    expected = _leave_one_out.left_out_decisions(problem, *choices, np.random.default_rng(0))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    assert not np.allclose(found[2], found[0])


def test_where_no_unlabeled_row_is_outside_nothing_is_fitted_anew(monkeypatch):
    X, y, _ = table()
    problem = SoftLabelClassifierCV()._read(X, y, None, unlabeled_weight=1.0, ridge=True)
    fits = []
    solve = _leave_one_out.rough_solution
    monkeypatch.setattr(
        _leave_one_out, "rough_solution", lambda *given: fits.append(given) or solve(*given)
    )
    alphas, rng = np.array([0.1, 1e4, 1e5]), np.random.default_rng(0)
    found = _leave_one_out.left_out_decisions(problem, alphas, np.array(WEIGHTS), rng)
    assert {given[0].alpha for given in fits} == {0.1}
    np.testing.assert_array_equal(found[1, 1:], found[0, 1:])
    assert not np.allclose(found[2, 0], found[0, 0])


@pytest.mark.parametrize("weighted", [False, True])
def test_a_search_among_many_unlabeled_rows_sees_a_sample_that_counts_as_all(monkeypatch, weighted):
    X, y, _ = table(n_rows=600)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, size=600) if weighted else None
    monkeypatch.setattr(_leave_one_out, "SEEN", 100)
    monkeypatch.setattr(_leave_one_out, "SEEN_PER_COLUMN", 1)
    seen = []
    solve = _leave_one_out.rough_solution
    monkeypatch.setattr(
        _leave_one_out, "rough_solution", lambda *given: seen.append(given[0].rows) or solve(*given)
    )
    model = SoftLabelClassifierCV([0.1], unlabeled_weights=[1.0]).fit(X, y, sample_weight=weight)
    (rows,) = seen
    assert rows.n_unlabeled == 100
    counts = np.ones(600) if weight is None else weight
    assert rows.total_weight == pytest.approx(counts.sum())
    assert len(model.transduction_) == 600


def test_a_strong_ridge_does_not_look_wrong_for_every_row():
    X, y, _ = table(n_labels=20)
    model = SoftLabelClassifierCV([1e-2, 1e5], unlabeled_weights=[0.0]).fit(X, y)
    # by decision values with their intercept it would be wrong for all 20 rows
    nothing_known = -np.log(2.0)
    assert model.cv_results_["mean_test_score"][1] > nothing_known + 0.1


def test_a_choice_that_predicts_nothing_is_not_taken():
    X, y, _ = table(n_labels=12, d=8)
    X[:, 0] = np.arange(len(X)) == 0  # only the first row has it: without a ridge its leverage is 1
    model = SoftLabelClassifierCV([0.0, 1.0], unlabeled_weights=[0.0]).fit(X, y)
    assert model.alpha_ == 1.0
    assert np.isnan(model.cv_results_["mean_test_score"][0])
    assert model.cv_results_["rank_test_score"].tolist() == [2, 1]


def test_columns_that_say_nothing_leave_the_middle_of_the_grid():
    y = np.array([0, 1, 0, 1, 1, -1])
    model = SoftLabelClassifierCV(ALPHAS).fit(np.zeros((6, 2)), y)
    assert (model.alpha_, model.unlabeled_weight_) == (ALPHAS[1], 0.0)
    np.testing.assert_array_equal(model.predict(np.zeros((2, 2))), [1, 1])


def test_three_classes_without_an_intercept_are_split_into_folds():
    X, y, _ = table(n_classes=3)
    assert SoftLabelClassifierCV(ALPHAS, fit_intercept=False).fit(X, y).n_splits_ == 5


# -- what is taken ------------------------------------------------------------------------------


def clouds():
    """Draw rows whose unlabeled ones clearly help where there is no ridge."""
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 2
    X = 1.5 * rng.normal(size=(600, 38)) + (2 * truth[:, None] - 1)
    return X, np.where(np.arange(600) < 40, truth, -1), truth


def test_unlabeled_rows_are_used_where_they_clearly_help():
    X, y, truth = clouds()
    model = SoftLabelClassifierCV([1e-8]).fit(X, y)
    assert model.unlabeled_weight_ > 0.0
    assert model.score(X, truth) > model.supervised_.score(X, truth)


def test_a_gain_within_one_standard_error_does_not_count():
    assert not clearly_positive(np.array([0.2, -0.1, 0.2, -0.1]))  # 0.05 on average, ± 0.087
    assert clearly_positive(np.array([0.1, 0.1, 0.1, 0.1]))
    assert not clearly_positive(np.array([5.0]))


def test_by_a_scorer_unlabeled_rows_are_used_where_they_are_clearly_better():
    unsure = np.array([[[0.5, 0.5, 0.5, 0.5]], [[0.7, 0.4, 0.7, 0.4]]])
    assert best_choices(unsure) == ((0, 0), (0, 0))
    assert best_choices(np.array([[[0.5, 0.5, 0.5]], [[0.7, 0.6, 0.7]]])) == ((1, 0), (0, 0))


def test_default_alphas_follow_the_units_of_the_columns():
    X, y, _ = table()
    grid = np.unique(SoftLabelClassifierCV().fit(X, y).cv_results_["param_alpha"])
    scaled = np.unique(SoftLabelClassifierCV().fit(1000.0 * X, y).cv_results_["param_alpha"])
    np.testing.assert_allclose(scaled, 1e6 * grid)


def test_the_default_grid_has_two_ridges_to_a_power_of_ten():
    X, y, _ = table()
    grid = np.unique(SoftLabelClassifierCV().fit(X, y).cv_results_["param_alpha"])
    np.testing.assert_allclose(grid[1:] / grid[:-1], np.sqrt(10.0))
    np.testing.assert_allclose(grid[-1] / grid[0], 1e6)


def test_a_rare_class_among_many_labels_means_fewer_folds():
    X, y, truth = table(n_labels=0)
    rare, common = np.flatnonzero(truth == 0)[:3], np.flatnonzero(truth == 1)[:40]
    y[rare], y[common] = 0, 1
    assert SoftLabelClassifierCV(ALPHAS, cv=5).fit(X, y).n_splits_ == 3


def test_groups_reach_the_splitter():
    X, y, _ = table()
    groups = np.arange(len(X)) % 4
    model = SoftLabelClassifierCV(ALPHAS, cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert model.n_splits_ == 4


def test_a_split_that_trains_on_one_class_is_refused():
    X, y, _ = table(n_labels=30)
    with pytest.raises(ValueError, match="labels of fewer than two classes"):
        SoftLabelClassifierCV(ALPHAS, cv=KFold(3)).fit(X, y)


def test_a_choice_that_scores_nan_is_not_taken():
    scores = np.array([[[0.5, 0.5]], [[np.nan, 0.9]]])
    assert best_choices(scores)[0] == (0, 0)


def test_scores_that_are_all_nan_are_an_error():
    with pytest.raises(ValueError, match="Every choice scored NaN"):
        best_choices(np.full((2, 1, 3), np.nan))


def test_few_labels_and_a_score_of_both_classes_are_folds_not_single_rows():
    X, y, truth = table(n_labels=0)
    kept = np.concatenate([np.flatnonzero(truth == k)[:3] for k in (0, 1)])
    y[kept] = truth[kept]
    model = SoftLabelClassifierCV(ALPHAS, scoring="roc_auc").fit(X, y)
    assert model.n_splits_ == 3
    assert np.isfinite(model.best_score_)


def test_splitters_of_scikit_learn_work_with_strings_and_missing_labels():
    X, y, _ = table()
    names = np.where(y == -1, None, np.where(y == 0, "no", "yes"))
    model = SoftLabelClassifierCV(ALPHAS, cv=StratifiedKFold(3)).fit(X, names)
    assert model.n_splits_ == 3


@pytest.mark.parametrize(
    ("cv", "match"),
    [
        ([], "gives no split that tests a labeled row"),
        ([(np.arange(100), np.arange(140, 150))], "gives no split that tests a labeled row"),
        ([(np.arange(100), np.arange(10, 151))], "numbers of rows from 0 to 149"),
        ([(np.ones(7, bool), np.arange(3))], "masks of 150 rows"),
    ],
)
def test_splits_that_cannot_be_used_are_told(cv, match):
    X, y, _ = table()
    with pytest.raises(ValueError, match=match):
        SoftLabelClassifierCV(ALPHAS, cv=cv).fit(X, y)


def test_masks_are_splits_too():
    X, y, _ = table()
    test = np.arange(len(X)) % 3 == 0
    masks = SoftLabelClassifierCV(ALPHAS, cv=[(~test, test)]).fit(X, y)
    numbers = SoftLabelClassifierCV(ALPHAS, cv=[(np.flatnonzero(~test), np.flatnonzero(test))]).fit(
        X, y
    )
    np.testing.assert_array_equal(
        masks.cv_results_["mean_test_score"], numbers.cv_results_["mean_test_score"]
    )


def test_a_scorer_sees_labels_that_are_the_marker():
    X, y, _ = table()
    signs = np.where(y == -1, np.nan, np.where(y == 0, -1.0, 1.0))
    options = {"unlabeled": None, "random_state": 0}
    by_score = SoftLabelClassifierCV(
        ALPHAS, scoring=lambda model, X, y: model.score(X, y), **options
    ).fit(X, signs)
    by_name = SoftLabelClassifierCV(ALPHAS, scoring="accuracy", **options).fit(X, signs)
    assert by_score.best_score_ == by_name.best_score_


def test_a_sparse_table_with_many_columns_forms_no_gram_matrix(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random(600, 5000, density=0.01, random_state=rng, format="csr")
    y = np.where(np.arange(600) < 40, np.arange(600) % 2, -1)
    monkeypatch.delattr(Design, "gram")
    assert SoftLabelClassifierCV(ALPHAS, cv=3).fit(X, y).n_splits_ == 3


def test_splits_are_told_one_by_one(capsys):
    X, y, _ = table()
    SoftLabelClassifierCV(ALPHAS, cv=3, verbose=1).fit(X, y)
    assert "[SoftLabelClassifierCV] split 2 of 3" in capsys.readouterr().out


def test_any_scorer_can_choose():
    X, y, truth = table()
    model = SoftLabelClassifierCV(ALPHAS, scoring="accuracy").fit(X, y)
    assert 0.5 < model.best_score_ <= 1.0
    assert model.score(X, truth) > 0.5


def test_the_best_score_is_the_negated_log_loss_of_the_chosen_pair():
    X, y, _ = table()
    model = SoftLabelClassifierCV(ALPHAS, unlabeled_weights=WEIGHTS).fit(X, y)
    pair = {"alpha": model.alpha_, "unlabeled_weight": model.unlabeled_weight_}
    place = model.cv_results_["params"].index(pair)
    assert model.best_score_ == model.cv_results_["mean_test_score"][place]
    assert -np.log(2.0) < model.best_score_ < 0.0


def test_random_state_none_gives_the_same_folds_again():
    X, y, _ = table()
    first, second = (SoftLabelClassifierCV(ALPHAS).fit(X, y).cv_results_ for _ in range(2))
    np.testing.assert_array_equal(first["mean_test_score"], second["mean_test_score"])


@pytest.mark.parametrize(
    ("name", "grid"),
    [("alphas", [-1.0]), ("alphas", ["much"]), ("unlabeled_weights", [np.nan])],
)
def test_a_grid_with_a_number_out_of_range_is_named(name, grid):
    X, y, _ = table()
    with pytest.raises(ValueError, match=f"{name}=.* must be finite numbers, none negative"):
        SoftLabelClassifierCV(**{name: grid}).fit(X, y)
