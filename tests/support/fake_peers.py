"""Peers that behave badly, for the processes that fit them."""

import os
import signal
import sys
from importlib import import_module

import numpy as np
from benchmarks.peers.methods import Method


class Constant:
    """Predicts the class of the first label."""

    def __init__(self, rows):
        self.label = rows.labeled[1][0]

    def predict(self, X):
        return np.full(len(X), self.label)


class OneOfThree(Constant):
    """Has seen only class 2, and gives no probability for the first row."""

    classes_ = np.array([2])

    def predict_proba(self, X):
        given = np.ones((len(X), 1))
        given[0] = np.nan
        return given


def _raises(rows):
    raise ValueError("no luck today\nand a second line")


def _imports(rows):
    import_module("a_package_that_nobody_has")


def _never_ends(rows):
    while len(rows.X) > 60:  # the warm-up fit of few rows does end
        pass
    return Constant(rows)


def _is_killed(rows):
    os.kill(os.getpid(), signal.SIGKILL)


def _wants_much(rows):
    return Constant(rows), np.ones(2**31)


def _holds(rows):
    np.ones((100_000_000 * (len(rows.X) > 60)) // 8)
    sys.stdout.write("a peer may print what it likes\n")
    return Constant(rows)


def _gives_nan(rows):
    class Nan:
        def predict(self, X):
            return np.full(len(X), np.nan)

    return Nan()


METHODS = {
    name: Method(name, "numpy", fit)
    for name, fit in {
        "constant": Constant,
        "one_of_three": OneOfThree,
        "raises": _raises,
        "imports": _imports,
        "never_ends": _never_ends,
        "is_killed": _is_killed,
        "wants_much": _wants_much,
        "holds": _holds,
        "gives_nan": _gives_nan,
    }.items()
} | {"elsewhere": Method("elsewhere", "a package", Constant, environment="lamda")}
