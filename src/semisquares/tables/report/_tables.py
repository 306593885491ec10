"""The tables on the page of a comparison.

Cells are text, which the template escapes, or markup that is made here from numbers only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._html.tables import Grid
from ..._utils.words import NONE, points, signed
from ..columns import Column, kind_titles
from ..compare.comparison import Changes, Comparison, CurvePoint, Estimate, Rival
from ._drawing import STYLES, scored_rivals
from ._numbers import percent, spread, with_interval
from ._words import FAMILIES, METRICS, shortened

if TYPE_CHECKING:
    from markupsafe import Markup

NAMED = 6
"""Columns of one type that are named at most, except in the full list."""
LONGEST = 400
"""Longer names are cut."""
MOST_ROWS = 1000
_DECIMALS = {"accuracy": 1, "balanced_accuracy": 1, "auc": 3, "squared_loss": 3}
_SCALES = {"accuracy": 100.0, "balanced_accuracy": 100.0, "auc": 1.0, "squared_loss": 1.0}


def classes(found: Comparison) -> Grid:
    rows = [
        (shortened(name, LONGEST), f"{count:,}", percent(count / max(found.n_labeled, 1)))
        for name, count in zip(found.classes, found.counts, strict=True)
    ]
    return _grid("Classes among the labeled rows", ("class", "rows", "share"), rows, (1, 2))


def kinds(found: Comparison) -> Grid:
    used = [column for column in found.columns if column.used]
    titles = kind_titles()
    groups = {kind: [one for one in used if one.kind == kind] for kind in titles}
    rows = [
        (titles[kind], f"{len(mine):,}", f"{sum(one.n_missing for one in mine):,}", _named(mine))
        for kind, mine in groups.items()
        if mine
    ]
    header = ("column type", "columns", "empty cells", "names")
    return _grid("Columns that are used", header, rows, (1, 2))


def left_out(found: Comparison) -> Grid:
    rows = [
        (
            shortened(column.name, LONGEST),
            kind_titles().get(column.kind, column.kind),
            column.reason or NONE,
        )
        for column in found.columns
        if not column.used
    ]
    return _grid("Columns that are left out", ("column", "column type", "reason"), rows)


def columns(found: Comparison) -> Grid:
    rows = [
        (
            shortened(one.name, LONGEST),
            kind_titles().get(one.kind, one.kind),
            f"{one.n_missing:,}",
            f"{one.n_distinct:,}",
            shortened(one.example),
            one.reason or NONE,
        )
        for one in found.columns
    ]
    header = ("column", "column type", "empty cells", "distinct values", "example", "remark")
    return _grid("All columns but the target", header, rows, (2, 3))


def rivals(found: Comparison) -> Grid:
    """List the rivals."""
    header = ("classifier", "error points better than the average", *METRICS.values())
    rows = [
        (rival.label, _gain(rival), *(_score(rival, metric) for metric in METRICS))
        for rival in scored_rivals(found)
    ]
    caption = "Means over the held-out parts, and 95 % intervals"
    return _grid(caption, header, rows, range(1, len(header)))


def differences(found: Comparison) -> Grid:
    rows = [
        (rival.label, *(_difference(rival.gains.get(metric), metric) for metric in METRICS))
        for rival in scored_rivals(found)
        if rival.gains
    ]
    caption = "Improvement over the averaged classifier in every metric: above 0 is better"
    return _grid(caption, ("classifier", *METRICS.values()), rows, range(1, len(METRICS) + 1))


def parts(found: Comparison) -> Grid:
    """List the families of the average."""
    rows = [
        (FAMILIES.get(one.family, one.family), percent(one.weight), f"{one.n_members:,}",
         percent(one.error))
        for one in found.parts
    ]  # fmt: skip
    header = ("family", "weight", "members", "error of its best member")
    return _grid("What the average is made of", header, rows, (1, 2, 3))


def curve(points: Sequence[CurvePoint], rows: str) -> Grid:
    """List the errors of a learning curve."""
    methods = [method for method in STYLES if any(one.method == method for one in points)]
    errors = {(one.method, one.n): one.error for one in points}
    cells = [
        (
            f"{n:,}",
            *(
                _stacked(*with_interval(errors[m, n])) if (m, n) in errors else NONE
                for m in methods
            ),
        )
        for n in sorted({one.n for one in points})
    ]
    header = (rows, *(STYLES[method].label for method in methods))
    return _grid("Errors in %, and 95 % intervals", header, cells, range(len(header)))


def moves(found: Changes) -> Grid:
    rows = [
        (shortened(before), shortened(after), f"{count:,}") for before, after, count in found.moves
    ]
    return _grid("Classes that changed", ("from", "to", "rows"), rows, (2,))


def examples(found: Changes) -> Grid:
    rows = [
        (f"{row:,}", shortened(before), percent(first), shortened(after), percent(last))
        for row, before, after, first, last in found.examples
    ]
    header = ("row", "from", "probability", "to", "probability")
    return _grid("The clearest changes; the row below the header is row 1", header, rows, (0, 2, 4))


def importance(found: Comparison, first: int, last: int) -> Grid:
    """List some of the columns; the bar of the most important one fills its cell."""
    from markupsafe import Markup

    most = found.importance[0].importance or 1.0
    rows = [
        (
            shortened(one.column),
            Markup('{} <span class="bar" style="width: {:.1f}%"></span>').format(
                points(one.importance).lstrip("+"), 100 * one.importance / most
            ),
        )
        for one in found.importance[first:last]
    ]
    return _grid("Columns, the most important first", ("column", "points of probability"), rows)


def _grid(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int] = ()
) -> Grid:
    """Make a table; only the first rows of a very long one."""
    if len(rows) > MOST_ROWS:
        caption = f"{caption}: the first {MOST_ROWS:,} of {len(rows):,}"
    flags = tuple(k in numeric for k in range(len(header)))
    return Grid(caption, tuple(header), tuple(map(tuple, rows[:MOST_ROWS])), flags)


def _named(mine: Sequence[Column]) -> str:
    names = ", ".join(shortened(column.name, 40) for column in mine[:NAMED])
    more = len(mine) - NAMED
    return f"{names} and {more:,} more" if more > 0 else names


def _gain(rival: Rival) -> str:
    gain = rival.gains.get("accuracy")
    return NONE if gain is None else _difference(gain, "accuracy")


def _difference(gain: Estimate | None, metric: str) -> str:
    if gain is None:
        return NONE
    write = points if _SCALES[metric] == 100.0 else _thousandths
    return _stacked(write(gain.mean), spread(write(gain.low), write(gain.high)))


def _score(rival: Rival, metric: str) -> str:
    if metric not in rival.scores:
        return NONE
    decimals, scale = _DECIMALS[metric], _SCALES[metric]
    return _stacked(*with_interval(rival.scores[metric], decimals=decimals, scale=scale))


def _thousandths(number: float) -> str:
    return signed(number, 3)


def _stacked(mean: str, interval: str) -> Markup:
    from markupsafe import Markup

    return Markup("{} <small>{}</small>").format(mean, interval) if interval else Markup(mean)
