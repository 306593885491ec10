"""The hard-label classifier: every start ends label-stable, and all labelings can be looked at."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest

from semisquares import HardLabelClassifier, LeastSquaresClassifier, SoftLabelClassifier
from semisquares._utils.errors import CollapsedLabelsWarning
from semisquares.core.certificate import is_label_stable
from semisquares.core.rows import DenseTable, MemoryRows
from semisquares.core.solvers import Status
from semisquares.paper import objectives as paper
from support.allowed_warnings import collapse_allowed, early_stop_allowed
from support.problems import SETTINGS, SHORT, make_problem

pytestmark = collapse_allowed
hard_module = import_module("semisquares.estimators.hard")
LITTLE = {"n_labeled": 6, "n_unlabeled": 9, "n_features": 2}
STARTS = ("supervised", "soft", "path", "random")
KINDS = [(name, n_classes) for name in SETTINGS for n_classes in (2, 3)]


def fit(problem, **options):
    model = HardLabelClassifier(**problem.settings, **options)
    return model.fit(problem.X, problem.y, problem.sample_weight)


def weights_of(model):
    """The weights of z, the intercept last where there is one."""
    w = np.hstack([model.coef_] + [model.intercept_[:, None] + 0.5] * model.fit_intercept)
    return w[0] if len(w) == 1 else w.T


def refit(problem, labels):
    """The weights that least squares gives to targets of all rows."""
    w = problem.refit(labels.reshape(len(problem.y), -1))[1]
    return w[:, 0] if labels.ndim == 1 else w


def assert_stable(problem, model):
    """Least squares on the model's labels gives its weights, and they give its labels."""
    labels = problem.targets(model.transduction_)
    np.testing.assert_allclose(weights_of(model), refit(problem, labels), rtol=1e-7, atol=1e-9)
    assert is_label_stable(problem.objective("hard"), labels, lambda u: refit(problem, u))
    assert model.objective_ == pytest.approx(problem.J(weights_of(model), "hard"), rel=1e-10)
    assert model.termination_condition_ == Status.STABLE.value


# -- starts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize(("name", "n_classes"), KINDS)
def test_every_start_ends_label_stable(name, n_classes, init):
    problem = make_problem(1, n_classes=n_classes, **SETTINGS[name])
    assert_stable(problem, fit(problem, init=init, random_state=0))


