"""The walk from no labels to a trusted model: what is stored is what the commands do now."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest
from docs.first_labels import inputs_of_choices, places, stored
from docs.labeling_walk import (
    COMMANDS,
    N_DRAWS,
    N_LABELS,
    N_SESSIONS,
    PICTURES,
    SIZES,
    WRONG_KEYS,
    _settled,
)
from docs.marks import pages
from PIL import Image

from semisquares import AveragedClassifier
from semisquares.tables._example import TABLE, example_truth, write_example
from semisquares.tables.io import find
from semisquares.tables.labeling._reading import read_label_table

GUIDE = {name: path.read_text("utf-8") for name, path in pages().items() if "/guide/" in name}


@pytest.mark.parametrize("key", ["example", "suggest"])
def test_a_command_prints_what_is_stored(key, semisquares, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    write_example("pumps", labels=False)
    code, printed, errors = semisquares(*shlex.split(COMMANDS[key])[1:])
    assert (code, errors) == (0, "")
    assert _settled(printed) == stored()["printed"][key]


def test_the_answers_are_true_but_for_the_wrong_keys():
    truth = example_truth()[TABLE]
    rows = [row for row, _, _ in stored()["answers"]]
    wrong = [k for k, (row, label, _) in enumerate(stored()["answers"], 1) if label != truth[row]]
    assert len(set(rows)) == N_LABELS
    assert tuple(wrong) == WRONG_KEYS


def test_a_model_of_the_stored_answers_is_as_good_as_stored(tmp_path):
    truth = np.array(example_truth()[TABLE])
    table = read_label_table(
        find(str(write_example(tmp_path, labels=False)[0])), "bearing", classes=["sound", "worn"]
    )
    y = np.full(len(truth), "", dtype="U5")
    for row, label, _ in stored()["answers"]:
        y[row] = label
    model = AveragedClassifier(unlabeled="").fit(table.X, y)
    right = np.count_nonzero((model.predict(table.X) == truth)[y == ""])
    said = sum(right for *_, right in stored()["by_probability"])
    assert right == pytest.approx(said, abs=15)


def test_the_page_is_right_about_suggested_and_random_rows():
    suggested, random = (np.array(stored()[name]) for name in ("suggested", "random"))
    assert (len(suggested), len(random)) == (N_SESSIONS, N_DRAWS)
    gain = dict(zip(SIZES, suggested.mean(axis=0) - random.mean(axis=0), strict=True))
    assert max(abs(gain[n]) for n in (20, 40, 80, 100)) < 0.03
    assert gain[60] > 0.05
    assert (suggested.min(axis=0) < random.max(axis=0)).all()  # not in every session
    assert np.median(random[:, SIZES.index(40)]) < 0.75


def test_the_page_is_right_about_the_review_and_the_probabilities():
    assert len(places()) == len(WRONG_KEYS)
    shares = [right / n for _, _, n, right in stored()["by_probability"]]
    assert shares[-1] > 0.98
    assert min(shares) == shares[0]


def test_the_picture_shows_the_stored_numbers():
    with Image.open(PICTURES / "choices.png") as picture:
        assert picture.text["inputs"] == inputs_of_choices(), "run python -m docs"


def test_every_picture_of_the_guide_is_small_and_shown():
    shown = set(re.findall(r"\]\(pictures/(\w+)\.png\)", "\n".join(GUIDE.values())))
    assert {path.stem for path in PICTURES.iterdir()} == shown
    assert all(path.stat().st_size < 60_000 for path in PICTURES.iterdir())
