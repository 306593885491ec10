"""An average without some members is the average that never had them."""

import numpy as np
import pytest

from semisquares import AveragedClassifier
from semisquares.estimators._fewer_members import keep_members

OPTIONS = {"n_landmarks": 20, "n_graph_rows": 40, "representations": ("linear", "kernel", "graph")}


def rows(n_classes, n_rows=120):
    """Draw rows in curved classes; the last third has no label."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 3))
    codes = np.floor((np.arctan2(X[:, 0], X[:, 1]) / (2 * np.pi) % 1.0) * n_classes).astype(int)
    return X, np.where(np.arange(n_rows) < 80, codes, -1)


def linear_members(model):
    """Tell which members need no rows: all except kernels and graphs."""
    names = model.members_["representation"]
    return np.array([not name.startswith(("kernel", "graph", "sharp")) for name in names])


def assert_same(found, expected, X):
    kept = found.members_["weight"] > 0.0
    np.testing.assert_allclose(
        found.members_["weight"][kept], expected.members_["weight"], rtol=1e-9
    )
    np.testing.assert_allclose(found.loo_proba_, expected.loo_proba_, atol=1e-12)
    assert found.loo_score_ == pytest.approx(expected.loo_score_)
    # predictions skip members of negligible weight, 1e-4 together, and more members share that
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "more",
    [{}, {"sharpness": 0.1, "prior": {"least_squares": 3.0}}, {"class_weight": "balanced"}],
    ids=["default", "prior", "class weight"],
)
def test_without_kernels_and_graphs_it_is_the_average_of_the_rest(n_classes, more):
    X, y = rows(n_classes)
    model = AveragedClassifier(**OPTIONS, **more).fit(X, y)
    found = keep_members(model, linear_members(model))
    expected = AveragedClassifier(**OPTIONS | {"representations": "linear"}, **more).fit(X, y)
    assert_same(found, expected, X)
    assert abs(found.predict_proba(X) - model.predict_proba(X)).max() > 1e-3


def test_groups_and_weights_of_rows_are_those_of_the_fit():
    X, y = rows(2)
    given = {"groups": np.arange(120) // 4, "sample_weight": 1.0 + np.arange(120) % 3}
    model = AveragedClassifier(**OPTIONS).fit(X, y, **given)
    expected = AveragedClassifier(**OPTIONS | {"representations": "linear"}).fit(X, y, **given)
    assert_same(keep_members(model, linear_members(model)), expected, X)


def test_a_family_without_members_leaves_the_average():
    X, y = rows(3)
    model = AveragedClassifier(**OPTIONS).fit(X, y)
    found = keep_members(model, model.members_["family"] == "forest")
    assert_same(found, AveragedClassifier("forest").fit(X, y), X)


def test_the_classifier_itself_is_not_changed():
    X, y = rows(2)
    model = AveragedClassifier(**OPTIONS).fit(X, y)
    before = model.loo_proba_.copy(), model.label_distributions_.copy(), dict(model.members_)
    fewer = keep_members(model, linear_members(model))
    assert abs(fewer.label_distributions_ - model.label_distributions_).max() > 1e-3
    np.testing.assert_array_equal(model.loo_proba_, before[0])
    np.testing.assert_array_equal(model.label_distributions_, before[1])
    np.testing.assert_array_equal(model.members_["weight"], before[2]["weight"])


def test_members_can_be_left_out_one_after_the_other():
    X, y = rows(2)
    model = AveragedClassifier(**OPTIONS).fit(X, y)
    linear, forest = linear_members(model), model.members_["family"] == "forest"
    twice = keep_members(keep_members(model, linear), linear & ~forest)
    at_once = keep_members(model, linear & ~forest)
    np.testing.assert_allclose(twice.loo_proba_, at_once.loo_proba_, atol=1e-12)
