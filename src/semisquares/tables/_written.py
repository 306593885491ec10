"""The columns that commands write into a table: labels, predictions, suggested rows and doubts.

If the table comes back with them, they are not used as features, as they give the labels away.
"""

from __future__ import annotations

from collections.abc import Sequence


def marker_column(target: str) -> str:
    """Return the name of the column that marks the labels which a model has filled in.

    Examples
    --------
    >>> marker_column("ripe")
    'ripe_filled'
    """
    return f"{target}_filled"


def drawn_column(target: str) -> str:
    """Return the name of the column that says how the rows to label were chosen.

    Examples
    --------
    >>> drawn_column("ripe"), note_column("ripe")
    ('ripe_drawn', 'ripe_note')
    """
    return f"{target}_drawn"


def note_column(target: str) -> str:
    """Return the name of the column with notes about labels."""
    return f"{target}_note"


def reviewed_column(target: str) -> str:
    """Return the name of the column with labels as they were before they were reviewed.

    Examples
    --------
    >>> reviewed_column("ripe")
    'ripe_reviewed'
    """
    return f"{target}_reviewed"


def labeling_among(columns: Sequence[str], target: str) -> dict[str, str]:
    """Find the columns that a labeling session has written, and say why they are not features.

    Examples
    --------
    >>> list(labeling_among(["age", "ripe_drawn", "ripe_note"], "ripe"))
    ['ripe_drawn', 'ripe_note']
    >>> labeling_among(["age", "ripe_note"], "ripe")
    {}
    """
    if drawn_column(target) not in columns:
        return {}
    beside = {
        note_column(target): "it holds notes about the labels",
        reviewed_column(target): "it holds labels as they were before their review",
    }
    return {
        drawn_column(target): "it says how the rows to label were chosen",
        **{name: why for name, why in beside.items() if name in columns},
    }


def prediction_columns(
    target: str,
    classes: Sequence[str],
    *,
    soft_labels: bool = True,
    all_probabilities: bool = False,
) -> list[str]:
    """Return the names of the columns in which a model writes its predictions of a target.

    Parameters
    ----------
    target : str
    classes : sequence of str
    soft_labels : bool, default=True
        Whether the classifier has soft labels: other methods have probabilities instead.
    all_probabilities : bool, default=False
        Whether there is a column with the probability of each class.

    Examples
    --------
    >>> prediction_columns("ripe", ["no", "yes"])
    ['ripe_predicted', 'ripe_probability', 'ripe_soft_yes', 'ripe_decision_yes']
    >>> prediction_columns("ripe", ["no", "yes"], soft_labels=False)
    ['ripe_predicted', 'ripe_probability', 'ripe_decision_yes']
    """
    shown = classes[1:] if len(classes) == 2 else classes
    starts = _number_columns(target)[0 if soft_labels else 1 :]
    numbers = [f"{start}{name}" for start in starts for name in shown]
    sure = probability_columns(target, classes, all_probabilities=all_probabilities)
    return [f"{target}_predicted", *sure, *numbers]


def probability_columns(
    target: str, classes: Sequence[str], *, all_probabilities: bool = False
) -> list[str]:
    """Return the names of the columns with probabilities: of the predicted class, and of each.

    Examples
    --------
    >>> probability_columns("ripe", ["no", "yes"], all_probabilities=True)
    ['ripe_probability', 'ripe_probability_no', 'ripe_probability_yes']
    """
    name = f"{target}_probability"
    return [name, *(f"{name}_{one}" for one in classes if all_probabilities)]


def reason_columns(target: str, n_reasons: int) -> list[str]:
    """Return the names of the columns that say which columns moved a row, and by how much.

    Examples
    --------
    >>> reason_columns("ripe", 2)
    ['ripe_reason_1', 'ripe_change_1', 'ripe_reason_2', 'ripe_change_2']
    """
    numbers = range(1, n_reasons + 1)
    return [f"{start}{k}" for k in numbers for start in _reason_starts(target)]


def suggestion_columns(target: str) -> list[str]:
    """Return the names of the columns that say which rows were suggested, and why.

    Examples
    --------
    >>> suggestion_columns("ripe")
    ['ripe_row', 'ripe_reason']
    """
    return [f"{target}_row", f"{target}_reason"]


