"""Record the calls of a function."""

from __future__ import annotations


def watch(monkeypatch, owner, name):
    """Record the calls of a function: their arguments."""
    calls, function = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *a, **k: calls.append(a) or function(*a, **k))
    return calls
