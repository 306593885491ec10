"""Claims about SoftLabelClassifierCV: the labels choose alpha and the weight of unlabeled rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from semisquares import LeastSquaresClassifier, SoftLabelClassifier, SoftLabelClassifierCV
from semisquares.curvature import left_out_errors
from semisquares.estimators import soft_cv
from semisquares.estimators.search import (
    MORE_DRAWS,
    Search,
    best_choices,
    clearly_positive,
    row_means,
)
from semisquares.labelings import soft
from semisquares.model_selection import LabeledStratifiedKFold
from semisquares.objective import Objective
from semisquares.rows.grams import Grams

ALPHAS = (0.1, 1.0, 10.0)
WEIGHTS = (0.0, 0.3, 1.0)


def table(n_labels=30, n_rows=150, d=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_rows)
    X = rng.normal(size=(n_rows, d)) + 1.2 * rng.normal(size=(n_classes, d))[truth]
    y = np.where(np.arange(n_rows) < n_labels, truth, -1)
    return X, y, truth


def squared_loss(model, X, truth):
    z = model.decision_function(X) + 0.5
    target = np.eye(len(model.classes_))[truth] if z.ndim == 2 else truth
    return float(((z - target) ** 2).reshape(len(z), -1).sum(axis=1).mean())


def literal_scores(X, y, splits, alphas, weights):
    """Fit every choice on every training set, one by one, with the plain estimators."""
    scores = []
    for weight in weights:
        for alpha in alphas:
            models = [
                SoftLabelClassifier(alpha, unlabeled_weight=weight).fit(X[train], y[train])
                for train, _ in splits
            ]
            losses = [
                squared_loss(m, X[test], y[test])
                for m, (_, test) in zip(models, splits, strict=True)
            ]
            scores.append(-np.mean(losses))
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


def test_the_fit_is_that_of_the_choice():
    X, y, _ = table()
    model = SoftLabelClassifierCV(ALPHAS).fit(X, y)
    chosen = SoftLabelClassifier(model.alpha_, unlabeled_weight=model.unlabeled_weight_).fit(X, y)
    np.testing.assert_allclose(model.coef_, chosen.coef_, rtol=1e-9)
    assert model.certificate_ < 1e-12


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


@pytest.mark.parametrize("options", [{"cv": LabeledStratifiedKFold(3)}, {"scoring": "accuracy"}])
def test_the_supervised_classifier_beside_it_has_the_best_score_without_unlabeled_rows(options):
    X, y, _ = table(n_labels=12, d=8)
    model = SoftLabelClassifierCV(ALPHAS, **options).fit(X, y)
    results = model.cv_results_
    without = results["param_unlabeled_weight"] == 0.0
    best = results["param_alpha"][without][results["mean_test_score"][without].argmax()]
    assert model.supervised_.alpha == best


@pytest.mark.parametrize("d", [3, 60])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_without_unlabeled_rows_it_is_the_tuned_ridge_of_scikit_learn(d, n_classes, form, seed):
    X, y, _ = table(n_labels=40, d=d, n_classes=n_classes, seed=seed)
    model = SoftLabelClassifierCV(unlabeled_weights=[0.0]).fit(form(X + 5.0), y)
    grid = np.unique(model.cv_results_["param_alpha"])
    ridge = RidgeClassifierCV(grid).fit(X[:40], y[:40])
    assert model.alpha_ == model.supervised_alpha_ == ridge.alpha_
    np.testing.assert_array_equal(model.predict(form(X + 5.0)), ridge.predict(X))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_of_rows_left_out_are_those_of_fits_without_them(intercept, n_classes):
    X, y, _ = table(n_labels=12, n_rows=20, n_classes=n_classes)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, size=len(X))
    model = LeastSquaresClassifier(0.3, fit_intercept=intercept)
    rows = model._read(X, y, weight, all_rows=False).rows
    errors = left_out_errors(Objective(rows, soft(n_classes), 0.3))
    for k, error in enumerate(errors):
        others = np.delete(np.arange(12), k)
        model.fit(X[others], y[others], sample_weight=weight[others])
        z = model.decision_function(X[[k]])[0] + 0.5
        np.testing.assert_allclose(error, z - np.eye(n_classes)[y[k]][-error.size :], rtol=1e-9)


def test_a_row_that_is_tested_in_many_splits_counts_once_in_the_standard_error():
    tests = [np.array([3, 5]), np.array([5, 3]), np.array([7])]
    losses = [np.array([[1.0, 2.0]]), np.array([[4.0, 3.0]]), np.array([[9.0]])]
    rows, means = row_means(losses, tests)
    np.testing.assert_array_equal(rows, [3, 5, 7])
    np.testing.assert_array_equal(means, [[2.0, 3.0, 9.0]])


def clouds():
    """Draw rows whose unlabeled ones clearly help where there is no ridge."""
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 2
    X = 1.5 * rng.normal(size=(600, 38)) + (2 * truth[:, None] - 1)
    return X, np.where(np.arange(600) < 40, truth, -1), truth


@pytest.mark.parametrize(
    ("cv", "n_more"), [(None, 5 * MORE_DRAWS), (4, 4 * MORE_DRAWS), (LabeledStratifiedKFold(4), 0)]
)
def test_a_choice_with_unlabeled_rows_is_tested_in_more_draws_of_the_folds(monkeypatch, cv, n_more):
    X, y, _ = clouds()
    more = []
    losses_of = Search.losses_of
    monkeypatch.setattr(
        Search, "losses_of", lambda *given: more.append(given[-1]) or losses_of(*given)
    )
    SoftLabelClassifierCV([1e-8], cv=cv).fit(X, y)
    assert len(more) == n_more
    assert len({test.tobytes() for test in more}) == n_more  # none is drawn twice


def test_a_choice_that_does_well_in_the_first_draw_alone_is_not_taken(monkeypatch):
    X, y, _ = clouds()
    assert SoftLabelClassifierCV([1e-8]).fit(X, y).unlabeled_weight_ > 0.0
    worse = np.array([[0.0], [9.0]])
    monkeypatch.setattr(Search, "losses_of", lambda *given: np.tile(worse, len(given[-1])))
    assert SoftLabelClassifierCV([1e-8]).fit(X, y).unlabeled_weight_ == 0.0


def test_losses_of_a_few_choices_are_those_of_the_whole_search():
    X, y, _ = table()
    problem = SoftLabelClassifierCV()._read(X, y, None, all_rows=True)
    search = Search(problem, np.array(ALPHAS), np.array(WEIGHTS), None)
    train, test = np.arange(10, 150), np.arange(10)
    every = search.scores(train, test)[1]
    few = search.losses_of([(0, 2), (1, 0)], train, test)
    np.testing.assert_allclose(few, [every[0, 2], every[1, 0]], rtol=1e-4)


def test_where_nothing_is_known_without_a_row_the_folds_choose():
    X, y, _ = table(n_labels=12, d=8)
    X[:, 0] = np.arange(len(X)) == 0  # only the first row has it: without a ridge its leverage is 1
    model = SoftLabelClassifierCV([0.0, 1.0], unlabeled_weights=[0.0], cv=3).fit(X, y)
    assert (
        model.alpha_ == model.cv_results_["param_alpha"][model.cv_results_["rank_test_score"] == 1]
    )


def test_a_gain_within_one_standard_error_does_not_count():
    assert not clearly_positive(np.array([0.2, -0.1, 0.2, -0.1]))  # 0.05 on average, ± 0.087
    assert clearly_positive(np.array([0.1, 0.1, 0.1, 0.1]))
    assert not clearly_positive(np.array([0.1, 0.1]), least=0.2)
    assert not clearly_positive(np.array([5.0]))


@pytest.mark.parametrize(("n_labels", "taken"), [(30, False), (31, True)])
def test_few_labels_have_to_be_surer(monkeypatch, n_labels, taken):
    X, y, _ = table(n_labels=n_labels)
    gains = np.tile([0.3, 0.1], n_labels)[:n_labels]  # 0.2 on average, more than four of its errors
    assert clearly_positive(gains, errors=4.0)
    gains = np.tile([0.9, -0.5], n_labels)[:n_labels]  # 0.2 as well, more than one, less than four
    assert clearly_positive(gains)
    losses = np.stack([gains, np.zeros(n_labels)])
    monkeypatch.setattr(soft_cv, "row_means", lambda *_: (np.arange(n_labels), losses))
    monkeypatch.setattr(soft_cv, "best_choices", lambda *_: ((1, 0), (0, 0)))
    model = SoftLabelClassifierCV([1.0]).fit(X, y)
    assert (model.unlabeled_weight_ > 0.0) is taken


def test_unlabeled_rows_are_used_where_they_clearly_help():
    X, y, truth = clouds()
    model = SoftLabelClassifierCV([1e-8]).fit(X, y)
    assert model.unlabeled_weight_ > 0.0
    assert model.score(X, truth) > model.supervised_.score(X, truth)


def test_default_alphas_follow_the_units_of_the_columns():
    X, y, _ = table()
    grid = np.unique(SoftLabelClassifierCV().fit(X, y).cv_results_["param_alpha"])
    scaled = np.unique(SoftLabelClassifierCV().fit(1000.0 * X, y).cv_results_["param_alpha"])
    np.testing.assert_allclose(scaled, 1e6 * grid)


def test_few_labels_are_left_out_one_by_one():
    X, y, truth = table(n_labels=0)
    kept = np.concatenate([np.flatnonzero(truth == k)[:3] for k in (0, 1)])
    y[kept] = truth[kept]
    assert SoftLabelClassifierCV(ALPHAS).fit(X, y).n_splits_ == 6


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
    monkeypatch.delattr(Grams, "_gram")
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
