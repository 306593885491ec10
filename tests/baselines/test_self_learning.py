"""Self-learning around any classifier: its fixed points, its circles, and RSSL's results."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from semisquares import HardLabelClassifier, LeastSquaresClassifier
from semisquares.baselines.self_learning import SelfLearning
from support.allowed_warnings import collapse_allowed
from support.problems import make_problem
from support.reference import (
    RSSL_NAMES,
    RSSL_NEAR_COPY,
    RSSL_NOT_UNIQUE,
    RSSL_REGULAR,
    RSSL_TRUNCATED,
    rssl_problem,
)

# RSSL's ridge in self-learning is not that of its hard labels: they compare without one.
WITHOUT_RIDGE = tuple(
    name
    for name in (*RSSL_REGULAR, "short_L4_d20_noint")
    if "lam" not in name and name != "corr_d30_imb"
)
CLASSIFIERS = [
    LeastSquaresClassifier(0.1),
    LinearDiscriminantAnalysis(),
    LogisticRegression(),
    LinearSVC(),
    NearestCentroid(),
    KNeighborsClassifier(3),
    DecisionTreeClassifier(random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
]
# What collapses is compared here, not advised on.
pytestmark = collapse_allowed


def rssl_rows(name):
    problem = rssl_problem(name)
    X = np.vstack((problem.X, problem.X_u))
    y = np.concatenate((problem.y, np.full(len(problem.X_u), -1.0))).astype(int)
    return problem, X, y


def least_squares(problem):
    return LeastSquaresClassifier(alpha=0, fit_intercept=problem.fit_intercept)


def blobs(n_classes=3, n=90, seed=0, names=("ash", "beech", "cedar")):
    """Rows of overlapping classes, a name for a quarter of them."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    X = rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[truth]
    y = np.array(names, dtype=object)[truth]
    y[rng.permutation(n) >= n // 4] = None
    return X, y


class Switching(ClassifierMixin, BaseEstimator):
    """Give every row a class other than that of the last row it was fitted to."""

    def __init__(self, n_classes=2):
        self.n_classes = n_classes

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.next_ = (y[-1] + 1) % self.n_classes
        return self

    def predict(self, X):
        return np.full(len(X), self.next_)


# -- least squares: the hard-label classifier of the core ---------------------------------------


@pytest.mark.parametrize("name", RSSL_NAMES)
def test_around_least_squares_it_is_the_hard_label_classifier(name):
    problem, X, y = rssl_rows(name)
    settings = {"alpha": 0, "fit_intercept": problem.fit_intercept}
    ours = SelfLearning(LeastSquaresClassifier(**settings)).fit(X, y)
    hard = HardLabelClassifier(**settings, solver="block").fit(X, y)
    np.testing.assert_array_equal(ours.transduction_, hard.transduction_)
    assert ours.n_iter_ == hard.n_iter_
    assert ours.termination_condition_ == "no_change"


@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4), alpha=st.sampled_from([0, 0.3, 9]))
@settings(max_examples=30)
def test_around_ridge_it_is_the_hard_label_classifier_for_any_number_of_classes(
    seed, n_classes, alpha
):
    problem = make_problem(seed, n_classes=n_classes, n_labeled=15)
    ours = SelfLearning(LeastSquaresClassifier(alpha)).fit(problem.X, problem.y)
    hard = HardLabelClassifier(alpha).fit(problem.X, problem.y)
    np.testing.assert_array_equal(ours.transduction_, hard.transduction_)
    np.testing.assert_allclose(ours.estimator_.coef_, hard.coef_, atol=1e-9)


@pytest.mark.parametrize("name", WITHOUT_RIDGE)
def test_labels_are_those_of_selflearning_in_rssl(name):
    problem, X, y = rssl_rows(name)
    model = SelfLearning(least_squares(problem)).fit(X, y)
    assert problem.rssl_lambda == 0.0
    np.testing.assert_array_equal(
        model.transduction_[len(problem.X) :], problem.selflearning.labels
    )


@pytest.mark.parametrize("name", WITHOUT_RIDGE)
def test_weights_are_those_of_selflearning_in_rssl(name):
    problem, X, y = rssl_rows(name)
    inner = SelfLearning(least_squares(problem)).fit(X, y).estimator_
    theirs = np.append(problem.selflearning.coef, problem.selflearning.intercept)
    ours = np.append(inner.coef_, inner.intercept_ + 0.5)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8 * np.abs(theirs).max())


def test_all_problems_of_rssl_without_a_ridge_are_compared():
    left_out = set(RSSL_TRUNCATED + RSSL_NEAR_COPY + RSSL_NOT_UNIQUE)
    left_out |= {"short_L10_d30", "short_L2_d2"}  # another least norm: see the reference's README
    plain = {name for name in RSSL_NAMES if rssl_problem(name).rssl_lambda == 0.0}
    assert plain - left_out == set(WITHOUT_RIDGE)


def test_given_labels_are_where_it_starts():
    problem = make_problem(3, distance=0.3, n_unlabeled=200)
    start = np.random.default_rng(0).integers(0, 2, 200)
    ours = SelfLearning(LeastSquaresClassifier(0), init=start).fit(problem.X, problem.y)
    hard = HardLabelClassifier(0, init=start).fit(problem.X, problem.y)
    other = SelfLearning(LeastSquaresClassifier(0)).fit(problem.X, problem.y)
    np.testing.assert_array_equal(ours.transduction_, hard.transduction_)
    assert (ours.transduction_ != other.transduction_).any()


# -- any classifier -----------------------------------------------------------------------------


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_the_end_is_a_fixed_point_that_keeps_the_known_labels(classifier):
    X, y = blobs()
    known = np.array([label is not None for label in y])
    model = SelfLearning(classifier).fit(X, y)
    again = classifier.fit(X, model.transduction_).predict(X)
    assert model.termination_condition_ == "no_change"
    np.testing.assert_array_equal(again[~known], model.transduction_[~known])
    np.testing.assert_array_equal(model.predict(X), again)
    np.testing.assert_array_equal(model.transduction_[known], y[known])
    assert model.n_changed_[-1] == 0
    assert len(model.n_changed_) == model.n_iter_


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_it_starts_at_the_classifier_of_the_labeled_rows(classifier):
    X, y = blobs()
    known = np.array([label is not None for label in y])
    first = classifier.fit(X[known], y[known].astype(str)).predict(X[~known])
    one = SelfLearning(classifier).fit(X, y)
    other = SelfLearning(classifier, init=first).fit(X, y)
    np.testing.assert_array_equal(one.transduction_, other.transduction_)
    assert one.n_changed_ == other.n_changed_


def test_without_unlabeled_rows_it_is_the_classifier_itself():
    X, y = blobs()
    y[:] = np.array(["ash", "beech", "cedar"])[np.arange(len(y)) % 3]
    model = SelfLearning(LogisticRegression()).fit(X, y)
    plain = LogisticRegression().fit(X, y.astype(str))
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert (model.n_iter_, model.termination_condition_) == (1, "no_change")


@pytest.mark.parametrize("write", [sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
def test_sparse_rows_give_the_labels_of_dense_ones(write):
    X, y = blobs()
    dense = SelfLearning(LogisticRegression()).fit(X, y)
    thin = SelfLearning(LogisticRegression()).fit(write(X), y)
    np.testing.assert_array_equal(thin.transduction_, dense.transduction_)


def test_texts_go_through_a_pipeline_as_they_are():
    texts = ["cheap pills", "dear friend", "cheap watches", "dear colleague"]
    y = ["spam", "ham", None, None]
    model = SelfLearning(make_pipeline(CountVectorizer(), MultinomialNB())).fit(texts, y)
    assert model.transduction_.tolist() == ["spam", "ham", "spam", "ham"]
    assert model.predict(["watches", "colleague"]).tolist() == ["spam", "ham"]


def test_frames_reach_the_classifier_with_their_columns():
    X, y = blobs()
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=["x", "y", "z"] * 30)
    encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = SelfLearning(make_pipeline(encode, LogisticRegression())).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "kind"]
    assert model.predict(frame).shape == (90,)


