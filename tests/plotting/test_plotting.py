"""The style of all pictures: reproducible bytes, and unchanged settings of matplotlib."""

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

from semisquares.plotting import facets, legend, method_style, new_picture, render, save, style
from semisquares.plotting._curves import draw_band, draw_published_curve
from semisquares.plotting._pictures import letter_panels
from semisquares.plotting._style import METHOD_STYLES

X = np.arange(5)
ROOT = Path(__file__).resolve().parents[2]


def draw():
    """Draw something of every kind."""
    with style():
        picture, panels = facets(3, 2, sharex=True, sharey=True)
        for panel in panels:
            for k, method in enumerate(METHOD_STYLES):
                draw_published_curve(panel, X, X + k, method)
                draw_band(panel, X, X + k, np.ones(5), method)
        panels[0].plot(X, X, "o", clip_on=True)
        letter_panels(panels, ["One", "Two", "Three"])
        legend(picture, panels)
    return picture


def session():
    """Return the settings of matplotlib, except for the backend: reading it would choose one."""
    return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}


@pytest.fixture(scope="module")
def picture():
    return draw()


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_rendering_twice_and_drawing_again_give_the_same_bytes(picture, kind):
    assert render(picture, kind) == render(picture, kind) == render(draw(), kind)


def test_another_process_gives_the_same_bytes(picture):
    code = (
        "import hashlib, sys; sys.path.insert(0, 'tests/plotting'); import test_plotting as t\n"
        "print(*(hashlib.sha256(t.render(t.draw(), k)).hexdigest() for k in ('svg', 'png')))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    assert found == [hashlib.sha256(render(picture, k)).hexdigest() for k in ("svg", "png")]


def test_threads_give_the_same_bytes(picture):
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: render(draw(), "svg"), range(3)))
    assert set(found) == {render(picture, "svg")}


def test_the_settings_of_a_session_do_not_show(picture):
    with matplotlib.rc_context({"font.size": 20.0, "axes.facecolor": "red", "svg.hashsalt": "x"}):
        assert render(draw(), "svg") == render(picture, "svg")


def test_the_settings_of_a_session_come_back():
    with matplotlib.rc_context({"font.size": 13.0}):
        before = session()
        draw()
        assert session() == before


def test_the_settings_of_a_session_come_back_after_an_error():
    before = session()
    with pytest.raises(ZeroDivisionError), style():
        raise ZeroDivisionError
    assert session() == before


def test_pyplot_knows_of_no_picture():
    import matplotlib.pyplot as plt

    render(draw(), "png")
    assert plt.get_fignums() == []


def test_both_files_are_saved_and_folders_made(picture, tmp_path):
    svg, png = save(picture, tmp_path / "new" / "a.b")
    assert (svg.name, png.name) == ("a.b.svg", "a.b.png")
    assert svg.read_bytes() == render(picture, "svg")
    assert png.read_bytes().startswith(b"\x89PNG")


def test_an_svg_asks_for_no_font_and_has_no_date(picture):
    svg = render(picture, "svg").decode()
    assert "<text" not in svg
    assert "font-family" not in svg
    assert "dc:date" not in svg


@pytest.mark.parametrize("aspect", ["label", "colour", "marker", "line"])
def test_methods_differ_in_everything(aspect):
    assert len({getattr(one, aspect) for one in METHOD_STYLES.values()}) == len(METHOD_STYLES)


def test_colours_of_methods_are_told_apart_without_red_or_green():
    # simulated deuteranopia (Viénot, Brettel & Mollon 1999), in linear light
    rgb = np.array([to_rgb(one.colour) for one in METHOD_STYLES.values()]) ** 2.2
    seen = rgb @ np.array([[0.29, 0.29, -0.02], [0.71, 0.71, 0.02], [0, 0, 1]])
    seen = np.clip(seen, 0, 1) ** (1 / 2.2)
    apart = np.abs(seen[:, None] - seen[None]).max(axis=2) + np.eye(len(seen))
    assert apart.min() > 0.1


def test_a_method_without_a_look_is_refused():
    with pytest.raises(ValueError, match="'softish' has no style; take one of supervised, soft"):
        method_style("softish")


def test_a_band_reaches_two_standard_errors_up_and_down():
    with style():
        axes = new_picture().subplots()
        draw_band(axes, X, X, 0.1 * X, "soft")
    corners = axes.collections[0].get_paths()[0].vertices
    for x in X:
        assert_allclose(np.ptp(corners[corners[:, 0] == x, 1]), 0.4 * x)
    assert_allclose(axes.lines[0].get_ydata(), X)
    assert axes.lines[0].get_label() == "soft labels"


def test_a_published_curve_lies_behind_and_not_in_the_legend():
    with style():
        axes = new_picture().subplots()
        draw_band(axes, X, X, X, "hard")
        draw_published_curve(axes, X, X, "hard")
    ours, theirs = axes.lines
    assert theirs.get_zorder() < ours.get_zorder()
    assert axes.get_legend_handles_labels()[1] == ["hard labels"]


def test_a_legend_names_each_method_once(picture):
    texts = [text.get_text() for text in picture.legends[0].get_texts()]
    assert texts == [one.label for one in METHOD_STYLES.values()]


@pytest.mark.parametrize(("n", "columns"), [(1, 4), (4, 4), (7, 3), (16, 4)])
def test_facets_are_as_many_as_asked_for(n, columns):
    with style():
        picture, panels = facets(n, columns)
    assert len(panels) == len(picture.axes) == n


def test_a_panel_above_an_empty_place_carries_its_numbers():
    with style():
        picture, panels = facets(3, 2, sharex=True)
        picture.draw_without_rendering()
    shown = [any(t.get_visible() for t in panel.get_xticklabels()) for panel in panels]
    assert shown == [False, True, True]


def test_without_matplotlib_the_line_to_run_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'semisquares\[paper\]'"), style():
        pass
