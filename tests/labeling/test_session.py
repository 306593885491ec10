"""A labeling session: the order of rows, answers, undo, and continuing."""

import numpy as np
import pytest

from semisquares._utils.errors import UserError
from semisquares.labeling import DoubtfulLabels
from semisquares.labeling._journal import MemoryJournal
from semisquares.labeling._session import (
    RANDOM_EVERY,
    Doubt,
    LabelingSession,
    Shown,
    StaleAnswer,
)
from semisquares.labeling._updates import AccuracyEstimate, Guess, Update


def unlabeled(n_rows=40, **options):
    return LabelingSession([None] * n_rows, **options)


def label(session, name="eel", **more):
    row = session.current.row
    session.answer(row, "label", name, turn=session.turn, **more)
    return row


def suggesting(rows, n_rows=40, **options):
    session = unlabeled(n_rows, **options)
    session.install(Update(0, rows))
    label(session)  # the first row was drawn before there were suggestions
    return session


# -- order ----------------------------------------------------------------------------------------


def test_suggested_rows_come_in_their_order():
    session = suggesting([7, 3, 9])
    assert [label(session) for _ in range(3)] == [7, 3, 9]


def test_every_fifth_row_is_drawn_at_random():
    session = suggesting(list(range(40)))
    shown = []
    for _ in range(19):
        shown.append(session.current.drawn)
        label(session)
    expected = [
        "random" if k % RANDOM_EVERY == RANDOM_EVERY - 1 else "suggested" for k in range(1, 20)
    ]
    assert shown == expected


def test_a_row_that_is_shown_stays_when_suggestions_change():
    session = suggesting([7, 3])
    session.install(Update(1, [20, 21]))
    assert session.current.row == 7
    label(session)
    assert session.current.row == 20


def test_rows_are_random_while_there_is_no_suggestion():
    assert unlabeled().current.drawn == "random"


def test_random_order_shows_every_row_once_and_depends_on_the_seed():
    orders = []
    for seed in (0, 0, 1):
        session = unlabeled(order="random", seed=seed)
        orders.append([label(session) for _ in range(40)])
        assert session.current is None
    assert sorted(orders[0]) == list(range(40))
    assert orders[0] == orders[1] != orders[2]


def test_file_order_skips_labeled_rows():
    session = LabelingSession(["a", None, "b", None, None, None], order="file")
    assert [label(session) for _ in range(3)] == [1, 3, 4]


def test_no_order_shows_a_row_twice_or_a_labeled_one():
    for order in ("suggested", "random", "file"):
        given = ["a" if row % 3 == 0 else None for row in range(30)]
        session = LabelingSession(given, order=order)
        session.install(Update(0, list(range(30))))
        shown = [label(session) for _ in range(20)]
        assert session.current is None
        assert sorted(shown) == [row for row in range(30) if row % 3]


def test_skipped_rows_come_back_at_the_end_and_uncertain_ones_do_not():
    session = unlabeled(4, order="file")
    session.answer(0, "skip", turn=0)
    session.answer(1, "unsure", turn=1)
    for _ in range(2):
        label(session)
    assert session.current.row == 0
    label(session)
    assert session.current is None
    assert session.labels == ["eel", None, "eel", "eel"]


def test_random_rows_are_the_beginning_of_a_permutation_of_all_rows():
    """So a suggested row that the permutation reaches counts, and the sample is uniform."""
    session = suggesting(list(range(40)))
    permutation = session._permutation.tolist()
    for _ in range(29):
        label(session)
    sample = session.random_rows()
    assert sample == permutation[: len(sample)]
    assert len(sample) > 6
    assert {row for row, how in session.drawn().items() if how == "random"} == set(sample)


def test_the_share_of_random_rows_is_right_however_rows_are_suggested():
    """With all rows of one class suggested first, the random rows still tell the true share."""
    truth = np.arange(1000) % 4 == 0
    shares = []
    for seed in range(40):
        session = unlabeled(1000, seed=seed)
        session.install(Update(0, np.flatnonzero(truth).tolist()))
        for _ in range(200):
            label(session, "yes" if truth[session.current.row] else "no")
        shares.append(np.mean(truth[session.random_rows()]))
    assert abs(np.mean(shares) - 0.25) < 0.025


def test_labels_given_before_are_representative_unless_they_were_suggested():
    session = LabelingSession(["a", "b", None, None], order="random", biased=[1])
    row = label(session, "a")
    assert session.representative_rows() == [0, row]


# -- answers --------------------------------------------------------------------------------------


