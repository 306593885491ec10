"""Rows that were only sampled are counted in a notice."""

from semisquares.tables.compare.notices import NoticeContext, Results, sampled
from semisquares.tables.dataset import prepare
from support.partly_labeled import table


def test_a_comparison_that_samples_rows_says_how_many(monkeypatch):
    monkeypatch.setattr(sampled, "search_size", lambda n_columns: 50 * n_columns)
    monkeypatch.setattr(sampled, "MOST_TESTED", 310)
    prepared = prepare(table(n=400, n_labeled=80, n_columns=6), "y")
    context = NoticeContext(prepared, 0, Results(None, None, "averaged", "", None, ()))
    (notice,) = sampled.find(context)
    assert notice == sampled.Sampled(n_unlabeled=320, n_searched=300, n_tested=310)
    assert notice.sentence.endswith("the choice of alpha and weight on 300, the tests on 310, and "
                                    "those of slow rivals on fewer.")  # fmt: skip


def test_nothing_is_said_if_the_search_sees_all_rows():
    prepared = prepare(table(), "y")
    assert (
        sampled.find(NoticeContext(prepared, 0, Results(None, None, "averaged", "", None, ())))
        == []
    )
