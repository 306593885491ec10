"""One CSV file, by pyarrow: whole with inferred types, or in pieces of text."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import TableError
from .columns import Missing, blanked, is_text, plain, with_points
from .faults import fault_of, known_fault_of
from .format import Format
from .headers import checked_names, csv_header
from .opening import TableFile, lent, may_hold_newlines, open_bytes, open_range
from .spans import Span, csv_spans

BLOCKS = (1 << 20, 1 << 28)
"""Bytes that are parsed at once; the larger only where a row does not fit into the smaller."""

_TOO_LONG = "straddl"  # what pyarrow's message says of a row that is longer than a block
_NO_ROWS = "Empty CSV"  # and of a header without a line end
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


class CsvFile:
    """A CSV file whose header has been read and checked."""

    index: Sequence[str] = ()
    """None of its columns is an index."""

    def __init__(self, file: TableFile, form: Format, missing: Missing) -> None:
        self.file, self.form, self.missing = file, form, missing
        header = csv_header(file, form)
        self.names = checked_names(header, file.name)
        self._raw = dict(zip(self.names, header, strict=True))
        self._quoted = may_hold_newlines(file, form.encoding)

    def whole(
        self,
        wanted: Sequence[str],
        text: Collection[str],
        span: Span | None = None,
        types: Mapping[str, Any] | None = None,
    ) -> Any:
        """Read some columns, with the types that their cells have; those of `text` as text.

        Of a span of the file, `types` says what the cells of the whole file are.
        """
        import pyarrow as pa

        table = self._parsed(wanted, text, span, types)
        self._check_end(table, span)
        columns = []
        for name, column in zip(wanted, table.columns, strict=True):
            if pa.types.is_binary(column.type):  # text that is not UTF-8
                raise self._fault()
            if pa.types.is_time(column.type):  # its text is 9:30 or 09:30:00, which is lost now
                column = self._parsed([name], [name], span).column(0)
            column = plain(column, name, self.file.name)
            if is_text(column.type):
                column = blanked(column, self.missing.of(name))
            if self.form.decimal == ",":
                column = with_points(column, label=name in self.missing.labels)
            columns.append(column)
        return pa.Table.from_arrays(columns, names=list(wanted))

    def spans(self, most_rows: int, most_bytes: int) -> list[Span]:
        """Cut the file into ranges of bytes that can be read alone."""
        return csv_spans(self.file, self.form, self._quoted, most_rows, most_bytes)

    def found(self, text: Collection[str], span: Span) -> tuple[int, dict[str, Any], set[str]]:
        """Return the rows of a span, the type that holds the cells of each column, and its gaps."""
        import pyarrow as pa

        table = self._parsed(self.names, text, span)
        self._check_end(table, span)
        if any(pa.types.is_binary(kind) for kind in table.schema.types):
            raise self._fault()
        columns = dict(zip(self.names, table.columns, strict=True))
        gaps = {name for name, column in columns.items() if column.null_count}
        return table.num_rows, {name: column.type for name, column in columns.items()}, gaps

    def holds(self, name: str, kind: Any, span: Span) -> bool:
        """Tell whether all cells of a column can be read as a type, in a span."""
        import pyarrow as pa

        try:
            self._read([name], {name: kind}, span)
        except pa.ArrowInvalid:
            return False
        return True

    def pieces(self, wanted: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield record batches of all rows, every cell as the text that it is."""
        import pyarrow as pa
        from pyarrow import csv

        done, last = 0, None
        convert = self._verbatim(wanted)
        for block in BLOCKS:
            seen = 0
            try:
                with self._opened() as lend:
                    for batch in csv.open_csv(lend(), *self._settings(block), convert):
                        new = batch.slice(max(0, done - seen))  # the rest came in smaller blocks
                        seen += batch.num_rows
                        if new.num_rows:
                            done, last = seen, new.rename_columns(list(wanted))
                            yield last
                break
            except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeError) as error:
                if _NO_ROWS in str(error):
                    break
                if block == BLOCKS[-1] or _TOO_LONG not in str(error):
                    raise self._fault() from error
        if last is not None:
            self._check_end(last)

    def _parsed(
        self,
        wanted: Sequence[str],
        text: Collection[str],
        span: Span | None = None,
        types: Mapping[str, Any] | None = None,
    ) -> Any:
        """Read some columns; TableError where that fails."""
        import pyarrow as pa

        try:
            return self._read(wanted, {**(types or {}), **dict.fromkeys(text, pa.string())}, span)
        except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeError) as error:
            raise self._fault() from error

    def _read(self, wanted: Sequence[str], types: Mapping[str, Any], span: Span | None) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        convert = csv.ConvertOptions(
            include_columns=[self._raw[name] for name in wanted],
            column_types={self._raw[name]: kind for name, kind in types.items()},
            null_values=self.missing.words,
            strings_can_be_null=False,  # which text is missing depends on the column
            true_values=_TRUE,
            false_values=_FALSE,
            decimal_point=self.form.decimal,
        )
        for block in BLOCKS:
            try:
                with self._opened(span) as lend:
                    return csv.read_csv(lend(), *self._settings(block, span), convert)
            except pa.ArrowInvalid as error:
                if _NO_ROWS in str(error):
                    break
                if block == BLOCKS[-1] or _TOO_LONG not in str(error):
                    raise
        return pa.table({name: pa.nulls(0) for name in wanted})

    @contextmanager
    def _opened(self, span: Span | None = None) -> Iterator[Callable[[], Any]]:
        """Open the file or a span of it, and give a function that hands it to pyarrow."""
        with open_range(self.file, *span) if span else open_bytes(self.file) as stream:
            if self._quoted or self.form.encoding != "utf-8":  # Python takes part in the reading
                with lent(stream) as lend:
                    yield lend
            else:
                yield lambda: stream

    def _settings(self, block: int, span: Span | None = None) -> tuple[Any, Any]:
        from pyarrow import csv

        encoding = "utf8" if self.form.encoding == "utf-8" else self.form.encoding
        return (
            csv.ReadOptions(
                block_size=block,
                encoding=encoding,
                column_names=list(self._raw.values()) if span else None,  # no header in there
            ),
            csv.ParseOptions(delimiter=self.form.delimiter, newlines_in_values=self._quoted),
        )

    def _verbatim(self, wanted: Sequence[str]) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        return csv.ConvertOptions(
            include_columns=[self._raw[name] for name in wanted],
            column_types={raw: pa.string() for raw in self._raw.values()},
            null_values=[],
            strings_can_be_null=False,
        )

    def _check_end(self, table: Any, span: Span | None = None) -> None:
        """Raise TableError if the last cell has no closing mark: pyarrow takes the rest as text."""
        if not self._quoted or not table.num_rows or not is_text(table.schema.types[-1]):
            return
        if span and span[1] < os.path.getsize(self.file.path):
            return
        if "\n" in (table.column(table.num_columns - 1)[-1].as_py() or ""):
            fault = known_fault_of(self.file, self.form, len(self.names))
            if fault is not None:
                raise fault

    def _fault(self) -> TableError:
        return fault_of(self.file, self.form, len(self.names))
