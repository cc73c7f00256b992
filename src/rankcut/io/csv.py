"""CSV and TSV: read fast by polars, block by block; what it cannot read is read again slowly to say where."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np

from rankcut.errors import FileError, InputError
from rankcut.extras import need
from rankcut.io.columns import Columns, Table
from rankcut.io.source import Share, blocks, nobody

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
BLANK_LINES = re.compile(rb"^\r?\n", re.MULTILINE)


def csv_tables(
    path: str | os.PathLike[str],
    columns: Columns,
    *,
    separator: str = ",",
    dtype: Any = np.float64,
    progress: Share = nobody,
) -> Iterator[Table]:
    """A table for each block; the first line names the columns."""
    polars = need("polars", "io", "to read CSV")
    if len(separator) != 1 or separator in '"\r\n' or ord(separator) > 127:
        raise InputError(f"separator: came as {separator!r}; pass one ASCII character, as ',' or '\\t'")
    rest = _lines(path, progress)
    first = next(rest, None)
    if first is None:
        raise FileError(path, "empty; its first line has to name the columns")
    names, first = _header(path, first, separator)
    try:
        roles = columns.roles(names)
        chosen = columns.choose(names, roles)
    except InputError as error:
        raise FileError(path, str(error), 1) from error
    texts = dict.fromkeys(roles.values(), polars.String)
    schema = {
        name: polars.Float64 if name in set(chosen) else texts.get(name, polars.String) for name in names
    }
    used = list(dict.fromkeys([*chosen, *roles.values()]))
    for lines in chain([first], rest):
        text = lines.text if b'"' in lines.text else BLANK_LINES.sub(b"", lines.text)
        if not text.strip():
            continue
        try:
            frame = polars.read_csv(io.BytesIO(text), has_header=False, schema=schema, separator=separator)
        except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
            _explain(path, lines, names, separator, chosen, used, str(error))
        X = frame.select(chosen).to_numpy() if chosen else np.empty((len(frame), 0))
        if not np.isfinite(X).all() or any(frame[name].null_count() for name in used):
            _explain(path, lines, names, separator, chosen, used, "a value is missing or not finite")
        held = {role: np.asarray(frame[name].to_list(), dtype=str) for role, name in roles.items()}
        yield Table(np.ascontiguousarray(X, dtype), held, tuple(chosen))


class Lines(NamedTuple):
    """Whole lines, and the number of the first one."""

    text: bytes
    first: int


def _lines(path: str | os.PathLike[str], progress: Share) -> Iterator[Lines]:
    first = 1
    for block in blocks(path, quotes=True, progress=progress):
        lines = Lines(bytes(block), first)
        yield lines
        first += lines.text.count(b"\n")


def _header(path: Any, lines: Lines, separator: str) -> tuple[list[str], Lines]:
    """The names in the first line, and the lines below it."""
    end = lines.text.find(b"\n") + 1 or len(lines.text)
    while lines.text.count(b'"', 0, end) % 2 and end < len(lines.text):
        end = lines.text.find(b"\n", end) + 1 or len(lines.text)
    head = lines.text[:end]
    try:
        names = next(csv.reader([head.decode("utf-8").rstrip("\r\n")], delimiter=separator, strict=True), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(
            path, f"names of columns that cannot be read ({error}); save it as UTF-8", 1
        ) from error
    if not any(names):
        raise FileError(path, "an empty first line, which has to name the columns", 1)
    if len(names) > 1 and all(NUMBER.fullmatch(name) for name in names):
        raise FileError(path, "numbers in the first line, which has to name the columns", 1)
    other = next((mark for mark in ";\t|" if mark in names[0]), None)
    if len(names) == 1 and other is not None:
        what = f"one column, {names[0][:40]!r}; if {other!r} parts the columns, pass it as separator"
        raise FileError(path, what, 1)
    return names, Lines(lines.text[end:], 1 + head.count(b"\n"))


def _explain(
    path: Any,
    lines: Lines,
    names: Sequence[str],
    separator: str,
    chosen: Sequence[str],
    used: Sequence[str],
    otherwise: str,
) -> NoReturn:
    """Find the first field that is wrong, slowly."""
    numbers, needed = set(chosen), set(used)
    reader = csv.reader(
        io.StringIO(lines.text.decode("utf-8", "replace"), newline=""), delimiter=separator, strict=True
    )
    place = lines.first
    try:
        for fields in reader:
            if fields and len(fields) != len(names):
                raise FileError(
                    path, f"{len(fields)} fields, but the first line names {len(names)} columns", place
                )
            for name, field in zip(names, fields, strict=False):
                if name in needed and field == "":
                    raise FileError(path, "missing; fill it in, or drop the row or column", place, repr(name))
                if name in numbers and not (NUMBER.fullmatch(field) and math.isfinite(float(field))):
                    raise FileError(
                        path,
                        f"{field[:40]!r} is no finite number; encode it as numbers, or leave the column out with drop",
                        place,
                        repr(name),
                    )
            place = lines.first + reader.line_num
    except csv.Error as error:
        raise FileError(path, f"{error}; is every quote closed?", place) from error
    otherwise = otherwise.splitlines()[0] if otherwise else "cannot be read"
    raise FileError(path, f"at or below this line: {otherwise}", lines.first)
