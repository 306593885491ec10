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
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import RidgeClassifier

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.families import Forest
from semisquares.representations import (
    GraphRepresentation,
    KernelRepresentation,
    LinearRepresentation,
)
from semisquares.tables import TableError, fit_table, make_table_pipeline, prepare
from semisquares.tables.models import TableModel, files, load, save
from semisquares.tables.models.files import dumps, loads
from support.plain_predictors import KINDS

CLASSIFIERS = (
    LeastSquaresClassifier(0.5),
    SoftLabelClassifier(0.5),
    HardLabelClassifier(0.5),
    SoftLabelClassifierCV([0.1, 10.0], cv=3),
)
ALL_KINDS = KINDS | {
    "averaged": lambda: AveragedClassifier(  # all members, of all families and representations
        ("least_squares", Forest(5), "logistic", "hard_labels"),
        representations=[
            LinearRepresentation(1),
            KernelRepresentation(n_landmarks=9),
            GraphRepresentation(1, n_rows=20),
            GraphRepresentation(1, n_rows=20, sharp=True),
        ],
        sharpness=0.0,
    )
}
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
def fitted_pipeline(place=1, n_classes=2, n_rows=200):
    frame = table(n_rows)
    pipeline = make_table_pipeline(sklearn.clone(CLASSIFIERS[place]))
    return pipeline.fit(frame, codes(frame, n_classes))


@functools.cache
def fitted(place=1, classes=("no", "yes"), n_rows=200):
    about = {"method": "soft", "metrics": {"error": 0.1}, "counts": [1, None, True]}
    pipeline = fitted_pipeline(place, len(classes), n_rows)
    details = {"group": "clinic", "missing": ("?",), "about": about}
    return TableModel.from_pipeline(pipeline, "sick", classes, **details)


@functools.cache
def fitted_kind(kind):
    """Fit a classifier of a kind that can be stored, on the labeled rows alone."""
    frame = table()
    known = codes(frame, 3)
    pipeline = make_table_pipeline(ALL_KINDS[kind]())
    pipeline.fit(frame[known >= 0], known[known >= 0])
    return TableModel.from_pipeline(pipeline, "sick", ("a", "b", "c"))


@functools.cache
def stored(kind=None):
    return dumps(fitted() if kind is None else fitted_kind(kind))


