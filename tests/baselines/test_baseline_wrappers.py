"""The oracle, and scikit-learn's semi-supervised classifiers, behind one interface."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

from semisquares import LeastSquaresClassifier, SoftLabelClassifier
from semisquares.baselines.from_scikit_learn import SemiSupervisedAdapter
from semisquares.baselines.oracle import OracleClassifier

SKLEARN = [
    SelfTrainingClassifier(LogisticRegression(), threshold=0.8),
    LabelPropagation(gamma=1.0, max_iter=10_000),
    LabelSpreading(gamma=1.0, max_iter=1_000),
    LabelPropagation(kernel="knn", max_iter=10_000),
    LabelSpreading(kernel="knn", max_iter=1_000),
    make_pipeline(StandardScaler(), LabelSpreading(gamma=1.0, max_iter=1_000)),
]
NAMES = np.array(["ham", "jam", "spam"], dtype=object)


@pytest.fixture
def rows():
    """Three classes: X, labels with -1 for a missing one, and the truth."""
    truth = np.arange(90) % 3
    X = np.random.default_rng(0).normal(size=(90, 4))
    X[:, 0] += 1.5 * truth
    return X, np.where(np.arange(90) < 24, truth, -1), truth


def last(estimator):
    return estimator[-1] if hasattr(estimator, "steps") else estimator


# scikit-learn's classifiers


@pytest.mark.parametrize("estimator", SKLEARN, ids=repr)
def test_on_codes_the_adapter_changes_nothing(estimator, rows):
    X, y, _ = rows
    plain, model = clone(estimator).fit(X, y), SemiSupervisedAdapter(estimator).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.n_iter_ == last(plain).n_iter_
    labeled = last(plain).transduction_ >= 0
    np.testing.assert_array_equal(model.transduction_[labeled], last(plain).transduction_[labeled])
    assert not hasattr(estimator, "classes_")  # a clone was fitted


@pytest.mark.parametrize("estimator", SKLEARN[1:], ids=repr)
def test_soft_labels_are_those_of_label_propagation(estimator, rows):
    X, y, _ = rows
    plain, model = clone(estimator).fit(X, y), SemiSupervisedAdapter(estimator).fit(X, y)
    np.testing.assert_array_equal(model.label_distributions_, last(plain).label_distributions_)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, "?"], ids=str)
@pytest.mark.parametrize("estimator", SKLEARN, ids=repr)
def test_strings_with_any_missing_value_are_predicted_as_their_codes(estimator, missing, rows):
    X, y, _ = rows
    names = NAMES[y]
    names[y == -1] = missing
    model = SemiSupervisedAdapter(estimator, unlabeled="?").fit(X, names)
    codes = SemiSupervisedAdapter(estimator).fit(X, y)
    assert model.classes_.tolist() == NAMES.tolist()
    assert model.predict(X).tolist() == NAMES[codes.predict(X)].tolist()
    assert model.transduction_.tolist() == NAMES[codes.transduction_].tolist()
    np.testing.assert_array_equal(model.predict_proba(X), codes.predict_proba(X))


def test_classes_that_are_neither_sorted_codes_nor_positive_come_back(rows):
    X, y, _ = rows
    codes = np.array([-7, -1, 40])
    marked = np.where(y == -1, 0, codes[y])  # here -1 is a class, and 0 marks a missing label
    model = SemiSupervisedAdapter(SKLEARN[0], unlabeled=0).fit(X, marked)
    plain = clone(SKLEARN[0]).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), codes[plain.predict(X)])


def test_rows_that_self_training_leaves_out_get_its_prediction(rows):
    X, y, _ = rows
    model = SemiSupervisedAdapter(SelfTrainingClassifier(GaussianNB(), threshold=0.95)).fit(X, y)
    left_out = model.estimator_.transduction_ == -1
    assert left_out.any()
    np.testing.assert_array_equal(model.transduction_[left_out], model.predict(X[left_out]))


@pytest.mark.parametrize("kind", [LabelPropagation, LabelSpreading])
@pytest.mark.parametrize("kernel", ["rbf", "knn"])
def test_rows_that_propagation_does_not_reach_get_the_shares_of_the_classes(kind, kernel):
    near = np.random.default_rng(1).normal(size=(30, 2))
    X = np.vstack([near, near + 1e5])  # no label reaches the second half
    y = [["no", "yes", "yes"][i % 3] for i in range(12)] + [None] * 48
    model = SemiSupervisedAdapter(kind(kernel=kernel, gamma=1.0, max_iter=5_000, n_neighbors=5))
    model.fit(X, y)
    far = X[30:]
    np.testing.assert_allclose(model.predict_proba(far), np.tile([1 / 3, 2 / 3], (30, 1)))
    np.testing.assert_allclose(model.label_distributions_[30:], np.tile([1 / 3, 2 / 3], (30, 1)))
    assert set(model.predict(far)) == set(model.transduction_[30:]) == {"yes"}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert set(model.predict(near)) == {"no", "yes"}


def test_a_classifier_that_takes_the_marker_for_a_class_is_refused(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match=r"LogisticRegression took the -1 .*; wrap it first in"):
        SemiSupervisedAdapter(LogisticRegression()).fit(X, y)


def test_only_methods_of_the_wrapped_classifier_are_there(rows):
    spreading, training = (SemiSupervisedAdapter(SKLEARN[k]) for k in (2, 0))
    assert hasattr(spreading, "predict_proba")
    assert not hasattr(spreading, "decision_function")
    assert hasattr(training, "decision_function")
    assert not hasattr(OracleClassifier(Perceptron()), "predict_proba")
    X, y, _ = rows
    plain = clone(SKLEARN[0]).fit(X, y)
    np.testing.assert_array_equal(
        training.fit(X, y).decision_function(X), plain.decision_function(X)
    )


def test_a_further_fit_forgets_what_only_the_first_one_had(rows):
    X, y, _ = rows
    model = SemiSupervisedAdapter(SKLEARN[2]).fit(X, y)
    model.set_params(estimator=SKLEARN[0]).fit(X, y)
    assert not hasattr(model, "label_distributions_")
    np.testing.assert_array_equal(model.predict(X), clone(SKLEARN[0]).fit(X, y).predict(X))


def test_a_fit_that_fails_loses_nothing(rows):
    X, y, _ = rows
    model = SemiSupervisedAdapter(SKLEARN[2]).fit(X, y)
    with pytest.raises(ValueError, match="None of the 90 rows of y has a label"):
        model.fit(X[:, :2], [None] * 90)
    assert model.n_features_in_ == 4
    assert model.predict(X).shape == (90,)


# the oracle


def test_the_oracle_is_the_wrapped_classifier_on_the_true_labels(rows):
    X, y, truth = rows
    oracle = OracleClassifier(LogisticRegression(), truth).fit(X, y)
    plain = LogisticRegression().fit(X, truth)
    np.testing.assert_array_equal(oracle.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(oracle.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(oracle.transduction_, truth)


def test_the_oracle_takes_names_and_classes_that_y_does_not_show(rows):
    X, y, truth = rows
    names = [NAMES[k] if k == 0 else None for k in y]
    oracle = OracleClassifier(LeastSquaresClassifier(), pd.Series(NAMES[truth])).fit(X, names)
    plain = LeastSquaresClassifier().fit(X, truth)
    assert oracle.classes_.tolist() == NAMES.tolist()
    assert oracle.predict(X).tolist() == NAMES[plain.predict(X)].tolist()


def test_without_the_truth_the_oracle_needs_all_labels_in_y(rows):
    X, y, truth = rows
    plain = LogisticRegression().fit(X, truth)
    oracle = OracleClassifier(LogisticRegression())
    np.testing.assert_array_equal(oracle.fit(X, truth).predict(X), plain.predict(X))
    with pytest.raises(ValueError, match=r"^y lacks the label of 66 of 90 rows.*as y_true\.$"):
        oracle.fit(X, y)


def test_an_oracle_that_does_not_know_everything_is_refused(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="y_true lacks the label of 66 of 90 rows"):
        OracleClassifier(LogisticRegression(), y).fit(X, y)


def test_a_truth_in_another_order_is_refused(rows):
    X, y, truth = rows
    with pytest.raises(ValueError, match="differ in 24 of 24 labeled rows, first in row 0; pass"):
        OracleClassifier(LogisticRegression(), np.roll(truth, 1)).fit(X, y)


def test_a_truth_of_another_length_is_refused(rows):
    X, y, truth = rows
    with pytest.raises(ValueError, match="y has 89 rows but X has 90"):
        OracleClassifier(LogisticRegression(), truth).fit(X, y[1:])


def test_one_loop_fits_and_scores_all_alike(rows):
    X, y, truth = rows
    names = pd.Series(NAMES[y]).where(y >= 0)
    models = [SoftLabelClassifier(), OracleClassifier(LogisticRegression(), NAMES[truth])]
    models += [SemiSupervisedAdapter(estimator) for estimator in SKLEARN]
    for model in map(clone, models):
        assert model.fit(X, names).score(X, NAMES[truth]) > 0.5
        assert 0.0 < model.score(X, names) <= 1.0  # rows without a label are left out
        assert set(model.transduction_) == set(NAMES)


def test_names_of_columns_are_kept_and_checked(rows):
    X, y, _ = rows
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = SemiSupervisedAdapter(SKLEARN[3]).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "e"}))


def test_rows_may_be_texts_where_the_wrapped_pipeline_reads_them():
    texts = np.array(["cheap pills", "see you", "cheap cheap", "you see", "pills now"])
    y = ["spam", "ham", None, None, "spam"]
    wrapped = make_pipeline(CountVectorizer(), SelfTrainingClassifier(GaussianNB(), threshold=0.6))
    wrapped.steps.insert(1, ("dense", FunctionTransformer(lambda counts: counts.toarray())))
    model = SemiSupervisedAdapter(wrapped).fit(texts, y)
    assert model.transduction_.tolist() == ["spam", "ham", "spam", "ham", "spam"]
    assert model.predict(["you", "pills"]).tolist() == ["ham", "spam"]
