"""The page of a comparison: what it says, that it is one sound file, and how a browser shows it."""

import os
import re
import sys
from dataclasses import replace
from itertools import pairwise

import pytest

from semisquares.tables import TableError
from semisquares.tables.compare.comparison import Estimate, Recommendation
from semisquares.tables.report import _page as comparison_page
from semisquares.tables.report._page import render_comparison, write_comparison
from semisquares.tables.report._words import GLOSSARY, curve_words
from support.comparisons import (
    HOSTILE,
    LONG,
    around,
    binary,
    hostile,
    many_classes,
    rival,
)
from support.html_pages import NARROW, WIDE, Sound, contrast, measure_pages, needs_browser

COMMAND = "semisquares compare clinic.csv --target diagnosis --seed 1"
SECTIONS = [
    "verdict", "table", "rivals", "curves", "changes", "importance", "average", "glossary",
    "again",
]  # fmt: skip
UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"))


class Page(Sound):
    """Reads a page, its no-break spaces as spaces."""

    def __init__(self, text):
        super().__init__(text.replace("\N{NO-BREAK SPACE}", " "))

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        del self.open[len(self.open) - (tag == "source") :]  # which has no end tag


@pytest.fixture
def undrawn(monkeypatch):
    """Return a function that renders a page without its pictures, which take long."""
    monkeypatch.setattr(comparison_page, "_pictures", lambda comparison: {})
    return lambda comparison: render_comparison(comparison, COMMAND)


@pytest.fixture
def text_of(undrawn):
    """Return a function that gives the words of a page."""
    return lambda comparison: Page(undrawn(comparison)).text


@pytest.fixture(scope="module")
def text():
    return render_comparison(binary(), COMMAND)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


@pytest.fixture(scope="module")
def odd_text():
    """A page with the first of its pictures everywhere: drawing all takes long."""
    drawn, draw = [], comparison_page._picture

    def first(picture):
        drawn.extend([] if drawn else [draw(picture)])
        return drawn[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison_page, "_picture", first)
        return render_comparison(hostile(), f"semisquares compare '{HOSTILE}'")


@pytest.fixture(scope="module")
def odd(odd_text):
    return Page(odd_text)


# what it says


def test_the_verdict_comes_first_and_everything_else_in_its_order(page):
    assert page.values("id", "section") == SECTIONS


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("yes", "They help"),
        ("no", "They do not help"),
        ("unclear", "Cannot tell"),
        ("none", "There are none"),
    ],
)
def test_the_second_answer_is_above_its_sentence(text_of, answer, shown):
    more_labels = 500 if answer == "unclear" else None
    verdict = replace(binary().verdict, answer=answer, more_labels=more_labels, most_to_gain=0.01)
    found = text_of(binary(verdict=verdict))
    assert f"Unlabeled rows {shown} {verdict.sentence}" in found


def test_the_command_that_suggests_rows_to_label_is_below_the_answer(undrawn):
    next_command = "semisquares suggest 'a b.csv' --target y -n 90 -o to_label.csv"
    assert "chooses the rows to label" not in undrawn(binary())
    found = Page(render_comparison(binary(), COMMAND, next_command)).text
    assert f"This command chooses the rows to label: {next_command}" in found


def test_the_classifier_is_named_in_the_title_and_above_its_sentence(text_of):
    other = Recommendation("logistic", "auc", True, 0.9, "averaged", 0.8, around(0.1, 0.05))
    found = text_of(binary(recommendation=other))
    assert found.startswith("The classifier for clinic.csv: logistic regression ")
    assert "Classifier Logistic regression Use logistic regression, method='logistic': AUC" in found
    assert "The AUC decides, as the rarest class has only 37.3 % of the labels" in found
    assert "The error decides." in text_of(binary())


def test_a_quick_comparison_says_so(text_of):
    nothing = {"unlabeled_curve": (), "label_curve": (), "label_trend": None, "changes": None}
    found = text_of(binary(quick=True, repeats=1, **nothing))
    assert "A quick comparison does not look at single rows." in found
    assert "This is a quick comparison: few rivals, one repeat of the folds, no learning" in found
    assert "A quick comparison measures no learning curves." in found
    assert "quick" not in text_of(binary())


