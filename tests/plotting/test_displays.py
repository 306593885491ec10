"""The displays show the attributes of classifiers, and leave given axes otherwise alone."""

import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.contour import QuadContourSet
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares.model_selection import LabeledStratifiedKFold, LabeledStratifiedShuffleSplit
from semisquares.paper.datasets import remove_labels, two_gaussians
from semisquares.plotting import (
    Curve,
    DecisionDisplay,
    LearningCurveDisplay,
    MembersDisplay,
    PathDisplay,
    ReliabilityDisplay,
    SoftLabelsDisplay,
    new_picture,
    plot_decision,
    plot_learning_curve,
    plot_members,
    plot_path,
    plot_reliability,
    plot_soft_labels,
    style,
)
from semisquares.plotting._fitted import assign_styles
from semisquares.plotting._plane import boundaries, leads
from semisquares.plotting._rows import draw_imputed_rows, label_colours
from semisquares.plotting._style import CLASS_COLOURS, METHOD_STYLES


def table(n_features=2, n_classes=2, n_labeled=16):
    """Return rows of overlapping classes, some of them labeled."""
    X, truth = two_gaussians(90, n_features, variance=1.5, random_state=3)
    truth = truth if n_classes == 2 else np.arange(90) % n_classes
    X = X + truth[:, None]
    return X, remove_labels(truth, n_labeled=n_labeled, random_state=1)


def panel():
    with style():
        return new_picture().subplots()


def levels_drawn(axes, level):
    """Return the points of the lines drawn for a level, one array per line."""
    sets = [one for one in axes.collections if isinstance(one, QuadContourSet) and not one.filled]
    return [one.get_paths()[0].vertices for one in sets if list(one.levels) == [level]]


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return SoftLabelClassifier(alpha=0.1).fit(X, y), X, y


# the decision


def test_boundaries_are_drawn_where_the_decision_function_is_zero(fitted):
    model, X, y = fitted
    supervised, ours = levels_drawn(plot_decision(model, X, y, ax=panel()).ax_, 0.0)
    assert_allclose(model.decision_function(ours), 0.0, atol=1e-9)
    assert_allclose(model.supervised_.decision_function(supervised), 0.0, atol=1e-9)


def test_dotted_lines_are_where_labels_become_0_and_1(fitted):
    model, X, y = fitted
    first, second = levels_drawn(plot_decision(model, X, y, ax=panel()).ax_, 1.0)
    assert_allclose(model.decision_function(first) + 0.5, 0.0, atol=1e-9)
    assert_allclose(model.decision_function(second) + 0.5, 1.0, atol=1e-9)


def test_labeled_rows_are_large_and_the_others_have_the_colour_of_their_label(fitted):
    model, X, y = fitted
    axes = plot_decision(model, X, y, ax=panel()).ax_
    for code, line in enumerate(axes.lines[-2:]):
        assert_allclose(line.get_xydata(), X[y == code])
    dots = next(one for one in axes.collections if len(one.get_offsets()) == (y == -1).sum())
    expected = label_colours(model.label_distributions_[y == -1])
    assert_allclose(dots.get_facecolor()[:, :3], expected)


def test_a_sure_label_has_the_colour_of_its_class_and_an_even_one_is_grey():
    sure, even = label_colours(np.array([[0.0, 1.0], [0.5, 0.5]]))
    assert_allclose(sure, matplotlib.colors.to_rgb("#E69F00"))
    assert np.ptp(even) == 0.0


def test_labels_below_0_and_above_1_are_rings_in_the_colour_of_the_class():
    axes = panel()
    draw_imputed_rows(axes, np.zeros((4, 2)), np.array([-0.2, 0.5, 1.5, np.nan]), size=3.0)
    rings = axes.collections[1]
    assert rings.get_facecolor().size == 0
    ends = [matplotlib.colors.to_rgb(colour) for colour in CLASS_COLOURS[:2]]
    assert_allclose(rings.get_edgecolor()[:, :3], ends)


def test_rows_that_got_no_label_are_grey_and_named_in_the_legend(fitted):
    _, X, y = fitted
    shown = plot_decision(LeastSquaresClassifier().fit(X, y), X, y, ax=panel())
    labels = [handle.get_label() for handle in shown.handles_]
    assert "no imputed label" in labels
    assert not [label for label in labels if label.startswith("imputed label")]


@pytest.mark.parametrize("wrap", ["pipeline", "search"])
def test_pipelines_and_searches_are_looked_through(wrap):
    X, y = table()
    pipeline = make_pipeline(StandardScaler(), SoftLabelClassifier(alpha=0.1))
    model = {
        "pipeline": pipeline,
        "search": GridSearchCV(pipeline, {}, cv=LabeledStratifiedKFold(2)),
    }[wrap].fit(X, y)
    shown = plot_decision(model, X, y, ax=panel())
    best = getattr(model, "best_estimator_", model)
    supervised, ours = levels_drawn(shown.ax_, 0.0)
    assert_allclose(best.decision_function(ours), 0.0, atol=1e-9)
    scaled = best[0].transform(supervised)
    assert_allclose(best[-1].supervised_.decision_function(scaled), 0.0, atol=1e-9)
    assert_array_equal(shown.imputed, best[-1].label_distributions_[:, 1])


def test_names_of_columns_and_classes_are_those_of_the_table():
    pandas = pytest.importorskip("pandas")
    X, y = table()
    frame = pandas.DataFrame(X, columns=["size", "age"])
    named_y = np.array(["no", "yes", None], dtype=object)[y]
    shown = plot_decision(SoftLabelClassifier().fit(frame, named_y), frame, named_y, ax=panel())
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("size", "age")
    assert "labeled, class yes" in [handle.get_label() for handle in shown.handles_]


def test_on_a_boundary_of_several_classes_two_of_them_lead_together():
    X, y = table(n_classes=3, n_labeled=40)
    model = SoftLabelClassifier(alpha=0.1).fit(X, y)
    shown = DecisionDisplay.from_estimator(model, X, y, supervised=False, ax=panel())
    points = np.vstack(levels_drawn(shown.ax_, 0.0))
    third, second, first = np.sort(model.decision_function(points), axis=1).T
    assert len(points) > 20
    assert np.quantile(first - second, 0.9) < 1e-9  # except for the cells where three classes meet
    assert (third <= second).all()


def test_every_part_of_a_boundary_is_drawn_once():
    values = np.random.default_rng(0).normal(size=(30, 30, 4))
    changes = [np.diff(np.sign(part), axis=0) for part in boundaries(values)]
    once = sum(np.nan_to_num(change) != 0 for change in changes)
    assert once.max() == 1


def test_the_lead_of_the_first_class_is_what_the_second_lacks():
    z = np.array([[0.4, -0.7]])
    assert_allclose(leads(z), [-2 * z, 2 * z])


def test_a_classifier_of_scikit_learn_is_drawn_without_shades():
    X, y = table()
    model = SelfTrainingClassifier(LogisticRegression()).fit(X, y)
    shown = plot_decision(model, X, y, ax=panel())
    (ours,) = levels_drawn(shown.ax_, 0.0)
    assert_allclose(model.decision_function(ours), 0.0, atol=1e-6)
    assert levels_drawn(shown.ax_, 1.0) == []
    assert_array_equal(np.isnan(shown.imputed), model.transduction_ == -1)


# labels, paths, curves


def test_the_histogram_counts_the_unlabeled_rows_and_those_at_the_ends(fitted):
    model, X, y = fitted
    shown = plot_soft_labels(model, X, y, ax=panel())
    imputed = model.label_distributions_[y == -1, 1]
    assert shown.counts.sum() == shown.supervised.sum() == len(imputed)
    assert shown.ends == (np.mean(imputed == 0.0), np.mean(imputed == 1.0))
    before = np.clip(model.supervised_.decision_function(X[y == -1]) + 0.5, 0, 1)
    assert_array_equal(shown.supervised, np.histogram(before, shown.edges)[0])


