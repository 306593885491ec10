"""scikit-learn's own checks of array API support, in a process with the setting of SciPy."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from packaging.version import parse

from support.command_line import PATIENCE

MODELS = [
    "AveragedClassifier",
    "HardLabelClassifier",
    "LeastSquaresClassifier",
    "SoftLabelClassifier",
]
pytestmark = pytest.mark.skipif(
    parse(np.__version__) < parse("2.1"),
    reason="scikit-learn's checks need numpy.from_dlpack(device=…), which NumPy 2.1 has added",
)
SCRIPT = Path(__file__).parents[1] / "support" / "array_api_checks.py"


@pytest.fixture(scope="module")
def results():
    """Run all checks of all classifiers once."""
    ended = subprocess.run(
        [sys.executable, SCRIPT],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def of_library(results, model, library):
    """Return the results of a classifier with a library, by check and arguments."""
    return {
        (check, *given.values()): found
        for name, check, given, found in results
        if name == model and any(library in value for value in given.values())
    }


@pytest.mark.parametrize("model", MODELS)
def test_no_check_fails(results, model):
    assert [line for line in results if line[0] == model and line[3].startswith("failed")] == []


@pytest.mark.parametrize("model", MODELS)
def test_the_checks_with_array_api_strict_pass(results, model):
    pytest.importorskip("array_api_strict")
    found = of_library(results, model, "array_api_strict")
    alone = [end for given, end in found.items() if given[0] != "check_array_api_mixed_inputs"]
    # two devices and types: as arrays, with values, with weights; and another library in `predict`
    assert alone == ["passed"] * 7


@pytest.mark.parametrize("model", MODELS)
def test_the_checks_with_torch_on_the_cpu_pass(results, model):
    pytest.importorskip("torch")
    pytest.importorskip("array_api_strict")
    found = of_library(results, model, "torch")
    on_cpu = [end for given, end in found.items() if any("cpu" in value for value in given)]
    # two types as above, and y and weights of array-api-strict
    assert on_cpu == ["passed"] * 7
