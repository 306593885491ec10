"""How many labels it takes: curves, stored files, promises and the page."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.label_efficiency import __main__ as command
from benchmarks.label_efficiency import comparing, curves, page, storing, strategies
from benchmarks.label_efficiency.comparing import PROMISES, Efficiency
from benchmarks.label_efficiency.curves import Curve
from benchmarks.label_efficiency.strategies import STRATEGIES, Situation

from semisquares import AveragedClassifier
from semisquares.labeling import suggest

LABELS = (4, 14, 24)


def curve(strategy, correct, table="Wine", split=0, **rest):
    given = {"all_labels": 100, "test_rows": 120, "classifier": "least_squares", **rest}
    return Curve(
        table=table, strategy=strategy, split=split, labels=LABELS, correct=tuple(correct), **given
    )


def situation(n=10, n_rows=60):
    rng = np.random.default_rng(0)
    truth = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, 3)) + truth[:, None]
    y = np.where(np.arange(n_rows) < 12, truth, -1)
    model = AveragedClassifier("least_squares", representations=("linear",)).fit(X, y)
    return Situation(model, X, y, n, np.random.default_rng(0))


# -- one curve ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("correct", "needed"), [((50, 94, 96), 24), ((95, 20, 20), 4), ((1, 2, 3), 200)]
)
def test_labels_are_needed_until_95_percent_of_the_accuracy_with_all_labels(correct, needed):
    assert curve("random", correct).needed == needed


def test_the_mean_accuracy_is_over_the_curve():
    assert curve("random", (60, 90, 120)).mean_accuracy == pytest.approx(0.75)


@pytest.mark.parametrize("split", range(4))
def test_all_strategies_start_with_the_same_four_labels_of_two_classes(split):
    rows = curves.rows_of("Wine", split)
    assert len(set(rows.first)) == 4
    assert len(np.unique(rows.truth[rows.first])) > 1
    np.testing.assert_array_equal(rows.first, curves.rows_of.__wrapped__("Wine", split).first)


def test_at_most_2000_rows_are_used():
    assert len(curves.rows_of("Moons", 0).X) == 2000


def test_a_curve_ends_when_no_batch_is_left():
    found = curves.measure("Wine", "least_squares", "random", 1000)
    assert found.labels == tuple(range(4, 125, 10))
    assert all(0 < right <= found.test_rows for right in found.correct)


def test_a_curve_does_not_depend_on_what_was_measured_before(monkeypatch):
    monkeypatch.setattr(curves, "MOST", 44)
    curves._classifier.cache_clear()
    first = curves.measure("Wine", "least_squares", "ours", 1000)
    curves.measure("Wine", "least_squares", "random", 1000, first.all_labels)
    assert curves.measure("Wine", "least_squares", "ours", 1000) == first


def _fails(now):
    raise ZeroDivisionError


def _repeats(now):
    return now.unlabeled[[0] * now.n]


@pytest.mark.parametrize("choose", [_fails, _repeats])
def test_batches_in_which_another_package_fails_are_drawn_at_random(monkeypatch, choose):
    monkeypatch.setattr(curves, "MOST", 34)
    failing = strategies.Strategy("failing", choose, strategies.PEER)
    monkeypatch.setattr(strategies.Strategy, "version", "1")
    monkeypatch.setitem(STRATEGIES, "failing", failing)
    found = curves.measure("Wine", "least_squares", "failing", 1000, 53)
    expected = curves.measure("Wine", "least_squares", "random", 1000, 53)
    assert found.failures == 3
    assert found.correct == expected.correct


def test_a_strategy_that_repeats_rows_is_refused(monkeypatch):
    wrong = strategies.Strategy("wrong", _repeats)
    monkeypatch.setitem(STRATEGIES, "wrong", wrong)
    with pytest.raises(RuntimeError, match="wrong did not choose 10 rows without a label"):
        curves.measure("Wine", "least_squares", "wrong", 1000, 53)


def test_an_error_of_our_own_strategy_is_raised(monkeypatch):
    failing = strategies.Strategy("failing", _fails, strategies.OURS)
    monkeypatch.setitem(STRATEGIES, "failing", failing)
    with pytest.raises(ZeroDivisionError):
        curves.measure("Wine", "least_squares", "failing", 1000, 53)


# -- strategies -----------------------------------------------------------------------------------


def test_margin_sampling_takes_the_smallest_margins():
    now = situation()
    p = np.sort(now.model.predict_proba(now.X), axis=1)
    margins = np.where(now.y < 0, p[:, -1] - p[:, -2], np.inf)
    np.testing.assert_array_equal(np.sort(strategies.margin(now)), np.sort(margins.argsort()[:10]))


def test_ours_is_the_public_function():
    now = situation()
    expected = suggest(now.model, now.X, now.y, n=10).indices
    np.testing.assert_array_equal(strategies.ours(now), expected)


@pytest.mark.parametrize("n_new", [0, 3])
def test_ours_is_completed_at_random_if_the_rest_are_copies(n_new):
    now = situation()
    now.X[12 + n_new :] = now.X[0]
    found = strategies.ours(now)
    assert len(set(found)) == 10
    assert set(found[:n_new]) == set(range(12, 12 + n_new))


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_chooses_rows_without_a_label(name):
    if STRATEGIES[name].package == strategies.PEER:
        pytest.importorskip("skactiveml")
    now = situation()
    found = STRATEGIES[name].choose(now)
    assert len(set(found)) == 10
    assert (now.y[found] == -1).all()


# -- stored curves --------------------------------------------------------------------------------


def test_curves_are_stored_and_read_back(tmp_path):
    path = tmp_path / "curves.json"
    made = [
        curve("ours", (1, 2, 3)),
        curve("random", (1, 2, 2), split=1),
        curve("random", (0, 1, 2)),
    ]
    storing.write(made, path)
    assert list(storing.read(path).values()) == [made[2], made[1], made[0]]
    assert path.read_text().count("\n") == 5
    assert storing.read(tmp_path / "none.json") == {}


def test_the_command_continues_where_it_stopped(tmp_path, monkeypatch, capsys):
    path = tmp_path / "curves.json"
    asked = []

    def measure(table, classifier, strategy, split, full):
        asked.append((table, strategy, split, full))
        return curve(strategy, (1, 2, 3), table, split, classifier=classifier)

    monkeypatch.setattr(command, "measure", measure)
    words = ["--sets", "Wine", "--first-split", "1000", "--out", str(path)]
    command.main([*words, "--splits", "1", "--strategies", "random"])
    command.main([*words, "--splits", "2", "--strategies", "random,ours"])
    assert asked == [
        ("Wine", "random", 1000, None), ("Wine", "ours", 1000, 100),
        ("Wine", "random", 1001, None), ("Wine", "ours", 1001, 100),
    ]  # fmt: skip
    asked.clear()
    command.main([*words, "--splits", "1", "--strategies", "random,ours", "--again", "ours"])
    assert asked == [("Wine", "ours", 1000, 100)]
    assert len(storing.read(path)) == 4
    assert "Wine, split 1001, ours: 200 labels" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "needs"),
    [
        (["--first-split", "1000"], "give another file"),
        (["--out", "x.json"], "give another file"),
        (["--sets", "Wein"], "'Wein' is unknown"),
        (["--strategies", "best"], "'best' is unknown"),
        (["--again", "best"], "'best' is unknown"),
    ],
)
def test_wrong_use_is_refused(words, needs, capsys):
    with pytest.raises(SystemExit):
        command.main(words)
    assert needs in capsys.readouterr().err


# -- what they say --------------------------------------------------------------------------------

FAST, SLOW, NEVER = (50, 96, 99), (50, 60, 96), (50, 60, 70)


def made(ours=FAST, others=SLOW, tables=("Wine", "Digits"), splits=3):
    """Return curves of made-up strategies; each table's last split is unfinished."""
    found = []
    for table in tables:
        for split in range(splits):
            found += [curve("random", SLOW, table, split), curve("margin", others, table, split)]
            found.append(curve("ours", ours, table, split))
        found.append(curve("random", NEVER, table, splits))
    return Efficiency.of(found, "least_squares")


