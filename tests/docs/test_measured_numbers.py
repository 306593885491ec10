"""Every measured number in README and docs comes from a stored table."""

from __future__ import annotations

import re

import numpy as np
import pytest
from benchmarks.report import read_lines
from docs.marks import MarkError, Number, Registry, check_marks, fill_pages, keys_of, pages
from docs.measured import BLOCKS, NUMBERS, REGISTRY
from docs.stored import RATIOS, SCALE, costs, numbers, ratio

from benchmarks import breast_cancer
from docs import claims

PAGES = {name: path.read_text(encoding="utf-8") for name, path in pages().items()}
MADE = Registry({"time": Number(lambda: 3.25, "{:.1f}".format)}, {"list": lambda: "- a\n- b\n"})


@pytest.mark.parametrize("name", PAGES)
def test_what_stands_between_the_marks_of_a_page_is_what_is_stored(name):
    assert REGISTRY.fill(PAGES[name]) == PAGES[name], "run python -m docs --fill"


@pytest.mark.parametrize("name", PAGES)
def test_no_number_that_looks_measured_stands_outside_of_marks(name):
    found = claims.unmarked(name, PAGES[name])
    assert not found, "put it between marks (docs/measured.py), or say why not in docs/claims.py"


def test_everything_that_is_registered_is_used():
    used = {mark for text in PAGES.values() for mark in keys_of(text)}
    known = {("measured", key) for key in NUMBERS} | {("generated", name) for name in BLOCKS}
    assert known == used


def test_everything_that_is_excused_is_there_and_has_a_reason():
    pairs = [(page, phrase) for page, phrases in claims.NOT_MEASURED.items() for phrase in phrases]
    texts = {"*": "\n".join(PAGES.values()), **PAGES}
    missing = [
        phrase for page, phrase in pairs if phrase not in " ".join(texts.get(page, "").split())
    ]
    assert not missing
    reasons = [reason for phrases in claims.NOT_MEASURED.values() for reason in phrases.values()]
    assert all(len(reason.split()) > 3 for reason in reasons)


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes 0.26 of the time.",
        "The gap is 2.2e-16 then.",
        "A fit takes 0.1 s.",
        "A fit takes 12 s.",
        "It reads 331 MB/s.",
        "It needs 3 GB in all.",
        "That is 148 times as long.",
        "About 20 % of them.",
        "It is better by 3 points.",
        "Soft labels win on 15 of 16 sets.",
        "So it is for 41 of the 185 seeds.",
        "They are better on 15.",
        "All of it takes 5¾ CPU-minutes.",
        "| a fit | 0.26 |",
        "<!-- measured: time -->3.2<!-- / --> s, then 4.1 s",
    ],
)
def test_a_number_that_claims_to_be_measured_is_found(sentence):
    assert len(claims.unmarked("a page", f"# Title\n\n{sentence}\n")) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "With 500,000 × 100 rows and 2,000 labels.",
        "It <!-- measured: time -->takes 0.26 s<!-- / --> here.",
        "<!-- generated: list -->\n\n| 0.26 s |\n\n<!-- / -->",
        "Set `tol=1e-6` for labels in [0, 1].",
        "With $\\alpha = 0.5$ it is 10⁴ to 10⁶.",
        "```python\n>>> 0.5\n0.5\n```",
        "Run this:\n\n    make test   # 5 minutes\n\nand wait.",
        "Python ≥ 3.11, scikit-learn 1.9 or newer and RSSL 0.9.7 (ICPR 2016).",
        "See [there](https://doi.org/10.1109/1.2) or doi:10.1109/ICPR.2016.7899885.",
        "The 95 % interval of weights 0, 0.01, 0.1 and 1, to 1e-9.",
    ],
)
def test_other_numbers_are_left_alone(sentence):
    assert claims.unmarked("a page", f"# Title\n\n{sentence}\n") == []


def test_a_number_that_was_edited_is_put_right():
    edited = "It takes <!-- measured: time -->9.9<!-- / --> s."
    assert MADE.fill(edited) == "It takes <!-- measured: time -->3.2<!-- / --> s."
    assert MADE.fill(MADE.fill(edited)) == MADE.fill(edited)


def test_a_block_stands_between_empty_lines():
    text = "One.\n\n<!-- generated: list -->\n- old\n<!-- / -->\n\nTwo.\n"
    made = "One.\n\n<!-- generated: list -->\n\n- a\n- b\n\n<!-- / -->\n\nTwo.\n"
    assert MADE.fill(text) == made


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a <!-- measured: time -->3.2 s", "opened and not closed"),
        ("a 3.2<!-- / --> s", "the other way round"),
        ("a <!-- measured: time -->3 <!-- measured: time -->3<!-- / -->", "before the next"),
        ("takes\n<!-- measured: time -->3.2<!-- / --> s", "begins a line"),
        ("- <!-- measured: time -->3.2<!-- / --> s", "begins a line"),
    ],
)
def test_a_mark_in_the_wrong_place_is_named(text, problem):
    with pytest.raises(MarkError, match=problem):
        check_marks(text)


def test_an_unknown_key_is_named_with_its_page(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("It takes <!-- measured: tme -->3.2<!-- / --> s.")
    monkeypatch.setattr("docs.marks.pages", lambda: {"page.md": page})
    with pytest.raises(MarkError, match=r"page.md: nothing measured is called 'tme'; .* time\.$"):
        fill_pages(MADE)


@pytest.mark.parametrize("file", [RATIOS, SCALE], ids=lambda file: file.name)
def test_the_stored_numbers_of_a_run_are_what_it_printed(file):
    printed = file.with_suffix(".txt").read_text(encoding="utf-8")
    lines = [str(line).rstrip() for line in read_lines(file)]
    assert [line for line in map(str.rstrip, printed.splitlines()) if line in lines] == lines
    assert f"\n{len(lines)} ratios, " in printed


def test_the_stored_costs_are_what_the_run_printed():
    assert str(costs()) in SCALE.with_suffix(".txt").read_text(encoding="utf-8")


def test_a_ratio_and_a_finding_that_are_not_stored_are_named():
    with pytest.raises(LookupError, match=r"results\.json has no line .* '500 × 5'"):
        ratio("500 × 5", "soft fit")
    with pytest.raises(LookupError, match=r"fig6 has no finding 'hard_beats_soft'; .* soft_beats"):
        numbers("fig6", "hard_beats_soft")


@pytest.mark.parametrize("name", breast_cancer.rivals())
def test_the_stored_accuracies_are_what_the_classifiers_get(name):
    stored = breast_cancer.read()[name]
    assert len(stored) == breast_cancer.SPLITS
    found = breast_cancer.measure(name, range(4)).accuracy
    one_row = 1.0 / (569 - breast_cancer.LABELS)  # rounding may flip a row on the boundary
    np.testing.assert_allclose(found, stored[:4], atol=1.1 * one_row)


def test_the_pictures_of_the_readme_are_stored_results():
    shown = re.findall(r"!\[[^]]*\]\(([^)]+)\)", PAGES["README.md"])
    assert shown
    assert [link for link in shown if not link.startswith(("results/", "docs/"))] == []
