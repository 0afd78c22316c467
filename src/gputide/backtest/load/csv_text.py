"""The text of a CSV file: opened, unpacked and cut into rows, with the line of each."""

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from gputide.errors import InputError

STDIN = frozenset({"-", "/dev/stdin"})
GZIP_MAGIC = b"\x1f\x8b"
MAX_LINE_BYTES = 1 << 20
"""A longer line means that this is no CSV; it must not fill our memory."""

MAX_ROWS = 10_000_000
CHUNK_ROWS = 20_000
DELIMITERS = ",;\t"

Row = list[str]


class RowReader:
    """Reads the rows of one open file, and knows the line that it has reached."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self.name = name
        self.line = 0
        self._lines = self._decoded(stream)
        self.header = self._read_header()

    def problem(self, text: str, *, line: int | None = None) -> InputError:
        """Return the error that says `text` about a line; the one just read unless given."""
        return InputError(f"{self.name}:{self.line if line is None else line}", text)

    def chunks(self) -> Iterator[tuple[list[int], list[Row]]]:
        """Yield the rows below the header with their line numbers, many at a time."""
        rows = self._numbered_rows()
        read = 0
        while chunk := list(islice(rows, CHUNK_ROWS)):
            read += len(chunk)
            if read > MAX_ROWS:
                raise self.problem(
                    f"more than {MAX_ROWS:,} rows: give a shorter or coarser extract"
                )
            yield [line for line, _ in chunk], [row for _, row in chunk]

    def _read_header(self) -> Row:
        first = next((line for line in self._lines if line.strip()), None)
        if first is None:
            raise InputError(self.name, "is empty")
        self._delimiter = max(DELIMITERS, key=first.count)
        try:
            names = next(csv.reader([first], delimiter=self._delimiter))
        except csv.Error as error:
            raise self._no_csv(error) from error
        if all(map(_is_number, names)) or any(map(_is_time, names)):
            raise self.problem("no header: the first line must name the columns: timestamp,value")
        return [name.strip() for name in names]

    def _numbered_rows(self) -> Iterator[tuple[int, Row]]:
        width = len(self.header)
        reader = csv.reader(self._lines, delimiter=self._delimiter)
        try:
            for row in reader:
                if len(row) != width:
                    if not row:
                        continue
                    raise self.problem(f"{len(row)} fields where the header has {width}")
                yield self.line, row
        except csv.Error as error:
            raise self._no_csv(error) from error

    def _no_csv(self, error: csv.Error) -> InputError:
        what = str(error).partition(" - ")[0]  # what follows is advice to programmers
        return self.problem(f"no CSV: {what}")

    def _decoded(self, stream: BinaryIO) -> Iterator[str]:
        try:
            while raw := stream.readline(MAX_LINE_BYTES):
                self.line += 1
                if len(raw) == MAX_LINE_BYTES:
                    raise self.problem("the line is longer than 1 MiB: no CSV")
                yield raw.decode("utf-8-sig" if self.line == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise self.problem(f"no UTF-8 text (byte {error.start + 1} of the line)") from error
        except (OSError, EOFError, zlib.error) as error:
            raise self.problem(f"cannot read on: {_reason(error)}", line=self.line + 1) from error


@contextmanager
def open_rows(path: Path | str) -> Iterator[RowReader]:
    """Open a .csv or .csv.gz file, or `-` for standard input; gzip is told by its first bytes."""
    name = "stdin" if str(path) in STDIN else str(path)
    with _opened(path, name) as file:
        yield RowReader(name, _unpacked(name, file))


def _opened(path: Path | str, name: str) -> AbstractContextManager[BinaryIO]:
    try:
        return nullcontext(sys.stdin.buffer) if str(path) in STDIN else Path(path).open("rb")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InputError(name, _reason(error)) from error


def _unpacked(name: str, file: BinaryIO) -> BinaryIO:
    buffered = cast("io.BufferedReader", file)  # both ways of opening give one
    try:
        is_gzip = buffered.peek(2)[:2] == GZIP_MAGIC
    except OSError as error:
        raise InputError(name, _reason(error)) from error
    if is_gzip:
        # gzip has every method that a buffer above it asks for, but not in its types
        unpacked = cast("io.RawIOBase", gzip.GzipFile(fileobj=file))
        return io.BufferedReader(unpacked, 1 << 18)
    if name.endswith(".gz"):
        raise InputError(name, "is no gzip file, whatever its name says")
    return file


def _reason(error: Exception) -> str:
    """Return why in plain words: what the system says, without its numbers and our paths."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return f"cannot be read ({error})"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_time(cell: str) -> bool:
    if _is_number(cell):
        return float(cell) > 1e8
    try:
        return datetime.fromisoformat(cell) is not None and len(cell) >= 10
    except ValueError:
        return False


def shown(cell: str) -> str:
    """Return a cell as an error shows it: one line, at most 40 characters.

    >>> shown("2" * 50)
    "'2222222222222222222222222222222222222...'"
    """
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
