"""The classifiers inside scikit-learn: pipelines, searches, routing, threads, callbacks, files."""

import functools
import pickle
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import estimator_html_repr
from threadpoolctl import threadpool_info, threadpool_limits

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.core.rows import DenseTable
from semisquares.core.rows.reduce import THREADED_VALUES
from semisquares.model_selection import LabeledStratifiedKFold
from support.allowed_warnings import collapse_allowed

SEMI_SUPERVISED = [
    SoftLabelClassifier(alpha=0.1),
    SoftLabelClassifier(alpha=0.1, solver="block"),
    HardLabelClassifier(alpha=0.1, init="random", random_state=1),  # so that it takes some steps
]
MODELS = [
    LeastSquaresClassifier(alpha=0.1),
    *SEMI_SUPERVISED,
    SoftLabelClassifierCV(),
    AveragedClassifier(["least_squares", "logistic"]),
]


@pytest.fixture(params=MODELS, ids=repr)
def model(request):
    return clone(request.param)


@pytest.fixture(params=MODELS[:-1], ids=repr)
def linear_model(request):
    return clone(request.param)


@pytest.fixture(params=SEMI_SUPERVISED, ids=repr)
def semi_supervised(request):
    return clone(request.param)


def blobs(n_classes, n_rows=120, seed=0):
    """Return rows of classes that overlap, a label for a quarter of them, and the truth."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, 4))
    X[np.arange(n_rows), truth] += 2.0
    return X, np.where(rng.permutation(n_rows) < n_rows // 4, truth, -1), truth


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def table(request):
    return blobs(request.param)[:2]


@pytest.fixture
def X():
    return blobs(2)[0]


@pytest.fixture
def y():
    return blobs(2)[1]


def assert_same(model, other, rtol=1e-12):
    np.testing.assert_array_equal(model.classes_, other.classes_)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=rtol, atol=1e-14)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=rtol, atol=1e-14)


# pipelines


def test_a_pipeline_is_its_steps(model, table):
    X, y = table
    piped = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    model.fit(scaled, y)
    np.testing.assert_array_equal(piped.predict(X), model.predict(scaled))
    np.testing.assert_array_equal(piped.predict_proba(X), model.predict_proba(scaled))
    assert piped.score(X, y) == model.score(scaled, y)


@pytest.mark.parametrize("sparse_threshold", [0.0, 1.0], ids=["dense", "sparse"])
def test_a_column_transformer_prepares_a_frame(linear_model, X, y, sparse_threshold):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(colour=["red", "blue", "grey"] * 40)
    prepare = ColumnTransformer(
        [("numbers", StandardScaler(), list("abcd")), ("words", OneHotEncoder(), ["colour"])],
        sparse_threshold=sparse_threshold,
    )
    labels = pd.Series(y).map({0: "no", 1: "yes"})  # NaN where there is no label
    piped = make_pipeline(prepare, linear_model).fit(frame, labels)
    assert piped.classes_.tolist() == ["no", "yes"]
    assert piped[-1].coef_.shape == (1, 7)
    assert piped.score(frame, labels) > 0.8


def test_a_frame_out_of_a_pipeline_names_the_features(model, X, y):
    frame = pd.DataFrame(X, columns=list("abcd"))
    piped = make_pipeline(StandardScaler().set_output(transform="pandas"), model).fit(frame, y)
    assert piped[-1].feature_names_in_.tolist() == list("abcd")


# parameters


def test_a_clone_has_the_parameters_and_nothing_else(model, table):
    copy = clone(model.fit(*table))
    assert copy.get_params() == model.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]


def test_every_parameter_is_kept_as_it_is_given(model):
    given = {name: object() for name in model.get_params()}
    model.set_params(**given)
    assert model.get_params() == given


def test_a_fit_does_not_change_the_parameters(model, table):
    before = model.get_params()
    model.fit(*table)
    assert model.get_params() == before


def test_set_params_counts_at_the_next_fit(linear_model, table):
    X, y = table
    before = linear_model.fit(X, y).intercept_
    linear_model.set_params(fit_intercept=False).fit(X, y)
    assert_same(linear_model, clone(linear_model).fit(X, y))
    assert (linear_model.intercept_ == -0.5).all()
    assert (before != -0.5).all()


# model selection


@pytest.mark.parametrize("labels", [[0, 1, -1], ["no", "yes", None], [0.0, 1.0, np.nan]], ids=str)
def test_a_grid_search_tests_on_labeled_rows(semi_supervised, X, y, labels):
    y = np.array(labels, dtype=object if None in labels else None)[y]
    grid = {"alpha": [0.1, 10.0], "unlabeled_weight": [0.0, 0.5, 1.0]}
    cv = LabeledStratifiedKFold(3)
    search = GridSearchCV(semi_supervised, grid, cv=cv, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 6
    by_hand = [
        clone(semi_supervised).set_params(**search.best_params_).fit(X[a], y[a]).predict(X[b])
        == y[b]
        for a, b in cv.split(X, y)
    ]
    assert search.best_score_ == pytest.approx(np.mean([right.mean() for right in by_hand]))
    assert_same(search.best_estimator_, clone(search.best_estimator_).fit(X, y))
    assert search.score(X, y) > 0.8


def test_train_scores_leave_unlabeled_rows_out_too(model, table):
    X, y = table
    found = cross_validate(
        model, X, y, cv=LabeledStratifiedKFold(3), return_train_score=True, error_score="raise"
    )
    assert (found["train_score"] > 0.6).all()


def test_a_learning_curve_adds_labels_first_and_then_unlabeled_rows(semi_supervised, X, y):
    sizes, _, test = learning_curve(
        semi_supervised, X, y, cv=LabeledStratifiedKFold(3), train_sizes=[4, 20, 110],
        error_score="raise",
    )  # fmt: skip
    assert sizes.tolist() == [4, 20, 110]
    assert np.isfinite(test).all()


def test_score_leaves_unlabeled_rows_out(model, table):
    X, y = table
    known = y != -1
    model.fit(X, y)
    accuracy = (model.predict(X) == y)[known].mean()
    assert model.score(X, y) == model.score(X[known], y[known]) == accuracy


def test_score_weighs_rows(model, X, y):
    weight = np.random.default_rng(0).uniform(size=len(y))
    model.fit(X, y)
    known = y != -1
    right = (model.predict(X) == y)[known]
    expected = weight[known] @ right / weight[known].sum()
    assert model.score(X, y, weight) == pytest.approx(expected, rel=1e-14)
    assert model.score(X, y, weight.tolist()) == pytest.approx(expected, rel=1e-14)


def test_sample_weight_is_routed_to_fit_and_score(semi_supervised, X, y):
    weight = np.random.default_rng(0).integers(1, 9, len(y)).astype(float)
    cv = LabeledStratifiedKFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        semi_supervised.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(
            semi_supervised, X, y, cv=cv, params={"sample_weight": weight}, error_score="raise"
        )
        search = GridSearchCV(semi_supervised, {"alpha": [0.1, 1.0]}, cv=cv, error_score="raise")
        search.fit(X, y, sample_weight=weight)
    by_hand = [
        clone(semi_supervised).fit(X[a], y[a], weight[a]).score(X[b], y[b], weight[b])
        for a, b in cv.split(X, y)
    ]
    np.testing.assert_allclose(found["test_score"], by_hand, rtol=1e-12)
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(by_hand))
    assert_same(search.best_estimator_, clone(search.best_estimator_).fit(X, y, weight))
    unweighted = clone(search.best_estimator_).fit(X, y)
    assert not np.allclose(search.best_estimator_.coef_, unweighted.coef_, rtol=1e-3)


def test_sample_weight_is_routed_through_a_pipeline(linear_model, X, y):
    weight = np.random.default_rng(0).uniform(size=len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        piped = make_pipeline(scaler, clone(linear_model).set_fit_request(sample_weight=True))
        piped.fit(X, y, sample_weight=weight)
    assert_same(piped[-1], linear_model.fit(StandardScaler().fit_transform(X), y, weight))


# threads and processes


@pytest.fixture(scope="module")
def large():
    """Return so many values that they are summed in threads."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((THREADED_VALUES // 45 + 1000, 45))
    X[::2, 0] += 4.0
    y = np.full(len(X), -1)
    y[:400] = np.arange(400) % 2
    return X, y


