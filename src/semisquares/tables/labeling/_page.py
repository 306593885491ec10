"""What the page of a labeling session shows, as JSON values; all sentences are made here."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ..._utils.errors import UserError
from ..._utils.words import counted, percent, points
from ...labeling._session import Answer, Doubt, LabelingSession, Shown
from ...labeling._updates import AccuracyEstimate, Guess, Updater, advise
from .._reviewing import LabelReview
from ..columns import Feature
from ._reading import LabelTable
from ._saving import save_labels

__all__ = ["KEYS", "LabelPage"]

KEYS = "123456789abdefghijklmopqrvwxyz"
"""The keys of the classes, in their order; c, n, s, t and u are those of other actions."""
LONGEST = 20_000
"""Characters of a cell that are shown."""
LONGEST_NEAR = 300
"""Characters of a cell of a row that is shown for comparison."""
FIRST_ORDER = 10
"""Labels from which on the columns that matter most come first."""
MOST_POINTS = 200
"""Of the curve."""
_WHY = {
    "suggested": "suggested",
    "random": "drawn at random, to measure the accuracy",
    "file": "next in the file",
    "doubtful": "the model doubts its label",
}


class LabelPage:
    """A session, its table and its model, for one page.

    Parameters
    ----------
    table : LabelTable
    session : LabelingSession
    updater : Updater
    out : str
        The file to write.
    name : str
        The name of the table.
    show_guess : bool, default=False
        Whether to show what the model says before the answer is given.
    """

    def __init__(
        self,
        table: LabelTable,
        session: LabelingSession,
        updater: Updater,
        *,
        out: str,
        name: str,
        show_guess: bool = False,
    ) -> None:
        self.table, self.session, self.updater = table, session, updater
        self.out, self.name, self.show_guess = out, name, show_guess
        self.finished = threading.Event()
        self._saving = threading.Lock()
        self._columns = list(table.shown)
        self._ordered_at = FIRST_ORDER // 2

    # -- what the page can do -----------------------------------------------------------------

    def answer(
        self, row: int, kind: str, label: str | None, *, turn: int, note: str, change: bool
    ) -> None:
        """Store an answer; parameters as in `LabelingSession.answer`."""
        self.session.answer(row, kind, label, turn=turn, note=note, change=change)
        self.updater.request()

    def undo(self, *, turn: int) -> None:
        """Take back the latest answer."""
        self.session.undo(turn=turn)
        self.updater.request()

    def add_class(self, name: str) -> None:
        """Add a class."""
        self.session.add_class(name)
        self.updater.request()

    def save(self) -> None:
        """Write the labels into a copy of the table."""
        with self._saving:
            outcome = self.session.outcome()
            save_labels(self.table, outcome, self.out)
            self.session.mark_saved(outcome.n_records)

    def finish(self) -> None:
        """Save, and end the session."""
        if not self.session.is_saved:
            self.save()
        self.finished.set()

    # -- what the page shows ------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that the page shows, as JSON values."""
        with self.session.lock:
            return self._state(self.session)

    def _state(self, session: LabelingSession) -> dict[str, Any]:
        measured = session.measurements
        gain = self.updater.gains[-1] if self.updater.gains else None
        return {
            "turn": session.turn,
            "name": self.name,
            "target": self.table.target,
            "title": _title(session),
            "question": _question(session, self.table.target),
            "end": self._end(),
            "out": self.out,
            "saved": session.is_saved,
            "can_undo": bool(session.answers),
            "row": None if session.current is None else self._row(session.current),
            "last": None if session.last is None else _last(*session.last),
            "classes": [
                {"name": name, "text": text, "count": count, "key": KEYS[k : k + 1]}
                for k, ((name, count), text) in enumerate(
                    zip(session.counts.items(), _choices(session), strict=True)
                )
            ],
            "progress": _review_progress(session) if session.is_review else _progress(session),
            "accuracy": _accuracy(measured, corrected=session.has_corrections),
            "curve": [one.as_dict() for one in _thinned(measured)],
            "gain": _left(session.doubts_left()) if session.is_review else _gain(gain),
            "advice": self._advice(),
        }

    def _row(self, shown: Shown) -> dict[str, Any]:
        reason = self.session.reason
        guess = self.session.guess if self.show_guess else None
        doubt = self.session.doubt
        nearest = () if doubt is None else doubt.nearest
        cells, near = self.table.cells(shown.row), [self.table.cells(row) for row in nearest]
        return {
            "index": shown.row,
            "title": f"Row {shown.row + 1:,} of {self.session.n_rows:,}",
            "drawn": shown.drawn,
            "why": _WHY[shown.drawn] + (f": {reason}" if reason else ""),
            "cells": [
                {
                    "name": name,
                    **_cut(cells[name], LONGEST),
                    "near": [_cut(one[name], LONGEST_NEAR) for one in near],
                }
                for name in self._ordered()
            ],
            "guess": None if guess is None else _guessed(guess),
            "review": self._review(shown, doubt) if shown.is_review else None,
        }

    def _review(self, shown: Shown, doubt: Doubt | None) -> dict[str, Any]:
        """Say which label a row has, and what speaks against it."""
        given = self.session.label_of(shown.row)
        facts = [("Label", str(given))]
        if doubt is not None:
            facts += [
                ("Likely label", doubt.likely),
                ("Probability that the label is wrong", _sure(doubt.wrong)),
                (
                    "Without this label, the model says",
                    f"{doubt.likely} {_sure(doubt.likely_probability)}, "
                    f"{given} {_sure(doubt.given_probability)}",
                ),
            ]
        return {
            "given": given,
            "facts": [{"name": name, "text": text} for name, text in facts],
            "note": _evidence_note(doubt, self.is_looking),
            "nearest": [
                {"title": f"Row {row + 1:,}", "label": self.session.label_of(row)}
                for row in (() if doubt is None else doubt.nearest)
            ],
        }

    @property
    def is_looking(self) -> bool:
        """Whether a model is being fitted to the latest answers."""
        return not self.updater.wait(0)

    def check_classes(self) -> None:
        """Raise UserError if the labels cannot be reviewed."""
        if sum(count > 0 for count in self.session.counts.values()) < 2:
            raise UserError(
                f"The labels in {self.table.target!r} are of fewer than two classes, and a "
                "classifier needs two; label rows of another class first."
            )

    def nothing_to_review(self) -> str:
        """Say why there is no label to review, or ""; UserError if there is no model."""
        update = self.session.update
        if self.session.current is not None or update is None:
            return ""
        found = update.doubtful
        if found is None:
            raise UserError(f"No model could be fitted: {update.failure}")
        numbers = (found.n_labels, found.n_expected, *found.interval)
        return LabelReview(self.table.target, (), *numbers, (), n_reviewed=len(found)).sentence

    def _end(self) -> dict[str, str]:
        """Say why no row is shown."""
        if not self.session.is_review:
            title, text = "All rows are answered", "Save the table, and finish."
        elif self.is_looking:
            title, text = "Looking for more doubtful labels …", "The model learns your answers."
        else:
            title, text = "All doubtful labels are reviewed", "Save the table, and finish."
        return {"title": title, "text": text}

    def _ordered(self) -> list[str]:
        """Return the columns, those that matter most first.

        Their order changes only when the number of labels has doubled, so that people find them
        where they were.
        """
        update = self.session.update
        if update is None or update.strength is None or update.n_labels < 2 * self._ordered_at:
            return self._columns
        self._ordered_at = update.n_labels
        strength = update.strength.tolist()
        self._columns = order_columns(self.table.shown, self.table.features, strength)
        return self._columns

    def _advice(self) -> dict[str, str]:
        session = self.session
        update = session.update
        if update is not None and update.failure:
            return {"code": "failure", "text": f"No model could be fitted: {update.failure}"}
        if session.is_review:
            return _review_advice(session.doubts_left())
        found = advise(session.n_labeled, session.n_rows, session.counts, self.updater.gains)
        return {"code": found.code, "text": _ADVICE[found.code]}

    def summary(self) -> str:
        """Say what was answered and where it is, for the end of a session."""
        counts = self.session.outcomes
        reviewed = counts["confirmed"] + counts["corrected"]
        labeled = [f"{counted(counts['label'], 'row')} labeled"] * (
            counts["label"] > 0 or not reviewed
        )
        labels = [f"{counted(reviewed, 'label')} reviewed"] * (reviewed > 0)
        others = [f"{counts[kind]:,} {text}" for kind, text in _REVIEWS.items() if counts[kind]]
        found = ", ".join([*labeled, *labels, *others])
        return f"{found}: {self.out}"


