"""Errors that a user can put right."""

from __future__ import annotations

__all__ = ["NotEnoughMemory", "UserError"]


class UserError(Exception):
    """One sentence: what was given, what is needed, what to do.

    The command line prints it and ends with exit code 2; any other error is a defect of ours.
    """


class NotEnoughMemory(MemoryError):
    """One sentence: how much memory a fit needs, how much is free, what to do."""