def blas_threads():
    return [
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    ]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_two_jobs_give_the_results_of_one(semi_supervised, X, y, backend):
    def scores(n_jobs):
        return cross_validate(
            semi_supervised, X, y, cv=LabeledStratifiedKFold(4), n_jobs=n_jobs,
            return_estimator=True, error_score="raise",
        )  # fmt: skip

    one = scores(1)
    with joblib.parallel_config(backend):
        two = scores(2)
    np.testing.assert_array_equal(one["test_score"], two["test_score"])
    for a, b in zip(one["estimator"], two["estimator"], strict=True):
        np.testing.assert_array_equal(a.coef_, b.coef_)


def test_fits_side_by_side_in_threads_give_the_same_and_restore_blas(large):
    X, y = large
    models = [SoftLabelClassifier(alpha=alpha) for alpha in (0.5, 4.0)]
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        alone = [clone(model).fit(X, y) for model in models]
        assert blas_threads() == before
        together = joblib.Parallel(n_jobs=2, backend="threading")(
            joblib.delayed(clone(model).fit)(X, y) for model in models
        )
        assert blas_threads() == before
    assert max(before) == 2
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a.coef_, b.coef_)


def test_a_failed_fit_in_threads_restores_blas(large):
    X, y = large
    X = X.copy()
    X[45_000, 3] = np.nan
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="X contains NaN"):
            SoftLabelClassifier().fit(X, y)
        assert blas_threads() == before


