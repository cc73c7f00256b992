"""A sparse matrix, CSR or CSC, read where it lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut import _core
from rankcut.designs.base import Design, Float64, check_dtype

LOOK_UP = 4.0  # an entry that has to be looked up costs about as much as four that have not
_KERNELS = {
    ("float32", "int32"): _core.SparseF32I32,
    ("float32", "int64"): _core.SparseF32I64,
    ("float64", "int32"): _core.SparseF64I32,
    ("float64", "int64"): _core.SparseF64I64,
}


class SparseDesign(Design):
    """Indices in any order, duplicates add up. The structure is checked once, here.

    The pull of a CSC matrix reads every entry, whatever rows weigh nothing; it is counted like that
    of any other design, so that counts can be compared.
    """

    def __init__(self, X: Any, *, n_threads: int) -> None:
        if X.format not in ("csr", "csc"):
            raise TypeError(f"a sparse X must be CSR or CSC, got {X.format}; use X.tocsr()")
        check_dtype("X", X.dtype, (np.float32, np.float64))
        for name in ("indptr", "indices"):
            check_dtype(f"X.{name}", getattr(X, name).dtype, (np.int32, np.int64))
        arrays = {name: getattr(X, name) for name in ("indptr", "indices", "data")}
        for name, array in arrays.items():
            if not (array.flags.c_contiguous and array.flags.aligned):
                raise TypeError(f"X.{name} must be contiguous; use X.copy()")
        super().__init__(X.shape[0], X.shape[1], n_threads)
        self._X = X
        indices = arrays["indices"]
        # SciPy gives both the same type; where a caller did not, the short one follows the long.
        self._kernel = _KERNELS[X.dtype.name, indices.dtype.name](
            _as_type_of(indices, arrays["indptr"]),
            indices,
            arrays["data"],
            X.shape[0],
            X.shape[1],
            X.format == "csr",
        )

    @property
    def work(self) -> float:
        return LOOK_UP * float(self._X.nnz)

    @property
    def moments_work(self) -> float:
        if self._X.format == "csc":
            return super().moments_work
        return (
            16.0 * LOOK_UP * float(self._X.nnz) ** 2 / max(1, self.n_rows)
        )  # nothing is multiplied in vectors

    def rows(self, index: ArrayLike) -> Float64:
        return np.ascontiguousarray(self._X[np.asarray(index)].toarray(), dtype=np.float64)

    def _moments(
        self, index: NDArray[np.integer[Any]], weights: Float64, vectors: Float64
    ) -> tuple[Float64, Float64]:
        if self._X.format == "csc":
            return super()._moments(index, weights, vectors)
        second = np.empty((self.n_columns, self.n_columns))
        first = np.empty((len(vectors), self.n_columns))
        rows = np.asarray(index, dtype=np.int64)
        self._kernel.moments(rows, weights, np.ascontiguousarray(vectors), second, first)
        return second, first

    def _scores(self, W: Float64, out: Float64) -> None:
        self._kernel.scores(W, out, self.n_threads)

    def _pull(self, A: Float64, out: Float64) -> int:
        return int(self._kernel.pull(A, out, self.n_threads))


def _as_type_of(indices: Any, indptr: Any) -> Any:
    if indptr.dtype == indices.dtype:
        return indptr
    if indptr.size and abs(indptr).max() > np.iinfo(indices.dtype).max:
        raise ValueError("X.indptr counts more entries than X.indices can hold")
    return indptr.astype(indices.dtype)
