"""CSV, by pyarrow: parsed at once with inferred types, or streamed as text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..errors import TableError
from ._columns import MissingWords, is_text, mark_missing, swap_marks, to_plain_type
from ._csv_input import lent
from ._csv_writer import CsvWriter
from ._dialect import Dialect
from ._faults import fault_of, known_fault_of, title_fault
from ._files import TableFile, may_hold_codes, may_hold_newlines, open_bytes
from ._names import check_names, csv_header
from ._stored_chunks import numbered
from ._temporary import TemporaryFolder, writing
from .protocol import ChunkProfile, FileFormat

BLOCKS = (1 << 20, 1 << 28)
"""Bytes that are parsed at once; the larger number only if a row does not fit into the smaller."""

# pyarrow raises ArrowInvalid for these as for any other fault, so only its messages tell them apart
# (https://github.com/apache/arrow/issues/34578 shows the first; that they have no exception classes
# of their own is not reported upstream as of 2026-11, seen up to pyarrow 26.0.1).
_TOO_LONG = "straddl"  # a row is longer than a block
_NO_ROWS = "Empty CSV"  # a header has no line end
_PADDED = "^[ \\t]*0[0-9]+[ \\t]*$"
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


@dataclass(frozen=True)
class _CsvText:
    """The text of a CSV, and what is needed to parse it."""

    file: TableFile
    dialect: Dialect
    missing: MissingWords
    header: Mapping[str, str]
    """By the name of each column in the table, its name in the file."""
    quoted: bool
    """Whether cells may hold line ends."""

    def parse(
        self,
        columns: Sequence[str],
        text: Collection[str] = (),
        types: Mapping[str, Any] | None = None,
    ) -> Any:
        """Parse some columns, as `types` or with inferred types; TableError if that fails."""
        import pyarrow as pa

        types = {**(types or {}), **dict.fromkeys(text, pa.string())}
        try:
            table = self._parse(columns, types)
        except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeError) as error:
            raise self.fault() from error
        if any(pa.types.is_binary(type) for type in table.schema.types):  # text that is not UTF-8
            raise self.fault()
        return table

    def codes(self, table: Any) -> dict[str, Any]:
        """Find the columns of whole numbers that are written with leading zeros; as text.

        pyarrow reads the ZIP code 01234 as 1234, and has no option to prevent that.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = [field.name for field in table.schema if pa.types.is_integer(field.type)]
        dialect = self.dialect
        if not whole or not may_hold_codes(self.file, dialect.encoding, dialect.delimiter):
            return {}
        texts = self.parse(whole, whole)
        columns = {
            name: mark_missing(column, self.missing.of(name))
            for name, column in zip(whole, texts.columns, strict=True)
        }
        return {
            name: column
            for name, column in columns.items()
            if pc.any(pc.match_substring_regex(column, _PADDED)).as_py()
        }

    def fits(self, column: str, type: Any) -> bool:
        """Tell whether all cells of a column can be read as a type."""
        import pyarrow as pa

        try:
            self._parse([column], {column: type})
        except pa.ArrowInvalid:
            return False
        return True

    def plain(self, table: Any) -> Any:
        """Bring parsed columns to plain types, and mark the missing cells of text."""
        import pyarrow as pa

        columns = []
        for name, column in zip(table.column_names, table.columns, strict=True):
            if pa.types.is_time(column.type):
                # Whether the text was 9:30 or 09:30:00 is lost, and no option prevents that:
                # https://github.com/apache/arrow/issues/45814
                column = self.parse([name], [name]).column(0)
            column = to_plain_type(column, name, self.file.name)
            if is_text(column.type):
                column = mark_missing(column, self.missing.of(name))
            if self.dialect.decimal == ",":
                column = swap_marks(column, label=name in self.missing.labels)
            columns.append(column)
        return pa.Table.from_arrays(columns, names=table.column_names)

    def fault(self) -> TableError:
        """Return an error that explains why parsing failed."""
        dialect = self.dialect
        title = title_fault(self.file, dialect.encoding, dialect.delimiter)
        return title or fault_of(self.file, dialect, len(self.header))

    def _parse(self, columns: Sequence[str], types: Mapping[str, Any]) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        for block in BLOCKS:
            try:
                with self.open() as lend:
                    table = csv.read_csv(lend(), *self.options(block, columns, types))
                return table.rename_columns(list(columns))
            except pa.ArrowInvalid as error:
                if _NO_ROWS in str(error):
                    break
                if block == BLOCKS[-1] or _TOO_LONG not in str(error):
                    raise
        return pa.table({name: pa.nulls(0) for name in columns})

    @contextmanager
    def open(self) -> Iterator[Callable[[], Any]]:
        """Open the file; give a function that hands it to pyarrow."""
        with open_bytes(self.file) as stream:
            if self.quoted or self.dialect.encoding != "utf-8":  # read by Python code: `lent`
                with lent(stream) as lend:
                    yield lend
            else:
                yield lambda: stream

    def options(
        self, block: int, columns: Sequence[str], types: Mapping[str, Any]
    ) -> tuple[Any, Any, Any]:
        """Return pyarrow's options to read, parse and convert some columns in blocks of a size."""
        from pyarrow import csv

        encoding = "utf8" if self.dialect.encoding == "utf-8" else self.dialect.encoding
        convert = csv.ConvertOptions(
            include_columns=[self.header[name] for name in columns],
            column_types={self.header[name]: type for name, type in types.items()},
            null_values=self.missing.words,
            strings_can_be_null=False,  # which text is missing depends on the column
            true_values=_TRUE,
            false_values=_FALSE,
            decimal_point=self.dialect.decimal,
        )
        return (
            csv.ReadOptions(block_size=block, encoding=encoding, skip_rows=self.file.skip_rows),
            csv.ParseOptions(delimiter=self.dialect.delimiter, newlines_in_values=self.quoted),
            convert,
        )


