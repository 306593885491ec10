"""What to know before trusting a model: the notices of `compare`, stored with the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..._utils.messages import join
from ..compare._rows import TableRows
from ..compare.comparison import Notice, plain
from ..dataset import Prepared, TableInfo

__all__ = ["Remark", "notice_texts", "record_notices", "sample_of"]


@dataclass(frozen=True)
class Remark(Notice):
    """A sentence about a table or a fit that has no facts of its own."""

    kind: str
    said: str

    def words(self) -> tuple[str, str]:
        return self.said, ""


def sample_of(table: TableInfo, rows: TableRows) -> Prepared:
    """Return a sample of the rows of a table, as notices take it."""
    return Prepared(
        source=table.source,
        target=replace(table.target, codes=rows.codes),
        encoder=table.encoder,
        group=table.group,
        unlabeled=table.unlabeled,
        n_suggested=table.n_suggested,
        X=rows.X,
        groups=rows.groups,
    )


def record_notices(notices: Iterable[Notice]) -> list[dict[str, Any]]:
    """Return notices as JSON values: what was found in words, and as numbers and names.

    Examples
    --------
    >>> from semisquares.tables.compare.notices.imbalance import Imbalance
    >>> (record,) = record_notices([Imbalance((("eel", 3),), 80)])
    >>> record["kind"], record["sentence"], record["facts"]["n_labels"]
    ('imbalance', "Of 80 labels class 'eel' has 3.", 80)
    """
    return [
        {
            "kind": notice.kind,
            "sentence": notice.sentence,
            "meaning": notice.meaning,
            "facts": plain(_facts(notice)),
        }
        for notice in notices
    ]


def _facts(notice: Notice) -> dict[str, Any]:
    found: dict[str, Any] = asdict(notice)  # type: ignore[call-overload]
    return {name: value for name, value in found.items() if name not in ("kind", "said")}


def notice_texts(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the sentences of recorded notices, each text once."""
    return list(dict.fromkeys(_text(record) for record in records))


def _text(record: Mapping[str, Any]) -> str:
    return join(" ", filter(None, (record["sentence"], record["meaning"])))
