"""Files that appear whole or not at all: whatever happens, a path holds the old content or the new."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], *, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file beside `path` that takes its place when the block ends well. Opened at once, so that a path
    that cannot be written to fails before any work is done."""
    target = Path(os.path.realpath(path))
    encoding = None if binary else "utf-8"
    if target.exists() and not target.is_file():  # a device or a pipe; of a folder this says what is wrong
        with target.open("wb" if binary else "w", encoding=encoding) as file:
            yield file
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb" if binary else "x", encoding=encoding) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # the content is on the disk before the name is
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
