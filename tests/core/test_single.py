"""Steps in single precision change where Newton starts, and nothing else."""

from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

from semisquares.core.certificate import duality_gap, gradient_bound
from semisquares.core.curvature import fit_labeled
from semisquares.core.labelings import SimplexLabels, SoftLabels
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows, SparseTable
from semisquares.core.solvers import Status, StoppingTest, _joint, _single, minimise, newton
from semisquares.core.solvers._single import in_single, single_steps
from support.watching import watch

N, D, K, LABELED = 3000, 4, 5, 60
WAYS = {
    "plain": {},
    "weighted": {"weighted": True},
    "no intercept": {"intercept": False},
    "shifted": {"shift": np.full(D, 100.0)},
    "float32": {"dtype": np.float32},
}


def problem(
    *,
    n_classes=K,
    n_labeled=LABELED,
    alpha=1.0,
    weighted=False,
    intercept=True,
    shift=None,
    dtype=np.float64,
    size=1.0,
    outlier=1.0,
    heavy=1.0,
):
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=N)
    X = rng.standard_normal((N, D)) + rng.standard_normal((n_classes, D))[truth]
    labeled = np.sort(rng.choice(N, n_labeled, replace=False))
    X[np.setdiff1d(np.arange(N), labeled)[0]] *= outlier
    weight = rng.uniform(0.5, 2.0, n_labeled) if weighted else np.ones(n_labeled)
    weight[0] *= heavy
    table = DenseTable((size * X + (0.0 if shift is None else shift)).astype(dtype), shift)
    rows = MemoryRows(
        table,
        labeled,
        truth[labeled].astype(float) if n_classes == 2 else np.eye(n_classes)[truth[labeled]],
        labeled_weight=weight,
        row_weight=rng.uniform(0.5, 2.0, N) if weighted else None,
        unlabeled_weight=0.7 if weighted else 1.0,
        intercept=intercept,
    )
    return Objective(rows, SoftLabels() if n_classes == 2 else SimplexLabels(), alpha)


@pytest.fixture(autouse=True, params=["joint", "products", "secants"])
def way_of_steps(request, monkeypatch):
    """Let small tables, too, take steps in single precision, in one of the ways."""
    monkeypatch.setattr(_single, "SMALLEST", 0)
    if request.param == "joint":
        monkeypatch.setattr(_joint, "SMALLEST", 0)
    else:
        monkeypatch.setattr(_single, "may_join", lambda objective: request.param == "products")
    monkeypatch.setattr(import_module(minimise.__module__), "single_steps", close_steps)


def close_steps(objective, w, test, *, is_close=True):
    """Take steps as if w were the solution on a sample."""
    return single_steps(objective, w, test, is_close=True)


def solve(objective, *, rng=True):
    test = StoppingTest(gradient_bound(objective), 1e-20 * objective.scale)
    drawn = np.random.default_rng(0) if rng else None
    return minimise(objective, fit_labeled(objective), test=test, rng=drawn)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_the_minimiser_is_that_of_double_precision(way):
    objective = problem(**way)
    assert in_single(objective) is not None
    found, expected = solve(objective), solve(objective, rng=False)
    assert found.status.converged
    assert found.value == pytest.approx(expected.value, rel=1e-13)
    np.testing.assert_allclose(found.w, expected.w, atol=1e-9)
    assert duality_gap(objective, found.w).relative < 1e-14


LOST = {
    "an outlier": {"outlier": 1e7},
    "squares that vanish": {"size": 1e-25, "alpha": 0.0},
    "a heavy row": {"heavy": 1e8},
}


@pytest.mark.parametrize("way", LOST.values(), ids=LOST.keys())
def test_a_curvature_without_digits_is_summed_again(way):
    objective = problem(**way)
    assert in_single(objective) is not None
    found, expected = solve(objective), solve(objective, rng=False)
    assert found.value == pytest.approx(expected.value, rel=1e-11)
    gaps = [duality_gap(objective, one.w).relative for one in (found, expected)]
    assert gaps[0] <= 4.0 * max(gaps[1], 1e-13)
    assert found.n_passes <= 200 + 2 * expected.n_passes


