"""The labeling page in a real browser: Playwright with the Chromium of the system."""

import re
import shutil

import pandas as pd
import pytest

from support.labeling_pages import page_of, write_doubtful_fish, write_fish
from support.labeling_server import labeling

pytest.importorskip("uvicorn", reason="uvicorn is not installed: the extra [label]")
pytest.importorskip("starlette", reason="starlette is not installed: the extra [label]")
api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from semisquares.tables.labeling._server import LabelServer  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
PATIENCE = 60_000
"""Milliseconds that the page may take on a busy machine."""
N_ROWS = 60

api.expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def context(browser):
    found = browser.new_context()
    found.set_default_timeout(PATIENCE)
    yield found
    found.close()


@pytest.fixture
def tab(context):
    """A page that fails the test if its script fails, or if it asks anybody else for anything."""
    page = context.new_page()
    page.troubles = []
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("dialog", lambda dialog: (page.troubles.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda one: page.troubles.extend([one.url] * (not is_here(one.url))))
    yield page
    assert page.troubles == []


def is_here(url):
    return url.startswith("http://127.0.0.1:")


@pytest.fixture
def serve():
    """Return a function that serves a session, and returns its address."""
    servers = []

    def start(page):
        servers.append((LabelServer(page), page))
        page.updater.start()
        servers[-1][0].start()
        return servers[-1][0].address

    yield start
    for server, page in servers:
        page.updater.stop()
        server.stop()


@pytest.fixture
def session(tmp_path, serve):
    """The page of a session about sixty fish, with its true labels."""
    truth = write_fish(tmp_path / "fish.csv", N_ROWS)
    page = page_of(tmp_path / "fish.csv", classes=["carp", "eel"])
    page.truth, page.address = truth, serve(page)
    return page


def at(tab, row):
    """Wait until a row is shown."""
    api.expect(tab.locator("#title")).to_have_text(f"Row {row + 1} of {N_ROWS}")


def shown(tab):
    """Return the row that is shown."""
    api.expect(tab.locator("#title")).to_have_text(re.compile(r"Row \d+ of"))
    return int(re.search(r"\d+", tab.locator("#title").inner_text())[0]) - 1


def press_true(tab, truth):
    """Label the row by its key; return it."""
    row = shown(tab)
    tab.keyboard.press("2" if truth[row] == "eel" else "1")
    api.expect(tab.locator("#title")).not_to_have_text(f"Row {row + 1} of {N_ROWS}")
    return row


def test_a_late_reply_from_before_an_answer_is_not_shown(session, tab):
    held = []
    tab.goto(session.address)
    row = shown(tab)
    tab.route("**/state", lambda route: held.append((route, route.fetch())))
    with tab.expect_request("**/state"):
        tab.evaluate("() => { window.late = poll(); }")
    while not held:
        tab.wait_for_timeout(10)
    press_true(tab, session.truth)
    route, reply = held[0]
    route.fulfill(response=reply)
    tab.evaluate("() => window.late")
    assert shown(tab) != row


def test_thirty_rows_are_labeled_by_keys(session, tab):
    tab.goto(session.address)
    rows = [press_true(tab, session.truth) for _ in range(30)]
    assert len(set(rows)) == 30
    api.expect(tab.locator("#progress")).to_have_text("30 of 60 rows are labeled")
    assert [session.session.labels[row] for row in rows] == session.truth[rows].tolist()
    api.expect(tab.locator("#accuracy")).to_have_text(re.compile(r"\d+ %"))
    api.expect(tab.locator("#gain")).to_have_text(re.compile("points"))
    api.expect(tab.locator("#curve")).to_be_visible()
    counts = tab.locator("#counts td").all_inner_texts()
    assert sum(map(int, counts)) == 30
    tab.get_by_role("button", name="Save and finish").click()
    api.expect(tab.locator("#title")).to_have_text("Finished")
    found = pd.read_csv(session.out)["kind"]
    assert found[rows].tolist() == session.truth[rows].tolist()
    assert session.finished.is_set()


def test_undo_skip_not_sure_a_note_and_a_new_class_by_keys_alone(session, tab):
    tab.goto(session.address)
    at(tab, 0)
    for row, key in enumerate("1sn"):
        tab.keyboard.press(key)
        at(tab, row + 1)
    tab.keyboard.press("u")
    at(tab, 2)
    tab.keyboard.press("t")
    tab.keyboard.type("two fins, 1 eye")
    tab.keyboard.press("Enter")
    tab.keyboard.press("c")
    tab.keyboard.type("pike 2")
    tab.keyboard.press("Enter")
    api.expect(tab.get_by_role("button", name="pike 2")).to_be_visible()
    api.expect(tab.locator("#note")).to_have_value("two fins, 1 eye")
    tab.keyboard.press("3")
    at(tab, 3)
    api.expect(tab.locator("#last")).to_have_text(re.compile("Row 3: pike 2"))
    api.expect(tab.locator("#note")).to_have_value("")
    kinds = [(one.row, one.kind, one.label, one.note) for one in session.session.answers]
    assert kinds == [
        (0, "label", "carp", ""), (1, "skip", None, ""), (2, "label", "pike 2", "two fins, 1 eye"),
    ]  # fmt: skip


def test_everything_can_be_reached_with_the_tab_key(session, tab):
    tab.goto(session.address)
    at(tab, 0)
    names = set()
    for _ in range(20):
        tab.keyboard.press("Tab")
        names.add(
            tab.evaluate("() => document.activeElement.id || document.activeElement.innerText")
        )
    wanted = {"skip", "unsure", "note", "new-name", "save", "finish", "keys", "carp1", "eel2"}
    assert wanted <= {name.replace("\n", "") for name in names}


def test_single_keys_can_be_turned_off(session, tab):
    tab.goto(session.address)
    at(tab, 0)
    tab.locator("#keys").uncheck()
    tab.keyboard.press("1")
    tab.get_by_role("button", name="eel").click()
    at(tab, 1)
    assert session.session.labels[:2] == ["eel", None]


def test_the_page_reloads_where_it_was(session, tab):
    tab.goto(session.address)
    for _ in range(3):
        press_true(tab, session.truth)
    tab.reload()
    at(tab, 3)
    api.expect(tab.locator("#progress")).to_have_text("3 of 60 rows are labeled")


def test_two_tabs_are_served_consistently(session, tab, context):
    other = context.new_page()
    for one in (tab, other):
        one.goto(session.address)
        at(one, 0)
    tab.keyboard.press("1")
    at(tab, 1)
    # the other tab answers the row that it still shows, or sees the new one
    other.evaluate("() => { state.turn = 0; state.row.index = 0; }")
    other.keyboard.press("2")
    problem = other.get_by_role("alert")
    api.expect(problem).to_contain_text("Row 1 was labeled 'carp' in another tab")
    at(other, 1)
    assert session.session.labels[0] == "carp"
    other.get_by_role("button", name="Change it to “eel”").click()
    api.expect(problem).to_be_hidden()
    assert session.session.labels[0] == "eel"
    api.expect(tab.locator("#counts td").nth(1)).to_have_text("1")


def test_the_guess_is_shown_only_if_wanted(tmp_path, serve, tab):
    write_fish(tmp_path / "fish.csv", N_ROWS, 40)
    tab.goto(serve(page_of(tmp_path / "fish.csv")))
    at(tab, 40)
    api.expect(tab.locator("#accuracy")).to_have_text(re.compile("%"))
    api.expect(tab.locator("#guess")).to_be_hidden()
    tab.keyboard.press("1")
    api.expect(tab.locator("#last")).to_have_text(re.compile("The model guessed"))
    page = page_of(tmp_path / "fish.csv", out=tmp_path / "other.csv", show_guess=True)
    tab.goto(serve(page))
    api.expect(tab.locator("#guess")).to_have_text(re.compile(r"guess: (eel|carp) \("))


def test_a_killed_session_continues_in_the_browser(tmp_path, tab):
    truth = write_fish(tmp_path / "fish.csv", N_ROWS)
    words = ("fish.csv", "--target", "kind", "--class", "carp", "--class", "eel")
    with labeling(tmp_path, *words) as running:
        tab.goto(running.address)
        rows = [press_true(tab, truth) for _ in range(5)]
        running.process.kill()
        running.end()
        tab.keyboard.press("1")
        api.expect(tab.get_by_role("alert")).to_contain_text("was not stored")
    with labeling(tmp_path, *words) as running:
        tab.goto(running.address)
        api.expect(tab.locator("#progress")).to_have_text("5 of 60 rows are labeled")
        rows.append(press_true(tab, truth))
        assert running.stop()[0] == 0
    found = pd.read_csv(tmp_path / "fish.labeled.csv")["kind"]
    assert found.notna().sum() == 6
    assert found[rows].tolist() == truth[rows].tolist()


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "<svg/onload=alert(3)>",
    "javascript:alert(4)",
    "</td></table><iframe src='http://evil.example/'></iframe>",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=http://evil.example/x.css>",
    "\u202etxt.exe",
    "&lt;b&gt; &amp;",
]


