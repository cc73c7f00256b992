"""Tables of any format, in parts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from rankcut.errors import InputError
from rankcut.io.columns import Columns, Table
from rankcut.io.csv import csv_tables
from rankcut.io.parquet import parquet_tables
from rankcut.io.source import Share, nobody

SEPARATORS = {"csv": ",", "tsv": "\t"}


def tables_of(
    path: str | os.PathLike[str],
    columns: Columns,
    format: str,
    *,
    separator: str | None = None,
    dtype: Any = None,
    progress: Share = nobody,
) -> Iterator[Table]:
    """A table for each part of a CSV, TSV or Parquet file."""
    if format == "parquet":
        return parquet_tables(path, columns, dtype=dtype, progress=progress)
    if format in SEPARATORS:
        separator = separator or SEPARATORS[format]
        return csv_tables(path, columns, separator=separator, dtype=dtype or "float64", progress=progress)
    raise InputError(f"format: {path} is {format}, no table; pass a CSV, TSV or Parquet file")