def test_notices_and_what_they_mean_are_right_below_the_verdict(page):
    (notice,) = binary().notices
    start = page.text.index(binary().verdict.sentence)
    assert start < page.text.index(notice.sentence) < page.text.index("On this page")
    assert f"{notice.sentence} What it means: {notice.meaning}" in page.text


def test_without_notices_that_is_said(text_of):
    assert "found nothing to warn about" in text_of(binary(notices=()))


def test_rows_classes_kinds_and_empty_cells_are_counted(page):
    assert "Rows 2,000 Rows with a label 370 (18.5 %) Rows without one 1,630" in page.text
    assert "benign 232 62.7 % malignant 138 37.3 %" in page.text
    assert "Columns used 6 of 7 Empty cells in them 232 (1.9 %)" in page.text
    assert "numbers 2 41 radius_mean, x_1" in page.text


def test_columns_are_left_out_for_a_reason(page):
    assert "record identifier each of its 2,000 values occurs once" in page.text


@pytest.mark.parametrize(("n_classes", "n_folded"), [(12, 0), (13, 2)])
def test_long_lists_are_folded(undrawn, n_classes, n_folded):
    usual, found = (
        undrawn(made).count("<details>") for made in (binary(), many_classes(n_classes))
    )
    assert found - usual == n_folded  # the classes, and which of them changed


def test_two_hundred_columns_are_named_in_folded_lists_alone(odd_text):
    opened = re.sub("<details>.*?</details>", "", odd_text, flags=re.S)
    assert "feature_100_of_a_machine" not in opened
    assert "feature_100_of_a_machine" in odd_text
    assert "and 144 more" in opened


def test_of_thousands_of_columns_the_first_are_named(undrawn):
    one = binary().columns[0]
    many = [replace(one, name=f"gene {k}") for k in range(3000)]
    text = undrawn(binary(columns=tuple(many)))
    assert [name in text for name in (">gene 999<", ">gene 1000<")] == [True, False]
    assert "All columns but the target: the first 1,000 of 3,000" in text


def test_a_name_of_blanks_can_be_seen(text_of):
    assert "(blank) numbers" in text_of(binary(columns=(replace(binary().columns[0], name="\n"),)))


def test_every_rival_has_its_measures_its_gain_and_how_it_was_fitted(page):
    assert "labeled rows only −1.3 −2.2 to −0.4 90.6 89.2–92.0 88.4" in page.text
    assert "averaged classifier – 91.9 90.5–93.3 89.7 87.8–91.6 0.969 0.961–0.977" in page.text
    for one in binary().rivals:
        assert one.how in page.text
    assert "Unlabeled rows in a fit: none." in page.text
    assert "a random sample of the 1,630 unlabeled rows was given to hard labels (500)" in page.text


def test_rows_kept_out_by_groups_are_no_samples(text_of):
    fewer = [replace(one, n_unlabeled=min(one.n_unlabeled, 1300)) for one in binary().rivals[:7]]
    found = text_of(binary(rivals=tuple(fewer)))
    assert "To save time" not in found
    assert "Unlabeled rows in a fit: 1,300 of 1,630." in found


def test_a_rival_that_failed_says_why(text_of):
    *others, _ = binary().rivals
    failed = rival("hard", 0.9, failed="It did not converge.")
    found = text_of(binary(rivals=(*others, failed)))
    assert "hard labels has no numbers: It did not converge." in found
    assert found.count("Unlabeled rows in a fit") == 7


def test_it_says_that_the_rules_were_fixed_beforehand(page):
    assert "recommended unless another one is better by more than chance" in page.text
    assert "Both rules were fixed before any number was seen" in page.text


def test_curves_are_put_into_words(page):
    assert (
        "The error of the averaged classifier is 9.4 % with none of the unlabeled rows, and 8.1 % "
        "with all 1,630." in page.text
    )
    assert binary().label_sentence in page.text


