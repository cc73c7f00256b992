"""The bytes of a file, plain or compressed, in blocks that end with a line."""

from __future__ import annotations

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rankcut.errors import FileError, InputError

BLOCK = 8 * 2**20
LONGEST_LINE = 128 * 2**20
GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"


Share = Callable[[float], object]


def nobody(share: float) -> None:
    """Progress that nobody watches."""


class Lines(NamedTuple):
    """Whole lines, and the number of the first one."""

    text: bytes
    first: int


def open_bytes(path: str | os.PathLike[str]) -> BinaryIO:
    """A file for reading, decompressed if it is gzip; "-" is standard input."""
    if os.fspath(path) == "-":
        return sys.stdin.buffer
    try:
        with Path(path).open("rb") as file:
            compressed = file.read(2) == GZIP
        return gzip.open(path) if compressed else Path(path).open("rb")  # type: ignore[return-value]
    except OSError as error:
        raise InputError(f"path: {error.strerror or error}: {path}") from error


def blocks(
    path: str | os.PathLike[str], *, quotes: bool = False, size: int = BLOCK, progress: Share = nobody
) -> Iterator[Lines]:
    """The file in blocks of about `size` bytes, cut behind a line feed; with `quotes`, never within a quoted field.
    `progress` is told which share of the file has been read."""
    rest, first = b"", 1
    with open_bytes(path) as file:
        for chunk in _chunks(path, file, size, progress):
            text = rest + chunk if rest else chunk
            end = _last_line_end(text, quotes)
            if end == 0 and len(text) > LONGEST_LINE:
                raise FileError(
                    path, f"a line longer than {LONGEST_LINE >> 20} MiB; is this a text file?", first
                )
            rest = text[end:]
            if end:
                whole = text[:end]
                yield Lines(whole, first)
                first += whole.count(b"\n")
    if rest:
        yield Lines(rest, first)


def _chunks(path: str | os.PathLike[str], file: BinaryIO, size: int, progress: Share) -> Iterator[bytes]:
    start, total = True, _size(file)
    while True:
        try:
            chunk = file.read(size)
        except EOFError as error:
            raise FileError(path, "the compressed file is cut short; fetch it again") from error
        except (OSError, zlib.error) as error:  # gzip.BadGzipFile is an OSError
            raise FileError(path, f"cannot be read ({error}); fetch it again") from error
        if not chunk:
            return
        yield chunk.removeprefix(BOM) if start else chunk
        start = False
        if total:
            progress(os.lseek(file.fileno(), 0, os.SEEK_CUR) / total)


def _size(file: BinaryIO) -> int:
    """Bytes on the disk, compressed or not; 0 if nobody knows, as of a pipe."""
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _last_line_end(text: bytes, quotes: bool) -> int:
    """Where the last whole line ends. A line feed after an odd number of quotes is part of a field."""
    end = text.rfind(b"\n") + 1
    inside = quotes and text.count(b'"', 0, end) % 2
    while end and inside:
        before = text.rfind(b"\n", 0, end - 1) + 1
        inside ^= text.count(b'"', before, end) % 2
        end = before
    return end