@pytest.mark.parametrize("fault", ["no step", "wrong step", "unsolved", "uphill"])
def test_newton_gives_up_a_borrowed_curvature_that_is_of_no_use(fault, monkeypatch):
    objective = problem()
    w, _, steps = close_steps(in_single(objective), fit_labeled(objective), None)
    right, n_borrowed = _single.ConjugateSteps.__call__, []

    def fail(steps, sweep):
        step = right(steps, sweep)
        if not steps.is_borrowed:
            return step
        n_borrowed.append(1)
        steps.solved = fault != "unsolved"
        return {"no step": 0.0, "wrong step": 0.3, "unsolved": 1.0, "uphill": -1.0}[fault] * step

    monkeypatch.setattr(_single.ConjugateSteps, "__call__", fail)
    found = newton(objective, w + 1e-3, single=steps)
    assert len(n_borrowed) == 1
    assert found.status is Status.EXACT
    np.testing.assert_allclose(found.w, solve(objective, rng=False).w, atol=1e-9)


def test_few_passes_are_left_to_double_precision(monkeypatch):
    objective, types, changed = problem(), [], []
    sweep = MemoryRows.sweep

    def recorded(rows, *args):
        found = sweep(rows, *args)
        types.append(str(rows.table.dtype))
        changed.append(found.changed)
        return found

    monkeypatch.setattr(MemoryRows, "sweep", recorded)
    solve(objective)
    n_single = types.count("float32")
    assert changed[n_single] < N // 100  # the pieces are known
    assert types == ["float32"] * n_single + ["float64"] * (len(types) - n_single)
    assert n_single >= 3
    assert len(types) - n_single <= 3


def test_steps_in_single_precision_end_close_to_the_minimiser():
    objective = problem()
    w, n_passes, steps = close_steps(in_single(objective), fit_labeled(objective), None)
    expected = solve(objective, rng=False).w
    np.testing.assert_allclose(w, expected, atol=1e-4)
    pieces = [objective.sweep(weights).piece for weights in (w, expected)]
    assert np.count_nonzero((pieces[0] != pieces[1]).any(axis=1)) < N // 100
    assert 3 <= n_passes <= _single.MOST_STEPS + steps.products
    again = newton(objective, w, single=steps)
    np.testing.assert_allclose(again.w, expected, atol=1e-9)
    assert again.status is Status.EXACT


@pytest.mark.parametrize("is_close", [False, True], ids=["far", "close"])
def test_a_step_that_cannot_lower_J_is_the_last(is_close, monkeypatch):
    objective = problem()
    start = solve(objective).w
    step = 9.0 * np.arange(K)
    monkeypatch.setattr(_single, "may_join", lambda objective: True)
    monkeypatch.setattr(_single, "_step_of_preconditioner", lambda *_: None)
    monkeypatch.setattr(
        _single.ConjugateSteps, "__call__", lambda steps, sweep: 0.0 * sweep.w + step
    )
    w, n_passes, _ = single_steps(in_single(objective), start, None, is_close=is_close)
    np.testing.assert_allclose(w, start, atol=1e-4)
    assert n_passes == 3 + is_close  # at the start, after the step, and where the search ends


def test_a_step_that_is_too_long_is_searched_along(monkeypatch):
    objective = problem()
    start = solve(objective).w + np.random.default_rng(1).normal(scale=1e-2, size=(D + 1, K))
    right, factors = _single.ConjugateSteps.__call__, [30.0]

    def lengthened(steps, sweep):
        return (factors.pop() if factors else 1.0) * right(steps, sweep)

    searches = watch(monkeypatch, _single, "exact_search")
    monkeypatch.setattr(_single.ConjugateSteps, "__call__", lengthened)
    w, _, _ = single_steps(in_single(objective), start, None)
    assert len(searches) == 1
    np.testing.assert_allclose(w, solve(objective, rng=False).w, atol=1e-4)


