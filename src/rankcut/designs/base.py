"""What every design promises: scores, the pull, a few rows, and an honest count of passes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut.designs.moments import BLOCK, moments

Float64 = NDArray[np.float64]


class Passes(NamedTuple):
    """Passes over X: one for each product, however many problems share it.

    A pull counts the fraction of the rows that have a weight other than 0 in some problem.
    """

    forward: float
    backward: float


class Design(ABC):
    """A matrix X (n_rows, n_columns) that K problems share. Products run in float64."""

    def __init__(self, n_rows: int, n_columns: int, n_threads: int) -> None:
        if n_threads < 1:
            raise ValueError(f"n_threads must be at least 1, got {n_threads}")
        self.n_rows = n_rows
        self.n_columns = n_columns
        self.n_threads = n_threads
        self._products = 0
        self._pulled_rows = 0  # whole numbers: the sum is the same in any order
        self._count = Lock()  # problems that share the design pull from threads of their own

    @property
    def passes(self) -> Passes:
        """Passes over X so far."""
        return Passes(float(self._products), self._pulled_rows / max(1, self.n_rows))

    @property
    def work(self) -> float:
        """What a pass costs, in multiplications of a dense one."""
        return float(self.n_rows) * self.n_columns

    @property
    def moments_work(self) -> float:
        """What the second moments of all rows cost, in multiplications of dense ones."""
        return self.n_rows * float(self.n_columns) ** 2

    def scores(self, W: ArrayLike) -> Float64:
        """X Wᵀ as (K, n_rows) for W (K, n_columns): one contiguous score vector per problem."""
        weights = _weights("W", W, self.n_columns)
        scores = np.empty((len(weights), self.n_rows))
        self._scores(weights, scores)
        with self._count:
            self._products += 1
        return scores

    def pull(self, A: ArrayLike) -> Float64:
        """A X as (K, n_columns) for A (K, n_rows). Rows that weigh nothing are left out."""
        weights = _weights("A", A, self.n_rows)
        pulled = np.empty((len(weights), self.n_columns))
        self._note_pull(self._pull(weights, pulled))
        return pulled

    def pull_rows(self, index: NDArray[np.integer[Any]], A: Float64) -> Float64:
        """A X[index] as (K, n_columns) for A (K, len(index)). It counts as a pull of these rows."""
        self._note_pull(len(index))
        pulled = np.zeros((len(A), self.n_columns))
        height = max(1, BLOCK // max(1, self.n_columns))
        for i in range(0, len(index), height):
            pulled += A[:, i : i + height] @ self.rows(index[i : i + height])
        return pulled

    def moments(
        self, index: NDArray[np.integer[Any]], weights: Float64, vectors: Float64
    ) -> tuple[Float64, Float64]:
        """(Xᵀ diag(weights) X, vectors X) over a few rows, weights ≥ 0 and vectors (k, len(index)). It counts as a
        pull of these rows."""
        self._note_pull(len(index))
        return self._moments(index, weights, vectors)

    def _moments(
        self, index: NDArray[np.integer[Any]], weights: Float64, vectors: Float64
    ) -> tuple[Float64, Float64]:
        return moments(self.rows, index, weights, vectors, self.n_columns, self.n_threads)

    def _note_pull(self, n_rows: int) -> None:
        with self._count:
            self._pulled_rows += n_rows

    @abstractmethod
    def rows(self, index: ArrayLike) -> Float64:
        """A dense float64 copy of a few rows. It is not counted as a pass."""

    @abstractmethod
    def _scores(self, W: Float64, out: Float64) -> None: ...

    @abstractmethod
    def _pull(self, A: Float64, out: Float64) -> int:
        """Fill `out` and return the number of rows with a weight other than 0."""


def _weights(name: str, value: ArrayLike, n_columns: int) -> Float64:
    weights = np.ascontiguousarray(value, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[1] != n_columns:
        raise ValueError(f"{name} must have shape (K, {n_columns}), got {weights.shape}")
    return weights


def check_dtype(name: str, dtype: np.dtype[Any], allowed: tuple[type[Any], ...]) -> None:
    """Kernels read the caller's memory, so only native types will do."""
    if not any(dtype == np.dtype(t) for t in allowed):
        names = " or ".join(t.__name__ for t in allowed)
        raise TypeError(f"{name} must be {names}, got {dtype}; convert it first")