@pytest.mark.parametrize("missing", [-1, np.nan, None, pd.NA])
def test_every_sign_of_a_missing_label_is_understood(missing):
    X, y = blobs()
    marked = pd.Series(y, dtype=object).where([label is not None for label in y], missing)
    expected = SelfLearning(LogisticRegression()).fit(X, y)
    model = SelfLearning(LogisticRegression()).fit(X, marked)
    np.testing.assert_array_equal(model.transduction_, expected.transduction_)


@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
def test_it_has_the_methods_that_its_classifier_has(method):
    X, y = blobs()
    model = SelfLearning(LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(getattr(model, method)(X), getattr(model.estimator_, method)(X))


def test_it_lacks_the_methods_that_its_classifier_lacks():
    assert not hasattr(SelfLearning(LinearSVC()), "predict_proba")
    assert not hasattr(SelfLearning(KNeighborsClassifier()), "decision_function")


def test_score_leaves_unlabeled_rows_out():
    X, y = blobs()
    known = np.array([label is not None for label in y])
    model = SelfLearning(LogisticRegression()).fit(X, y)
    assert model.score(X, y) == np.mean(model.predict(X[known]) == y[known])


# -- circles and limits -------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_labels_that_go_round_are_noticed_after_one_round(n_classes):
    y = np.r_[np.arange(n_classes), [-1, -1]]
    model = SelfLearning(Switching(n_classes))
    with pytest.warns(ConvergenceWarning, match=f"come back every {n_classes} steps"):
        model.fit(np.zeros((len(y), 1)), y)
    assert model.termination_condition_ == "cycle"
    assert model.n_iter_ == n_classes


def test_a_circle_is_measured_from_where_it_begins():
    model = SelfLearning(Switching(3), init=[0, 1])  # two labels: the circle has one in both rows
    with pytest.warns(ConvergenceWarning, match="after 4 steps with labels that come back every 3"):
        model.fit(np.zeros((5, 1)), [0, 1, 2, -1, -1])


def test_the_limit_on_steps_is_kept_and_told():
    model = SelfLearning(Switching(5), max_iter=3)
    with pytest.warns(ConvergenceWarning, match=r"after 3 steps .* raise max_iter"):
        model.fit(np.zeros((7, 1)), [0, 1, 2, 3, 4, -1, -1])
    assert (model.termination_condition_, model.n_iter_) == ("max_iter", 3)


def test_labels_at_a_stop_are_those_that_it_predicts():
    X = np.zeros((7, 1))
    with pytest.warns(ConvergenceWarning):
        model = SelfLearning(Switching(5), max_iter=3).fit(X, [0, 1, 2, 3, 4, -1, -1])
    np.testing.assert_array_equal(model.transduction_[5:], model.predict(X)[5:])


def test_a_failed_fit_leaves_the_fitted_model_as_it_was():
    X, y = blobs()
    model = SelfLearning(LogisticRegression()).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 2), np.nan), ["oak", "yew", None, None])
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.classes_.tolist() == ["ash", "beech", "cedar"]


@pytest.mark.parametrize("init", [["ash"], ["oak"] * 68, np.zeros((68, 2))])
def test_a_start_that_does_not_fit_is_refused(init):
    X, y = blobs()
    with pytest.raises(ValueError, match=r"classes out of \['ash', 'beech', 'cedar'\]"):
        SelfLearning(LogisticRegression(), init=init).fit(X, y)


def test_what_is_no_classifier_is_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match="must be an object implementing 'fit' and 'predict'"):
        SelfLearning(StandardScaler()).fit(X, y)


# -- scikit-learn's checks ----------------------------------------------------------------------
