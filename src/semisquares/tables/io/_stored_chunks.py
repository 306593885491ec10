"""Chunks of a table that are stored as Parquet during a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


def numbered(batches: Iterator[Any], max_rows: int, max_bytes: int) -> Iterator[tuple[int, Any]]:
    """Cut record batches at the ends of chunks; yield the number of its chunk with each one.

    A chunk has at most `max_rows` rows, and about `max_bytes`, unless a single row is larger.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batches = pa.table({"a": range(7)}).to_batches(max_chunksize=3)
    >>> [(chunk, batch.num_rows) for chunk, batch in numbered(batches, 4, 10**6)]
    [(0, 3), (0, 1), (1, 2), (1, 1)]
    """
    chunk, rows, size = 0, 0, 0
    for batch in batches:
        while batch.num_rows:
            room = (max_bytes - size) * batch.num_rows // max(1, batch.nbytes)
            fitting = min(max_rows - rows, room, batch.num_rows)
            if rows and fitting < 1:
                chunk, rows, size = chunk + 1, 0, 0
                continue
            head = batch.slice(0, max(1, fitting))
            yield chunk, head
            rows, size = rows + head.num_rows, size + head.nbytes
            batch = batch.slice(head.num_rows)


@dataclass(frozen=True)
class StoredChunk:
    """Rows in a Parquet file, in the types that they have in all chunks."""

    path: str

    def read(self, columns: Sequence[str], text: Collection[str], types: Mapping[str, Any]) -> Any:
        """Read some columns; nothing is left to convert."""
        from pyarrow import parquet

        return parquet.ParquetFile(self.path, pre_buffer=False).read(columns=list(columns))
