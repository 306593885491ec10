"""The examples of the gallery are numbered and short, and run without warnings."""

import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))
FAST = ("plot_01", "plot_02", "plot_04", "plot_09", "plot_11")
"""The examples that run here; `make docs` runs all."""


def test_the_examples_are_numbered_from_1_to_14():
    assert [path.name[5:7] for path in EXAMPLES] == [f"{k:02d}" for k in range(1, 15)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_numbered_title_prose_and_a_picture(path):
    text = path.read_text(encoding="utf-8")
    title, rule = text.splitlines()[1:3]
    assert title.startswith(f"{int(path.name[5:7])}. ")
    assert rule == "=" * len(title)
    assert len(re.findall(r"^# %%\n# \S", text, re.MULTILINE)) >= 3
    assert "plt.show()" in text
    assert "fetch_" not in text  # no network


@pytest.mark.parametrize("name", FAST)
def test_an_example_runs_and_draws(name, monkeypatch):
    (path,) = (path for path in EXAMPLES if path.name.startswith(name))
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    runpy.run_path(str(path), run_name="__main__")
    assert plt.get_fignums()
    plt.close("all")
