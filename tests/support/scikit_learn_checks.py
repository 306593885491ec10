"""scikit-learn's checks of an estimator as parameters of a test."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def every_check(models, but=()):
    """Return the mark for a test of `estimator` and `check`: each model with each of its checks.

    `but` has the names of checks to leave out, which need a test of their own. As expected
    failures they would cost more than other checks, because pytest parses the thousands of lines
    of scikit-learn's module for every traceback.
    """
    cases = [
        pytest.param(estimator, check, id=f"{shown}-{check.func.__name__}{check.keywords or ''}")
        for model in models
        for shown in ["".join(repr(model).split())]
        for estimator, check in estimator_checks_generator(model)
        if check.func.__name__ not in but
    ]
    return pytest.mark.parametrize(("estimator", "check"), cases)
