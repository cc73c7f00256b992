"""What was read: one type for all formats, which says what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rankcut.errors import InputError

PER_ROW = ("y", "qid", "bag", "known", "id")


@dataclass(frozen=True, repr=False)
class Dataset:
    """Rows and what is known of each. All but X may be None: not in the file.

    X: an array or CSR. y: labels. qid: the query of each row. bag: the bag of each row, then an instance. known:
    which instances are annotated as the relevant one of their bag. id: names of rows. edges: (m, 2) row numbers,
    with edge_features (m, f). feature_names: names of X's columns.
    """

    X: Any
    y: NDArray[Any] | None = None
    qid: NDArray[Any] | None = None
    bag: NDArray[Any] | None = None
    known: NDArray[np.bool_] | None = None
    id: NDArray[Any] | None = None
    edges: NDArray[np.int64] | None = None
    edge_features: NDArray[np.float64] | None = None
    feature_names: tuple[str, ...] | None = None
    source: str = "data"

    def __post_init__(self) -> None:
        for name in PER_ROW:
            values = getattr(self, name)
            if values is not None and len(values) != self.n_rows:
                raise InputError(
                    f"{name}: came with {len(values)} entries for {self.n_rows} rows; give one per row"
                )
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise InputError(
                f"feature_names: came with {len(self.feature_names)} names for {self.n_features} features"
            )
        self._check_edges()

    def _check_edges(self) -> None:
        if self.edges is None:
            return
        if self.edges.ndim != 2 or self.edges.shape[1] != 2:
            raise InputError(f"edges: came with shape {self.edges.shape}; give two row numbers for each edge")
        if len(self.edges) and (self.edges.min() < 0 or self.edges.max() >= self.n_rows):
            bad = int(
                np.flatnonzero((self.edges < 0).any(axis=1) | (self.edges >= self.n_rows).any(axis=1))[0]
            )
            raise InputError(
                f"edges: edge {bad} joins rows {self.edges[bad].tolist()}, but rows go from 0 to {self.n_rows - 1}"
            )
        if self.edge_features is not None and len(self.edge_features) != len(self.edges):
            raise InputError(
                f"edge_features: came with {len(self.edge_features)} rows for {len(self.edges)} edges"
            )

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def holds(self) -> tuple[str, ...]:
        """Names of the parts that are there."""
        names = (field.name for field in fields(self) if field.name != "source")
        return tuple(name for name in names if getattr(self, name) is not None)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        kind = "sparse" if sp.issparse(self.X) else "dense"
        parts = ", ".join(self.holds)
        return (
            f"Dataset({self.source}: {self.n_rows} rows, {self.n_features} features ({kind}); holds {parts})"
        )


def combine(parts: Iterator[Dataset], *, n_features: int | None = None) -> Dataset:
    """The parts of one file, one below the other. Each is freed once it is copied, so that memory is little more
    than that of the result."""
    blocks = list(parts)
    if not blocks:
        raise InputError("data: came without a row; give a file with rows")
    width = max([block.n_features for block in blocks] + [n_features or 0])
    columns: dict[str, Any] = {name: _column([getattr(block, name) for block in blocks]) for name in PER_ROW}
    names, source = blocks[0].feature_names, blocks[0].source
    matrices = [block.X for block in blocks]
    blocks.clear()
    return Dataset(_stack(matrices, width), **columns, feature_names=names, source=source)


def _column(parts: Sequence[Any]) -> NDArray[Any] | None:
    return None if parts[0] is None else np.concatenate(parts)


def _stack(matrices: list[Any], width: int) -> Any:
    """One matrix, dense if that takes less memory."""
    n = sum(X.shape[0] for X in matrices)
    dtype = np.result_type(*{X.dtype for X in matrices})
    entries = sum(X.nnz if sp.issparse(X) else X.size for X in matrices)
    if not sp.issparse(matrices[0]) or n * width * dtype.itemsize <= entries * (dtype.itemsize + 4):
        return _dense(matrices, np.zeros((n, width), dtype))
    indptr = np.concatenate(([0], np.cumsum(np.concatenate([np.diff(X.indptr) for X in matrices]))))
    data, indices = np.empty(entries, dtype), np.empty(entries, np.int32)
    at = 0
    for i, X in enumerate(matrices):
        data[at : at + X.nnz], indices[at : at + X.nnz] = X.data, X.indices
        at += X.nnz
        matrices[i] = None
        del X
    return sp.csr_matrix((data, indices, _narrow(indptr)), shape=(n, width))


def _dense(matrices: list[Any], dense: NDArray[Any]) -> NDArray[Any]:
    at = 0
    for i, X in enumerate(matrices):
        rows = slice(at, at + X.shape[0])
        if sp.issparse(X):
            X.toarray(out=dense[rows, : X.shape[1]]) if X.shape[1] == dense.shape[1] else _fill(
                dense[rows], X
            )
        else:
            dense[rows] = X
        at += X.shape[0]
        matrices[i] = None
        del X
    return dense


def _fill(part: NDArray[Any], X: Any) -> None:
    part[:, : X.shape[1]] = X.toarray()


def _narrow(indptr: NDArray[np.int64]) -> NDArray[np.integer[Any]]:
    return indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr
