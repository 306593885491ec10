"""The page about real tables: on made-up results, and on the stored ones."""

import re

import pytest
from benchmarks.real_tables import drawing
from benchmarks.real_tables.cases import LABELS, SPLITS
from benchmarks.real_tables.catalogue import TABLES
from benchmarks.real_tables.comparing import PROMISES, Comparison, comparisons
from benchmarks.real_tables.methods import METHODS, RIVALS
from benchmarks.real_tables.page import EVIDENCE, NAME, PICTURE, page, write_page
from benchmarks.real_tables.storing import RESULTS, Results

from support import made_tables

ACCURATE, CERTAIN = PROMISES.values()


@pytest.fixture(scope="module")
def good():
    """Return results in which ours is the best everywhere."""
    return made_tables.results()


def test_a_gain_is_the_mean_over_tables_of_the_means_over_splits():
    results = made_tables.results({"forest": 0.99}, on=["movies"])
    gain = Comparison(results, 50).gain("forest", "accuracy")
    assert gain.by_table["movies"] == pytest.approx(-0.19)
    assert gain.mean == pytest.approx((3 * 0.01 - 0.19) / 4)
    assert gain.error == pytest.approx(0.05)  # the standard deviation is 0.1
    assert gain.median == pytest.approx(0.01)
    assert gain.n_better == 3
    assert gain.worst == "movies"
    assert (gain.count_clear(1), gain.count_clear(-1)) == (3, 1)


def test_a_lower_log_loss_is_a_gain(good):
    assert Comparison(good, 200).gain("forest", "log_loss").mean == pytest.approx(0.02)


def test_a_table_without_so_many_labels_is_not_in_the_means(good):
    assert Comparison(good, 200).tables == list(made_tables.TABLES)
    assert "penguins" not in Comparison(good, 1000).tables


def test_a_table_is_left_out_until_every_split_is_measured():
    results = made_tables.results()
    del results.fits["movies"]["50"]["forest"]["7"]
    assert "movies" not in Comparison(results, 50).tables
    assert "movies" in Comparison(results, 200).tables


def test_promises_are_checked_against_the_closest_rival(good):
    assert ACCURATE(Comparison(good, 50)).rival == "forest"
    assert ACCURATE(Comparison(good, 50)).holds
    worse = made_tables.results({"boosting": 0.81}, on=made_tables.TABLES)
    assert ACCURATE(Comparison(worse, 50)).rival == "boosting"
    assert not ACCURATE(Comparison(worse, 50)).holds
    unsure = made_tables.results({}, {"logistic": 0.39}, on=made_tables.TABLES)
    assert CERTAIN(Comparison(unsure, 1000)).rival == "logistic"
    assert not CERTAIN(Comparison(unsure, 1000)).holds


def test_a_broken_promise_stands_out_on_the_page(good):
    assert page(good).count("| holds |") == 2 * len(LABELS)
    assert "does not hold" not in page(good)
    worse = page(made_tables.results({"boosting": 0.81}, on=made_tables.TABLES))
    assert worse.count("`HistGradientBoostingClassifier`, the closest: −1.0 ± 0.0 |") == 3
    assert worse.count("**does not hold**") == 3


def test_the_page_names_every_loss_and_the_largest_first():
    results = made_tables.results({"forest": 0.99, "ridge": 0.85}, on=["movies"])
    text = page(results)
    assert (
        "The largest loss of semisquares is −19.0 points on movies, against "
        "`RandomForestClassifier`."
    ) in text
    lost = text.partition("## Where it loses")[2].partition("\n## ")[0]
    assert re.search(r"\| `RandomForestClassifier` \| movies \+19\.0 \|", lost)
    assert re.search(r"\| `RidgeClassifierCV` \| movies \+5\.0 \|", lost)
    assert re.search(r"\| `LogisticRegression` \| – \| – \| – \|", lost)


def test_a_loss_within_the_noise_of_splits_is_not_listed():
    text = page(made_tables.results({"forest": 0.8002}, on=["movies"]))
    lost = text.partition("## Where it loses")[2].partition("\n## ")[0]
    assert "| `RandomForestClassifier` | – | – | – |" in lost


def test_the_page_says_if_few_tables_make_the_mean():
    text = page(made_tables.results({"forest": 0.20}, on=["movies"]))
    row = re.search(r"^\| 50 \| `RandomForestClassifier` .*$", text, re.MULTILINE)[0]
    assert row.split(" | ")[3:5] == ["+15.8 ± 14.8", "+1.0"]
    closest = made_tables.results({name: 0.20 for name in RIVALS}, on=["movies"])
    assert (
        "Against `RandomForestClassifier`, the closest on average, it is more accurate on 4 "
        "tables; the median difference is +1.0 points, and the largest gain is +60.0 on movies."
    ) in page(closest)


def test_the_best_accuracies_on_a_table_are_bold():
    results = made_tables.results({"boosting": 0.80}, on=["movies"])
    row = re.search(r"^\| movies \| 50 \| .*$", page(results), re.MULTILINE)[0]
    assert len(re.findall(r"\*\*0\.82\d\*\*", row)) == 2


def test_ridge_regression_has_no_log_loss_on_the_page(good):
    row = re.search(r"^\| 50 \| `RidgeClassifierCV` .*$", page(good), re.MULTILINE)[0]
    assert row.split(" | ")[6:8] == ["–", "–"]


def test_nothing_measured_gives_a_page_that_says_so(tmp_path, capsys):
    write_page(tmp_path / "none.json", tmp_path)
    assert "Not measured yet" in (tmp_path / NAME).read_text()
    assert not (tmp_path / PICTURE).exists()


def test_the_picture_is_drawn_and_holds_the_digest_of_its_inputs(good):
    drawn = drawing.draw(good, "a digest")
    assert drawn.startswith(b"<?xml")
    assert drawing.inputs_in(drawn) == "a digest"


# -- the stored results ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored():
    return Results.read()


def test_the_page_is_what_the_stored_results_give(stored):
    said = "run python -m benchmarks.real_tables page"
    assert (EVIDENCE / NAME).read_text(encoding="utf-8") == page(stored), said
    drawn = (EVIDENCE / PICTURE).read_bytes()
    assert drawing.inputs_in(drawn) == drawing.inputs_of(RESULTS), said


def test_every_table_is_measured_with_every_method_and_split(stored):
    assert list(stored.tables) == list(TABLES)
    assert {labels: len(one.tables) for labels, one in comparisons(stored).items()} == {
        labels: sum(about["rows"] - labels >= 140 for about in stored.tables.values())
        for labels in LABELS
    }
    counts = [
        len(splits)
        for by_labels in stored.fits.values()
        for by_method in by_labels.values()
        for splits in by_method.values()
    ]
    assert set(counts) == {len(SPLITS)}
    assert {name for one in stored.fits.values() for name in one["50"]} == set(METHODS)


@pytest.mark.parametrize("labels", LABELS)
def test_ours_is_more_accurate_and_more_certain_on_average_than_each_of_the_others(labels, stored):
    comparison = Comparison(stored, labels)
    assert min(comparison.gain(name, "accuracy").mean for name in RIVALS) > 0.0
    with_loss = [name for name in RIVALS if METHODS[name].has_probabilities]
    assert min(comparison.gain(name, "log_loss").mean for name in with_loss) > 0.0
