"""The pages under docs/: their examples run, their links lead somewhere, their numbers hold."""

from __future__ import annotations

import re

import numpy as np
import pytest
from docs.pages import METHOD_PAGES, inputs_of, read_numbers
from docs.pictures import PICTURES
from PIL import Image

import semisquares
from docs import example
from semisquares import baselines
from support.page_examples import check_examples

PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted(METHOD_PAGES.glob("*.md"))}
OF_METHODS = sorted(set(PAGES) - {"index", "mey_loog"})
REPOSITORY = METHOD_PAGES.parents[1]
SCALE = (REPOSITORY / "docs" / "scale.md").read_text(encoding="utf-8")
HEADINGS = ["Formula", "When to use it", "What it costs", "Example", "Picture", "Citation"]


@pytest.mark.parametrize("name", [*OF_METHODS, "mey_loog"])
def test_the_examples_of_a_page_run_and_print_what_it_says(name):
    check_examples(name, PAGES[name])


@pytest.mark.parametrize("name", OF_METHODS)
def test_a_page_says_formula_use_cost_example_picture_and_citation(name):
    assert re.findall(r"^## (.*)$", PAGES[name], re.MULTILINE) == HEADINGS
    assert re.search(r"^\$\$.+?\$\$$", PAGES[name], re.MULTILINE | re.DOTALL)
    assert f"](pictures/{name}.png)" in PAGES[name]


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures_of_a_page_are_there(name):
    links = re.findall(r"\]\(([^)]+)\)", PAGES[name])
    missing = [link for link in links if "://" not in link and not (METHOD_PAGES / link).is_file()]
    assert not missing


def test_every_estimator_has_a_page_that_imports_it():
    text = "\n".join(PAGES[name] for name in OF_METHODS)
    imported = set(
        re.findall(r"\w+", " ".join(re.findall(r"^>>> from .* import (.*)$", text, re.M)))
    )
    assert set(semisquares.__all__) | set(baselines.__all__) <= imported


def test_the_index_leads_to_every_page():
    linked = set(re.findall(r"\]\((\w+)\.md\)", PAGES["index"]))
    assert linked == set(PAGES) - {"index"}
    assert {method.page for method in example.METHODS.values()} <= linked


def test_the_readme_leads_to_the_index():
    assert "](docs/methods/index.md)" in (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_the_readme_leads_to_the_page_on_scale():
    assert "](docs/scale.md)" in (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_formulas_are_closed():
    for text in (*PAGES.values(), SCALE):
        assert text.count("$$") % 2 == 0
        assert re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL).count("$") % 2 == 0


def test_no_line_of_a_formula_looks_like_a_list():
    formulas = re.findall(r"\$\$.*?\$\$", "\n".join(PAGES.values()), re.DOTALL)
    assert not [formula for formula in formulas if re.search(r"^[-+*] ", formula, re.MULTILINE)]


def test_the_errors_in_the_pictures_are_what_the_methods_get():
    drawn = example.draw(example.SHOWN)
    stored = {key: counts[example.SHOWN] for key, counts in read_numbers().items()}
    for key, method in example.METHODS.items():  # pictures show no fit that warns
        found = example.wrong(example.fit(method, drawn))
        assert found == pytest.approx(stored[key], abs=3), key


def test_another_draw_has_its_stored_errors():
    stored = {key: counts[0] for key, counts in read_numbers().items()}
    assert example.count_errors(0) == pytest.approx(stored, abs=3)


def test_the_index_is_right_about_what_the_example_shows():
    means = {key: np.mean(counts) for key, counts in read_numbers().items()}
    here = {key: counts[example.SHOWN] for key, counts in read_numbers().items()}
    assert here["oracle"] < here["hard_from_soft"] < here["soft"] < 0.5 * here["hard"]
    assert here["soft"] < here["implicitly_constrained"] < here["contrastive_pessimistic"]
    assert here["contrastive_pessimistic"] < here["supervised"] == here["missing_outcomes"]
    assert min(set(means) - {"oracle"}, key=means.__getitem__) == "em"
    assert means["supervised"] <= means["all_labelings"]


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_small_and_made_from_the_code_and_numbers_at_hand(name):
    path = METHOD_PAGES / "pictures" / f"{name}.png"
    assert path.stat().st_size < 60_000
    with Image.open(path) as picture:
        assert picture.text["inputs"] == inputs_of(name, read_numbers()), "run python -m docs"


def test_there_is_no_picture_that_no_page_shows():
    shown = set(re.findall(r"\]\(pictures/(\w+)\.png\)", "\n".join(PAGES.values())))
    assert {path.stem for path in (METHOD_PAGES / "pictures").iterdir()} == shown == set(PICTURES)
