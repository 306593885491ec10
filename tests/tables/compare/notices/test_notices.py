"""Ordinary tables have no notices, and a new notice is one file."""

import pytest

from semisquares.tables.compare import notices as package
from semisquares.tables.report import _page as page
from support.comparisons import binary
from support.partly_labeled import kinds, notices, table


@pytest.mark.parametrize("seed", range(3))
def test_an_ordinary_table_has_no_notices(seed):
    assert kinds(table(seed=seed)) == []


NEW_CHECK = """
from dataclasses import dataclass
from semisquares.tables.compare.comparison import Notice

PRIORITY = 5

@dataclass(frozen=True)
class Odd(Notice):
    kind = "odd"
    n_rows: int

    def words(self):
        return f"The table has {self.n_rows} rows.", "That is an odd number."

def find(context):
    n_rows = len(context.prepared.codes)
    return [Odd(n_rows)] if n_rows % 2 else []
"""


def test_a_new_notice_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "odd.py").write_text(NEW_CHECK)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    monkeypatch.setattr(page, "_pictures", lambda comparison: {})
    assert kinds(table(n=400)) == []
    frame = table(n=401).assign(visit=lambda frame: 9.0 * frame["y"].notna() + frame["x0"])
    assert kinds(frame) == ["odd", "shift"]
    found = binary(notices=notices(table(n=401)))
    odd = {
        "kind": "odd",
        "sentence": "The table has 401 rows.",
        "meaning": "That is an odd number.",
    }
    assert found.as_dict()["notices"] == [odd]
    assert "The table has 401 rows.</p>" in page.render_comparison(found, "compare")