def test_hostile_cells_columns_and_classes_are_harmless(tmp_path, serve, tab):
    frame = pd.DataFrame(
        {f"{text} {k}": HOSTILE[k:] + HOSTILE[:k] for k, text in enumerate(HOSTILE)}
    )
    frame["size"] = range(len(frame))
    target = "<b onclick=alert(5)>kind</b>"
    frame[target] = None
    frame.to_csv(tmp_path / "<img src=x onerror=alert(6)>.csv", index=False)
    page = page_of(
        tmp_path / "<img src=x onerror=alert(6)>.csv",
        target,
        out=tmp_path / "out.csv",
        classes=HOSTILE[:3],
    )
    tab.goto(serve(page))
    api.expect(tab.locator("#title")).to_have_text("Row 1 of 10")
    cells = tab.locator("#cells td").all_inner_texts()
    assert cells[: len(HOSTILE)] == HOSTILE
    assert len(tab.locator("#cells th").all()) == len(HOSTILE) + 1
    tab.keyboard.press("c")
    tab.keyboard.type("<img src=y onerror=alert(7)>")
    tab.keyboard.press("Enter")
    tab.get_by_role("button", name="<img src=y").click()
    api.expect(tab.locator("#last")).to_have_text("Row 1: <img src=y onerror=alert(7)>.")
    assert tab.locator("img, iframe, table table, main script, main style, main link").count() == 0
    assert page.session.labels[0] == "<img src=y onerror=alert(7)>"


