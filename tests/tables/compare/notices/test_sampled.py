"""Rows that were only sampled are counted in a notice."""

from semisquares.tables.compare.notices import NoticeContext, Results, sampled
from semisquares.tables.dataset import prepare
from support.partly_labeled import table


def test_a_comparison_that_samples_rows_says_how_many(monkeypatch):
    monkeypatch.setattr(sampled, "MOST_TESTED", 310)
    prepared = prepare(table(n=400, n_labeled=80, n_columns=6), "y")
    context = NoticeContext(prepared, 0, Results(None, None, "averaged", "", None, ()))
    (notice,) = sampled.find(context)
    assert notice == sampled.Sampled(n_unlabeled=320, n_tested=310)
    assert notice.sentence.startswith("The tests used a random sample of 310 of the 320 unlabeled")


def test_nothing_is_said_if_the_tests_use_all_rows():
    prepared = prepare(table(), "y")
    assert (
        sampled.find(NoticeContext(prepared, 0, Results(None, None, "averaged", "", None, ())))
        == []
    )
