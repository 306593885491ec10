"""The theory pages: their examples run, their code is in the source, their pictures are current."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from docs.theory_numbers import left_out, long_clouds
from docs.theory_pages import THEORY_PAGES, THEORY_PICTURES, inputs_of, numbers_of
from PIL import Image

from support.page_examples import check_examples

PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted(THEORY_PAGES.glob("*.md"))}
OF_RESULTS = sorted(set(PAGES) - {"index"})
INCLUDE = re.compile(r"^```\{literalinclude\} (\S+)\n:pyobject: (\S+)\n```$", re.MULTILINE)


def bends(values):
    """Return the second differences of values on a regular grid."""
    return np.diff(values, 2, axis=-1)


@pytest.mark.parametrize("name", OF_RESULTS)
def test_the_examples_of_a_page_run_and_print_what_it_says(name):
    check_examples(name, PAGES[name])


@pytest.mark.parametrize("name", OF_RESULTS)
def test_a_page_states_its_result_shows_a_picture_and_the_code_from_the_source(name):
    assert re.match(r"# .+\n\n\*\*.+?\*\*\n", PAGES[name], re.DOTALL)
    assert re.search(r"^!\[.+\]\(.*pictures/\w+\.png\)$", PAGES[name], re.MULTILINE)
    shown = INCLUDE.findall(PAGES[name])
    assert len(shown) == PAGES[name].count("{literalinclude}") > 0
    for path, thing in shown:
        source = (THEORY_PAGES / path).read_text(encoding="utf-8")
        assert thing in re.findall(r"^(?:def|class) (\w+)", source, re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures_of_a_page_are_there(name):
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", PAGES[name]) if "://" not in link]
    assert links
    assert not [link for link in links if not (THEORY_PAGES / link).is_file()]


@pytest.mark.parametrize("name", PAGES)
def test_formulas_are_closed_and_no_line_of_them_looks_like_a_list(name):
    text = re.sub(r"^```.*?^```$", "", PAGES[name], flags=re.MULTILINE | re.DOTALL)
    formulas = re.findall(r"\$\$(.*?)\$\$", text, re.DOTALL)
    assert re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL).count("$") % 2 == 0
    assert not [formula for formula in formulas if re.search(r"^[-+*] ", formula, re.MULTILINE)]


def test_the_index_leads_to_every_page_in_the_order_of_the_course():
    linked = re.findall(r"^\| \[.*\]\((\w+)\.md\)", PAGES["index"], re.MULTILINE)
    (listed,) = re.findall(r"^```\{toctree\}\n:hidden:\n\n(.*?)^```$", PAGES["index"], re.M | re.S)
    assert listed.split() == linked
    assert sorted(linked) == OF_RESULTS


def test_every_picture_is_shown_and_no_other_is_there():
    shown = set(re.findall(r"\]\(pictures/(\w+)\.png\)", "\n".join(PAGES.values())))
    stored = {path.stem for path in Path(THEORY_PAGES / "pictures").iterdir()}
    assert stored == shown == set(THEORY_PICTURES)


@pytest.mark.parametrize("name", THEORY_PICTURES)
def test_a_picture_is_small_and_made_from_the_code_and_numbers_at_hand(name):
    path = THEORY_PAGES / "pictures" / f"{name}.png"
    assert path.stat().st_size < 60_000
    with Image.open(path) as picture:
        stored = json.loads(picture.text["inputs"])
    now = inputs_of(name)
    assert stored["code"] == now["code"], "run python -m docs"
    assert stored["numbers"].keys() == now["numbers"].keys()
    for key, sums in now["numbers"].items():
        assert stored["numbers"][key] == pytest.approx(sums, rel=1e-6, abs=1e-9), key


def test_the_soft_cost_of_a_row_is_convex_and_the_others_have_a_hill_at_one_half():
    found = numbers_of("row_cost")
    soft, between, hard = found["cost"]
    assert (bends(soft) > -1e-12).all()
    middle = np.abs(found["z"] - 0.5).argmin()
    assert soft[middle] == 0.0 < between[middle] < hard[middle] == 0.25


def test_j_l_follows_the_right_hessian_and_not_the_printed_one():
    found = numbers_of("convexity")
    right, printed = found["curves"]
    np.testing.assert_allclose(found["measured"], right, atol=1e-12)
    assert (bends(found["measured"]) > 0.0).all()
    assert (bends(printed) < 0.0).all()


def test_between_two_hard_optima_soft_labels_make_a_bowl_and_hard_ones_a_pass():
    soft, hard = numbers_of("convexity")["between"]
    assert (bends(soft) > -1e-9).all()
    assert (soft <= hard + 1e-12).all()
    inner = np.flatnonzero((np.diff(hard)[:-1] < 0) & (np.diff(hard)[1:] > 0))
    np.testing.assert_allclose(numbers_of("convexity")["share"][inner + 1], [0.0, 1.0], atol=0.02)


def test_fewer_rows_change_side_from_step_to_step_and_none_in_the_last():
    side = numbers_of("active_set")["side"]
    changed = (side[1:] != side[:-1]).sum(axis=1)
    assert (np.diff(changed) <= 0).all()
    assert changed[0] > 50
    assert changed[-1] == 0


@pytest.mark.parametrize("solver", ["newton", "block"])
def test_the_certified_gap_is_never_below_the_true_one(solver):
    found = numbers_of("gap")
    assert (found[f"{solver}_gap"] >= found[f"{solver}_true"] - 1e-14).all()
    assert found[f"{solver}_gap"][-1] < 1e-14


def test_block_descent_takes_more_than_fifty_times_the_steps_of_newton():
    found = numbers_of("gap")
    ends = [found[f"{s}_step"][found[f"{s}_gap"] < 1e-10][0] for s in ("block", "newton")]
    assert ends[0] > 50 * ends[1]


def test_the_dial_ends_in_hard_labels_where_both_objectives_are_equal():
    found = numbers_of("dial_path")
    soft, hard = found["value"]
    assert set(np.unique(found["label"][-1])) == {0.0, 1.0}
    assert soft[-1] == pytest.approx(hard[-1])
    assert (np.diff(soft) > -1e-9).all()
    assert (np.diff(hard) < 1e-9).all()


def test_the_search_ends_where_bound_and_value_meet_above_the_soft_optimum():
    found = numbers_of("branch_and_bound")
    assert found["soft"][0] < found["bound"][0]
    assert (np.diff(found["bound"]) > -1e-12).all()
    assert found["bound"][-1] == pytest.approx(found["value"][-1])


def test_no_corner_of_the_simplex_is_nearer_than_the_label():
    found = numbers_of("simplex")
    z, u = found["z"], found["label"]
    np.testing.assert_allclose(z.sum(axis=1), 1.0, atol=1e-12)
    # the angle between z - u and the way to any corner is at least a right one
    assert (((z - u)[:, None] * (np.eye(3) - u[:, None])).sum(axis=2) < 1e-12).all()
    assert set((u > 0.0).sum(axis=1)) == {1, 2, 3}


def test_the_weights_come_to_those_of_least_norm_as_the_ridge_vanishes():
    found = numbers_of("vanishing_ridge")
    apart = np.linalg.norm(found["coef"] - found["limit"], axis=1)
    assert (np.diff(apart) < 0.0).all()
    assert apart[-1] < 1e-5


def test_the_drawn_leave_one_out_is_that_of_fits_without_the_row():
    X, y = long_clouds(12, np.random.default_rng(0))
    through, slope = left_out(X, y, 3.0)
    for i in range(12):
        rest = np.arange(12) != i
        mean, constant = X[rest].mean(axis=0), y[rest].mean()
        gram = (X[rest] - mean).T @ (X[rest] - mean) + 3.0 * np.eye(20)
        w = np.linalg.solve(gram, (X[rest] - mean).T @ y[rest])
        assert slope[i] == pytest.approx(w @ (X[i] - mean))
        assert through[i] == pytest.approx(w @ (X[i] - mean) + constant)


def test_through_the_intercept_strong_ridges_look_wrong_on_every_row_and_by_slope_they_do_not():
    through, slope, test = numbers_of("leave_one_out")["accuracy"].mean(axis=0)
    assert through[-1] == 0.0 < 0.85 < test[-1]
    assert np.abs(slope - test).max() < 0.03


def test_twenty_labels_often_do_not_see_which_ridge_is_better_in_every_draw():
    found = numbers_of("leave_one_out")
    weak, strong = (np.abs(found["strength"] - a).argmin() for a in (0.1, 10.0))
    gain = found["accuracy"][:, :, strong] - found["accuracy"][:, :, weak]
    assert (gain[:, 2] > 0.0).all()
    assert 0.25 < np.mean(gain[:, 1] <= 0.0) < 0.4