def suggestions_among(columns: Sequence[str], target: str) -> list[str]:
    """Find the columns of suggested rows; a single one of them may be anything.

    Examples
    --------
    >>> suggestions_among(["age", "ripe_row", "ripe_reason"], "ripe")
    ['ripe_row', 'ripe_reason']
    >>> suggestions_among(["age", "ripe_row"], "ripe")
    []
    """
    names = suggestion_columns(target)
    return names if set(names) <= set(columns) else []


def review_columns(target: str) -> list[str]:
    """Return the names of the columns in which a review writes why it doubts a label.

    Examples
    --------
    >>> review_columns("ripe")[:3]
    ['ripe_row', 'ripe_predicted', 'ripe_probability']
    """
    probability = f"{target}_probability"
    first = [f"{target}_row", f"{target}_predicted", probability, f"{probability}_given"]
    return [*first, f"{target}_doubt", f"{target}_nearest"]


def predictions_among(columns: Sequence[str], target: str) -> list[str]:
    """Find the columns that a model has written, by the names of the functions above.

    The model may have had other classes than the labels have now, so any class name will do. But a
    column "drink_soft_cola" is a prediction of "drink" only if there is a second such column, and
    "rain_probability" only beside labels that were predicted or filled in, or decision values.
    Reasons come in pairs, too: "drink_reason_1" with "drink_change_1". Columns of a review are
    recognised if all of them are there.

    Examples
    --------
    >>> predictions_among(["age", "ripe_predicted", "ripe_soft_yes", "ripe_decision_yes"], "ripe")
    ['ripe_predicted', 'ripe_soft_yes', 'ripe_decision_yes']
    >>> predictions_among(["ripe_filled", "ripe_probability"], "ripe")
    ['ripe_probability']
    >>> predictions_among(["ripe_probability", "ripe_decision_yes"], "ripe")
    ['ripe_probability', 'ripe_decision_yes']
    >>> predictions_among(["drink_soft_cola", "drink_probability"], "drink")
    []
    >>> predictions_among(["ripe_reason_1", "ripe_change_1", "ripe_change_x"], "ripe")
    ['ripe_reason_1', 'ripe_change_1']
    >>> predictions_among(["age", *review_columns("ripe")], "ripe") == review_columns("ripe")
    True
    """
    label, (soft, decision) = f"{target}_predicted", _number_columns(target)
    probability = f"{target}_probability"
    there = set(columns)
    pairs = {
        name
        for name in columns
        if name.startswith(soft) and decision + name.removeprefix(soft) in there
    }
    reason, change = _reason_starts(target)
    numbers = {name.removeprefix(reason) for name in columns if name.startswith(reason)}
    numbers = {k for k in numbers if k.isdecimal() and change + k in there}
    reasons = {start + k for k in numbers for start in (reason, change)}
    reviewed = review_columns(target) if there.issuperset(review_columns(target)) else []
    sure = bool(pairs) or not there.isdisjoint((label, marker_column(target)))
    # methods without soft labels write probabilities and decision values
    beside = probability in there and any(name.startswith(decision) for name in columns)

    def written(name: str) -> bool:
        if name == probability or name.startswith(f"{probability}_"):
            return sure or beside
        if name.startswith(soft):
            return label in there or name in pairs
        if name.startswith(decision):
            return label in there or beside or soft + name.removeprefix(decision) in there
        return name == label or name in reasons or name in reviewed

    return [name for name in columns if written(name)]


def _number_columns(target: str) -> tuple[str, str]:
    """Return the prefixes of columns with soft labels and with decision values."""
    return f"{target}_soft_", f"{target}_decision_"


def _reason_starts(target: str) -> tuple[str, str]:
    """Return the prefixes of columns with reasons and with their changes."""
    return f"{target}_reason_", f"{target}_change_"


def filled_note(target: str, n_labels: int, n_filled: int) -> str:
    """Return a note that some of the labels were filled in by a model.

    Examples
    --------
    >>> print(filled_note("ripe", 80, 70))
    70 of the 80 labels in column 'ripe' were filled in by a model, as 'ripe_filled' says, and are
    taken as given; empty them to learn from the others alone.
    """
    verb = "was" if n_filled == 1 else "were"
    return (
        f"{n_filled:,} of the {n_labels:,} labels in column {target!r} {verb} filled in by a "
        f"model, as {marker_column(target)!r} says, and {'is' if n_filled == 1 else 'are'} taken "
        f"as given; empty {'it' if n_filled == 1 else 'them'} to learn from the others alone."
    )