def test_other_pages_cannot_read_or_change_the_session(session, tab):
    """An empty page, which no policy keeps from sending requests: the server refuses them."""
    tab.goto("about:blank")
    answers = tab.evaluate(
        """async (address) => {
            const post = {method: "POST", mode: "no-cors", body: "{}"};
            const sent = (path, options) => fetch(address + path, options).then(
                (response) => response.type + " " + response.status, () => "refused");
            return [await sent("finish", post), await sent("state", {}), await sent("", {})];
        }""",
        session.address,
    )
    assert answers == ["refused"] * 3
    assert not session.finished.is_set()


def test_a_phone_shows_everything_without_scrolling_sideways(browser, session):
    context = browser.new_context(viewport={"width": 360, "height": 640}, has_touch=True)
    tab = context.new_page()
    tab.goto(session.address)
    at(tab, 0)
    width = tab.evaluate("() => document.documentElement.scrollWidth")
    assert width <= 360
    button = tab.get_by_role("button", name="carp")
    assert button.bounding_box()["height"] >= 44
    assert button.bounding_box()["y"] < 640  # in reach without scrolling
    button.tap()
    at(tab, 1)
    context.close()


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_colours_follow_the_scheme_and_have_contrast(browser, session, scheme, dark):
    context = browser.new_context(color_scheme=scheme)
    tab = context.new_page()
    tab.goto(session.address)
    at(tab, 0)
    paper = luminance(tab, "body", "backgroundColor")
    assert (paper < 0.1) is dark
    for element in ("body", "#why", "#cells th"):
        assert contrast(luminance(tab, element, "color"), paper) >= 4.5
    button = "#classes button"
    assert contrast(*(luminance(tab, button, one) for one in ("color", "backgroundColor"))) >= 4.5
    context.close()


