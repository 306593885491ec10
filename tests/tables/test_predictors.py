"""Predictors are plain data, and predict what the classifiers they were taken from predict."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from semisquares import AveragedClassifier
from semisquares.families import LeastSquares
from semisquares.families._trees import Trees
from semisquares.representations import LinearRepresentation
from semisquares.tables import TableError
from semisquares.tables.models._contents import summarize
from semisquares.tables.models._converting import predictor_of
from semisquares.tables.models.predictors import PREDICTORS, Predictor, read_predictor
from semisquares.tables.models.predictors.trees import ForestScores
from support.plain_predictors import (
    KINDS,
    N_FEATURES,
    arrays_of,
    fitted,
    new_rows,
    predictor,
    rows,
)

FAMILIES = ("least_squares", "forest", "logistic", "hard_labels")


def stored_and_read(found):
    """Take the way through plain data, whose values other than arrays are JSON."""
    plain = found.to_plain()
    json.dumps(plain, default=lambda array: array.tolist())
    return read_predictor(plain)


@pytest.mark.parametrize("n_classes", [2, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_predictor_has_the_probabilities_of_its_classifier(kind, n_classes):
    model, X = fitted(kind, n_classes), new_rows()
    found = stored_and_read(predictor_of(model))
    np.testing.assert_allclose(found.probabilities(X), model.predict_proba(X), rtol=0, atol=1e-12)
    decision = found.decision(X)
    codes = decision.argmax(axis=1) if n_classes > 2 else (decision > 0).astype(int)
    np.testing.assert_array_equal(codes, model.predict(X))
    assert decision.shape == ((1000,) if n_classes == 2 else (1000, n_classes))


@pytest.mark.parametrize("kind", ["linear", "logistic", "boosting", "averaged"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_decision_values_are_those_of_the_classifier(kind, n_classes):
    X = new_rows()
    expected = fitted(kind, n_classes).decision_function(X)
    np.testing.assert_allclose(predictor(kind, n_classes).decision(X), expected, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_the_average_is_stored(family, n_classes):
    X, codes = rows(n_classes)
    model = AveragedClassifier([family], n_landmarks=30, n_graph_rows=60)
    model.fit(X, np.where(np.arange(len(codes)) % 3 == 0, codes, -1))
    found = stored_and_read(predictor_of(model))
    assert found.fits(N_FEATURES, n_classes)
    new = new_rows()
    np.testing.assert_allclose(found.probabilities(new), model.predict_proba(new), atol=1e-12)


@pytest.mark.parametrize("kind", ["linear", "kernel", "graph"])
def test_every_representation_of_the_average_is_stored(kind):
    X, codes = rows(3)
    model = AveragedClassifier("least_squares", representations=kind, n_landmarks=30)
    model.fit(X, np.where(np.arange(len(codes)) % 3 == 0, codes, -1))
    found = stored_and_read(predictor_of(model))
    new = np.concatenate((X[:20], new_rows()))  # rows of the graph are not their own neighbours
    np.testing.assert_allclose(found.probabilities(new), model.predict_proba(new), atol=1e-12)
    assert found.holds_rows == (kind != "linear")
    assert found.n_rows_held == {"linear": 0, "kernel": 30, "graph": 240}[kind]


def test_graphs_that_two_representations_share_are_stored_once():
    X, codes = rows(2)
    model = AveragedClassifier("least_squares", representations="graph", sharpness=0.0)
    found = predictor_of(model.fit(X, np.where(np.arange(len(codes)) % 3 == 0, codes, -1)))
    assert len(found.to_plain()["representations"]) == 3
    assert len(found.to_plain()["graphs"]) == 2


def test_only_members_with_weight_are_stored():
    model, found = fitted("averaged", 2), predictor("averaged", 2)
    used = model.average_.weights > 0
    assert 0 < used.sum() < len(used)
    assert len(found.members["weight"]) == sum(len(one.members) for one in found.average.families)
    np.testing.assert_array_equal(found.members["weight"], model.average_.weights[used])
    expected = model.members_["setting"][used].tolist()
    assert found.members["setting"] == expected
    named = {part["representation"] for part in found.to_plain()["parts"].values()
             if part["type"] == "ridge"}  # fmt: skip
    assert named == {one["name"] for one in found.to_plain()["representations"].values()}


def test_the_labeled_rows_of_an_average_are_not_stored():
    X, codes = rows(2)
    model = AveragedClassifier(["least_squares", "logistic", "hard_labels"],
                               representations="linear").fit(X, codes)  # fmt: skip
    sizes = {name: array.shape for name, array in arrays_of(predictor_of(model).to_plain())}
    assert sizes["scaling/mean"] == (N_FEATURES,)
    assert max(max(shape) for shape in sizes.values()) < len(codes) / 4


def test_landmarks_are_rows_in_standardised_columns():
    X, codes = rows(2)
    model = AveragedClassifier("least_squares", representations="kernel", n_landmarks=30)
    model.fit(X, codes)
    plain = predictor_of(model).to_plain()["representations"].values()
    first = next(one for one in plain if one["power"] == 0)["landmarks"]
    scaled = model.average_.learned.scaling.apply(X, 0)
    assert all((abs(scaled - row).max(axis=1) < 1e-12).any() for row in first)


def test_trees_compare_in_single_precision_as_scikit_learn_does():
    X, codes = rows(2)
    model = RandomForestClassifier(20, random_state=0).fit(X, codes)
    thresholds = np.concatenate([tree.tree_.threshold for tree in model.estimators_])
    near = np.nextafter(thresholds[thresholds != -2.0], np.inf)[:200]
    new = np.tile(near[:, None], N_FEATURES)
    np.testing.assert_allclose(
        predictor_of(model).probabilities(new), model.predict_proba(new), atol=1e-12
    )


@pytest.mark.parametrize(
    "model",
    [RandomForestClassifier(10, random_state=0), HistGradientBoostingClassifier(max_iter=10)],
)
def test_missing_cells_go_where_the_trees_send_them(model):
    X, codes = rows(2)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    found = stored_and_read(predictor_of(model.fit(X, codes)))
    assert found.fits(N_FEATURES, 2)
    np.testing.assert_allclose(found.probabilities(X), model.predict_proba(X), atol=1e-12)


def test_rows_are_evaluated_in_blocks(monkeypatch):
    found, X = predictor("forest", 5), new_rows()
    whole = found.probabilities(X)
    monkeypatch.setattr("semisquares.families._trees.AT_ONCE", 700)
    np.testing.assert_array_equal(found.probabilities(X), whole)
    assert found.probabilities(X[:0]).shape == (0, 5)


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_is_in_the_registry_and_knows_whether_it_fits(kind):
    found = predictor(kind, 4)
    assert isinstance(found, Predictor)
    assert found.type == kind
    assert found.fits(N_FEATURES, 4)
    assert not found.fits(N_FEATURES + 1, 4)
    assert not found.fits(N_FEATURES, 3)
    assert not found.fits(N_FEATURES, 2)
    assert set(PREDICTORS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_no_array_of_a_predictor_may_have_another_shape_or_infinite_numbers(kind):
    found = predictor(kind, 2)
    for name, array in arrays_of(found.to_plain()):
        for wrong in (array[:-1], array[None], array.astype(np.float32) * np.nan):
            assert not makes_sense(with_array(found.to_plain(), name, wrong)), name


def with_array(plain, name, array):
    """Replace an array in plain data."""
    *way, last = name.split("/")
    place = plain
    for key in way:
        place[key] = dict(place[key])
        place = place[key]
    place[last] = array
    return plain


def makes_sense(plain):
    try:
        return read_predictor(plain).fits(N_FEATURES, 2)
    except (ValueError, KeyError, TypeError, IndexError):
        return False


STUMP = {
    "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "threshold": [0.5, 0.0, 0.0],
    "value": [[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]], "missing_left": [True] * 3,
}  # fmt: skip


def typed(name, array):
    """Return numbers in the type of an array of trees, unless they are of another kind."""
    array, kind = np.array(array), getattr(Trees.join([STUMP]), name).dtype
    return array.astype(kind) if array.dtype.kind in ("i", kind.kind) else array


def stumps(**changed):
    """Two stumps, with some arrays changed."""
    return replace(
        Trees.join([STUMP, STUMP]), **{name: typed(name, array) for name, array in changed.items()}
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"left": [0, -1, -1, 4, -1, -1]},  # its own child
        {"left": [1, 0, -1, 4, -1, -1], "right": [2, 0, -1, 5, -1, -1]},  # back to the root
        {"left": [1, -1, -1, 1, -1, -1]},  # into another tree
        {"left": [6, -1, -1, 4, -1, -1]},
        {"right": [-1, -1, -1, 5, -1, -1]},
        {"left": [-2, -1, -1, 4, -1, -1]},
        {"right": [5, -1, -1, 5, -1, -1]},
        {"feature": [1, 0, 0, 0, 0, 0]},
        {"feature": [-1, 0, 0, 0, 0, 0]},
        {"threshold": [np.nan, 0, 0, 0, 0, 0]},
        {"threshold": [np.inf, 0, 0, 0, 0, 0]},
        {"value": np.full((6, 2), np.nan)},
        {"value": np.full((6, 2), 2.0)},
        {"value": np.full((6, 3), 1 / 3)},
        {"root": [0, 4]},
        {"root": [1, 3]},
        {"root": [0, 0]},
        {"root": [3, 0]},
        {"root": [0, -3]},
        {"root": np.zeros(0, dtype=int)},
        {"missing_left": [1.0] * 6},
    ],
)
def test_trees_that_a_row_could_get_lost_in_do_not_fit(changed):
    assert ForestScores(1, stumps()).fits(1, 2)
    assert not ForestScores(1, stumps(**changed)).fits(1, 2)


def test_a_classifier_that_cannot_be_stored_is_refused_in_a_sentence():
    X, codes = rows(2)
    model = GaussianNB().fit(X, codes)
    with pytest.raises(TableError, match=r"^A fitted GaussianNB cannot be stored; use a .*\.$"):
        predictor_of(model)


class Shifted(LinearRepresentation):
    """A representation of a user's own."""

    def as_map(self):
        return None

    def features(self, points):
        return points.along(self.power) + 1.0

    def dot(self, points, weights):
        return self.features(points) @ weights


