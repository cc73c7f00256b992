"""How alike the two ends of each edge are: Φ = exp(−(x_i − x_j)²), column by column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rankcut.designs.base import Design, Float64
from rankcut.designs.complement import ComplementDesign
from rankcut.designs.dense import DenseDesign


class SimilarityDesign(Design):
    """A row for each edge. Of sparse rows, whose differences are mostly 0, the few entries of 1 − Φ are kept.

    What needs no more than `max_memory` bytes is computed once; beyond that, Φ is made anew in every pass, in
    blocks that need a sixteenth of it each.
    """

    def __init__(self, X: Any, edges: NDArray[np.int64], *, n_threads: int, max_memory: float) -> None:
        super().__init__(len(edges), X.shape[1], n_threads)
        self._X, self._edges = X, edges
        need = self._bytes()
        self._kept = self._block(slice(0, self.n_rows)) if need <= max_memory else None
        self._height = max(1, int(self.n_rows * (max_memory / 16.0) / max(need, 1.0)))

    @property
    def work(self) -> float:
        if self._kept is not None:
            return float(self._kept.work)
        return (
            20.0 * float(self.n_rows) * self.n_columns
        )  # an exponential costs about as much as so many products

    def rows(self, index: ArrayLike) -> Float64:
        return self._make(self._edges[np.asarray(index)]).rows(np.arange(len(np.asarray(index))))

    def _scores(self, W: Float64, out: Float64) -> None:
        for part, block in self._blocks():
            out[:, part] = block.scores(W)

    def _pull(self, A: Float64, out: Float64) -> int:
        out[:] = 0.0
        for part, block in self._blocks():
            out += block.pull(A[:, part])
        return int(np.count_nonzero(A.any(axis=0)))

    def _blocks(self) -> Iterator[tuple[slice, Design]]:
        if self._kept is not None:
            yield slice(0, self.n_rows), self._kept
            return
        for first in range(0, self.n_rows, self._height):
            part = slice(first, min(first + self._height, self.n_rows))
            yield part, self._block(part)

    def _block(self, part: slice) -> Design:
        return self._make(self._edges[part])

    def _make(self, edges: NDArray[np.int64]) -> Design:
        difference = self._X[edges[:, 0]]
        if sp.issparse(difference):
            difference = difference - self._X[edges[:, 1]]
        else:
            difference -= self._X[edges[:, 1]]
        with np.errstate(over="ignore"):  # a square that overflows means unlike: exp(−∞) = 0
            if sp.issparse(difference):
                difference.data = -np.expm1(-np.square(difference.data))
                return ComplementDesign(difference, n_threads=self.n_threads)
            np.square(difference, out=difference)
            np.negative(difference, out=difference)
            np.exp(difference, out=difference)
        return DenseDesign(difference, n_threads=self.n_threads)

    def _bytes(self) -> float:
        """What Φ, or 1 − Φ, would take at most."""
        if not sp.issparse(self._X):
            return float(self.n_rows) * self.n_columns * int(self._X.itemsize)
        entries = np.diff(self._X.indptr)[self._edges].sum() if self.n_rows else 0
        return float(entries) * int(self._X.data.itemsize + self._X.indices.itemsize)