@pytest.mark.parametrize("init", STARTS)
def test_every_start_ends_label_stable_without_a_ridge_and_few_labels(init):
    problem = make_problem(2, **SHORT["short"])
    assert_stable(problem, fit(problem, init=init, random_state=0))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_given_labels_are_fitted_as_they_are(n_classes):
    problem = make_problem(2, n_classes=n_classes)
    shape = np.eye(n_classes)[0].shape * (n_classes > 2)
    init = np.random.default_rng(0).normal(size=((~problem.known).sum(), *shape)) * 3
    labels = problem.targets(problem.y)
    labels[~problem.known] = init
    model = fit(problem, init=init, record_path=True)
    w = model.path_[0].w[0] if n_classes == 2 else model.path_[0].w.T
    np.testing.assert_allclose(w, refit(problem, labels), rtol=1e-9, atol=1e-11)
    assert_stable(problem, model)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_given_weights_are_turned_into_labels_first(n_classes):
    problem = make_problem(3, n_classes=n_classes)
    rng = np.random.default_rng(0)
    coef, intercept = rng.normal(size=(n_classes - (n_classes == 2), 3)), rng.normal()
    z = problem.X @ coef.T + intercept + 0.5
    labels = problem.impute(z[:, 0] if n_classes == 2 else z, "hard")
    from_weights = fit(problem, init=(coef, intercept), record_path=True)
    from_labels = fit(problem, init=labels[~problem.known], record_path=True)
    np.testing.assert_allclose(from_weights.path_[0].w, from_labels.path_[0].w, rtol=1e-12)
    assert_stable(problem, from_weights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_named_starts_begin_at_the_labels_of_their_classifiers(n_classes):
    problem = make_problem(4, n_classes=n_classes)
    for name, classifier in (("supervised", LeastSquaresClassifier), ("soft", SoftLabelClassifier)):
        begun = classifier(1.0).fit(problem.X, problem.y)
        labels = problem.targets(begun.predict(problem.X))[~problem.known]
        one, two = (fit(problem, init=init, record_path=True) for init in (name, labels))
        np.testing.assert_allclose(one.path_[0].w, two.path_[0].w, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_both_halves_of_every_step_lower_J(seed):
    problem = make_problem(seed, distance=0.7, n_unlabeled=100)
    path = fit(problem, init="random", random_state=seed, record_path=True).path_
    values = np.ravel([(step.half_value, step.value) for step in path])
    assert len(path) >= 2
    assert np.all(np.diff(values) <= 1e-12 * values[0])


# -- many starts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "no ridge", "wide"])
def test_of_many_starts_the_lowest_J_is_kept_and_all_ends_are_told(name):
    problem = make_problem(5, distance=0.7, **SETTINGS[name])
    model = fit(problem, n_init=12, random_state=0)
    ends = model.solution_.end_points
    assert len(ends) == 12
    assert len({round(end.value, 9) for end in ends}) > 1
    assert model.objective_ == min(end.value for end in ends)
    rows = problem.design[problem.known], problem.y[problem.known], problem.design[~problem.known]
    for end in ends:
        assert end.stable
        w = refit(problem, end.labels.astype(float))
        q = end.labels[~problem.known]
        expected = paper.J_r(w, q, *rows, alpha=1.0, penalty_diag=problem.penalty)
        assert end.value == pytest.approx(expected, rel=1e-10)
    assert_stable(problem, model)


def test_many_starts_of_three_classes_end_where_each_alone_would(monkeypatch):
    problem = make_problem(6, n_classes=3, distance=0.7)
    batch = fit(problem, n_init=5, random_state=0)
    rng = np.random.default_rng(0)
    drawn = [hard_module.random_labels(len(problem.y), 3, rng) for _ in range(4)]
    alone = [fit(problem, init=labels[~problem.known]) for labels in drawn]
    told = [end.value for end in batch.solution_.end_points]
    np.testing.assert_allclose(told[1:], [model.objective_ for model in alone], rtol=1e-12)


def test_the_documentation_warns_of_the_lowest_J():
    assert "lowest J is not always the better classifier" in HardLabelClassifier.__doc__


def test_a_descent_reads_again_only_the_rows_whose_labels_changed(monkeypatch):
    problem = make_problem(7, distance=0.5, n_unlabeled=3000, n_features=6)
    taken, moments, take, moment = [], [], DenseTable.take, MemoryRows.moment

    def counted(self, labels, since=None, before=None):
        start = sum(taken)
        out = moment(self, labels, since, before)
        moments.append(sum(taken) - start)
        return out

    monkeypatch.setattr(DenseTable, "take", lambda self, i: taken.append(len(i)) or take(self, i))
    monkeypatch.setattr(MemoryRows, "moment", counted)
    model = fit(problem, record_path=True)
    assert len(model.path_) >= 4
    assert moments[1:] == [step.changed for step in model.path_]


# -- collapse --------------------------------------------------------------------------------------


def test_a_class_that_no_unlabeled_row_got_is_warned_of():
    problem = make_problem(8, alpha=1000.0, n_unlabeled=200, distance=1.0)
    sentence = r"No unlabeled row got the label [01], though the super"
    with pytest.warns(CollapsedLabelsWarning, match=sentence):
        model = fit(problem)
    assert len(set(model.transduction_[~problem.known])) == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_is_warned_of_where_classes_are_clear(n_classes):
    problem = make_problem(9, n_classes=n_classes, distance=6.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(problem)
    assert len(set(model.transduction_[~problem.known])) == n_classes


# -- all labelings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", list(SETTINGS | SHORT))
def test_enumerating_finds_the_best_of_all_labelings(name, seed):
    problem = make_problem(seed, **(SETTINGS | SHORT)[name] | LITTLE)
    model = fit(problem, solver="enumerate")
    values = problem.refit(problem.labelings())[0]
    assert model.objective_ == pytest.approx(values.min(), rel=1e-10, abs=1e-13)
    assert model.termination_condition_ == Status.ENUMERATED.value
    assert model.certificate_ < 1e-12
    again = refit(problem, problem.targets(model.transduction_))
    np.testing.assert_allclose(
        problem.design @ weights_of(model), problem.design @ again, atol=1e-9
    )


@pytest.mark.parametrize("seed", range(3))
def test_no_descent_ends_below_the_best_of_all_labelings(seed):
    problem = make_problem(seed, n_unlabeled=20, distance=0.7)
    best = fit(problem, solver="enumerate")
    ends = fit(problem, n_init=50, random_state=0).solution_.end_points
    assert best.objective_ <= min(end.value for end in ends) * (1 + 1e-12)
    assert best.solution_.end_points[0].stable


@early_stop_allowed
def test_an_enumeration_stopped_early_says_so_and_tells_its_gap():
    problem = make_problem(1, n_unlabeled=24, distance=0.3, n_features=4)
    best = fit(problem, solver="enumerate")
    early = fit(problem, solver="enumerate", max_iter=1)
    assert early.termination_condition_ == Status.MAX_NODES.value
    gap = (early.objective_ - best.objective_) / problem.objective().scale
    assert gap <= early.certificate_ < np.inf
    assert early.certificate_ > 1e-6


def test_enumerating_three_classes_is_refused():
    with pytest.raises(ValueError, match=r"two classes .* got 3 classes"):
        fit(make_problem(0, n_classes=3), solver="enumerate")