def luminance(tab, element, name):
    """Return the relative luminance of a colour, as WCAG defines it."""
    colour = tab.locator(element).first.evaluate("(one, name) => getComputedStyle(one)[name]", name)
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def test_screen_readers_find_names_roles_and_the_latest_answer(session, tab):
    tab.goto(session.address)
    at(tab, 0)
    for button in tab.locator("button:visible, input:visible, textarea:visible").all():
        assert button.evaluate(
            "(one) => (one.labels?.length ?? 0) > 0 || one.innerText.trim() !== ''"
        )
    api.expect(tab.get_by_role("heading", level=1)).to_have_text("Row 1 of 60")
    api.expect(tab.get_by_role("group", name="Classes")).to_be_visible()
    api.expect(tab.get_by_role("complementary", name="Progress")).to_be_visible()
    api.expect(tab.get_by_role("rowheader", name="length")).to_be_visible()
    api.expect(tab.get_by_label("Note on this row")).to_be_visible()
    tab.keyboard.press("1")
    at(tab, 1)
    api.expect(tab.get_by_role("status")).to_have_text(re.compile("Row 1: carp"))
    assert tab.evaluate("() => document.activeElement.id") == "title"


# -- reviewing labels -----------------------------------------------------------------------------


@pytest.fixture
def review(tmp_path, serve):
    """The page of a review of forty labels, three of which are wrong, with the true labels."""
    truth = write_doubtful_fish(tmp_path / "fish.csv", N_ROWS)
    page = page_of(tmp_path / "fish.csv", order="doubtful")
    page.truth, page.address = truth, serve(page)
    return page


def fact(tab, name):
    """Return what the page says about the label."""
    return tab.locator("#doubt div").filter(has_text=name).locator("dd")


def key_of(name):
    return "2" if name == "eel" else "1"


def moved_on(tab, row):
    api.expect(tab.locator("#title")).not_to_have_text(f"Row {row + 1} of {N_ROWS}")


def at_the_end(tab):
    """Wait until the model has found the next label to review, or that there is none."""
    found = re.compile(r"Row \d+ of|All doubtful labels are reviewed")
    api.expect(tab.locator("#title")).to_have_text(found)
    return tab.locator("#title").inner_text().startswith("All")


def test_labels_are_confirmed_and_corrected_by_keys_alone(review, tab):
    tab.goto(review.address)
    first = shown(tab)
    given = review.table.given[first]
    api.expect(fact(tab, "Probability that the label is wrong")).to_have_text(re.compile(r"\d %"))
    api.expect(fact(tab, "Likely label")).to_have_text(review.truth[first])
    api.expect(tab.get_by_role("button", name=f"Keep {given}")).to_be_visible()
    tab.keyboard.press("t")
    tab.keyboard.type("two fins")
    tab.keyboard.press("Enter")
    tab.keyboard.press(key_of(review.truth[first]))
    moved_on(tab, first)
    api.expect(tab.get_by_role("status")).to_have_text(
        f"Row {first + 1}: {given} corrected to {review.truth[first]}."
    )
    second = shown(tab)
    tab.keyboard.press(key_of(review.table.given[second]))
    moved_on(tab, second)
    api.expect(tab.locator("#progress-detail")).to_have_text("1 confirmed, 1 corrected")
    third = shown(tab)
    tab.keyboard.press("n")
    moved_on(tab, third)
    tab.keyboard.press("u")
    at(tab, third)
    tab.keyboard.press("s")
    api.expect(tab.locator("#progress-detail")).to_have_text("1 confirmed, 1 corrected, 1 skipped")
    assert [(one.row, one.outcome, one.note) for one in review.session.answers] == [
        (first, "corrected", "two fins"), (second, "confirmed", ""), (third, "skip", ""),
    ]  # fmt: skip


