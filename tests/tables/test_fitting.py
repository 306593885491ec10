"""Models of tables: what each method fits, what is measured of it, what is written beside rows."""

import pickle
import re
import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
)
from semisquares.tables import TableError, fit_table, prepare
from semisquares.tables._predicting import PredictionCounts, predict_rows
from semisquares.tables.compare import _rivals as rivals
from semisquares.tables.compare import _tasks as tasks
from semisquares.tables.compare._evaluation import evaluate
from semisquares.tables.compare._rivals import RivalFits, Training
from semisquares.tables.compare._rows import TableRows, subsample
from semisquares.tables.compare._tuning import tune
from semisquares.tables.compare.comparison import METRICS
from semisquares.tables.compare.intervals import honest_score, interval
from semisquares.tables.compare.notices import NoticeContext, find_notices
from semisquares.tables.compare.notices.leak import leaks
from semisquares.tables.compare.splits import plan, training_mask
from semisquares.tables.models import fitting
from semisquares.tables.models._left_out import measure_left_out
from semisquares.tables.models._measuring import FitOptions, Setting, choose
from semisquares.tables.models.files import dumps, loads
from support.table_files import csv_of


def table(n_rows=120, n_labels=40, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, 3)) + 2.0 * np.eye(3)[truth]
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["label"] = np.where(np.arange(n_rows) < n_labels, np.array(list("xyz"))[truth], None)
    return frame


def prepared(**options):
    return prepare(table(**options), "label")