def test_curves_of_fewer_repeats_say_why_their_numbers_differ(page):
    words = "rest on 1 repeat of the folds, not on 4 as the verdict does"
    assert page.text.count(words) == 2  # in each of the captions
    assert curve_words(binary(curve_repeats=4)) == ""


def test_numbers_stay_on_one_line_with_their_units(undrawn):
    text = undrawn(binary())
    assert "8.1\N{NO-BREAK SPACE}% with them against 9.4\N{NO-BREAK SPACE}% without" in text
    assert "0.4–2.2\N{NO-BREAK SPACE}points" in text


def test_changes_are_counted_by_classes_with_examples(page):
    n_changed = binary().changes.n_changed
    assert f"Of 1,630 unlabeled rows, {n_changed} (" in page.text
    assert "benign malignant 61 malignant benign 26" in page.text
    assert "1,204 malignant 78.0 % benign 69.0 %" in page.text


def test_of_very_many_rows_those_drawn_are_counted(text_of):
    found = text_of(binary(n_rows=10_000))
    assert "Of 1,630 unlabeled rows, drawn at random from 9,630, " in found


def test_a_table_without_unlabeled_rows_has_no_changes(text_of):
    nothing = replace(
        binary().changes, n_rows=0, n_changed=0, moves=(), before=(), after=(), examples=()
    )
    verdict = replace(binary().verdict, answer="none", n_unlabeled=0)
    found = text_of(binary(changes=nothing, verdict=verdict, n_rows=370))
    assert "What the unlabeled rows changed Every row has a label." in found


def test_columns_that_matter_are_listed_in_points_of_probability(page):
    listed = "Columns, the most important first column points of probability radius_mean 12.4 site"
    assert listed in page.text


def test_the_families_of_the_average_are_listed_with_their_weights(page):
    assert "ridge classifiers on representations of the columns 71.0 % 35 8.5 %" in page.text


def test_a_single_repeat_is_one_split(text_of):
    assert "were split into 5 parts, once. Each" in text_of(binary(repeats=1))
    assert "were split into 5 parts, 4 times at random. Each" in text_of(binary())


def test_of_many_columns_the_most_important_are_in_sight(undrawn):
    one = binary().importance[0]
    many = [replace(one, column=f"f{k}", importance=1 / (k + 1)) for k in range(300)]
    text = undrawn(binary(importance=tuple(many)))
    opened = re.sub("<details>.*?</details>", "", text, flags=re.S)
    assert [name in opened for name in (">f14<", ">f15<")] == [True, False]
    assert [name in text for name in (">f199<", ">f200<")] == [True, False]
    assert "The next 185, of 300 in all" in text


def test_the_certificate_is_set_as_print_does(text):
    assert "at most 2.3·10<sup>−16</sup> above the smallest" in text


def test_settings_versions_and_command_are_there(page):
    for part in (COMMAND, "5 folds, 4 times", "Seed 1", "method averaged", "numpy 2.1.0"):
        assert part in page.text


def test_the_words_are_explained(page):
    for word in ("Averaged classifier", "Tuned ridge", "Soft labels", "95 % interval"):
        assert f"{word} {GLOSSARY[word]}" in page.text


def test_what_is_not_known_is_a_dash(text_of):
    rivals = [
        replace(
            one, scores=dict.fromkeys(one.scores, UNKNOWN), gains=dict.fromkeys(one.gains, UNKNOWN)
        )
        for one in binary().rivals
    ]
    verdict = replace(binary().verdict, gain=UNKNOWN, answer="unclear", more_labels=500)
    found = binary(rivals=tuple(rivals), verdict=verdict, importance=(), certificate=float("inf"))
    words = text_of(found)
    assert not {"nan", "inf"} & set(re.findall(r"\w+", words.lower()))
    assert "No bound on the distance to the optimum was found." in words
    assert "No column changes any prediction." in words


def test_what_there_is_not_is_not_drawn():
    nothing = replace(binary().changes, before=(), after=(), changed=())
    found = binary(changes=nothing, unlabeled_curve=(), label_curve=(), rivals=())
    page = Page(render_comparison(found, COMMAND))
    assert page.values("src", "img") == []
    assert "too few rows for such a curve" in page.text
    assert "too few labels for such a curve" in page.text


