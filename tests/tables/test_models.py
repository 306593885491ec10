"""Models of tables predict in the user's words, and their files are whole, small and harmless."""

import functools
import io
import itertools
import json
import operator
import os
import pickle
import re
import signal
import struct
import sys
from dataclasses import replace
from hashlib import sha256
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from semisquares import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.tables import TableError, fit_table, make_table_pipeline, prepare
from semisquares.tables.models import TableModel, files, load, save
from semisquares.tables.models import _audit as audit
from semisquares.tables.models._audit import ALLOWED
from semisquares.tables.models.files import dumps, loads, version_note
from semisquares.tables.models.model import slim

skops = pytest.importorskip("skops.io")

CLASSIFIERS = (
    LeastSquaresClassifier(0.5),
    SoftLabelClassifier(0.5),
    HardLabelClassifier(0.5),
    SoftLabelClassifierCV([0.1, 10.0], cv=3),
)
CLASSES = (("no", "yes"), (3, 5, 12), (False, True), (0.5, 1.5), ("ä", "b", "c", "d"))


def table(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(50, 12, n_rows)),
            "smokes": rng.choice(["yes", "no", None], n_rows, p=[0.3, 0.6, 0.1]),
            "town": rng.choice(
                ["Ulm", "Bonn", "Rom", None, "Lyon"], n_rows, p=[0.4, 0.3, 0.2, 0.09, 0.01]
            ),
            "joined": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 900, n_rows), "D"),
        }
    )


def codes(frame, n_classes):
    """Labels that depend on the columns; three rows of four have none."""
    score = frame["age"].fillna(50.0) + 10.0 * (frame["town"] == "Ulm")
    found = pd.qcut(score.rank(method="first"), n_classes, labels=False).to_numpy()
    return np.where(np.arange(len(frame)) % 4 == 0, found, -1)


@functools.cache
def fitted(place=1, classes=("no", "yes"), n_rows=200):
    frame = table(n_rows)
    pipeline = make_table_pipeline(sklearn.clone(CLASSIFIERS[place]))
    pipeline.fit(frame, codes(frame, len(classes)))
    about = {"method": "soft", "metrics": {"error": 0.1}, "counts": [1, None, True]}
    return TableModel(pipeline, "sick", classes, group="clinic", missing=("?",), about=about)


@functools.cache
def stored():
    return dumps(fitted())


def content():
    """Return what a good file holds, to be changed."""
    return skops.loads(stored(), trusted=ALLOWED)


def signed(data, form=1):
    """Sign a ZIP archive as a model file is signed, by the words of the format's description."""
    comment = f"semisquares-model {form} sha256:".encode()
    data = data[:-2] + struct.pack("<H", len(comment) + 64) + comment
    return data + sha256(data).hexdigest().encode()


def refusal(data):
    """Return the sentence with which a file is refused, once it is seen to be one."""
    with pytest.raises(TableError) as caught:
        loads(data, name="my model")
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert not re.search(r"\n|\. ", sentence)
    return sentence


def assert_same(left, right):
    assert left.labels.tolist() == right.labels.tolist()
    assert left.labels.dtype == right.labels.dtype
    np.testing.assert_array_equal(left.soft_labels, right.soft_labels)
    np.testing.assert_array_equal(left.decision, right.decision)
    assert left.unseen == right.unseen


# -- predicting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", CLASSES)
def test_a_prediction_is_that_of_the_pipeline_in_the_users_classes(classes):
    model, frame = fitted(1, classes), table(50, seed=1)
    found = model.predict(frame)
    assert found.labels.tolist() == [classes[k] for k in model.pipeline.predict(frame)]
    assert set(map(type, found.labels.tolist())) == {type(classes[0])}
    np.testing.assert_array_equal(found.soft_labels, model.pipeline.predict_proba(frame))
    np.testing.assert_array_equal(found.decision, model.pipeline.decision_function(frame))


def test_target_and_group_may_be_there_and_are_not_looked_at():
    model, frame = fitted(), table(50, seed=1)
    more = frame.assign(sick="nonsense", clinic=np.arange(50))
    assert_same(model.predict(more), model.predict(frame))


