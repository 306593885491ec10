"""Warnings of fits become notices that name the rival and count the fits."""

from types import SimpleNamespace

import pytest

from semisquares.tables.compare.notices import NoticeContext, Results, fit_warnings


def context(warning, recommended):
    evaluation = SimpleNamespace(warnings=(warning,))
    return NoticeContext(None, 0, Results(evaluation, None, recommended, "", None, ()))


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
    (notice,) = fit_warnings.find(context(found, "hard"))
    assert notice.kind == kind
    assert notice.sentence == f"In 2 of 10 fits, hard labels {end}"


@pytest.mark.parametrize(
    ("rival", "n_notices"), [("averaged", 1), ("labeled_only", 1), ("hard", 0)]
)
def test_warnings_of_rivals_that_the_answers_do_not_rest_on_are_left_out(rival, n_notices):
    found = fit_warnings.FitWarning("convergence", rival, 2, 10, "")
    assert len(fit_warnings.find(context(found, "averaged"))) == n_notices