def test_a_rise_of_J_by_rounding_is_not_searched(monkeypatch):
    objective = problem()
    start = solve(objective).w
    monkeypatch.setattr(_single.ConjugateSteps, "__call__", lambda steps, sweep: 0.0 * sweep.w)
    searches = watch(monkeypatch, _single, "exact_search")
    w, n_passes, _ = single_steps(in_single(objective), start, None)
    np.testing.assert_allclose(w, start, atol=1e-12)
    assert n_passes == 2
    assert not searches


def test_after_a_search_the_next_step_is_looked_at(monkeypatch):
    """A short step moves few rows, however far the minimum is."""
    objective = problem()
    start = solve(objective).w + np.random.default_rng(1).normal(scale=1e-2, size=(D + 1, K))
    right, search, factors = _single.ConjugateSteps.__call__, _single.exact_search, [30.0]

    def lengthened(steps, sweep):
        return (factors.pop() if factors else 1.0) * right(steps, sweep)

    def searched(*args, **options):
        monkeypatch.setattr(_single, "FEW_MOVED", np.inf)
        return search(*args, **options)

    monkeypatch.setattr(_single, "FEW_MOVED", -1.0)
    monkeypatch.setattr(_single, "exact_search", searched)
    monkeypatch.setattr(_single.ConjugateSteps, "__call__", lengthened)
    sweeps = watch(monkeypatch, MemoryRows, "sweep")
    single_steps(in_single(objective), start, None)
    assert len(sweeps) == 4  # at the start, two for the search, and after the next step


def test_the_first_step_before_a_joint_one_takes_no_product(monkeypatch):
    objective, before = problem(), []
    start = solve(objective).w + np.random.default_rng(1).normal(scale=1e-3, size=(D + 1, K))
    monkeypatch.setattr(_single, "may_join", lambda objective: True)
    sweeps = watch(monkeypatch, MemoryRows, "sweep")
    products = watch(monkeypatch, MemoryRows, "curvature_product")
    right = _single.ConjugateSteps.__call__

    def recorded(steps, sweep):
        known = steps.piece is not None and bool((steps.piece != sweep.piece).any())
        before.append((len(sweeps), len(products), known))
        return right(steps, sweep)

    monkeypatch.setattr(_single.ConjugateSteps, "__call__", recorded)
    close_steps(in_single(objective), start, None)
    assert before[0] == (2, 0, True)  # it knows which rows have moved


@pytest.mark.parametrize("size", [1e-3, -1.0, 50.0], ids=["short", "wrong", "long"])
def test_a_first_step_of_no_use_is_taken_back(size, monkeypatch):
    objective, start, before = problem(), fit_labeled(problem()), []
    monkeypatch.setattr(_single, "may_join", lambda objective: True)
    right, step = _single.ConjugateSteps.preconditioner, _single.ConjugateSteps.__call__

    def spoilt(steps, sweep):
        solve = right(steps, sweep)
        return lambda r: (1.0 if before else size) * solve(r)

    def recorded(steps, sweep):
        before.append((sweep.w, steps.piece))
        return step(steps, sweep)

    monkeypatch.setattr(_single.ConjugateSteps, "preconditioner", spoilt)
    monkeypatch.setattr(_single.ConjugateSteps, "__call__", recorded)
    w, _, steps = close_steps(in_single(objective), start, None)
    np.testing.assert_allclose(before[0][0], start, atol=1e-12)
    assert before[0][1] is None
    assert steps.products > 0
    np.testing.assert_allclose(w, solve(objective, rng=False).w, atol=1e-4)