def test_of_several_classes_the_label_of_the_likeliest_is_counted():
    X, y = table(n_classes=3, n_labeled=40)
    model = SoftLabelClassifier().fit(X, y)
    shown = plot_soft_labels(model, X, y, ax=panel())
    imputed = model.label_distributions_[y == -1].max(axis=1)
    assert_array_equal(shown.counts, np.histogram(imputed, shown.edges)[0])


def test_words_say_how_many_labels_are_0_between_and_1():
    shown = SoftLabelsDisplay([3, 5, 2], (0.25, 0.15)).plot(panel())
    assert [text.get_text() for text in shown.ax_.texts] == [
        "25 % are 0", "60 % between", "15 % are 1",
    ]  # fmt: skip


def fits_of_a_line(kind=SoftLabelClassifier, **options):
    X, y = table(n_features=1)
    return kind(alpha=0.3, record_path=True, **options).fit(X, y), X, y


def test_j_falls_to_the_objective_of_the_fit():
    model, *_ = fits_of_a_line(solver="block")
    (path,) = plot_path(model, ax=panel()).paths
    assert_allclose(path.values[1:], [step.value for step in model.path_])
    assert_allclose(path.values[-1], model.objective_)
    assert np.diff(path.values[1:]).max() <= 1e-12


@pytest.mark.parametrize("kind", [SoftLabelClassifier, HardLabelClassifier])
def test_contours_are_those_of_the_objective(kind):
    model, X, y = fits_of_a_line(kind, unlabeled_weight=0.5)
    first, second, J = plot_path(model, X, y, kind="weights", ax=panel()).surface
    w, b = first[7], second[30]
    z = w * X[:, 0] + b
    u = {SoftLabelClassifier: np.clip(z, 0, 1), HardLabelClassifier: z > 0.5}[kind]
    cost = np.where(y == -1, 0.5 * (z - u) ** 2, (z - y) ** 2)
    assert_allclose(J[30, 7], cost.sum() + 0.3 * w**2)


def test_a_path_starts_at_the_supervised_weights_or_at_those_given():
    model, *_ = fits_of_a_line(solver="block")
    (path,) = PathDisplay.from_estimator(model, kind="weights", ax=panel()).paths
    supervised = model.supervised_
    assert_allclose(path.weights[0], [supervised.coef_[0, 0], supervised.intercept_[0] + 0.5])
    assert_allclose(path.weights[-1], [model.coef_[0, 0], model.intercept_[0] + 0.5])
    other, *_ = fits_of_a_line(solver="block", init=([2.0], [-1.0]))
    (path,) = PathDisplay.from_estimator(other, kind="weights", ax=panel()).paths
    assert_allclose(path.weights[0], [2.0, -0.5])


def tuned_fit(**options):
    X, y = table(n_features=1)
    return SoftLabelClassifierCV(record_path=True, **options).fit(X, y), X, y


def small_weights(model, X, y):
    """Score small weights best, which a fit with unlabeled rows and a large alpha has."""
    return -float(model.coef_.sum())


def test_contours_of_a_tuned_fit_are_those_of_its_choice():
    model, X, y = tuned_fit(alphas=[0.3, 3.0], unlabeled_weights=[0.5], scoring=small_weights)
    assert (model.alpha_, model.unlabeled_weight_) == (3.0, 0.5)
    shown = plot_path(model, X, y, kind="weights", ax=panel())
    first, second, J = shown.surface
    w, b = first[7], second[30]
    z = w * X[:, 0] + b
    cost = np.where(y == -1, 0.5 * (z - np.clip(z, 0, 1)) ** 2, (z - y) ** 2)
    assert_allclose(J[30, 7], cost.sum() + 3.0 * w**2)
    assert_allclose(shown.paths[0].weights[-1], [model.coef_[0, 0], model.intercept_[0] + 0.5])


