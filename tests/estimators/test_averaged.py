"""The averaged classifier: honest scores, and nothing that depends on how a table is written."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import RidgeClassifierCV
from sklearn.preprocessing import scale

from semisquares import AveragedClassifier
from semisquares.families import Forest, HardLabelRidges, LeastSquares, Logistic
from semisquares.paper.datasets import remove_labels
from semisquares.representations import KernelRepresentation, LinearRepresentation
from semisquares.representations import _summary as summary
from support.made_rows import clusters, mixed_rows, one_hot_rows

FEW_TREES = (LeastSquares(), Forest(20), Logistic(), HardLabelRidges())
KINDS = ("linear", "kernel", "graph")
TABLES = {"mixed": mixed_rows, "one-hot": one_hot_rows}


def averaged(**parameters):
    return AveragedClassifier(FEW_TREES, **parameters)


def labels(X, n_classes=2, n_labeled=60):
    """Classes that depend on the columns, known for the first rows."""
    order = np.argsort(scale(X) @ np.arange(1, X.shape[1] + 1) % 7.0, kind="stable")
    truth = np.empty(len(X), dtype=int)
    truth[order] = np.arange(len(X)) * n_classes // len(X)
    return np.where(np.arange(len(X)) < n_labeled, truth, -1)


# -- what must not matter -----------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("table", TABLES)
def test_the_order_of_rows_does_not_matter(table, n_classes):
    X = TABLES[table]()
    y = labels(X, n_classes)
    order = np.random.default_rng(1).permutation(len(X))
    first, second = averaged().fit(X, y), averaged().fit(X[order], y[order])
    np.testing.assert_allclose(second.predict_proba(X), first.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(second.loo_score_, first.loo_score_, atol=1e-9)


@pytest.mark.parametrize("table", TABLES)
def test_the_blocks_that_rows_are_read_in_do_not_matter(table, monkeypatch):
    X = TABLES[table]()
    y = labels(X)
    first = averaged().fit(X, y).predict_proba(X)
    monkeypatch.setattr(summary, "BLOCK_BYTES", 1)
    np.testing.assert_allclose(averaged().fit(X, y).predict_proba(X), first, atol=1e-9)


@pytest.mark.parametrize("table", TABLES)
def test_a_weight_is_a_number_of_copies(table):
    X = TABLES[table]()
    y = labels(X)
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    copies = np.repeat(np.arange(len(X)), weight)
    first = averaged().fit(X, y, sample_weight=weight)
    second = averaged().fit(X[copies], y[copies])
    np.testing.assert_allclose(second.predict_proba(X), first.predict_proba(X), atol=1e-9)


def test_a_class_weight_is_a_weight_that_does_not_count_as_more_labels():
    X, y, _ = clusters()
    weighted = averaged(class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    doubled = averaged(class_weight={0: 2.0, 1: 6.0}).fit(X, y)
    np.testing.assert_allclose(doubled.predict_proba(X), weighted.predict_proba(X), atol=1e-9)
    X, y, _ = clusters(apart=0.5)
    plain, weighted = averaged().fit(X, y), averaged(class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    assert weighted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.05


def test_balanced_classes_have_equal_shares():
    X, y, _ = clusters(n_labeled=40)
    y[(y == 1) & (np.arange(len(y)) > 10)] = -1
    model = averaged(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.average_.calibration.shares, 0.5)


@pytest.mark.parametrize("table", TABLES)
def test_sparse_rows_are_classified_as_dense_ones(table):
    X = TABLES[table]()
    X = X[:, X.max(axis=0) < 1e5]
    y = labels(X)
    rows = sparse.csr_array(X)
    dense, found = averaged().fit(X, y), averaged().fit(rows, y)
    np.testing.assert_allclose(found.predict_proba(rows), dense.predict_proba(X), atol=1e-8)


def test_single_precision_gives_nearly_the_same():
    X, y, _ = clusters()
    X = X.astype(np.float32)
    double = averaged().fit(X.astype(float), y).predict_proba(X.astype(float))
    np.testing.assert_allclose(averaged().fit(X, y).predict_proba(X), double, atol=1e-9)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_text_labels_are_taken(frame):
    X, y, truth = clusters(n_classes=3)
    names = np.array(["ash", "birch", "cedar"], dtype=object)
    text = np.where(y < 0, None, names[y])
    columns = {f"c{j}": X[:, j] for j in range(X.shape[1])}
    model = averaged().fit(frame(columns), text)
    assert model.feature_names_in_.tolist() == list(columns)
    assert (model.predict(frame(columns)) == names[truth]).mean() > 0.8
    assert model.supervised_.predict(frame(columns)).shape == truth.shape


def test_threads_change_nothing():
    X, y, _ = clusters()
    one, two = averaged(n_jobs=1).fit(X, y), averaged(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.predict_proba(X), one.predict_proba(X))


# -- what is honest -----------------------------------------------------------------------------


def test_weights_follow_from_losses_and_priors():
    X, y, _ = clusters()
    model = averaged(prior={"forest": 0.5}, sharpness=0.3).fit(X, y)
    table = model.members_
    mass = {"least_squares": 1.0, "forest": 0.5, "logistic": 1.0, "hard_labels": 0.5}
    weight = {True: 3.0, False: 1.0}
    prior = np.array([weight[one.startswith("linear")] for one in table["representation"]])
    for name, one in mass.items():
        mine = table["family"] == name
        prior[mine] *= one / prior[mine].sum()
    expected = prior * np.exp(-0.3 * 40 * table["log_loss"])
    np.testing.assert_allclose(table["weight"], expected / expected.sum(), rtol=1e-9)


def test_sharpness_zero_keeps_the_prior():
    X, y, _ = clusters()
    table = averaged(sharpness=0.0).fit(X, y).members_
    for name, mass in (("least_squares", 1), ("forest", 1), ("logistic", 1), ("hard_labels", 0.5)):
        np.testing.assert_allclose(table["weight"][table["family"] == name].sum(), mass / 3.5)


def test_the_probabilities_of_labeled_rows_do_not_know_their_labels():
    """Noise is predicted no better than noise, though every row is fitted well."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 20)), rng.integers(2, size=120)
    model = averaged().fit(X, y)
    loss = -np.log(model.loo_proba_[np.arange(120), y]).mean()
    assert model.loo_score_ < 0.62
    assert loss > 0.66
    assert model.score(X, y) > 0.9


