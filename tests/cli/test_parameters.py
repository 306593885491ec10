"""Claims about messages of the library as commands print and store them: with options."""

import json
from dataclasses import replace

import pytest

from semisquares._utils.messages import Message, Parameter
from semisquares.cli._parameters import option
from semisquares.tables.report import _page
from support.comparisons import binary

GIVEN = ("--method", "ridge", "--alpha", "1", "--folds", "2", "--repeats", "1", "--jobs", "1")
HINT = "rows may belong together, see --group 'customer id'"


@pytest.fixture
def table(tmp_path):
    rows = [f"{i % 30 * 7},{i * i % 17},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["customer id,x,y", *rows, "3,4,"]))


def test_reasons_name_options_in_words_in_json_and_in_the_stored_model(semisquares, table):
    words = ("fit", "t.csv", "--target", "y", "-o", "m", *GIVEN)
    assert HINT in semisquares(*words)[1]
    columns = json.loads(semisquares(*words, "--json")[1])["columns"]
    assert columns[0]["reason"].endswith(HINT)
    assert HINT in semisquares("inspect", "m")[1]


def test_errors_name_options(semisquares, tmp_path):
    (tmp_path / "t.csv").write_text("my age,y\n" + "1,a\n2,b\n" * 20 + "?,a\n")
    code, _, errors = semisquares("compare", "t.csv", "--target", "y")
    assert code == 2
    assert errors.endswith(
        "name the text that means missing with --missing '?', treat it as categories with "
        "--kind 'my age=category', or leave it out with --drop 'my age'.\n"
    )


def test_the_page_names_options(monkeypatch):
    monkeypatch.setattr(_page, "_pictures", lambda comparison: {})  # which take long
    (notice,) = binary().notices
    claim = Message("A leak; leave it out with {drop}.", drop=Parameter("drop", ["x", "z"]))
    found = binary(notices=(replace(notice, first=claim),))
    assert "leave it out with --drop x --drop z." in _page.render_comparison(
        found, "", write=option
    )
