"""Claims about the rivals, their scores, and the cross-validation that all of them go through."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifierCV,
)
from semisquares._utils.errors import CollapsedLabelsWarning
from semisquares.tables import TableError
from semisquares.tables.compare import _evaluation as evaluation
from semisquares.tables.compare import _rivals as rivals
from semisquares.tables.compare import _tasks as tasks
from semisquares.tables.compare._evaluation import evaluate
from semisquares.tables.compare._rivals import ALL, RivalFits, Training
from semisquares.tables.compare._rows import TableRows
from semisquares.tables.compare._tasks import ordered_map
from semisquares.tables.compare._words import describe_fit
from semisquares.tables.compare.comparison import METRICS, TrainingSize
from semisquares.tables.compare.scores import score, score_predictions, score_resamples
from support.made_rows import clusters, needle

TWO = ("averaged", "labeled_only")
LINEAR = ("ridge", "soft")


def table(n_rows=80, n_labels=30, n_classes=2, d=3, seed=0):
    return clusters(n_rows, d, n_classes, n_labels, seed, apart=1.5)


def fits(X, codes):
    return RivalFits(Training(TableRows(X, codes), inside=np.ones(len(X), dtype=bool)))


@pytest.mark.parametrize("name", ["soft", "hard"])
def test_a_row_that_counts_twice_is_as_good_as_two_rows(name):
    X, codes = needle()
    twice = np.repeat(np.arange(len(X)), np.where(codes < 0, 2, 1))
    inside = np.ones(len(X), dtype=bool)
    counted = RivalFits(Training(TableRows(X, codes, count=2.0), inside)).fit(name).model
    repeated = fits(X[twice], codes[twice]).fit(name).model
    np.testing.assert_allclose(counted.coef_, repeated.coef_, atol=1e-7)


def as_arrays(found):
    return np.array([[found.scores[name][m] for m in METRICS] for name in found.scores])


# -- scores -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LeastSquaresClassifier(), LogisticRegression()])
def test_scores_of_two_classes_are_those_of_scikit_learn(model):
    X, _, truth = table()
    model.fit(X[:40], truth[:40])
    rows = np.arange(40, 80)[(truth[40:] == 0) | (np.arange(40) < 15)]  # not all as frequent
    test, known = X[rows], truth[rows]
    assert score(model, test, known) == pytest.approx(
        (
            metrics.accuracy_score(known, model.predict(test)),
            metrics.balanced_accuracy_score(known, model.predict(test)),
            metrics.roc_auc_score(known, model.decision_function(test)),
            metrics.brier_score_loss(known, model.predict_proba(test)[:, 1]),
        )
    )


@pytest.mark.parametrize("model", [LeastSquaresClassifier(), LogisticRegression()])
def test_scores_of_four_classes_are_those_of_scikit_learn(model):
    X, _, truth = table(n_classes=4)
    model.fit(X[:40], truth[:40])
    rows = np.arange(40, 80)[(truth[40:] == 0) | (np.arange(40) < 15)]  # not all as frequent
    test, known = X[rows], truth[rows]
    soft = model.predict_proba(test)
    ranking = model.decision_function(test) if hasattr(model, "alpha") else soft
    aucs = [metrics.roc_auc_score(known == k, ranking[:, k]) for k in range(4)]
    assert score(model, test, known) == pytest.approx(
        (
            metrics.accuracy_score(known, model.predict(test)),
            metrics.balanced_accuracy_score(known, model.predict(test)),
            np.mean(aucs),
            ((soft - np.eye(4)[known]) ** 2).sum(axis=1).mean(),
        )
    )


def test_auc_has_no_value_where_a_class_is_missing():
    X, _, truth = table()
    model = LeastSquaresClassifier().fit(X, truth)
    assert np.isnan(score(model, X[truth == 1], truth[truth == 1])[2])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_that_count_several_times_are_scored_as_repeated_rows(n_classes):
    rng = np.random.default_rng(0)
    soft = rng.dirichlet(np.ones(n_classes), size=30).round(1)  # some are equal
    codes, predicted = rng.integers(n_classes, size=30), soft.argmax(axis=1)
    ranking = soft[:, 1:] if n_classes == 2 else soft
    counts = rng.integers(3, size=(9, 30))
    counts[0] *= codes != 1  # a class that is not there
    counts[1] *= codes == 1
    found = score_resamples(predicted, soft, ranking, codes, counts)
    for one, count in zip(found, counts, strict=True):
        rows = np.repeat(np.arange(30), count)
        expected = score_predictions(predicted[rows], soft[rows], ranking[rows], codes[rows])
        np.testing.assert_allclose(one, expected, rtol=1e-12)


# -- rivals -------------------------------------------------------------------------------------


def test_rivals_are_the_classifiers_that_they_are_said_to_be():
    X, codes, _ = table()
    found = fits(X, codes)
    tuned = SoftLabelClassifierCV().fit(X, codes)
    alpha = tuned.supervised_alpha_
    for name, expected in {
        "ridge": tuned.supervised_,
        "soft": tuned,
        "hard": HardLabelClassifier(alpha).fit(X, codes),
    }.items():
        np.testing.assert_allclose(found.fit(name).model.coef_, expected.coef_, atol=1e-10)
    known = codes >= 0
    logistic = LogisticRegression(C=found.fit("logistic").model.C_, max_iter=1000)
    np.testing.assert_allclose(
        found.fit("logistic").model.predict_proba(X),
        logistic.fit(X[known], codes[known]).predict_proba(X),
        atol=0.02,
    )
    averaged = AveragedClassifier().fit(X, codes)
    for name, model in (("averaged", averaged), ("labeled_only", averaged.supervised_)):
        expected = model.predict_proba(X)
        np.testing.assert_allclose(found.fit(name).model.predict_proba(X), expected, atol=1e-10)
    for name in ("forest", "boosting"):
        known_alone = fits(X[known], codes[known]).fit(name).model
        np.testing.assert_array_equal(found.fit(name).model.predict(X), known_alone.predict(X))


@pytest.mark.usefixtures("few_trees")
def test_rivals_never_look_at_rows_outside_the_training_set():
    X, codes, _ = table()
    inside = np.arange(len(X)) % 5 > 0
    spoilt = np.where(inside[:, None], X, np.nan)
    clean, other = (RivalFits(Training(TableRows(rows, codes), inside)) for rows in (X, spoilt))
    for name in ALL:
        found = other.fit(name)
        assert not found.failed
        np.testing.assert_array_equal(
            found.model.predict_proba(X), clean.fit(name).model.predict_proba(X)
        )


@pytest.mark.usefixtures("few_trees")
def test_slow_rivals_get_a_sample_of_the_unlabeled_rows_and_say_so(monkeypatch):
    monkeypatch.setattr(rivals, "MOST_HARD", 20)
    X, codes, _ = table()
    found = evaluate(TableRows(X, codes), folds=2, repeats=1)
    assert {one.name: one.n_unlabeled for one in found.rivals} == {
        "averaged": 50, "labeled_only": 0, "ridge": 0, "logistic": 0, "forest": 0, "boosting": 0,
        "soft": 50, "hard": 20,
    }  # fmt: skip
    how = {one.name: one.how for one in found.rivals}
    assert "20 of the 50 unlabeled rows, drawn at random, counted as all" in how["hard"]
    assert "learned from all 50 unlabeled rows too" in how["averaged"]
    assert "all 50 unlabeled rows" in how["soft"]


def test_a_sampled_row_counts_for_the_others_with_hard_labels(monkeypatch):
    X, codes, _ = table()
    X[codes < 0] = X[-1]
    whole = fits(X, codes).fit("hard").model
    monkeypatch.setattr(rivals, "MOST_HARD", 10)
    np.testing.assert_allclose(fits(X, codes).fit("hard").model.coef_, whole.coef_, atol=1e-10)


def test_many_labels_are_sampled_for_slow_rivals(monkeypatch):
    X, codes, _ = table()
    monkeypatch.setattr(rivals, "MOST_LABELS", 12)
    rows = fits(X, codes).labels
    assert np.bincount(codes[rows]).tolist() == [6, 6]
    size = TrainingSize(30, fewest_labels=9, n_unlabeled=5, most_searched=9)
    for name in ("averaged", "labeled_only", "logistic", "forest", "boosting"):
        assert "12 of the 30 labeled rows" in describe_fit(name, size)


def test_a_class_with_one_label_leaves_c_as_it_is():
    X, codes, _ = table()
    codes[np.flatnonzero(codes == 1)[1:]] = -1
    assert fits(X, codes).fit("logistic").model.C == 1.0
    size = TrainingSize(30, fewest_labels=1, n_unlabeled=5, most_searched=9)
    assert "C = 1, as a class" in describe_fit("logistic", size)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_is_tuned_by_the_log_loss_of_scikit_learn(n_classes):
    X, _, truth = table(n_classes=n_classes)
    model = LogisticRegression(C=0.1).fit(X, truth + 5)
    found = rivals._mean_log_probability(model, X[:20], truth[:20] + 5)
    expected = metrics.get_scorer("neg_log_loss")(model, X[:20], truth[:20] + 5)
    assert found == pytest.approx(expected, rel=1e-9)
    far = -1e4 * X[:20]  # which is as wrong as that score allows
    expected = metrics.get_scorer("neg_log_loss")(model, far, truth[:20] + 5)
    assert expected < -1.0
    assert rivals._mean_log_probability(model, far, truth[:20] + 5) == pytest.approx(expected)


def test_logistic_regression_is_tuned_by_folds_that_keep_groups_together():
    _, codes, _ = table()
    codes = codes[codes >= 0]
    groups = np.arange(30) // 3
    splits = rivals._logistic_splits(codes, groups, 0)
    assert all(not set(groups[train]) & set(groups[test]) for train, test in splits)


# -- evaluation ---------------------------------------------------------------------------------


def test_scores_are_those_of_fitting_and_testing_by_hand():
    X, codes, _ = table()
    found = evaluate(TableRows(X, codes), folds=3, repeats=1, rivals=LINEAR)
    for k, test in enumerate(found.plan.tests):
        train = np.setdiff1d(np.arange(len(X)), test)
        seed = tasks.split_seed(0, k)
        model = SoftLabelClassifierCV(random_state=seed).fit(X[train], codes[train])
        expected = score(model.supervised_, X[test], codes[test])
        assert [found.scores["ridge"][m][k] for m in METRICS] == pytest.approx(expected)


def test_the_number_of_jobs_changes_no_digit_and_no_rival_depends_on_others(monkeypatch):
    monkeypatch.setattr(tasks, "SHARED", 1000)  # bytes: X is mapped by the processes
    monkeypatch.setattr(tasks, "WORTH_PROCESSES", 0.0)
    X, codes, _ = table(n_rows=60)
    seen = []
    here = evaluate(
        TableRows(X, codes),
        folds=2,
        repeats=1,
        progress=lambda done, total: seen.append((done, total)),
    )
    spread = evaluate(TableRows(X, codes), folds=2, repeats=1, jobs=2)
    np.testing.assert_array_equal(as_arrays(here), as_arrays(spread))
    two = evaluate(TableRows(X, codes), folds=2, repeats=1, rivals=TWO)
    np.testing.assert_array_equal(as_arrays(here)[:2], as_arrays(two))
    assert seen == [(0, 24), (12, 24), (24, 24)]


def test_the_progress_is_told_after_the_first_item_how_long_the_others_take(monkeypatch):
    clock = iter([0.0, 3.0])
    monkeypatch.setattr(tasks.time, "perf_counter", lambda: next(clock))

    class Bar:
        def __call__(self, done, total):
            pass

        def expect(self, seconds):
            self.seconds = seconds

    bar = Bar()
    assert ordered_map(abs, [-1, -2, -3], steps=[3, 2, 1], progress=bar) == [1, 2, 3]
    assert bar.seconds == 3.0  # three steps took as long, and three are left


def test_another_seed_gives_other_folds():
    X, codes, _ = table()
    one, other = (
        evaluate(TableRows(X, codes), folds=2, repeats=1, seed=seed, rivals=LINEAR)
        for seed in (0, 1)
    )
    assert (as_arrays(one) != as_arrays(other)).any()


def test_gains_are_positive_where_a_rival_is_better_than_the_averaged_classifier():
    found = evaluate(TableRows(*needle()), folds=2, repeats=1, rivals=("averaged", "soft"))
    averaged, soft = found.rivals
    assert averaged.gains == {}
    for metric in METRICS:
        sign = -1.0 if metric == "squared_loss" else 1.0
        difference = sign * (soft.scores[metric].mean - averaged.scores[metric].mean)
        assert soft.gains[metric].mean == pytest.approx(difference)


class Broken(HardLabelClassifier):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("There is  no\nway")


def test_a_rival_that_fails_says_why_and_the_others_go_on(monkeypatch):
    monkeypatch.setattr(rivals, "HardLabelClassifier", Broken)
    X, codes, _ = table()
    found = evaluate(TableRows(X, codes), folds=2, repeats=1, rivals=("ridge", "hard"))
    failed = {one.name: one.failed for one in found.rivals if one.failed}
    assert failed == {"hard": "There is no way."}
    assert all(set(one.scores) == set(METRICS) for one in found.rivals if one.name != "hard")


def test_a_rival_that_fails_now_and_then_says_how_often():
    assert evaluation._failure(["No way."], 5) == "1 of 5 fits failed: No way."
    assert evaluation._failure([], 5) == ""


def test_without_the_two_that_decide_there_is_no_answer(monkeypatch):
    def fail(*arguments, **options):
        raise ValueError("X holds numbers whose squares overflow.")

    monkeypatch.setattr(rivals.AveragedClassifier, "fit", fail)
    X, codes, _ = table()
    with pytest.raises(TableError, match="squares overflow"):
        evaluate(TableRows(X, codes), folds=2, repeats=1)


class Grumbling(HardLabelClassifier):
    def fit(self, X, y, sample_weight=None):
        sentence = "No unlabeled row got the label 1, though …"
        warnings.warn(sentence, CollapsedLabelsWarning, stacklevel=1)
        return super().fit(X, y, sample_weight)


def test_warnings_of_fits_are_counted(monkeypatch):
    monkeypatch.setattr(rivals, "HardLabelClassifier", Grumbling)
    X, codes, _ = table()
    (found,) = evaluate(TableRows(X, codes), folds=2, repeats=1, rivals=("hard",)).warnings
    assert (found.rival, found.kind, found.n_fits, found.n_all) == ("hard", "lost_class", 2, 2)
    assert found.warning.startswith("No unlabeled row got the label 1")


@pytest.mark.usefixtures("few_trees")
def test_unlabeled_rows_of_tested_groups_are_kept_from_the_rivals():
    X, codes, _ = table()
    found = evaluate(TableRows(X, codes, np.arange(len(X)) // 4), folds=2, repeats=1)
    assert found.plan.folds == 2
    given = {one.name: one.n_unlabeled for one in found.rivals}
    assert given["soft"] == given["averaged"] < 50


def test_an_interrupted_evaluation_closes_its_workers(monkeypatch):
    closed = []

    def parallel_map(function, items, *, jobs=1, max_nbytes=None):
        try:
            yield from map(function, items)
        finally:
            closed.append(jobs)

    def interrupt(done, total):
        if done > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(tasks, "parallel_map", parallel_map)
    monkeypatch.setattr(tasks, "WORTH_PROCESSES", 0.0)
    with pytest.raises(KeyboardInterrupt) as caught:  # which keeps the generator in memory
        ordered_map(partial(pow, 2), [1, 2, 3], jobs=2, progress=interrupt)
    assert closed == [1, 2]
    assert caught.type is KeyboardInterrupt
