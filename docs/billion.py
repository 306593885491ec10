"""What limits a pass over a billion rows, in sentences made from the stored estimates."""

from __future__ import annotations

import re

from benchmarks.scale import FAR

from .stored import SCALE, cells, paragraph, runs

LARGER = 4
"""The factor by which the text proposes to enlarge blocks."""


def terms() -> dict[str, float]:
    """Return the estimated seconds of each part of a pass."""
    found = cells(paragraph(runs(SCALE)[0], "| 1,000,000,000 × 200"))
    return {name.strip("*"): float(row[1]) for name, row in found.items()}


def words() -> str:
    """Return a list of what takes longest, what comes next, and what would help."""
    parts = terms()
    read, tasks = _rates()
    factor = model_off()
    work = parts["reading"] + parts["decisions and gradient"]
    scheduler, total = parts["scheduler"], parts["a pass"]
    minutes, most = 10.0 * total / 60.0, 10.0 * total * factor / 60.0
    gigabytes = FAR.file_bytes / FAR.workers / 1e9
    storage = FAR.workers * read / 1e3
    reading = (
        f"**Reading**: a worker makes arrays of {read:.0f} MB/s and has {gigabytes:.0f} GB to read "
        f"in every pass, {parts['reading']:.0f} s, and computes for "
        f"{parts['decisions and gradient']:.0f} s. More workers help, if storage gives them "
        f"{FAR.workers} × {read:.0f} MB/s = {storage:.0f} GB/s in all; with less, storage is what "
        "a pass waits for, and no worker can make up for it."
    )
    scheduling = (
        f"**The scheduler**: {FAR.tasks:,} tasks at {tasks:.0f} a second are {scheduler:.0f} s, "
        "beside the work of the workers. It is one process, and more workers do not help; blocks "
        f"that are {LARGER} times larger do, and make it {scheduler / LARGER:.0f} s."
    )
    first, second = (reading, scheduling) if work >= scheduler else (scheduling, reading)
    return "\n".join(
        (
            f"- A pass takes {total:.0f} s, ten take {minutes:.0f} minutes; with the factor by "
            f"which the model was off above, {most:.0f}.",
            f"- What a pass waits for: {first}",
            f"- What comes next: {second}",
            f"- Sending is nothing: {FAR.sent / 1e9:.1f} GB of sums in all, "
            f"{parts['sending']:.1f} s for each worker. Nor is the step, "
            f"{FAR.weights**3 / 3e6:.0f} million operations.",
        )
    )


def model_off() -> float:
    """Return the largest factor by which a pass took longer than the model predicts."""
    return max(float(row[2]) for row in cells(paragraph(runs(SCALE)[0], "| pass |")).values())


def _rates() -> tuple[float, float]:
    """Return how many MB/s a worker reads, and how many tasks/s the scheduler handles."""
    text = " ".join(paragraph(runs(SCALE)[0], "A worker reads").split())
    found = re.search(r"reads ([\d.]+) MB/s .* scheduler ([\d.]+) tasks/s", text)
    if found is None:
        raise LookupError(f"{SCALE.name} has no rates; its paragraph is: {text}")
    return float(found[1]), float(found[2])
