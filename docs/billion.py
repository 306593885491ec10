"""How fast workers are, and what limits a pass over a billion rows, in sentences."""

from __future__ import annotations

from benchmarks.cost_model import KINDS, WHOLE

from .stored import costs

LARGER = 4
"""The factor by which the text proposes to enlarge blocks."""
KIND = KINDS.index("sweep, changed rows")
"""The kind of pass that the text is about."""


def rates() -> str:
    """Return how fast a worker and the scheduler are, and how many rows are active."""
    report = costs()
    known = report.rates
    return (
        f"A worker reads {known.read / 1e6:.0f} MB/s, and does {known.stream / 1e9:.2f} Gflop/s "
        f"with vectors and {known.gram / 1e9:.1f} Gflop/s in X'X; the scheduler handles "
        f"{known.tasks:.0f} tasks/s. Of all rows, {100 * report.active:.2g} % are active, and "
        f"{100 * report.flipped:.2g} % change their side in a step."
    )


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
        f"**Reading**: a worker reads {read:.0f} MB/s and has {gigabytes:.0f} GB to read in every "
        f"pass, which takes {parts['reading']:.0f} s; it computes for "
        f"{parts['decisions and gradient']:.0f} s. More workers help if storage delivers "
        f"{work.workers} × {read:.0f} MB/s = {storage:.0f} GB/s in total; otherwise storage is the "
        "bottleneck, whatever the number of workers."
    )
    scheduling = (
        f"**The scheduler**: {work.tasks:,} tasks at {tasks:.0f} per second take {scheduler:.0f} "
        "s, while the workers work. It is a single process, so more workers do not help; blocks "
        f"that are {LARGER} times larger reduce this to {scheduler / LARGER:.0f} s."
    )
    first, second = (reading, scheduling) if busy >= scheduler else (scheduling, reading)
    return "\n".join(
        (
            f"- A pass takes {total:.0f} s, and ten take {minutes:.0f} minutes; with the factor by "
            f"which the model was off above, {most:.0f} minutes.",
            f"- The bottleneck: {first}",
            f"- Next: {second}",
            f"- Sending is negligible: {work.sent / 1e9:.1f} GB of sums in total, "
            f"{parts['sending']:.1f} s for each worker. So is the step, "
            f"{work.weights**3 / 3e6:.0f} million operations.",
        )
    )


def model_off() -> float:
    """Return the largest factor by which a pass took longer than the model predicts."""
    return max(one.ratio for one in costs().passes)
