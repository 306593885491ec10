"""The pictures of a comparison: what they show, and that any name is safe in them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from semisquares.plotting import render
from semisquares.tables.compare.comparison import Estimate
from semisquares.tables.report import _drawing as drawing
from semisquares.tables.report._drawing import STYLES, pinned, plain
from support.comparisons import (
    LONG,
    PICTURES,
    binary,
    changed,
    curve,
    hostile,
    many_classes,
    rival,
    six_rivals,
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


def test_the_two_of_the_verdict_come_first_and_zero_is_tuned_ridge():
    gains, errors = draw("rivals", binary()).axes
    assert named(gains.yaxis)[:2] == ["soft labels, chosen\nby the labels", "tuned ridge"]
    assert [text.get_text() for text in gains.texts] == ["tuned ridge"]
    assert gains.texts[0].xy[0] == 0.0
    assert gains.get_ylim() == errors.get_ylim() == (5.5, -0.5)


def test_a_rival_that_failed_is_not_drawn():
    *others, _ = six_rivals()
    found = binary(rivals=(*others, rival("self_training", 0.5, failed="It did not converge.")))
    assert "self-training" not in named(draw("rivals", found).axes[0].yaxis)


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


def test_doublings_are_equally_far_apart_and_no_rows_at_all_stand_before_them():
    line = line_of(draw("unlabeled_curve", binary()).axes[0], "soft labels, chosen by the labels")
    assert_allclose(np.diff(line.get_xdata())[:4], 1.0)


def test_sizes_that_do_not_double_stand_on_an_ordinary_axis():
    found = binary(label_curve=curve(ridge={20: 0.2, 30: 0.19, 60: 0.15}))
    assert_allclose(
        line_of(draw("label_curve", found).axes[0], "tuned ridge").get_xdata(), [20, 30, 60]
    )


def test_a_method_with_one_point_is_level_over_all_sizes():
    found = binary(unlabeled_curve=curve(soft={100: 0.2, 800: 0.1}, ridge={0: 0.15}))
    panel = draw("unlabeled_curve", found).axes[0]
    assert_allclose(line_of(panel, "tuned ridge").get_ydata(), [15, 15])
    assert_allclose(
        line_of(panel, "tuned ridge").get_xdata()[1], line_of(panel, "soft labels").get_xdata()[1]
    )


def test_sizes_are_named_the_largest_always():
    assert named(draw("unlabeled_curve", binary()).axes[0].xaxis) == [
        "1,630", "800", "400", "200", "100", "none",
    ]  # fmt: skip
    assert named(draw("unlabeled_curve", binary(), narrow=True).axes[0].xaxis)[0] == "1,630"


def test_rows_that_changed_class_have_a_marker_of_their_own():
    found = binary()
    values, _ = draw("changes", found).axes
    n_flipped = sum(found.changes.flipped)
    same, other = (line_of(values, label) for label in ("same class", "another class"))
    assert len(other.get_xdata()) == n_flipped > 0
    assert len(same.get_xdata()) == len(found.changes.before) - n_flipped
    assert (same.get_marker(), same.get_color()) != (other.get_marker(), other.get_color())
    assert (np.sign(other.get_xdata()) != np.sign(other.get_ydata())).all()


def test_the_histogram_has_shares_of_all_rows():
    found = binary()
    _, labels = draw("changes", found).axes
    heights = [bar.get_height() for bar in labels.patches[:20]]
    assert_allclose(sum(heights), 100)
    assert_allclose(heights[0], 100 * found.changes.histogram[0] / found.changes.n_rows)


def test_soft_labels_of_exactly_0_and_1_are_told_apart_from_the_rest_of_their_bars():
    few = replace(changed(), after=(-0.7, -0.5, -0.49, 0.1, 0.5), n_rows=5)
    few = replace(few, before=(0.1,) * 5, flipped=(True,) * 5, histogram=(3, *(0,) * 18, 2))
    _, labels = draw("changes", binary(changes=few)).axes
    assert [text.get_text() for text in labels.texts] == [
        "40 % are 0", "40 % between", "20 % are 1",
    ]  # fmt: skip
    assert_allclose([bar.get_height() for bar in labels.patches[20:]], [40, 20])


def test_the_likeliest_of_several_classes_has_all_of_a_row_from_a_lead_of_1_on():
    assert pinned(replace(changed(3), after=(0.2, 0.99, 1.0, 1.4)), 3) == (0.0, 0.5)


def test_more_than_two_classes_have_leads_and_no_sides():
    values, labels = draw("changes", many_classes()).axes
    assert "lead" in values.get_xlabel()
    assert "likeliest class" in labels.get_xlabel()
    sides, _ = draw("changes", binary()).axes
    assert "← benign   |   malignant →" in sides.get_xlabel()


def test_a_bar_is_as_long_as_the_weight_of_its_feature():
    items = binary().strengths
    panel = drawing.strengths(items).axes[0]
    assert_allclose([bar.get_width() for bar in panel.patches], [one.weight for one in items])
    assert named(panel.yaxis) == [one.feature for one in items]
    colours = [bar.get_facecolor() for bar in panel.patches]
    assert colours[0] == colours[2] != colours[1] == colours[3]


def test_as_many_features_are_drawn_as_given_or_none():
    items = binary().strengths
    assert len(drawing.strengths(items[:2]).axes[0].patches) == 2
    assert drawing.strengths(()).axes[0].patches[:] == []


def test_features_of_several_classes_name_theirs():
    panel = drawing.strengths(many_classes().strengths).axes[0]
    assert named(panel.yaxis)[0] == "radius_mean: class 1"


# any name, any window, the same bytes


@pytest.mark.parametrize("narrow", [False, True])
def test_nothing_is_cut_off_whatever_the_names(narrow):
    found = hostile()
    pictures = [draw(name, found, narrow=narrow) for name in PICTURES]
    pictures.append(drawing.strengths(found.strengths))
    for picture in pictures:
        picture.draw_without_rendering()
        box = picture.get_tightbbox()
        width, height = picture.get_size_inches()
        assert min(box.x0, box.y0) > -0.02
        assert box.x1 < width + 0.02
        assert box.y1 < height + 0.02


def test_dollars_and_underscores_are_no_formulas():
    panel = drawing.strengths(hostile().strengths).axes[0]
    render(panel.figure, "svg")  # a formula that cannot be read is an error
    assert r"\$\frac{1}{2\$" in named(panel.yaxis)
    assert plain("$a$ x_1") == r"\$a\$ x_1"


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


def test_drawing_again_gives_the_same_bytes():
    first, again = (render(draw("rivals", binary()), "svg") for _ in range(2))
    assert first == again
