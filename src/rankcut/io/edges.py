"""Edges from a file of their own: two row numbers for each, and features of the edge if there are more columns."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.errors import FileError, InputError
from rankcut.io.columns import Columns, tidy
from rankcut.io.dataset import Dataset
from rankcut.io.npz import Archive
from rankcut.io.tables import tables_of

ENDS = ("source", "target")


def with_edges(data: Dataset, path: str | os.PathLike[str], format: str, by: str) -> Dataset:
    """The data set with the edges of a file. by="row": they name rows by number from 0; by="id": by id."""
    if by not in ("row", "id"):
        raise InputError(f"edges_by: came as {by!r}; pass 'row' or 'id'")
    if by == "id" and data.id is None:
        raise InputError("edges_by: came as 'id', but the rows have none; name their column with id")
    if format == "npz":
        arrays = Archive(path)
        if "edges" not in arrays.names:
            raise FileError(path, f"no array edges; it has {', '.join(arrays.names)}")
        ends = arrays["edges"]
        features = arrays["edge_features"] if "edge_features" in arrays.names else None
    else:
        ends, features = _table(path, format)
    try:
        return replace(data, edges=_rows(data, ends, by), edge_features=features)
    except InputError as error:
        raise FileError(path, str(error)) from error


def _table(path: Any, format: str) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Columns `source` and `target`; the columns beside them are features of the edge."""
    columns = Columns(dict(zip(ENDS, ENDS, strict=True)), known=ENDS)
    tables = list(tables_of(path, columns, format))
    if not tables:
        return np.empty((0, 2), np.int64), None
    ends = [np.concatenate([table.held[end] for table in tables]) for end in ENDS]
    features = np.concatenate([table.X for table in tables]).astype(np.float64)
    return np.column_stack(ends), features if features.shape[1] else None


def _rows(data: Dataset, ends: NDArray[Any], by: str) -> NDArray[np.int64]:
    """Row numbers of both ends."""
    if ends.ndim != 2 or ends.shape[1] != 2:
        raise InputError(f"edges: came with shape {ends.shape}; give two ends for each edge")
    if by == "id":
        assert data.id is not None
        number = {name: row for row, name in enumerate(data.id.astype(str).tolist())}
        if len(number) < data.n_rows:
            raise InputError("id: an id comes twice, so that edges cannot name rows by it")
        wanted = ends.astype(str)
        missing = next((name for name in wanted.ravel().tolist() if name not in number), None)
        if missing is not None:
            raise InputError(f"edges: no row has the id {missing!r}")
        rows = np.fromiter((number[name] for name in wanted.ravel().tolist()), np.int64, wanted.size)
        return rows.reshape(-1, 2)
    numbers = tidy(ends.ravel(), "row").reshape(-1, 2)
    if numbers.dtype.kind != "i":
        raise InputError("edges: ends that are no whole numbers; edges by id need edges_by='id'")
    return numbers
