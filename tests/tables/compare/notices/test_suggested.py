"""Labels of rows that were suggested are counted."""

import numpy as np
import pytest

from semisquares.tables.compare.notices import NoticeContext, find_notices
from semisquares.tables.compare.notices.suggested import suggested_labels
from semisquares.tables.dataset import prepare
from support.partly_labeled import table


def drawn(n_suggested, n_labeled=80):
    """Return a table in which some labels were suggested, and so were rows without a label."""
    frame = table(n_labeled=n_labeled)
    marks = np.full(len(frame), None, dtype=object)
    marks[np.flatnonzero(frame["y"].notna())] = ["suggested"] * n_suggested + ["random"] * (
        n_labeled - n_suggested
    )
    marks[np.flatnonzero(frame["y"].isna())[:5]] = "suggested"
    frame["y_drawn"] = marks
    return prepare(frame, "y")


def test_suggested_labels_are_counted():
    notice = suggested_labels(drawn(64))
    assert notice.sentence == (
        "64 of the 80 labels are of rows that were suggested because they tell most, as 'y_drawn' "
        "says."
    )
    assert "probably larger than on all rows" in notice.meaning


@pytest.mark.parametrize(("n_suggested", "found"), [(0, False), (7, False), (8, True)])
def test_a_tenth_of_the_labels_is_worth_a_notice(n_suggested, found):
    assert (suggested_labels(drawn(n_suggested)) is not None) is found


def test_the_notice_is_one_of_all_and_comes_first():
    kinds = [notice.kind for notice in find_notices(NoticeContext(drawn(64), seed=0))]
    assert kinds[0] == "suggested"


def test_a_table_without_such_a_column_has_none():
    assert suggested_labels(prepare(table(), "y")) is None
