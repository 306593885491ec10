"""What the page of a labeling session shows, as JSON values; all sentences are made here."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._utils.words import counted, percent, points
from ...labeling._session import Answer, LabelingSession, Shown
from ...labeling._updates import AccuracyEstimate, Guess, Updater, advise
from ..columns import Feature
from ._reading import LabelTable
from ._saving import save_labels

__all__ = ["KEYS", "LabelPage"]

KEYS = "123456789abdefghijklmopqrvwxyz"
"""The keys of the classes, in their order; c, n, s, t and u are those of other actions."""
LONGEST = 20_000
"""Characters of a cell that are shown."""
FIRST_ORDER = 10
"""Labels from which on the columns that matter most come first."""
MOST_POINTS = 200
"""Of the curve."""
_WHY = {
    "suggested": "suggested",
    "random": "drawn at random, to measure the accuracy",
    "file": "next in the file",
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
            "out": self.out,
            "saved": session.is_saved,
            "can_undo": bool(session.answers),
            "row": None if session.current is None else self._row(session.current),
            "last": None if session.last is None else _last(*session.last),
            "classes": [
                {"name": name, "count": count, "key": KEYS[k : k + 1]}
                for k, (name, count) in enumerate(session.counts.items())
            ],
            "progress": _progress(session),
            "accuracy": _accuracy(measured),
            "curve": [one.as_dict() for one in _thinned(measured)],
            "gain": _gain(gain),
            "advice": self._advice(),
        }

    def _row(self, shown: Shown) -> dict[str, Any]:
        reason = self.session.reason
        guess = self.session.guess if self.show_guess else None
        cells = self.table.cells(shown.row)
        return {
            "index": shown.row,
            "title": f"Row {shown.row + 1:,} of {self.session.n_rows:,}",
            "drawn": shown.drawn,
            "why": _WHY[shown.drawn] + (f": {reason}" if reason else ""),
            "cells": [
                {"name": name, "text": cells[name][:LONGEST], "more": _more(cells[name])}
                for name in self._ordered()
            ],
            "guess": None if guess is None else _guessed(guess),
        }

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
        found = advise(session.n_labeled, session.n_rows, session.counts, self.updater.gains)
        return {"code": found.code, "text": _ADVICE[found.code]}

    def summary(self) -> str:
        """Say what was answered and where it is, for the end of a session."""
        answers = self.session.answers
        n_labels = sum(answer.kind == "label" for answer in answers)
        kinds = {"skip": "skipped", "unsure": "not sure"}
        others = [
            f"{n:,} {words}"
            for kind, words in kinds.items()
            if (n := sum(answer.kind == kind for answer in answers))
        ]
        found = ", ".join([counted(n_labels, "row") + " labeled", *others])
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


def _more(text: str) -> str:
    n = len(text) - LONGEST
    return f"{counted(n, 'more character')}" if n > 0 else ""


def _guessed(guess: Guess) -> dict[str, Any]:
    return {"label": guess.label, "text": f"{guess.label} ({percent(guess.probability, 0)})"}


def _last(answer: Answer, guess: Guess | None) -> dict[str, Any]:
    """Say what was answered, and what the model would have said."""
    row = f"Row {answer.row + 1:,}"
    what = {"skip": "skipped", "unsure": "not sure"}.get(answer.kind, answer.label)
    text = f"{row}: {what}."
    if answer.kind == "label" and guess is not None:
        agrees = guess.label == answer.label
        sure = percent(guess.probability, 0)
        text += (
            f" The model guessed the same ({sure})."
            if agrees
            else f" The model guessed {guess.label} ({sure})."
        )
    return {"index": answer.row, "kind": answer.kind, "label": answer.label, "text": text}


def _progress(session: LabelingSession) -> dict[str, Any]:
    kinds = [answer.kind for answer in session.answers]
    here = kinds.count("label")
    parts = [f"{here:,} here"]
    parts += [f"{session.n_given:,} before"] * (session.n_given > 0)
    parts += [f"{n:,} skipped" for n in [kinds.count("skip")] if n]
    parts += [f"{n:,} not sure" for n in [kinds.count("unsure")] if n]
    return {
        "labeled": session.n_labeled,
        "rows": session.n_rows,
        "text": f"{session.n_labeled:,} of {session.n_rows:,} rows are labeled",
        "detail": ", ".join(parts),
    }


def _accuracy(measured: Sequence[AccuracyEstimate]) -> dict[str, Any]:
    if not measured:
        return {"text": "not yet known", "detail": "Rows that are drawn at random will tell."}
    latest = measured[-1]
    return {
        "text": f"{percent(latest.accuracy, 0)}",
        "detail": f"95 % interval: {percent(latest.low, 0)} to {percent(latest.high, 0)}, from "
        f"{counted(latest.n_measured, 'row')} that the model did not choose, each predicted "
        "without its own label",
    }


def _gain(gain: float | None) -> dict[str, Any]:
    if gain is None:
        return {"text": "not yet known"}
    least = 0.0005
    return {"text": f"about {points(gain)} points" if gain >= least else "less than 0.1 points"}


def _thinned(measured: Sequence[AccuracyEstimate]) -> list[AccuracyEstimate]:
    """Return at most 200 points of a curve, with its last."""
    if len(measured) <= MOST_POINTS:
        return list(measured)
    places = np.linspace(0, len(measured) - 1, MOST_POINTS).astype(int)
    return [measured[k] for k in places]
