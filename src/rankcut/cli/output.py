"""Files that appear whole or not at all, and text that any terminal can show."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

PLAIN = str.maketrans({"±": "+/-", "–": "-", "−": "-", "²": "^2", "’": "'", "≤": "<="})


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[TextIO]:
    """Open a file beside `path` that takes its place when the block ends well. Opened at once, so that a path
    that cannot be written to fails before any work is done."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a device or a pipe; of a folder this says what is wrong
        with target.open("w", encoding="utf-8") as file:
            yield file
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("x", encoding="utf-8") as file:
            yield file
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def show(text: str) -> None:
    """Write to standard output, in ASCII where it cannot show more."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(PLAIN).encode(encoding, "replace").decode(encoding)
    sys.stdout.write(text)
    sys.stdout.flush()