def test_a_review_reloads_takes_back_and_ends(review, tab):
    tab.goto(review.address)
    first = shown(tab)
    tab.keyboard.press(key_of(review.truth[first]))
    moved_on(tab, first)
    second = shown(tab)
    tab.reload()
    at(tab, second)
    api.expect(tab.locator("#progress-detail")).to_have_text("1 corrected")
    tab.keyboard.press("u")
    at(tab, first)
    assert review.session.labels == review.table.given
    api.expect(fact(tab, "Likely label")).to_have_text(review.truth[first])
    while not at_the_end(tab):
        row = shown(tab)
        tab.keyboard.press(key_of(review.truth[row]))
        moved_on(tab, row)
    api.expect(tab.locator("#doubt")).to_be_hidden()
    api.expect(tab.locator("#gain")).to_have_text("0 labels")
    tab.get_by_role("button", name="Save and finish").click()
    api.expect(tab.locator("#title")).to_have_text("Finished")
    found = pd.read_csv(review.out)
    assert found["kind"][:40].tolist() == review.truth[:40].tolist()
    assert first in found["kind_reviewed"].dropna().index


def test_the_nearest_rows_can_be_compared_cell_by_cell(review, tab):
    tab.goto(review.address)
    row = shown(tab)
    nearest = review.session.doubt.nearest
    table = tab.get_by_role("table", name="Cells of this row and of the nearest labeled rows")
    heads = table.get_by_role("columnheader").all_inner_texts()
    assert [head.split() for head in heads] == [
        ["This", "row", review.table.given[row]],
        *(["Row", str(near + 1), review.table.given[near]] for near in nearest),
    ]
    line = table.get_by_role("row").filter(has=tab.get_by_role("rowheader", name="length"))
    assert line.get_by_role("cell").all_inner_texts() == [
        review.table.cells(one)["length"] for one in (row, *nearest)
    ]


def test_screen_readers_find_why_a_label_is_doubtful(review, tab):
    tab.goto(review.address)
    shown(tab)
    terms = tab.locator("dl#doubt").get_by_role("term").all_inner_texts()
    assert terms[:3] == ["Label", "Likely label", "Probability that the label is wrong"]
    assert len(tab.locator("dl#doubt").get_by_role("definition").all()) == len(terms)
    names = [button.inner_text() for button in tab.locator("#classes button").all()]
    assert [name.split()[0] for name in names].count("Keep") == 1
    assert tab.locator("#classes button[aria-keyshortcuts]").count() == 2


def test_a_review_on_a_phone_needs_no_scrolling_sideways(browser, review):
    context = browser.new_context(viewport={"width": 360, "height": 640}, has_touch=True)
    tab = context.new_page()
    tab.goto(review.address)
    row = shown(tab)
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= 360
    button = tab.get_by_role("button", name=f"Change to {review.truth[row]}")
    assert button.bounding_box()["y"] < 640
    button.tap()
    moved_on(tab, row)
    assert review.session.labels[row] == review.truth[row]
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_evidence_has_contrast(browser, review, scheme):
    context = browser.new_context(color_scheme=scheme)
    tab = context.new_page()
    tab.goto(review.address)
    shown(tab)
    paper, tint = (luminance(tab, one, "backgroundColor") for one in ("body", "#doubt"))
    assert contrast(luminance(tab, "#cells .near", "color"), paper) >= 4.5
    for element in ("#doubt dt", "#doubt dd"):
        assert contrast(luminance(tab, element, "color"), tint) >= 4.5
    context.close()


def test_a_killed_review_continues_in_the_browser(tmp_path, tab):
    truth = write_doubtful_fish(tmp_path / "fish.csv", N_ROWS)
    words = ("fish.csv", "--target", "kind", "--order", "doubtful")
    with labeling(tmp_path, *words) as running:
        tab.goto(running.address)
        first = shown(tab)
        tab.keyboard.press(key_of(truth[first]))
        moved_on(tab, first)
        running.process.kill()
        running.end()
        tab.keyboard.press("1")
        api.expect(tab.get_by_role("alert")).to_contain_text("was not stored")
    with labeling(tmp_path, *words) as running:
        tab.goto(running.address)
        second = shown(tab)
        assert second != first
        api.expect(tab.locator("#progress-detail")).to_have_text("1 corrected")
        assert running.stop()[0] == 0
    assert pd.read_csv(tmp_path / "fish.labeled.csv")["kind"][first] == truth[first]