GIVEN = {
    "soft": (SoftLabelClassifier(2.0, unlabeled_weight=0.3), {"alpha": 2.0, "weight": 0.3}),
    "hard": (HardLabelClassifier(2.0, unlabeled_weight=0.3), {"alpha": 2.0, "weight": 0.3}),
    "ridge": (LeastSquaresClassifier(2.0), {"alpha": 2.0}),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", GIVEN)
def test_a_given_alpha_and_weight_give_the_classifier_itself(method, n_classes):
    rows = prepared(n_classes=n_classes)
    expected, options = GIVEN[method]
    model = fit_table(rows, method=method, repeats=1, folds=2, **options)
    expected.fit(rows.X, rows.codes)
    np.testing.assert_allclose(model.classifier.coef, expected.coef_, atol=1e-12)
    assert model.about["alpha"] == 2.0
    assert model.about["unlabeled_weight"] == options.get("weight", 0.0)


def test_scores_of_a_given_classifier_are_those_of_cross_validation_by_hand():
    rows = prepared()
    model = fit_table(rows, method="soft", alpha=2.0, weight=0.3, folds=4, repeats=2, seed=3)
    planned = plan(rows.codes, folds=4, repeats=2, seed=3)
    right = []
    for test in planned.tests:
        inside = training_mask(test, rows.codes)
        by_hand = SoftLabelClassifier(2.0, unlabeled_weight=0.3)
        by_hand.fit(rows.X[inside], rows.codes[inside])
        right.append(by_hand.score(rows.X[test], rows.codes[test]))
    expected = honest_score(interval(np.array(right), planned.ratio), 40)
    found = model.about["metrics"]["accuracy"]
    assert [found["mean"], found["low"], found["high"]] == pytest.approx(
        [expected.mean, expected.low, expected.high]
    )


@pytest.mark.parametrize("method", ["ridge", "soft", "hard"])
def test_scores_of_a_tuned_method_are_those_of_the_rival(method):
    rows = prepared()
    model = fit_table(rows, method=method, folds=3, repeats=1)
    (rival,) = evaluate(TableRows(rows.X, rows.codes), folds=3, repeats=1, rivals=(method,)).rivals
    for metric in METRICS:
        assert model.about["metrics"][metric]["mean"] == pytest.approx(rival.scores[metric].mean)


def test_a_table_without_unlabeled_rows_has_one_method_whatever_is_asked_for():
    rows = prepared(n_labels=120)
    models = [
        fit_table(rows, method=method, alpha=1.0, folds=2, repeats=1) for method in ("soft", "hard")
    ]
    expected = LeastSquaresClassifier(1.0).fit(rows.X, rows.codes)
    for model in models:
        np.testing.assert_allclose(model.classifier.coef, expected.coef_, atol=1e-9)


def sent(function, items, **options):
    """Send the work and its results through bytes, as to processes, but do it here."""
    for item in items:
        work = pickle.loads(pickle.dumps((function, item)))
        yield pickle.loads(pickle.dumps(work[0](work[1])))


@pytest.mark.parametrize(
    "given", [{"method": "ridge"}, {"method": "soft", **GIVEN["soft"][1]}], ids=str
)
@pytest.mark.parametrize(
    "parallel_map", [sent, pytest.param(tasks.parallel_map, marks=pytest.mark.slow)]
)
def test_two_processes_measure_what_one_does_whatever_shows_the_progress(
    monkeypatch, parallel_map, given
):
    monkeypatch.setattr(tasks, "WORTH_PROCESSES", 0.0)  # as on a slow machine
    monkeypatch.setattr(tasks, "parallel_map", parallel_map)
    lock = threading.Lock()  # cannot be sent to another process, like a progress bar

    def progress(done, total):
        with lock:
            pass

    one, two = (
        fit_table(prepared(), folds=2, repeats=2, jobs=jobs, progress=progress, **given)
        for jobs in (1, 2)
    )
    assert two.about["metrics"] == one.about["metrics"]


def test_soft_labels_of_weight_zero_are_the_tuned_ridge():
    rows = prepared()
    known = TableRows(rows.X, rows.codes)
    setting = choose(known, FitOptions("soft", weight=0.0))
    tuned = tune(known, weight=0.0)
    expected = Setting("ridge", tuned.supervised_alpha, 0.0, 0, tuned.supervised_shift)
    assert setting == expected


# -- classifiers of other kinds -----------------------------------------------------------------

ALONE = {
    "logistic": lambda rows, seed=0: logistic_rival(rows),
    "forest": lambda rows, seed=0, **few: RandomForestClassifier(random_state=seed, **few).fit(
        *labeled(rows)
    ),
    "boosting": lambda rows, seed=0, **few: HistGradientBoostingClassifier(
        random_state=seed, **few
    ).fit(*labeled(rows)),
}


def logistic_rival(rows):
    return RivalFits(Training(rows, rows.codes >= 0)).fit("logistic").model


def labeled(rows):
    return rows.X[rows.codes >= 0], rows.codes[rows.codes >= 0]


@pytest.mark.parametrize(
    ("method", "n_classes"), [("logistic", 2), ("forest", 3), ("boosting", 2), ("boosting", 3)]
)
def test_methods_of_scikit_learn_are_fitted_to_the_labels_and_stored(method, n_classes):
    rows = prepared(n_classes=n_classes, n_labels=60)
    model = loads(dumps(fit_table(rows, method=method, folds=2, repeats=1)))
    expected = ALONE[method](TableRows(rows.X, rows.codes))
    found = model.predict(table(n_classes=n_classes, n_labels=60)).soft_labels
    np.testing.assert_allclose(found, expected.predict_proba(rows.X), atol=1e-12)
    about = model.about
    assert (about["method"], about["alpha"], about["unlabeled_weight"]) == (method, None, None)
    assert about["certificate"] is None
    assert re.search(r"^(Logistic r|Random f|Gradient b)\w+: error .* had not", about["summary"])


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("method", ["forest", "boosting"])
def test_their_scores_are_those_of_cross_validation_by_hand(method):
    rows = prepared(n_labels=60)
    model = fit_table(rows, method=method, folds=3, repeats=1)
    planned = plan(rows.codes, folds=3, repeats=1)
    right = []
    for k, test in enumerate(planned.tests):
        inside = training_mask(test, rows.codes)
        part = TableRows(rows.X[inside], rows.codes[inside])
        few = {"n_estimators": 10} if method == "forest" else {"max_iter": 10}
        by_hand = ALONE[method](part, tasks.split_seed(0, k), **few)
        right.append(np.mean(by_hand.predict(rows.X[test]) == rows.codes[test]))
    assert model.about["metrics"]["accuracy"]["mean"] == pytest.approx(np.mean(right))


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("method", ["logistic", "boosting"])
def test_the_stored_model_is_fitted_to_all_labels_however_many(method, monkeypatch):
    monkeypatch.setattr(rivals, "MOST_LABELS", 30)
    rows = prepared(n_labels=100)
    known = TableRows(rows.X, rows.codes)
    everything = np.ones(120, dtype=bool)
    seen = [
        RivalFits(Training(known, everything, all_labels=all_labels)).fit(method).model
        for all_labels in (False, True)
    ]
    model = fit_table(rows, method=method, folds=2, repeats=1)
    found = model.classifier.probabilities(rows.X)
    np.testing.assert_allclose(found, seen[1].predict_proba(rows.X), atol=1e-12)
    assert abs(seen[0].predict_proba(rows.X) - found).max() > 1e-3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_averaged_classifier_is_stored_with_its_own_left_out_scores(n_classes, monkeypatch):
    monkeypatch.setattr(tasks, "ordered_map", None)  # nothing is cross-validated
    rows = prepared(n_classes=n_classes)
    model = loads(dumps(fit_table(rows, store_rows=True)))
    expected = AveragedClassifier().fit(rows.X, rows.codes)
    found = model.predict(table(n_classes=n_classes))
    np.testing.assert_allclose(found.soft_labels, expected.predict_proba(rows.X), atol=1e-12)
    metrics = model.about["metrics"]
    assert metrics["accuracy"]["mean"] == pytest.approx(expected.loo_score_)
    assert set(metrics) == set(METRICS)
    for one in metrics.values():
        assert one["low"] <= one["mean"] <= one["high"]
        assert one["low"] < one["high"]
    assert model.about["summary"].startswith("Averaged classifier: error ")


def test_the_averaged_classifier_leaves_groups_out_together():
    frame = table(n_labels=60).assign(site=np.arange(120) // 6)
    rows = prepare(frame, "label", group="site")
    model = fit_table(rows, method="averaged", store_rows=True)
    expected = AveragedClassifier().fit(rows.X, rows.codes, groups=rows.groups)
    assert model.about["metrics"]["accuracy"]["mean"] == pytest.approx(expected.loo_score_)


def test_intervals_of_left_out_scores_cover_what_they_should():
    """Of 95 % intervals for a known accuracy nearly all cover it, and they are not too wide."""
    rng = np.random.default_rng(0)
    covered, widths = [], []
    for seed in range(60):
        codes = rng.integers(2, size=150)
        p = np.clip(0.5 + 0.4 * (2 * codes - 1) * rng.choice([1, -1], 150, p=[0.8, 0.2]), 0, 1)
        found = measure_left_out(np.c_[1 - p, p], codes, None, "ab", seed).metrics["accuracy"]
        covered.append(found.low <= 0.8 <= found.high)
        widths.append(found.high - found.low)
    assert np.mean(covered) >= 0.9
    assert np.mean(widths) < 0.16


def test_rows_of_one_group_make_intervals_wider():
    rng = np.random.default_rng(0)
    groups = np.arange(200) // 20
    codes = rng.integers(2, size=200)
    p = np.where(groups % 3 > 0, codes, 1 - codes) * 0.8 + 0.1  # right or wrong together
    proba = np.c_[1 - p, p]
    alone, together = (measure_left_out(proba, codes, g, "ab").metrics for g in (None, groups))
    assert together["accuracy"].mean == alone["accuracy"].mean
    widths = [one["accuracy"].high - one["accuracy"].low for one in (alone, together)]
    assert widths[1] > 2 * widths[0]


def test_classes_that_cannot_be_left_out_are_named():
    frame = table(n_classes=3)
    frame.loc[frame["label"].eq("z") & (frame.index > 2), "label"] = None
    notes = fit_table(prepare(frame, "label"), method="averaged").about["notes"]
    assert any(note.startswith("Class 'z' has a single labeled row") for note in notes)
    one_each = table().assign(label=["x", "y", *[None] * 118])
    about = fit_table(prepare(one_each, "label"), method="averaged").about
    assert about["metrics"] == {}
    assert any(note.startswith("No scores could be measured.") for note in about["notes"])


def test_an_average_on_noise_is_called_no_better_than_one_answer():
    notes = fit_table(prepare(noise(), "label"), method="averaged").about["notes"]
    assert any("no better than always answering 'ok'" in note for note in notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "averaged", "alpha": 1.0}, "Method averaged has neither alpha nor weight; le"),
        ({"method": "forest", "weight": 1.0}, "Method forest has neither alpha nor weight; leave"),
        ({"method": "ridge", "weight": 1.0}, "Method ridge leaves the unlabeled rows out"),
        ({"method": "best"}, "no method 'best'"),
        ({"alpha": 1.0}, "Method averaged has neither alpha"),
        ({"method": "auto"}, "no method 'auto'"),
        ({"method": "ridge", "weight": 1.0}, "leaves the unlabeled rows out"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, words):
    with pytest.raises(TableError, match=words):
        fit_table(prepared(), **options)


def test_a_model_holds_no_row_of_its_table():
    rows = prepared(n_rows=5000, n_labels=40)
    model = fit_table(rows, method="soft", alpha=1.0, weight=1.0, folds=2, repeats=1)
    arrays = [np.size(value) for value in vars(model.classifier).values()]
    assert max(arrays) < 10


def noise():
    """Draw a table whose columns know nothing: eight of ten labels are "ok"."""
    made = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("abc"))
    words = np.where(np.arange(80) % 5 == 0, "worn", "ok")
    return made.assign(label=np.where(np.arange(80) < 50, words, None))