def test_the_number_of_threads_changes_no_bit(large, monkeypatch):
    X, y = large
    seen = set()
    plain_slice = DenseTable.slice

    def seen_slice(self, start, stop):
        seen.add(threading.get_ident())
        return plain_slice(self, start, stop)

    monkeypatch.setattr(DenseTable, "slice", seen_slice)
    models, idents = [], []
    for n_threads in (1, 2):
        seen.clear()
        with threadpool_limits(n_threads, "blas"):
            models.append(SoftLabelClassifier().fit(X, y))
        idents.append(len(seen))
    assert idents[0] == 1
    assert idents[1] > 1
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    np.testing.assert_array_equal(models[0].intercept_, models[1].intercept_)
    np.testing.assert_array_equal(models[0].label_distributions_, models[1].label_distributions_)
    assert models[0].objective_ == models[1].objective_
    assert models[0].certificate_ == models[1].certificate_


# files and pages


def test_a_pickled_model_predicts_the_same(model, table):
    X, y = table
    model.fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert vars(copy).keys() == vars(model).keys()


def test_a_dumped_model_predicts_the_same(model, table, tmp_path):
    X, y = table
    joblib.dump(model.fit(X, y), tmp_path / "model.joblib")
    copy = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert copy.score(X, y) == model.score(X, y)


def test_a_pickled_model_does_not_hold_the_training_rows(semi_supervised):
    X = np.random.default_rng(0).normal(size=(4000, 40))
    y = np.where(np.arange(4000) % 10 == 0, X[:, 0] > 0, -1)
    semi_supervised.set_params(max_iter=50, tol=0.01).fit(X, y)
    assert len(pickle.dumps(semi_supervised)) < 0.25 * X.nbytes


def test_the_html_page_shows_parameters_and_fitted_attributes(model, table):
    name = type(model).__name__
    unfitted = estimator_html_repr(model)
    fitted = model.fit(*table)._repr_html_()
    for page in (unfitted, fitted):
        assert name in page
        assert "alpha" in page
    assert "Fitted attributes" in fitted
    assert "Fitted attributes" not in unfitted


def test_the_html_page_of_a_pipeline_works(model, table):
    piped = make_pipeline(StandardScaler(), model)
    assert type(model).__name__ in piped._repr_html_()
    assert type(model).__name__ in piped.fit(*table)._repr_html_()