# one sound file


def test_names_are_shown_and_not_obeyed(odd, odd_text):
    assert "script" not in {tag for tag, _ in odd.tags}
    assert "onload" not in {name for _, attrs in odd.tags for name in attrs}
    assert "<script" not in odd_text
    for shown in (f"Column {HOSTILE} gives it away.", "a & b <b>no</b>", f"compare '{HOSTILE}'"):
        assert shown in odd.text
    assert f"{HOSTILE} 2 left out a & b <i>" in odd.text
    assert " ".join(LONG.split()) in odd.text


def test_names_are_no_formulas(odd_text, odd):
    assert "<sub>" not in odd_text
    assert "Probabilities are those of $x_1$ & a name" in odd.text
    assert "x_i -1e-05 8.0" in odd.text


def test_the_same_comparison_gives_the_same_words(undrawn):
    assert undrawn(binary()) == undrawn(binary())


def test_tags_match_and_places_that_are_linked_or_named_exist_once(page, odd):
    for found in (page, odd):
        ids = found.values("id")
        assert len(set(ids)) == len(ids)
        assert {href[1:] for href in found.values("href", "a")} <= set(ids)
        assert set(found.values("aria-labelledby")) <= set(ids)


def test_it_loads_nothing(page, text):
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "iframe", "object", "embed", "base", "form"}
    assert all(src.startswith("data:image/") for src in page.values("src") + page.values("srcset"))
    assert all(href.startswith("#") for href in page.values("href"))
    assert any(rule.startswith("default-src 'none'") for rule in page.values("content", "meta"))
    style = re.search("<style>(.*)</style>", text, re.S)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_headings_tables_and_language_are_there_for_those_who_listen(page):
    (html,) = (attrs for tag, attrs in page.tags if tag == "html")
    assert html["lang"] == "en-GB"
    order = [tag for tag, _ in page.tags]
    levels = [int(tag[1]) for tag in order if re.fullmatch("h[1-6]", tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert {order[k + 1] for k, tag in enumerate(order) if tag == "table"} == {"caption"}
    assert all(attrs.get("scope") in ("row", "col") for tag, attrs in page.tags if tag == "th")
    assert page.tags[order.index("body") + 1] == ("a", {"class": "skip", "href": "#verdict"})


def test_pictures_say_in_words_what_they_show(page):
    rivals, unlabeled, labels, changes = page.values("alt", "img")
    assert "the same, labeled rows only −1.3 (−2.2 to −0.4)" in rivals
    assert "tuned ridge 10.3 %" in rivals
    assert "averaged classifier from 9.4 % at 0 to 8.1 % at 1,630" in unlabeled
    assert "tuned ridge from 17.0 % at 37 to 10.3 % at 296" in labels
    assert f"{sum(binary().changes.changed)} marked dots" in changes


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_have_enough_contrast(text, scheme):
    found = re.findall(r":root \{(.*?)\}", text, re.S)[scheme]
    colours = dict(re.findall(r"--(\w+): (#\w{6});", found))
    style = re.search("<style>(.*)</style>", text, re.S)[1]
    used = set(re.findall(r"[ {;]color: var\(--(\w+)\)", style))
    assert {"ink", "quiet", "holds", "fails", "open"} <= used
    for name in used:
        for ground in ("paper", "tint"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)


def test_the_page_is_written_as_it_is_rendered(undrawn, tmp_path):
    path = write_comparison(binary(), tmp_path / "new" / "page.html", COMMAND)
    assert path.read_bytes() == undrawn(binary()).encode()
    assert [one.name for one in path.parent.iterdir()] == ["page.html"]


@pytest.mark.usefixtures("undrawn")
def test_a_command_with_bytes_that_are_no_text_is_written_with_question_marks(tmp_path, undrawn):
    command = os.fsdecode(b"semisquares compare t.csv --missing \xff")
    path = write_comparison(binary(), tmp_path / "page.html", command)
    assert "--missing ?" in path.read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_an_error_of_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison_page, "render_comparison", lambda *given, **more: "a page")
    with pytest.raises(TableError, match=r"^.* is a folder; name another file for the report\.$"):
        write_comparison(binary(), tmp_path, COMMAND)


def test_without_jinja2_the_line_that_installs_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'semisquares\[tables\]'"):
        render_comparison(binary(), COMMAND)


def test_a_gain_far_from_zero_is_on_the_line_with_it(undrawn):
    verdict = replace(binary().verdict, gain=around(0.2, 0.001))
    text = undrawn(binary(verdict=verdict))
    (zero,), (dot,) = (
        re.findall(rf'class="{name}" style="left: ([\d.]+)%"', text) for name in ("zero", "dot")
    )
    assert 5 < float(zero) < 20
    assert 80 < float(dot) < 95
    assert "its 95 % interval: +19.9 to +20.1 points" in Page(text).text


# in a browser

MEASURE = """
<script>
const problems = [];
addEventListener("securitypolicyviolation", e => problems.push("loads " + e.blockedURI));
addEventListener("error", e => problems.push("error " + (e.message || e.target.tagName)), true);
addEventListener("load", () => {
  const page = document.scrollingElement;
  const wide = [...document.querySelectorAll("body *")].filter(
    e => e.getBoundingClientRect().right > innerWidth + 0.5 && !e.parentElement.closest(".scroll")
      && !e.matches(".skip"));
  const loaded = performance.getEntriesByType("resource").map(e => e.name);
  const box = name => document.querySelector(name).getBoundingClientRect();
  parent.postMessage(JSON.stringify({
    page: location.pathname.split("/").pop(),
    width: innerWidth,
    overflow: page.scrollWidth - page.clientWidth,
    wide: wide.map(e => e.tagName + " " + e.textContent.slice(0, 40)),
    images: [...document.images].map(e => e.complete && e.naturalWidth > 0),
    shapes: [...document.images].map(e => e.naturalHeight / e.naturalWidth),
    shown: [...document.images].map(e => e.getBoundingClientRect().width),
    answer: [box(".answer").top, box("#verdict .lede").bottom],
    window: innerHeight,
    problems: problems.concat(loaded.filter(name => !name.startsWith("data:"))),
  }), "*");
});
</script>
"""
WINDOWS = [(page, size) for page in ("usual", "odd") for size in ((NARROW, 844), (WIDE, 800))]


@pytest.fixture(scope="module")
def seen(text, odd_text, tmp_path_factory):
    """What Chromium makes of two pages in two windows, details opened: {(page, width): …}."""
    place = tmp_path_factory.mktemp("browser")
    measures = measure_pages(place, {"usual": text, "odd": odd_text}, MEASURE, WINDOWS)
    return {(found["page"].removesuffix(".html"), found["width"]): found for found in measures}


each_window = pytest.mark.parametrize(
    "window", [(name, width) for name, (width, _) in WINDOWS], ids=lambda one: f"{one[0]}-{one[1]}"
)


@needs_browser
@each_window
def test_the_verdict_is_in_sight_at_once(seen, window):
    top, bottom = seen[window]["answer"]
    assert 0 < top < bottom < seen[window]["window"]


@needs_browser
@each_window
def test_nothing_is_wider_than_the_window_but_tables_that_scroll_in_their_box(seen, window):
    assert seen[window]["wide"] == []
    assert seen[window]["overflow"] == 0


@needs_browser
@each_window
def test_all_pictures_load_and_nothing_goes_wrong(seen, window):
    assert seen[window]["images"] == [True] * 4
    assert seen[window]["problems"] == []


@needs_browser
def test_a_phone_shows_the_narrow_pictures_as_large_as_it_can(seen):
    narrow, wide = seen["usual", NARROW], seen["usual", WIDE]
    assert all(one > other for one, other in zip(narrow["shapes"], wide["shapes"], strict=True))
    assert all(NARROW - 60 < width <= NARROW for width in narrow["shown"])
