"""Tables prepared for classifiers: target, groups, and what a model has written into them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from semisquares.tables import TableEncoder, TableError, prepare
from support.mixed_table import table
from support.sentences import error_of


def test_prepare_takes_target_and_group_out_of_the_features():
    frame = table().assign(y=["a", "b", None] * 40, site=["s", "t", None, "s"] * 30)
    whole = prepare(frame, "y", group="site", drop=["site", "age"])
    X = TableEncoder(drop=["age"]).fit_transform(frame.drop(columns=["y", "site"]))
    np.testing.assert_array_equal(whole.X, X)
    assert whole.codes.tolist() == [0, 1, -1] * 40
    assert {column.name for column in whole.columns} == set(frame) - {"y", "site"}
    assert len(whole.features) == X.shape[1]


def test_rows_without_group_are_groups_of_their_own():
    frame = pd.DataFrame(
        {"x": np.arange(6.0), "y": list("ababab"), "g": ["p", None, "p", None, "q", "q"]}
    )
    groups = prepare(frame, "y", group="g").groups
    same = groups[:, None] == groups
    assert np.argwhere(np.triu(same, 1)).tolist() == [[0, 2], [4, 5]]


def test_fingerprints_are_equal_where_all_used_cells_are():
    frame = pd.concat([table(30)] * 2, ignore_index=True)
    frame = frame.assign(row=np.arange(60), y=["a", "b"] * 30)
    frame.loc[3, "age"] = 17.5
    marks = prepare(frame, "y").fingerprints
    assert np.flatnonzero(marks[:30] != marks[30:]).tolist() == [3]


def test_a_column_cannot_be_target_and_group():
    frame = table().assign(y=["a", "b"] * 60)
    with pytest.raises(
        TableError, match=r"^Column 'y' is both target and group; name two columns\.$"
    ):
        prepare(frame, "y", group="y")


def test_blank_groups_belong_to_nobody_and_blanks_around_a_group_do_not_matter():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0], "y": ["a", "b", "a", "b", None]})
    frame["site"] = ["s", " s ", "", "  ", None]
    groups = prepare(frame, "y", group="site").groups
    assert groups[0] == groups[1]
    assert len(set(groups.tolist())) == 4


def test_rows_without_group_are_counted_in_a_note():
    frame = pd.DataFrame({"x": np.arange(6.0), "y": list("ababab"), "g": ["p", "", None, "", 3, 3]})
    assert prepare(frame, "y", group="g").notes == (
        "3 rows have an empty cell in column 'g': each of them is a group of its own.",
    )
    assert prepare(frame.assign(g="p"), "y", group="g").notes == ()
    assert prepare(frame.drop(index=[1, 3]), "y", group="g").notes == (
        "1 row has an empty cell in column 'g': it is a group of its own.",
    )


def test_remarks_on_columns_and_labels_are_notes():
    frame = pd.DataFrame({"price": ["$1.5", "$2", "$3", "$4"] * 5, "y": ["a", "b", "NA", None] * 5})
    assert prepare(frame, "y").notes == (
        "5 cells of column 'y' say 'NA', which is read as no label; spell it differently if it is "
        "a class.",
        "Column 'price': its numbers are written with the sign $, and read without.",
    )
    plain = frame.assign(price=[1.5, 2, 3, 4] * 5)
    np.testing.assert_array_equal(prepare(frame, "y").X, prepare(plain, "y").X)
    np.testing.assert_array_equal(
        prepare(frame, "y").encoder.transform(plain[["price"]]), prepare(plain, "y").X
    )


@pytest.mark.parametrize("cells", [[True, False], ["true", "FALSE"], [1, 0], ["yes", "no"]])
def test_the_marks_of_filled_labels_are_no_feature_and_the_labels_are_counted(cells):
    frame = pd.DataFrame({"x": np.arange(8.0), "y": ["a", "b", None, "b"] * 2})
    frame["y_filled"] = [*cells, cells[0], cells[1]] * 2
    whole = prepare(frame, "y")
    assert [feature.column for feature in whole.features] == ["x"]
    assert whole.columns[1].reason == "it marks the labels that were filled in by a model"
    assert whole.notes == (
        "2 of the 6 labels in column 'y' were filled in by a model, as 'y_filled' says, and are "
        "taken as given; empty them to learn from the others alone.",
    )
    empty = frame["y"].where(frame["y_filled"] != cells[0])
    assert prepare(frame.assign(y=[*empty[:-1], "a"]), "y").notes == ()
    assert whole.encoder.transform(frame[["x"]]).shape == (8, 1)


def test_a_column_named_like_the_marks_that_holds_something_else_is_a_feature():
    frame = pd.DataFrame({"x": np.arange(8.0), "y": list("abababab"), "y_filled": list("pqrspqrs")})
    assert prepare(frame, "y").columns[1].kind == "category"
    marks = frame.assign(y_filled=[True, False] * 4)
    asked = prepare(marks, "y", kinds={"y_filled": "boolean"})
    assert (asked.columns[1].kind, asked.notes) == ("boolean", ())


def with_predictions():
    """A table as predict writes it: the last three columns know the labels."""
    frame = pd.DataFrame({"x": np.arange(8.0), "y": ["a", "b", None, "b"] * 2})
    known = {"y_predicted": list("abab") * 2, "y_soft_b": np.arange(8) / 9, "y_decision_b": 2.0}
    return frame.assign(**known)


def test_predictions_of_a_model_are_no_features_unless_asked_for():
    whole = prepare(with_predictions(), "y")
    assert [column.name for column in whole.columns if column.used] == ["x"]
    reasons = {column.reason for column in whole.columns[1:]}
    assert reasons == {"a model has predicted it from the labels"}
    asked = prepare(with_predictions(), "y", kinds={"y_soft_b": "number"}, drop=["y_predicted"])
    assert [column.name for column in asked.columns if column.used] == ["x", "y_soft_b"]
    assert asked.columns[1].reason == "as asked"


@pytest.mark.parametrize(
    ("names", "left"),
    [
        (["y_soft_b", "y_decision_b"], []),
        (["y_predicted", "y_soft_b", "y_decision_c"], []),
        (["y_soft_b", "y_decision_c"], ["y_soft_b", "y_decision_c"]),
        (["y_soft", "y_predicted_by_me", "my_predicted"], None),
        (["y_predicted", "y_probability", "y_probability_b"], []),
        (["y_soft_b", "y_decision_b", "y_probability"], []),
        (["y_probability", "y_probability_b", "y_soft_b"], None),
        (["y_predicted", "y_probabilities"], ["y_probabilities"]),
    ],
)
def test_a_name_counts_as_a_prediction_by_what_is_beside_it(names, left):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(8, len(names))), columns=names)
    columns = prepare(frame.assign(x=range(8, 0, -1), y=list("abababab")), "y").columns
    expected = names if left is None else left
    assert [c.name for c in columns if c.kind != "dropped" and c.name != "x"] == expected


def test_probabilities_of_filled_labels_are_no_features():
    frame = pd.DataFrame({"x": np.arange(8.0), "y": list("abababab")})
    frame = frame.assign(y_filled=[True, False] * 4, y_probability=[0.9, None] * 4)
    columns = prepare(frame, "y").columns
    assert [column.name for column in columns if column.used] == ["x"]


def test_options_that_make_no_sense_for_the_target_are_refused():
    frame = table().assign(y=["a", "b", None] * 40)
    assert error_of(prepare, frame, "y", drop=["y"]) == (
        "Column 'y' is the target, so it cannot be left out; name another column to leave out, or "
        "another target."
    )
    assert error_of(prepare, frame, "y", kinds={"y": "number"}) == (
        "Column 'y' is the target, whose values are classes and cannot be of kind 'number'; leave "
        "that out, or give kinds={'y': 'category'} to take each value as a class."
    )


def test_a_target_of_fractions_can_be_said_to_be_a_category():
    frame = table().assign(y=[1.5, 2.5, None] * 40)
    assert prepare(frame, "y", kinds={"y": "category"}).target.classes == ("1.5", "2.5")


def test_a_single_name_to_drop_and_a_kind_of_the_target_are_understood():
    frame = table().assign(y=["a", "b", None] * 40)
    whole = prepare(frame, "y", drop="age", kinds={"y": "category"})
    assert "age" not in [column.name for column in whole.columns if column.used]
