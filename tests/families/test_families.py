"""Families: members predict labeled rows as if they had been left out, and they had."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, sparse, special
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from semisquares.families import (
    Features,
    Forest,
    HardLabelRidges,
    LabeledRows,
    LeastSquares,
    Logistic,
    UnlabeledRows,
)
from semisquares.families import _calibration as calibration
from semisquares.families import forest as forest_module
from semisquares.families import hard_labels as hard_module
from semisquares.families import logistic as logistic_module
from semisquares.families._calibration import Calibration, calibrate, member_weights
from semisquares.families.least_squares import RidgePath, targets
from semisquares.representations import LinearRepresentation
from semisquares.representations._scaling import Scaling
from semisquares.representations._summary import summarize

STRENGTHS = (1e-3, 0.1, 10.0)
CASES = {
    "each row": (2, 30, 4, False, False),
    "more columns than rows": (2, 20, 50, False, False),
    "weights": (2, 30, 4, True, False),
    "groups": (2, 30, 4, False, True),
    "groups and weights": (2, 20, 40, True, True),
    "five classes": (5, 40, 6, True, True),
    "five classes, more columns": (5, 30, 60, False, True),
}


def labeled_rows(n_classes=2, n_rows=30, n_columns=4, weighted=False, grouped=False, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_columns)) + rng.normal(size=(n_classes, n_columns))[codes]
    weight = rng.integers(1, 4, size=n_rows).astype(float) if weighted else np.ones(n_rows)
    blocks = rng.integers(n_rows // 3, size=n_rows) if grouped else np.arange(n_rows)
    found = summarize(X)
    representation = LinearRepresentation(0).fit_summary(found, Scaling.of(found))
    features = Features(X, representation.scaling_, {representation.name: representation})
    return LabeledRows(features, codes, n_classes, weight, float(weight.sum()), blocks)


def without(rows, block):
    """The rows that do not leave, as a mask."""
    return rows.blocks != block


# -- least squares ------------------------------------------------------------------------------


def ridge(Z, y, s, alpha):
    """Solve the ridge by its normal equations, intercept last."""
    A = np.column_stack((Z, np.ones(len(Z))))
    penalty = np.diag(np.append(np.full(Z.shape[1], alpha), 0.0))
    return np.linalg.solve(A.T @ (A * s[:, None]) + penalty, A.T @ (y * s[:, None]))


@pytest.mark.parametrize("case", CASES)
def test_leaving_rows_out_in_closed_form_is_fitting_without_them(case):
    rows = labeled_rows(*CASES[case])
    Z = rows.features["linear, p = 0"]
    path = RidgePath.fit(Z, rows, STRENGTHS)
    y, s = targets(rows.codes, rows.n_classes), rows.weight
    for k, alpha in enumerate(path.alphas):
        expected = np.empty(y.shape)
        for block in np.unique(rows.blocks):
            train = without(rows, block)
            w = ridge(Z[train], y[train], s[train], alpha)
            mean = s[train] @ y[train] / s[train].sum()
            expected[~train] = Z[~train] @ w[:-1] + w[-1] - mean
        found = path.left_out[k] * path.size[k]
        found = found[:, 1:] - found[:, :1] if rows.n_classes == 2 else found
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_weights_of_a_member_solve_the_normal_equations(case):
    rows = labeled_rows(*CASES[case])
    Z = rows.features["linear, p = 0"]
    path = RidgePath.fit(Z, rows, STRENGTHS)
    y = targets(rows.codes, rows.n_classes)
    for k, alpha in enumerate(path.alphas):
        expected = ridge(Z, y, rows.weight, alpha)
        np.testing.assert_allclose(path.coef[:, k], expected[:-1], atol=1e-9)
        constant = path.intercept - path.mean @ path.coef[:, k]
        np.testing.assert_allclose(constant, expected[-1], atol=1e-9)


def test_the_mean_eigenvalue_is_the_unit_of_strengths():
    rows = labeled_rows(2, 30, 4)
    Z = rows.features["linear, p = 0"]
    path = RidgePath.fit(Z, rows, (1.0,))
    spectrum = np.linalg.eigvalsh(np.cov(Z.T, bias=True) * 30)
    np.testing.assert_allclose(path.alphas[0], spectrum.mean())


@pytest.mark.parametrize("case", CASES)
def test_sparse_features_give_the_members_of_dense_ones(case):
    rows = labeled_rows(*CASES[case])
    Z = rows.features["linear, p = 0"]
    dense, found = (
        RidgePath.fit(form(Z), rows, STRENGTHS) for form in (np.asarray, sparse.csr_array)
    )
    np.testing.assert_allclose(found.left_out, dense.left_out, atol=1e-9)
    np.testing.assert_allclose(found.coef, dense.coef, atol=1e-9)


def test_a_strong_ridge_is_not_wrong_about_every_row_that_is_left_out():
    """The artefact of the intercept: with it, every row would be predicted as the other class."""
    rows = labeled_rows(2, 20, 1)
    path = RidgePath.fit(rows.features["linear, p = 0"], rows, (1e6,))
    said = path.left_out[0, np.arange(20), rows.codes]
    assert np.mean(said > 0.0) > 0.5


@pytest.mark.parametrize("family", [LeastSquares(), Forest(30)], ids=lambda one: one.name)
def test_the_labels_of_a_block_do_not_matter_to_what_is_said_about_it(family):
    """They would if anything of the block had been seen: two rows exchange their labels."""
    rows = labeled_rows(2, 30, 4)
    blocks = np.where(np.arange(30) < 2, 0, np.arange(30))
    rows = replace(rows, blocks=blocks)
    swapped = replace(rows, codes=np.concatenate((rows.codes[1::-1], rows.codes[2:])))
    first, second = family.fit(rows), family.fit(swapped)
    size = [_sizes(one) for one in (first, second)]
    np.testing.assert_allclose(
        second.left_out[:, :2] * size[1], first.left_out[:, :2] * size[0], atol=1e-9
    )
    assert not np.allclose(second.left_out[:, 2:] * size[1], first.left_out[:, 2:] * size[0])


def _sizes(fitted):
    """What least squares members are divided by: a number of all rows."""
    paths = getattr(fitted, "paths", {})
    return np.concatenate([p.size for p in paths.values()] or [np.ones(1)])[:, None, None]


def test_certificates_of_least_squares_members_prove_their_optimum():
    rows = labeled_rows(3, 40, 6, True)
    fitted = LeastSquares().fit(rows)
    assert fitted.certificate(rows) < 1e-12
    path = fitted.paths["linear, p = 0"]
    wrong = replace(fitted, paths={"linear, p = 0": replace(path, coef=path.coef * 1.01)})
    assert wrong.certificate(rows) > 1e-6


# -- logistic -----------------------------------------------------------------------------------


def newton_step_without(X, rows, W, C, block):
    """One Newton step of the penalised log loss without a block, in all parameters at once."""
    train = without(rows, block)
    K, d = rows.n_classes, X.shape[1]
    y = np.eye(K)[rows.codes]
    p = special.softmax(X @ W, axis=1)
    gradient = X[train].T @ ((p - y)[train] * rows.weight[train, None])
    penalty = np.append(np.full(d - 1, 1.0 / C), 0.0)
    # two classes: scores ∓f/2, so that the penalty is one on the weights of f alone
    factor = 2.0 if K == 2 else 1.0
    gradient += factor * penalty[:, None] * W
    H = np.zeros((d * K, d * K))
    for i in np.flatnonzero(train):
        curvature = rows.weight[i] * (np.diag(p[i]) - np.outer(p[i], p[i]))
        H += np.kron(np.outer(X[i], X[i]), curvature)
    H += factor * np.kron(np.diag(penalty), np.eye(K))
    step = np.linalg.lstsq(H, gradient.ravel(), rcond=1e-12)[0].reshape(d, K)
    return X @ (W - step)


@pytest.mark.parametrize("case", ["each row", "weights", "groups", "five classes"])
def test_approximate_leave_one_out_is_one_newton_step(case):
    rows = labeled_rows(*CASES[case])
    X = np.column_stack((rows.features.columns, np.ones(rows.n_rows)))
    C = 0.3
    W = logistic_module._fit(X[:, :-1], rows.codes, rows.weight, C, rows.n_classes)
    W, found = logistic_module._approximate(X, rows, W, C)
    for block in np.unique(rows.blocks):
        out = ~without(rows, block)
        expected = newton_step_without(X, rows, W, C, block)[out]
        centred = [a - a.mean(axis=1, keepdims=True) for a in (found[out], expected)]
        np.testing.assert_allclose(*centred, rtol=1e-6, atol=1e-6)


def test_approximate_leave_one_out_is_close_to_leaving_out():
    rows = labeled_rows(2, 40, 4)
    C = 0.1
    fitted = Logistic(Cs=(C,)).fit(rows)
    Z, codes = rows.features.columns, rows.codes
    for i in range(40):
        rest = np.arange(40) != i
        model = LogisticRegression(C=C, tol=1e-10).fit(Z[rest], codes[rest])
        said = fitted.left_out[0, i] + fitted.log_shares
        assert abs(said[1] - said[0] - model.decision_function(Z[[i]])[0]) < 0.02


@pytest.mark.parametrize("shape", [(2, 30, 4), (4, 40, 6), (2, 20, 50)])
def test_logistic_members_are_those_of_scikit_learn(shape):
    rows = labeled_rows(*shape, weighted=True)
    fitted = Logistic(Cs=(0.1, 1.0)).fit(rows)
    odds = fitted.log_odds(rows.features, np.arange(2)) + fitted.log_shares
    for k, C in enumerate((0.1, 1.0)):
        model = LogisticRegression(C=C, tol=1e-10, max_iter=10_000)
        model.fit(rows.features.columns, rows.codes, sample_weight=rows.weight)
        expected = model.predict_proba(rows.features.columns)
        np.testing.assert_allclose(special.softmax(odds[k], axis=1), expected, atol=1e-5)


def test_many_parameters_are_scored_by_folds_that_keep_blocks_together(monkeypatch):
    rows = labeled_rows(5, 40, 6, True, True)
    monkeypatch.setattr(logistic_module, "MOST_PARAMETERS", 10)
    fold = rows.folds(logistic_module.FOLDS)
    assert all(len(np.unique(fold[rows.blocks == block])) == 1 for block in rows.blocks)
    fitted = Logistic(Cs=(1.0,)).fit(rows)
    k = fold[0]
    train = fold != k
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    Z = rows.features.columns
    model.fit(Z[train], rows.codes[train], sample_weight=rows.weight[train])
    found = special.softmax(fitted.left_out[0, ~train] + fitted.log_shares, axis=1)
    np.testing.assert_allclose(found, model.predict_proba(Z[~train]), atol=1e-3)


# -- hard labels --------------------------------------------------------------------------------


def with_unlabeled(n_classes=2, n_rows=20, n_columns=4, weighted=False, grouped=False, n_free=150):
    """Labeled rows, and unlabeled ones of the same clusters."""
    rng = np.random.default_rng(1)
    centres = 2.0 * rng.normal(size=(n_classes, n_columns))
    codes = np.arange(n_rows + n_free) % n_classes
    X = rng.normal(size=(len(codes), n_columns)) + centres[codes]
    weight = rng.integers(1, 4, size=len(codes)).astype(float) if weighted else np.ones(len(codes))
    blocks = rng.integers(n_rows // 2, size=n_rows) if grouped else np.arange(n_rows)
    scaling = Scaling.of(summarize(X, weight))
    free = UnlabeledRows(
        Features(X[n_rows:], scaling, {}), weight[n_rows:], float(weight[n_rows:].sum())
    )
    s = weight[:n_rows]
    features = Features(X[:n_rows], scaling, {})
    rows = LabeledRows(features, codes[:n_rows], n_classes, s, float(s.sum()), blocks)
    return replace(rows, unlabeled=free)


def hard_by_hand(rows, train, strength, power):
    """Impute, refit, repeat, one fit at a time; return weights, intercept last, and the labels."""
    scaling = rows.features.scaling
    both = (rows.features.X, rows.unlabeled.features.X)
    Z, free = (scaling.project(X, scaling.components(power)) for X in both)
    y, s = targets(rows.codes, rows.n_classes), rows.weight
    centred = Z - s @ Z / s.sum()
    rank = min(rows.total - 1.0, Z.shape[1])
    alpha = strength * float(s @ (centred**2).sum(axis=1)) / rank
    u = rows.unlabeled.weight
    u = u * min(hard_module.MASS * rows.total, rows.unlabeled.total) / u.sum()
    Z, y, s = Z[train], y[train], s[train]
    w = ridge(Z, y, s, alpha)
    for tau in hard_module.DIAL:
        t = hard_module._impute(free @ w[:-1] + w[-1], tau)
        w = ridge(np.vstack((Z, free)), np.vstack((y, t)), np.concatenate((s, u)), alpha)
    return Z, w, t


HARD_CASES = {
    "each row": (2, 20, 4, False, False),
    "weights": (2, 20, 4, True, False),
    "groups": (2, 20, 4, False, True),
    "three classes": (3, 30, 5, True, True),
}


@pytest.mark.parametrize("case", HARD_CASES)
def test_hard_labels_without_a_fold_are_those_of_a_fit_without_it(case):
    rows = with_unlabeled(*HARD_CASES[case])
    fitted = HardLabelRidges().fit(rows)
    fold = rows.folds(hard_module.FOLDS)
    y, s = targets(rows.codes, rows.n_classes), rows.weight
    settings = [(p, a) for p in hard_module.POWERS for a in hard_module.STRENGTHS]
    for k, (power, strength) in enumerate(settings):
        expected = np.empty(y.shape)
        for out in range(fold.max() + 1):
            train = fold != out
            w = hard_by_hand(rows, train, strength, power)[1]
            Z = hard_by_hand(rows, ~train, strength, power)[0]
            expected[~train] = Z @ w[:-1] + w[-1] - s[train] @ y[train] / s[train].sum()
        found = fitted.left_out[k]
        found = found[:, 1:] - found[:, :1] if rows.n_classes == 2 else found
        size = np.sqrt(np.mean(expected**2)) / 1.5
        np.testing.assert_allclose(found, expected / size, atol=1e-8)


@pytest.mark.parametrize("case", HARD_CASES)
def test_hard_labels_of_all_rows_are_stable_and_fitted_exactly(case):
    rows = with_unlabeled(*HARD_CASES[case])
    fitted = HardLabelRidges().fit(rows)
    found = fitted.log_odds(rows.unlabeled.features, np.arange(len(fitted.members)))
    for k, (power, strength) in enumerate(
        (p, a) for p in hard_module.POWERS for a in hard_module.STRENGTHS
    ):
        everyone = np.ones(rows.n_rows, dtype=bool)
        _, w, t = hard_by_hand(rows, everyone, strength, power)
        scaling = rows.features.scaling
        free = scaling.project(rows.unlabeled.features.X, scaling.components(power))
        z = free @ w[:-1] + w[-1]
        np.testing.assert_array_equal(hard_module._impute(z, 1.0), t)
        mean = rows.weight @ targets(rows.codes, rows.n_classes) / rows.weight.sum()
        slope = found[k, :, 1:] - found[k, :, :1] if rows.n_classes == 2 else found[k]
        ratio = slope / (z - mean)
        np.testing.assert_allclose(ratio, np.median(ratio), rtol=1e-6)


def test_the_dial_runs_from_soft_labels_to_hard_ones():
    z = np.array([[-3.0], [-0.4], [1e-12], [0.3], [2.0]])
    np.testing.assert_array_equal(hard_module._impute(z, 0.0), np.clip(z, -1, 1))
    np.testing.assert_allclose(hard_module._impute(z, 0.5).ravel(), [-1, -0.8, 2e-12, 0.6, 1])
    np.testing.assert_array_equal(hard_module._impute(z, 1.0).ravel(), [-1, -1, 0, 1, 1])
    scores = np.array([[0.1, 0.5, -1.0], [0.2, 0.2, 0.0]])
    expected = [[-1.0, 1.0, -1.0], [0.0, 0.0, -1.0]]
    np.testing.assert_array_equal(hard_module._impute(scores, 1.0), expected)


def test_an_unlabeled_row_of_weight_two_is_two_rows_to_hard_labels():
    rows = with_unlabeled(n_free=40)
    free = rows.unlabeled
    twice = UnlabeledRows(free.features, 2.0 * free.weight, 80.0)
    X = np.repeat(free.features.X, 2, axis=0)
    repeated = UnlabeledRows(Features(X, rows.features.scaling, {}), np.ones(80), 80.0)
    first, second = (
        HardLabelRidges().fit(replace(rows, unlabeled=one)) for one in (twice, repeated)
    )
    np.testing.assert_allclose(second.left_out, first.left_out, atol=1e-9)
    np.testing.assert_allclose(second.coef, first.coef, atol=1e-9)


def test_without_unlabeled_rows_hard_labels_are_ridges():
    rows = replace(with_unlabeled(), unlabeled=None)
    fitted = HardLabelRidges((0.1,)).fit(rows)
    scaling = rows.features.scaling
    Z = scaling.apply(rows.features.X, 2)
    path = RidgePath.fit(Z, rows, (0.1,))
    expected = (path.coef[:, 0].T @ scaling.components(2).T).ravel()
    found = fitted.coef[:, 1].ravel()
    np.testing.assert_allclose(found / found[0], expected / expected[0], rtol=1e-8)


# -- forest -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("unknown", [False, True], ids=["its parts", "another version"])
def test_a_tree_is_that_of_scikit_learn(form, unknown, monkeypatch):
    rng = np.random.default_rng(0)
    X = forest_module._single(form(rng.integers(-2, 3, (60, 7)).astype(float)), fitting=True)
    codes, weight = np.arange(60) % 3, rng.integers(0, 3, 60).astype(float)
    expected = DecisionTreeClassifier(max_features="sqrt", random_state=4)
    expected.fit(X, codes, sample_weight=weight)
    not_used = ["DecisionTreeClassifier", "_grow_unchecked"][unknown]
    monkeypatch.setattr(forest_module, not_used, None)
    found = forest_module._grow(X, codes, weight, 4)
    assert found.node_count > 20
    for name in ("children_left", "children_right", "feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected.tree_, name))


def test_a_forest_scores_a_row_by_the_trees_that_did_not_see_its_block():
    rows = labeled_rows(3, 30, 4, True, True)
    fitted = Forest(40).fit(rows)
    _, block = np.unique(rows.blocks, return_inverse=True)
    n = block.max() + 1
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=40)
    X = rows.features.X.astype(np.float32)
    for i in range(rows.n_rows):
        mine = [t for k, t in enumerate(fitted.trees) if not drawn[k, block[i]]]
        votes = sum(tree.predict(X[[i]])[0] for tree in mine)
        expected = np.log((votes + rows.shares) / (len(mine) + 1)) - np.log(rows.shares)
        np.testing.assert_allclose(fitted.left_out[0, i], expected, atol=1e-12)


def test_threads_grow_the_same_trees():
    rows = labeled_rows(2, 30, 4)
    one, two = (Forest(20).fit(replace(rows, n_jobs=n)) for n in (1, 2))
    np.testing.assert_array_equal(one.left_out, two.left_out)


# -- calibration --------------------------------------------------------------------------------


def penalised(theta, odds, codes, weight, shares):
    """The objective of one member, from log(slope) and offsets."""
    scores = np.exp(theta[0]) * odds + theta[1:] + np.log(shares)
    own = scores[np.arange(len(codes)), codes]
    loss = (special.logsumexp(scores, axis=1) - own) @ weight
    return loss + 0.5 * (calibration.CAUTION * theta[0] ** 2 + np.sum(theta[1:] ** 2))


@pytest.mark.parametrize("scale", [-1.0, 0.05, 1.0, 20.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_slope_and_offsets_minimise_the_penalised_loss(scale, n_classes):
    rng = np.random.default_rng(0)
    codes = rng.integers(n_classes, size=60)
    odds = scale * (rng.normal(size=(60, n_classes)) + 2.0 * np.eye(n_classes)[codes])
    weight, shares = rng.random(60) + 0.5, np.arange(1.0, n_classes + 1)
    shares /= shares.sum()
    found = calibrate(odds[None], codes, weight, shares)
    theta = np.append(np.log(found.slopes[0]), found.offsets[0])
    problem = (odds, codes, weight, shares)
    for start in (np.zeros(1 + n_classes), theta, np.append(-2.0, np.zeros(n_classes))):
        best = optimize.minimize(penalised, start, problem, method="BFGS", tol=1e-9)
        assert penalised(theta, *problem) <= best.fun + 1e-7


def test_a_member_that_says_nothing_has_slope_one_and_the_loss_of_the_shares():
    codes, shares = np.array([0, 0, 0, 1]), np.array([0.75, 0.25])
    found = calibrate(np.zeros((1, 4, 2)), codes, np.ones(4), shares)
    assert found.slopes[0] == 1.0
    np.testing.assert_allclose(found.offsets, 0.0, atol=1e-15)
    loss = found.losses(np.zeros((1, 4, 2)), codes)[0]
    np.testing.assert_allclose(loss, -np.log([0.75, 0.75, 0.75, 0.25]))


def test_probabilities_are_the_softmax_of_slopes_offsets_and_shares():
    found = Calibration(np.array([2.0]), np.array([[0.5, -0.5]]), np.array([0.8, 0.2]))
    scores = np.array([[2.0 * 1.0 + 0.5 + np.log(0.8), 2.0 * -1.0 - 0.5 + np.log(0.2)]])
    expected = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(found.probabilities(np.array([[[1.0, -1.0]]]))[0], expected)


def test_weights_follow_prior_and_loss():
    found = member_weights(np.array([0.5, 0.25, 0.0]), np.array([0.3, 0.1, 0.0]), 20.0)
    expected = np.array([0.5 * np.exp(-6.0), 0.25 * np.exp(-2.0), 0.0])
    np.testing.assert_allclose(found, expected / expected.sum())


def test_weights_are_finite_however_large_the_losses_are():
    found = member_weights(np.ones(2), np.array([1e6, 2e6]), 1e6)
    np.testing.assert_array_equal(found, [1.0, 0.0])
