"""Claims about numbers, counts and errors as words."""

import pytest

from semisquares._utils.words import os_error, percent, points_between, signed


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.004, 0.022, "0.4–2.2 points"),
        (-0.004, 0.022, "−0.4 to 2.2 points"),
        (-0.022, -0.004, "−2.2 to −0.4 points"),
        (-0.0001, 0.022, "0.0 to 2.2 points"),
        (0.0002, 0.022, "0.02–2.2 points"),
        (0.0, 0.0, "0.0–0.0 points"),
    ],
)
def test_intervals_are_written_with_proper_signs(low, high, text):
    assert points_between(low, high) == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (PermissionError(13, "Permission denied"), "Permission denied writing a.csv"),
        (OSError(28, "No space left on device"), "No space left on device writing a.csv"),
        (IsADirectoryError(21, "it is a folder"), "a.csv is a folder"),
        (NotADirectoryError(20, "Not a directory"), "A part of the path a.csv is not a folder"),
        (FileExistsError(17, "File exists"), "a.csv is not a folder"),
        (OSError("unexpected end of file"), "Unexpected end of file writing a.csv"),
        (OSError(), "OSError writing a.csv"),
    ],
)
def test_an_error_of_the_system_starts_a_sentence(error, text):
    assert os_error(error, "writing", "a.csv") == text


def test_numbers_that_are_not_finite_are_a_dash():
    assert [percent(float("nan")), signed(float("inf"))] == ["–", "–"]
