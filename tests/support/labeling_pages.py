"""Labeling sessions of small tables, without a server."""

from pathlib import Path

import numpy as np
import pandas as pd

from semisquares import AveragedClassifier
from semisquares.labeling._journal import Journal
from semisquares.labeling._session import LabelingSession
from semisquares.labeling._updates import SameProcess, Updater
from semisquares.tables.io import find
from semisquares.tables.labeling._page import LabelPage
from semisquares.tables.labeling._reading import read_label_table

QUICK = AveragedClassifier("least_squares", representations=["linear"])


def fish(n_rows=60, n_labeled=0, seed=0):
    """Return a table of two well separated classes, and the true labels."""
    rng = np.random.default_rng(seed)
    is_eel = rng.random(n_rows) < 0.5
    truth = np.where(is_eel, "eel", "carp")
    frame = pd.DataFrame(
        {
            "tag": [f"F{i:04d}" for i in range(n_rows)],
            "noise": rng.normal(size=n_rows).round(3),
            "length": rng.normal(40 + 30 * is_eel, 6).round(1),
            "water": rng.choice(["river", "lake"], n_rows),
            "kind": np.where(np.arange(n_rows) < n_labeled, truth, None),
        }
    )
    return frame, truth


def write_doubtful_fish(path, n_rows=60, n_labeled=40, wrong=(3, 17, 20)):
    """Write such a table with some wrong labels to a CSV; return the true labels."""
    frame, truth = fish(n_rows, n_labeled)
    for row in wrong:
        frame.loc[row, "kind"] = "carp" if truth[row] == "eel" else "eel"
    frame.to_csv(path, index=False)
    return truth


def write_fish(path, *args, **options):
    """Write such a table to a CSV; return the true labels."""
    frame, truth = fish(*args, **options)
    frame.to_csv(path, index=False)
    return truth


def page_of(path, target="kind", *, out=None, order="file", show_guess=False, **reading):
    """Return the page of a session about a table; its journal is beside the output."""
    path = Path(path)
    out = str(path.with_name(f"labeled_{path.name}") if out is None else out)
    table = read_label_table(find(str(path)), target, **reading)
    session = LabelingSession(
        table.given,
        Journal(f"{out}.journal", table.about()),
        classes=reading.get("classes", ()),
        order=order,
        biased=table.biased,
        reviewed=table.reviewed,
        check_class=table.check_class,
    )
    updater = Updater(session, SameProcess(table.X, table.groups, QUICK))
    return LabelPage(table, session, updater, out=out, name=path.name, show_guess=show_guess)


def answer(page, kind="label", label=None, note="", change=False):
    """Answer the current row; return it."""
    row = page.session.current.row
    page.answer(row, kind, label, turn=page.session.turn, note=note, change=change)
    return row
