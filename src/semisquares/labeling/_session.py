"""A labeling session: which row to show, and what was answered.

The state is a function of the journal's records, so a session that is opened again continues where
it ended. Every fifth row is drawn at random: labels of rows that were chosen because they are
uncertain say little about all rows, and accuracy is measured on the random ones. These are the
first rows of a random permutation of the rows without a label. A row of that beginning which was
suggested before counts as one of them, so that they are a uniform sample.

The order "doubtful" reviews labels instead: it shows rows whose label the model contradicts. An
answer confirms or corrects the label, and does not change how the row was chosen. Accuracy is
measured against the labels before the review: only labels that contradict the model are reviewed,
so corrected labels would flatter it, and without these rows it would never be wrong.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .._utils.errors import UserError
from ._journal import MemoryJournal
from ._reviewing import DoubtfulLabels
from ._updates import AccuracyEstimate, Guess, Update, codes_of

__all__ = [
    "DOUBTFUL",
    "ORDERS",
    "Answer",
    "Doubt",
    "LabelingOutcome",
    "LabelingSession",
    "Shown",
    "StaleAnswer",
]

DOUBTFUL = "doubtful"
"""The order that reviews labels, and how the rows that it shows were drawn."""
ORDERS = ("suggested", "random", "file", DOUBTFUL)
RANDOM_EVERY = 5
"""One row of so many is drawn at random, in every order but "doubtful"."""
MOST_CHARACTERS = 200
"""Of the name of a class."""
MOST_IN_NOTE = 2_000
KINDS = ("label", "skip", "unsure")


class StaleAnswer(UserError):
    """An answer about a row that is not the current one; it was not stored."""


@dataclass(frozen=True)
class Shown:
    """A row that is to be labeled, or whose label is to be reviewed, and why it is shown."""

    row: int
    drawn: str
    """"suggested", "random", "file" or "doubtful"."""
    place: int | None = None
    """Of a row drawn at random: its place in the permutation."""

    @property
    def is_review(self) -> bool:
        """Whether the row has a label, which is to be confirmed or corrected."""
        return self.drawn == DOUBTFUL


@dataclass(frozen=True)
class Answer:
    """What was answered about a row."""

    shown: Shown
    kind: str
    """"label", "skip" (ask again at the end) or "unsure" (do not ask again)."""
    label: str | None = None
    note: str = ""
    before: str | None = None
    """The label that was reviewed, if the row had one."""

    @property
    def row(self) -> int:
        """The row that was shown."""
        return self.shown.row

    @property
    def is_review(self) -> bool:
        """Whether the answer is about the label that the row had."""
        return self.shown.is_review

    @property
    def outcome(self) -> str:
        """What it does: "label", "confirmed", "corrected", "skip" or "unsure"."""
        if self.kind != "label" or not self.is_review:
            return self.kind
        return "confirmed" if self.label == self.before else "corrected"


@dataclass(frozen=True)
class Doubt:
    """Why a label is doubtful, by a classifier that has not seen it."""

    likely: str
    """The most probable class."""
    given_probability: float
    likely_probability: float
    wrong: float
    """The probability that the label is wrong."""
    nearest: tuple[int, ...]
    """The nearest labeled rows, nearest first."""


@dataclass(frozen=True, eq=False)
class LabelingOutcome:
    """What a session adds to a table, by row."""

    labels: Mapping[int, str]
    drawn: Mapping[int, str]
    """How each of these rows was chosen."""
    notes: Mapping[int, str]
    n_records: int
    """Of the journal at this moment."""
    reviewed: Mapping[int, str] = field(default_factory=dict)
    """The labels that were confirmed or corrected, as they were before."""


class LabelingSession:
    """Ask for labels row by row; safe to use from several threads.

    Parameters
    ----------
    given : sequence of str or None
        The label that each row has already.
    journal : MemoryJournal
        Where answers are stored; those that are in it are taken over.
    classes : sequence of str
        Classes besides those of `given`.
    order : {"suggested", "random", "file", "doubtful"}, default="suggested"
        The order of the rows; "doubtful" reviews labels, and the others ask for missing ones.
    seed : int, default=0
        Of the permutation.
    biased : collection of int
        Rows of `given` that were suggested in an earlier session.
    reviewed : mapping of int to str
        Rows of `given` that were reviewed in an earlier session, and their labels before that.
    check_class : callable
        Raises UserError if a text cannot be the name of a class.
    now : callable
        Returns the time as text, for the records.

    Examples
    --------
    >>> session = LabelingSession(["ripe", None, None, None], order="file")
    >>> session.current.row, session.current.drawn, session.turn
    (1, 'file', 0)
    >>> session.answer(1, "label", "unripe", turn=0)
    >>> session.current.row, session.labels
    (2, ['ripe', 'unripe', None, None])
    >>> session.undo(turn=1)
    >>> session.current.row, session.labels
    (1, ['ripe', None, None, None])
    """

    def __init__(
        self,
        given: Sequence[str | None],
        journal: MemoryJournal | None = None,
        *,
        classes: Sequence[str] = (),
        order: str = "suggested",
        seed: int = 0,
        biased: Sequence[int] = (),
        reviewed: Mapping[int, str] | None = None,
        check_class: Callable[[str], None] = lambda name: None,
        now: Callable[[], str] = lambda: datetime.now(UTC).isoformat(timespec="seconds"),
    ) -> None:
        self.lock = threading.RLock()
        """Hold it to see one state in several attributes."""
        self._given, self._order, self._now = list(given), order, now
        self._journal = MemoryJournal() if journal is None else journal
        self._given_counts = Counter(label for label in self._given if label is not None)
        self.classes = sorted({*self._given_counts, *classes}, key=_natural)
        self._check_class = check_class
        self._given_codes = codes_of(self._given, self.classes)  # later classes come behind
        known = np.flatnonzero(self._given_codes >= 0)
        self._unbiased = np.setdiff1d(known, np.array(biased, dtype=np.intp)).tolist()
        free = [row for row, label in enumerate(self._given) if label is None]
        self._permutation = np.random.default_rng(seed).permutation(np.array(free, dtype=np.intp))
        self._free = free
        self._reviewed_before = dict(reviewed or {})
        self.turn = 0
        """Changes with every answer: an answer has to name the turn that it belongs to."""
        self.answers: list[Answer] = []
        self.measurements: list[AccuracyEstimate] = []
        self.n_saved = 0
        """Answers, undone or not, that the table held when it was last saved."""
        self._again: list[Shown] = []
        self._queue: list[int] = []
        self._guesses: Mapping[int, Guess] = {}
        self._doubts: dict[int, Doubt] = {}
        self.last: tuple[Answer, Guess | None] | None = None
        """The latest answer, and what the model would have said."""
        self.update: Update | None = None
        self._n_content = 0
        for record in self._journal.records:
            self._apply(record)
        self.last = None
        # what was undone in a session of the other kind waits for the next one of that kind
        self._again = [shown for shown in self._again if shown.is_review == self.is_review]
        self.current = self._next()

    # -- what a page or a model asks for ------------------------------------------------------

    @property
    def labels(self) -> list[str | None]:
        """The label of each row, given before or in this session."""
        with self.lock:
            labels = list(self._given)
            for row, label in self._answered().items():
                labels[row] = label
            return labels

    def label_of(self, row: int) -> str | None:
        """Return the label of a row, given before or in this session."""
        with self.lock:
            return self._answered().get(row, self._given[row])

    @property
    def is_review(self) -> bool:
        """Whether the session shows rows that have a label, to confirm or correct it."""
        return self._order == DOUBTFUL

    @property
    def n_rows(self) -> int:
        """All rows of the table."""
        return len(self._given)

    @property
    def n_given(self) -> int:
        """Rows that had a label before the session."""
        return len(self._given) - len(self._free)

    @property
    def n_labeled(self) -> int:
        """Rows that have a label now."""
        with self.lock:
            return self.n_given + self.outcomes["label"]

    @property
    def outcomes(self) -> Counter[str]:
        """The number of answers by their outcome; see `Answer.outcome`."""
        with self.lock:
            return Counter(answer.outcome for answer in self.answers)

    @property
    def counts(self) -> dict[str, int]:
        """The number of labels of each class, in the order of `classes`."""
        with self.lock:
            answered = self._answered()
            here = Counter(answered.values())
            replaced = Counter(self._given[row] for row in answered)
            return {
                name: self._given_counts[name] + here[name] - replaced[name]
                for name in self.classes
            }

    @property
    def has_corrections(self) -> bool:
        """Whether a review has changed a label, here or in an earlier session."""
        with self.lock:
            labels = self._answered()
            before = self._labels_before().items()
            return any(labels.get(row, self._given[row]) != label for row, label in before)

    @property
    def guess(self) -> Guess | None:
        """What the model says about the current row."""
        with self.lock:
            return None if self.current is None else self._guesses.get(self.current.row)

    @property
    def reason(self) -> str | None:
        """Why the current row was suggested: one of `Suggestions.reasons`."""
        with self.lock:
            if self.update is None or self.current is None or self.current.drawn != "suggested":
                return None
            return self.update.reasons.get(self.current.row)

    @property
    def doubt(self) -> Doubt | None:
        """Why the label of the current row is doubtful."""
        with self.lock:
            if self.current is None or not self.current.is_review:
                return None
            return self._doubts.get(self.current.row)

    def doubts_left(self) -> list[Doubt]:
        """Return the doubts that nobody has reviewed, also those of skipped rows."""
        with self.lock:
            reviewed = self._reviewed(and_skipped=False)
            left = [row for row in self._queue if row not in reviewed] if self.is_review else []
            return [self._doubts[row] for row in left]

    @property
    def n_records(self) -> int:
        """Answers, undone or not, and new classes that the journal holds."""
        with self.lock:
            return self._n_content

    def random_rows(self) -> list[int]:
        """Return the labeled rows that were drawn at random, in this session."""
        with self.lock:
            labeled = {answer.row for answer in self.answers if answer.outcome == "label"}
            drawn = self._permutation[: self._n_drawn()].tolist()
            return [row for row in drawn if row in labeled]

    def representative_rows(self) -> list[int]:
        """Return the labeled rows on which accuracy is measured: random ones, and earlier ones."""
        with self.lock:
            return [*self._unbiased, *self.random_rows()]

    def upcoming(self) -> list[int]:
        """Return rows that will be shown soon, unless the suggestions change."""
        with self.lock:
            if self.is_review:
                return []  # the evidence has the guess
            start = self._n_drawn()
            soon = self._permutation[start : start + 2 * RANDOM_EVERY].tolist()
            current = [] if self.current is None else [self.current.row]
            return [*current, *self._queue, *soon]

    # -- what changes the state ---------------------------------------------------------------

    def answer(
        self,
        row: int,
        kind: str,
        label: str | None = None,
        *,
        turn: int,
        note: str = "",
        change: bool = False,
    ) -> None:
        """Store an answer, and go on to the next row.

        Parameters
        ----------
        row : int
        kind : {"label", "skip", "unsure"}
        label : str, optional
            The class, if the kind is "label"; a new one is added to the classes.
        turn : int
            The `turn` at which the row was shown.
        note : str
        change : bool, default=False
            Replace the answer of a row that was answered before.

        Raises
        ------
        StaleAnswer
            If another row is current now.
        UserError
            If the answer makes no sense, or cannot be written.
        """
        with self.lock:
            label = self._check(kind, label, note)
            before = self._answer_of(row)
            if change and before is not None:
                shown = before.shown
            else:
                shown = self._expect(row, turn, label)
            self._store(
                {
                    "kind": kind,
                    "row": shown.row,
                    "label": label,
                    "note": note,
                    "drawn": shown.drawn,
                    "place": shown.place,
                    "time": self._now(),
                }
            )
            if self.current is None or shown.row == self.current.row:
                self.current = self._next()

    def undo(self, *, turn: int) -> None:
        """Take back the latest answer, and show its row again."""
        with self.lock:
            if turn != self.turn:
                raise StaleAnswer(
                    "Something was answered in another tab in between, so nothing was taken back; "
                    "look at the latest answer, and undo again."
                )
            if not self.answers:
                raise UserError("There is no answer to take back; label a row first.")
            if self.current is not None:
                self._again.append(self.current)
            row = self.answers[-1].row
            self._store({"kind": "undo", "row": row, "time": self._now()})
            self.current = self._next()

    def add_class(self, name: str) -> None:
        """Add a class."""
        with self.lock:
            name = self._named(name)
            if name in self.classes:
                raise UserError(f"There is a class {name!r} already; choose it, or another name.")
            self._store({"kind": "class", "name": name, "time": self._now()})

    def mark_saved(self, n_records: int) -> None:
        """Store that the table holds the answers that were there at `n_records`."""
        with self.lock:
            self._store({"kind": "saved", "records": n_records, "time": self._now()})

    def install(self, update: Update) -> None:
        """Take over what was learned from the labels of a moment ago."""
        with self.lock:
            self.update = update
            if not self.is_review:
                self._queue = [int(row) for row in update.suggested]
            self._guesses = update.guesses
            if update.doubtful is not None:
                self._install_doubts(update.doubtful)
            found = update.measurement
            if found is not None and (not self.measurements or self.measurements[-1] != found):
                self._store({"kind": "measured", **found.as_dict()})

    @property
    def is_saved(self) -> bool:
        """Whether the table was saved after the last answer, or there is none."""
        with self.lock:
            return self.n_records == self.n_saved

    def _install_doubts(self, found: DoubtfulLabels) -> None:
        """Take over doubts; those of rows that are not doubtful any more are kept, too."""
        doubts = [
            Doubt(self.classes[likely], own, best, wrong, tuple(row for row in near if row >= 0))
            for likely, own, best, wrong, near in zip(
                found.likely.tolist(),
                found.given_probability.tolist(),
                found.likely_probability.tolist(),
                found.scores.tolist(),
                found.nearest.tolist(),
                strict=True,
            )
        ]
        shown = {} if self.current is None else {self.current.row: self.doubt}
        rows = found.indices.tolist()
        self._doubts |= dict(zip(rows, doubts, strict=True))
        # evidence does not change while somebody looks at it
        self._doubts |= {row: doubt for row, doubt in shown.items() if doubt is not None}
        if self.is_review:
            self._queue = rows
            self.current = self._next() if self.current is None else self.current

    # -- inside -------------------------------------------------------------------------------

    def _check(self, kind: str, label: str | None, note: str) -> str | None:
        if kind not in KINDS:
            raise UserError(f"{kind!r} is not an answer; give label, skip or unsure.")
        if len(note) > MOST_IN_NOTE:
            raise UserError(
                f"The note has {len(note):,} characters, and {MOST_IN_NOTE:,} fit; shorten it."
            )
        if kind != "label":
            return None
        if label is None:
            raise UserError("The answer names no class; give one.")
        return label if label in self.classes else self._named(label)

    def _named(self, name: str) -> str:
        """Check the name of a new class."""
        name = _class_name(name)
        self._check_class(name)
        return name

    def _expect(self, row: int, turn: int, label: str | None) -> Shown:
        """Return the current row; StaleAnswer if the answer is about another one."""
        current, before = self.current, self._answer_of(row)
        if current is not None and (current.row, self.turn) == (row, turn):
            return current
        what = "Your answer" if label is None else f"Your answer {label!r}"
        if before is not None:
            given = {"skip": "skipped", "unsure": "marked as not sure"}.get(before.kind)
            done = f"labeled {before.label!r}" if given is None else given
            raise StaleAnswer(
                f"Row {row + 1:,} was {done} in another tab. {what} was not stored.",
                code="answered_elsewhere",
            )
        raise StaleAnswer(
            f"The page is not up to date: another row is current. {what} about row {row + 1:,} was "
            "not stored; give it again if the row is shown.",
            code="not_current",
        )

    def _answer_of(self, row: int) -> Answer | None:
        here = [answer for answer in self.answers if answer.is_review == self.is_review]
        return next((answer for answer in here if answer.row == row), None)

    def _answered(self) -> dict[int, str | None]:
        """Return the labels of rows about which there are answers."""
        return {
            answer.row: answer.label
            for answer in self.answers
            if answer.label is not None or not answer.is_review
        }

    def _reviewed(self, *, and_skipped: bool = True) -> set[int]:
        """Return the rows whose label was reviewed, here or in an earlier session."""
        here = [answer for answer in self.answers if answer.is_review]
        kept = {answer.row for answer in here if and_skipped or answer.kind != "skip"}
        return kept.union(self._reviewed_before)

    def _before(self, row: int) -> str | None:
        """Return the label of a row without what a review has made of it."""
        here = [one for one in self.answers if one.row == row and not one.is_review]
        return here[-1].label if here else self._given[row]

    def _store(self, record: Mapping[str, Any]) -> None:
        self._journal.append(record)
        self._apply(record)

    def _apply(self, record: Mapping[str, Any]) -> None:
        """Change the state as a record says."""
        kind = record["kind"]
        if kind == "class":
            self.classes.append(record["name"])
        elif kind == "measured":
            self.measurements.append(AccuracyEstimate.from_dict(record))
            return
        elif kind == "saved":
            self.n_saved = record["records"]
            return
        elif kind == "undo":
            undone = self.answers.pop()
            self._again.append(undone.shown)
            self.last = None
        else:
            shown = Shown(record["row"], record["drawn"], record["place"])
            before = self._before(shown.row) if shown.is_review else None
            answer = Answer(shown, kind, record["label"], record["note"], before)
            if answer.label is not None and answer.label not in self.classes:
                self.classes.append(answer.label)
            # a review leaves the answer that it is about, so that undo brings it back
            same = (answer.row, answer.is_review)
            kept = [one for one in self.answers if (one.row, one.is_review) != same]
            self.answers = [*kept, answer]
            self._again = [one for one in self._again if one.row != answer.row]
            self.last = answer, self._guesses.get(answer.row)
        self._n_content += 1
        self.turn += 1

    def _n_drawn(self) -> int:
        """Return how many rows of the permutation have had their turn."""
        places = [answer.shown.place for answer in self.answers]
        return 1 + max((place for place in places if place is not None), default=-1)

    def _next(self) -> Shown | None:
        """Return the row to show, or None if all rows are answered."""
        if self._again:
            return self._again.pop()
        if self.is_review:
            return self._next_doubtful()
        answers = [answer for answer in self.answers if not answer.is_review]
        answered = {answer.row for answer in answers}
        if len(answered) == len(self._free):
            skipped = [answer.shown for answer in answers if answer.kind == "skip"]
            return skipped[0] if skipped else None
        is_random = self._order == "random" or len(answers) % RANDOM_EVERY == RANDOM_EVERY - 1
        if not is_random and self._order == "file":
            return Shown(next(row for row in self._free if row not in answered), "file")
        if not is_random:
            for row in self._queue:
                if row not in answered and self._given[row] is None:
                    return Shown(row, "suggested")
        return self._draw(answered)

    def _next_doubtful(self) -> Shown | None:
        """Return the row with the most doubtful label; skipped ones come last."""
        reviewed = self._reviewed()
        for row in self._queue:
            if row not in reviewed and self.label_of(row) is not None:
                return Shown(row, DOUBTFUL)
        here = [answer for answer in self.answers if answer.is_review]
        return next((answer.shown for answer in here if answer.kind == "skip"), None)

    def _draw(self, answered: set[int]) -> Shown | None:
        """Draw a row at random."""
        start = self._n_drawn()
        for place in range(start, len(self._permutation)):
            if (row := int(self._permutation[place])) not in answered:
                return Shown(row, "random", place)
        # undone answers may leave rows before the last one that was drawn
        return next(
            Shown(int(row), "random", place)
            for place, row in enumerate(self._permutation)
            if int(row) not in answered
        )

    def drawn(self) -> dict[int, str]:
        """Return how each row that was labeled in this session was chosen."""
        with self.lock:
            at_random = set(self.random_rows())
            return {
                answer.row: "random" if answer.row in at_random else answer.shown.drawn
                for answer in self.answers
                if answer.outcome == "label"
            }

    def notes(self) -> dict[int, str]:
        """Return the notes of this session by row; rows of which one was not sure have one."""
        with self.lock:
            found: dict[int, list[str]] = {}
            for answer in self.answers:
                parts = ["not sure"] * (answer.kind == "unsure") + [answer.note] * bool(answer.note)
                if parts:
                    found.setdefault(answer.row, []).append(": ".join(parts))
            return {row: "; ".join(texts) for row, texts in found.items()}

    def outcome(self) -> LabelingOutcome:
        """Return all that is written into the table, of one moment."""
        with self.lock:
            labels = {
                row: label
                for row, label in self._answered().items()
                if label not in (None, self._given[row])  # a confirmed cell stays as it is
            }
            reviewed = self._labels_reviewed()
            return LabelingOutcome(labels, self.drawn(), self.notes(), self._n_content, reviewed)

    def task(self) -> tuple[int, dict[str, Any]]:
        """Return the turn, and the arguments of `find_update` at this moment."""
        with self.lock:
            codes = self._given_codes.copy()
            places = {name: k for k, name in enumerate(self.classes)}
            for row, label in self._answered().items():
                codes[row] = -1 if label is None else places[label]
            measured = codes.copy()
            for row, label in self._labels_before().items():
                measured[row] = places.get(label, len(places))  # a class that was corrected away
            needs_doubts = self.is_review or (self.current is not None and self.current.is_review)
            return self.turn, {
                "codes": codes,
                "classes": list(self.classes),
                "representative": self.representative_rows(),
                "upcoming": self.upcoming(),
                "measured_codes": measured,
                "with_doubts": needs_doubts,
            }

    def _labels_reviewed(self) -> dict[int, str]:
        """Return the labels that were confirmed or corrected in this session, as they were."""
        return {
            answer.row: answer.before
            for answer in self.answers
            if answer.before is not None and answer.label is not None
        }

    def _labels_before(self) -> dict[int, str]:
        """Return the labels of reviewed rows as they were before the first review."""
        return self._labels_reviewed() | self._reviewed_before


def _class_name(name: str) -> str:
    """Check the name of a new class."""
    name = name.strip()
    if not name:
        raise UserError("The name of the class is empty; type one.")
    if len(name) > MOST_CHARACTERS:
        raise UserError(
            f"The name of the class has {len(name):,} characters, and {MOST_CHARACTERS} fit; "
            "shorten it."
        )
    if not name.isprintable():
        raise UserError("The name of the class holds a line end or a control character; remove it.")
    return name


def _natural(name: str) -> tuple[int, float, str]:
    """Sort numbers by their values, before texts."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
