"""Warnings of fits become notices that name the rival and count the fits."""

from types import SimpleNamespace

import pytest

from semisquares.tables.compare.notices import NoticeContext, Results, fit_warnings


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        ("lost_class", "gave a class to no unlabeled row at all: its labels collapsed."),
        ("convergence", "stopped before it converged."),
        ("other", "warned: Columns are copies."),
    ],
)
def test_the_sentence_is(kind, end):
    found = fit_warnings.FitWarning(kind, "hard", 2, 10, "Columns are copies.")
    evaluation = SimpleNamespace(warnings=(found,))
    (notice,) = fit_warnings.find(
        NoticeContext(None, 0, Results(evaluation, None, "averaged", "", None, ()))
    )
    assert notice.kind == kind
    assert notice.sentence == f"In 2 of 10 fits, hard labels {end}"