def test_ratios_are_of_the_sums_over_tables():
    found = made()
    assert found.tables == ["Wine", "Digits"]
    assert found.strategies == ["random", "margin", "ours"]
    assert found.needed("ours", "Wine") == 14
    assert found.ratio("ours") == pytest.approx(14 / 24)
    assert found.ratio("random") == 1.0
    assert found.mean_accuracy("ours") == pytest.approx(np.mean(FAST) / 120)


def test_splits_that_some_strategy_lacks_do_not_count():
    assert made().n_splits == (3, 3)
    assert made(splits=2).needed("random", "Wine") == 24


def test_mean_curves_and_the_goal():
    labels, accuracies = made().mean_curve("ours", "Wine")
    assert tuple(labels) == LABELS
    np.testing.assert_allclose(accuracies, np.array(FAST) / 120)
    assert made().goal("Wine") == pytest.approx(100 / 120)


@pytest.mark.parametrize(
    ("ours", "others", "holds"),
    [
        (FAST, SLOW, [True, True, True]),
        (SLOW, SLOW, [False, True, True]),
        (SLOW, FAST, [False, False, True]),
        (NEVER, SLOW, [False, False, False]),
    ],
)
def test_promises_are_kept_or_not(ours, others, holds):
    found = made(ours, others)
    assert [check(found).holds for check in PROMISES.values()] == holds


