"""Run scikit-learn's checks of the array API, and print a line of JSON with the results.

SciPy reads the setting that scikit-learn asks for when it is imported: run this with
SCIPY_ARRAY_API=1, in a process of its own.
"""

import json
import warnings
from functools import partial
from unittest import SkipTest

from sklearn.utils.estimator_checks import (
    check_array_api_input_and_values,
    estimator_checks_generator,
)

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
)
from semisquares.families import Forest

MODELS = [
    AveragedClassifier(("least_squares", Forest(20), "logistic", "hard_labels")),
    HardLabelClassifier(),
    LeastSquaresClassifier(),
    SoftLabelClassifier(),
]


def checks_of(model):
    """Return scikit-learn's checks of the array API, and those of equal values."""
    found = [check for _, check in estimator_checks_generator(model)]
    found = [one for one in found if one.func.__name__.startswith("check_array_api")]
    inputs = [one.keywords for one in found if one.func.__name__ == "check_array_api_input"]
    for weights in (False, True):
        values = partial(check_array_api_input_and_values, check_sample_weight=weights)
        found += [partial(values, type(model).__name__, **given) for given in inputs]
    return found


def result(check, model):
    """Return "passed", or why the check was skipped or failed."""
    try:
        check(estimator_orig=model)
    except SkipTest as reason:
        return f"skipped: {reason}"
    except Exception as error:
        return f"failed: {error!r}"
    return "passed"


def run():
    """Return the classifier, name, arguments and result of each check."""
    lines = []
    for model in MODELS:
        for check in checks_of(model):
            given = {key: str(value) for key, value in check.keywords.items()}
            found = result(check, model)
            lines.append([type(model).__name__, check.func.__name__, given, found])
    return lines


if __name__ == "__main__":
    warnings.simplefilter("error")
    print(json.dumps(run()))  # noqa: T201 (the test reads it)