def test_out_of_sample_probabilities_are_those_of_the_members_without_a_say_of_the_row():
    X, y, _ = clusters(n_labeled=30)
    model = averaged().fit(X, y)
    rows = model._later.distinct.rows(model.average_.learned, None)
    left_out = np.concatenate([one.left_out for one in model.average_.families])
    calibration = model.average_.calibration
    p = np.exp(left_out * calibration.slopes[:, None, None] + calibration.offsets[:, None])
    p *= rows.shares
    p /= p.sum(axis=2, keepdims=True)
    own = -np.log(p[:, np.arange(30), rows.codes])
    prior = model.members_["weight"] * np.exp(0.5 * own.sum(axis=1))
    position = np.empty(30, dtype=int)
    position[model._later.distinct.position] = np.arange(30)
    for i in range(30):
        weight = prior * np.exp(-0.5 * (own.sum(axis=1) - own[:, i]))
        expected = (weight / weight.sum()) @ p[:, i]
        np.testing.assert_allclose(model.loo_proba_[position[i]], expected, rtol=1e-8)


def test_out_of_sample_probabilities_come_in_the_order_of_the_rows():
    X, y, _ = clusters()
    order = np.random.default_rng(1).permutation(len(X))
    first, second = averaged().fit(X, y), averaged().fit(X[order], y[order])
    np.testing.assert_array_equal(second.loo_indices_, np.flatnonzero(y[order] >= 0))
    back = np.argsort(order[second.loo_indices_])
    np.testing.assert_allclose(second.loo_proba_[back], first.loo_proba_, atol=1e-9)


