"""What scikit-learn's meta-estimators do with rows without a label: the page's table, held to it.

The recipes of the page are run as its examples; here, what it says of use without a recipe. Where
scikit-learn changes, a test fails and the page has to follow.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semisquares import SoftLabelClassifier
from semisquares.model_selection import LabeledStratifiedKFold
from semisquares.paper.datasets import remove_labels, two_gaussians

X, TRUTH = two_gaussians(400, 5, variance=4.0, random_state=0)
Y = remove_labels(TRUTH, n_labeled=80, random_state=0)
KNOWN = Y != -1
WITH_NAN = np.where(KNOWN, Y, np.nan)
NAMES = np.array(["no", "yes"])
OURS = LabeledStratifiedKFold(5)
GRID = {"alpha": [1.0, 10.0]}
SOFT = SoftLabelClassifier(alpha=1.0)

LEARN = {
    "bagging": BaggingClassifier(SOFT, 3, random_state=0),
    "hard voting": VotingClassifier([("soft", SOFT)]),
    "soft voting": VotingClassifier([("soft", SOFT)], voting="soft"),
    "stacking": StackingClassifier([("soft", SOFT)]),
    "stacking, our splitter": StackingClassifier([("soft", SOFT)], cv=OURS),
    "one against the rest": OneVsRestClassifier(SOFT),
    "one against one": OneVsOneClassifier(SOFT),
}
CALIBRATE = {
    "calibration": CalibratedClassifierCV(SOFT),
    "calibration, our splitter": CalibratedClassifierCV(SOFT, cv=OURS),
}
REFUSE = {
    "boosting": AdaBoostClassifier(SOFT),
    "tuned threshold": TunedThresholdClassifierCV(SOFT),
    "tuned threshold, our splitter": TunedThresholdClassifierCV(SOFT, cv=OURS),
    "fixed threshold": FixedThresholdClassifier(SOFT),
}
SEARCH = {
    "grid": GridSearchCV(SOFT, GRID, cv=OURS),
    "random": RandomizedSearchCV(SOFT, GRID, n_iter=2, cv=OURS, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), SOFT),
}
SELECT = {"rfe": RFE(SOFT), "rfecv": RFECV(SOFT, cv=OURS)}


def cases(*tables):
    """Parametrize a test over estimators by their names."""
    items = [item for table in tables for item in table.items()]
    return pytest.mark.parametrize(
        "estimator", [estimator for _, estimator in items], ids=[name for name, _ in items]
    )


# -- with -1 in y ----------------------------------------------------------------------------------


@cases(LEARN)
def test_the_marker_is_learned_as_a_class_without_a_warning(estimator):
    estimator.fit(X, Y)
    assert estimator.classes_.tolist() == [-1, 0, 1]
    assert np.unique(estimator.predict(X)).tolist() == [-1]


@cases(CALIBRATE)
def test_calibration_gives_every_row_the_first_of_two_classes_without_a_warning(estimator):
    estimator.fit(X, Y)
    assert estimator.classes_.tolist() == [-1, 0, 1]
    assert np.unique(estimator.predict(X)).tolist() == [0]


def test_calibration_of_three_classes_with_our_splitter_gives_the_marker_no_probability():
    corner = X[:, 0] > 1.0
    three = np.where(corner, 2, TRUTH)
    y = np.where(KNOWN, three, -1)
    calibrated = CalibratedClassifierCV(SOFT, cv=OURS).fit(X, y)
    assert calibrated.classes_.tolist() == [-1, 0, 1, 2]
    assert (calibrated.predict_proba(X)[:, 0] == 0.0).all()
    assert calibrated.score(X, three) > 0.7


@cases(REFUSE)
def test_boosting_and_thresholds_refuse_the_marker(estimator):
    with pytest.raises(ValueError, match=r"Only binary|worse than random"):
        estimator.fit(X, Y)


def test_boosting_gives_weight_to_unlabeled_rows_if_they_are_few():
    shares, few = [], remove_labels(TRUTH, n_labeled=300, random_state=0)

    class Watched(SoftLabelClassifier):
        def fit(self, X, y, sample_weight=None):
            shares.append(sample_weight[y == -1].sum() / sample_weight.sum())
            return super().fit(X, y, sample_weight)

    AdaBoostClassifier(Watched(), n_estimators=2).fit(X, few)
    assert shares[0] == pytest.approx(0.25)
    assert shares[1] > 0.3


@cases(SEARCH, SELECT)
def test_what_hands_y_on_has_the_classes_of_the_labels(estimator):
    estimator.fit(X, Y)
    assert estimator.classes_.tolist() == [0, 1]
    assert estimator.score(X, TRUTH) > 0.7


def test_columns_are_selected_by_all_rows():
    chosen = SelectFromModel(SOFT).fit(X, Y)
    np.testing.assert_array_equal(chosen.estimator_.coef_, clone(SOFT).fit(X, Y).coef_)


# -- with NaN in y ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@cases(LEARN, CALIBRATE, REFUSE, SELECT)
def test_nan_instead_of_the_marker_is_an_error_and_not_a_class(estimator):
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(X, WITH_NAN)


@cases(SEARCH, {"columns": make_pipeline(SelectFromModel(SOFT), SOFT)})
def test_what_hands_y_on_takes_nan_too(estimator):
    assert estimator.fit(X, WITH_NAN).classes_.tolist() == [0, 1]


# -- recipes, with texts for labels ----------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: CalibratedClassifierCV(model),
        lambda model: TunedThresholdClassifierCV(model, cv="prefit", refit=False),
        lambda model: FixedThresholdClassifier(model, pos_label="yes"),
        lambda model: StackingClassifier([("soft", model)]),
        lambda model: VotingClassifier([("soft", model)], voting="soft"),
    ],
    ids=["calibration", "tuned threshold", "fixed threshold", "stacking", "soft voting"],
)
def test_a_frozen_classifier_is_wrapped_on_labeled_rows_whatever_the_labels_are(wrap):
    y = np.where(KNOWN, NAMES[TRUTH], None)
    frozen = FrozenEstimator(SoftLabelClassifier(alpha=1.0).fit(X, y))
    wrapped = wrap(frozen).fit(X[KNOWN], y[KNOWN])
    assert wrapped.classes_.tolist() == ["no", "yes"]
    assert wrapped.score(X, NAMES[TRUTH].astype(object)) > 0.8


def test_hard_voting_misreads_a_frozen_classifier_whose_labels_are_not_numbered_from_0():
    frozen = FrozenEstimator(SoftLabelClassifier(alpha=1.0).fit(X, np.where(KNOWN, TRUTH + 1, -1)))
    forest = RandomForestClassifier(5, random_state=0)
    voting = VotingClassifier([("soft", frozen), ("forest", forest)], weights=[2, 1])
    voting.fit(X[KNOWN], TRUTH[KNOWN] + 1)
    with pytest.raises((ValueError, IndexError)):
        voting.predict(X)


def test_bagging_that_reads_0_as_no_label_predicts_the_classes():
    y = np.where(KNOWN, NAMES[TRUTH], "?")
    bag = BaggingClassifier(SoftLabelClassifier(alpha=1.0, unlabeled=0), random_state=0).fit(X, y)
    assert all(model.classes_.tolist() == [1, 2] for model in bag.estimators_)
    assert (bag.predict_proba(X)[:, 0] == 0.0).all()
    assert bag.score(X, NAMES[TRUTH]) > 0.8


# -- scoring ---------------------------------------------------------------------------------------


def test_a_plain_splitter_without_scoring_leaves_unlabeled_rows_out():
    assert cross_val_score(SOFT, X, Y, cv=5).mean() > 0.8


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "f1_macro"])
def test_a_plain_splitter_with_scoring_counts_the_marker_as_a_class(scoring):
    assert cross_val_score(SOFT, X, Y, cv=5, scoring=scoring).mean() < 0.65
    assert cross_val_score(SOFT, X, Y, cv=OURS, scoring=scoring).mean() > 0.8


@pytest.mark.filterwarnings("ignore:Scoring failed")
@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", "neg_log_loss", "f1"])
def test_other_scorings_are_nan_where_the_marker_is_tested(scoring):
    assert np.isnan(cross_val_score(SOFT, X, Y, cv=5, scoring=scoring)).all()
    scores = cross_validate(SOFT, X, Y, cv=OURS, scoring=scoring, return_train_score=True)
    assert np.isfinite(scores["test_score"]).all()
    assert np.isnan(scores["train_score"]).all()


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_a_plain_splitter_refuses_nan():
    with pytest.raises(ValueError, match="NaN"):
        cross_val_score(SOFT, X, WITH_NAN, cv=5)