# what a fitted model says


def test_with_every_label_known_the_classes_are_those_of_ridge_classifier():
    X, _, truth = blobs(3)
    ridge = RidgeClassifier(alpha=2.0).fit(X, truth)
    model = SoftLabelClassifier(alpha=2.0).fit(X, truth)
    np.testing.assert_allclose(
        2 * model.decision_function(X), ridge.decision_function(X), atol=1e-9
    )


@functools.cache
def fitted(number, n_classes):
    return clone(MODELS[number]).fit(*blobs(n_classes)[:2])


numbers = st.floats(-1e6, 1e6) | st.floats(-3, 3)


@collapse_allowed  # a random start may do that
@given(
    model=st.builds(fitted, st.integers(0, len(MODELS) - 1), st.integers(2, 4)),
    row=st.lists(numbers, min_size=4, max_size=4),
    scale=st.sampled_from([1.0, 1e-8, 1e8]),
)
def test_soft_labels_are_finite_sum_to_one_and_agree_with_predict(model, row, scale):
    rows = np.array([row]) * scale
    soft = model.predict_proba(rows)
    assert soft.shape == (1, len(model.classes_))
    assert np.isfinite(soft).all()
    assert (soft >= 0.0).all()
    np.testing.assert_allclose(soft.sum(axis=1), 1.0, rtol=1e-12)
    assert soft.max() == soft[0, model.classes_.tolist().index(model.predict(rows)[0])]


def test_label_distributions_sum_to_one_and_keep_known_labels(semi_supervised, table):
    X, y = table
    semi_supervised.fit(X, y)
    distributions, known = semi_supervised.label_distributions_, y != -1
    assert distributions.shape == (len(y), len(semi_supervised.classes_))
    assert (distributions >= 0.0).all()
    np.testing.assert_allclose(distributions.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(
        distributions[known], np.eye(len(semi_supervised.classes_))[y[known]]
    )


def test_transduction_keeps_known_labels_and_predicts_the_others(semi_supervised, table):
    X, y = table
    semi_supervised.fit(X, y)
    known = y != -1
    np.testing.assert_array_equal(semi_supervised.transduction_[known], y[known])
    np.testing.assert_array_equal(
        semi_supervised.transduction_[~known], semi_supervised.predict(X)[~known]
    )


def test_calibration_on_labeled_rows_gives_probabilities(model, table):
    X, y = table
    known = y != -1
    model.fit(X, y)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X[known], y[known])
    probability = calibrated.predict_proba(X)
    assert probability.shape == (len(X), len(model.classes_))
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    assert (probability > 0.0).all()
    assert calibrated.score(X[known], y[known]) > 0.8


@pytest.mark.parametrize("model", [SoftLabelClassifier(), HardLabelClassifier()], ids=repr)
def test_two_fits_without_a_random_state_are_the_same_to_the_bit(model, large):
    X, y = large
    X = X[:, :5]  # rows enough for a start on a sample of them
    first, second = clone(model).fit(X, y), clone(model).fit(X, y)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.label_distributions_, second.label_distributions_)
    assert first.certificate_ == second.certificate_ or np.isnan(first.certificate_)


# the way of the solver


def test_the_recorded_path_ends_at_the_solution_and_descends(semi_supervised, table):
    X, y = table
    semi_supervised.set_params(record_path=True).fit(X, y)
    path = semi_supervised.path_
    assert [step.iteration for step in path] == list(range(1, semi_supervised.n_iter_ + 1))
    assert path[-1].value == pytest.approx(semi_supervised.objective_, rel=1e-12)
    np.testing.assert_allclose(path[-1].w[:, :-1], semi_supervised.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        path[-1].w[:, -1] - 0.5, semi_supervised.intercept_, rtol=1e-10, atol=1e-12
    )
    assert (np.diff([step.value for step in path]) <= 1e-12).all()
    assert len(path) > 1