def test_the_shift_of_the_intercept_is_not_part_of_the_path():
    model, X, y = tuned_fit()
    assert model.intercept_shift_[0] != 0.0
    shown = plot_path(model, X, y, kind="weights", ax=panel())
    plain = LeastSquaresClassifier(model.alpha_).fit(X, y)
    expected = [plain.coef_[0, 0], plain.intercept_[0] + 0.5]
    assert_allclose(shown.paths[0].weights, [expected])


def test_a_path_has_no_start_if_the_supervised_fit_has_another_alpha():
    model, *_ = tuned_fit(alphas=[0.3, 3.0], unlabeled_weights=[0.5], scoring=small_weights)
    assert len(plot_path(model, ax=panel()).paths[0].steps) == len(model.path_) + 1
    model.supervised_alpha_ = 0.3
    assert len(plot_path(model, ax=panel()).paths[0].steps) == len(model.path_)


def test_a_fit_that_starts_at_the_optimum_has_two_weights_without_an_intercept():
    X, y = table()
    y = np.where(y == -1, 0, y)
    model = SoftLabelClassifier(fit_intercept=False, record_path=True).fit(X, y)
    shown = plot_path(model, kind="weights", ax=panel())
    assert_allclose(shown.paths[0].weights, model.coef_)


def test_two_weights_without_an_intercept_make_a_path_too():
    X, y = table()
    model = SoftLabelClassifier(fit_intercept=False, record_path=True, solver="block").fit(X, y)
    shown = plot_path(model, X, y, kind="weights", ax=panel())
    assert_allclose(shown.paths[0].weights[-1], model.coef_[0])
    assert shown.ax_.get_xlabel() == "$w_1$"


def test_many_runs_are_counted_where_they_end():
    X, y = table(n_features=1)
    starts = np.random.default_rng(0).normal(size=(12, 2))
    fits = [
        SoftLabelClassifier(solver="block", init=(w[:1], w[1:]), record_path=True).fit(X, y)
        for w in starts
    ]
    shown = plot_path(fits, kind="weights", ax=panel())
    assert [text.get_text() for text in shown.ax_.texts] == ["12 runs"]


def test_a_learning_curve_ends_in_the_cross_validated_error():
    X, y = table(n_features=12, n_labeled=30)
    cv = LabeledStratifiedShuffleSplit(6, test_size=0.5, random_state=0)
    shown = plot_learning_curve(SoftLabelClassifier(1e-3), X, y, cv=cv, ax=panel())
    (curve,) = shown.curves
    scores = cross_val_score(SoftLabelClassifier(1e-3), X, y, cv=cv)
    plain = cross_val_score(LeastSquaresClassifier(1e-3), X, y, cv=cv)
    assert plain.mean() != scores.mean()
    assert (curve.n[0], curve.n[-1]) == (0, 60)
    assert_allclose([curve.mean[0], curve.mean[-1]], [1 - plain.mean(), 1 - scores.mean()])
    wide = 2 * scores.std(ddof=1) * np.sqrt(1 / 6 + 15 / 15)  # tested and trained on: 15 labels
    assert_allclose(curve.high[-1] - curve.mean[-1], wide)


def test_labels_are_added_from_two_of_each_class_on():
    X, y = table(n_labeled=30)
    shown = plot_learning_curve(SoftLabelClassifier(), X, y, vary="labeled", ax=panel())
    (curve,) = shown.curves
    assert curve.n[-1] == 15
    assert curve.n[0] >= 4
    assert shown.ax_.get_xlabel() == "labeled rows"


def test_stored_results_are_drawn_as_they_are():
    pandas = pytest.importorskip("pandas")
    rows = [("soft", n, 0.3 - n / 1000, 0.01) for n in (10, 20, 40)]
    stored = pandas.DataFrame(rows, columns=["method", "n_unlabeled", "error", "error_se"])
    shown = LearningCurveDisplay.from_results(stored, ax=panel())
    (line,) = (line for line in shown.ax_.lines if line.get_label() == "soft labels")
    assert_allclose(line.get_ydata(), stored["error"])
    assert_allclose(line.get_xdata(), np.log2(stored["n_unlabeled"]))
    assert_allclose(shown.curves[0].high, stored["error"] + 0.02)


