"""Models hold rows of their table only if that helps or is wanted, and say so."""

import io
import zipfile
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.lib import format as npy

from semisquares import AveragedClassifier
from semisquares.tables import TableError, fit_table, load, prepare, save
from semisquares.tables._chunked import prepare_chunks
from semisquares.tables.io import find, split
from semisquares.tables.models import _stored_rows as module
from semisquares.tables.models._measuring import FitOptions
from semisquares.tables.models._stored_rows import choose_rows
from semisquares.tables.models._streaming import fit_streamed, on_dask


def shells(n_rows=300, n_labels=80):
    """Draw two spheres, one in the other, which planes and few trees cannot separate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    outer = np.arange(n_rows) % 2
    X *= ((1.0 + 0.5 * outer) / np.linalg.norm(X, axis=1))[:, None]
    X += 0.1 * rng.normal(size=X.shape)
    names = np.where(outer, "out", "in")
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame.assign(label=np.where(np.arange(n_rows) < n_labels, names, None))


def halves(n_rows=300, n_labels=80):
    """Draw classes on the two sides of a plane, with some labels wrong."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 4))
    side = X.sum(axis=1) + rng.normal(size=n_rows) > 0.0
    names = np.where(side, "up", "down")
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame.assign(label=np.where(np.arange(n_rows) < n_labels, names, None))


def fitted(frame, store_rows=None):
    return fit_table(prepare(frame, "label"), method="averaged", store_rows=store_rows)


@cache
def model_of(draw, store_rows=None):
    """Fit a model to `shells` or `halves`, once for all tests."""
    return fitted(draw(), store_rows)


@cache
def average_of(draw, **options):
    """Fit the classifier alone to `shells` or `halves`, once for all tests."""
    rows = prepare(draw(), "label")
    return AveragedClassifier(**options).fit(rows.X, rows.codes)


def cost_without(draw):
    """Return how much accuracy is lost without members that compare rows."""
    return average_of(draw).loo_score_ - average_of(draw, representations="linear").loo_score_


# -- what is stored -------------------------------------------------------------------------------


def test_rows_are_stored_if_leaving_them_out_costs_half_a_point():
    model, cost = model_of(shells), cost_without(shells)
    assert cost > module.MOST_COST
    assert model.classifier.holds_rows
    assert model.about["stored_rows"] == {
        "rows": model.classifier.n_rows_held, "cost_without": pytest.approx(cost), "asked": None,
    }  # fmt: skip
    (note,) = (note for note in model.about["notes"] if "stored" in note)
    assert note == (
        f"{model.classifier.n_rows_held} rows of the table are stored with the model, encoded and "
        "standardised: members of the average compare new rows with them. Without these members "
        f"the error would be {100 * cost:.1f} points higher; store_rows=False leaves them out."
    )


def test_no_row_is_stored_if_that_costs_little():
    model, cost = model_of(halves), cost_without(halves)
    assert model_of(halves, store_rows=True).classifier.holds_rows  # kernels have some weight
    assert cost < module.MOST_COST
    assert not model.classifier.holds_rows
    assert not any("stored" in note for note in model.about["notes"])
    assert model.about["stored_rows"] == {
        "rows": 0, "cost_without": pytest.approx(cost), "asked": None,
    }  # fmt: skip


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (1.001, False)])
def test_the_limit_itself_costs_too_much(factor, holds, monkeypatch):
    cost = model_of(shells).about["stored_rows"]["cost_without"]
    monkeypatch.setattr(module, "MOST_COST", factor * cost)
    assert fitted(shells()).classifier.holds_rows == holds


def test_without_rows_the_cost_is_said_and_the_scores_are_those_of_what_is_stored():
    frame, cost = shells(), cost_without(shells)
    model, expected = model_of(shells, False), average_of(shells, representations="linear")
    assert not model.classifier.holds_rows
    assert model.about["metrics"]["accuracy"]["mean"] == pytest.approx(expected.loo_score_)
    assert model.about["notes"][-1] == (
        "No row of the table is stored: leaving out the members of the average that compare rows "
        f"costs {100 * cost:.1f} points of accuracy."
    )
    np.testing.assert_allclose(
        model.predict(frame).probabilities,
        expected.predict_proba(prepare(frame, "label").X),
        atol=1e-4,
    )


@pytest.mark.parametrize(
    ("cost", "without", "with_rows"),
    [
        (0.0, "costs no accuracy.", "would be the same; "),
        (-0.004, "gains 0.4 points of accuracy.", "would be 0.4 points lower; "),
        (0.1, "costs 10.0 points of accuracy.", "would be 10.0 points higher; "),
    ],
)
def test_a_gain_and_no_difference_are_said_too(cost, without, with_rows):
    (one,) = module.StoredRows(False, useful=True, cost=cost).remarks(0)
    assert one.said.endswith(f" that compare rows {without}")
    (one,) = module.StoredRows(True, useful=True, cost=cost).remarks(1)
    assert one.said.startswith("1 row of the table is stored")
    assert f" the error {with_rows}" in one.said


