"""Run scikit-learn's checks of the array API, and print a line of JSON with the results.

SciPy reads the setting that scikit-learn asks for when it is imported: run this with
SCIPY_ARRAY_API=1, in a process of its own.
"""

import json
import sys
import warnings
from functools import partial
from unittest import SkipTest

from sklearn.utils.estimator_checks import (
    check_array_api_input_and_values,
    estimator_checks_generator,
)

import semisquares


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


def run(names):
    """Return, for each check of each classifier: its name, its arguments and its result."""
    lines = []
    for name in names:
        model = getattr(semisquares, name)()
        for check in checks_of(model):
            given = {key: str(value) for key, value in check.keywords.items()}
            lines.append([name, check.func.__name__, given, result(check, model)])
    return lines


if __name__ == "__main__":
    warnings.simplefilter("error")
    print(json.dumps(run(sys.argv[1:])))  # noqa: T201 (the test reads it)