def test_one_split_is_never_clear():
    assert made(NEVER, splits=1).clearly_worse() == []


def test_a_table_that_is_clearly_worse_is_named():
    rng = np.random.default_rng(0)
    found = []
    for table, start in (("Wine", 160), ("Digits", 40)):
        for split in range(6):
            for name, needed in (("random", 60), ("ours", start + 10 * int(rng.integers(2)))):
                labels = tuple(range(needed - 10, needed + 11, 10))
                one = curve(name, (1, 99, 99), table, split)
                found.append(Curve(**{**vars(one), "labels": labels}))
    assert Efficiency.of(found, "least_squares").clearly_worse() == ["Wine"]


def test_p_values_of_equal_differences():
    assert comparing._p_value(np.array([3.0, 3.0])) == 0.0
    assert comparing._p_value(np.array([-3.0, -3.0])) == 1.0
    assert comparing._p_value(np.array([3.0])) == 1.0


# -- the page -------------------------------------------------------------------------------------


def test_the_page_says_what_the_curves_say(tmp_path):
    path = tmp_path / "curves.json"
    storing.write(made(SLOW, FAST).curves.values(), path)
    text = page.page(path)
    assert "2 tables, 3 splits of each. These are few" in text
    assert "Not measured by all strategies yet: Haberman, Ionosphere" in text
    assert "| at most 0.8 × the labels of random choice | 1.00 | **does not hold** |" in text
    assert "| smallest margin | – | 28 | 0.58 |" in text
    assert "| Wine | 24 | 14 | 24 |" in text
    assert "On no table does `suggest` need more than 1.1 ×" in text


def test_the_page_names_where_it_does_not_help(tmp_path):
    path = tmp_path / "curves.json"
    worse = [curve("random", FAST, "Wine"), curve("ours", NEVER, "Wine")]
    never = [curve("random", NEVER, "Digits"), curve("ours", NEVER, "Digits")]
    storing.write([*worse, *never], path)
    text = page.page(path)
    assert "- Wine: `suggest` needs more than 1.1 × the labels of random choice." in text
    assert "- Wine: 14 random labels are enough" in text
    assert "- Digits: 200 labels are too few for every strategy." in text
    assert "| Wine | 14 | **200** |" in text


def test_the_page_counts_errors_of_other_packages(tmp_path):
    path = tmp_path / "curves.json"
    found = [curve(name, SLOW) for name in ("random", "ours")]
    storing.write([*found, curve("typiclust", SLOW, failures=1)], path)
    assert (
        "`TypiClust` raised an error, or chose a row twice, in 1 of 2 batches (Wine)"
        in page.page(path)
    )


def test_without_curves_the_page_says_how_to_measure_them(tmp_path):
    assert "Not measured yet: run `python -m benchmarks" in page.page(tmp_path / "none.json")


def test_the_page_is_made_from_the_stored_curves():
    text = (page.DOCS / "evidence" / "labeling.md").read_text(encoding="utf-8")
    assert text == page.page(), "run python -m benchmarks.label_efficiency page"


def test_the_picture_is_made_from_the_stored_curves_and_the_code_at_hand():
    drawn = (page.DOCS / "evidence" / "labeling.svg").read_text(encoding="utf-8")
    assert f"<!-- inputs {page.inputs()} -->" in drawn, (
        "run python -m benchmarks.label_efficiency page"
    )


@pytest.mark.parametrize("promise", PROMISES)
def test_the_promises_hold_on_what_is_measured(promise):
    found = Efficiency.of(storing.read().values(), "least_squares")
    assert found.strategies == list(STRATEGIES)
    assert PROMISES[promise](found).holds
