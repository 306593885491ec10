"""What all baselines share: scikit-learn's checks, frames, scores, and whom a warning points to."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.utils.estimator_checks import check_classifiers_classes

from semisquares import LeastSquaresClassifier, baselines
from semisquares.baselines import (
    AllLabelingsDiscriminant,
    ContrastivePessimisticDiscriminant,
    EMDiscriminantClassifier,
    ImplicitlyConstrainedClassifier,
    MissingOutcomeRegressor,
    OracleClassifier,
    SelfLearning,
    SemiSupervisedAdapter,
    TransductiveSVM,
)
from support.scikit_learn_checks import every_check

CLASSIFIERS = [
    AllLabelingsDiscriminant(),
    ContrastivePessimisticDiscriminant(),
    ContrastivePessimisticDiscriminant(shrinkage=1.0),
    EMDiscriminantClassifier(),
    EMDiscriminantClassifier(0.1, record_path=True),
    ImplicitlyConstrainedClassifier(),
    OracleClassifier(LogisticRegression()),
    SelfLearning(LinearDiscriminantAnalysis()),
    SelfLearning(LeastSquaresClassifier()),
    SemiSupervisedAdapter(SelfTrainingClassifier(LogisticRegression())),
    SemiSupervisedAdapter(LabelPropagation(max_iter=10_000)),
    SemiSupervisedAdapter(LabelSpreading(max_iter=1_000)),
    TransductiveSVM(),
    TransductiveSVM(2.0, C_unlabeled=0.5, switch="all"),
]


@pytest.fixture
def rows():
    """Three classes that overlap: X, labels with -1 for a missing one, and the truth."""
    truth = np.arange(45) % 3
    X = np.random.default_rng(0).normal(size=(45, 2)) + truth[:, None]
    return X, np.where(np.arange(45) < 36, truth, -1), truth


def told(model, truth):
    """The same model; an oracle gets to know the truth."""
    return clone(model).set_params(**dict.fromkeys({"y_true"} & set(model.get_params()), truth))


def test_every_baseline_is_here():
    kinds = {type(model).__name__ for model in CLASSIFIERS} | {"MissingOutcomeRegressor"}
    assert kinds == set(baselines.__all__)


@every_check(CLASSIFIERS, but=["check_classifiers_classes"])
def test_every_check_passes_but_the_one_whose_class_is_the_marker(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_that_check_fails_with_what_to_do_and_passes_without_a_marker(
    model,
):
    name = type(model).__name__
    with pytest.raises(ValueError, match=r'pass unlabeled=None .* were read as "no label"'):
        check_classifiers_classes(name, model)
    markers = dict.fromkeys({"unlabeled", "estimator__unlabeled"} & set(model.get_params()))
    check_classifiers_classes(name, clone(model).set_params(**markers))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_a_frame_is_fitted_as_its_numbers_are_and_in_silence(model, rows):
    X, y, truth = rows
    frame = pd.DataFrame(X, columns=["width", "height"])
    named, plain = told(model, truth).fit(frame, y), told(model, truth).fit(X, y)
    np.testing.assert_array_equal(named.predict(frame), plain.predict(X))
    np.testing.assert_array_equal(named.transduction_, plain.transduction_)
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(frame[["height", "width"]])
    with pytest.raises(ValueError, match="expecting 2 features"):
        plain.predict(X[:, :1])


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_a_score_with_labels_of_other_rows_is_refused(model, rows):
    X, y, truth = rows
    fitted = told(model, truth).fit(X, y)
    with pytest.raises(ValueError, match="y has 44 rows but X has 45; give y one value per row"):
        fitted.score(X, y[1:])
    with pytest.raises(ValueError, match="sample_weight has 44 rows but X has 45"):
        fitted.score(X, y, sample_weight=np.ones(44))


def test_texts_may_follow_a_table_of_numbers(rows):
    X, y, _ = rows
    model = SelfLearning(LinearDiscriminantAnalysis()).fit(X, y)
    model.set_params(estimator=make_pipeline(CountVectorizer(), MultinomialNB()))
    model.fit(["ham and jam", "spam", "jam", "spam spam"], [0, 1, None, None])
    assert not hasattr(model, "n_features_in_")
    assert model.predict(["jam", "spam"]).tolist() == [0, 1]


@pytest.mark.parametrize(
    "model",
    [
        ContrastivePessimisticDiscriminant(max_iter=1),
        EMDiscriminantClassifier(max_iter=1),
        ImplicitlyConstrainedClassifier(max_iter=1),
        MissingOutcomeRegressor(max_iter=1),
        SelfLearning(LogisticRegression(), max_iter=1),
        TransductiveSVM(10.0, C_unlabeled=10.0, max_iter=1),
    ],
    ids=repr,
)
def test_a_warning_begins_with_the_name_and_points_to_the_call_of_fit(model, rows):
    X, _, truth = rows
    y = np.where(np.arange(45) < 12, truth, np.nan)
    with pytest.warns(ConvergenceWarning, match=rf"^{type(model).__name__} .*max_iter") as caught:
        model.fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}
    assert len(caught) == 1