def order_columns(
    names: Sequence[str], features: Sequence[Feature], strength: Sequence[float]
) -> list[str]:
    """Return columns by the strength of their features; those without any come last.

    Examples
    --------
    >>> features = [Feature("age", "age", 1.0, ""), Feature("sex = f", "sex", 1.0, "")]
    >>> order_columns(["id", "age", "sex"], features, [0.1, 0.7])
    ['sex', 'age', 'id']
    """
    best: dict[str, float] = {}
    for feature, value in zip(features, strength, strict=True):
        best[feature.column] = max(best.get(feature.column, 0.0), float(value))
    return sorted(names, key=lambda name: -best.get(name, -1.0))


_ADVICE = {
    "done": "All rows are labeled.",
    "classes": "Label rows of at least two classes; then a model can be fitted.",
    "early": "Go on: it is too early to tell how much more labels will bring.",
    "go_on": "Go on: more labels are worth it.",
    "stop": "You can stop: ten more labels are expected to change little.",
}


_OTHER_ANSWERS = {"skip": "skipped", "unsure": "not sure"}
_REVIEWS = {"confirmed": "confirmed", "corrected": "corrected", **_OTHER_ANSWERS}
FEW_WRONG = 0.5
"""If fewer wrong labels are expected among those left, reviewing more of them brings little."""


