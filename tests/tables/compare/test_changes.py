"""Claims about changes and strengths: counted as by hand, effects as by finite differences."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from semisquares import SoftLabelClassifier
from semisquares.tables._strengths import strengths
from semisquares.tables.compare import _changes
from semisquares.tables.compare._changes import BLOCK, changes
from semisquares.tables.compare._rows import TableRows
from semisquares.tables.encoder import TableEncoder

NAMES = ("red", "green", "blue")


def problem(n_classes, n=300, n_labeled=12, seed=0):
    """Fit two classifiers, to few labels and to other rows; return rows, codes and both."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, 4)) + 1.5 * rng.normal(size=(n_classes, 4))[truth]
    codes = np.full(n, -1)
    kept = rng.permutation(n)[:n_labeled]
    codes[kept] = truth[kept]
    known = np.flatnonzero(codes >= 0)
    before = LogisticRegression().fit(X[known], codes[known])
    return X, codes, before, LogisticRegression().fit(X[:, ::-1][::3], truth[::3])


def found_in(X, codes, before, after, n_classes, seed=0):
    names = NAMES[:n_classes]
    return changes(TableRows(X, codes), before, after, class_names=names, seed=seed)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_moves_are_those_of_predicting_every_unlabeled_row(n_classes):
    X, codes, before, after = problem(n_classes)
    found = found_in(X, codes, before, after, n_classes)
    free = X[codes < 0]
    pairs = list(zip(before.predict(free), after.predict(free), strict=True))
    expected = {
        (NAMES[a], NAMES[b]): pairs.count((a, b))
        for a in range(n_classes)
        for b in range(n_classes)
        if a != b and (a, b) in pairs
    }
    assert {(a, b): n for a, b, n in found.moves} == expected
    assert found.n_changed == sum(expected.values()) > 0
    assert found.n_rows == len(free)
    assert all(one[2] >= next_one[2] for one, next_one in pairwise(found.moves))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_rows_are_shown_where_they_are_few(n_classes):
    X, codes, before, after = problem(n_classes)
    found = found_in(X, codes, before, after, n_classes)
    free = X[codes < 0]
    for model, shown in ((before, found.before), (after, found.after)):
        p = model.predict_proba(free)
        np.testing.assert_allclose(shown, p[:, 1] if n_classes == 2 else p.max(axis=1))
    assert list(found.changed) == (before.predict(free) != after.predict(free)).tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_histogram_counts_every_row(n_classes):
    X, codes, before, after = problem(n_classes)
    found = found_in(X, codes, before, after, n_classes)
    soft = after.predict_proba(X[codes < 0])
    shown = soft[:, 1] if n_classes == 2 else soft.max(axis=1)
    place = np.minimum((shown * 20).astype(int), 19)
    assert list(found.histogram) == np.bincount(place, minlength=20).tolist()
    np.testing.assert_allclose(found.histogram_edges, np.arange(21) / 20)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_examples_are_the_ten_clearest_changes_with_their_row_of_the_table(n_classes):
    X, codes, before, after = problem(n_classes, n=500)
    found = found_in(X, codes, before, after, n_classes)
    clear = []
    for row in np.flatnonzero(codes < 0):
        one = X[[row]]
        old, new = int(before.predict(one)[0]), int(after.predict(one)[0])
        sizes = [m.predict_proba(one).max() for m in (before, after)]
        clear += [(min(sizes), -row - 1, NAMES[old], NAMES[new])] * (old != new)
    expected = sorted(clear, reverse=True)[:10]
    assert found.n_changed > 10
    assert [example[:3] for example in found.examples] == [(-one[1], *one[2:]) for one in expected]


def test_blocks_and_the_sample_do_not_change_the_counts(monkeypatch):
    monkeypatch.setattr(_changes, "MOST_CLASSIFIED", 10**6)
    X, codes, before, after = problem(2)
    n_copies = 2 * BLOCK // len(X) + 1
    once = found_in(X, codes, before, after, 2)
    many = found_in(np.tile(X, (n_copies, 1)), np.tile(codes, n_copies), before, after, 2)
    assert many.n_rows == n_copies * once.n_rows > BLOCK
    assert many.moves == tuple((a, b, n_copies * n) for a, b, n in once.moves)
    assert many.histogram == tuple(n_copies * n for n in once.histogram)
    assert len(many.before) == len(many.after) == len(many.changed) == 2000
    assert len({example[0] for example in many.examples}) == 10
    # drawn with equal chances: the share of changes in the sample is that of all rows
    assert np.mean(many.changed) == pytest.approx(once.n_changed / once.n_rows, abs=0.03)


def test_of_very_many_rows_some_are_classified(monkeypatch):
    monkeypatch.setattr(_changes, "MOST_CLASSIFIED", 100)
    X, codes, before, after = problem(2)
    found = found_in(X, codes, before, after, 2)
    assert found.n_rows == sum(found.histogram) == len(found.before) == 100
    places = [example[0] - 1 for example in found.examples]
    assert (codes[places] < 0).all()
    old = before.predict(X[places])
    assert [example[1] for example in found.examples] == [NAMES[k] for k in old]


def test_the_seed_draws_the_sample():
    X, codes, before, after = problem(2, n=5000)
    same, again, other = (found_in(X, codes, before, after, 2, seed) for seed in (0, 0, 1))
    assert same == again
    assert same.before != other.before


def test_a_table_without_unlabeled_rows_has_no_changes():
    X, codes, before, after = problem(2)
    known = codes >= 0
    found = found_in(X[known], codes[known], before, after, 2)
    assert (found.n_rows, found.n_changed, found.moves, found.before) == (0, 0, (), ())


# -- strengths ----------------------------------------------------------------------------------


def fitted_table(n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50.0, 12.0, 200).round(1),
            "smokes": rng.choice(["yes", "no"], 200),
            "ward": rng.choice(["A", "B", "C"], 200),
        }
    )
    encoder = TableEncoder().fit(frame)
    X = encoder.transform(frame)
    codes = np.where(np.arange(200) < 60, rng.integers(n_classes, size=200), -1)
    return frame, encoder, X, SoftLabelClassifier(0.1).fit(X, codes)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_effect_is_what_one_unit_of_a_cell_changes(n_classes):
    _, encoder, _, model = fitted_table(n_classes)
    effects = {
        (one.feature, one.class_name): one.effect
        for one in strengths(model.coef_, encoder.features_, NAMES[:n_classes])
    }
    row = pd.DataFrame({"age": [40.0], "smokes": ["no"], "ward": ["A"]})
    towards = NAMES[1:2] if n_classes == 2 else NAMES
    start = np.atleast_1d(model.decision_function(encoder.transform(row))[0])
    for change, gained, lost in (
        ({"age": 41.0}, "age", None),
        ({"smokes": "yes"}, "smokes", None),
        ({"ward": "C"}, "ward = C", "ward = A"),
    ):
        moved = encoder.transform(row.assign(**change))
        difference = np.atleast_1d(model.decision_function(moved)[0]) - start
        expected = [effects[gained, name] - effects.get((lost, name), 0.0) for name in towards]
        np.testing.assert_allclose(difference, expected, atol=1e-12)


def test_a_weight_is_what_one_standard_deviation_of_a_feature_changes():
    _, encoder, X, model = fitted_table()
    found = strengths(model.coef_, encoder.features_, NAMES[:2], spread=X.std(axis=0))
    for one in found:
        j = [feature.name for feature in encoder.features_].index(one.feature)
        shifted = X[:1] + X.std(axis=0) * (np.arange(X.shape[1]) == j)
        difference = model.decision_function(shifted) - model.decision_function(X[:1])
        assert one.weight == pytest.approx(difference[0], abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_strongest_come_first(n_classes):
    _, encoder, X, model = fitted_table(n_classes)
    found = strengths(model.coef_, encoder.features_, NAMES[:n_classes], spread=X.std(axis=0))
    sizes = [abs(one.weight) for one in found]
    assert sizes == sorted(sizes, reverse=True)
    assert len(found) == X.shape[1] * (1 if n_classes == 2 else 3)


def test_without_rows_the_coefficient_is_the_weight():
    _, encoder, _, model = fitted_table()
    found = strengths(model.coef_, encoder.features_, NAMES[:2])
    assert sorted(one.weight for one in found) == sorted(model.coef_[0].tolist())
