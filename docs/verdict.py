"""The verdict of `semisquares compare` on the example table, stored for pages that quote it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

STORED = Path(__file__).with_name("verdict.json")


def compare_example() -> None:
    """Run the two commands that the README shows first, and store the verdict."""
    with tempfile.TemporaryDirectory() as folder:
        _command("example", folder)
        output = _command(
            "compare", f"{folder}/pumps.csv", "--target", "bearing", "--no-report", "--json"
        )
    verdict = json.loads(output)["verdict"]
    STORED.write_text(json.dumps(verdict, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def sentence() -> str:
    """Return the verdict as a quotation in Markdown."""
    return f"> {json.loads(STORED.read_text(encoding='utf-8'))['sentence']}"


def _command(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "semisquares", *words], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout
