"""What goes to standard output: tables, text that any terminal can show, and JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

PLAIN = str.maketrans({"±": "+/-", "–": "-", "−": "-", "²": "^2", "’": "'", "≤": "<=", "…": "..."})


def show(text: str) -> None:
    """Write to standard output, in ASCII where it cannot show more."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(PLAIN).encode(encoding, "replace").decode(encoding)
    sys.stdout.write(text)
    sys.stdout.flush()


def show_json(document: Any) -> None:
    """One JSON document; numbers that are not finite become null."""
    show(json.dumps(finite(document), indent=2, allow_nan=False) + "\n")


def finite(value: Any) -> Any:
    """The value in types that JSON has."""
    if isinstance(value, dict):
        return {str(key): finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if isinstance(value, np.ndarray):
        return finite(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def show_table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """The first column to the left, the others to the right; with lines on a terminal, plain elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        table = Table(title=title or None, title_justify="left")
        for i, head in enumerate(heads):
            table.add_column(head, justify="right" if i else "left")
        for row in rows:
            table.add_row(*row)
        Console().print(table, markup=False)
        return
    lines = [list(heads), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = [
        "  ".join(
            [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
        ).rstrip()
        for line in lines
    ]
    show("\n".join(([title, ""] if title else []) + drawn) + "\n")