@pytest.mark.parametrize("classes", CLASSES)
def test_no_rows_give_an_empty_prediction(classes):
    model, frame = fitted(1, classes), table(50)
    empty, some = model.predict(frame[:0]), model.predict(frame)
    for name in ("labels", "soft_labels", "decision"):
        assert getattr(empty, name).shape == (0, *getattr(some, name).shape[1:])
        assert getattr(empty, name).dtype == getattr(some, name).dtype


def test_a_missing_column_is_named_even_without_rows():
    with pytest.raises(TableError, match="'town'"):
        fitted().predict(table(5)[:0].drop(columns="town"))


def test_levels_that_the_fit_has_not_seen_are_counted():
    frame = table(6).assign(town=["Ulm", "Oslo", "Oslo", None, "Bonn", "Turin"])
    assert fitted().predict(frame).unseen == {"town": {"Oslo": 2, "Turin": 1}}


def test_a_class_is_spelled_as_in_the_table():
    model = replace(fitted(1, (False, True)), about={"spelling": ["N", "Y"]})
    assert [model.spelling(value) for value in model.classes] == ["N", "Y"]
    assert fitted(1, (3, 5, 12)).spelling(12) == "12"


# -- slim classifiers -----------------------------------------------------------------------------


@pytest.mark.parametrize("place", range(4))
def test_a_slim_classifier_predicts_alike_and_holds_nothing_of_its_rows(place):
    frame = table(4_000)
    X = make_table_pipeline()["encoder"].fit_transform(frame)
    whole = sklearn.clone(CLASSIFIERS[place]).fit(X, codes(frame, 3))
    thin = slim(whole)
    np.testing.assert_array_equal(thin.decision_function(X), whole.decision_function(X))
    np.testing.assert_array_equal(thin.predict(X), whole.predict(X))
    assert thin.get_params() == whole.get_params()
    assert thin.objective_ == whole.objective_
    assert len(pickle.dumps(thin)) < 3_000


def test_a_slim_classifier_keeps_what_was_chosen_and_certified():
    whole = fitted(3).classifier
    for name in ("alpha_", "unlabeled_weight_", "supervised_alpha_", "certificate_"):
        assert getattr(slim(whole), name) == getattr(whole, name)
        assert type(getattr(slim(whole), name)) is float


def test_parameters_that_are_no_plain_data_go_back_to_their_defaults():
    X, y = np.arange(8.0)[:, None], np.array([0, 1] * 4)
    whole = SoftLabelClassifierCV(np.logspace(-1, 1, 3), cv=StratifiedKFold(2)).fit(X, y)
    assert slim(whole).cv is None
    assert slim(whole).alphas == [0.1, 1.0, 10.0]
    started = SoftLabelClassifier(init=(np.ones((1, 1)), 0.0)).fit(X, y)
    assert slim(started).init == "supervised"


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "classes"),
    [(0, CLASSES[0]), *((1, c) for c in CLASSES), (2, CLASSES[1]), (3, CLASSES[1])],
)
def test_a_stored_model_predicts_the_same_bits(place, classes, tmp_path):
    model, frame = fitted(place, classes), table(50, seed=1)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_same(again.predict(frame), model.predict(frame))


def test_what_is_known_of_a_model_is_stored_with_it():
    model = replace(fitted(), unlabeled="none").with_missing(["-", "?"])
    again = loads(dumps(model))
    assert again.missing == ("?", "-")
    names = ("target", "classes", "group", "unlabeled", "missing")
    assert [getattr(again, n) for n in names] == [getattr(model, n) for n in names]
    assert again.about.pop("versions")["scikit-learn"] == sklearn.__version__
    assert again.about == model.about
    known = [column.as_dict() for column in model.encoder.columns_]
    assert [column.as_dict() for column in again.encoder.columns_] == known
    assert again.encoder.features_ == model.encoder.features_


def test_a_file_that_holds_what_is_known_as_a_mapping_is_read():
    older = content() | {"about": {"method": "hard"}}
    assert loads(signed(skops.dumps(older))).about == {"method": "hard"}


def test_a_file_does_not_grow_with_the_rows_and_holds_arrays_as_arrays():
    data = dumps(fitted(1, ("no", "yes"), 20_000))
    assert len(data) < 30_000
    with ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = [np.load(io.BytesIO(archive.read(name))) for name in names]
    coef = fitted(1, ("no", "yes"), 20_000).classifier.coef_
    assert sum(np.array_equal(array, coef) for array in arrays) == 1


def test_a_model_file_is_a_skops_file(tmp_path):
    save(fitted(), tmp_path / "model.skops")
    found = skops.load(tmp_path / "model.skops", trusted=ALLOWED)
    frame = table(20)
    np.testing.assert_array_equal(
        found["pipeline"].predict(frame), fitted().pipeline.predict(frame)
    )


def test_every_flipped_byte_is_noticed():
    good = stored()
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        with pytest.raises(TableError):
            loads(bytes(bad))
    assert "damaged" in refusal(bytes(bad))


@pytest.mark.parametrize("share", [0.0, 1e-4, 0.01, 0.3, 0.5, 0.9, 0.99, 0.996, 0.998, 0.9999])
def test_a_file_that_is_cut_short_is_noticed(share):
    good = stored()
    assert re.search("damaged|empty|no semisquares", refusal(good[: int(share * len(good))]))


def test_a_file_that_has_grown_is_noticed():
    assert "damaged" in refusal(stored() + b"\n")


def test_a_newer_format_asks_for_an_upgrade():
    unsigned = skops.dumps({"of": "the future"})
    assert "newer semisquares (format 2, this one reads 1): upgrade" in refusal(signed(unsigned, 2))


EVIL = {
    "methodcaller": operator.methodcaller("unlink"),
    "system": os.system,
    "partial": functools.partial(os.system, "touch evil"),
    "FunctionTransformer": FunctionTransformer(np.log),
    "RidgeClassifier": RidgeClassifier(),  # which skops would trust
    "OneHotEncoder": OneHotEncoder(),
    "Generator": np.random.default_rng(),
    "upper": "a".upper,
}


@pytest.mark.parametrize("name", EVIL)
def test_other_types_are_refused_by_name_and_not_made(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "checked_model", lambda found: pytest.fail("it was opened"))
    changed = content() | {"about": {"note": EVIL[name]}}
    assert name in refusal(signed(skops.dumps(changed)))
    assert not (tmp_path / "evil").exists()


def test_an_allowed_type_that_asks_to_be_called_is_refused():
    """A file can name any loader; those that call what it names have no place here."""
    schema = {
        "__class__": "SoftLabelClassifier",
        "__module__": "semisquares.estimators.soft",
        "__loader__": "ConstructorFromReduceNode",
        "content": {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"},
        "protocol": 2,
    }
    schema["content"]["content"] = []
    assert "what no semisquares model does" in refusal(signed(zipped(json.dumps(schema))))


def zipped(schema):
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", schema)
    return buffer.getvalue()


@pytest.mark.parametrize("schema", ["", "{}", "[" * 100_000, '{"protocol": 99}', "1"])
def test_a_signed_file_of_nonsense_is_one_sentence(schema):
    assert "makes no sense" in refusal(signed(zipped(schema)))


def change_pipeline(**attributes):
    found = content()
    vars(found["pipeline"].named_steps["classifier"]).update(attributes)
    return found


FORGED = {
    "a list": lambda: [1, 2],
    "no target": lambda: {k: v for k, v in content().items() if k != "target"},
    "a number for a target": lambda: content() | {"target": 3},
    "a text for a list": lambda: content() | {"about": "text"},
    "one class": lambda: content() | {"classes": ["no"]},
    "three classes": lambda: content() | {"classes": ["a", "b", "c"]},
    "the same class twice": lambda: content() | {"classes": ["a", "a"]},
    "one spelling of two": lambda: content() | {"about": {"spelling": ["a"]}},
    "an encoder for a pipeline": lambda: content() | {"pipeline": content()["pipeline"]["encoder"]},
    "too many weights": lambda: change_pipeline(coef_=np.ones((1, 99)), n_features_in_=99),
    "too few rows": lambda: change_pipeline(coef_=np.ones(3)),
    "a text for weights": lambda: change_pipeline(coef_="text"),
    "weights without end": lambda: change_pipeline(intercept_=np.array([np.nan])),
    "other classes": lambda: change_pipeline(classes_=np.array([1, 2])),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_signed_file_whose_parts_do_not_fit_is_one_sentence(name):
    assert "makes no sense" in refusal(signed(skops.dumps(FORGED[name]())))


def test_a_file_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(audit, "MOST_BYTES", 10_000)
    assert "unpacks to more" in refusal(stored())


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (b"", "empty"),
        (b"age,sick\n30,no\n", "a CSV table"),
        (b"hello", "text"),
        (zipped("{}"), "a ZIP archive"),
        (b"PAR1\x15\x04", "a Parquet table"),
        (b"ARROW1\x00\x00", "a Feather table"),
        (pickle.dumps([1]), "a pickle"),
        (b'{"a": 1}', "JSON"),
        (b"\x08\x08\x12", "an ONNX model"),
        (b"\x00\x01", "binary data"),
    ],
    ids=lambda one: one if isinstance(one, str) else "data",  # a ZIP archive has the time in it
)
def test_what_is_no_model_is_called_by_its_looks(data, looks, tmp_path):
    (tmp_path / "some.file").write_bytes(data)
    assert looks in refusal(data)
    with pytest.raises(TableError, match=r"some\.file"):
        load(tmp_path / "some.file")


def test_a_path_that_cannot_be_read_is_one_sentence(tmp_path, monkeypatch):
    with pytest.raises(TableError, match=r"There is no file .*model'; give"):
        load(tmp_path / "model")
    with pytest.raises(TableError, match="is a folder"):
        load(tmp_path)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(TableError, match=r"^Permission denied reading '.*model'; give a"):
        load(tmp_path / "model")


def test_a_path_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("kept")
    for path in (tmp_path, tmp_path / "file" / "model"):
        with pytest.raises(TableError, match=r"is (not )?a folder; give the model a path"):
            save(fitted(), path)
    assert (tmp_path / "file").read_text() == "kept"


def test_another_scikit_learn_is_said_in_words_and_not_warned_of(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.base.__version__", "1.2.3")
        data = dumps(replace(fitted(), about={"versions": {"scikit-learn": "1.2.3"}}))
    assert "scikit-learn 1.2.3 and is read with" in version_note(loads(data))
    assert version_note(loads(stored())) is None


def test_without_skops_the_way_to_install_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(TableError, match=re.escape("pip install 'semisquares[tables]'")):
        dumps(fitted())


def calls_of_saving(path, moment=0):
    """Save; die at a moment, counted in calls and returns; or give the number of them."""
    clock = itertools.count(1)
    sys.setprofile(lambda *_: next(clock) == moment and os.kill(os.getpid(), signal.SIGKILL))
    try:
        save(fitted(), path)
    finally:
        sys.setprofile(None)
    return next(clock)


def save_in_a_child(path, moment):
    """Save in a process that dies at a moment; return whether it did."""
    child = os.fork()
    if child == 0:
        try:
            calls_of_saving(path, moment)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_writer_killed_at_any_moment_leaves_the_old_model_or_the_new_one(tmp_path, monkeypatch):
    found, killed = [], []
    old, new = stored(), dumps(replace(fitted(), target="new"))
    monkeypatch.setattr(files, "dumps", lambda model, write: new)
    n_calls = min(calls_of_saving(tmp_path / "model") for _ in range(3))
    for moment in np.linspace(1, 2 * n_calls, 80).astype(int):  # a child has to make a few more
        path = tmp_path / str(moment) / "model"  # what the dead leave would cost more calls
        path.parent.mkdir()
        path.write_bytes(old)
        killed.append(save_in_a_child(path, moment))
        found.append([old, new].index(path.read_bytes()))
    assert sum(killed) >= 20
    assert found == sorted(found)
    assert set(found) == {0, 1}


def test_names_of_columns_that_are_no_text_are_those_of_the_fit():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2))).assign(**{"2": ["a", "b"] * 20})
    model = fit_table(prepare(frame, "2"), method="supervised", alpha=1.0)
    assert len(model.predict(frame.set_axis([0, 1, 2], axis=1)).labels) == 40
