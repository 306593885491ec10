"""The pictures of a comparison: what they show, and that any name is safe in them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from semisquares.plotting import render
from semisquares.tables.compare.comparison import Estimate
from semisquares.tables.report import _drawing as drawing
from semisquares.tables.report._drawing import STYLES, plain
from support.comparisons import (
    LONG,
    PICTURES,
    binary,
    curve,
    eight_rivals,
    hostile,
    many_classes,
    rival,
)
from support.pictures import line_of


def draw(name, comparison, *, narrow=False):
    return getattr(drawing, name)(comparison, narrow=narrow)


def named(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


@pytest.mark.parametrize("aspect", ["label", "colour", "marker", "line"])
def test_rivals_differ_in_everything(aspect):
    assert len({getattr(look, aspect) for look in STYLES.values()}) == len(STYLES)


def test_a_rival_is_a_dot_at_its_gain_and_at_its_error_with_whiskers():
    found = binary()
    gains, errors = draw("rivals", found).axes
    for one in found.rivals:
        accuracy, gain = one.scores["accuracy"], one.gains.get("accuracy", Estimate(0, 0, 0))
        error = (1 - accuracy.mean, 1 - accuracy.high, 1 - accuracy.low)
        for panel, expected in ((gains, (gain.mean, gain.low, gain.high)), (errors, error)):
            ((dot, place),) = line_of(panel, one.label).get_xydata()
            (whisker,) = (line for line in panel.lines if tuple(line.get_ydata()) == (place,) * 2)
            assert_allclose([dot, *whisker.get_xdata()], 100 * np.array(expected))


def test_the_averaged_classifier_comes_first_and_is_at_zero():
    gains, errors = draw("rivals", binary()).axes
    assert named(gains.yaxis)[:2] == ["averaged classifier", "the same, labeled\nrows only"]
    ((place, _),) = line_of(gains, "averaged classifier").get_xydata()
    assert place == 0.0
    assert gains.get_ylim() == errors.get_ylim() == (7.5, -0.5)


def test_a_rival_that_failed_is_not_drawn():
    *others, _ = eight_rivals()
    found = binary(rivals=(*others, rival("hard", 0.5, failed="It did not converge.")))
    assert "hard labels" not in named(draw("rivals", found).axes[0].yaxis)


@pytest.mark.parametrize("name", ["unlabeled_curve", "label_curve"])
def test_curves_go_through_the_errors_and_bands_end_at_the_intervals(name):
    found = binary()
    points = getattr(found, name)
    panel = draw(name, found).axes[0]
    methods = [method for method in STYLES if method in {one.method for one in points}]
    for method, band in zip(methods, panel.collections, strict=True):
        mine = [one for one in points if one.method == method]
        line = line_of(panel, STYLES[method].label)
        assert_allclose(line.get_ydata(), [100 * one.error.mean for one in mine])
        corners = band.get_paths()[0].vertices
        for x, one in zip(line.get_xdata(), mine, strict=True):
            ends = corners[np.isclose(corners[:, 0], x), 1]
            assert_allclose([ends.min(), ends.max()], [100 * one.error.low, 100 * one.error.high])


def test_equal_ratios_are_equally_far_apart_and_no_rows_at_all_stand_before_them():
    line = line_of(draw("unlabeled_curve", binary()).axes[0], "averaged classifier")
    steps = np.diff(line.get_xdata())
    assert_allclose(steps[1:3], steps[1])
    assert steps[0] > 0


def test_sizes_that_do_not_double_stand_on_an_ordinary_axis():
    found = binary(label_curve=curve(ridge={20: 0.2, 30: 0.19, 60: 0.15}))
    assert_allclose(
        line_of(draw("label_curve", found).axes[0], "tuned ridge").get_xdata(), [20, 30, 60]
    )


def test_sizes_are_named_the_largest_always():
    assert named(draw("unlabeled_curve", binary()).axes[0].xaxis) == [
        "1,630", "400", "100", "25", "none",
    ]  # fmt: skip
    assert named(draw("unlabeled_curve", binary(), narrow=True).axes[0].xaxis)[0] == "1,630"


def test_rows_that_changed_class_have_a_marker_of_their_own():
    found = binary()
    values, _ = draw("changes", found).axes
    n_changed = sum(found.changes.changed)
    same, other = (line_of(values, label) for label in ("same class", "another class"))
    assert len(other.get_xdata()) == n_changed > 0
    assert len(same.get_xdata()) == len(found.changes.before) - n_changed
    assert (same.get_marker(), same.get_color()) != (other.get_marker(), other.get_color())
    assert ((other.get_xdata() > 50.0) != (other.get_ydata() > 50.0)).all()


def test_the_histogram_counts_all_rows():
    found = binary()
    _, bars = draw("changes", found).axes
    assert [bar.get_height() for bar in bars.patches] == list(found.changes.histogram)
    assert sum(found.changes.histogram) == found.changes.n_rows


def test_probabilities_are_those_of_the_second_class_or_of_the_likeliest():
    for found, whose in ((binary(), "malignant, %"), (many_classes(), "the likeliest class, %")):
        values, bars = draw("changes", found).axes
        assert values.get_xlabel().startswith(whose)
        assert bars.get_xlabel() == whose


# any name, any window, the same bytes


@pytest.mark.parametrize("narrow", [False, True])
def test_nothing_is_cut_off_whatever_the_names(narrow):
    found = hostile()
    for picture in [draw(name, found, narrow=narrow) for name in PICTURES]:
        picture.draw_without_rendering()
        box = picture.get_tightbbox()
        width, height = picture.get_size_inches()
        assert min(box.x0, box.y0) > -0.02
        assert box.x1 < width + 0.02
        assert box.y1 < height + 0.02


def test_dollars_and_underscores_are_no_formulas():
    assert plain("$a$ x_1") == r"\$a\$ x_1"
    assert plain("$\\frac{1}{2$") == r"\$\frac{1}{2\$"
    render(draw("changes", hostile()), "svg")  # a formula that cannot be read is an error


def test_names_are_short_visible_and_on_one_line():
    assert plain("a\n\tb\x00c") == "a b c"
    assert plain(" \n") == "(blank)"
    assert len(plain(LONG)) == 34
    assert plain("空 x") == "□ x"


@pytest.mark.parametrize("name", ["rivals", "changes"])
def test_panels_lie_below_each_other_for_a_phone(name):
    wide, narrow = (draw(name, binary(), narrow=narrow) for narrow in (False, True))
    assert narrow.get_figwidth() < 3.7 < wide.get_figwidth()
    first, second = narrow.axes
    assert first.get_subplotspec().rowspan != second.get_subplotspec().rowspan
    first, second = wide.axes
    assert first.get_subplotspec().rowspan == second.get_subplotspec().rowspan


@pytest.mark.parametrize("name", PICTURES)
def test_drawing_again_gives_the_same_bytes(name):
    first, again = (render(draw(name, binary()), "svg") for _ in range(2))
    assert first == again
