"""What docs/security.md says and no other test checks."""

import distributed
import pandas as pd
import pytest

from semisquares.cli._engine import Engine


class Started(Exception):
    """Raised in place of starting a cluster."""


def test_the_workers_of_a_command_listen_on_this_machine_only(monkeypatch):
    def start(**options):
        assert options["host"] == "127.0.0.1"
        assert options["dashboard_address"].startswith("127.0.0.1:")
        raise Started

    monkeypatch.setattr(distributed, "LocalCluster", start)
    with pytest.raises(Started), Engine("dask", None, None).workers(1):
        pass


def test_cells_of_a_csv_are_copied_as_they_are(semisquares):
    words = ["=1+1", "@sum", "<b>"] * 14
    rows = {"size": range(42), "note": words, "kind": ["a", "b"] * 21}
    pd.DataFrame(rows).to_csv("t.csv", index=False)
    given = ("--method", "soft", "--alpha", "1", "--weight", "1")
    assert semisquares("fit", "t.csv", "--target", "kind", *given, "-o", "m")[0] == 0
    assert semisquares("predict", "m", "t.csv", "-o", "out.csv")[0] == 0
    assert pd.read_csv("out.csv")["note"].tolist() == words
