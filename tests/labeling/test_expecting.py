"""What more labels bring is extrapolated by a power law with a floor, with an honest interval."""

import numpy as np
import pytest
from sklearn.base import clone

from semisquares import AveragedClassifier
from semisquares.labeling import _expecting
from semisquares.labeling._expecting import expect, extrapolate

SIZES = np.array([80.0, 40.0, 20.0])
QUICK = AveragedClassifier("least_squares", representations=("linear",))


def constant(*errors, n=80):
    """Return three errors that are the same in all rows."""
    return np.repeat(np.array(errors)[:, None], n, axis=1)


def drawn(*errors, n=80, seed=0):
    """Return rows that are misclassified at random, with these probabilities."""
    return (np.random.default_rng(seed).random((3, n)) < np.array(errors)[:, None]).astype(float)


def extrapolated(wrong, n_more, units=None, seed=0):
    units = np.arange(wrong.shape[1]) if units is None else units
    return extrapolate(wrong, SIZES, n_more, units, np.random.default_rng(seed))


@pytest.mark.parametrize("exponent", _expecting.EXPONENTS)
def test_a_power_law_with_a_floor_is_continued(exponent):
    def law(m):
        return 0.05 + 0.6 * m**-exponent

    then, low, high = extrapolated(constant(*law(SIZES)), 120)
    assert then == pytest.approx(law(200.0))
    assert low <= then <= high


def test_a_flat_curve_stays_flat():
    assert extrapolated(constant(0.2, 0.2, 0.2), 50) == pytest.approx((0.2, 0.2, 0.2))


def test_a_curve_that_rises_with_more_labels_is_not_continued():
    assert extrapolated(constant(0.3, 0.2, 0.1), 50)[0] == pytest.approx(0.3)


def test_the_error_does_not_fall_below_zero():
    then, low, _ = extrapolated(constant(0.01, 0.2, 0.5), 10**6)
    assert 0.0 <= low <= then <= 0.01


def test_more_labels_to_come_lower_the_error_more():
    wrong = constant(0.1, 0.15, 0.25)
    found = [extrapolated(wrong, n_more)[0] for n_more in (1, 10, 100)]
    assert 0.1 > found[0] > found[1] > found[2]


def test_rows_without_a_smaller_fit_do_not_count_in_it():
    wrong = constant(0.1, 0.15, 0.25)
    holes = wrong.copy()
    holes[1, ::3] = holes[2, 1::3] = np.nan
    assert extrapolated(holes, 80)[0] == pytest.approx(extrapolated(wrong, 80)[0])


def test_the_interval_narrows_with_the_number_of_rows():
    widths = []
    for n in (80, 800):
        _, low, high = extrapolated(drawn(0.2, 0.25, 0.3, n=n), 20)
        widths.append(high - low)
    assert widths[1] < 0.6 * widths[0]


def test_copies_in_a_group_do_not_narrow_the_interval():
    wrong = drawn(0.2, 0.25, 0.3)
    copies = np.repeat(wrong, 5, axis=1)
    alone = extrapolated(wrong, 20)
    grouped = extrapolated(copies, 20, np.repeat(np.arange(80), 5))
    assert grouped == pytest.approx(alone)


def test_resamples_without_any_row_of_a_smaller_fit_are_left_out():
    wrong = constant(0.1, 0.15, 0.25)
    units = np.arange(80) % 3
    wrong[1, units > 0] = np.nan
    then, low, high = extrapolated(wrong, 20, units)
    assert np.isfinite([then, low, high]).all()


def rows(n_labels, n=600, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    X = rng.normal(size=(n, 8)) + 0.5 * truth[:, None]
    return X, np.where(np.arange(n) < n_labels, truth, -1), truth


def test_the_error_now_is_the_leave_one_out_error():
    X, y, _ = rows(60)
    model = clone(QUICK).fit(X, y)
    found = expect(model, X, y, 20)
    assert (found.n_labels, found.n_more) == (60, 20)
    assert found.now == pytest.approx(1.0 - model.loo_score_)
    assert found.gain == found.now - found.then >= 0.0
    assert found.low <= found.then <= found.high


def test_the_same_seed_gives_the_same_numbers():
    X, y, _ = rows(60)
    model = clone(QUICK).fit(X, y)
    assert expect(model, X, y, 20, seed=3) == expect(model, X, y, 20, seed=3)
    assert expect(model, X, y, 20, seed=3) != expect(model, X, y, 20, seed=4)


def test_text_labels_and_another_marker_change_nothing():
    X, y, _ = rows(60)
    texts = np.array(["a", "b", "?"])[y]
    model = clone(QUICK).set_params(unlabeled="?").fit(X, texts)
    assert expect(model, X, texts, 9) == expect(clone(QUICK).fit(X, y), X, y, 9)


@pytest.mark.parametrize("n_labels", [4, 19])
def test_few_labels_say_nothing(n_labels):
    X, y, _ = rows(n_labels)
    assert expect(clone(QUICK).fit(X, y), X, y, 20) is None


def test_labels_of_which_no_quarter_has_two_classes_say_nothing(monkeypatch):
    X, y, _ = rows(24)
    y[:24] = 0
    y[0] = 1
    monkeypatch.setattr(_expecting, "DRAWS", 0)
    assert expect(clone(QUICK).fit(X, y), X, y, 20) is None


def test_whole_groups_are_drawn(monkeypatch):
    X, y, _ = rows(60)
    groups = np.array([f"g{i % 12}" for i in range(600)], dtype=object)
    model = clone(QUICK).fit(X, y, groups=groups)
    seen, fit = [], AveragedClassifier.fit

    def watched(self, X, y, **rest):
        seen.append(y.copy())
        return fit(self, X, y, **rest)

    monkeypatch.setattr(AveragedClassifier, "fit", watched)
    expect(model, X, y, 20, groups=groups)
    assert len(seen) == 2 * _expecting.DRAWS
    for labels in seen:
        kept = set(groups[:60][labels[:60] >= 0])
        assert len(kept) in (3, 6)
        assert (labels[:60][np.isin(groups[:60], list(kept))] >= 0).all()


@pytest.mark.parametrize(
    ("n_tables", "least"), [(8, 7), pytest.param(40, 34, marks=pytest.mark.slow)]
)
def test_the_interval_holds_the_error_that_more_labels_lead_to(n_tables, least):
    held = 0
    for seed in range(n_tables):
        X, y, truth = rows(60, n=1500, seed=seed)
        found = expect(clone(QUICK).fit(X, y), X, y, 60)
        more = np.where(np.arange(1500) < 120, truth, -1)
        error = 1.0 - clone(QUICK).fit(X, more).score(X[120:], truth[120:])
        held += found.low <= error <= found.high
    assert held >= least
