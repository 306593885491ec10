"""Values that the core passes around cannot be changed."""

import dataclasses
import importlib
from pathlib import Path

import numpy as np
import pytest

from semisquares import core
from semisquares.core.rows import Targets

FOLDER = Path(core.__file__).parent


def modules():
    for path in FOLDER.rglob("*.py"):
        yield importlib.import_module(
            ".".join(("semisquares.core", *path.relative_to(FOLDER).with_suffix("").parts))
        )


def test_all_dataclasses_of_the_core_are_frozen():
    found = {
        one
        for module in modules()
        for one in vars(module).values()
        if isinstance(one, type) and dataclasses.is_dataclass(one)
    }
    assert len(found) > 20
    changing = {one.__name__ for one in found if not one.__dataclass_params__.frozen}
    assert not changing


def test_targets_cannot_be_changed():
    targets = Targets(3, np.array([0]), np.array([1.0]), np.array([1.0]))
    assert targets.n_unlabeled == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        targets.n_rows = 4