@pytest.mark.parametrize("options", [{}, {"method": "soft", "alpha": 60.0, "weight": 0.1}])
def test_a_model_that_is_worth_no_more_than_one_answer_says_so(options):
    model = fit_table(prepare(noise(), "label"), folds=3, repeats=1, **options)
    note, useless = model.about["notes"][:2]
    error = re.match(r"The model is no better than always answering 'ok': error ([\d.]+) %", note)
    assert float(error[1]) >= 20.0  # that of the answer "ok"
    assert "never predicted" not in note
    assert useless.startswith("The model is useless for class 'worn': it predicts it for none of")


def test_a_good_model_is_not_suspected():
    assert fit_table(prepared(), method="soft", alpha=1.0, weight=1.0).about["notes"] == []


@pytest.mark.parametrize("options", [{}, {"method": "ridge", "alpha": 1.0}])
def test_ten_labels_are_never_certain_and_no_score_is_impossible(options):
    frame = pd.DataFrame({"a": np.arange(30) % 2 + np.arange(30) / 1e4})
    frame["label"] = np.where(np.arange(30) < 10, np.where(frame["a"] < 0.5, "x", "y"), None)
    model = fit_table(prepare(frame, "label"), folds=2, repeats=2, **options)
    for name in ("accuracy", "balanced_accuracy", "auc"):
        found = model.about["metrics"][name]
        assert found["mean"] == found["high"] == 1.0
        assert found["low"] == pytest.approx(0.025 ** (1 / 10))
    assert "(95 % interval 0.0 % to 30.8 %)" in model.about["summary"]


