"""The matrix of all classes is the curvature of simplex labels, for steps that sum to 0."""

from importlib import import_module

import numpy as np
import pytest

from semisquares.core.labelings import SimplexLabels
from semisquares.core.objective import Objective
from semisquares.core.rows import DenseTable, MemoryRows, Patterns
from semisquares.core.solvers import Status, _joint, _steps, newton
from semisquares.core.solvers._joint import expand, joint_curvature, lift, reduce
from semisquares.core.solvers._steps import ConjugateSteps
from support.watching import watch

N, D, K, LABELED = 4000, 3, 4, 40


def problem(*, weighted=False, alpha=3.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=N)
    X = rng.standard_normal((N, D)) + rng.standard_normal((K, D))[truth]
    labeled = np.sort(rng.choice(N, LABELED, replace=False))
    rows = MemoryRows(
        DenseTable(X),
        labeled,
        np.eye(K)[truth[labeled]],
        labeled_weight=rng.uniform(0.5, 2.0, LABELED) if weighted else np.ones(LABELED),
        row_weight=rng.uniform(0.5, 2.0, N) if weighted else None,
        unlabeled_weight=0.7 if weighted else 1.0,
    )
    return Objective(rows, SimplexLabels(), alpha)


def weights(seed):
    w = np.random.default_rng(seed).standard_normal((D + 1, K)) * 0.3
    w -= w.mean(axis=1, keepdims=True)
    w[-1] += 1.0 / K
    return w


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr(_joint, "SMALLEST", 0)


def curved(objective, piece, V):
    image = objective.rows.curvature_product(V, piece, objective.convex_labeling)
    return reduce(image + objective.ridge_gradient(V))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fewest", [1, 200])
def test_a_product_is_that_of_the_rows(weighted, fewest, monkeypatch):
    """Also if rows of rare patterns, or rows that moved since, are not in the matrix."""
    monkeypatch.setattr(_joint, "FEWEST_ROWS", fewest)
    monkeypatch.setattr(_joint, "MOST_APART", 1)
    objective = problem(weighted=weighted)
    first, second = (objective.sweep(weights(seed)).piece for seed in (1, 2))
    joint = joint_curvature(objective, first)
    x = np.random.default_rng(3).standard_normal((D + 1, K - 1))
    expected = curved(objective, first, expand(x))
    np.testing.assert_allclose(joint.product(x), expected, rtol=1e-10)
    assert joint.move(second) > 0
    np.testing.assert_allclose(joint.product(x), curved(objective, second, expand(x)), rtol=1e-10)


def test_the_factor_inverts_the_matrix():
    objective = problem()
    joint = joint_curvature(objective, objective.sweep(weights(1)).piece)
    r = np.random.default_rng(3).standard_normal((D + 1, K - 1))
    image = joint.matrix @ joint.precondition(r).T.ravel()
    np.testing.assert_allclose(image, r.T.ravel(), rtol=1e-10)


def test_lift_undoes_reduce_for_gradients_that_sum_to_zero_over_the_classes():
    gradient = np.random.default_rng(4).standard_normal((D + 1, K))
    gradient -= gradient.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(lift(reduce(gradient)), gradient, atol=1e-14)


