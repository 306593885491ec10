"""The settings and versions of stored cells, so that those of different ones are not mixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semisquares._utils.errors import UserError
from semisquares.paper._ledger import Ledger, Record


def agree(
    ledger: Ledger, part: str, settings: Mapping[str, Any], versions: Mapping[str, str]
) -> None:
    """Store the settings and versions of a part; refuse if its stored cells had others."""
    now, before = Record(dict(settings), dict(versions)), ledger.record(part)
    if before is None:
        ledger.begin(part, now)
        return
    was, is_now = ({**one.settings, **one.versions} for one in (before, now))
    changes = ", ".join(
        f"{name} was {was.get(name)} and is now {is_now.get(name)}"
        for name in {**was, **is_now}
        if was.get(name) != is_now.get(name)
    )
    if changes:
        method = part.split()[-1]
        raise UserError(
            f"The cells of {part} were made with other settings or versions: {changes}; go back "
            f"to those, or measure them again (--again {method})."
        )
