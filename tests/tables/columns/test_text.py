"""Free text becomes features that depend on all rows, but on nothing else, and hold no text."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from semisquares.cli.inspect import _features
from semisquares.representations._summary import hash_rows
from semisquares.tables import (
    TableEncoder,
    TableError,
    export_onnx,
    fit_table,
    load,
    prepare,
    save,
)
from semisquares.tables._chunked import prepare_chunks
from semisquares.tables._encoding import Encoding
from semisquares.tables._strengths import strengths
from semisquares.tables.columns import Feature, text
from semisquares.tables.columns.text import TextCounts, count_ngrams, learn_components, weigh
from semisquares.tables.io import find, read, split

WORDS = ("pump", "motor", "valve", "noisy", "sound", "worn", "leaking", "cracked", "seal", "wall")
BUCKETS = [153, 1073, 1094, 1751, 3115, 4092, 1150, 1535, 2073, 3629, 3726]


def texts(n, seed=0):
    """Return sentences, some of them missing and some of them repeated."""
    rng = np.random.default_rng(seed)
    found = [" ".join(rng.choice(WORDS, rng.integers(3, 7))) for _ in range(n)]
    return [None if k % 9 == 4 else found[k - k % 5 // 4] for k in range(n)]


def frame(n=120, seed=0):
    """Return a table in which a word of the remark decides about the label."""
    rows = pd.DataFrame({"remark": texts(n, seed), "size": np.arange(n) % 13})
    noisy = rows["remark"].str.contains("noisy|worn").fillna(False).astype(bool)
    return rows.assign(state=np.where(noisy, "bad", "good")).astype({"state": object})


def text_features(table, **options):
    encoder = TableEncoder(**options)
    X = encoder.fit_transform(table)
    return X[:, [feature.role == "text" for feature in encoder.features_]], encoder


# -- n-grams --------------------------------------------------------------------------------------


@pytest.fixture
def written():
    return [
        "To be, or not to be", "that is  THE\tquestion:", "a", "bee",
        "\u00dcber \u00df \u00e9t\u00e9",
        "x \u00a0 \U0001f600 yes", "z" * 40, "\x00 nul \x00", "\ud800 half",
    ]  # fmt: skip


def test_ngrams_are_those_of_scikit_learn(written):
    found = count_ngrams(written, 1 << 24)  # so many buckets that no two n-grams share one
    expected = CountVectorizer(analyzer="char_wb", ngram_range=(3, 4)).fit_transform(written)
    np.testing.assert_array_equal((found @ found.T).toarray(), (expected @ expected.T).toarray())


def test_weights_are_those_of_scikit_learn(written):
    codes = np.array([0, 1, 2, 3, 3, -1, 0, 4, 5, 6, 7, 8])
    counts = TextCounts.of(codes, np.array(written, dtype=object))
    ngrams = count_ngrams(written)
    model = TfidfTransformer(sublinear_tf=True).fit(ngrams[codes[codes >= 0]])
    found, expected = weigh(ngrams, counts.idf), model.transform(ngrams)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12)


def test_the_buckets_of_ngrams_never_change():
    found = count_ngrams(["to be", "\u00e9t\u00e9"])
    assert found.indices.tolist() == BUCKETS


def test_long_columns_are_hashed_in_batches(monkeypatch):
    table = frame()
    whole, _ = text_features(table)
    monkeypatch.setattr(text, "_BATCH", 64)
    parts, _ = text_features(table)
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-14)


# -- the decomposition ----------------------------------------------------------------------------


def test_features_are_the_leading_components_of_all_rows():
    cells = pd.Series([one for one in texts(400) if one])
    codes, distinct = pd.factorize(cells)
    counts = TextCounts.of(codes, np.asarray(distinct, dtype=object))
    directions, means, deviations = learn_components(counts)
    rows = weigh(count_ngrams(cells), counts.idf)
    n = len(means)
    oracle = TruncatedSVD(n, algorithm="arpack").fit_transform(rows)
    oracle -= oracle.mean(axis=0)
    oracle /= np.sqrt(np.square(oracle).mean(axis=0).sum())
    found = rows @ directions - means
    same = np.sign((found * oracle).sum(axis=0))
    np.testing.assert_allclose(found, oracle * same, atol=1e-8)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0), deviations, rtol=1e-10)
    assert n == text.N_COMPONENTS


@pytest.mark.parametrize("seed", range(3))
def test_features_do_not_depend_on_the_last_bits_of_a_decomposition(seed, monkeypatch):
    """Another processor computes these differently; rows are drawn by the hash of all bits."""
    expected, _ = text_features(frame())
    decompose, rng = text._right_singular_vectors, np.random.default_rng(seed)

    def on_another_processor(*args):
        vectors = decompose(*args)
        return vectors + 1e-15 * rng.standard_normal(vectors.shape) * (vectors != 0.0)

    monkeypatch.setattr(text, "_right_singular_vectors", on_another_processor)
    found, _ = text_features(frame())
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(hash_rows(found), hash_rows(expected))


def test_together_the_features_of_a_text_vary_like_one_number():
    table = frame().dropna()
    found, _ = text_features(table)
    assert found.var(axis=0).sum() == pytest.approx(1.0)


def test_the_order_of_rows_does_not_matter_to_the_last_bit():
    table = frame()
    shuffled = table.sample(frac=1.0, random_state=0)
    found, _ = text_features(table)
    again, _ = text_features(shuffled)
    np.testing.assert_array_equal(again, found[shuffled.index])


@pytest.mark.parametrize("most", [1 << 13, 40])
def test_chunks_give_the_encoder_of_the_whole_table(most, monkeypatch, tmp_path):
    monkeypatch.setattr(text, "N_SAMPLE", most)
    frame(600).to_csv(tmp_path / "table.csv", index=False)
    source = find(str(tmp_path / "table.csv"))
    whole = prepare(read(source, labels=("state",)), "state")
    chunks = split(source, labels=["state"], n_bytes=3000)
    streamed = prepare_chunks(chunks, "state")
    assert len(chunks) > 4
    found, expected = (one.encoder.encoders["text"].to_plain() for one in (streamed, whole))
    assert found["columns"] == expected["columns"] == ["remark"]
    for name in ("idf", "directions", "means", "deviations", "gaps", "missing"):
        np.testing.assert_array_equal(found[name], expected[name])
    X = np.concatenate([streamed.transform(chunk)[0] for chunk in chunks])
    np.testing.assert_allclose(X, whole.X, rtol=1e-9, atol=1e-9)


def test_a_chunk_without_any_text_can_be_merged():
    filled = TextCounts.of(np.array([0, 1]), np.array(["to be", "or not"], dtype=object))
    empty = TextCounts.of(np.array([-1, -1]), np.array([], dtype=object))
    both = empty.merge(filled)
    np.testing.assert_array_equal(both.idf, filled.idf)
    assert both.sample.values.tolist() == ["to be", "or not"]


def test_one_text_and_missing_cells_leave_only_the_flag():
    table = pd.DataFrame({"x": ["to be", None, "to be"], "y": [1, 2, 3]})
    encoder = TableEncoder(kinds={"x": "text"}).fit(table)
    assert [feature.name for feature in encoder.features_] == ["y", "x is missing"]


# -- from the table to the model ------------------------------------------------------------------


def test_free_text_is_used_and_its_missing_cells_are_flagged():
    X, encoder = text_features(frame())
    features = [feature for feature in encoder.features_ if feature.column == "remark"]
    assert [feature.name for feature in features] == [
        *(f"remark, text {k}" for k in range(1, text.N_COMPONENTS + 1)),
        "remark is missing",
    ]
    missing = frame()["remark"].isna().to_numpy()
    np.testing.assert_array_equal(X[missing], 0.0)
    flag = encoder.transform(frame())[:, -1]
    assert flag.mean() == pytest.approx(0.0, abs=1e-12)
    assert flag.std() == pytest.approx(1.0)
    np.testing.assert_array_equal(flag > 0, missing)


def test_text_can_be_dropped_and_requested():
    table = frame().assign(key=[f"k{k:04d}" for k in range(120)])
    kinds = {
        column.name: column.kind for column in TableEncoder(drop=["remark"]).fit(table).columns_
    }
    assert kinds == {"remark": "dropped", "size": "number", "state": "category", "key": "id"}
    asked = TableEncoder(kinds={"key": "text", "size": "text"}).fit(table)
    assert [column.name for column in asked.columns_ if column.kind == "text"] == [
        "remark", "size", "key"
    ]  # fmt: skip


def test_numbers_read_as_text_are_the_same_whether_a_reader_has_guessed_types():
    options = {"kinds": {"size": "text"}, "drop": ["remark", "state"]}
    guessed, _ = text_features(frame().astype({"size": float}), **options)
    plain, _ = text_features(frame().astype({"size": str}), **options)
    np.testing.assert_array_equal(guessed, plain)


def test_the_words_of_a_text_predict_the_label_of_new_rows(tmp_path):
    table = frame(300)
    table.loc[60:, "state"] = None
    model = fit_table(prepare(table, "state"), method="soft", alpha=0.01, weight=1.0)
    save(model, tmp_path / "model")
    new = frame(200, seed=1)
    again = load(tmp_path / "model")
    found = again.predict(new.drop(columns="state")).labels
    assert (found == new["state"]).mean() > 0.8
    np.testing.assert_array_equal(again.encoder.transform(table.drop(columns="state")),
                                  prepare(table, "state").X)  # fmt: skip


def test_a_model_file_holds_no_text_and_stays_small(tmp_path):
    table = frame().assign(remark=[f"secretword {k} and sentence" for k in range(120)])
    model = fit_table(prepare(table, "state"), method="soft", alpha=0.1, weight=1.0)
    save(model, tmp_path / "model")
    plain = model.encoder.encoders["text"].to_plain()
    words = {name: value for name, value in plain.items() if not isinstance(value, np.ndarray)}
    assert "secretword" not in json.dumps(words)
    assert b"secretword" not in (tmp_path / "model").read_bytes()
    assert (tmp_path / "model").stat().st_size < 500_000


def test_a_model_that_has_left_a_text_out_still_does():
    table = frame()
    encoding = TableEncoder(drop=["remark"]).fit(table).encoding_
    plain = encoding.to_plain()
    plain["columns"][0] |= {"kind": "text", "reason": "free text"}  # as they used to be stored
    again = Encoding.from_plain(plain)
    assert not again.columns[0].used
    np.testing.assert_array_equal(
        again.transform(table.drop(columns="remark")), encoding.transform(table)
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], "column 'remark', which holds text; fit without it (drop=['remark'])"),
        (["more"], "columns 'remark', 'more', which hold text; fit without them (drop=['remark', "),
    ],
)
def test_onnx_of_a_model_with_texts_is_refused_in_a_sentence(more, words, tmp_path):
    table = frame()
    table = table.assign(**{name: table["remark"] for name in more})
    kinds = dict.fromkeys(["remark", *more], "text")
    prepared = prepare(table, "state", kinds=kinds)
    model = fit_table(prepared, method="soft", alpha=0.1, weight=1.0)
    with pytest.raises(TableError, match="ONNX cannot compute the features of ") as error:
        export_onnx(model, tmp_path / "model.onnx")
    assert words in str(error.value)
    assert not list(tmp_path.iterdir())


# -- description ----------------------------------------------------------------------------------


def test_the_features_of_a_text_have_one_strength_without_a_sign():
    features = [
        Feature("size", "size", 2.0, "per unit"),
        Feature("note, text 1", "note", 2.0, "per standard deviation", "text"),
        Feature("note, text 2", "note", 4.0, "per standard deviation", "text"),
        Feature("note is missing", "note", 1.0, "against not missing", "missing"),
    ]
    found = strengths([[1.0, -6.0, 16.0, -2.0]], features, ["no", "yes"])
    assert [(one.feature, one.weight, one.signed) for one in found] == [
        ("note (text)", 5.0, False),
        ("note is missing", -2.0, True),
        ("size", 1.0, True),
    ]
    rows = list(_features(found, ("no", "yes")).columns[1].cells)
    assert rows == ["5", "\u22122", "+1"]


def test_the_strength_of_a_text_is_the_deviation_of_what_it_adds_to_the_decision_value():
    table = frame(300).dropna()
    X, encoder = text_features(table, drop=["size", "state"])
    coef = np.random.default_rng(0).normal(size=(1, X.shape[1]))
    (found,) = strengths(coef, encoder.features_, ["bad", "good"])
    assert found.weight == pytest.approx((X @ coef[0]).std(), rel=0.2)
