"""Graph: samples, the pairs of them that are related, and what is known of each pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from rankcut.errors import InputError

Pairs = NDArray[np.int64]


class Graph:
    """Samples whose relevance is related in pairs; indexable by row, as scikit-learn's splitters want it.

    ``graph[index_array]`` is the induced subgraph: those samples, in that order, and the edges between them.

    Parameters
    ----------
    X : array-like, sparse matrix or Bags
        One row (or bag) for each sample.
    edges : array-like of shape (m, 2), or SciPy sparse adjacency of shape (n, n)
        Pairs of row numbers. Direction does not count and an edge that comes again is merged: its features add up. Of
        an adjacency only the pattern is used: pass weights as ``edge_features``.
    edge_features : array-like or sparse matrix of shape (m, q), default=None
        What each pair shares, never negative: the cost of ranking the two apart is a combination of it that is learned.
        None means ``exp(-(x_i - x_j)²)`` for each column, of the mean instance if X is Bags.
    edge_columns : array-like of ints, default=None
        Columns of X that the default edge features are made of; None means all.

    Attributes
    ----------
    edges : ndarray of shape (m, 2)
        Each pair once, the smaller row number first, sorted.
    """

    def __init__(
        self,
        X: Any,
        edges: Any,
        edge_features: Any = None,
        *,
        edge_columns: ArrayLike | None = None,
    ) -> None:
        self.X = _indexable(X)
        n = len(self)
        pairs = _pairs(edges, n)
        self.edges, place = _merged(pairs, n)
        self.edge_features = None
        if edge_features is not None:
            if sp.issparse(edges):
                raise InputError(
                    "edge_features: came with an adjacency, which does not say the order of the edges; pass edges as "
                    "pairs of row numbers, a pair for each row of edge_features"
                )
            if edge_columns is not None:
                raise InputError(
                    "edge_columns: came together with edge_features; it is for the default features only"
                )
            self.edge_features = _features(edge_features, pairs, place, len(self.edges))
        self.edge_columns = None if edge_columns is None else _columns(edge_columns, self.shape[1])

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """(number of samples, number of columns)."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    def __repr__(self) -> str:
        return f"Graph({len(self)} samples × {self.shape[1]}, {len(self.edges)} edges)"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # as scikit-learn asks
            key = key[0]
        if isinstance(key, int | np.integer):
            return _take(self.X, key)
        rows = _rows(key, len(self))
        place = np.full(len(self), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        kept = np.flatnonzero((place[self.edges] >= 0).all(axis=1))
        pairs = np.sort(place[self.edges[kept]], axis=1)
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        part = object.__new__(Graph)
        part.X, part.edges = _take(self.X, rows), pairs[order]
        part.edge_features = None if self.edge_features is None else self.edge_features[kept[order]]
        part.edge_columns = self.edge_columns
        return part

    @property
    def components(self) -> NDArray[np.int64]:
        """The connected component of each sample, numbered from 0."""
        n, m = len(self), len(self.edges)
        pattern = sp.csr_matrix((np.ones(m), (self.edges[:, 0], self.edges[:, 1])), shape=(n, n))
        return np.asarray(connected_components(pattern, directed=False)[1], dtype=np.int64)


class _Merged(NamedTuple):
    edges: Pairs
    place: NDArray[np.intp]  # of each pair that came among the edges


def _indexable(X: Any) -> Any:
    if sp.issparse(X):
        return X if X.format in ("csr", "csc") else X.tocsr()
    if hasattr(X, "shape") and hasattr(X, "__getitem__"):
        if len(X.shape) < 2:
            raise InputError(f"X: came with shape {tuple(X.shape)}; pass a row of features for each sample")
        return X
    return _indexable(np.asarray(X))


def _take(X: Any, rows: Any) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows]


def _rows(key: Any, n: int) -> NDArray[np.intp]:
    """The row numbers that an index stands for, each at most once."""
    if isinstance(key, slice):
        return np.arange(n)[key]
    index = np.asarray(key)
    if index.ndim != 1:
        raise InputError(f"index: came with shape {index.shape}; pass row numbers, a mask or a slice")
    if index.dtype == bool:
        if len(index) != n:
            raise InputError(f"index: came as a mask of {len(index)} entries for {n} samples")
        return np.flatnonzero(index)
    if index.size == 0:
        return np.empty(0, dtype=np.intp)
    if index.dtype.kind not in "iu":
        raise InputError(f"index: came as {index.dtype}; pass row numbers, a mask or a slice")
    if index.min() < -n or index.max() >= n:
        bad = index.min() if index.min() < -n else index.max()
        raise InputError(f"index: came with row {bad} of a graph of {n} samples; pass 0 to {n - 1}")
    rows = np.where(index < 0, index + n, index).astype(np.intp)
    if len(np.unique(rows)) < len(rows):
        raise InputError(
            "index: came with a row twice; a sample cannot be in a subgraph twice, its edges would be ambiguous"
        )
    return rows


