"""Parquet through polars, in batches of rows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.errors import FileError, InputError
from rankcut.extras import need
from rankcut.io.columns import Columns, Table
from rankcut.io.source import Share, nobody

BATCH = 32 * 2**20  # bytes of features
END = b"PAR1"


def parquet_tables(
    path: str | os.PathLike[str], columns: Columns, *, dtype: Any = None, progress: Share = nobody
) -> Iterator[Table]:
    """A table for each batch of rows. Features stay float32 if all of them fit in it exactly."""
    polars = need("polars", "io", "to read Parquet")
    _check_ends(path)
    with _teaching(path, polars):
        scan = polars.scan_parquet(path, glob=False)
        schema = scan.collect_schema()
        total = scan.select(polars.len()).collect().item()
    try:
        roles = columns.roles(list(schema))
        chosen = columns.choose(list(schema), roles)
    except InputError as error:
        raise FileError(path, str(error)) from error
    for name in chosen:
        if not (schema[name].is_numeric() or schema[name] == polars.Boolean):
            raise FileError(
                path,
                f"holds {schema[name]}, no numbers; encode it, or leave it out with drop",
                column=repr(name),
            )
    kinds = {polars.Boolean, polars.Float32, polars.Int8, polars.UInt8, polars.Int16, polars.UInt16}
    dtype = dtype or (np.float32 if all(schema[name] in kinds for name in chosen) else np.float64)
    kind = polars.Float32 if np.dtype(dtype) == np.float32 else polars.Float64
    wanted = [polars.col(name).cast(kind).alias(f"x{i}") for i, name in enumerate(chosen)]
    wanted += [polars.col(name).alias(role) for role, name in roles.items()]
    rows = max(1, BATCH // (np.dtype(dtype).itemsize * max(1, len(chosen))))
    at = 0
    with _teaching(path, polars):
        batches = scan.select(wanted).collect_batches(chunk_size=rows, maintain_order=True)
    while True:
        with _teaching(path, polars):
            frame = next(batches, None)
            if frame is None:
                return
            features = frame.select([f"x{i}" for i in range(len(chosen))])
            X = features.to_numpy() if chosen else np.empty((len(frame), 0), dtype)
            held = {role: frame[role] for role in roles}
        _check(path, X, chosen, at)
        held = {role: _column(path, held[role], name, at) for role, name in roles.items()}
        at += len(X)
        progress(at / max(1, total))
        yield Table(np.ascontiguousarray(X), held, tuple(chosen))


def _check_ends(path: Any) -> None:
    try:
        with open(path, "rb") as file:
            start = file.read(4)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4))
            end = file.read(4)
    except OSError as error:
        raise InputError(f"path: {error.strerror or error}: {path}") from error
    if size < 12 or start != END or end != END:
        raise FileError(path, "no whole Parquet file; is it cut short?")


def _check(path: Any, X: NDArray[Any], names: list[str], at: int) -> None:
    good = np.isfinite(X)
    if not good.all():
        row, column = np.argwhere(~good)[0]
        raise FileError(
            path,
            f"missing or not finite in row {at + row} (from 0); fill it in, or drop the row or column",
            column=repr(names[column]),
        )


def _column(path: Any, series: Any, name: str, at: int) -> NDArray[Any]:
    if series.null_count():
        row = at + int(np.flatnonzero(series.is_null().to_numpy())[0])
        raise FileError(
            path, f"missing in row {row} (from 0); fill it in, or drop the row", column=repr(name)
        )
    if series.dtype.is_nested():
        raise FileError(path, f"holds {series.dtype}; take a column of numbers or text", column=repr(name))
    return series.to_numpy() if series.dtype.is_numeric() else np.asarray(list(map(str, series)), dtype=str)


@contextlib.contextmanager
def _teaching(path: Any, polars: Any) -> Iterator[None]:
    try:
        yield
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        text = (str(error).splitlines() or [type(error).__name__])[0]
        raise FileError(path, f"cannot be read as Parquet ({text}); write it again") from error