def test_classifiers_get_the_looks_of_their_methods_and_names_of_their_own():
    found = assign_styles(
        [LeastSquaresClassifier(), SoftLabelClassifier(), SoftLabelClassifier(2.0)]
    )
    (_, first), (_, second), (_, third) = found.values()
    assert (first, second) == (METHOD_STYLES["supervised"], METHOD_STYLES["soft"])
    assert third.colour not in (first.colour, second.colour)
    assert len(found) == 3


# the average


@pytest.fixture(scope="module")
def averaged():
    X, y = table(n_features=3, n_labeled=40)
    return AveragedClassifier().fit(X, y), X, y


def widths_drawn(shown):
    return [bar.get_width() / 100 for bar in shown.ax_.patches]


def test_bars_are_as_long_as_the_weights_of_their_members(averaged):
    model, *_ = averaged
    weights = model.members_["weight"]
    small = np.median(weights)
    shown = MembersDisplay.from_estimator(model, negligible=small, ax=panel())
    assert_allclose(sorted(widths_drawn(shown)), np.sort(weights[weights >= small]))
    assert shown.n_negligible == (weights < small).sum() > 0
    assert_allclose(sum(widths_drawn(shown)) + shown.negligible_weight, 1.0)


def test_a_bar_holds_the_settings_of_one_representation_side_by_side(averaged):
    model, *_ = averaged
    shown = MembersDisplay.from_estimator(model, negligible=0.0, ax=panel())
    members = model.members_
    pairs = zip(members["family"].tolist(), members["representation"].tolist(), strict=True)
    groups = list(dict.fromkeys(pairs))
    names = [name for _, name in groups]
    assert [label.get_text() for label in shown.ax_.get_yticklabels()] == names
    assert len(names) < len(members["weight"]) == len(shown.ax_.patches)
    for place, (family, name) in zip(shown.ax_.get_yticks(), groups, strict=True):
        bars = [one for one in shown.ax_.patches if one.get_y() < place < one.get_y() + 0.8]
        ends = [one.get_x() + one.get_width() for one in bars]
        mine = (members["family"] == family) & (members["representation"] == name)
        assert_allclose(ends, 100 * np.cumsum(members["weight"][mine]))


def test_words_name_every_family_and_sum_up_what_is_not_drawn():
    members = {
        "family": ["one", "two", "two", "two"], "representation": ["columns"] * 4,
        "setting": list("abcd"), "weight": [0.0004, 0.0006, 0.3, 0.699],
    }  # fmt: skip
    shown = MembersDisplay(members).plot(panel())
    texts = [text.get_text().strip() for text in shown.ax_.texts]
    assert "one: 0.0 % (1 member)" in texts
    assert "two: 100.0 % (3 members)" in texts
    expected = "2 of 4 members have less than 0.1 % each: 0.1 % in all"
    assert shown.ax_.get_xlabel().endswith(expected)


def ece(y, proba, n_bins):
    """Return the expected calibration error, row by row and bin by bin."""
    total = 0.0
    for k in range(n_bins):
        inside = [
            (max(p), float(np.argmax(p) == code))
            for p, code in zip(proba, y, strict=True)
            if k == min(int(max(p) * n_bins), n_bins - 1)
        ]
        total += abs(sum(p for p, _ in inside) - sum(right for _, right in inside))
    return total / len(y)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_bins_hold_all_rows_and_the_calibration_error_is_that_of_its_definition(n_classes):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.full(n_classes, 0.3), size=200)
    proba[0] = np.eye(n_classes)[0]  # probability 1
    y = rng.integers(n_classes, size=200)
    shown = ReliabilityDisplay.from_predictions(y, proba, bins=7, ax=panel())
    assert shown.counts.sum() == 200
    assert shown.calibration_error == pytest.approx(ece(y, proba, 7))
    assert f"{shown.calibration_error:.3f}" in shown.ax_.get_title()
    counts = [text.get_text() for text in shown.ax_.texts]
    assert counts == [str(count) for count in shown.counts if count]


