"""The bytes of a file, plain or compressed, in blocks that end with a line."""

from __future__ import annotations

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from rankcut.errors import FileError, InputError

BLOCK = 2 * 2**20
LONGEST_LINE = 128 * 2**20
GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"


Share = Callable[[float], object]


def nobody(share: float) -> None:
    """Progress that nobody watches."""


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
) -> Iterator[memoryview]:
    """The file in blocks of about `size` bytes, cut behind a line feed; with `quotes`, never within a quoted field.
    `progress` is told which share of the file has been read."""
    rest, begun = b"", False
    with open_bytes(path) as file:
        total = _size(file)
        while True:
            text = bytearray(len(rest) + size)  # a new one each time: blocks are parsed while others are read
            text[: len(rest)] = rest
            read = _fill(path, file, memoryview(text)[len(rest) :])
            if not read:
                break
            filled = len(rest) + read
            start = len(BOM) if not begun and text.startswith(BOM) else 0
            begun = True
            end = _last_line_end(text, filled, quotes)
            if end == 0 and filled > LONGEST_LINE:
                raise FileError(path, f"a line longer than {LONGEST_LINE >> 20} MiB; is this a text file?")
            rest = bytes(text[max(start, end) : filled])
            if total:
                progress(os.lseek(file.fileno(), 0, os.SEEK_CUR) / total)
            if end > start:
                yield memoryview(text)[start:end]
    if rest:
        yield memoryview(rest)


def _fill(path: str | os.PathLike[str], file: BinaryIO, room: memoryview) -> int:
    try:
        return file.readinto(room) or 0  # type: ignore[attr-defined]  # all files have it
    except EOFError as error:
        raise FileError(path, "the compressed file is cut short; fetch it again") from error
    except (OSError, zlib.error) as error:  # gzip.BadGzipFile is an OSError
        raise FileError(path, f"cannot be read ({error}); fetch it again") from error


def _size(file: BinaryIO) -> int:
    """Bytes on the disk, compressed or not; 0 if nobody knows, as of a pipe."""
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _last_line_end(text: bytearray, filled: int, quotes: bool) -> int:
    """Where the last whole line ends. A line feed after an odd number of quotes is part of a field."""
    end = text.rfind(b"\n", 0, filled) + 1
    inside = quotes and text.count(b'"', 0, end) % 2
    while end and inside:
        before = text.rfind(b"\n", 0, end - 1) + 1
        inside ^= text.count(b'"', before, end) % 2
        end = before
    return end
