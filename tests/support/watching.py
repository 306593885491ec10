"""Record the calls of a function."""

from __future__ import annotations


def watch(monkeypatch, owner, name):
    """Replace a function by one that records its positional arguments; return the list of them."""
    calls, function = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *a, **k: calls.append(a) or function(*a, **k))
    return calls
