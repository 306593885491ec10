"""scikit-learn's own checks of an estimator, with the marker of a missing label and without it."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_classifiers_classes, parametrize_with_checks

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.families import Forest

MODELS = [
    AveragedClassifier(("least_squares", Forest(20), "logistic", "hard_labels")),
    LeastSquaresClassifier(),
    SoftLabelClassifier(),  # solver "newton"
    SoftLabelClassifier(solver="block"),
    SoftLabelClassifierCV(),
    HardLabelClassifier(),
    HardLabelClassifier(init="path", n_init=3, certify=True),
]


LESS_WORK = {
    AveragedClassifier: {"families": "least_squares", "representations": ["linear"]},
    SoftLabelClassifierCV: {"alphas": [0.1, 10.0]},
}
"""Parameters for the second round of checks."""


def expected_to_fail(estimator):
    return {
        "check_classifiers_classes": "it takes -1 for a class; here it marks a row without a label"
    }


@parametrize_with_checks(MODELS, expected_failed_checks=expected_to_fail, xfail_strict=True)
def test_only_the_check_whose_class_is_the_marker_fails(estimator, check):
    check(estimator)


def without_a_marker(model):
    return clone(model).set_params(unlabeled=None, **LESS_WORK.get(type(model), {}))


@parametrize_with_checks([without_a_marker(model) for model in MODELS])
def test_without_a_marker_every_check_passes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_check_fails_with_the_sentence_that_says_what_to_do(model):
    with pytest.raises(ValueError, match=r'pass unlabeled=None .* were read as "no label"'):
        check_classifiers_classes(type(model).__name__, model)
