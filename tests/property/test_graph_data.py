"""Graph and ComponentKFold: what comes in, what an index gives, and how scikit-learn takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from rankcut import InputError
from rankcut.data import Graph
from rankcut.selection import ComponentKFold

X5 = np.arange(10.0).reshape(5, 2)


@st.composite
def graphs(draw: Any) -> tuple[Graph, set[tuple[int, int]], np.random.Generator]:
    n = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    pairs = rng.integers(0, n, size=(draw(st.integers(0, 25)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    graph = Graph(rng.normal(size=(n, 3)), pairs)
    return graph, {(min(a, b), max(a, b)) for a, b in pairs.tolist()}, rng


@given(graphs())
def test_edges_come_once_and_sorted(case: tuple[Graph, set[tuple[int, int]], np.random.Generator]) -> None:
    graph, expected, _ = case
    assert [tuple(e) for e in graph.edges.tolist()] == sorted(expected)
    assert graph.edges.dtype == np.int64


@given(graphs())
def test_a_subgraph_has_the_edges_between_its_samples(
    case: tuple[Graph, set[tuple[int, int]], np.random.Generator],
) -> None:
    graph, expected, rng = case
    rows = rng.permutation(len(graph))[: rng.integers(0, len(graph) + 1)]
    part = graph[rows]
    assert len(part) == len(rows)
    np.testing.assert_array_equal(part.X, graph.X[rows])
    back = {(min(a, b), max(a, b)) for a, b in rows[part.edges].tolist()}
    assert back == {e for e in expected if set(e) <= set(rows.tolist())}
    assert [tuple(e) for e in part.edges.tolist()] == sorted(tuple(e) for e in part.edges.tolist())


def test_a_subgraph_keeps_each_edges_own_features() -> None:
    edges = [(0, 1), (1, 4), (2, 4), (0, 3)]
    graph = Graph(X5, edges, edge_features=[[1.0], [14.0], [24.0], [3.0]])
    part = graph[[4, 1, 2]]
    assert part.edges.tolist() == [[0, 1], [0, 2]]
    assert np.asarray(part.edge_features).ravel().tolist() == [14.0, 24.0]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (slice(1, 4), [1, 2, 3]),
        ([-1, 0], [4, 0]),
        (np.array([True, False, False, True, True]), [0, 3, 4]),
        ((np.array([2, 1]), Ellipsis), [2, 1]),
        ([], []),
    ],
)
def test_indices_of_every_kind(index: Any, expected: list[int]) -> None:
    np.testing.assert_array_equal(Graph(X5, [(0, 1)])[index].X, X5[expected])


def test_one_row_is_a_sample() -> None:
    np.testing.assert_array_equal(Graph(X5, [])[3], X5[3])


def test_adjacency_equals_pairs() -> None:
    A = sp.lil_matrix((5, 5))
    A[0, 1] = A[1, 0] = A[4, 2] = 7
    A[3, 1] = 0
    for kind in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array):
        assert Graph(X5, kind(A)).edges.tolist() == [[0, 1], [2, 4]]


def test_duplicates_are_merged_and_their_features_add_up() -> None:
    pairs = [(3, 1), (0, 1), (1, 3)]
    dense = Graph(X5, pairs, edge_features=[[1.0, 2.0], [3.0, 4.0], [10.0, 20.0]])
    assert dense.edges.tolist() == [[0, 1], [1, 3]]
    np.testing.assert_array_equal(dense.edge_features, [[3.0, 4.0], [11.0, 22.0]])
    sparse = Graph(X5, pairs, edge_features=sp.csr_matrix([[1.0, 2.0], [3.0, 4.0], [10.0, 20.0]]))
    np.testing.assert_array_equal(sparse.edge_features.toarray(), dense.edge_features)


def test_features_follow_the_sorted_edges() -> None:
    graph = Graph(X5, [(4, 3), (1, 0)], edge_features=np.array([[43], [10]], dtype=np.int8))
    assert graph.edges.tolist() == [[0, 1], [3, 4]]
    np.testing.assert_array_equal(graph.edge_features, [[10.0], [43.0]])


def test_float32_features_stay() -> None:
    graph = Graph(X5, [(0, 1), (1, 0)], edge_features=np.ones((2, 1), dtype=np.float32))
    assert graph.edge_features.dtype == np.float32


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.coo_matrix, lambda X: X.tolist()])
def test_every_kind_of_X(kind: Any) -> None:
    graph = Graph(kind(X5), [(0, 4)])
    part = graph[np.array([4, 0])]
    assert graph.shape == (5, 2)
    got = part.X.toarray() if sp.issparse(part.X) else part.X
    np.testing.assert_array_equal(got, X5[[4, 0]])


def test_frames() -> None:
    pandas = pytest.importorskip("pandas")
    graph = Graph(pandas.DataFrame(X5, columns=["a", "b"]), [(0, 4)])
    assert graph[[4, 0]].X["b"].tolist() == [9.0, 1.0]


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([(0, 5)], r"edges: row 0 came as \(0, 5\) for 5 samples"),
        ([(0, 1), (-1, 2)], r"edges: row 1 came as \(-1, 2\)"),
        ([(2, 2)], "edges: .*self-loop at sample 2"),
        ([(0, 1, 2)], "edges: .*more than two samples are beyond the exact method"),
        (np.array([[0, 1, 2], [1, 2, 3]]), "edges: .*transpose"),
        ([0, 1, 2], r"edges: came with shape \(3,\)"),
        ([(0, 1), (2,)], "edges: .*different lengths"),
        ([(0.0, 1.0)], "edges: came as float64; pass integers"),
        (sp.eye(5, format="csr"), "edges: .*self-loop"),
        (sp.csr_matrix((4, 4)), r"edges: came as an adjacency of shape \(4, 4\) for 5"),
        (sp.csr_matrix(-np.eye(5, k=1)), "edges: .*negative entries; samples that repel"),
        (sp.csr_matrix(np.nan * np.eye(5, k=1)), "edges: .*NaN"),
    ],
)
def test_edges_that_cannot_be(edges: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Graph(X5, edges)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (np.ones((1, 2)), r"edge_features: came with shape \(1, 2\) for 2 edges"),
        (np.ones(2), r"edge_features: came with shape \(2,\).*reshape"),
        ([[1.0], [np.nan]], "edge_features: came with NaN"),
        ([[1.0], [-0.5]], "edge_features: came with -0.5; .*repel each other"),
        ([["a"], ["b"]], "edge_features: .*not numbers"),
    ],
)
def test_features_that_cannot_be(features: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Graph(X5, [(0, 1), (1, 2)], edge_features=features)


def test_features_need_pairs_and_no_columns() -> None:
    with pytest.raises(InputError, match="edge_features: came with an adjacency"):
        Graph(X5, sp.csr_matrix(np.eye(5, k=1)), edge_features=np.ones((4, 1)))
    with pytest.raises(InputError, match="edge_columns: came together"):
        Graph(X5, [(0, 1)], edge_features=np.ones((1, 1)), edge_columns=[0])


@pytest.mark.parametrize("columns", [[2], [-1], [], [0.5], 1])
def test_columns_that_cannot_be(columns: Any) -> None:
    with pytest.raises(InputError, match="edge_columns: came "):
        Graph(X5, [(0, 1)], edge_columns=columns)


@pytest.mark.parametrize("index", [[5], [-6], [0, 0], [[0, 1]], [0.5], [True, False]])
def test_indices_that_cannot_be(index: Any) -> None:
    with pytest.raises(InputError, match="index: came "):
        Graph(X5, [(0, 1)])[index]


def test_X_needs_two_dimensions() -> None:
    with pytest.raises(InputError, match="X: came with shape"):
        Graph(np.ones(3), [])


@given(graphs())
def test_components(case: tuple[Graph, set[tuple[int, int]], np.random.Generator]) -> None:
    graph, expected, _ = case
    same = np.eye(len(graph), dtype=bool)
    for a, b in expected:
        same[a, b] = same[b, a] = True
    for _ in range(len(graph)):
        same = (same.astype(int) @ same.astype(int)) > 0
    np.testing.assert_array_equal(graph.components[:, None] == graph.components, same)


@given(graphs(), st.integers(2, 4), st.booleans(), st.integers(0, 5))
def test_component_folds_cut_no_edge(
    case: tuple[Graph, set[tuple[int, int]], np.random.Generator], k: int, shuffle: bool, seed: int
) -> None:
    graph, expected, _ = case
    splitter = ComponentKFold(k, shuffle=shuffle, random_state=seed)
    assert splitter.get_n_splits() == k
    n_components = graph.components.max() + 1
    if n_components < k:
        with pytest.raises(
            InputError, match=f"n_splits: came as {k} for a graph of {n_components} components"
        ):
            list(splitter.split(graph))
        return
    seen: list[int] = []
    for train, test in splitter.split(graph):
        assert len(test) > 0
        assert sorted([*train, *test]) == list(range(len(graph)))
        assert not any((a in test) != (b in test) for a, b in expected)
        seen += test.tolist()
    assert sorted(seen) == list(range(len(graph)))


def test_component_folds_of_groups_are_even() -> None:
    pairs = [(4 * g + a, 4 * g + b) for g in range(30) for a in range(4) for b in range(a)]
    graph = Graph(np.ones((120, 1)), pairs)
    sizes = [len(test) for _, test in ComponentKFold(5).split(graph)]
    assert sizes == [24] * 5


def test_component_folds_need_a_graph() -> None:
    with pytest.raises(InputError, match="X: came as ndarray"):
        list(ComponentKFold(2).split(np.ones((4, 1))))


class _Counts(BaseEstimator):  # type: ignore[misc]
    """Says how many samples and edges it was given."""

    def fit(self, graph: Any, y: Any) -> _Counts:
        assert isinstance(graph, Graph)
        self.seen_ = (len(graph), len(y))
        return self

    def score(self, graph: Any, y: Any) -> float:
        assert len(graph) == len(y)
        return float(len(graph.edges))


def test_scikit_learn_splits_graphs() -> None:
    pairs = [(i, i + 1) for i in range(0, 20, 2)]
    graph, y = Graph(np.ones((20, 1)), pairs), np.arange(20) // 2 % 2
    assert cross_val_score(_Counts(), graph, y, cv=ComponentKFold(5)).tolist() == [2.0] * 5
    for splitter in (KFold(2), StratifiedKFold(2)):
        edges = cross_val_score(_Counts(), graph, y, cv=splitter)
        assert len(edges) == 2
