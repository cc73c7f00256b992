"""1 − Q for a sparse Q: a matrix of ones with a few entries less, which is never written out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankcut.designs.base import Design, Float64
from rankcut.designs.sparse import SparseDesign


class ComplementDesign(Design):
    """(1 − Q) w = Σ w − Q w for every row, and (1 − Q)ᵀ β = Σ β − Qᵀ β for every column."""

    def __init__(self, Q: Any, *, n_threads: int) -> None:
        super().__init__(Q.shape[0], Q.shape[1], n_threads)
        self._Q = SparseDesign(Q, n_threads=n_threads)

    @property
    def work(self) -> float:
        return self._Q.work

    def rows(self, index: ArrayLike) -> Float64:
        return 1.0 - self._Q.rows(index)

    def _scores(self, W: Float64, out: Float64) -> None:
        np.subtract(W.sum(axis=1)[:, None], self._Q.scores(W), out=out)

    def _pull(self, A: Float64, out: Float64) -> int:
        np.subtract(A.sum(axis=1)[:, None], self._Q.pull(A), out=out)
        return int(np.count_nonzero(A.any(axis=0)))
