"""Claims about arrays of other libraries (the array API): as NumPy, and on their device.

array-api-strict refuses everything that the standard does not have, and what is on its made-up
device cannot be read by NumPy: a silent conversion is an error.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._array_api import move_estimator_to
from threadpoolctl import threadpool_limits

from semisquares import (
    AveragedClassifier,
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)
from semisquares._inputs import array_api
from semisquares.baselines import ImplicitlyConstrainedClassifier
from semisquares.core.rows import Device, reduce
from semisquares.core.rows import array_api as rows_on_devices
from semisquares.families import Forest
from support.devices import DEVICES, strict_device
from support.made_rows import clusters, mixed_rows

TOLERANCES = {"float64": 1e-9, "float32": 1e-4}
MODELS = {
    "supervised": LeastSquaresClassifier(),
    "supervised, balanced": LeastSquaresClassifier(class_weight="balanced"),
    "soft": SoftLabelClassifier(),
    "soft, no intercept": SoftLabelClassifier(fit_intercept=False, unlabeled_weight=0.3),
    "soft, no ridge": SoftLabelClassifier(alpha=0.0),
    "soft, block": SoftLabelClassifier(solver="block", init="random"),
    "hard": HardLabelClassifier(),
    "hard, certified": HardLabelClassifier(init="soft", certify=True),
    "hard, path": HardLabelClassifier(init="path", n_init=3),
}


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    """Turn scikit-learn's dispatch on; it asks for the setting of SciPy."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=list(DEVICES))
def device(request):
    return DEVICES[request.param]()


def fits(model, device, X, y, **weights):
    """Fit a classifier to NumPy arrays, and the same one to the same arrays on a device."""
    there = {name: device.put(value) for name, value in weights.items()}
    elsewhere = clone(model).fit(device.put(X), device.put(y), **there)
    return clone(model).fit(X, y, **weights), elsewhere


def is_on(device, found):
    return type(found) is type(device.put(np.ones(1))) and found.device == device.device


def assert_same(device, here, there, X, atol):
    """Check fitted arrays and predictions: equal, and on the device."""
    rows = device.put(X)
    pairs = [
        (getattr(here, name), getattr(there, name))
        for name in vars(here)
        if isinstance(getattr(here, name), np.ndarray) and name != "classes_"
    ]
    for name in ("decision_function", "predict", "predict_proba"):
        pairs.append((getattr(here, name)(X), getattr(there, name)(rows)))
    for expected, found in pairs:
        assert is_on(device, found)
        assert device.get(found).dtype == expected.dtype
        np.testing.assert_allclose(device.get(found), expected, atol=atol)
    np.testing.assert_array_equal(device.get(there.classes_), here.classes_)


@pytest.mark.parametrize("dtype", list(TOLERANCES))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", list(MODELS))
def test_a_fit_is_that_of_numpy(device, name, n_classes, dtype):
    X, y, truth = clusters(n_classes=n_classes)
    X = X.astype(dtype)
    here, there = fits(MODELS[name], device, X, y)
    assert_same(device, here, there, X, TOLERANCES[dtype])
    assert here.score(X, truth) == there.score(device.put(X), device.put(truth))
    assert there.objective_ == pytest.approx(here.objective_, rel=TOLERANCES[dtype])


@pytest.mark.parametrize("name", ["soft", "hard"])
def test_a_fit_on_a_device_is_certified_as_well(device, name):
    X, y, _ = clusters()
    here, there = fits(MODELS[name], device, X, y)
    np.testing.assert_allclose(there.certificate_, here.certificate_, atol=1e-14)
    assert there.termination_condition_ == here.termination_condition_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_of_rows_may_be_on_the_device(device, n_classes):
    X, y, _ = clusters(n_classes=n_classes)
    weight = np.random.default_rng(0).uniform(0.0, 2.0, len(X))
    here, there = fits(SoftLabelClassifier(), device, X, y, sample_weight=weight)
    assert_same(device, here, there, X, 1e-9)
    score = there.score(device.put(X), device.put(y), device.put(weight))
    assert score == pytest.approx(here.score(X, y, weight))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_tables_with_more_columns_than_rows(device, alpha, fit_intercept):
    X, y, _ = clusters(n=30, d=70, n_labeled=12)
    model = SoftLabelClassifier(alpha, fit_intercept=fit_intercept)
    here, there = fits(model, device, X, y)
    assert_same(device, here, there, X, 1e-9)


def test_copied_rows_of_a_wide_table(device):
    X, y, _ = clusters(n=30, d=70, n_labeled=12)
    X[1] = X[0]
    here, there = fits(SoftLabelClassifier(), device, X, y)
    assert_same(device, here, there, X, 1e-9)