class CsvReader:
    """A CSV file whose header has been read and checked."""

    index: Sequence[str] = ()

    def __init__(self, file: TableFile, dialect: Dialect, missing: MissingWords) -> None:
        self.file = file
        header = csv_header(file, dialect)
        try:
            self.names = check_names(header, file.name)
        except TableError as error:  # a title is not a header
            raise title_fault(file, dialect.encoding, dialect.delimiter) or error from None
        names = dict(zip(self.names, header, strict=True))
        quoted = may_hold_newlines(file, dialect.encoding)
        self._text = _CsvText(file, dialect, missing, names, quoted)

    def read(self, columns: Sequence[str], text: Collection[str]) -> Any:
        """Read all rows, with the types that pyarrow infers from the cells."""
        table = self._text.parse(columns, text)
        self._check_end(table)
        for name, column in self._text.codes(table).items():
            table = table.set_column(columns.index(name), name, column)
        return self._text.plain(table)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield all rows, every cell as the text that it is; batches have a block each."""
        import pyarrow as pa
        from pyarrow import csv

        done, last = 0, None
        texts = dict.fromkeys(columns, pa.string())
        for block in BLOCKS:
            seen = 0
            options = self._text.options(block, columns, texts)
            try:
                with self._text.open() as lend:
                    for batch in csv.open_csv(lend(), *options):
                        new = batch.slice(max(0, done - seen))  # the rest came in smaller blocks
                        seen += batch.num_rows
                        if new.num_rows:
                            done, last = seen, new.rename_columns(list(columns))
                            yield last
                break
            except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeError) as error:
                if _NO_ROWS in str(error):
                    break
                if block == BLOCKS[-1] or _TOO_LONG not in str(error):
                    raise self._text.fault() from error
        if last is not None:
            self._check_end(last)

    def chunks(self, max_rows: int, max_bytes: int, folder: TemporaryFolder) -> list[CsvChunk]:
        """Copy the rows to one small file for each chunk, as CSV in UTF-8.

        A place in the middle of a CSV cannot be found without all text before it: any line end may
        be inside a quoted cell, and compressed text has no places at all.
        """
        import pyarrow as pa

        chunks = []
        # not the table's names: pyarrow would drop a byte order mark at the start of the first
        header = {name: f"c{place}" for place, name in enumerate(self.names)}
        delimiter, decimal = self._text.dialect.delimiter, self._text.dialect.decimal
        dialect = Dialect(delimiter, decimal=decimal)
        batches = numbered(self.batches(self.names, max_rows), max_rows, max_bytes)
        for _, group in groupby(batches, key=lambda pair: pair[0]):
            path = folder.new_path(".csv")
            with writing(path), open(path, "wb") as file:
                writer = CsvWriter(file, list(header.values()), dialect)
                for _, batch in group:
                    writer.write_table(pa.Table.from_batches([batch]))
            chunk = TableFile(path, self.file.name)
            quoted = may_hold_newlines(chunk, dialect.encoding)
            chunks.append(CsvChunk(chunk, dialect, self._text.missing, header, quoted))
        return chunks

    def _check_end(self, table: Any) -> None:
        """Raise TableError if the last cell has no closing quotation mark.

        pyarrow takes the rest of the file as text then: not reported upstream as of 2026-11, seen
        up to pyarrow 26.0.1.
        """
        if not self._text.quoted or not table.num_rows or not is_text(table.schema.types[-1]):
            return
        if "\n" in (table.column(table.num_columns - 1)[-1].as_py() or ""):
            fault = known_fault_of(self.file, self._text.dialect, len(self.names))
            if fault is not None:
                raise fault


class CsvChunk(_CsvText):
    """Some rows of a CSV in a text file of their own."""

    @property
    def temporary(self) -> str | None:
        """The path of the file."""
        return self.file.path

    def profile(self, text: Collection[str]) -> ChunkProfile:
        """Parse all columns, and return what pyarrow infers."""
        table = self.parse(list(self.header), text)
        columns = dict(zip(table.column_names, table.columns, strict=True))
        gaps = {name for name, column in columns.items() if column.null_count}
        types = {name: column.type for name, column in columns.items()}
        return ChunkProfile(table.num_rows, types, gaps, frozenset(self.codes(table)))

    def read(self, columns: Sequence[str], text: Collection[str], types: Mapping[str, Any]) -> Any:
        """Parse some columns as `types`."""
        return self.plain(self.parse(columns, text, types))


CSV = FileFormat(
    "csv",
    (".csv", ".tsv", ".tab", ".txt"),
    CsvReader,
    create=lambda file, schema, dialect: CsvWriter(file, schema.names, dialect),
    is_text=True,
    options=frozenset({"skip_rows"}),
    memory_factor=2.5,
)
