"""The functions of `semisquares.tables` refuse wrong arguments in one sentence."""

from __future__ import annotations

import io
import re
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from semisquares import LeastSquaresClassifier, tables
from semisquares.tables import TableError
from semisquares.tables.io import find, iter_chunks, split, text_types

FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0, 2.0, 8.0],
        "colour": list("uvuvuvuv"),
        "kind": ["a", "a", "a", "b", "b", "b", None, None],
    }
)
FEATURES = FRAME.drop(columns="kind")


@cache
def prepared():
    return tables.prepare(FRAME, "kind")


@cache
def model():
    return tables.fit_table(prepared(), method="soft", alpha=1.0, weight=1.0)


@cache
def comparison():
    return tables.compare_table(prepared(), folds=2, repeats=1, quick=True)


def nothing(*_):
    """Ignore progress."""


def stage(_):
    return nullcontext(nothing)


def fit_pipeline(**given):
    tables.make_table_pipeline(**given).fit(FEATURES, FRAME["kind"])


CALLS = {
    "find": (
        tables.find,
        lambda: {"table": "t.csv", "delimiter": ",", "encoding": "utf-8", "decimal": ".",
                 "stdin": io.BytesIO(b"a,b\n1,2\n")},
    ),
    "read": (
        tables.read,
        lambda: {"source": "t.csv", "missing": (), "columns": None, "text": (), "labels": ()},
    ),
    "iter_chunks": (
        lambda source, **given: list(iter_chunks(source, **given)),
        lambda: {"source": "t.csv", "missing": (), "rows": 3, "numbers": (), "labels": ()},
    ),
    "text_types": (
        text_types,
        lambda: {"source": "t.csv", "missing": (), "rows": 3, "labels": ()},
    ),
    "split": (
        split,
        lambda: {"source": "t.csv", "missing": (), "text": (), "labels": (), "n_bytes": 99,
                 "run": map, "folder": None},
    ),
    "prepare": (
        tables.prepare,
        lambda: {"frame": FRAME, "target": "kind", "group": None, "kinds": None, "drop": (),
                 "unlabeled": None, "source": "t"},
    ),
    "fit_table": (
        tables.fit_table,
        lambda: {"prepared": prepared(), "method": "hard", "alpha": 1.0, "weight": 1.0,
                 "missing": (), "folds": 2, "repeats": 1, "seed": 0, "jobs": 1, "progress": None,
                 "store_rows": None},
    ),
    "compare_table": (
        tables.compare_table,
        lambda: {"prepared": prepared(), "quick": True, "folds": 2, "repeats": 1, "seed": 0,
                 "jobs": 1, "stage": stage},
    ),
    "save": (tables.save, lambda: {"model": model(), "path": "new"}),
    "load": (tables.load, lambda: {"path": "m"}),
    "export_onnx": (
        tables.export_onnx,
        lambda: {"model": model(), "path": "m.onnx", "sample": None},
    ),
    "make_table_pipeline": (
        fit_pipeline,
        lambda: {"classifier": LeastSquaresClassifier(), "kinds": None, "drop": (),
                 "max_levels": 50},
    ),
    "TableEncoder": (
        lambda **given: tables.TableEncoder(**given).fit(FEATURES),
        lambda: {"kinds": None, "drop": (), "max_levels": 50},
    ),
    "TableEncoder.fit": (
        lambda X: tables.TableEncoder().fit(X),
        lambda: {"X": FEATURES},
    ),
    "TableEncoder.fit_transform": (
        lambda X: tables.TableEncoder().fit_transform(X),
        lambda: {"X": FEATURES},
    ),
    "TableEncoder.transform": (
        lambda X: prepared().encoder.transform(X),
        lambda: {"X": FEATURES},
    ),
    "TableEncoder.unseen": (
        lambda X: prepared().encoder.unseen(X),
        lambda: {"X": FEATURES},
    ),
    "TableModel": (
        tables.TableModel,
        lambda: {"encoder": model().encoder, "classifier": model().classifier, "target": "kind",
                 "classes": ("a", "b"),
                 "group": None, "unlabeled": None, "missing": (), "about": {}},
    ),
    "TableModel.predict": (lambda frame: model().predict(frame), lambda: {"frame": FRAME}),
    "TableModel.features": (lambda frame: model().features(frame), lambda: {"frame": FRAME}),
    "TableModel.with_missing": (lambda more: model().with_missing(more), lambda: {"more": ["?"]}),
    "TableModel.made_up_rows": (lambda n: model().made_up_rows(n), lambda: {"n": 5}),
    "TableModel.spelling": (lambda value: model().spelling(value), lambda: {"value": "a"}),
    "Comparison.rival": (lambda name: comparison().rival(name), lambda: {"name": "ridge"}),
}  # fmt: skip
"""For each function or method, a call that succeeds, and its arguments."""

ARGUMENTS = [(name, argument) for name, (_, given) in CALLS.items() for argument in given()]


def wrong_values():
    """Return values that people give by mistake; a few are right for some arguments."""
    return [
        None, 0, -1, 3, 10**30, 1.5, float("nan"), float("inf"), True, "", "x", "a\0b", b"x",
        [], ["x"], [1], [None], (), {}, {"x": 1}, {1: 2}, object(), int, FRAME, FRAME["size"],
        np.array([1.0]), np.array("x"), model(), prepared(), find("t.csv"),
    ]  # fmt: skip


def refusal(call, given):
    """Return the sentence with which a call is refused, "" if it succeeds."""
    try:
        call(**given)
    except TableError as error:
        return str(error)
    return ""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("t.csv", index=False)
    tables.save(model(), "m")


def test_every_public_name_is_called_here():
    values = {"TableError", "Comparison", "Prepared"}  # which users get and do not make
    assert set(tables.__all__) - values <= set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_valid_arguments_are_accepted(folder, name):
    call, given = CALLS[name]
    assert refusal(call, given()) == ""


# a class is callable, so it is called with arguments that it was not made for
CALLED = [("fit_table", "progress"), ("compare_table", "stage"), ("split", "run")]


@pytest.mark.parametrize(("name", "argument"), [pair for pair in ARGUMENTS if pair not in CALLED])
def test_whatever_is_wrong_is_refused_in_a_sentence(folder, name, argument):
    call, given = CALLS[name]
    said = [refusal(call, given() | {argument: value}) for value in wrong_values()]
    refused = [one for one in said if one]
    assert refused
    assert all(re.fullmatch(r"[^\n]*[^.\n][.?]", one) for one in refused)


@pytest.mark.parametrize(("name", "argument"), CALLED)
@pytest.mark.parametrize("value", [3, "x", [], object()], ids=["3", "x", "list", "object"])
def test_what_cannot_be_called_is_refused(folder, name, argument, value):
    call, given = CALLS[name]
    said = refusal(call, given() | {argument: value})
    assert re.match(rf"{argument} is (of type \w+|3|'x'); give a function", said)


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        (
            "fit_table",
            {"prepared": FRAME},
            "prepared is of type DataFrame; give what prepare(frame, target) returns.",
        ),
        ("fit_table", {"folds": 1}, "folds is 1; give a whole number from 2 on."),
        ("fit_table", {"folds": True}, "folds is True; give a whole number from 2 on."),
        ("fit_table", {"repeats": 0}, "repeats is 0; give a whole number from 1 to 1,000."),
        (
            "fit_table",
            {"repeats": 10**9},
            "repeats is 1000000000; give a whole number from 1 to 1,000.",
        ),
        ("fit_table", {"store_rows": 1}, "store_rows is 1; give True, False or None."),
        ("fit_table", {"seed": None}, "seed is None; give a whole number from 0 to 4,294,967,295."),
        (
            "fit_table",
            {"alpha": -1.0},
            "alpha is -1.0; give a finite number from 0 on, or None to have it chosen.",
        ),
        (
            "fit_table",
            {"weight": "1"},
            "weight is '1'; give a finite number from 0 on, or None to have it chosen.",
        ),
        (
            "compare_table",
            {"prepared": FRAME},
            "prepared is of type DataFrame; give what prepare(frame, target) returns.",
        ),
        ("compare_table", {"jobs": 0}, "jobs is 0; give a whole number from 1 to 1,000."),
        (
            "prepare",
            {"target": ["kind"]},
            "target is of type list; give the name of a column, a text.",
        ),
        (
            "prepare",
            {"frame": "t.csv"},
            "frame is of type str; pass a DataFrame with named columns.",
        ),
        (
            "prepare",
            {"kinds": ["size"]},
            "kinds is of type list; give a mapping from columns to kinds, or None.",
        ),
        ("prepare", {"drop": None}, "drop is None; give a list of columns to leave out."),
        (
            "save",
            {"model": None},
            "model is None; give a model that fit_table or load has returned.",
        ),
        ("save", {"path": None}, "path is None; give the path of a file, as a text or a Path."),
        ("load", {"path": 3}, "path is 3; give the path of a file, as a text or a Path."),
        ("read", {"source": None}, "source is None; give a path, or what find returns for it."),
        ("read", {"columns": []}, "columns is empty; give at least one column, or None for all."),
        ("find", {"encoding": 8}, "encoding is 8; give the name of an encoding, such as 'utf-8'."),
        (
            "Comparison.rival",
            {"name": "x"},
            "name is 'x'; give one of averaged, labeled_only, ridge, logistic.",
        ),
    ],
)
def test_the_sentence_names_the_argument_and_what_to_give(folder, name, wrong, words):
    call, given = CALLS[name]
    assert refusal(call, given() | wrong) == words


def test_a_table_is_read_by_its_path_as_well(folder):
    expected = tables.read(tables.find("t.csv"))
    for path in ("t.csv", Path("t.csv")):
        assert_frame_equal(tables.read(path), expected)
    assert_frame_equal(split(Path("t.csv"))[0].read(), expected)


def test_a_single_text_is_a_list_of_one(folder):
    Path("t.csv").write_text("a,b\n1,none\nnone,x\n")
    assert tables.read("t.csv", missing="none").isna().to_numpy().tolist() == [
        [False, True],
        [True, False],
    ]
    assert list(tables.read("t.csv", columns="b")) == ["b"]


def test_a_mark_of_missing_labels_may_be_a_number():
    frame = FRAME.assign(kind=[0, 0, 0, 1, 1, 1, -1, -1])
    found = tables.prepare(frame, "kind", unlabeled=-1)
    assert found.codes.tolist() == [0, 0, 0, 1, 1, 1, -1, -1]
    assert found.unlabeled == "-1"
