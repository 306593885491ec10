"""Read and write people's tables: CSV, JSON lines, workbooks, Parquet, Feather; also in chunks.

`find` resolves a path to a `Source`: files, a format and a dialect. `read` reads all of it;
`iter_chunks` reads it chunk by chunk in one pass; `split` makes chunks that several processes can
read, as often as they like. `writer` writes. A new file format is an entry in `FORMATS`: see
`protocol`.
"""

from ._arrow import parquet_chunks
from ._chunks import Chunk, Run, split
from ._columns import NO_LABEL, MissingWords, plain_table
from ._dialect import Dialect
from ._files import TableFile
from ._formats import FORMATS, names_table
from ._names import MOST_COLUMNS, UNNAMED_COLUMN, check_names, check_width
from ._read import iter_chunks, read, text_types
from ._source import Source, find
from ._temporary import TemporaryFolder, remove_leftovers
from ._write import TableWriter, writer
from .protocol import ChunkProfile, ChunkReader, FileFormat, Reader, RowWriter

__all__ = [
    "FORMATS",
    "MOST_COLUMNS",
    "NO_LABEL",
    "UNNAMED_COLUMN",
    "Chunk",
    "ChunkProfile",
    "ChunkReader",
    "Dialect",
    "FileFormat",
    "MissingWords",
    "Reader",
    "RowWriter",
    "Run",
    "Source",
    "TableFile",
    "TableWriter",
    "TemporaryFolder",
    "check_names",
    "check_width",
    "find",
    "iter_chunks",
    "names_table",
    "parquet_chunks",
    "plain_table",
    "read",
    "remove_leftovers",
    "split",
    "text_types",
    "writer",
]