@pytest.fixture
def few_missing():
    """Return labels of which 20 are missing: all labelings of them can be looked at."""
    X, _, truth = blobs(2)
    return X, np.where(np.random.default_rng(1).permutation(120) < 100, truth, -1)


def test_enumerate_records_a_path_that_ends_at_the_solution(few_missing):
    model = HardLabelClassifier(solver="enumerate", record_path=True).fit(*few_missing)
    assert model.path_[-1].value == pytest.approx(model.objective_, rel=1e-9)


def test_enumerate_tells_its_callbacks_and_is_stopped_by_them(few_missing):
    X, y = few_missing
    stopper = Stopper()
    model = HardLabelClassifier(solver="enumerate").set_callbacks(stopper).fit(X, y)
    assert stopper.events.count("begin step") == 1
    assert model.termination_condition_ == "stopped by a callback"
    assert model.score(X, y) > 0.8


def test_nothing_is_recorded_unless_asked_for(semi_supervised, table):
    assert not hasattr(semi_supervised.fit(*table), "path_")


def test_a_fit_that_records_nothing_forgets_the_path_before(semi_supervised, table):
    semi_supervised.set_params(record_path=True).fit(*table)
    assert not hasattr(semi_supervised.set_params(record_path=False).fit(*table), "path_")


def test_verbose_prints_a_line_for_every_step(semi_supervised, table, capsys):
    semi_supervised.set_params(verbose=1).fit(*table)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == semi_supervised.n_iter_
    start = f"[{type(semi_supervised).__name__}] step"
    assert all(line.startswith(start) for line in lines)


def test_a_fit_is_silent_unless_asked(semi_supervised, table, capsys):
    semi_supervised.fit(*table)
    assert capsys.readouterr() == ("", "")


def test_a_warm_start_from_the_solution_takes_one_step(semi_supervised, table):
    cold = clone(semi_supervised).fit(*table)
    semi_supervised.set_params(warm_start=True).fit(*table).fit(*table)
    assert cold.n_iter_ > 1
    assert semi_supervised.n_iter_ == 1
    assert_same(semi_supervised, cold, rtol=1e-8)


def test_a_warm_start_on_the_way_to_another_alpha_ends_where_a_cold_one_does(table):
    warm = SoftLabelClassifier(alpha=1.0, warm_start=True).fit(*table)
    warm.set_params(alpha=0.3).fit(*table)
    assert_same(warm, SoftLabelClassifier(alpha=0.3).fit(*table), rtol=1e-9)


def test_a_warm_start_with_other_classes_or_columns_is_a_cold_one(semi_supervised):
    semi_supervised.set_params(warm_start=True)
    X, y, _ = blobs(2)
    X3, y3, _ = blobs(3)
    for rows, labels in ((X, y), (X3, y3), (X3[:, :2], y3), (X[:, :2], y)):
        assert_same(semi_supervised.fit(rows, labels), clone(semi_supervised).fit(rows, labels))


# callbacks