def test_a_first_step_that_moves_too_many_rows_is_taken_back(monkeypatch):
    objective = problem()
    start = solve(objective).w + np.random.default_rng(1).normal(scale=1e-3, size=(D + 1, K))
    steps = _single.ConjugateSteps(in_single(objective), None)
    sweep = in_single(objective).sweep(start)
    assert _single._step_of_preconditioner(steps.objective, sweep, steps) is not None
    monkeypatch.setattr(_single, "MANY_MOVED", 0.0)
    again = _single.ConjugateSteps(in_single(objective), None)
    assert _single._step_of_preconditioner(steps.objective, sweep, again) is None
    assert again.piece is None


@pytest.mark.parametrize("size", [0.0, 1e-3, -1.0, 50.0], ids=["none", "short", "wrong", "long"])
def test_products_take_over_if_steps_by_secants_are_of_no_use(size, monkeypatch):
    objective = problem()
    monkeypatch.setattr(_single, "may_join", lambda objective: False)
    right = _single.SecantSteps.__call__
    calls = []

    def fail(secants, gradient, precondition):
        calls.append(1)
        return size * right(secants, gradient, precondition)

    monkeypatch.setattr(_single.SecantSteps, "__call__", fail)
    w, _, steps = close_steps(in_single(objective), fit_labeled(objective), None)
    assert len(calls) == 1
    assert steps.products > 0
    np.testing.assert_allclose(w, solve(objective, rng=False).w, atol=1e-7)


def test_far_from_the_minimum_no_secants_are_used(monkeypatch):
    objective = problem()
    monkeypatch.setattr(_single, "may_join", lambda objective: False)
    monkeypatch.delattr(_single.SecantSteps, "__call__")
    w, _, _ = single_steps(in_single(objective), fit_labeled(objective), None)
    np.testing.assert_allclose(w, solve(objective, rng=False).w, atol=1e-7)


def test_steps_by_secants_take_one_sweep_each_and_no_product(monkeypatch):
    objective = problem()
    start = solve(objective).w + np.random.default_rng(1).normal(scale=1e-3, size=(D + 1, K))
    monkeypatch.setattr(_single, "may_join", lambda objective: False)
    sweeps = watch(monkeypatch, MemoryRows, "sweep")
    products = watch(monkeypatch, MemoryRows, "curvature_product")
    w, n_passes, steps = close_steps(in_single(objective), start, None)
    assert len(sweeps) == n_passes >= 2
    assert len(products) == steps.products == 0
    np.testing.assert_array_equal(steps.piece, objective.sweep(w).piece)


def test_numbers_beyond_single_precision_are_fitted_in_double():
    objective = problem(size=1e45)
    with pytest.raises(FloatingPointError):
        close_steps(in_single(objective), fit_labeled(objective), None)
    found, expected = solve(objective), solve(objective, rng=False)
    np.testing.assert_allclose(found.w, expected.w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [1e17, 1e19, 1e30])
def test_squares_beyond_single_precision_are_fitted_in_double(size):
    """The numbers themselves are within it."""
    objective = problem(size=size)
    found, expected = solve(objective), solve(objective, rng=False)
    np.testing.assert_allclose(found.w, expected.w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "other",
    [
        problem(n_classes=2),
        problem(alpha=0.0, n_labeled=D),
    ],
    ids=["two classes", "labeled rows that do not determine the weights"],
)
def test_it_is_not_worth_it_for(other):
    assert in_single(other) is None


def test_sparse_rows_stay_in_double_precision():
    rows = problem().memory_rows
    other = rows.written_in(SparseTable(sparse.csr_array(rows.table.X)))
    assert in_single(Objective(other, SimplexLabels(), 1.0)) is None


@pytest.mark.parametrize(("name", "limit"), [("SMALLEST", N * D), ("LEAST_RCOND", None)])
def test_small_or_ill_conditioned_tables_stay_in_double_precision(name, limit, monkeypatch):
    objective = problem()
    limit = objective.labeled_factor.rcond if limit is None else limit
    monkeypatch.setattr(_single, name, limit)
    assert in_single(objective) is not None
    monkeypatch.setattr(_single, name, np.nextafter(float(limit), np.inf))
    assert in_single(objective) is None
