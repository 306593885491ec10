"""Check that messages to users are one sentence."""

from __future__ import annotations

import pytest

from semisquares.tables import TableError


def error_of(call, *args, **options):
    """Return the message of the TableError that a call raises."""
    with pytest.raises(TableError) as caught:
        call(*args, **options)
    return str(caught.value)


def sentence(call):
    """Return the one sentence of the TableError that a call raises."""
    message = error_of(call)
    assert message.endswith((".", "?"))
    assert message[0].isupper() or message.startswith(("/", "a.", "'"))
    assert "\n" not in message
    assert ". " not in message
    return message


def is_one_sentence(message):
    return message.endswith(".") and "\n" not in message and ". " not in message