def _cut(text: str, longest: int) -> dict[str, str]:
    """Return the beginning of a cell, and how much is left out."""
    n = len(text) - longest
    return {"text": text[:longest], "more": counted(n, "more character") if n > 0 else ""}


def _title(session: LabelingSession) -> str:
    """Return the beginning of the title of the window."""
    if session.is_review:
        return f"{_n_reviewed(session):,} reviewed"
    return counted(session.n_labeled, "label")


def _question(session: LabelingSession, target: str) -> str:
    return f"is its {target} right?" if session.is_review else f"which {target}?"


def _choices(session: LabelingSession) -> list[str]:
    """Return what the answer with each class is called."""
    if session.current is None or not session.current.is_review:
        return session.classes
    given = session.label_of(session.current.row)
    return [f"Keep {name}" if name == given else f"Change to {name}" for name in session.classes]


def _sure(probability: float) -> str:
    return percent(probability, 0, never_zero=True)


def _evidence_note(doubt: Doubt | None, is_looking: bool) -> str:
    """Say why there is no evidence, or ""."""
    if doubt is not None:
        return ""
    if is_looking:
        return "The evidence is being computed."
    return "The model does not doubt this label any more."


def _n_reviewed(session: LabelingSession) -> int:
    return sum(answer.is_review and answer.kind != "skip" for answer in session.answers)


def _review_progress(session: LabelingSession) -> dict[str, Any]:
    reviewed, left = _n_reviewed(session), len(session.doubts_left())
    kinds = Counter(answer.outcome for answer in session.answers if answer.is_review)
    return {
        "done": reviewed,
        "all": reviewed + left,
        "text": f"{reviewed:,} of {counted(reviewed + left, 'doubtful label')} reviewed",
        "detail": ", ".join(
            f"{kinds[kind]:,} {text}" for kind, text in _REVIEWS.items() if kinds[kind]
        ),
    }


