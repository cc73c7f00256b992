"""Read a data set from a file, whole or in parts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankcut.arguments import whole
from rankcut.errors import FileError, InputError
from rankcut.io.columns import Columns, Table, marks, tidy
from rankcut.io.dataset import Dataset, combine
from rankcut.io.edges import with_edges
from rankcut.io.npz import read_npz
from rankcut.io.source import Share, nobody
from rankcut.io.svmlight import CountsFromZero, svmlight_parts
from rankcut.io.tables import tables_of

FORMATS = ("svmlight", "csv", "tsv", "parquet", "npz")
SUFFIXES = {
    **dict.fromkeys((".svm", ".svmlight", ".libsvm", ".letor", ".txt", ".dat"), "svmlight"),
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
}
Path_ = str | os.PathLike[str]


def read(path: Path_, *, edges: Path_ | None = None, edges_by: str = "row", **options: Any) -> Dataset:
    """The data set in a file; nothing is returned of a file that is not good to its end.

    Parameters
    ----------
    path : a file of svmlight or LETOR rows, CSV, TSV, Parquet or .npz; text may be compressed by gzip
    format : one of "svmlight", "csv", "tsv", "parquet", "npz"; None goes by the name's ending
    label, qid, bag, known, id : names of columns (or arrays); None takes a column of that name if there is one, and
        "y" for the label too. In svmlight files only id, a word in the comments: "docid" in `#docid = GX1`
    features, drop : the columns that are features, or those that are nothing; None, all without a role
    n_features : svmlight: the width of X, or None for the last column in use
    zero_based : svmlight: whether indices count from 0; None, from 1 unless there is an index 0, which a warning names:
        another file of the same origin may lack one
    separator : CSV: between fields
    dtype : "float32" or "float64"; None keeps what the file has (text becomes float64)
    edges : a file with edges, as columns source and target, or an array edges
    edges_by : "row" if edges name rows by number from 0, "id" if by id
    n_jobs : threads that parse; None, all cores
    progress : is called with the share of the file that has been read
    """
    format, columns, rest = _checked(path, **options)
    if format == "npz":
        data = read_npz(path, columns, dtype=rest["dtype"])
    else:
        try:
            data = combine(_parts(path, format, columns, **rest), path)
        except CountsFromZero as found:
            if options.get("zero_based") is not None or os.fspath(path) == "-":
                raise
            warnings.warn(
                f"{path}, line {found.line}: index 0, so indices are read as counting from 0. Pass zero_based=True "
                "for every file of this origin: one without an index 0 is read as counting from 1.",
                UserWarning,
                stacklevel=2,
            )
            data = combine(_parts(path, format, columns, **{**rest, "zero_based": True}), path)
        data = replace(data, **{name: _tidied(data, name) for name in ("y", "qid", "bag", "id")})
    if edges is not None:
        data = with_edges(data, edges, format_of(edges, None), edges_by)
    return data


def stream(path: Path_, **options: Any) -> Iterator[Dataset]:
    """The file's rows in parts, each a data set of some megabytes, with `read`'s options but edges. Queries, bags
    and labels of text files stay text here: nobody knows yet what the rest of the file has."""
    format, columns, rest = _checked(path, **options)
    if format == "npz":
        yield read_npz(path, columns, dtype=rest["dtype"])
    else:
        for part in _parts(path, format, columns, **rest):
            yield combine(iter([part]), path)  # dense where `read` makes it so


def _checked(
    path: Path_,
    *,
    format: str | None = None,
    label: str | None = None,
    qid: str | None = None,
    bag: str | None = None,
    known: str | None = None,
    id: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    n_features: int | None = None,
    zero_based: bool | None = None,
    separator: str | None = None,
    dtype: Any = None,
    n_jobs: int | None = None,
    progress: Share = nobody,
) -> tuple[str, Columns, dict[str, Any]]:
    if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
        raise InputError(f"dtype: came as {dtype!r}; pass 'float32' or 'float64'")
    if n_features is not None:
        whole("n_features", n_features)
    for name, value in (("features", features), ("drop", drop)):
        if isinstance(value, str):
            raise InputError(f"{name}: came as the text {value!r}; pass a list of names")
    if os.fspath(path) != "-" and Path(path).is_dir():
        raise InputError(f"path: {path} is a folder; pass a file")
    asked = {"label": label, "qid": qid, "bag": bag, "known": known, "id": id}
    given = {role: name for role, name in asked.items() if name is not None}
    format = format_of(path, format)
    if format == "svmlight":
        unnamed = [*(given.keys() - {"id"}), *(n for n, v in (("features", features), ("drop", drop)) if v)]
        if unnamed:
            raise InputError(f"{sorted(unnamed)[0]}: names a column, but svmlight files have none")
    columns = Columns(given, features, tuple(drop or ()))
    rest = {"n_features": n_features, "zero_based": bool(zero_based), "separator": separator, "dtype": dtype}
    return format, columns, {**rest, "n_jobs": n_jobs, "progress": progress}


def format_of(path: Path_, format: str | None = None) -> str:
    """The format asked for, or that of the file's name."""
    if format is not None:
        if format not in FORMATS:
            raise InputError(f"format: came as {format!r}; pass one of {', '.join(FORMATS)}")
        return format
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    found = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise InputError(
            f"format: cannot tell from the name {os.fspath(path)!r}; pass one of {', '.join(FORMATS)}"
        )
    return found


def _parts(
    path: Path_,
    format: str,
    columns: Columns,
    *,
    n_features: int | None,
    zero_based: bool,
    separator: str | None,
    dtype: Any,
    n_jobs: int | None,
    progress: Share,
) -> Iterator[Dataset]:
    if format == "svmlight":
        yield from svmlight_parts(
            path,
            id=columns.given.get("id"),
            n_features=n_features,
            zero_based=zero_based,
            dtype=dtype or np.float64,
            n_threads=n_jobs if n_jobs and n_jobs > 0 else os.cpu_count() or 1,
            progress=progress,
        )
        return
    for table in tables_of(path, columns, format, separator=separator, dtype=dtype, progress=progress):
        if not table.names:
            raise FileError(path, "no column is left for features")
        yield _dataset(table, path)


def _dataset(table: Table, path: Path_) -> Dataset:
    held = {"y" if role == "label" else role: values for role, values in table.held.items()}
    if "known" in held:
        try:
            held["known"] = marks(held["known"])
        except InputError as error:
            raise FileError(path, str(error)) from error
    return Dataset(table.X, **held, feature_names=table.names, source=os.fspath(path))


def _tidied(data: Dataset, name: str) -> Any:
    values = getattr(data, name)
    return None if values is None else tidy(values, "label" if name == "y" else name)
