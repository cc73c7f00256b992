"""From a Graph to the design of its unary scores and costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rankcut.data.arrays import check_X
from rankcut.data.bags import Bags, mean_instances
from rankcut.data.graph import Graph
from rankcut.designs import Design, RelatedDesign, SimilarityDesign, make_design
from rankcut.errors import InputError


def checked(estimator: Any, graph: Any, *, reset: bool) -> tuple[Any, NDArray[np.int64] | None]:
    """The matrix of samples, or of all instances with the bags' offsets."""
    if not isinstance(graph, Graph):
        raise InputError(
            f"graph: came as {type(graph).__name__}; pass rankcut.data.Graph(X, edges), or use RankSVM for a plain X"
        )
    if isinstance(graph.X, Bags):
        return check_X(estimator, graph.X.instances, reset=reset), graph.X.offsets
    return check_X(estimator, graph.X, reset=reset), None


def edge_width(graph: Graph) -> int:
    """The number of edge features."""
    if graph.edge_features is not None:
        return int(graph.edge_features.shape[1])
    return graph.shape[1] if graph.edge_columns is None else len(graph.edge_columns)


def related_design(
    graph: Graph,
    X: Any,
    offsets: NDArray[np.int64] | None,
    *,
    eta: float,
    by_degree: bool,
    width: int | None,
    n_threads: int,
    max_memory: float,
) -> Design:
    """`width`: that of the edge features in training."""
    if width is not None and edge_width(graph) != width:
        raise InputError(
            f"graph: came with {edge_width(graph)} edge features where training had {width}; pass the same features"
        )
    edges: Design
    if graph.edge_features is not None:
        edges = make_design(graph.edge_features, n_threads=n_threads)
    else:
        rows = _default_rows(graph, X, offsets)
        edges = SimilarityDesign(rows, graph.edges, n_threads=n_threads, max_memory=max_memory)
    scale = _by_degree(graph) if by_degree else 1.0
    return RelatedDesign(make_design(X, n_threads=n_threads), edges, eta * scale)


def _by_degree(graph: Graph) -> NDArray[np.float64]:
    """For each edge 1/√(d_i d_j): the edges of a sample then weigh about the same together, few or many."""
    root = np.sqrt(np.bincount(graph.edges.ravel(), minlength=len(graph)))
    return np.asarray(1.0 / (root[graph.edges[:, 0]] * root[graph.edges[:, 1]]))


def _default_rows(graph: Graph, X: Any, offsets: NDArray[np.int64] | None) -> Any:
    """The rows whose differences are the default edge features: the samples, or the mean instance of each bag."""
    if graph.edge_columns is not None:
        X = X[:, graph.edge_columns]
    if offsets is not None:
        X = mean_instances(X, offsets)
    return X.tocsr() if sp.issparse(X) else np.ascontiguousarray(X)