def test_the_reliability_of_an_average_is_that_of_rows_left_out(averaged):
    model, _, y = averaged
    shown = plot_reliability(model, y, ax=panel())
    truth = y[model.loo_indices_]
    assert shown.calibration_error == pytest.approx(ece(truth, model.loo_proba_, 10))
    right = shown.counts @ shown.accuracy / shown.counts.sum()
    assert right == pytest.approx(model.loo_score_)


def test_dots_are_at_mean_probability_and_accuracy_with_the_interval_of_wilson():
    shown = ReliabilityDisplay([5, 9], [0.6, 0.9], [0.4, 1.0]).plot(panel())
    assert_allclose(shown.ax_.lines[-1].get_xydata(), [[0.6, 0.4], [0.9, 1.0]])
    (lines,) = shown.ax_.collections
    ends = [path.vertices[:, 1] for path in lines.get_paths()]
    wilson = [binomtest(k, n).proportion_ci(method="wilson") for k, n in ((2, 5), (9, 9))]
    assert_allclose(ends, [(one.low, one.high) for one in wilson])


def test_the_error_by_chance_is_the_mean_error_of_right_probabilities():
    rng = np.random.default_rng(0)
    p = np.repeat([0.55, 0.72, 0.93], [4, 7, 30])
    proba = np.column_stack((1 - p, p))
    drawn = [ece((rng.random(len(p)) < p).astype(int), proba, 10) for _ in range(500)]
    shown = ReliabilityDisplay([4, 7, 30], [0.55, 0.72, 0.93], [1.0, 1.0, 1.0])
    assert shown.chance == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / np.sqrt(500))


def test_columns_of_probabilities_belong_to_the_classes_given():
    y = ["c", "a", "c"]
    proba = [[0.1, 0.0, 0.9], [0.8, 0.0, 0.2], [0.2, 0.0, 0.8]]
    shown = ReliabilityDisplay.from_predictions(y, proba, classes=["a", "b", "c"], ax=panel())
    assert shown.accuracy[shown.counts > 0].tolist() == [1.0, 1.0]
    second = ReliabilityDisplay.from_predictions([1, 0], [0.9, 0.2], ax=panel())
    assert second.confidence[second.counts > 0].tolist() == [0.8, 0.9]


def test_pipelines_around_an_average_are_looked_through():
    X, y = table(n_labeled=30)
    average = AveragedClassifier("least_squares", representations="linear")
    model = make_pipeline(StandardScaler(), average).fit(X, y)
    assert_allclose(plot_members(model, ax=panel()).weight, model[-1].members_["weight"])
    assert plot_reliability(model, y, ax=panel()).counts.sum() == 30


# where they draw


MEMBERS = {
    "family": ["forest"], "representation": ["columns"], "setting": ["9 trees"], "weight": [1.0],
}  # fmt: skip
SHORT = {
    "decision": lambda ax: plot_decision(SoftLabelClassifier().fit(*table()), *table(), ax=ax),
    "soft labels": lambda ax: plot_soft_labels(
        SoftLabelClassifier().fit(*table()), *table(), ax=ax
    ),
    "path": lambda ax: plot_path(fits_of_a_line()[0], ax=ax),
    "learning curve": lambda ax: LearningCurveDisplay(
        [Curve(METHOD_STYLES["soft"], [0, 5], [0.2, 0.1], [0.1, 0.1], [0.3, 0.1])]
    ).plot(ax),
    "members": lambda ax: MembersDisplay(MEMBERS).plot(ax),
    "reliability": lambda ax: ReliabilityDisplay([1, 3], [0.5, 0.9], [0.0, 1.0]).plot(ax),
}


