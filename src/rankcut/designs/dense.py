"""A dense matrix in memory or mapped from a file, read where it lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut import _core
from rankcut.designs.base import Design, Float64, check_dtype


class DenseDesign(Design):
    """float32 or float64, by rows or by columns; read-only arrays and memory maps are fine.

    Slices are fine too as long as the numbers of a row (or of a column) stay next to each other:
    `X[::2]` and `X[:, 5:50]` are read in place. For others, as `X[:, ::2]`, the choice between a
    copy and another layout is the caller's: they are a TypeError.
    """

    def __init__(self, X: NDArray[Any], *, n_threads: int) -> None:
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must have 2 dimensions, got {X.ndim}")
        check_dtype("X", X.dtype, (np.float32, np.float64))
        if not _is_readable(X):
            raise TypeError(
                "neither the rows nor the columns of X are contiguous in memory; pass np.ascontiguousarray(X)"
            )
        super().__init__(X.shape[0], X.shape[1], n_threads)
        self._X = X

    def rows(self, index: ArrayLike) -> Float64:
        return np.ascontiguousarray(self._X[np.asarray(index)], dtype=np.float64)

    def _scores(self, W: Float64, out: Float64) -> None:
        _core.dense_scores(self._X, W, out, self.n_threads)

    def _pull(self, A: Float64, out: Float64) -> int:
        return _core.dense_pull(self._X, A, out, self.n_threads)


def _is_readable(X: NDArray[Any]) -> bool:
    if not X.flags.aligned or any(stride % X.itemsize for stride in X.strides):
        return False
    return any(length <= 1 or stride == X.itemsize for length, stride in zip(X.shape, X.strides, strict=True))
