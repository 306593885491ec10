"""A fit that has no room for its arrays is refused before it starts; no other fit is."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
    cli,
)
from semisquares._inputs import memory
from semisquares._utils.errors import NotEnoughMemory
from semisquares.baselines import (
    ContrastivePessimisticDiscriminant,
    EMDiscriminantClassifier,
    ImplicitlyConstrainedClassifier,
    TransductiveSVM,
)
from support.allowed_warnings import collapse_allowed, early_stop_allowed

CORE = [
    LeastSquaresClassifier(),
    SoftLabelClassifier(),
    SoftLabelClassifier(solver="block"),
    HardLabelClassifier(),
    SoftLabelClassifierCV([1.0], unlabeled_weights=[1.0]),
    AveragedClassifier("least_squares", representations=["linear"]),
]
BASELINES = [
    ContrastivePessimisticDiscriminant(shrinkage=1.0, max_iter=1),
    EMDiscriminantClassifier(max_iter=2),
    ImplicitlyConstrainedClassifier(max_iter=1),
    TransductiveSVM(max_iter=1),
]
MODELS = [*CORE, *BASELINES]
SIZES = {"two classes": (3000, 2), "few": (1000, 10), "many": (300, 45)}
MANY = (12_000, 5_000)


def table(n_rows, n_classes):
    """Half of the rows labeled, at least two in each class, in three columns."""
    truth = np.arange(n_rows) % n_classes
    X = np.random.default_rng(0).normal(size=(n_rows, 3)) + truth[:, None] % 5
    return X, np.where(np.arange(n_rows) < n_rows // 2, truth, -1)


@pytest.fixture
def needs(monkeypatch):
    """Give a function that fits, and returns the bytes that were said to be needed."""
    said = []

    def remember(n_numbers, n_rows, n_classes):
        said.append(8.0 * n_numbers)

    monkeypatch.setattr("semisquares._inputs.arrays.check_memory", remember)
    monkeypatch.setattr("semisquares.baselines._base.check_memory", remember)
    monkeypatch.setattr("semisquares.estimators.averaged.check_memory", remember)

    def fit(model, X, y):
        clone(model).fit(X, y)
        return max(said)

    return fit


@early_stop_allowed
@collapse_allowed
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_what_is_said_to_be_needed_is_less_than_what_a_fit_takes(model, size, needs):
    X, y = table(*size)
    needs(model, X, y)  # what is imported and cached at first is not counted
    tracemalloc.start()
    needed = needs(model, X, y)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < needed < taken


@early_stop_allowed
@collapse_allowed
@pytest.mark.parametrize("model", [*CORE[1:], EMDiscriminantClassifier(max_iter=2)], ids=repr)
def test_with_many_classes_it_is_at_least_a_third_of_it(model, needs):
    X, y = table(*SIZES["many"])
    needs(model, X, y)
    tracemalloc.start()
    needed = needs(model, X, y)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert needed > taken / 3


def refuse(monkeypatch, model, there):
    monkeypatch.setattr(memory, "available_memory", lambda: there)
    X, y = table(*MANY)
    with pytest.raises(NotEnoughMemory) as caught:
        clone(model).fit(X, y)
    return str(caught.value)


@pytest.mark.parametrize("model", [*CORE, *BASELINES], ids=repr)
def test_five_thousand_classes_are_refused_in_one_sentence(monkeypatch, model):
    text = refuse(monkeypatch, model, 1e8)
    assert text.startswith("A fit of 12,000 rows and 5,000 classes needs ")
    assert " and 0.1 GB are free; check that y holds classes" in text
    assert text.endswith(".")
    assert "\n" not in text


def test_it_is_refused_before_anything_of_that_size_is_made(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 5e8)
    X, y = table(*MANY)
    tracemalloc.start()
    with pytest.raises(MemoryError):
        SoftLabelClassifier().fit(X, y)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 8 * MANY[0] * MANY[1] / 50


def test_a_model_that_was_fitted_stays_as_it_was(monkeypatch):
    model = SoftLabelClassifier().fit(*table(40, 2))
    before = model.coef_
    monkeypatch.setattr(memory, "available_memory", lambda: 5e8)
    with pytest.raises(MemoryError):
        model.fit(*table(*MANY))
    assert model.coef_ is before


def test_small_needs_are_not_looked_up(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: pytest.fail("looked up"))
    SoftLabelClassifier().fit(*table(200, 4))


def test_what_fits_exactly_is_not_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 8e8)
    memory.check_memory(1e8, 1000, 10)
    with pytest.raises(NotEnoughMemory, match=r"needs 0\.8 GB of memory or more, and 0\.8 GB"):
        memory.check_memory(1e8 + 1, 1000, 10)


def test_the_limit_of_the_address_space_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(memory, "_free_on_machine", lambda: 1e18)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (2**60, 2**60))
    assert 0 < memory.available_memory() < 2**60
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1, 1))
    assert memory.available_memory() == 0.0
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, 0))
    assert memory.available_memory() == 1e18


def test_a_system_that_tells_nothing_refuses_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "Path", lambda name: tmp_path / "missing")
    assert memory._free_on_machine() == np.inf
    (tmp_path / "missing").write_text("MemTotal: 1 kB\n")
    assert memory._free_on_machine() == np.inf
    (tmp_path / "missing").write_text("MemAvailable: 3 kB\nSwapFree: 4 kB\n")
    assert memory._free_on_machine() == 7 * 1024


def test_the_error_survives_a_worker_process():
    error = pickle.loads(pickle.dumps(NotEnoughMemory("One sentence.")))
    assert isinstance(error, MemoryError)
    assert str(error) == "One sentence."


def test_the_command_line_prints_the_sentence(monkeypatch, semisquares):
    def refuse(stop):
        raise NotEnoughMemory("A fit needs 9 GB of memory or more.")

    monkeypatch.setattr(cli, "_command", refuse)
    code, _, complained = semisquares("fit")
    assert (code, complained) == (2, "Error: A fit needs 9 GB of memory or more.\n")