def _pairs(edges: Any, n: int) -> Pairs:
    if sp.issparse(edges):
        pairs = _of_adjacency(edges, n)
    else:
        pairs = _of_array(edges)
    outside = np.flatnonzero((pairs < 0).any(axis=1) | (pairs >= n).any(axis=1))
    if len(outside):
        e = outside[0]
        raise InputError(
            f"edges: row {e} came as ({pairs[e, 0]}, {pairs[e, 1]}) for {n} samples; pass row numbers from 0 to {n - 1}"
        )
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        raise InputError(
            f"edges: came with a self-loop at sample {pairs[loops[0], 0]}, {len(loops)} in all; an edge relates two "
            "samples: leave self-loops out"
        )
    return pairs


def _of_array(edges: Any) -> Pairs:
    try:
        pairs = np.asarray(edges)
    except ValueError as error:
        raise InputError(f"edges: came as rows of different lengths ({error}); pass pairs") from error
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        hint = "pass pairs of row numbers of shape (m, 2), or a SciPy sparse adjacency"
        if pairs.ndim == 2 and pairs.shape[0] == 2:
            hint = "transpose them: one row for each pair"
        elif pairs.ndim == 2 and pairs.shape[1] > 2:
            hint += "; sets of more than two samples are beyond the exact method, which needs pairs"
        raise InputError(f"edges: came with shape {pairs.shape}; {hint}")
    if pairs.dtype.kind not in "iu":
        raise InputError(f"edges: came as {pairs.dtype}; pass integers, the row numbers of each pair")
    return pairs.astype(np.int64)


def _of_adjacency(adjacency: Any, n: int) -> Pairs:
    if adjacency.shape != (n, n):
        raise InputError(
            f"edges: came as an adjacency of shape {adjacency.shape} for {n} samples; it has to be ({n}, {n})"
        )
    entries = adjacency.tocoo()
    if entries.dtype.kind == "f" and np.isnan(entries.data).any():
        raise InputError("edges: came as an adjacency with NaN; leave pairs out that are not related")
    if entries.dtype.kind in "if" and (entries.data < 0).any():
        raise InputError(
            "edges: came as an adjacency with negative entries; samples that repel each other are beyond the exact "
            "method: leave those edges out"
        )
    there = entries.data != 0
    return np.column_stack((entries.row[there], entries.col[there])).astype(np.int64)


def _merged(pairs: Pairs, n: int) -> _Merged:
    low, high = pairs.min(axis=1, initial=n), pairs.max(axis=1, initial=0)
    keys, place = np.unique(low * np.int64(max(n, 1)) + high, return_inverse=True)
    return _Merged(np.column_stack(np.divmod(keys, max(n, 1))).astype(np.int64), place.reshape(-1))


def _features(features: Any, pairs: Pairs, place: NDArray[np.intp], m: int) -> Any:
    sparse = sp.issparse(features)
    if sparse:
        checked = sp.csr_matrix(features)
        if checked.dtype not in (np.float32, np.float64):
            checked = checked.astype(np.float64)
    else:
        try:
            checked = np.asarray(features)
            checked = checked if checked.dtype in (np.float32, np.float64) else checked.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"edge_features: came as something that is not numbers ({error}); pass shape (m, q)"
            ) from error
    if checked.ndim != 2 or checked.shape[0] != len(pairs):
        raise InputError(
            f"edge_features: came with shape {checked.shape} for {len(pairs)} edges; pass one row of features for "
            "each edge, as reshape(-1, 1) makes of a single one"
        )
    values = checked.data if sparse else checked
    if values.size and not np.isfinite(values).all():
        raise InputError("edge_features: came with NaN or infinity; every entry has to be finite")
    if values.size and values.min() < 0:
        raise InputError(
            f"edge_features: came with {values.min():.3g}; they have to be 0 or more. A negative one would make "
            "samples repel each other, which is beyond the exact method: shift or drop that feature"
        )
    if m == len(pairs):
        ordered: Any = checked[np.argsort(place)]
        return ordered
    merge = sp.csr_matrix((np.ones(len(pairs)), (place, np.arange(len(pairs)))), shape=(m, len(pairs)))
    total = merge @ checked
    return total.astype(checked.dtype)


def _columns(columns: ArrayLike, width: int) -> NDArray[np.intp]:
    index = np.asarray(columns)
    if index.ndim != 1 or index.size == 0 or index.dtype.kind not in "iu":
        raise InputError(f"edge_columns: came as {columns!r}; pass the numbers of columns of X")
    if index.min() < 0 or index.max() >= width:
        bad = index.min() if index.min() < 0 else index.max()
        raise InputError(f"edge_columns: came with column {bad} of {width}; pass 0 to {width - 1}")
    return index.astype(np.intp)