def test_undo_takes_back_answer_after_answer():
    session = suggesting([7, 3, 9])
    for name in ("eel", "carp"):
        label(session, name)
    session.undo(turn=session.turn)
    assert session.current.row == 3
    session.undo(turn=session.turn)
    assert session.current.row == 7
    assert [label(session, name) for name in ("carp", "eel")] == [7, 3]
    assert (session.labels[7], session.labels[3], session.current.row) == ("carp", "eel", 9)


def test_the_row_that_was_current_before_an_undo_comes_next():
    session = suggesting([7, 3])
    label(session)
    session.undo(turn=session.turn)
    session.install(Update(1, [30]))
    assert [label(session), label(session)] == [7, 3]


def test_there_is_nothing_to_undo_at_the_start():
    with pytest.raises(UserError, match="no answer to take back"):
        unlabeled().undo(turn=0)


def test_an_undo_from_a_page_that_is_out_of_date_is_refused():
    session = unlabeled()
    label(session)
    with pytest.raises(StaleAnswer, match="nothing was taken back"):
        session.undo(turn=0)
    assert len(session.answers) == 1


def test_a_second_answer_about_a_row_is_refused_with_the_first():
    session = unlabeled()
    row = label(session, "eel")
    with pytest.raises(StaleAnswer, match=r"labeled 'eel' in another tab. Your answer 'carp'"):
        session.answer(row, "label", "carp", turn=0)
    assert session.labels[row] == "eel"


def test_an_answer_can_be_changed_and_the_current_row_stays():
    session = unlabeled(order="file")
    row = label(session, "eel")
    current = session.current
    session.answer(row, "label", "carp", turn=0, change=True)
    assert (session.labels[row], session.current) == ("carp", current)
    assert len(session.answers) == 1


def test_an_answer_about_a_row_that_is_not_shown_is_refused():
    session = unlabeled(order="file")
    with pytest.raises(StaleAnswer, match="another row is current"):
        session.answer(5, "label", "eel", turn=0)
    with pytest.raises(StaleAnswer, match="another row is current"):
        session.answer(0, "label", "eel", turn=3)
    assert session.answers == []


def test_a_new_label_becomes_a_class_and_classes_are_sorted_as_numbers():
    session = LabelingSession(["10", "9", None, None], classes=["other"])
    assert session.classes == ["9", "10", "other"]
    session.add_class(" pike ")
    label(session, "zander")
    assert session.classes == ["9", "10", "other", "pike", "zander"]
    assert session.counts == {"9": 1, "10": 1, "other": 0, "pike": 0, "zander": 1}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("a\nb", "line end"),
        ("x" * 201, "201 characters"),
        ("eel", "a class 'eel' already"),
        ("NA", "not NA"),
    ],
)
def test_a_bad_name_of_a_class_is_refused(name, why):
    def check(text):
        if text == "NA":
            raise UserError("not NA")

    session = LabelingSession(["eel", None], check_class=check)
    with pytest.raises(UserError, match=why):
        session.add_class(name)
    assert session.classes == ["eel"]


@pytest.mark.parametrize(
    ("kind", "name", "note", "why"),
    [
        ("maybe", None, "", "not an answer"),
        ("label", None, "", "names no class"),
        ("label", "eel", "x" * 2001, "2,001 characters"),
    ],
)
def test_a_bad_answer_is_refused(kind, name, note, why):
    session = unlabeled(order="file")
    with pytest.raises(UserError, match=why):
        session.answer(0, kind, name, turn=0, note=note)
    assert session.answers == []


def test_the_guess_is_that_of_the_time_of_the_answer():
    session = suggesting([7, 3])
    session.install(Update(1, [3], guesses={7: Guess("carp", 0.75)}))
    assert session.guess == Guess("carp", 0.75)
    label(session, "eel")
    assert session.last[1] == Guess("carp", 0.75)
    assert session.guess is None


# -- continuing -----------------------------------------------------------------------------------


def state(session):
    return (
        session.labels, session.classes, session.answers, session.turn, session.measurements,
        session.random_rows(), session.is_saved,
    )  # fmt: skip


def test_a_session_continues_from_its_journal():
    journal = MemoryJournal()
    session = unlabeled(journal=journal, order="file")
    session.add_class("pike")
    label(session, "eel", note="small")
    session.answer(session.current.row, "skip", turn=session.turn)
    label(session, "carp")
    session.undo(turn=session.turn)
    session.install(Update(1, measurement=AccuracyEstimate(1, 1, 1.0, 0.2, 1.0)))
    session.answer(0, "label", "carp", turn=0, change=True)
    session.mark_saved(session.n_records)
    label(session, "pike")
    again = unlabeled(journal=journal, order="file")
    assert state(again) == state(session)
    assert again.current == session.current