class Renamed:
    """A family of a user's own, whose members cannot be stored."""

    name = "renamed"

    def fit(self, rows):
        fitted = LeastSquares().fit(rows)
        return Fitted(fitted.members, fitted.left_out, fitted.log_odds)


class Fitted:
    def __init__(self, members, left_out, log_odds):
        self.members, self.left_out, self.log_odds = members, left_out, log_odds


@pytest.mark.parametrize(
    ("model", "form", "words"),
    [
        (AveragedClassifier(representations=[Shifted()]), np.asarray, "representation Shifted is"),
        (AveragedClassifier([Renamed()]), np.asarray, "family Fitted has no method keep"),
        (AveragedClassifier(representations="kernel"), sparse.csr_array, "landmarks are sparse"),
    ],
)
def test_an_average_of_parts_that_cannot_be_stored_is_refused_in_a_sentence(model, form, words):
    X, codes = rows(2)
    model.set_params(families=[Renamed()] if "family" in words else "least_squares")
    with pytest.raises(TableError, match=words):
        predictor_of(model.fit(form(X), codes))


def test_categories_in_boosted_trees_are_refused_in_a_sentence():
    X, codes = rows(2)
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features=[2])
    with pytest.raises(TableError, match="trees that split categories cannot be stored; encode"):
        predictor_of(model.fit(X, codes ^ (X[:, 2] > 0)))


def test_the_contents_of_a_predictor_are_described():
    described = {kind: summarize(predictor(kind, 2)) for kind in KINDS}
    assert described["linear"].sentence == described["logistic"].sentence == "4 coefficients"
    assert described["forest"].sentence.startswith("20 trees with ")
    members = described["averaged"].members
    assert described["averaged"].sentence == f"an average of {len(members)} members"
    assert [one.weight for one in members] == sorted((m.weight for m in members), reverse=True)
    assert sum(one.weight for one in members) == pytest.approx(1.0)
