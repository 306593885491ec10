"""What `semisquares compare` says of the example table, kept for the pages that quote it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

STORED = Path(__file__).with_name("verdict.json")


def compare_example() -> None:
    """Run the two commands that the README shows first, and keep the answer."""
    with tempfile.TemporaryDirectory() as folder:
        _command("example", folder)
        said = _command(
            "compare", f"{folder}/pumps.csv", "--target", "bearing", "--no-report", "--json"
        )
    answer = json.loads(said)["verdict"]
    STORED.write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def sentence() -> str:
    """Return the answer as a quotation in Markdown."""
    return f"> {json.loads(STORED.read_text(encoding='utf-8'))['sentence']}"


def _command(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "semisquares", *words], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout
