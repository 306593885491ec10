"""Representations: what is learned from all rows without labels, and by their content alone."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from semisquares import SoftLabelClassifier
from semisquares.representations import (
    GraphRepresentation,
    KernelRepresentation,
    LinearRepresentation,
)
from semisquares.representations import _summary as summary
from semisquares.representations._distances import squared_distances
from semisquares.representations._neighbours import Graph
from semisquares.representations._scaling import Scaling, leading
from semisquares.representations._summary import hash_rows, merge, summarize
from semisquares.representations.graph import neighbours_agree
from support.made_rows import mixed_rows, one_hot_rows
from support.scikit_learn_checks import every_check

MODELS = [
    LinearRepresentation(0),
    LinearRepresentation(1),
    LinearRepresentation(2),
    KernelRepresentation(0, n_landmarks=40),
    KernelRepresentation(1, n_landmarks=40),
    GraphRepresentation(0, n_rows=60),
    GraphRepresentation(1, n_rows=60, sharp=True),
]


# -- the summary --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_summary_has_the_moments_of_all_rows(form, weighted):
    X = mixed_rows()
    weight = np.random.default_rng(1).integers(0, 3, size=len(X)).astype(float)
    weight = weight if weighted else np.ones(len(X))
    found = summarize(form(X), weight)
    rows = np.repeat(X, weight.astype(int), axis=0).astype(np.longdouble)
    centred = rows - rows.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0)).astype(float)
    assert found.weight == len(rows)
    rounding = 1e-13 * abs(rows).max(axis=0).astype(float)
    np.testing.assert_array_less(abs(found.mean - rows.mean(axis=0).astype(float)), rounding)
    np.testing.assert_allclose(np.sqrt(found.squares), spread, rtol=1e-9, atol=1e-9)
    expected = (centred.T @ centred).astype(float)
    size = np.outer(spread, spread)
    np.testing.assert_array_less(abs(found.scatter - expected), 1e-9 * size + 1e-9)
    two = [len(np.unique(column)) <= 2 for column in rows.T]
    assert found.two_valued.tolist() == two


def test_the_sample_holds_the_distinct_rows_of_smallest_hash():
    X = mixed_rows()
    found = summarize(X, n_sample=50)
    rows, counts = np.unique(X, axis=0, return_counts=True)
    order = np.argsort(hash_rows(rows))[:50]
    np.testing.assert_array_equal(found.sample, rows[order])
    np.testing.assert_array_equal(found.sample_weight, counts[order])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_summaries_of_blocks_merge_into_that_of_all_rows(form, monkeypatch):
    X = mixed_rows()
    whole = summarize(form(X), n_sample=40)
    parts = [
        summarize(form(X)[rows], n_sample=40) for rows in np.split(np.arange(300), [1, 7, 150])
    ]
    together = merge(merge(parts[2], parts[0]), merge(parts[3], parts[1]))
    np.testing.assert_array_equal(together.hashes, whole.hashes)
    np.testing.assert_array_equal(together.sample_weight, whole.sample_weight)
    np.testing.assert_array_equal(together.two_valued, whole.two_valued)
    np.testing.assert_array_less(abs(together.mean - whole.mean), 1e-13 * abs(X).max(axis=0))
    np.testing.assert_allclose(together.scatter, whole.scatter, rtol=1e-9, atol=1e-6)
    monkeypatch.setattr(summary, "BLOCK_BYTES", 1)
    small = summarize(form(X), n_sample=40)
    np.testing.assert_array_equal(small.hashes, whole.hashes)
    np.testing.assert_array_equal(small.sample_weight, whole.sample_weight)
    np.testing.assert_allclose(small.squares, whole.squares, rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n_sample", [20, 60, 100], ids=["few", "most", "all"])
def test_copies_of_a_sampled_row_count_in_whichever_block_they_are(form, n_sample, monkeypatch):
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((90, 3))[rng.integers(90, size=2000)]
    weight = rng.integers(0, 3, size=len(rows)).astype(float)
    monkeypatch.setattr(summary, "BLOCK_BYTES", 1)
    found = summarize(form(rows), weight, n_sample=n_sample)
    distinct, position = np.unique(rows, axis=0, return_inverse=True)
    order = np.argsort(hash_rows(distinct))[:n_sample]
    sample = found.sample if form is np.asarray else found.sample.toarray()
    np.testing.assert_array_equal(sample, distinct[order])
    np.testing.assert_array_equal(found.sample_weight, np.bincount(position, weight)[order])


def test_full_hashes_are_computed_of_few_rows_once_the_sample_is_full(monkeypatch):
    rows, right, counts = (
        np.random.default_rng(6).standard_normal((4000, 2)),
        summary._host_sums,
        [],
    )

    def counted(X, factors, *, rounded):
        counts.append((len(X), rounded))
        return right(X, factors, rounded=rounded)

    monkeypatch.setattr(summary, "BLOCK_BYTES", 1)
    monkeypatch.setattr(summary, "_host_sums", counted)
    summarize(rows, n_sample=10)
    of_a_block = counts[0][0]
    in_full = [n for n, rounded in counts if not rounded]
    assert in_full[0] == of_a_block
    assert len(in_full) > 3
    assert sum(in_full[1:]) < 0.2 * (len(rows) - of_a_block)


def test_two_values_of_one_block_and_two_of_another_may_be_three():
    first, second = (summarize(np.array([[0.0], [b]])) for b in (1.0, 2.0))
    assert not merge(first, second).two_valued[0]
    assert merge(first, first).two_valued[0]


def test_hashes_tell_one_hot_rows_and_whole_numbers_apart():
    grids = [np.indices((2,) * 12), np.indices((40, 40)) - 20.0, 2.0 ** np.indices((30, 30))]
    for grid in grids:
        rows = grid.reshape(len(grid), -1).T.astype(float)
        assert len(np.unique(hash_rows(rows))) == len(rows)


def test_rounding_in_the_last_bits_does_not_change_the_order_of_rows():
    X = mixed_rows()
    noise = 1.0 + np.finfo(float).eps * np.random.default_rng(0).integers(-2, 3, size=X.shape)
    order, after = np.argsort(hash_rows(X), kind="stable"), np.argsort(hash_rows(X * noise))
    distinct = np.unique(X[order], axis=0, return_index=True)[1]
    np.testing.assert_allclose(X[after][np.sort(distinct)], X[order][np.sort(distinct)], rtol=1e-12)


def test_dense_and_sparse_rows_have_the_same_hashes():
    X = mixed_rows()
    np.testing.assert_array_equal(hash_rows(X), hash_rows(sparse.csr_array(X)))


# -- distances and directions -------------------------------------------------------------------


def test_distances_are_right_for_rows_that_are_close():
    rng = np.random.default_rng(0)
    A = 1e3 + rng.normal(size=(30, 5))
    B = np.concatenate((A[:10], A[10:20] + 1e-9 * rng.normal(size=(10, 5)), A[20:] + 1.0))
    exact = ((A[:, None].astype(np.longdouble) - B) ** 2).sum(axis=2).astype(float)
    for first in (A, sparse.csr_array(A)):
        np.testing.assert_allclose(squared_distances(first, B), exact, rtol=1e-9)
    assert (np.diag(squared_distances(A, B))[:10] == 0.0).all()


@pytest.mark.parametrize("power", [1, 2])
def test_features_along_directions_have_powers_of_the_spectrum_as_variances(power):
    X = mixed_rows()
    Z = LinearRepresentation(power).fit_transform(X)
    scaled = LinearRepresentation(0).fit_transform(X)
    spectrum = np.linalg.eigvalsh(np.cov(scaled.T, bias=True))[::-1][:6]  # two are 0
    covariance = np.cov(Z.T, bias=True)
    np.testing.assert_allclose(np.diag(covariance), spectrum ** (1 + power), atol=1e-10)
    np.testing.assert_allclose(covariance - np.diag(np.diag(covariance)), 0.0, atol=1e-10)


def test_columns_of_two_values_are_centred_and_not_scaled():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 6.0], [0.0, 7.0]])
    Z = LinearRepresentation(0).fit_transform(X)
    np.testing.assert_allclose(Z[:, 0], [-0.25, -0.25, 0.75, -0.25])
    np.testing.assert_allclose([Z[:, 1].mean(), Z[:, 1].std()], [0.0, 1.0], atol=1e-15)


def test_many_columns_are_turned_by_the_rows_of_the_sample(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 30))
    gram = LinearRepresentation(1).fit_transform(X)
    monkeypatch.setattr(summary, "COVARIANCE_COLUMNS", 10)
    for form in (np.asarray, sparse.csr_array):
        wide = LinearRepresentation(1).fit_transform(form(X))
        np.testing.assert_allclose(wide @ wide.T, gram @ gram.T, atol=1e-9)


def test_eigenvalues_that_are_equal_are_kept_or_dropped_together():
    assert leading(np.array([5.0, 4.0, 4.0, 4.0, 1.0]), 3) == 1
    assert leading(np.array([5.0, 4.0, 4.0, 4.0, 1.0]), 4) == 4
    assert leading(np.array([2.0, 2.0]), 1) == 0
    assert leading(np.zeros(3), 2) == 0


# -- kernel and graph ---------------------------------------------------------------------------


def test_kernel_features_of_the_landmarks_have_the_kernel_as_products():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = KernelRepresentation(0).fit(X)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    d2 = ((scaled[:, None] - scaled) ** 2).sum(axis=2)
    width = np.median(d2[np.triu_indices(40, 1)])
    Z = model.transform(X)
    np.testing.assert_allclose(Z @ Z.T, np.exp(-np.sqrt(d2 / width)), atol=1e-6)


GAINS = {
    False: lambda value: 1.0 / np.sqrt(1.0 - 0.9 * (1.0 - value)),
    True: lambda value: 1.0 / (value + 0.01),
}


def graph_features(X, gain, k=7):
    """The features of the rows of a graph, written down row by row; no ties, no copies."""
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    n = len(X)
    d2 = ((scaled[:, None] - scaled) ** 2).sum(axis=2)
    order = np.argsort(d2 + np.diag(np.full(n, np.inf)), axis=1)
    reach = np.array([d2[i, order[i, k - 1]] for i in range(n)])
    reach = np.maximum(reach, 1e-3 * np.median(reach))
    W = np.zeros((n, n))
    for i in range(n):
        for j in order[i, :k]:
            W[i, j] = W[j, i] = np.exp(-d2[i, j] / np.sqrt(reach[i] * reach[j]))
    D = W.sum(axis=1)
    values, vectors = np.linalg.eigh(W / np.sqrt(np.outer(D, D)))
    V = vectors / np.sqrt(D / D.sum())[:, None]
    means = np.empty_like(V)
    for i in range(n):
        near = order[i, :k]
        w = np.exp(-d2[i, near] / np.sqrt(reach[i] * reach[near]))
        means[i] = w @ V[near] / w.sum()
    kept = values > 1e-12
    return means[:, kept] * gain(1.0 - values[kept])


@pytest.mark.parametrize("sharp", [False, True])
def test_graph_features_are_means_over_neighbours_without_the_row_itself(sharp):
    X = np.random.default_rng(0).normal(size=(50, 3))
    expected = graph_features(X, GAINS[sharp])
    Z = GraphRepresentation(0, sharp=sharp).fit_transform(X)
    # the signs of eigenvectors are free, products of features are not
    np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("exponent", "mean"), [(690.0, 1.0), (710.0, 0.0), (800.0, 0.0)])
def test_rows_too_far_away_for_double_precision_have_no_neighbours(exponent, mean):
    """Weights below exp(-700) would soon lose digits."""
    rows = np.random.default_rng(0).normal(size=(50, 2))
    graph = Graph(rows, np.ones(50), 7, np.zeros(1), np.ones((50, 1)))
    far = rows.mean(axis=0) + np.array([exponent, 0.0])  # the weight of a far row is exp(-distance)
    assert graph.means(far[None])[0, 0] == pytest.approx(mean)


def test_a_copy_of_a_row_of_the_graph_has_its_features():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = GraphRepresentation(0).fit(np.concatenate((X, X, X)))
    once = GraphRepresentation(0).fit(X)
    first, second = model.transform(X), once.transform(X)
    np.testing.assert_allclose(first @ first.T, second @ second.T, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_tables_of_few_rows_have_finite_features(model, n):
    X = np.arange(2.0 * n).reshape(n, 2)
    assert np.isfinite(clone(model).fit(X).transform(X)).all()


@pytest.mark.parametrize("rows", [mixed_rows, one_hot_rows])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_order_and_copies_of_rows_do_not_matter(model, rows):
    X = rows()
    rng = np.random.default_rng(3)
    weight = rng.integers(1, 4, size=len(X))
    repeated = rng.permutation(np.repeat(np.arange(len(X)), weight))
    first = clone(model).fit(X, sample_weight=weight).transform(X)
    second = clone(model).fit(X[repeated]).transform(X)
    size = np.einsum("ij,ij->i", first, first).max()
    np.testing.assert_allclose(second @ second.T, first @ first.T, atol=1e-9 * size)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_sparse_rows_have_the_features_of_dense_ones(model):
    X = one_hot_rows() * np.tile([1.0, 2.0, 3.0], 4)
    dense = clone(model).fit(X).transform(X)
    found = clone(model).fit(sparse.csr_array(X)).transform(sparse.csr_array(X))
    found = found.toarray() if sparse.issparse(found) else found
    centre = lambda Z: Z - Z.mean(axis=0)  # noqa: E731 (sparse columns are not centred)
    size = np.einsum("ij,ij->i", dense, dense).max()
    np.testing.assert_allclose(
        centre(found) @ centre(found).T, centre(dense) @ centre(dense).T, atol=1e-9 * size
    )


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_soft_labels_can_be_fitted_to_any_representation(model):
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=120)
    X = rng.normal(size=(120, 3)) + 3.0 * truth[:, None]
    pipeline = make_pipeline(clone(model), SoftLabelClassifier(1.0))
    pipeline.fit(X, np.where(np.arange(120) < 30, truth, -1))
    assert pipeline.score(X, truth) > 0.9


def test_the_scaling_of_a_constant_column_is_one():
    scaling = Scaling.of(summarize(np.array([[3.0, 1.0], [3.0, 2.0], [3.0, 4.0]])))
    assert scaling.scale[0] == 1.0


@every_check([LinearRepresentation(), KernelRepresentation(), GraphRepresentation()])
def test_representations_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_neighbours_agree_where_classes_are_apart_and_not_where_labels_are_noise():
    rng = np.random.default_rng(0)
    codes, ones, each = np.arange(60) % 3, np.ones(60), np.arange(60)
    apart = rng.normal(size=(60, 2)) + 5.0 * codes[:, None]
    assert neighbours_agree(apart, codes, ones, each)
    rare = (np.arange(60) % 4 == 0).astype(int)  # one in four: to say 0 is right more often
    assert not neighbours_agree(rng.normal(size=(60, 2)), rare, ones, each)
    # rows of a block do not vote for each other
    near = np.repeat(rng.normal(size=(15, 2)), 4, axis=0) + 1e-6 * rng.normal(size=(60, 2))
    labels = np.repeat(rare[:15], 4)
    assert neighbours_agree(near, labels, ones, each)
    assert not neighbours_agree(near, labels, ones, each // 4)
