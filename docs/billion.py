"""What limits a pass over a billion rows, in sentences made from the stored estimates."""

from __future__ import annotations

from benchmarks.cost_model import KINDS, WHOLE

from .stored import costs

LARGER = 4
"""The factor by which the text proposes to enlarge blocks."""
KIND = KINDS.index("sweep, changed rows")
"""The kind of pass that the text is about."""


def words() -> str:
    """Return a list of what takes longest, what comes next, and what would help."""
    report = costs()
    work, read, tasks = report.large, report.rates.read / 1e6, report.rates.tasks
    parts = {name: seconds[KIND] for name, seconds in report.seconds.items()}
    factor = model_off()
    busy = parts["reading"] + parts["decisions and gradient"]
    scheduler, total = parts["scheduler"], parts[WHOLE]
    minutes, most = 10.0 * total / 60.0, 10.0 * total * factor / 60.0
    gigabytes = work.file_bytes / work.workers / 1e9
    storage = work.workers * read / 1e3
    reading = (
        f"**Reading**: a worker makes arrays of {read:.0f} MB/s and has {gigabytes:.0f} GB to read "
        f"in every pass, {parts['reading']:.0f} s, and computes for "
        f"{parts['decisions and gradient']:.0f} s. More workers help, if storage gives them "
        f"{work.workers} × {read:.0f} MB/s = {storage:.0f} GB/s in all; with less, storage is what "
        "a pass waits for, and no worker can make up for it."
    )
    scheduling = (
        f"**The scheduler**: {work.tasks:,} tasks at {tasks:.0f} a second are {scheduler:.0f} s, "
        "beside the work of the workers. It is one process, and more workers do not help; blocks "
        f"that are {LARGER} times larger do, and make it {scheduler / LARGER:.0f} s."
    )
    first, second = (reading, scheduling) if busy >= scheduler else (scheduling, reading)
    return "\n".join(
        (
            f"- A pass takes {total:.0f} s, ten take {minutes:.0f} minutes; with the factor by "
            f"which the model was off above, {most:.0f}.",
            f"- What a pass waits for: {first}",
            f"- What comes next: {second}",
            f"- Sending is nothing: {work.sent / 1e9:.1f} GB of sums in all, "
            f"{parts['sending']:.1f} s for each worker. Nor is the step, "
            f"{work.weights**3 / 3e6:.0f} million operations.",
        )
    )


def model_off() -> float:
    """Return the largest factor by which a pass took longer than the model predicts."""
    return max(one.ratio for one in costs().passes)