def content(kind=None):
    """Return the members of a good file, the document as an object, to be changed."""
    with ZipFile(io.BytesIO(stored(kind))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return members | {"model.json": json.loads(members["model.json"])}


def zipped(members):
    """Write members as an archive; the document as JSON, arrays as NumPy does."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            if name == "model.json" and not isinstance(data, str):
                data = json.dumps(data)
            archive.writestr(name, as_npy(data) if isinstance(data, np.ndarray) else data)
    return buffer.getvalue()


def as_npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)  # a pickle, if it is of objects
    return buffer.getvalue()


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
    pipeline = fitted_pipeline(1, len(classes))
    found = model.predict(frame)
    assert found.labels.tolist() == [classes[k] for k in pipeline.predict(frame)]
    assert set(map(type, found.labels.tolist())) == {type(classes[0])}
    np.testing.assert_array_equal(found.soft_labels, pipeline.predict_proba(frame))
    np.testing.assert_array_equal(found.decision, pipeline.decision_function(frame))


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
    known = [column.as_dict() for column in model.encoder.columns]
    assert [column.as_dict() for column in again.encoder.columns] == known
    assert again.encoder.features == model.encoder.features


def test_a_file_does_not_grow_with_the_rows_and_holds_arrays_as_arrays():
    data = dumps(fitted(1, ("no", "yes"), 20_000))
    assert len(data) < 30_000
    with ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = [np.load(io.BytesIO(archive.read(name))) for name in names]
    coef = fitted(1, ("no", "yes"), 20_000).classifier.coef
    assert sum(np.array_equal(array, coef) for array in arrays) == 1


def test_a_model_file_is_json_and_arrays_that_others_can_read():
    members = content()
    weights = members["model.json"]["classifier"]
    assert weights["type"] == "linear"
    coef, intercept = (
        np.load(io.BytesIO(members[weights[name]["$npy"]])) for name in ("coef", "intercept")
    )
    frame = table(20)
    X = fitted_pipeline()["encoder"].transform(frame)
    expected = fitted_pipeline().decision_function(frame)
    np.testing.assert_array_equal((X @ coef.T + intercept)[:, 0], expected)


def test_the_same_fit_gives_the_same_bytes(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    frame = table(40).assign(sick=["no", "yes", None, "no"] * 10)
    made = [
        dumps(fit_table(prepare(frame, "sick"), method="soft", alpha=1.0, weight=1.0, repeats=1))
        for _ in range(2)
    ]
    assert made[0] == made[1]
    assert loads(made[0]).about["created"] == "1970-01-02"


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_model_of_any_kind_predicts_the_same_bits(kind, tmp_path):
    model, frame = fitted_kind(kind), table(50, seed=1)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_same(again.predict(frame), model.predict(frame))
    assert again.classifier.type == kind
    assert dumps(again) == (tmp_path / "model").read_bytes()


def test_stored_models_of_all_kinds_predict_without_scikit_learn(tmp_path):
    for kind in KINDS:
        save(fitted_kind(kind), tmp_path / f"{kind}.model")
    table(5).to_parquet(tmp_path / "rows.parquet")
    script = """
import sys
import pandas as pd
from semisquares.tables import load
for kind in sys.argv[1:]:
    print(*load(f"{kind}.model").predict(pd.read_parquet("rows.parquet")).labels)
print(*{"sklearn", "scipy.optimize", "matplotlib", "skops"} & set(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, *KINDS],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    labels = [" ".join(fitted_kind(kind).predict(table(5)).labels) for kind in KINDS]
    assert done.stdout.splitlines() == [*labels, ""]


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
    assert re.search("damaged|empty|not a semisquares", refusal(good[: int(share * len(good))]))


def test_a_file_that_has_grown_is_noticed():
    assert "damaged" in refusal(stored() + b"\n")


def test_a_newer_format_asks_for_an_upgrade():
    future = signed(zipped({"of": "the future"}), 2)
    assert "newer semisquares (format 2, this one reads 1): upgrade" in refusal(future)


EVIL = {
    "methodcaller": operator.methodcaller("unlink"),
    "system": os.system,
    "partial": functools.partial(os.system, "touch evil"),
    "RidgeClassifier": RidgeClassifier(),
    "Generator": np.random.default_rng(),
    "upper": "a".upper,
}


class Touch:
    """It runs a command as soon as it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch evil",)


@pytest.mark.parametrize("name", [*EVIL, "Touch"])
def test_a_pickle_in_the_place_of_an_array_is_refused_and_not_opened(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changed = content()
    evil = np.array([EVIL.get(name, Touch())], dtype=object)
    changed["classifier/intercept.npy"] = evil
    refused = refusal(signed(zipped(changed)))
    assert "what no semisquares model does (classifier/intercept.npy of type object)" in refused
    np.load(io.BytesIO(as_npy(evil)), allow_pickle=True)
    assert (tmp_path / "evil").exists() == (name == "Touch")  # a pickle would have run it


@pytest.mark.parametrize("name", ["evil.pkl", "__init__.py", "classifier/more.npy"])
def test_a_member_that_no_model_has_is_refused_by_name(name):
    assert f"what no semisquares model does ({name})" in refusal(
        signed(zipped(content() | {name: b"os.system('touch evil')"}))
    )


@pytest.mark.parametrize(
    "name", ["os.system", "semisquares.estimators.soft.SoftLabelClassifier", "builtins.eval", ""]
)
def test_no_code_can_be_named(name):
    for place in ("classifier", "encoder"):
        changed = content()
        named = changed["model.json"][place]
        if place == "classifier":
            named["type"] = name
        else:
            named["encoders"][name] = named["encoders"].pop("number")
        assert "makes no sense" in refusal(signed(zipped(changed)))


@pytest.mark.parametrize("schema", ["", "{}", "[" * 100_000, '{"protocol": 99}', "1"])
def test_a_signed_file_of_nonsense_is_one_sentence(schema):
    assert "makes no sense" in refusal(signed(zipped({"model.json": schema})))


def change(**values):
    """Change entries of the document."""
    changed = content()
    changed["model.json"] |= values
    return changed


def without(name):
    changed = content()
    del changed["model.json"][name]
    return changed


def with_array(name, array):
    return content() | {f"classifier/{name}.npy": array}


FORGED = {
    "a list": lambda: {"model.json": [1, 2]},
    "no document": lambda: {k: v for k, v in content().items() if k != "model.json"},
    "no target": lambda: without("target"),
    "no classes": lambda: without("classes"),
    "a number for a target": lambda: change(target=3),
    "a text for a mapping": lambda: change(about="text"),
    "a list for a text": lambda: change(group=["a"]),
    "one class": lambda: change(classes=["no"]),
    "three classes": lambda: change(classes=["a", "b", "c"]),
    "the same class twice": lambda: change(classes=["a", "a"]),
    "one spelling of two": lambda: change(about={"spelling": ["a"]}),
    "a classifier for an encoder": lambda: change(encoder=content()["model.json"]["classifier"]),
    "a file that is not there": lambda: change(about={"$npy": "classifier/other.npy"}),
    "an array twice": lambda: change(about={"$npy": "classifier/coef.npy"}),
    "too many weights": lambda: with_array("coef", np.ones((1, 99))),
    "too few rows": lambda: with_array("coef", np.ones(3)),
    "a text for weights": lambda: with_array("coef", b"text"),
    "no weights": lambda: with_array("coef", as_npy(np.ones(3))[:-1]),
    "weights of another type": lambda: with_array("intercept", np.ones(1, dtype=np.float32)),
    "weights without end": lambda: with_array("intercept", np.array([np.nan])),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_signed_file_whose_parts_do_not_fit_is_one_sentence(name):
    assert "makes no sense" in refusal(signed(zipped(FORGED[name]())))


def wrong_arrays(array):
    """Return arrays that do not fit in the place of one: too short, too deep, of another type."""
    yield array[:-1]
    yield array[None]
    yield np.full(array.shape, np.nan)
    yield array.astype(np.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_array_anywhere_in_a_classifier_is_one_sentence(kind):
    good = content(kind)
    names = [name for name in good if name.startswith("classifier/")]
    assert names
    for name in names:
        for wrong in wrong_arrays(np.load(io.BytesIO(good[name]))):
            assert "makes no sense" in refusal(signed(zipped(good | {name: wrong}))), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_entry_anywhere_in_a_classifier_is_one_sentence(kind):
    def entries(value, way=()):
        for key in value if isinstance(value, dict) and "$npy" not in value else ():
            yield (*way, key)
            yield from entries(value[key], (*way, key))

    for *way, last in entries(content(kind)["model.json"]["classifier"]):
        changed = content(kind)
        place = functools.reduce(operator.getitem, way, changed["model.json"]["classifier"])
        removed = place.pop(last)
        for name in re.findall(r"'\$npy': '([^']+)'", str(removed)):
            del changed[name]
        assert "makes no sense" in refusal(signed(zipped(changed))), (*way, last)


LOST = {
    "its own child": ("left", 0, 0),
    "a cycle": ("right", 2, 0),
    "a child out of range": ("left", 0, 2**31 - 1),
    "a negative child": ("right", 0, -7),
    "one child": ("left", 0, -1),
    "a feature out of range": ("feature", 0, 99),
    "a negative feature": ("feature", 0, -2),
    "a threshold without end": ("threshold", 0, np.inf),
    "a threshold that is no number": ("threshold", 0, np.nan),
    "a value without end": ("value", 1, np.inf),
    "a tree that starts elsewhere": ("root", 0, 1),
    "a tree without nodes": ("root", 1, 0),
}


@pytest.mark.parametrize("kind", ["forest", "boosting", "averaged"])
@pytest.mark.parametrize("name", LOST)
def test_trees_in_which_rows_get_lost_are_one_sentence(kind, name):
    part, node, number = LOST[name]
    changed = content(kind)
    file = next(one for one in changed if one.endswith(f"trees/{part}.npy"))
    array = np.load(io.BytesIO(changed[file]))
    array[node] = number
    assert "makes no sense" in refusal(signed(zipped(changed | {file: array})))


def wrong_entries():
    """Yield the way to an entry of an averaged classifier, and a wrong value."""
    inside = content("averaged")["model.json"]["classifier"]
    for key, one in inside["representations"].items():
        for wrong in (-1, 9, "0", 0.5, None, True):
            yield ("representations", key, "power"), wrong
        yield ("representations", key, "name"), "another"
        yield ("representations", key, "type"), "os.system"
        for wrong in (0.0, -1.0, "1", None) if one["type"] == "kernel" else ():
            yield ("representations", key, "width"), wrong
        if one["type"] == "graph":
            yield ("representations", key, "graph"), "99"
    for key in inside["graphs"]:
        for wrong in (0, -1, 1.5, "7", None):
            yield ("graphs", key, "n_neighbors"), wrong
    for key in inside["parts"]:
        yield ("parts", key, "type"), "os.system"
        for wrong in (0, -1, 10**9, "1", None):
            yield ("parts", key, "n_members"), wrong
    yield ("members", "family"), ["forest"]
    yield ("members", "setting"), [1] * len(inside["members"]["setting"])


def test_a_wrong_entry_anywhere_in_an_averaged_classifier_is_one_sentence():
    ways = list(wrong_entries())
    assert {"graphs", "parts", "representations"} <= {way[0] for way, _ in ways}
    for (*way, last), wrong in ways:
        changed = content("averaged")
        place = functools.reduce(operator.getitem, way, changed["model.json"]["classifier"])
        place[last] = wrong
        assert "makes no sense" in refusal(signed(zipped(changed))), (*way, last, wrong)


def test_a_file_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 1_000)
    assert "unpacks to more" in refusal(stored())


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (b"", "empty"),
        (b"age,sick\n30,no\n", "a CSV table"),
        (b"hello", "text"),
        (zipped({"a.json": "{}"}), "a ZIP archive"),
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
@pytest.mark.parametrize("n_moments", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_a_writer_killed_at_any_moment_leaves_the_old_model_or_the_new_one(
    n_moments, tmp_path, monkeypatch
):
    found, killed = [], []
    old, new = stored(), dumps(replace(fitted(), target="new"))
    monkeypatch.setattr(files, "dumps", lambda model, write: new)
    n_calls = min(calls_of_saving(tmp_path / "model") for _ in range(3))
    for moment in np.linspace(1, 1.5 * n_calls, n_moments).astype(int):  # a child makes a few more
        path = tmp_path / str(moment) / "model"  # what the dead leave would cost more calls
        path.parent.mkdir()
        path.write_bytes(old)
        killed.append(save_in_a_child(path, moment))
        found.append([old, new].index(path.read_bytes()))
    assert sum(killed) >= n_moments / 2
    assert found == sorted(found)
    assert set(found) == {0, 1}


def test_names_of_columns_that_are_no_text_are_those_of_the_fit():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2))).assign(**{"2": ["a", "b"] * 20})
    model = fit_table(prepare(frame, "2"), method="ridge", alpha=1.0)
    assert len(model.predict(frame.set_axis([0, 1, 2], axis=1)).labels) == 40