def _left(doubts: Sequence[Doubt]) -> dict[str, Any]:
    """Say how many of the labels that are left are probably wrong."""
    n = round(sum(doubt.wrong for doubt in doubts))
    wrong = f"; about {n:,} {'is' if n == 1 else 'are'} probably wrong" if n else ""
    return {"title": "Left to review", "text": counted(len(doubts), "label") + wrong}


def _review_advice(doubts: Sequence[Doubt]) -> dict[str, str]:
    if not doubts:
        return {"code": "done", "text": "All doubtful labels are reviewed."}
    if sum(doubt.wrong for doubt in doubts) < FEW_WRONG:
        return {"code": "stop", "text": "You can stop: probably none of these labels is wrong."}
    return {"code": "go_on", "text": "Go on: the most doubtful labels come first."}


def _guessed(guess: Guess) -> dict[str, Any]:
    return {"label": guess.label, "text": f"{guess.label} ({percent(guess.probability, 0)})"}


def _last(answer: Answer, guess: Guess | None) -> dict[str, Any]:
    """Say what was answered, and what the model would have said."""
    row = f"Row {answer.row + 1:,}"
    what = {
        **_OTHER_ANSWERS,
        "confirmed": f"{answer.label} confirmed",
        "corrected": f"{answer.before} corrected to {answer.label}",
    }.get(answer.outcome, answer.label)
    text = f"{row}: {what}."
    if answer.outcome == "label" and guess is not None:
        agrees = guess.label == answer.label
        sure = percent(guess.probability, 0)
        text += (
            f" The model guessed the same ({sure})."
            if agrees
            else f" The model guessed {guess.label} ({sure})."
        )
    return {"index": answer.row, "kind": answer.kind, "label": answer.label, "text": text}


def _progress(session: LabelingSession) -> dict[str, Any]:
    kinds = Counter(answer.outcome for answer in session.answers if not answer.is_review)
    parts = [f"{kinds['label']:,} here"]
    parts += [f"{session.n_given:,} before"] * (session.n_given > 0)
    parts += [f"{kinds[kind]:,} {text}" for kind, text in _OTHER_ANSWERS.items() if kinds[kind]]
    return {
        "done": session.n_labeled,
        "all": session.n_rows,
        "text": f"{session.n_labeled:,} of {session.n_rows:,} rows are labeled",
        "detail": ", ".join(parts),
    }


def _accuracy(measured: Sequence[AccuracyEstimate], *, corrected: bool) -> dict[str, Any]:
    if not measured:
        return {"text": "not yet known", "detail": "Rows that are drawn at random will tell."}
    latest = measured[-1]
    against = ", and compared with the labels before the review" if corrected else ""
    return {
        "text": f"{percent(latest.accuracy, 0)}",
        "detail": f"95 % interval: {percent(latest.low, 0)} to {percent(latest.high, 0)}, from "
        f"{counted(latest.n_measured, 'row')} that the model did not choose, each predicted "
        f"without its own label{against}",
    }


def _gain(gain: float | None) -> dict[str, Any]:
    title, least = "Ten more labels", 0.0005
    if gain is None:
        return {"title": title, "text": "not yet known"}
    text = f"about {points(gain)} points" if gain >= least else "less than 0.1 points"
    return {"title": title, "text": text}


def _thinned(measured: Sequence[AccuracyEstimate]) -> list[AccuracyEstimate]:
    """Return at most 200 points of a curve, with its last; one for each number of labels."""
    measured = [list(same)[-1] for _, same in groupby(measured, key=lambda one: one.n_labels)]
    if len(measured) <= MOST_POINTS:
        return list(measured)
    places = np.linspace(0, len(measured) - 1, MOST_POINTS).astype(int)
    return [measured[k] for k in places]