@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_few_labels_end_where_scores_end(seed):
    rows = prepared(n_labels=8, seed=seed)
    model = fit_table(rows, method="soft", alpha=1.0, weight=1.0, folds=2, repeats=1)
    for name in ("accuracy", "balanced_accuracy", "auc"):
        found = model.about["metrics"][name]
        assert 0.0 <= found["low"] < found["high"] <= 1.0


# -- predictions --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return fit_table(prepared(n_classes=3), method="ridge", alpha=1.0, folds=2, repeats=1)


def test_batches_change_no_prediction(model):
    frame = table(n_classes=3)
    counts = PredictionCounts()
    batches = list(predict_rows(model, csv_of(frame), counts, rows=7))
    assert len(batches) == 18
    assert counts.n_rows == counts.n_filled == sum(counts.labels.values()) == 120
    predicted = [label for batch in batches for label in batch["label_predicted"].to_pylist()]
    assert predicted == model.predict(frame).labels.tolist()
    assert batches[0].column_names[-8:] == [
        "label_predicted",
        "label_probability",
        *(f"label_{kind}_{name}" for kind in ("soft", "decision") for name in "xyz"),
    ]


def test_a_column_with_the_name_of_a_prediction_is_refused(model):
    frame = table(n_classes=3).rename(columns={"a": "label_predicted"})
    with pytest.raises(TableError, match="already has a column 'label_predicted'"):
        next(predict_rows(model, csv_of(frame), PredictionCounts()))


def test_without_the_target_there_is_nothing_to_fill(model):
    frame = table(n_classes=3).drop(columns="label")
    with pytest.raises(TableError, match="no column 'label' whose empty cells"):
        next(predict_rows(model, csv_of(frame), PredictionCounts(), only_missing=True))


def test_a_lost_class_is_told_in_words_of_the_table():
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 3
    X = rng.normal(size=(120, 3)) + 1.2 * truth[:, None]  # the class in the middle fades away
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["label"] = np.where(np.arange(120) < 40, np.array(list("xyz"))[truth], None)
    rows = prepare(frame, "label")
    model = fit_table(rows, method="hard", alpha=2.0, weight=0.3, folds=2, repeats=1)
    assert "The model is useless for class 'y': it predicts it for none" in model.about["notes"][0]
    assert "Some class was given to no unlabeled row at all" in model.about["notes"][1]


# -- what has to be known of a model ------------------------------------------------------------


def fitted(frame):
    return fit_table(prepare(frame, "label"), method="ridge", alpha=2.0, repeats=2)


