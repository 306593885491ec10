"""Which modules a command loads."""

import subprocess
import sys

import numpy as np
import pandas as pd

from support.command_line import PATIENCE

RUN = """
import sys
from pathlib import Path
from semisquares import cli

try:
    cli.main()
except SystemExit as end:
    Path("modules.txt").write_text("\\n".join(sys.modules))
    raise
"""


def test_comparing_a_table_loads_nothing_of_the_paper(tmp_path):
    rng = np.random.default_rng(0)
    label = np.where(np.arange(60) < 24, rng.permutation(60) % 2, -1)
    frame = pd.DataFrame({"x": rng.normal(size=60), "z": rng.normal(size=60), "y": label})
    frame["y"] = frame["y"].map({0: "no", 1: "yes"})
    frame.to_csv(tmp_path / "table.csv", index=False)
    words = ["compare", "table.csv", "--target", "y", "--folds", "2", "--quick"]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words, "--jobs", "1"],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("*.html"))
    loaded = (tmp_path / "modules.txt").read_text().splitlines()
    assert "semisquares.tables.compare" in loaded
    assert [name for name in loaded if name.startswith("semisquares.paper")] == []
