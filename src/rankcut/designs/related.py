"""Samples and edges in one design: unary scores u = X v, then costs c = −η Φ w₂, linear in w = (v, w₂). η is one
number, or one for each edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankcut.designs.base import Design, Float64


class RelatedDesign(Design):
    """The rows of `nodes` and, below them, those of `edges`, each with columns of its own. With w₂ ≤ 0 and Φ ≥ 0 no
    cost is negative. A pass reads both; a partial one counts the rows read of all rows."""

    def __init__(self, nodes: Design, edges: Design, eta: float | Float64) -> None:
        super().__init__(nodes.n_rows + edges.n_rows, nodes.n_columns + edges.n_columns, nodes.n_threads)
        self._nodes, self._edges = nodes, edges
        self._eta = np.broadcast_to(np.asarray(eta, dtype=np.float64), edges.n_rows)

    @property
    def work(self) -> float:
        return self._nodes.work + self._edges.work

    def rows(self, index: ArrayLike) -> Float64:
        numbers = np.asarray(index)
        below = numbers >= self._nodes.n_rows
        rows = np.zeros((len(numbers), self.n_columns))
        rows[~below, : self._nodes.n_columns] = self._nodes.rows(numbers[~below])
        edges = numbers[below] - self._nodes.n_rows
        rows[below, self._nodes.n_columns :] = -self._eta[edges, None] * self._edges.rows(edges)
        return rows

    def _scores(self, W: Float64, out: Float64) -> None:
        out[:, : self._nodes.n_rows] = self._nodes.scores(W[:, : self._nodes.n_columns])
        out[:, self._nodes.n_rows :] = -self._eta * self._edges.scores(W[:, self._nodes.n_columns :])

    def _pull(self, A: Float64, out: Float64) -> int:
        out[:, : self._nodes.n_columns] = self._nodes.pull(A[:, : self._nodes.n_rows])
        out[:, self._nodes.n_columns :] = self._edges.pull(-self._eta * A[:, self._nodes.n_rows :])
        return int(np.count_nonzero(A.any(axis=0)))