@pytest.mark.parametrize("together", [1, 2 * (D + 1) ** 2, 1 << 20])
def test_every_pattern_has_its_gram_matrix(together, monkeypatch):
    monkeypatch.setattr(import_module(Patterns.__module__), "TOGETHER", together)
    objective = problem(weighted=True)
    rows, support = objective.memory_rows, objective.sweep(weights(1)).piece
    patterns = Patterns(rows, support, 1)
    parts = list(patterns.grams())
    outside, grams = (np.concatenate(found) for found in zip(*parts, strict=True))
    assert len(parts) == -(-len(patterns.groups) // max(1, together // (D + 1) ** 2))
    for group, classes, gram in zip(patterns.groups, outside, grams, strict=True):
        np.testing.assert_array_equal(classes, ~support[group[0]])
        np.testing.assert_allclose(gram.reshape(D + 1, D + 1), rows.unlabeled_gram(group))


def test_a_residual_of_zeros_needs_no_step():
    steps = ConjugateSteps(problem(), None)
    assert steps._accept(0.0)(np.zeros((D + 1, K)))
    assert not steps._accept(0.0)(np.full((D + 1, K), 1e-100))


def test_patterns_cover_the_rows_with_a_class_outside_their_support():
    objective = problem()
    support = objective.sweep(weights(1)).piece
    rows = objective.memory_rows
    patterns = Patterns(rows, support, 1)
    covered = np.sort(np.concatenate(patterns.groups))
    outside = rows.unlabeled[~support[rows.unlabeled].all(axis=1)]
    np.testing.assert_array_equal(covered, outside)
    np.testing.assert_array_equal(patterns.reference(), support)


def test_a_rare_pattern_is_kept_if_its_rows_are_large():
    """Such rows would make the matrix a bad preconditioner."""
    objective = problem()
    rows = objective.memory_rows
    support = np.ones((N, K), dtype=bool)
    first, second = rows.unlabeled[:2]
    support[first, 0] = support[second, 1] = False
    support[rows.labeled] = False
    rows.table.X[first] *= 10.0 * np.sqrt(D) / np.linalg.norm(rows.table.X[first])
    rows.table.squares_sum = float((rows.table.X**2).sum())
    groups = Patterns(rows, support, 16).groups
    assert [group.tolist() for group in groups] == [[first]]
    rows.table.squares_sum = np.inf
    assert not Patterns(rows, support, 16).groups


def test_the_rows_of_a_rare_pattern_are_as_large_as_all_of_them_together():
    objective = problem()
    rows = objective.memory_rows
    support = np.ones((N, K), dtype=bool)
    support[rows.labeled] = False
    index = np.array_split(rows.unlabeled[:6], (1, 3))  # patterns of one, two and three rows
    size = np.sqrt(D) * np.array([1.0, 3.0, 1.0])
    for k, group in enumerate(index):
        support[group, k] = False
        rows.table.X[group] *= (size[k] / np.linalg.norm(rows.table.X[group], axis=1))[:, None]
    rows.table.squares_sum = float(N * D)  # rows of mean size count 1
    found = {group.size: group.tolist() for group in Patterns(rows, support, 16).groups}
    assert found == {2: index[1].tolist()}


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_newton_finds_the_same_minimum_with_and_without_the_matrix(alpha, monkeypatch):
    objective = problem(alpha=alpha)
    found = newton(objective, weights(1))
    monkeypatch.setattr(_joint, "SMALLEST", np.inf)
    expected = newton(objective, weights(1))
    assert found.status is Status.EXACT
    assert found.n_passes < expected.n_passes
    np.testing.assert_allclose(found.w, expected.w, atol=1e-10)


def test_rows_without_an_intercept_have_no_matrix():
    objective = problem()
    rows = objective.memory_rows
    other = MemoryRows.of(rows.table, rows.targets, intercept=False)
    assert joint_curvature(Objective(other, SimplexLabels(), 1.0), np.ones((N, K), bool)) is None


def test_the_first_step_does_without_the_matrix(monkeypatch):
    """Too many supports still change after it."""
    objective = problem()
    steps, made = ConjugateSteps(objective, None), watch(monkeypatch, _steps, "joint_curvature")
    first, second = (objective.sweep(weights(seed)) for seed in (1, 2))
    assert np.vdot(objective.gradient(first), steps(first)) < 0.0
    assert not made
    assert np.vdot(objective.gradient(second), steps(second)) < 0.0
    assert len(made) == 1


def test_the_matrix_is_summed_again_only_if_many_rows_moved(monkeypatch):
    objective = problem()
    first, second = (objective.sweep(weights(seed)) for seed in (1, 2))
    steps, made = ConjugateSteps(objective, None), watch(monkeypatch, _steps, "joint_curvature")
    assert steps._join(first)
    assert steps._join(first)
    assert len(made) == 1
    moved = steps._joint.move(second.piece)
    monkeypatch.setattr(_steps, "MOST_APART", N / (moved + 0.5))
    assert steps._join(second)
    assert len(made) == 1
    monkeypatch.setattr(_steps, "MOST_APART", N / (moved - 0.5))
    assert steps._join(second)
    assert [len(made), steps.products] == [2, 2]


# -- when it is worth it ---------------------------------------------------------------------------


@pytest.mark.parametrize("fewest", [1, 2000])
def test_a_matrix_that_costs_more_than_products_is_not_formed(fewest, monkeypatch):
    """It costs a Gram matrix for each pair of classes of a pattern, or a factor if that is more."""
    monkeypatch.setattr(_joint, "FEWEST_ROWS", fewest)
    monkeypatch.setattr(_joint, "MOST_APART", 0)
    objective = problem()
    support = np.random.default_rng(0).random((N, K)) < 0.5
    support[:, 0] |= ~support.any(axis=1)
    support[objective.memory_rows.labeled] = False
    patterns = Patterns(objective.memory_rows, support, fewest)
    n_blocks = sum(int(outside.sum()) ** 2 for outside in patterns.outside)
    p, order = D + 1, (D + 1) * (K - 1)
    assert (n_blocks * p**2 > order**3 / 3.0) is (fewest == 1)
    needed = max(n_blocks * p**2, order**3 / 3.0)
    for operations, formed in ((1.001 * needed, True), (0.999 * needed, False)):
        monkeypatch.setattr(_joint, "WORTH", operations / (N * p * K))
        assert (joint_curvature(objective, support) is not None) is formed


@pytest.mark.parametrize(
    ("name", "most"),
    [("LARGEST", (D + 1) * (K - 1)), ("SMALLEST", -N * D)],
)
def test_a_matrix_that_is_too_large_or_a_table_too_small_has_no_matrix(name, most, monkeypatch):
    objective = problem()
    support = objective.sweep(weights(1)).piece
    monkeypatch.setattr(_joint, name, abs(most))
    assert joint_curvature(objective, support) is not None
    monkeypatch.setattr(_joint, name, abs(most - 1))
    assert joint_curvature(objective, support) is None


def test_there_is_no_matrix_if_too_many_rows_have_rare_patterns(monkeypatch):
    objective = problem()
    support = objective.sweep(weights(1)).piece
    monkeypatch.setattr(_joint, "FEWEST_ROWS", 200)
    patterns = Patterns(objective.memory_rows, support, 200)
    apart = patterns.n_outside - patterns.n_covered
    for share, formed in ((N / (apart + 0.5), True), (N / (apart - 0.5), False)):
        monkeypatch.setattr(_joint, "MOST_APART", share)
        assert (joint_curvature(objective, support) is not None) is formed
