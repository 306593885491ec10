"""Every error about a table has a code, and no code has two meanings."""

import ast
import pickle
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import semisquares.tables
from semisquares.tables.errors import CellError

FOLDER = Path(semisquares.tables.__file__).parent


def errors_of(source):
    """Yield the calls in a syntax tree that make a TableError or a CellError."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in ("TableError", "CellError", "_Refused"):
                yield node


def code_of(call):
    return next((word.value for word in call.keywords if word.arg == "code"), None)


@cache
def errors_of_all_files():
    """Return the file of each of these calls, and the call."""
    return [
        (path.relative_to(FOLDER).as_posix(), call)
        for path in sorted(FOLDER.rglob("*.py"))
        for call in errors_of(path.read_text(encoding="utf-8"))
    ]


def without_code(errors):
    return [f"{file}:{call.lineno}" for file, call in errors if code_of(call) is None]


def shared_codes(errors):
    """Return the codes that stand for different templates in different files."""
    used = defaultdict(lambda: defaultdict(set))
    for file, call in errors:
        code = code_of(call)
        if isinstance(code, ast.Constant):
            used[code.value][file].add(ast.unparse(call.args[0]))
    return {
        code: sorted(files)
        for code, files in used.items()
        if len(set(map(frozenset, files.values()))) > 1
    }


def test_every_error_has_a_code():
    errors = list(errors_of_all_files())
    assert len(errors) > 60
    assert without_code(errors) == []


def test_codes_are_words_in_snake_case():
    codes = [code_of(call) for _, call in errors_of_all_files()]
    texts = [code.value for code in codes if isinstance(code, ast.Constant)]
    assert [text for text in texts if not text.isidentifier() or text != text.lower()] == []


def test_no_code_stands_for_different_errors_in_two_files():
    assert shared_codes(errors_of_all_files()) == {}


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("TableError('a', code='x')", "TableError('b', code='x')", {"x": ["1.py", "2.py"]}),
        ("TableError('a', code='x')", "TableError('a', code='x')", {}),
        ("TableError('a', code='x')", "errors.CellError('b', 'c', code='y')", {}),
    ],
)
def test_the_search_finds_shared_codes(one, other, found):
    errors = [
        (file, call) for file, text in (("1.py", one), ("2.py", other)) for call in errors_of(text)
    ]
    assert len(errors) == 2
    assert shared_codes(errors) == found


def test_the_search_finds_errors_without_a_code():
    calls = errors_of("raise TableError('a')\nraise CellError('a', 'b', code='c')")
    assert without_code([("1.py", call) for call in calls]) == ["1.py:1"]


def test_an_error_about_cells_keeps_its_code():
    error = CellError("Column 'x' is odd", "empty it", code="odd").or_else("drop it")
    assert error.code == pickle.loads(pickle.dumps(error)).code == "odd"
    assert str(error) == "Column 'x' is odd; empty it, or drop it."