@pytest.mark.parametrize("name", SHORT)
def test_a_display_draws_on_the_axes_given_and_pyplot_knows_of_nothing(name):
    axes = panel()
    shown = SHORT[name](axes)
    assert shown.ax_ is axes
    assert shown.figure_ is axes.figure
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", SHORT)
def test_without_axes_a_figure_of_pyplot_is_made_and_settings_come_back(name):
    plt.switch_backend("agg")
    with matplotlib.rc_context({"font.size": 13.0}):
        shown = SHORT[name](None)
        assert plt.figure(plt.get_fignums()[0]) is shown.figure_
        assert not shown.ax_.spines["top"].get_visible()  # the style of the package
        assert matplotlib.rcParams["font.size"] == 13.0
    plt.close("all")


def test_without_matplotlib_the_line_to_run_is_said(fitted, monkeypatch):
    model, X, y = fitted
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'semisquares\[paper\]'"):
        plot_decision(model, X, y)


# what they refuse


def test_a_classifier_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError, match="SoftLabelClassifier is not fitted; call its fit"):
        plot_decision(SoftLabelClassifier(), *table())


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda X, y, m: plot_decision(m, X[:, [0, 1, 1]], y), "X has 3 columns.*PCA"),
        (lambda X, y, m: plot_decision(m, X[:, 0], y), r"X has shape \(90,\)"),
        (lambda X, y, m: plot_decision(m, X[:50], y[:50]), "X has 50 rows.*was fitted to 90 rows"),
        (lambda X, y, m: plot_decision(m, X, y[:50]), "y has 50 rows but X has 90"),
        (lambda X, y, m: plot_path(m), "has no recorded path; fit it again with record_path=True"),
        (lambda X, y, m: plot_path([]), "Got no classifier to draw"),
        (lambda X, y, m: plot_soft_labels(m.supervised_, X, y), "imputed no label; fit a"),
        (lambda X, y, m: plot_learning_curve(m, X, y, vary="rows"), "vary='rows' is unknown"),
        (lambda X, y, m: plot_learning_curve(m, X, y, sizes=[0, 99]), "numbers from 0 to 74"),
        (lambda X, y, m: PathDisplay([], kind="labels"), "kind='labels' is unknown; take one"),
        (lambda X, y, m: plot_members(m), "SoftLabelClassifier has no members; give a fitted"),
        (lambda X, y, m: MembersDisplay({"weight": [1.0]}), "no column family, representation"),
        (lambda X, y, m: plot_reliability(m, y), "no out-of-sample probabilities.*kept back"),
        (
            lambda X, y, m: ReliabilityDisplay.from_predictions([0, 1, 1], [[0.5, 0.5]]),
            r"proba has shape \(1, 2\), but y has 3 rows and there are 2 classes",
        ),
        (
            lambda X, y, m: ReliabilityDisplay.from_predictions([0, 5], [0.1, 0.2], classes=[0, 1]),
            r"y holds 5, which is not one of the classes \[0, 1\]",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_in_one_sentence(fitted, draw, message):
    model, X, y = fitted
    with pytest.raises(ValueError, match=message) as error:
        draw(X, y, model)
    assert str(error.value).count(". ") == 0
    assert plt.get_fignums() == []


@pytest.mark.parametrize("other", [lambda y: y[:5], lambda y: np.full_like(y, -1)])
def test_labels_that_an_average_was_not_fitted_to_are_refused(averaged, other):
    model, _, y = averaged
    with pytest.raises(ValueError, match="y does not have the labels that AveragedClassifier was"):
        plot_reliability(model, other(y))


def test_three_weights_have_no_picture_in_the_plane():
    X, y = table()
    model = SoftLabelClassifier(record_path=True).fit(X, y)
    with pytest.raises(ValueError, match="A fit has 3 weights, but a picture shows two"):
        plot_path(model, kind="weights")


def test_a_table_without_the_columns_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="The table has no column error_se; it has method, n"):
        LearningCurveDisplay.from_results(
            pandas.DataFrame({"method": [], "n_unlabeled": [], "error": []})
        )