def test_a_column_that_gives_the_label_away_is_told_as_compare_tells_it():
    frame = table()
    frame["known after"] = np.where(np.arange(120) % 2, 3.0, 9.0)
    (notice,) = leaks(prepare(frame, "label"), seed=0)
    assert fitted(frame).about["notes"] == [f"{notice.sentence} {notice.meaning}"]
    assert fitted(table()).about["notes"] == []


def ordered(n_rows=600, n_labels=100):
    """Draw a table in the order of one column, of which the first rows have labels."""
    rng = np.random.default_rng(0)
    price = np.sort(rng.exponential(1.0, n_rows))
    frame = pd.DataFrame({"price": price, "depth": rng.normal(size=n_rows)})
    good = rng.random(n_rows) < np.clip(0.3 + price / 4, 0, 1)
    frame["label"] = np.where(np.arange(n_rows) < n_labels, np.where(good, "y", "x"), None)
    return frame


def test_an_ordered_table_whose_first_rows_are_labeled_is_told_as_a_shift():
    about = loads(dumps(fitted(ordered()))).about
    shift = next(one for one in about["notices"] if one["kind"] == "shift")
    assert shift["sentence"].startswith("The labeled rows do not look like the unlabeled ones")
    assert shift["facts"]["auc"] > 0.9
    assert shift["facts"]["features"] == ["price"]
    assert f"{shift['sentence']} {shift['meaning']}" in about["notes"]
    at_random = ordered().assign(label=ordered()["label"].sample(frac=1, random_state=0).array)
    assert "shift" not in {one["kind"] for one in fitted(at_random).about["notices"]}


def test_a_model_keeps_every_notice_of_its_table():
    frame = pd.concat([table(), table()], ignore_index=True)
    frame.loc[[0, 3], "label"] = ["?", "z"]
    model = fitted(frame)
    kinds = [one["kind"] for one in model.about["notices"]]
    rows = prepare(frame, "label")
    found = find_notices(NoticeContext(rows, seed=0))
    assert [one.kind for one in found] == ["copies_labeled", "untested"]
    assert kinds == ["table", "never_predicted", *(one.kind for one in found)]
    texts = [*rows.notes, *(one.text for one in found)]
    assert [model.about["notes"][k] for k in (0, 2, 3)] == texts
    assert "Class '?' of column 'label' looks like a missing label" in model.about["notes"][0]
    assert model.about["notices"][2]["facts"]["n_copied"] == 80


def test_a_class_with_a_single_label_is_told_once_and_stays_in_the_model():
    frame = table()
    frame.loc[0, "label"] = "z"
    model = fitted(frame)
    assert model.classes == ("x", "y", "z")
    kinds = [one["kind"] for one in model.about["notices"]]
    assert kinds == ["never_predicted", "untested"]
    found = find_notices(NoticeContext(prepare(frame, "label"), seed=0))
    assert [one.kind for one in found] == ["untested"]


def test_a_sample_of_very_many_rows_is_looked_at_and_said_to_be(monkeypatch):
    monkeypatch.setattr(fitting, "subsample", partial(subsample, most=50))
    (notice,) = fitted(table()).about["notices"]
    assert notice["kind"] == "sample_checked"
    assert "a random sample of 50 of the 80 unlabeled rows" in notice["sentence"]


@pytest.mark.parametrize(
    ("n_filled", "words"),
    [
        (25, "; 25 of the 40 labels were filled in by a model, so this error mostly says how far"),
        (20, "; 20 of the 40 labels were filled in by a model, so this error partly says how far"),
        (1, "; 1 of the 40 labels was filled in by a model, so this error partly says how far"),
    ],
)
def test_an_error_on_labels_of_a_model_says_so_and_the_model_keeps_it(n_filled, words):
    about = fitted(table().assign(label_filled=np.arange(120) < n_filled)).about
    assert words in about["summary"]
    assert about["notes"][0].startswith(f"{n_filled} of the 40 labels in column 'label' w")
    assert (
        "filled" not in fitted(table().assign(label_filled=np.arange(120) >= 40)).about["summary"]
    )


def test_predictions_beside_the_labels_change_no_model():
    frame = table()
    known = np.arange(120) % 2
    written = frame.assign(label_predicted=known, label_soft_y=known, label_decision_y=known - 0.5)
    one, other = fitted(frame), fitted(written)
    np.testing.assert_array_equal(one.classifier.coef, other.classifier.coef)
    assert one.about["metrics"] == other.about["metrics"]
