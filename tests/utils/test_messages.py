"""Claims about sentences that name parameters, and about errors made of them."""

import copy
import pickle

import pytest

from semisquares._utils.errors import UserError
from semisquares._utils.messages import Message, Parameter, join
from semisquares.cli._parameters import in_options, option
from semisquares.tables.errors import CellError, TableError

NAMED = Message("{cell!r} is odd; see {group}", cell="{x}", group=Parameter("group", "town"))


def test_a_message_is_a_string_for_python():
    assert NAMED == "'{x}' is odd; see group='town'"
    assert in_options(NAMED) == "'{x}' is odd; see --group town"


def test_a_text_without_fields_is_taken_literally():
    assert Message("{x} and {") == "{x} and {"
    assert str(UserError("{x} and {")) == in_options(UserError("{x} and {")) == "{x} and {"


def test_messages_keep_their_parameters_inside_others():
    outer = join(" ", ("Note:", Message("({inner})", inner=NAMED)))
    assert outer == "Note: ('{x}' is odd; see group='town')"
    assert in_options(outer) == "Note: ('{x}' is odd; see --group town)"
    assert in_options({"notes": [outer], "n": 1}) == {"notes": [in_options(outer)], "n": 1}


@pytest.mark.parametrize("through", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_messages_and_errors_travel(through):
    drop = Message("drop it with {drop}", drop=Parameter("drop", ["x"]))
    errors = (
        TableError("Bad; see {group}.", code="bad", group=Parameter("group", "a b")),
        CellError("Column 'x' is odd", "empty it").or_else(drop),
    )
    for error in errors:
        other = through(error)
        assert (type(other), str(other), other.code) == (type(error), str(error), error.code)
        assert in_options(other) == in_options(error)
    assert in_options(errors[1]) == "Column 'x' is odd; empty it, or drop it with --drop x."
    assert in_options(through(NAMED)) == in_options(NAMED)


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Parameter("only_missing"), "--only-missing"),
        (Parameter("unlabeled", "?"), "--unlabeled '?'"),
        (Parameter("unlabeled", "-1"), "--unlabeled -1"),
        (Parameter("unlabeled", "-"), "--unlabeled '-'"),
        (Parameter("drop", ["a", "it's"]), """--drop a --drop 'it'"'"'s'"""),
        (Parameter("kinds", {"my age": "date"}), "--kind 'my age=date'"),
        (Parameter("delimiter", ","), "--delimiter ','"),
        (Parameter("missing", ["'"]), """--missing ''"'"''"""),
    ],
)
def test_parameters_are_options_ready_for_a_shell(parameter, text):
    assert option(parameter) == text
