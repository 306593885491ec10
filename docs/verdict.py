"""The answers of `semisquares compare` on the example table, stored for pages that quote them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

STORED = Path(__file__).with_name("verdict.json")


def compare_example() -> None:
    """Run the two commands that the README shows first, and store the answers."""
    with tempfile.TemporaryDirectory() as folder:
        _command("example", folder)
        output = _command(
            "compare", f"{folder}/pumps.csv", "--target", "bearing", "--no-report", "--json"
        )
    found = json.loads(output)
    answers = {name: found[name] for name in ("recommendation", "verdict")}
    STORED.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def sentence() -> str:
    """Return the answers as quotations in Markdown."""
    answers = json.loads(STORED.read_text(encoding="utf-8")).values()
    return "\n>\n".join(f"> {answer['sentence']}" for answer in answers)


def _command(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "semisquares", *words], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout
