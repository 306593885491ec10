"""scikit-learn's own checks of an estimator, with the marker of a missing label and without it."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_classifiers_classes

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.families import Forest, LeastSquares, Logistic
from support.scikit_learn_checks import every_check

MODELS = [
    AveragedClassifier((LeastSquares((0.1, 1.0)), Forest(5), Logistic((1.0,)), "hard_labels")),
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


@every_check(MODELS, but=["check_classifiers_classes"])
def test_every_check_passes_but_the_one_whose_class_is_the_marker(estimator, check):
    check(estimator)


def without_a_marker(model):
    return clone(model).set_params(unlabeled=None, **LESS_WORK.get(type(model), {}))


@every_check([without_a_marker(model) for model in MODELS])
def test_without_a_marker_every_check_passes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_check_whose_class_is_the_marker_fails_with_what_to_do(model):
    with pytest.raises(ValueError, match=r'pass unlabeled=None .* were read as "no label"'):
        check_classifiers_classes(type(model).__name__, model)
