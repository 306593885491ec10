"""Hand a file to pyarrow's CSV reader, and work around two faults of that reader.

- It drops the second character of a line end inside a quoted cell if a block starts with it
  (https://github.com/apache/arrow/issues/51368, open; seen up to pyarrow 26.0.1).
- Its threads read ahead, and outlive the reader. If one of them comes back to Python, to read more
  or to free what it has read, while the interpreter shuts down, the process aborts or hangs
  (https://github.com/apache/arrow/issues/43604, 33975, and 43892 after an error of decoding).

Only files that are read by Python code need these work-arounds.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 60.0
"""Seconds to wait for pyarrow's threads, which let go of a file after their current read."""


class _Block(bytearray):
    """Bytes that can be referenced weakly."""


class UnsplitLineEnds:
    """A binary file whose reads never end between the two characters of a line end."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._ended = False
        self.closed = False
        self.blocks: list[weakref.ref[_Block]] = []

    def read(self, size: int) -> bytes | bytearray:
        """Read at most `size` bytes, which must be two or more; nothing after `end`."""
        if self._ended:
            return b""
        block = _Block(self._file.read(size - 1))
        if block.endswith(b"\r"):
            block += self._file.read(1)
        self.blocks.append(weakref.ref(block))
        return block

    def end(self) -> None:
        """Pretend that the file ends here."""
        self._ended = True

    def close(self) -> None:
        """Leave closing to the owner of the file."""
        self.closed = True


@contextmanager
def lent(file: Any) -> Iterator[Callable[[], UnsplitLineEnds]]:
    """Lend a file to pyarrow, and wait at the end until its threads have let go of it.

    The context is a function. Pass its result to pyarrow, and keep no reference to it, nor to
    pyarrow's reader.
    """
    loans: list[tuple[weakref.ref[UnsplitLineEnds], list[weakref.ref[_Block]]]] = []

    def lend() -> UnsplitLineEnds:
        loan = UnsplitLineEnds(file)
        loans.append((weakref.ref(loan), loan.blocks))
        return loan

    try:
        yield lend
    except UnicodeError:
        for _, blocks in loans:
            blocks.clear()  # the error holds one of them for as long as it is handled
        raise
    finally:
        deadline = time.monotonic() + _PATIENCE
        for loan, blocks in loans:
            if (held := loan()) is not None:
                held.end()
            del held
            # polled: a callback of the weak reference would still run in their thread afterwards
            while time.monotonic() < deadline and (
                loan() is not None or any(block() is not None for block in blocks)
            ):
                time.sleep(0.001)