class Recorder:
    """Write down what a fit tells; stop after so many steps."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.events, self.begun, self.ended, self.models = [], [], [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")
        self.begun.append(context.estimator_name)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.events.append(f"end {context.task_name}")
        self.ended.append(context.estimator_name)
        self.models.extend([] if fitted_estimator is None else [(fitted_estimator, X, y)])
        return len(self.models) == self.stop_after


class Propagated(Recorder):
    """The same, handed from a pipeline or search to what is in it."""

    max_propagation_depth = None


def test_callbacks_are_told_of_setup_of_every_step_and_of_the_end(semi_supervised, table):
    recorder = Recorder()
    semi_supervised.set_callbacks(recorder).fit(*table)
    steps = ["begin step", "end step"] * semi_supervised.n_iter_
    assert recorder.events == ["setup", "begin fit", *steps, "end fit", "teardown"]


def test_the_supervised_classifier_tells_its_callbacks_too(table):
    recorder = Recorder()
    LeastSquaresClassifier().set_callbacks(recorder).fit(*table)
    assert recorder.events == ["setup", "begin fit", "end fit", "teardown"]


def test_callbacks_are_torn_down_after_a_failed_fit(semi_supervised, X, y):
    recorder = Recorder()
    X[y == -1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        semi_supervised.set_callbacks(recorder).fit(X, y)
    assert recorder.events.count("setup") == recorder.events.count("teardown")


def test_callbacks_change_nothing(semi_supervised, table):
    plain = clone(semi_supervised).fit(*table)
    told = semi_supervised.set_callbacks(Recorder(), ScoringMonitor(scoring="accuracy")).fit(*table)
    np.testing.assert_array_equal(told.coef_, plain.coef_)
    assert told.termination_condition_ == plain.termination_condition_
    assert told.n_iter_ == plain.n_iter_


def test_every_step_hands_out_labeled_rows_and_a_model_that_predicts(semi_supervised, table):
    X, y = table
    recorder = Recorder()
    semi_supervised.set_callbacks(recorder).fit(X, y)
    for model, rows, labels in recorder.models:
        np.testing.assert_array_equal(rows, X[y != -1])
        np.testing.assert_array_equal(labels, y[y != -1])
        assert model is not semi_supervised
        assert model.predict(X).shape == y.shape
    assert_same(recorder.models[-1][0], semi_supervised, rtol=1e-9)


def test_a_scoring_monitor_logs_the_accuracy_on_labeled_rows_of_every_step(semi_supervised, table):
    X, y = table
    monitor = ScoringMonitor(scoring="accuracy")
    semi_supervised.set_callbacks(monitor).fit(X, y)
    log = monitor.get_logs().data
    assert len(log) == semi_supervised.n_iter_ > 1
    assert [row["task_id"] for row in log] == list(range(len(log)))
    assert {row["task_name"] for row in log} == {"step"}
    assert log[-1]["accuracy"] == semi_supervised.score(X, y)


def test_a_scoring_monitor_may_ask_for_soft_labels_and_strings(semi_supervised, X, y):
    monitor = ScoringMonitor(scoring=["roc_auc", "neg_log_loss"])
    labels = np.array(["no", "yes", None], dtype=object)[y]
    semi_supervised.set_callbacks(monitor).fit(X, labels)
    last = monitor.get_logs().data[-1]
    assert last["roc_auc"] > 0.8
    assert np.isfinite(last["neg_log_loss"])


def test_a_progress_bar_is_shown(semi_supervised, table, capsys):
    semi_supervised.set_callbacks(ProgressBar()).fit(*table)
    assert f"{type(semi_supervised).__name__} - fit" in capsys.readouterr().out


@pytest.mark.parametrize("stop_after", [1, 2])
def test_a_callback_that_returns_true_stops_the_fit_and_loses_nothing(
    semi_supervised, table, stop_after
):
    X, y = table
    full = clone(semi_supervised).set_params(record_path=True).fit(X, y)
    recorder = Recorder(stop_after)
    semi_supervised.set_params(record_path=True).set_callbacks(recorder).fit(X, y)
    assert full.n_iter_ > stop_after
    assert semi_supervised.termination_condition_ == "stopped by a callback"
    assert semi_supervised.n_iter_ == len(semi_supervised.path_) == stop_after
    there = full.path_[stop_after - 1]
    np.testing.assert_array_equal(semi_supervised.coef_, there.w[:, :-1])
    assert semi_supervised.objective_ == pytest.approx(there.value, rel=1e-12)
    assert_same(recorder.models[-1][0], semi_supervised)
    assert recorder.events[-2:] == ["end fit", "teardown"]
    known = y != -1
    np.testing.assert_array_equal(semi_supervised.transduction_[known], y[known])
    np.testing.assert_allclose(semi_supervised.label_distributions_.sum(axis=1), 1.0, rtol=1e-12)
    assert semi_supervised.predict_proba(X).shape == (len(X), len(semi_supervised.classes_))
    assert semi_supervised.supervised_.predict(X).shape == y.shape


def test_a_soft_fit_stopped_early_has_an_honest_certificate(table):
    full = SoftLabelClassifier(solver="block", alpha=0.1).fit(*table)
    stopped = clone(full).set_callbacks(Recorder(1)).fit(*table)
    gap = stopped.objective_ - full.objective_
    assert 0.0 < gap <= stopped.certificate_ * J_of_the_best_constant(*table)


def J_of_the_best_constant(X, y):
    """Return what `certificate_` is relative to: J of weights zero, the intercept free."""
    far = SoftLabelClassifier(alpha=1e15).fit(X, y)
    return far.objective_


def test_a_stopped_fit_goes_on_from_where_it_was(table):
    full = SoftLabelClassifier(solver="block", alpha=0.1).fit(*table)
    model = SoftLabelClassifier(solver="block", alpha=0.1, warm_start=True)
    model.set_callbacks(Recorder(5)).fit(*table)
    model.set_callbacks().fit(*table)
    assert_same(model, full, rtol=1e-8)
    assert model.n_iter_ < full.n_iter_


def test_a_fit_without_a_ridge_that_is_stopped_can_predict():
    X = np.random.default_rng(0).normal(size=(60, 8))
    y = np.where(np.arange(60) < 5, np.arange(60) % 2, -1)  # fewer labels than columns
    model = SoftLabelClassifier(alpha=0).set_callbacks(Recorder(1)).fit(X, y)
    assert model.termination_condition_ == "stopped by a callback"
    assert model.score(X, y) >= 0.5


def test_callbacks_inside_a_pipeline(semi_supervised, table):
    X, y = table
    monitor = ScoringMonitor(scoring="accuracy")
    piped = make_pipeline(StandardScaler(), semi_supervised.set_callbacks(monitor)).fit(X, y)
    log = monitor.get_logs().data
    assert len(log) == piped[-1].n_iter_
    assert log[-1]["accuracy"] == piped.score(X, y)


@pytest.mark.parametrize("final", MODELS, ids=repr)
def test_a_callback_on_a_pipeline_reaches_the_classifier(final, table):
    recorder = Propagated()
    make_pipeline(StandardScaler(), clone(final)).set_callbacks(recorder).fit(*table)
    assert type(final).__name__ in recorder.ended
    assert sorted(recorder.begun) == sorted(recorder.ended)


def test_callbacks_inside_a_grid_search(semi_supervised, X, y):
    monitor = ScoringMonitor(scoring="accuracy")
    semi_supervised.set_callbacks(monitor)
    grid = {"alpha": [0.1, 1.0]}
    search = GridSearchCV(
        semi_supervised, grid, cv=LabeledStratifiedKFold(2), error_score="raise"
    ).fit(X, y)
    log = monitor.get_logs().data
    assert len({row["parent_task_id_path"] for row in log}) == 5  # two folds of two, and the refit
    assert sum(row["parent_task_id_path"] == log[-1]["parent_task_id_path"] for row in log) >= 1
    assert search.best_estimator_.termination_condition_


def test_a_progress_bar_on_a_grid_search_of_a_pipeline(semi_supervised, X, y, capsys):
    piped = make_pipeline(StandardScaler(), semi_supervised)
    search = GridSearchCV(
        piped, {f"{piped.steps[-1][0]}__alpha": [0.1, 1.0]}, cv=LabeledStratifiedKFold(2)
    )
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)
    out = capsys.readouterr().out
    assert "GridSearchCV - fit" in out
    assert f"{type(semi_supervised).__name__} - fit" in out


def test_a_callback_stops_a_fit_inside_a_grid_search(semi_supervised, X, y):
    grid = {"alpha": [0.1, 1.0]}
    semi_supervised.set_callbacks(Stopper())
    search = GridSearchCV(
        semi_supervised, grid, cv=LabeledStratifiedKFold(2), error_score="raise"
    ).fit(X, y)
    assert search.best_estimator_.termination_condition_ == "stopped by a callback"
    assert search.best_estimator_.n_iter_ == 1


class Stopper(Recorder):
    """Stop every fit after its first step."""

    def on_fit_task_end(self, estimator, context):
        return context.task_name == "step"
