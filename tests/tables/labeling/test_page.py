"""What the page of a labeling session shows."""

import json

import pytest

from semisquares._utils.errors import UserError
from semisquares.labeling._updates import AccuracyEstimate, Guess, Update
from semisquares.tables.labeling import _page
from semisquares.tables.labeling._page import KEYS, LONGEST
from support.command_line import PATIENCE
from support.labeling_pages import answer, page_of, write_fish


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fish.csv"


def labeled(path, n_labels=30, **options):
    """Return a page with true labels, and the latest update."""
    truth = write_fish(path)
    page = page_of(path, **options)
    for _ in range(n_labels):
        answer(page, label=truth[page.session.current.row])
    page.updater.start()
    assert page.updater.wait(PATIENCE)
    page.updater.stop()
    return page


def test_a_state_is_json_and_shows_the_row_in_the_order_of_the_file(path):
    write_fish(path)
    state = json.loads(json.dumps(page_of(path).state()))
    assert state["row"]["title"] == "Row 1 of 60"
    assert [cell["name"] for cell in state["row"]["cells"]] == ["tag", "noise", "length", "water"]
    assert state["progress"]["text"] == "0 of 60 rows are labeled"
    assert state["classes"] == []
    assert state["accuracy"]["text"] == "not yet known"
    assert state["advice"]["code"] == "classes"


def test_after_thirty_labels_there_are_accuracy_gain_and_advice(path):
    page = labeled(path)
    state = page.state()
    assert state["accuracy"]["text"].endswith(" %")
    assert "95 % interval" in state["accuracy"]["detail"]
    assert "points" in state["gain"]["text"]
    assert state["advice"]["code"] in ("go_on", "stop")
    assert state["curve"][-1]["n_labels"] == 30
    assert {one["name"]: one["count"] for one in state["classes"]} == page.session.counts
    assert state["progress"]["detail"] == "30 here"


def test_accuracy_comes_from_the_random_rows_alone(path):
    page = labeled(path)
    assert page.session.measurements[-1].n_measured == len(page.session.random_rows()) < 15


def test_columns_that_matter_most_come_first_and_stay_until_labels_double(path):
    page = labeled(path)
    names = [cell["name"] for cell in page.state()["row"]["cells"]]
    assert names[0] == "length"
    assert names[-1] == "tag"
    page.session.install(Update(31, strength=page.session.update.strength[::-1]))
    assert [cell["name"] for cell in page.state()["row"]["cells"]] == names


@pytest.mark.parametrize("show_guess", [False, True])
def test_the_guess_is_hidden_until_the_answer_unless_it_is_wanted(path, show_guess):
    write_fish(path)
    page = page_of(path, show_guess=show_guess, classes=["eel", "carp"])
    page.session.install(Update(0, guesses={0: Guess("carp", 0.83)}))
    shown = json.dumps(page.state())
    assert ("83 %" in shown) is show_guess
    answer(page, label="eel")
    assert page.state()["last"]["text"] == "Row 1: eel. The model guessed carp (83 %)."


def test_the_latest_answer_is_shown_whatever_it_was(path):
    write_fish(path)
    page = page_of(path, classes=["eel"])
    page.session.install(Update(0, guesses={0: Guess("eel", 0.9)}))
    said = []
    for kind, label in (("label", "eel"), ("skip", None), ("unsure", None)):
        answer(page, kind, label)
        said.append(page.state()["last"]["text"])
    assert said == [
        "Row 1: eel. The model guessed the same (90 %).", "Row 2: skipped.", "Row 3: not sure.",
    ]  # fmt: skip
    assert page.state()["progress"]["detail"] == "1 here, 1 skipped, 1 not sure"


def test_a_long_cell_is_cut(path):
    path.write_text(f"text,kind\n{'x' * (LONGEST + 5)},\nb,\n")
    (cell,) = page_of(path, kinds={"text": "text"}).state()["row"]["cells"]
    assert (len(cell["text"]), cell["more"]) == (LONGEST, "5 more characters")


def test_keys_of_classes_are_not_those_of_other_actions(path):
    assert not set(KEYS) & set("snuct")
    assert len(set(KEYS)) == len(KEYS)
    write_fish(path)
    page = page_of(path, classes=[f"class {k}" for k in range(40)])
    keys = [one["key"] for one in page.state()["classes"]]
    assert keys[:10] == list("123456789a")
    assert keys[len(KEYS) :] == [""] * (40 - len(KEYS))


def test_a_curve_has_at_most_two_hundred_points_and_its_last(path):
    measured = [AccuracyEstimate(n, 5, 0.5, 0.1, 0.9) for n in range(1000)]
    thinned = _page._thinned(measured)
    assert len(thinned) == 200
    assert (thinned[0], thinned[-1]) == (measured[0], measured[-1])


def test_a_model_that_cannot_be_fitted_is_reported(path):
    write_fish(path)
    page = page_of(path)
    page.session.install(Update(0, failure="no way"))
    assert page.state()["advice"]["text"] == "No model could be fitted: no way"


def test_saving_is_remembered_until_the_next_answer(path):
    write_fish(path)
    page = page_of(path)
    answer(page, label="eel")
    assert not page.state()["saved"]
    page.save()
    assert page.state()["saved"]
    answer(page, label="eel")
    assert not page.state()["saved"]


def test_finish_saves_and_ends(path):
    write_fish(path)
    page = page_of(path)
    answer(page, label="eel")
    page.finish()
    assert page.finished.is_set()
    assert page.session.is_saved
    assert page.summary() == f"1 row labeled: {page.out}"


def test_a_class_that_means_missing_is_refused(path):
    write_fish(path)
    page = page_of(path)
    with pytest.raises(UserError, match="means that there is no label"):
        page.add_class("NA")
    with pytest.raises(UserError, match="means that there is no label"):
        answer(page, label="NaN")


def test_a_session_continues_with_its_curve(path):
    page = labeled(path)
    page.session._journal.close()
    again = page_of(path)
    assert again.state()["curve"] == page.state()["curve"]
    assert again.state()["row"]["index"] == page.state()["row"]["index"]
    assert again.state()["last"] is None