def test_columns_far_from_the_origin(device):
    X, y, _ = clusters()
    X[:, 0] += 1e6
    here, there = fits(SoftLabelClassifier(), device, X, y)
    assert_same(device, here, there, X, 1e-7)
    np.testing.assert_allclose(device.get(there.coef_), here.coef_, atol=1e-9)


def test_dependent_columns_are_found_and_the_weights_of_least_norm_taken(device):
    X, y, _ = clusters()
    X = np.rint(8.0 * X) / 8.0  # the sum below is exact
    X = np.column_stack((X, X[:, 0] - 2.0 * X[:, 1], np.ones(len(X))))
    with pytest.warns(UserWarning, match="combinations of other columns"):
        here, there = fits(SoftLabelClassifier(alpha=0.0), device, X, y)
    assert_same(device, here, there, X, 1e-8)
    assert there.certificate_ < 1e-9


def test_starts_may_be_on_the_device(device):
    X, y, _ = clusters()
    plain = SoftLabelClassifier().fit(X, y)
    weights = device.put(plain.coef_), device.put(plain.intercept_)
    labels = device.put(np.full(int((y == -1).sum()), 0.5))
    for init in (weights, labels):
        model = SoftLabelClassifier(init=init, solver="block").fit(device.put(X), device.put(y))
        np.testing.assert_allclose(device.get(model.coef_), plain.coef_, atol=1e-8)


def test_a_warm_start_takes_the_weights_from_the_device(device):
    X, y, _ = clusters()
    model = HardLabelClassifier(warm_start=True).fit(device.put(X), device.put(y))
    before = device.get(model.coef_)
    model.fit(device.put(X), device.put(y))
    assert model.n_iter_ <= 2
    np.testing.assert_allclose(device.get(model.coef_), before, atol=1e-12)


def test_nan_and_the_marker_are_missing_labels(device):
    X, y, _ = clusters()
    plain = SoftLabelClassifier().fit(X, y)
    missing = np.where(y == -1, np.nan, y)
    missing[-1] = -1.0
    model = SoftLabelClassifier().fit(device.put(X), device.put(missing))
    np.testing.assert_allclose(device.get(model.coef_), plain.coef_, atol=1e-12)
    assert is_on(device, model.classes_)


def test_whole_numbers_and_bools_are_read_as_floats(device):
    X, y, _ = clusters()
    for numbers in (np.rint(3.0 * X).astype(np.int64), X > 0.0):
        here, there = fits(SoftLabelClassifier(), device, numbers, y)
        assert_same(device, here, there, numbers, 1e-9)


def test_classes_with_names_are_predicted_in_numpy(device):
    X, y, _ = clusters()
    names = np.array(["no", "yes", "?"])[y]
    model = SoftLabelClassifier(unlabeled="?").fit(device.put(X), names)
    plain = SoftLabelClassifier(unlabeled="?").fit(X, names)
    np.testing.assert_array_equal(model.predict(device.put(X)), plain.predict(X))
    np.testing.assert_array_equal(model.transduction_, plain.transduction_)
    assert is_on(device, model.coef_)
    assert model.score(device.put(X), names) == plain.score(X, names)


def test_everything_follows_X(device):
    X, y, _ = clusters()
    weight = np.arange(len(X)) + 1.0
    plain = SoftLabelClassifier().fit(X, y, weight)
    other = SoftLabelClassifier().fit(device.put(X), y, weight.tolist())
    assert_same(device, plain, clone(plain).fit(device.put(X), device.put(y), weight), X, 1e-9)
    assert is_on(device, other.coef_)
    assert isinstance(other.classes_, np.ndarray)
    numpy_rows = SoftLabelClassifier().fit(X, device.put(y), device.put(weight))
    np.testing.assert_array_equal(numpy_rows.coef_, plain.coef_)
    np.testing.assert_array_equal(numpy_rows.predict(X), plain.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["supervised", "soft", "hard"])
def test_only_sums_and_a_number_for_each_row_and_class_leave_the_device(
    name, n_classes, monkeypatch
):
    n, d = 60_000, 12
    X, y, _ = clusters(n, d, n_classes, n_labeled=100)
    device, sizes, get = strict_device(), [], Device.get

    def recording(self, values):
        found = get(self, values)
        sizes.append(found.size)
        return found

    monkeypatch.setattr(Device, "get", recording)
    model = clone(MODELS[name]).fit(device.put(X), device.put(y))
    model.predict(device.put(X))
    assert max(sizes) <= n * n_classes < X.size / 3