def test_copies_of_a_row_do_not_tell_its_label():
    """Every labeled row twice: if copies stayed when one leaves, noise would look learnable."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 10)), rng.integers(2, size=80)
    model = averaged().fit(np.concatenate((X, X)), np.concatenate((y, y)))
    assert model.loo_score_ < 0.65


def test_groups_leave_together():
    """Five nearly equal rows a group, one label each: nothing can be learned about others."""
    rng = np.random.default_rng(0)
    centres, group = rng.normal(size=(40, 8)), np.repeat(np.arange(40), 5)
    X = centres[group] + 0.01 * rng.normal(size=(200, 8))
    y = rng.integers(2, size=40)[group]
    names = np.array([f"patient {g}" for g in group])
    assert averaged().fit(X, y).loo_score_ > 0.95
    assert averaged().fit(X, y, groups=names).loo_score_ < 0.65
    for family in FEW_TREES:
        assert AveragedClassifier([family]).fit(X, y, groups=names).loo_score_ < 0.7


def test_members_of_little_weight_are_not_computed():
    X, y, _ = clusters(n=300, n_labeled=300, apart=0.5)
    model = averaged(sharpness=1.0).fit(X, y)
    small = model.members_["weight"] < 1e-4 / len(model.members_["weight"])
    assert small.any()
    assert (model.average_.weights[small] == 0.0).all()
    assert model.members_["weight"][model.average_.weights == 0.0].sum() < 1e-4
    np.testing.assert_allclose(model.average_.weights.sum(), 1.0)


def test_it_is_more_accurate_than_the_tuned_ridge_where_boundaries_bend():
    X, truth = load_digits(return_X_y=True)
    y = remove_labels(truth, n_labeled=100, random_state=0)
    known = y >= 0
    ridge = RidgeClassifierCV(np.logspace(-3, 4, 15)).fit(X[known], y[known])
    model = AveragedClassifier("least_squares").fit(X, y)
    assert model.score(X[~known], truth[~known]) > ridge.score(X[~known], truth[~known]) + 0.02


def test_the_graph_is_left_out_where_neighbours_share_no_labels():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 5)), np.arange(100) % 2
    kinds = {one.split(",")[0] for one in averaged().fit(X, y).members_["representation"]}
    assert kinds == {"linear", "kernel", "columns"}
    X[:, 0] += 6.0 * y
    kinds = {one.split(",")[0] for one in averaged().fit(X, y).members_["representation"]}
    assert "sharp graph" in kinds
    asked = averaged(representations=["graph"]).fit(rng.normal(size=(100, 5)), y)
    assert "graph, p = 0" in asked.members_["representation"]


# -- attributes ---------------------------------------------------------------------------------


def representations(model):
    return model.average_.learned.representations


def test_a_warm_start_takes_over_representations_and_changes_no_result():
    X = mixed_rows()
    few, more = labels(X, n_labeled=30), labels(X, n_labeled=60)
    warm = averaged(warm_start=True, representations=KINDS).fit(X, few)
    before = dict(representations(warm))
    fresh = averaged(representations=KINDS).fit(X, more)
    np.testing.assert_array_equal(warm.fit(X, more).predict_proba(X), fresh.predict_proba(X))
    assert all(representations(warm)[name] is one for name, one in before.items())
    assert not any(representations(fresh)[name] is one for name, one in before.items())


def test_a_warm_start_takes_over_nothing_from_other_rows_weights_or_settings():
    X = mixed_rows()
    y, weight = labels(X), np.ones(len(X))
    weight[-1] = 2.0
    other = X.copy()
    other[-1, 0] += 1e-12
    for rows, weights, setting in (
        (other, None, 300),
        (X, weight, 300),
        (X, None, 20),
    ):
        warm = averaged(warm_start=True, representations="kernel").fit(X, y)
        before = representations(warm).values()
        warm.set_params(n_landmarks=setting).fit(rows, y, weights)
        assert not any(one in before for one in representations(warm).values())
        fresh = averaged(representations="kernel", n_landmarks=setting).fit(rows, y, weights)
        np.testing.assert_array_equal(warm.predict_proba(X), fresh.predict_proba(X))


def test_without_a_warm_start_everything_is_learned_again():
    X = mixed_rows()
    model = averaged(representations="linear").fit(X, labels(X))
    before = representations(model).values()
    assert not any(one in before for one in representations(model.fit(X, labels(X))).values())


def test_the_supervised_one_has_seen_no_unlabeled_row():
    X, y, _ = clusters()
    model = averaged().fit(X, y)
    known = y >= 0
    alone = averaged().fit(X[known], y[known])
    np.testing.assert_allclose(
        model.supervised_.predict_proba(X), alone.predict_proba(X), atol=1e-12
    )
    assert model.supervised_ is model.supervised_


def test_training_rows_keep_their_labels_and_get_predictions():
    X, y, truth = clusters()
    model = averaged().fit(X, y)
    known = y >= 0
    np.testing.assert_array_equal(model.transduction_[known], truth[known])
    np.testing.assert_array_equal(model.transduction_[~known], model.predict(X[~known]))
    np.testing.assert_allclose(
        model.label_distributions_[~known], model.predict_proba(X[~known]), atol=1e-12
    )


def test_the_certificate_of_all_members_is_at_the_size_of_rounding():
    X, y, _ = clusters(n_classes=3)
    assert averaged().fit(X, y).certificate_ < 1e-12
    assert np.isnan(AveragedClassifier([Forest(5)]).fit(X, y).certificate_)


def test_a_model_is_pickled_without_the_table_and_predicts_the_same():
    X, y, _ = clusters(n=4_000, n_labeled=30)
    model = AveragedClassifier("least_squares").fit(X, y)
    stored = pickle.dumps(model)
    again = pickle.loads(stored)
    np.testing.assert_array_equal(again.predict_proba(X[:500]), model.predict_proba(X[:500]))
    with pytest.raises(AttributeError, match="call predict_proba or predict with these rows"):
        again.transduction_  # noqa: B018
    assert again.supervised_.predict(X[:2]).shape == (2,)
    less = AveragedClassifier("least_squares").fit(X[:2_000], y[:2_000])
    assert abs(len(stored) - len(pickle.dumps(less))) < 10_000


def test_callbacks_are_told_of_every_part_of_a_fit():
    told = []

    class Listener:
        def on_fit_begin(self, estimator):
            told.append("begin")

        def on_fit_task_begin(self, estimator, context, **state):
            pass

        def on_fit_task_end(self, estimator, context, **state):
            told.append(context.task_name)

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

    X, y, _ = clusters()
    averaged().set_callbacks(Listener()).fit(X, y)
    assert [one for one in told if one.startswith("family")] == [
        "family least_squares",
        "family forest",
        "family logistic",
        "family hard_labels",
    ]
    assert sum(one.startswith("representation") for one in told) == 8


def test_showing_a_model_computes_nothing():
    X, y, _ = clusters()
    model = averaged().fit(X, y)
    page = model._repr_html_()
    assert "loo_score_" in page
    assert "supervised_" not in model._later.known
    assert "members_" in page


def test_an_unfitted_model_has_no_attributes_to_compute():
    for name in ("supervised_", "transduction_", "certificate_", "loo_proba_"):
        assert not hasattr(AveragedClassifier(), name)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y, _ = clusters()
    model = averaged().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.where(y == 1, -1, y))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.supervised_.score(X, y) > 0.5


def test_hard_labels_are_left_out_without_unlabeled_rows_unless_they_are_alone():
    X, y, truth = clusters()
    model = averaged().fit(X, y)
    assert "hard_labels" in model.members_["family"]
    assert "hard_labels" not in model.supervised_.members_["family"]
    alone = AveragedClassifier("hard_labels").fit(X, y).supervised_
    assert set(alone.members_["family"]) == {"hard_labels"}
    unwanted = {"least_squares": 0.0, "forest": 0.0, "logistic": 0.0}
    assert np.isfinite(averaged(prior=unwanted).fit(X, truth).predict_proba(X)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("table", TABLES)
def test_neither_order_nor_copies_of_rows_matter_to_hard_labels(table, n_classes):
    X = TABLES[table]()
    y = labels(X, n_classes)
    weight = 1.0 + np.arange(len(X)) % 3
    weight[-20:] = 0.0
    order = np.random.default_rng(1).permutation(int(weight.sum()))
    again = np.repeat(np.arange(len(X)), weight.astype(int))[order]
    model = AveragedClassifier("hard_labels")
    expected = clone(model).fit(X, y, sample_weight=weight).predict_proba(X)
    found = clone(model).fit(X[again], y[again]).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_hard_labels_find_clusters_that_few_labels_do_not_show():
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 2
    X = rng.normal(size=(600, 10))
    X[:, 0] += 4.0 * truth
    y = np.where(np.arange(600) < 10, truth, -1)
    found, plain = (
        AveragedClassifier(name).fit(X, y).score(X, truth) for name in ("hard_labels", "logistic")
    )
    assert found > max(0.95, plain)


DEGENERATE = {
    "one label per class": (np.random.default_rng(0).normal(size=(30, 3)), 2),
    "constant columns": (np.ones((30, 2)), 10),
    "one column of many": (np.outer(np.arange(30.0), [1.0, 0.0, 0.0]), 10),
}


@pytest.mark.filterwarnings("ignore:Each of the 2 classes has a single labeled row")
@pytest.mark.parametrize("case", DEGENERATE)
def test_hard_labels_of_degenerate_tables_are_finite(case):
    X, n_labeled = DEGENERATE[case]
    y = np.where(np.arange(30) < n_labeled, np.arange(30) % 2, -1)
    groups = np.zeros(30)
    for model in (
        AveragedClassifier("hard_labels").fit(X, y),
        AveragedClassifier("hard_labels").fit(X, y, groups=groups),
    ):
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_parameters_choose_families_and_representations():
    X, y, _ = clusters()
    model = AveragedClassifier("least_squares", representations=["linear"], alphas=[0.1, 1.0])
    assert len(model.fit(X, y).members_["weight"]) == 6
    given = [LinearRepresentation(1), KernelRepresentation(2, n_landmarks=10)]
    model = AveragedClassifier("least_squares", representations=given).fit(X, y)
    assert set(model.members_["representation"]) == {"linear, p = 1", "kernel, p = 2"}
    assert not hasattr(given[0], "scaling_")
    assert clone(model).get_params()["representations"] is not given


# -- tables that are hard -----------------------------------------------------------------------


def test_two_labels_are_enough_and_it_is_said_that_nothing_was_tested():
    X, y, truth = clusters(n_labeled=2)
    with pytest.warns(UserWarning, match="single labeled row"):
        model = averaged().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, truth) > 0.8


@pytest.mark.parametrize("n_labeled", [3, 4, 5, 8])
def test_few_labels_give_finite_scores(n_labeled):
    X, y, _ = clusters(n_labeled=n_labeled)
    model = averaged().fit(X, y)
    assert np.isfinite(model.loo_proba_).all()
    assert np.isfinite(model.members_["log_loss"]).all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_four_distinct_rows_give_finite_scores():
    X = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (10, 1))
    y = np.tile([0, 0, 1, 1], 10)
    model = averaged().fit(X, y)
    assert np.isfinite(model.members_["log_loss"]).all()
    np.testing.assert_array_equal(model.predict(X), y)


def test_rows_that_are_equal_but_for_their_labels_leave_together():
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 4)), 2, axis=0)
    y = np.tile([0, 1], 30)
    model = averaged().fit(X, y)
    np.testing.assert_allclose(model.loo_proba_, 0.5, atol=1e-6)


HARD = {
    "constant": lambda X: np.column_stack((X, np.full(len(X), 3.0))),
    "duplicated": lambda X: np.column_stack((X, X[:, 0])),
    "nearly collinear": lambda X: np.column_stack((X, X[:, 0] * (1 + 1e-12))),
    "large": lambda X: 1e6 * X,
    "small": lambda X: 1e-9 * X,
    "far": lambda X: X + 1e6,
    "one column": lambda X: X[:, :1],
    "nothing varies": lambda X: np.zeros((len(X), 2)),
    "one row varies": lambda X: np.eye(len(X))[:, :2],
}


@pytest.mark.parametrize("kind", HARD)
def test_hard_columns_give_probabilities(kind):
    X, y, _ = clusters()
    X = HARD[kind](X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = averaged().fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", ["large", "small", "far", "duplicated", "constant"])
def test_units_of_columns_do_not_spoil_the_fit(kind):
    X, y, truth = clusters()
    plain = averaged().fit(X, y).score(X, truth)
    assert averaged().fit(HARD[kind](X), y).score(HARD[kind](X), truth) > plain - 0.03


def test_a_hundred_classes_are_taken():
    X, y, truth = clusters(n=400, d=6, n_classes=100, n_labeled=200)
    model = AveragedClassifier((LeastSquares((0.1, 1.0)), Forest(10), Logistic((1.0,))))
    model.fit(X, y)
    assert model.predict_proba(X).shape == (400, 100)
    assert model.score(X, truth) > 0.3


def test_memory_is_a_small_part_of_the_table(tmp_path):
    n, d = 250_000, 40
    X = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", shape=(n, d))
    rng = np.random.default_rng(0)
    X[:] = rng.normal(size=(n, d))
    y = np.full(n, -1)
    y[:100] = np.arange(100) % 2
    X[:100] += (np.arange(100) % 2)[:, None]
    model = AveragedClassifier("least_squares")
    model.fit(X[:2000], y[:2000])  # what every fit needs, whatever the number of rows
    tracemalloc.start()
    model.fit(X[:2000], y[:2000])
    small = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    model.fit(X, y)
    large = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert large - small < 0.1 * X.nbytes


# -- bad input ----------------------------------------------------------------------------------

WRONG = {
    "families": (["trees"], r"families holds 'trees'; use some of \['least_squares'"),
    "representations": (["curved"], r"representations holds 'curved'; use some of \['linear'"),
    "alphas": ([0.0, 1.0], "must be positive numbers"),
    "prior": ({"svm": 1.0}, r"prior names families \['svm'\] that are not among"),
    "n_neighbors": (0, "n_neighbors"),
    "sharpness": (-1.0, "sharpness"),
    "class_weight": ("equal", "class_weight"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_parameter_gets_a_sentence(name):
    X, y, _ = clusters()
    value, said = WRONG[name]
    with pytest.raises(ValueError, match=said):
        AveragedClassifier(**{name: value}).fit(X, y)


@pytest.mark.parametrize("prior", [{"forest": -1.0}, {"forest": np.nan}, {"forest": "much"}])
def test_a_prior_is_made_of_numbers(prior):
    X, y, _ = clusters()
    with pytest.raises(ValueError, match="must hold finite numbers"):
        AveragedClassifier(prior=prior).fit(X, y)


def test_groups_have_a_value_for_each_row():
    X, y, _ = clusters()
    with pytest.raises(ValueError, match=r"groups has shape \(3,\) but X has 200 rows"):
        AveragedClassifier().fit(X, y, groups=[1, 2, 3])


def test_nan_and_overflow_are_named():
    X, y, _ = clusters()
    for value, said in ((np.nan, "contains NaN"), (np.inf, "infinity"), (1e200, "rescale")):
        wrong = X.copy()
        wrong[5, 1] = value
        with pytest.raises(ValueError, match=said):
            AveragedClassifier().fit(wrong, y)


def test_breast_cancer_with_ten_labels_a_class_is_classified_well():
    X, truth = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    known = np.concatenate([rng.choice(np.flatnonzero(truth == k), 10, False) for k in (0, 1)])
    y = np.full(len(X), -1)
    y[known] = truth[known]
    assert AveragedClassifier().fit(X, y).score(X[y < 0], truth[y < 0]) > 0.9