def test_an_undone_row_comes_first_in_the_next_session():
    journal = MemoryJournal()
    session = suggesting([7, 3, 9], journal=journal)
    label(session)
    session.undo(turn=session.turn)
    assert unlabeled(journal=journal).current.row == 7


def test_a_session_is_saved_until_the_next_answer():
    session = unlabeled()
    assert session.is_saved
    label(session)
    assert not session.is_saved
    session.mark_saved(session.n_records)
    assert session.is_saved
    session.undo(turn=session.turn)
    assert not session.is_saved


def test_the_same_measurement_is_stored_once():
    journal = MemoryJournal()
    session = unlabeled(journal=journal)
    for _ in range(2):
        session.install(Update(1, measurement=AccuracyEstimate(1, 1, 1.0, 0.2, 1.0)))
    assert len(journal.records) == 1


def test_an_answer_that_cannot_be_written_changes_nothing():
    class Full(MemoryJournal):
        def append(self, record):
            raise UserError("disk full")

    session = unlabeled(journal=Full(), order="file")
    with pytest.raises(UserError, match="disk full"):
        label(session)
    assert (session.answers, session.turn, session.current.row) == ([], 0, 0)


def test_an_answer_that_comes_while_the_table_is_written_is_not_saved():
    session = unlabeled()
    label(session)
    outcome = session.outcome()
    label(session)
    session.mark_saved(outcome.n_records)
    assert not session.is_saved


def test_the_outcome_has_labels_how_rows_were_chosen_and_notes():
    session = unlabeled(6, order="file")
    session.answer(0, "label", "eel", turn=0, note="small")
    session.answer(1, "unsure", turn=1, note="dark")
    session.answer(2, "unsure", turn=2)
    session.answer(3, "skip", turn=3)
    found = session.outcome()
    assert (found.labels, found.drawn) == ({0: "eel"}, {0: "file"})
    assert found.notes == {0: "small", 1: "not sure: dark", 2: "not sure"}


# -- reviewing labels -----------------------------------------------------------------------------

GIVEN = ["eel", "carp", "eel", None, "carp", "eel"]


def doubting(rows, likely="pike", n_labels=5):
    """Return an update that doubts the labels of these rows, the first one most."""
    n = len(rows)
    doubtful = DoubtfulLabels(
        np.array(rows, dtype=int),
        np.zeros(n, dtype=int),
        np.full(n, ["carp", "eel", "pike"].index(likely)),
        np.full(n, 0.1),
        np.full(n, 0.9),
        np.linspace(0.8, 0.2, n),
        np.array([[0, 4, -1]] * n, dtype=int).reshape(n, 3),
        n_labels,
        1.0,
        (0, 3),
        np.array([], dtype=int),
    )
    return Update(n_labels, doubtful=doubtful)


def reviewing(rows=(2, 0, 4), given=GIVEN, **options):
    session = LabelingSession(given, order="doubtful", classes=["pike"], **options)
    session.install(doubting(rows))
    return session


def test_doubtful_labels_come_in_their_order_and_unlabeled_rows_do_not_come():
    session = reviewing()
    assert session.current == Shown(2, "doubtful")
    assert session.doubt == Doubt("pike", 0.1, 0.9, 0.8, (0, 4))
    assert [label(session) for _ in range(3)] == [2, 0, 4]
    assert session.current is None


def test_nothing_is_shown_before_the_doubts_are_known():
    session = LabelingSession(GIVEN, order="doubtful")
    assert session.current is None
    session.install(doubting([4], "eel"))
    assert session.current.row == 4


def test_a_label_is_confirmed_corrected_or_left_as_it_is():
    session = reviewing()
    label(session, "eel")
    label(session, "pike")
    session.answer(4, "unsure", turn=2, note="dark")
    assert [answer.outcome for answer in session.answers] == ["confirmed", "corrected", "unsure"]
    assert session.labels == ["pike", "carp", "eel", None, "carp", "eel"]
    assert session.counts == {"carp": 2, "eel": 2, "pike": 1}
    assert session.n_labeled == 5


def test_only_what_changes_is_written_with_the_labels_before():
    session = reviewing()
    label(session, "eel")
    label(session, "pike", note="teeth")
    session.answer(4, "unsure", turn=2, note="dark")
    found = session.outcome()
    assert (found.labels, found.drawn) == ({0: "pike"}, {})
    assert found.reviewed == {2: "eel", 0: "eel"}
    assert found.notes == {0: "teeth", 4: "not sure: dark"}


