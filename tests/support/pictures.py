"""Find things in pictures."""

from __future__ import annotations


def line_of(panel, label):
    """Return the line of a panel that has a label."""
    (line,) = [line for line in panel.lines if line.get_label() == label]
    return line