def test_an_average_that_needs_no_rows_says_so_if_asked():
    """With hundreds of labels in two clear halves kernels have no weight."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    frame["label"] = np.where(frame["a"] + frame["b"] > 0.0, "up", "down")
    model = fitted(frame, store_rows=True)
    assert model.about["stored_rows"] == {"rows": 0, "cost_without": 0.0, "asked": True}
    assert fitted(frame).about["notes"] == []
    (note,) = fitted(frame, store_rows=False).about["notes"]
    assert note == "No row of the table is stored: no member of the average needs any."


def test_if_nothing_can_be_measured_no_row_is_stored():
    one_each = shells().assign(label=["x", "y", *[None] * 298])
    assert not fitted(one_each).classifier.holds_rows
    note = fitted(one_each, store_rows=False).about["notes"][-1]
    assert note.endswith("are left out; what that costs cannot be measured.")
    with_rows = fitted(one_each, store_rows=True)
    assert with_rows.classifier.holds_rows
    note = with_rows.about["notes"][-1]
    assert note.endswith("compare new rows with them; store_rows=False leaves these members out.")


@pytest.mark.parametrize("store_rows", [None, True, False])
def test_other_methods_hold_no_rows_whatever_is_asked(store_rows):
    rows = prepare(halves(), "label")
    options = {"alpha": 1.0, "folds": 2, "repeats": 1}
    model = fit_table(rows, method="ridge", store_rows=store_rows, **options)
    assert model.about["stored_rows"] == {"rows": 0, "cost_without": 0.0, "asked": store_rows}
    assert not any("stored" in note for note in model.about["notes"])


def test_an_average_of_kernels_alone_keeps_its_rows_and_cannot_do_without():
    rows = prepare(shells(), "label")
    model = AveragedClassifier("least_squares", representations="kernel").fit(rows.X, rows.codes)
    codes = rows.codes[rows.codes >= 0]
    found, stored = choose_rows(model, codes, None)
    assert found is model
    assert stored.cost is None
    with pytest.raises(TableError, match="All members of the average compare rows of the table"):
        choose_rows(model, codes, None, store_rows=False)


@pytest.mark.parametrize("store_rows", [None, False])
def test_in_chunks_the_same_is_stored(store_rows):
    frame = shells()
    data = io.BytesIO(frame.to_csv(index=False).encode())
    chunks = split(find("-", stdin=data), labels=["label"], n_bytes=4096)
    assert len(chunks) > 3
    table = prepare_chunks(chunks, "label", run=on_dask)
    found = fit_streamed(table, FitOptions("averaged", store_rows=store_rows))
    expected = model_of(shells, store_rows)
    assert found.about["stored_rows"] == expected.about["stored_rows"]
    assert found.about["notes"] == expected.about["notes"]
    np.testing.assert_allclose(
        found.predict(frame).probabilities, expected.predict(frame).probabilities, atol=1e-9
    )


# -- what is in a file ----------------------------------------------------------------------------


def arrays_in(path):
    """Return the arrays of a model file by name, and all numbers of its document in order."""
    with zipfile.ZipFile(path) as archive:
        arrays = {
            name: npy.read_array(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
        text = archive.read("model.json").decode()
    numbers = [float(word) for word in text.replace(",", " ").split() if _is_number(word)]
    return {**arrays, "document": np.array(numbers)}


def _is_number(word):
    try:
        return np.isfinite(float(word))
    except ValueError:
        return False


def holds(array, rows):
    """Tell which rows are in an array: as rows, as columns, or anywhere in a sequence."""
    width, found = rows.shape[1], np.zeros(len(rows), dtype=bool)
    for numbers in (array.ravel(), np.swapaxes(array, 0, -1).ravel()):
        padded = np.append(numbers.astype(float), np.full(width, np.nan))
        order = np.argsort(numbers)
        room = 1e-9 * (1.0 + abs(rows))
        low = np.searchsorted(numbers, rows[:, 0] - room[:, 0], "left", sorter=order)
        high = np.searchsorted(numbers, rows[:, 0] + room[:, 0], "right", sorter=order)
        for k in np.flatnonzero(low < high):
            starts = order[low[k] : high[k], None] + np.arange(width)
            found[k] |= (abs(padded[starts] - rows[k]) <= room[k]).all(axis=1).any()
    return found


def forms_of(draw):
    """Return the rows of a table as they are, encoded, standardised, and along directions."""
    frame = draw()
    rows, scaling = prepare(frame, "label"), average_of(draw).average_.learned.scaling
    return {
        "raw": frame.drop(columns="label").to_numpy(float),
        "encoded": rows.X,
        **{f"power {p}": scaling.apply(rows.X, p) for p in (0, 1, 2)},
    }


@pytest.mark.parametrize("store_rows", [None, False])
def test_a_file_without_rows_has_none_in_any_form(store_rows, tmp_path):
    save(model_of(halves, store_rows), tmp_path / "m.model")
    arrays = arrays_in(tmp_path / "m.model")
    for name, rows in forms_of(halves).items():
        found = {place for place, array in arrays.items() if holds(array, rows).any()}
        assert (name, found) == (name, set())


def test_a_file_with_rows_has_those_of_the_sample_alone(tmp_path):
    """The search finds rows where they are; those with a label are not stored for themselves."""
    save(model_of(shells), tmp_path / "m.model")
    arrays = arrays_in(tmp_path / "m.model")
    n_held = load(tmp_path / "m.model").classifier.n_rows_held
    forms = forms_of(shells)
    places = {
        place
        for place, array in arrays.items()
        for rows in forms.values()
        if holds(array, rows).any()
    }
    assert places
    assert all(place.endswith(("/landmarks.npy", "/rows.npy")) for place in places)
    stored = [holds(array, rows) for array in arrays.values() for rows in forms.values()]
    assert 0 < np.any(stored, axis=0).sum() <= n_held


def test_left_out_probabilities_are_not_in_a_file(tmp_path):
    proba = average_of(shells).loo_proba_
    save(model_of(shells), tmp_path / "m.model")
    arrays = arrays_in(tmp_path / "m.model")
    assert not any(holds(array, proba).any() for array in arrays.values())