def test_a_skipped_label_comes_back_at_the_end():
    session = reviewing()
    session.answer(2, "skip", turn=0)
    assert [label(session) for _ in range(3)] == [0, 4, 2]
    assert session.current is None


def test_undo_brings_the_label_back_and_shows_the_row_with_its_evidence():
    session = reviewing()
    label(session, "pike")
    session.undo(turn=1)
    assert session.labels == GIVEN
    assert (session.current.row, session.doubt.likely) == (2, "pike")
    assert [label(session) for _ in range(3)] == [2, 0, 4]


def test_undo_of_a_review_brings_an_answer_of_this_session_back():
    journal = MemoryJournal()
    session = LabelingSession(GIVEN, journal, order="file", classes=["pike"])
    label(session, "carp")
    session = reviewing([3], journal=journal)
    label(session, "pike")
    assert session.labels[3] == "pike"
    session.undo(turn=session.turn)
    assert session.labels[3] == "carp"
    assert session.drawn() == {3: "file"}


def test_new_doubts_neither_move_the_row_nor_its_evidence_nor_show_a_row_twice():
    session = reviewing()
    session.install(doubting([0, 2, 5], "carp"))
    assert (session.current.row, session.doubt.likely) == (2, "pike")
    assert [label(session, "eel") for _ in range(3)] == [2, 0, 5]
    session.install(doubting([0, 2, 5]))
    assert session.current is None


def test_a_label_that_is_doubted_later_is_shown_after_all_others():
    session = reviewing([2])
    label(session, "pike")
    assert session.current is None
    session.install(doubting([5]))
    assert session.current.row == 5
    assert session.doubts_left() == [session.doubt]


def test_an_update_without_doubts_leaves_those_that_there_are():
    """It comes if a fit fails, or if all labels have become those of one class."""
    session = reviewing()
    label(session, "eel")
    session.install(Update(5, [3], failure="no way"))
    assert len(session.doubts_left()) == 2
    assert [label(session), label(session), session.current] == [0, 4, None]


def test_doubts_that_are_left_have_skipped_rows_and_not_the_others():
    session = reviewing()
    session.answer(2, "skip", turn=0)
    session.answer(0, "unsure", turn=1)
    assert [doubt.wrong for doubt in session.doubts_left()] == [0.8, pytest.approx(0.2)]


def test_a_review_continues_from_its_journal_and_does_not_ask_twice():
    journal = MemoryJournal()
    session = reviewing(journal=journal)
    label(session, "eel")
    label(session, "pike")
    session.undo(turn=session.turn)
    session.answer(0, "unsure", turn=session.turn)
    again = reviewing(journal=journal)
    assert state(again) == state(session)
    assert again.current == session.current == Shown(4, "doubtful")


def test_a_review_and_a_labeling_session_share_a_journal():
    journal = MemoryJournal()
    session = reviewing(journal=journal)
    label(session, "pike")
    session.answer(0, "skip", turn=1)
    session.answer(4, "unsure", turn=2)
    session.undo(turn=3)
    after = LabelingSession(GIVEN, journal, order="file", classes=["pike"])
    assert [label(after, "carp"), after.current] == [3, None]
    assert after.labels == ["eel", "carp", "pike", "carp", "carp", "eel"]
    assert reviewing(journal=journal).current.row == 4


def test_labels_that_an_earlier_session_has_reviewed_are_not_shown():
    session = reviewing(reviewed={2: "carp"})
    assert [label(session) for _ in range(2)] == [0, 4]
    assert session.doubts_left() == []


def test_accuracy_is_measured_against_the_labels_before_the_review():
    """Corrected labels agree with the model that found them, and would flatter it."""
    session = reviewing(reviewed={1: "eel", 5: "trout"}, biased=[4])
    label(session, "pike")
    label(session, "eel")
    task = session.task()[1]
    assert task["codes"].tolist() == [1, 0, 2, -1, 0, 1]
    assert task["measured_codes"].tolist() == [1, 1, 1, -1, 0, 3]
    assert session.representative_rows() == [0, 1, 2, 5]
    assert session.has_corrections


def test_confirmed_labels_are_no_corrections():
    session = reviewing()
    label(session, "eel")
    assert not session.has_corrections


def test_the_second_review_of_a_label_in_another_tab_is_refused():
    session = reviewing()
    label(session, "pike")
    with pytest.raises(StaleAnswer, match="Row 3 was labeled 'pike' in another tab"):
        session.answer(2, "label", "eel", turn=0)
    session.answer(2, "label", "eel", turn=0, change=True)
    assert session.labels == GIVEN
    assert [answer.outcome for answer in session.answers] == ["confirmed"]
