"""A matrix that grows by rows in place, so that a file takes little more memory than what comes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

STEP = 1.1  # by which a buffer grows; large ones move without a copy where the system can do that


class Growing:
    """Rows of parts, one below the other: dense as long as that takes less memory than CSR, and never so much more
    that one far column could fill it."""

    def __init__(self) -> None:
        self._n = self._width = self._entries = 0
        self._dense: NDArray[Any] | None = None
        self._sparse: tuple[NDArray[Any], NDArray[np.int32]] | None = None
        self._counts: list[NDArray[np.int64]] = []  # entries of each row, of a sparse matrix

    def add(self, X: Any) -> None:
        """Copy the rows of a part, dense or CSR; a part may be wider than those before."""
        entries = X.nnz if sp.issparse(X) else X.size
        n, width = self._n + X.shape[0], max(self._width, X.shape[1])
        if self._sparse is None and n * width * X.dtype.itemsize <= (self._entries + entries) * (
            X.dtype.itemsize + 4
        ):
            self._dense = self._widened(width, X.dtype)
            self._dense = _room(self._dense, n)
            rows = self._dense[self._n : n, : X.shape[1]]
            rows[...] = X.toarray() if sp.issparse(X) else X
        else:
            X = sp.csr_matrix(X)
            entries = X.nnz
            self._append(X)
        self._n, self._width, self._entries = n, width, self._entries + entries

    def matrix(self) -> Any:
        """All rows; the object is of no use afterwards."""
        if self._sparse is None:
            assert self._dense is not None
            return _cut(self._dense, self._n)
        data, indices = (_cut(part, self._entries) for part in self._sparse)
        starts = np.concatenate(([0], np.cumsum(np.concatenate(self._counts))))
        starts = starts.astype(np.int32) if starts[-1] < 2**31 else starts
        X = sp.csr_matrix((data, indices, starts), shape=(self._n, self._width))
        small = self._n * self._width * data.itemsize <= self._entries * (data.itemsize + 4)
        return X.toarray() if small else X

    def _widened(self, width: int, dtype: Any) -> NDArray[Any]:
        old = self._dense
        if old is None:
            return np.empty((0, width), dtype)
        if old.shape[1] == width:
            return old
        wider = np.zeros((self._n, width), old.dtype)
        wider[:, : old.shape[1]] = old[: self._n]
        return wider

    def _append(self, X: Any) -> None:
        if self._sparse is None:
            before = sp.csr_matrix(self._dense[: self._n]) if self._dense is not None else None
            self._sparse, self._dense = (np.empty(0, X.dtype), np.empty(0, np.int32)), None
            if before is not None:
                self._entries = before.nnz
                self._copy(before, 0)
        self._copy(X, self._entries)

    def _copy(self, X: Any, at: int) -> None:
        assert self._sparse is not None
        data, indices = (_room(part, at + X.nnz) for part in self._sparse)
        data[at : at + X.nnz], indices[at : at + X.nnz] = X.data, X.indices
        self._sparse = data, indices
        self._counts.append(np.diff(X.indptr).astype(np.int64))


def _room(buffer: NDArray[Any], n: int) -> NDArray[Any]:
    if n > len(buffer):
        buffer.resize((max(n, int(STEP * len(buffer))), *buffer.shape[1:]), refcheck=False)
    return buffer


def _cut(buffer: NDArray[Any], n: int) -> NDArray[Any]:
    buffer.resize((n, *buffer.shape[1:]), refcheck=False)
    return buffer