def test_threads_that_do_not_know_the_setting_sum_blocks_on_the_device(device, monkeypatch):
    monkeypatch.setattr(reduce, "THREADED_VALUES", 1)
    monkeypatch.setattr(rows_on_devices, "DEVICE_BLOCK_BYTES", 1 << 10)
    X, y, _ = clusters()
    with threadpool_limits(2, user_api="blas"):
        here, there = fits(SoftLabelClassifier(), device, X, y)
    assert_same(device, here, there, X, 1e-9)


def test_a_fit_can_be_pickled_and_moved(device):
    X, y, _ = clusters()
    plain = SoftLabelClassifier().fit(X, y)
    model = pickle.loads(pickle.dumps(SoftLabelClassifier().fit(device.put(X), device.put(y))))
    np.testing.assert_array_equal(device.get(model.predict(device.put(X))), plain.predict(X))
    back = move_estimator_to(model, np, "cpu")
    np.testing.assert_allclose(back.decision_function(X), plain.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(
        back.supervised_.predict_proba(X), plain.supervised_.predict_proba(X), atol=1e-9
    )


def test_without_dispatch_tensors_become_numpy_arrays():
    torch = pytest.importorskip("torch")
    X, y, _ = clusters()
    with config_context(array_api_dispatch=False):
        model = SoftLabelClassifier().fit(torch.asarray(X), torch.asarray(y))
        assert isinstance(model.coef_, np.ndarray)
        assert isinstance(model.predict(torch.asarray(X)), np.ndarray)


# -- the average ----------------------------------------------------------------------------------


def averages(device, n_classes=2, dtype="float64", **options):
    """Fit an average to rows with ties and copies, in NumPy and on a device."""
    X, y, _ = clusters(n_classes=n_classes)
    X = np.column_stack((X, mixed_rows(len(X)))).astype(dtype)
    model = AveragedClassifier(("least_squares", Forest(20), "logistic", "hard_labels"))
    return X, *fits(model, device, X, y, **options)


@pytest.mark.parametrize("dtype", list(TOLERANCES))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_average_is_that_of_numpy(device, n_classes, dtype):
    X, here, there = averages(device, n_classes, dtype)
    atol = TOLERANCES[dtype]
    assert_same(device, here, there, X, atol)
    for name in ("weight", "log_loss", "slope"):
        np.testing.assert_allclose(there.members_[name], here.members_[name], atol=atol)
    assert there.loo_score_ == pytest.approx(here.loo_score_)
    log_proba = there.predict_log_proba(device.put(X))
    assert is_on(device, log_proba)
    np.testing.assert_allclose(device.get(log_proba), here.predict_log_proba(X), atol=10 * atol)


def test_what_an_average_computes_later_is_on_the_device_without_dispatch_too(device):
    X, here, there = averages(device)
    with config_context(array_api_dispatch=False):
        for name in ("transduction_", "label_distributions_"):
            found = getattr(there, name)
            assert is_on(device, found)
            np.testing.assert_allclose(device.get(found), getattr(here, name), atol=1e-9)
        assert there.certificate_ == pytest.approx(here.certificate_, abs=1e-12)
        alone = there.supervised_
    expected = here.supervised_.predict_proba(X)
    found = alone.predict_proba(device.put(X))
    assert is_on(device, found)
    np.testing.assert_allclose(device.get(found), expected, atol=1e-9)


def test_weights_and_groups_of_an_average_may_be_on_the_device(device):
    n = 200
    weight, groups = np.arange(n) % 3.0, np.arange(n) // 4
    X, here, there = averages(device, sample_weight=weight, groups=groups)
    assert_same(device, here, there, X, 1e-9)


def test_an_average_reads_hashes_and_a_sample_but_not_X_from_torch(monkeypatch):
    n, d = 20_000, 12
    X, y, _ = clusters(n, d, n_labeled=60)
    device, sizes, get = DEVICES["torch"](), [], Device.get

    def recording(self, values):
        found = get(self, values)
        sizes.append(found.size)
        return found

    monkeypatch.setattr(Device, "get", recording)
    AveragedClassifier("least_squares", representations="linear").fit(device.put(X), y)
    assert max(sizes) <= n
    assert sum(sizes) < X.size / 3


def test_an_average_can_be_pickled_and_moved(device):
    X, here, there = averages(device)
    loaded = pickle.loads(pickle.dumps(there))
    expected = here.predict_proba(X)
    np.testing.assert_allclose(device.get(loaded.predict_proba(device.put(X))), expected, atol=1e-9)
    alone = loaded.supervised_.predict_proba(device.put(X))
    np.testing.assert_allclose(device.get(alone), here.supervised_.predict_proba(X), atol=1e-9)
    back = move_estimator_to(there, np, "cpu")
    np.testing.assert_allclose(back.predict_proba(X), expected, atol=1e-9)
    forth = move_estimator_to(here, device.xp, device.device)
    found = forth.predict_proba(device.put(X))
    assert is_on(device, found)
    np.testing.assert_allclose(device.get(found), expected, atol=1e-9)


def test_predictions_of_an_average_elsewhere_are_refused(device):
    X, here, there = averages(device)
    for method in ("decision_function", "predict", "predict_proba", "predict_log_proba"):
        for model, rows in ((here, device.put(X)), (there, X)):
            with pytest.raises(ValueError, match=rf"\.{method}\(\) must use the same namespace"):
                getattr(model, method)(rows)


@pytest.mark.parametrize("model", [SoftLabelClassifier(), AveragedClassifier("least_squares")])
def test_pipelines_and_searches_of_scikit_learn_take_tensors(model):
    pytest.importorskip("torch")
    device = DEVICES["torch"]()
    X, _, truth = clusters()
    pipeline = make_pipeline(StandardScaler(), model)
    scores = cross_val_score(pipeline, device.put(X), device.put(truth), cv=3)
    np.testing.assert_allclose(scores, cross_val_score(pipeline, X, truth, cv=3))


# -- what is refused ------------------------------------------------------------------------------


def test_predictions_elsewhere_are_refused(device):
    X, y, _ = clusters()
    here, there = fits(SoftLabelClassifier(), device, X, y)
    for method in ("decision_function", "predict", "predict_proba"):
        for model, rows in ((here, device.put(X)), (there, X), (there, sparse.csr_array(X))):
            with pytest.raises(ValueError, match=rf"\.{method}\(\) must use the same namespace"):
                getattr(model, method)(rows)


def test_another_device_is_refused():
    X, y, _ = clusters()
    first, second = strict_device(), strict_device("device2")
    model = SoftLabelClassifier().fit(first.put(X), first.put(y))
    with pytest.raises(ValueError, match="device2") as refused:
        model.predict(second.put(X))
    assert "device1" in str(refused.value)


def test_a_fit_on_a_device_asks_for_dispatch_in_predictions(device):
    X, y, _ = clusters()
    model = SoftLabelClassifier().fit(device.put(X), device.put(y))
    with (
        config_context(array_api_dispatch=False),
        pytest.raises(ValueError, match=r"config_context\(array_api_dispatch=True\)"),
    ):
        model.predict(X)


@pytest.mark.parametrize("model", [SoftLabelClassifierCV(), ImplicitlyConstrainedClassifier()])
def test_classifiers_without_code_for_other_libraries_say_so(device, model):
    X, y, _ = clusters()
    with pytest.raises(ValueError, match=r"has no code for arrays of .*pass X as a NumPy array"):
        model.fit(device.put(X), device.put(y))


def test_sparse_tensors_are_refused():
    torch = pytest.importorskip("torch")
    X, y, _ = clusters()
    with pytest.raises(ValueError, match="X is a sparse array of torch"):
        SoftLabelClassifier().fit(torch.asarray(X).to_sparse(), y)


def test_complex_numbers_are_refused(device):
    X, y, _ = clusters()
    there = device.xp.astype(device.put(X), device.xp.complex128)
    with pytest.raises(ValueError, match=r"X holds complex numbers .* needs real ones"):
        SoftLabelClassifier().fit(there, y)


def test_tensors_that_record_gradients_are_refused():
    torch = pytest.importorskip("torch")
    X, y, _ = clusters()
    with pytest.raises(ValueError, match=r"records gradients, .*; pass X\.detach\(\)"):
        SoftLabelClassifier().fit(torch.asarray(X).requires_grad_(), y)


def test_a_device_without_float64_is_refused(monkeypatch):
    X, y, _ = clusters()
    device = strict_device()
    single = (device.xp.float32,)
    monkeypatch.setattr(array_api, "supported_float_dtypes", lambda xp, device: single)
    with pytest.raises(ValueError, match=r"device1.*, which has no float64 numbers"):
        SoftLabelClassifier().fit(device.put(X.astype(np.float32)), y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["supervised", "soft", "hard"])
def test_numbers_that_are_not_finite_are_refused(device, name, bad):
    X, y, _ = clusters()
    X[-1, 0] = bad
    with pytest.raises(ValueError, match="Input X contains"):
        clone(MODELS[name]).fit(device.put(X), device.put(y))


def test_numbers_too_large_to_square_are_refused(device):
    X, y, _ = clusters()
    with pytest.raises(ValueError, match="whose squares overflow; rescale"):
        SoftLabelClassifier().fit(device.put(1e200 * X), device.put(y))


def test_weights_of_the_wrong_length_are_refused(device):
    X, y, _ = clusters()
    with pytest.raises(ValueError, match="expected"):
        SoftLabelClassifier().fit(device.put(X), device.put(y), device.put(np.ones(3)))
