"""What the page of a labeling session shows."""

import json

import pytest

from semisquares._utils.errors import UserError
from semisquares.labeling._session import Doubt
from semisquares.labeling._updates import AccuracyEstimate, Guess, SameProcess, Update, Updater
from semisquares.tables.labeling import _page
from semisquares.tables.labeling._page import KEYS, LONGEST
from support.command_line import PATIENCE
from support.labeling_pages import QUICK, answer, page_of, write_doubtful_fish, write_fish


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


# -- reviewing labels -----------------------------------------------------------------------------


def reviewing(path, **options):
    """Return the page of a review of forty labels, three of which are wrong, and true labels."""
    truth = write_doubtful_fish(path)
    page = page_of(path, order="doubtful", **options)
    page.updater.start()
    assert page.updater.wait(PATIENCE)
    page.updater.stop()
    return page, truth


def test_a_doubtful_label_is_shown_with_what_speaks_against_it(path):
    page, truth = reviewing(path)
    state = json.loads(json.dumps(page.state()))
    row, doubt = state["row"], page.session.doubt
    assert row["index"] in (3, 17, 20)
    assert doubt.likely == truth[row["index"]] != row["review"]["given"]
    facts = {one["name"]: one["text"] for one in row["review"]["facts"]}
    assert facts["Label"] == row["review"]["given"]
    assert facts["Likely label"] == doubt.likely
    assert facts["Probability that the label is wrong"] == f"{100 * doubt.wrong:.0f} %"
    assert row["review"]["note"] == ""
    assert state["question"] == "is its kind right?"
    assert {one["text"] for one in state["classes"]} == {
        f"Keep {row['review']['given']}", f"Change to {doubt.likely}"
    }  # fmt: skip


def test_the_nearest_labeled_rows_are_shown_cell_by_cell(path):
    page, _ = reviewing(path)
    row, doubt = page.state()["row"], page.session.doubt
    assert [one["title"] for one in row["review"]["nearest"]] == [
        f"Row {near + 1}" for near in doubt.nearest
    ]
    assert [one["label"] for one in row["review"]["nearest"]] == [
        page.session.labels[near] for near in doubt.nearest
    ]
    for cell in row["cells"]:
        texts = [one["text"] for one in cell["near"]]
        assert texts == [page.table.cells(near)[cell["name"]] for near in doubt.nearest]


def test_answers_to_a_review_are_counted_by_what_they_were(path):
    page, truth = reviewing(path)
    n = len(page.session.doubts_left())
    said = []
    for label in (truth[page.session.current.row], None):
        answer(page, label=label or page.session.label_of(page.session.current.row))
        said.append(page.state()["last"]["text"])
    answer(page, "unsure")
    assert said[0].endswith(f"corrected to {page.session.answers[0].label}.")
    assert said[1].endswith(" confirmed.")
    state = page.state()
    assert state["progress"]["text"] == f"3 of {n} doubtful labels reviewed"
    assert state["progress"]["detail"] == "1 confirmed, 1 corrected, 1 not sure"
    assert state["gain"]["title"] == "Left to review"
    assert state["title"] == "3 reviewed"
    assert page.summary() == f"2 labels reviewed, 1 confirmed, 1 corrected, 1 not sure: {page.out}"


def measured_again(page):
    """Return the accuracy with all answers."""
    updater = Updater(page.session, SameProcess(page.table.X, model=QUICK))
    updater.start()
    assert updater.wait(PATIENCE)
    updater.stop()
    return page.session.measurements[-1]


def test_corrected_labels_do_not_count_for_the_model_that_doubted_them(path):
    """Without these rows, or with their new labels, the accuracy would be 100 %."""
    page, truth = reviewing(path)
    while page.session.current is not None:
        answer(page, label=truth[page.session.current.row])
    found = measured_again(page)
    assert page.session.labels[:40] == truth[:40].tolist()
    assert (found.n_measured, found.accuracy) == (40, 37 / 40)
    assert page.state()["accuracy"]["detail"].endswith("compared with the labels before the review")


def test_advice_is_to_stop_when_probably_no_label_is_wrong():
    doubts = [Doubt("eel", 0.4, 0.6, 0.2, ()), Doubt("eel", 0.4, 0.6, 0.1, ())]
    assert _page._review_advice(doubts)["code"] == "stop"
    assert _page._left(doubts)["text"] == "2 labels"
    assert _page._review_advice([*doubts, *doubts])["code"] == "go_on"
    assert _page._left([*doubts, *doubts])["text"] == "4 labels; about 1 is probably wrong"
    assert _page._review_advice([])["code"] == "done"


def test_a_written_review_is_known_when_the_copy_is_reviewed(path):
    page, truth = reviewing(path)
    rows = []
    while page.session.current is not None:
        rows.append(answer(page, label=truth[page.session.current.row]))
    page.save()
    again = page_of(page.out, order="doubtful")
    again.updater.start()
    assert again.updater.wait(PATIENCE)
    again.updater.stop()
    assert set(again.table.reviewed) == set(rows)
    assert again.session.measurements[-1] == measured_again(page)
    assert again.session.current is None or again.session.current.row not in rows


def test_a_review_without_evidence_says_so(path):
    page, _ = reviewing(path)
    page.session._doubts.clear()
    page.session._queue.clear()
    note = page.state()["row"]["review"]["note"]
    assert note == "The model does not doubt this label any more."


def test_the_end_of_a_review_waits_for_the_model(path):
    page, truth = reviewing(path)
    while page.session.current is not None:
        answer(page, label=truth[page.session.current.row])
    assert page.state()["end"]["title"] == "Looking for more doubtful labels …"


def test_a_review_without_a_model_is_refused(path):
    write_doubtful_fish(path)
    page = page_of(path, order="doubtful")
    page.session.install(Update(40, failure="no way"))
    with pytest.raises(UserError, match="No model could be fitted: no way"):
        page.nothing_to_review()
