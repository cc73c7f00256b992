"""The graph core against enumeration, against independent cuts, and against itself in other orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, maximum_flow

from rankcut import graph
from rankcut._core import CutGraph
from rankcut.errors import InputError
from rankcut.reference import labellings as slow

Floats = NDArray[np.float64]
KINDS = ["whole", "ties", "zeros", "normal", "wide", "dense", "tree", "apart"]
EXACT = {"whole", "ties", "zeros", "dense", "tree", "apart"}


@dataclass
class Problem:
    unary: Floats
    edges: NDArray[np.int64]
    costs: Floats

    def __len__(self) -> int:
        return len(self.unary)

    @property
    def args(self) -> tuple[Floats, NDArray[np.int64], Floats]:
        return self.unary, self.edges, self.costs

    @property
    def size(self) -> float:
        """Of the numbers that are added up."""
        return float(np.abs(self.unary).sum() + self.costs.sum())

    @property
    def component(self) -> NDArray[np.int32]:
        n = len(self)
        pattern = csr_matrix((np.ones(len(self.edges)), self.edges.T), shape=(n, n))
        return connected_components(pattern, directed=False)[1]


def draw(rng: np.random.Generator, kind: str, n: int) -> Problem:
    m = int(rng.integers(0, 2 * n + 1)) if kind != "dense" else n * n
    edges = rng.integers(n, size=(m, 2))
    if kind == "tree":
        edges = np.array([(v, rng.integers(v)) for v in range(1, n)], dtype=int).reshape(-1, 2)
        edges = rng.permutation(n)[edges]
    if kind == "apart":
        edges = np.concatenate([edges % max(1, n // 2), n - 1 - edges % max(1, n // 2)])
    edges = edges[edges[:, 0] != edges[:, 1]]
    unary, costs = rng.integers(-6, 7, size=n) / 2, rng.integers(0, 5, size=len(edges)) / 4
    if kind == "ties":
        unary, costs = rng.integers(-1, 2, size=n), rng.integers(0, 2, size=len(edges))
    if kind == "zeros":
        unary, costs = unary * (rng.random(n) < 0.3), costs * (rng.random(len(edges)) < 0.5)
    if kind in ("normal", "wide"):
        unary, costs = rng.standard_normal(n), rng.random(len(edges))
    if kind == "wide":
        unary, costs = (
            unary * 10.0 ** rng.integers(-9, 10, n),
            costs * 10.0 ** rng.integers(-9, 10, len(costs)),
        )
    return Problem(unary.astype(float), edges, costs.astype(float))


def draw_core(rng: np.random.Generator, n: int) -> Problem:
    """Two thirds of the nodes are tied up with each other and hold next to nothing together; the rest hang on them."""
    inner = max(2, 2 * n // 3)
    inside = rng.integers(inner, size=(3 * inner, 2))
    outside = np.stack([rng.integers(inner, n, 2 * n), rng.integers(inner, size=2 * n)], axis=1)
    edges = np.concatenate([inside, outside[: 2 * (n - inner)]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    costs = (
        np.where(edges.max(axis=1) < inner, rng.integers(2, 9, len(edges)), rng.integers(1, 4, len(edges)))
        / 4
    )
    unary = rng.integers(-6, 7, n) / 2
    unary[:inner] -= np.rint(2 * unary[:inner].mean()) / 2
    return Problem(unary, edges, costs)


def solved(problem: Problem, **options: Any) -> tuple[CutGraph, graph.MaxMarginals]:
    n = len(problem)
    core = CutGraph(n, problem.edges)
    found = graph.MaxMarginals(np.empty(n), np.empty(n), np.empty(n, np.uint8))
    core.max_marginals(problem.unary, problem.costs, *found, **options)
    return core, found


def labelling(core: CutGraph, i: int, side: bool) -> NDArray[np.uint8]:
    y = np.empty(core.n_nodes, np.uint8)
    core.labelling(i, side, y)
    return y


@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_enumeration(kind: str, rng: np.random.Generator) -> None:
    """1,300 graphs of up to 10 nodes for each kind, and more up to 14."""
    for round_ in range(1_400):
        problem = draw(rng, kind, int(rng.integers(1, 11 if round_ < 1_300 else 15)))
        plus, minus, labels = slow.max_marginals(*problem.args)
        found = graph.max_marginals(*problem.args)
        tol = 0.0 if kind in EXACT else 1e-15 * (len(problem) + len(problem.edges)) * problem.size
        np.testing.assert_allclose(found.m_plus, plus, rtol=0, atol=tol)
        np.testing.assert_allclose(found.m_minus, minus, rtol=0, atol=tol)
        best, value = graph.label(*problem.args)
        np.testing.assert_array_equal(best, found.labels)
        assert abs(value - max(plus.max(), minus.max())) <= tol
        if kind in EXACT:
            np.testing.assert_array_equal(best, labels)
        else:
            assert abs(slow.energy(best, *problem.args) - value) <= tol


@pytest.mark.parametrize("kind", KINDS)
def test_labellings_values_and_gradients(kind: str, rng: np.random.Generator) -> None:
    for _ in range(150):
        problem = draw(rng, kind, int(rng.integers(1, 30)))
        check_labellings(problem, rng)


def test_labellings_of_a_core_that_counts_as_one_node(rng: np.random.Generator) -> None:
    for _ in range(60):
        check_labellings(draw_core(rng, int(rng.integers(30, 90))), rng)


def check_labellings(problem: Problem, rng: np.random.Generator) -> None:
    """Each labelling has its label and its energy; frozen values and gradients are sums over the labellings."""
    n, tol = len(problem), 1e-13 * problem.size
    core, found = solved(problem, per_component=True)
    component, (first, second) = problem.component, problem.edges.T
    sides = rng.integers(0, 2, n).astype(np.uint8)
    weights = {True: rng.integers(-3, 4, n).astype(float), False: rng.integers(-3, 4, n).astype(float)}
    nodes, edges = np.zeros(n), np.zeros(len(problem.edges))
    frozen, frozen_nodes, frozen_edges = core.freeze(sides), np.zeros(n), np.zeros(len(problem.edges))
    values, moved, shift = np.empty(n), np.empty(n), rng.standard_normal(n)
    frozen.values(problem.unary, problem.costs, values)
    frozen.values(problem.unary + shift, problem.costs, moved)
    for i in range(n):
        for side, expected in ((True, found.m_plus), (False, found.m_minus)):
            y = labelling(core, i, side)
            assert y[i] == side
            assert not y[component != component[i]].any()
            assert abs(slow.energy(y, *problem.args) - expected[i]) <= tol
            nodes += weights[side][i] * y
            edges -= weights[side][i] * (y[first] != y[second])
            if sides[i] == side:
                kept = np.empty(n, np.uint8)
                frozen.labelling(i, kept)
                np.testing.assert_array_equal(kept, y)
                assert abs(values[i] - expected[i]) <= tol
                assert abs(moved[i] - values[i] - shift @ y) <= tol + 1e-13 * n
                frozen_nodes += weights[True][i] * y
                frozen_edges -= weights[True][i] * (y[first] != y[second])
    by_node, by_edge = np.empty(n), np.empty(len(edges))
    core.pull(weights[True], weights[False], by_node, by_edge)
    np.testing.assert_array_equal(by_node, nodes)
    np.testing.assert_array_equal(by_edge, edges)
    frozen.pull(weights[True], by_node, by_edge)
    np.testing.assert_array_equal(by_node, frozen_nodes)
    np.testing.assert_array_equal(by_edge, frozen_edges)


def test_gradients_by_finite_differences(rng: np.random.Generator) -> None:
    """Max-marginals are piecewise linear: inside a piece, differences are the gradient."""
    for _ in range(100):
        problem = draw(rng, "normal", 20)
        n, m = len(problem), len(problem.edges)
        core, found = solved(problem, per_component=True)
        plus, minus = rng.standard_normal(n), rng.standard_normal(n)
        by_node, by_edge = np.empty(n), np.empty(m)
        core.pull(plus, minus, by_node, by_edge)
        step, along_u, along_c = 1e-9, rng.standard_normal(n), rng.random(m)
        _, after = solved(
            Problem(problem.unary + step * along_u, problem.edges, problem.costs + step * along_c),
            per_component=True,
        )
        difference = plus @ (after.m_plus - found.m_plus) + minus @ (after.m_minus - found.m_minus)
        assert difference / step == pytest.approx(by_node @ along_u + by_edge @ along_c, abs=1e-3)


def capacities(problem: Problem, forced: int = -1, side: bool = True) -> csr_matrix:
    """Of the cut whose cheapest is the best labelling: source n, sink n + 1, whole numbers."""
    n, (first, second) = len(problem), problem.edges.T
    unary = problem.unary.copy()
    if forced >= 0:
        unary[forced] += (1 if side else -1) * 2.0**30
    every = np.arange(n)
    rows = np.concatenate([first, second, np.full(n, n), every])
    columns = np.concatenate([second, first, every, np.full(n, n + 1)])
    values = np.concatenate([problem.costs, problem.costs, np.maximum(unary, 0), np.maximum(-unary, 0)])
    return csr_matrix((values.astype(np.int32), (rows, columns)), shape=(n + 2, n + 2))


def against_independent_cuts(problem: Problem, asked: NDArray[np.int64]) -> None:
    n = len(problem)
    found = graph.max_marginals(*problem.args)
    for i in asked:
        side = not found.labels[i]  # the other is the best labelling's
        unary = problem.unary.copy()
        unary[i] += 2.0**30 if side else -(2.0**30)
        cut = maximum_flow(capacities(problem, i, side), n, n + 1).flow_value
        value = np.maximum(unary, 0).sum() - cut - (2.0**30 if side else 0)
        assert value == (found.m_plus if side else found.m_minus)[i]
    best = np.maximum(problem.unary, 0).sum() - maximum_flow(capacities(problem), n, n + 1).flow_value
    np.testing.assert_array_equal(np.maximum(found.m_plus, found.m_minus), best)


@pytest.mark.parametrize("price", [100, 400, 2_000])
def test_equal_to_independent_cuts(price: int, rng: np.random.Generator) -> None:
    """A graph of 2,000 nodes, 60 of them; the slow test asks all."""
    problem = random_graph(rng, 2_000, 5_000, price)
    against_independent_cuts(problem, rng.choice(2_000, 60, replace=False))


def test_a_core_that_counts_as_one_node_equals_independent_cuts(rng: np.random.Generator) -> None:
    for _ in range(25):
        problem = draw_core(rng, int(rng.integers(60, 200)))
        unary, costs = 4 * problem.unary, 4 * problem.costs  # whole numbers
        against_independent_cuts(Problem(unary, problem.edges, costs), np.arange(len(problem)))


@pytest.mark.slow
@pytest.mark.parametrize("price", [100, 400, 2_000])
def test_equal_to_all_independent_cuts(price: int, rng: np.random.Generator) -> None:
    against_independent_cuts(random_graph(rng, 2_000, 5_000, price), np.arange(2_000))


def random_graph(rng: np.random.Generator, n: int, m: int, price: int) -> Problem:
    edges = rng.integers(n, size=(m, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    return Problem(
        np.rint(1_000 * rng.standard_normal(n)), edges, rng.integers(0, price, len(edges)).astype(float)
    )


def test_the_two_slow_twins_agree(rng: np.random.Generator) -> None:
    for _ in range(60):
        problem = draw(rng, "whole", int(rng.integers(1, 8)))
        plus, minus, _ = slow.max_marginals(*problem.args)
        by_cuts = slow.max_marginals_by_cuts(*problem.args)
        np.testing.assert_array_equal(by_cuts[0], plus)
        np.testing.assert_array_equal(by_cuts[1], minus)


@given(st.data())
def test_small_integer_problems(data: st.DataObject) -> None:
    """Ties and parallel edges: what small integers make likely."""
    n = data.draw(st.integers(1, 7))
    node = st.integers(0, n - 1)
    pairs = data.draw(
        st.lists(st.tuples(node, node).filter(lambda e: e[0] != e[1]), max_size=14 if n > 1 else 0)
    )
    unary = np.array([data.draw(st.integers(-2, 2)) for _ in range(n)], dtype=float)
    costs = np.array([data.draw(st.integers(0, 2)) for _ in pairs], dtype=float)
    plus, minus, labels = slow.max_marginals(unary, pairs, costs)
    found = graph.max_marginals(unary, pairs, costs)
    np.testing.assert_array_equal(found.m_plus, plus)
    np.testing.assert_array_equal(found.m_minus, minus)
    np.testing.assert_array_equal(found.labels, labels)


def test_rounding_is_bounded_as_promised(rng: np.random.Generator) -> None:
    """Energies are off by at most (nodes + edges) 2^-59 (Σ|u| + 2 max c) before they are added up."""
    for scale in (1e-300, 1e-12, 1.0, 1e12, 1e290):
        for _ in range(40):
            problem = draw(rng, "normal", 10)
            problem.unary *= scale
            problem.costs *= scale
            plus, minus, _ = slow.max_marginals(*problem.args)
            core, _ = solved(problem)
            scores = np.empty(10)
            core.scores(scores)
            terms = len(problem) + len(problem.edges)
            adding_up = 4 * terms * np.finfo(float).eps * problem.size  # the twin's own
            np.testing.assert_allclose(
                scores, plus - minus, rtol=0, atol=terms * 2.0**-58 * problem.size + adding_up
            )


def test_scores_of_nodes_without_costs_are_their_own(rng: np.random.Generator) -> None:
    for _ in range(200):
        problem = draw(rng, "wide", 30)
        problem.costs[rng.random(len(problem.costs)) < 0.8] = 0.0
        core, found = solved(problem)
        scores, costly = np.empty(30), np.zeros(30, dtype=bool)
        core.scores(scores)
        costly[problem.edges[problem.costs > 0].ravel()] = True
        np.testing.assert_array_equal(scores[~costly], problem.unary[~costly])
        np.testing.assert_array_equal(found.labels, scores > 0)


def test_huge_costs_tie_and_tiny_ones_vanish() -> None:
    path = [(0, 1), (1, 2), (2, 3)]
    together = graph.max_marginals([1.0, -3.0, 4.0, -1.0], path, [1e300] * 3)
    np.testing.assert_array_equal(together.m_plus, [1.0] * 4)
    np.testing.assert_array_equal(together.m_minus, [0.0] * 4)
    np.testing.assert_array_equal(together.labels, [1] * 4)
    own = graph.max_marginals([1.0, -3.0, 4.0, -1.0], path, [1e-300] * 3)
    np.testing.assert_array_equal(own.m_plus - own.m_minus, [1.0, -3.0, 4.0, -1.0])


@pytest.mark.parametrize("kind", ["normal", "ties", "apart"])
def test_same_result_for_any_number_of_threads_and_any_order(kind: str, rng: np.random.Generator) -> None:
    n = 3_000
    problem = draw(rng, kind, n)
    problem.edges = problem.edges[: len(problem.edges) // 3]
    problem.costs = problem.costs[: len(problem.edges)]
    weights = rng.standard_normal((2, n))
    results = []
    for threads in (1, 2, 7):
        core, found = solved(problem, n_threads=threads)
        by_node, by_edge = np.empty(n), np.empty(len(problem.edges))
        core.pull(*weights, by_node, by_edge, threads)
        results.append((*found, by_node, by_edge, np.array([core.visits])))
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    place = rng.permutation(n)
    shuffled = np.empty(n)
    shuffled[place] = problem.unary
    order = rng.permutation(len(problem.edges))
    again = graph.max_marginals(shuffled, place[problem.edges[order],], problem.costs[order])
    np.testing.assert_array_equal(again.labels[place], results[0][2])
    np.testing.assert_allclose(again.m_plus[place], results[0][0], rtol=1e-12)
    np.testing.assert_allclose(again.m_minus[place], results[0][1], rtol=1e-12)


def test_equal_sets_are_shared(rng: np.random.Generator) -> None:
    """Where all flip together or all is tied, the sets cost little beside the one flow."""
    n = 4_000
    edges = rng.integers(n, size=(3 * n, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    costs, labels = np.full(len(edges), 1_000.0), np.empty(n, np.uint8)
    for unary in (rng.standard_normal(n), np.zeros(n)):
        core, _ = solved(Problem(unary, edges, costs))
        visits = core.visits
        core.label(unary, costs, labels)
        assert visits - core.visits < 60 * len(edges)


@pytest.mark.parametrize(
    ("unary", "edges", "costs", "message"),
    [
        ([1.0, 2.0], [(0, 2)], [1.0], r"edges: came with \(0, 2\) in row 0 for 2 samples"),
        ([1.0, 2.0], [(-1, 0)], [1.0], "edges: came with"),
        ([1.0, 2.0], [(1, 1)], [1.0], "self-loop in row 0, of sample 1"),
        ([1.0, 2.0], [(0, 1)], [-0.5], "costs: .* repel"),
        ([1.0, 2.0], [(0, 1)], [np.nan], "costs: came with nan"),
        (np.array([1.0, 2.0j]), [(0, 1)], [1.0], "unary: .*complex"),
        ([1.0, np.inf], [(0, 1)], [1.0], "unary: came with inf at position 1"),
        ([1.0, 2.0], [(0, 1)], [1.0, 1.0], "costs: came with 2 entries for 1 edges"),
        ([1.0, 2.0], [(0.0, 1.0)], [1.0], "edges: came with dtype float64"),
        ([1.0, 2.0], [0, 1], [1.0], r"edges: came with shape \(2,\)"),
        ([1.0, 2.0], [(0, 1), (1,)], [1.0, 1.0], "edges: came as rows of different lengths"),
        ([[1.0, 2.0]], [(0, 1)], [1.0], "unary: came with shape"),
        ("ab", [(0, 1)], [1.0], "unary: came as something"),
        ([1e308, 1e308], [(0, 1)], [1.0], "unary, costs: came so large"),
    ],
)
def test_bad_input_is_named(unary: Any, edges: Any, costs: Any, message: str) -> None:
    for function in (graph.max_marginals, graph.label):
        with pytest.raises(InputError, match=message):
            function(unary, edges, costs)


def test_no_edges_and_no_samples() -> None:
    alone = graph.max_marginals([1.5, -2.0, 0.0], [], [])
    np.testing.assert_array_equal(alone.m_plus - alone.m_minus, [1.5, -2.0, 0.0])
    np.testing.assert_array_equal(alone.labels, [1, 0, 0])
    labels, value = graph.label([], [], [])
    assert len(labels) == 0
    assert value == 0.0


def test_the_core_guards_itself() -> None:
    pairs = np.array([[0, 1]])
    for bad in ([[0, 2]], [[-1, 0]], [[1, 1]]):
        with pytest.raises(ValueError, match="edge"):
            CutGraph(2, np.array(bad))
    core = CutGraph(2, pairs)
    one, two, labels = np.ones(1), np.ones(2), np.empty(2, np.uint8)
    with pytest.raises(RuntimeError, match="max_marginals comes first"):
        core.pull(two, two, np.empty(2), np.empty(1))
    with pytest.raises(ValueError, match="each node"):
        core.label(one, one, labels)
    with pytest.raises(ValueError, match="each edge"):
        core.label(two, two, labels)
    for unary, costs in ((two * np.nan, one), (two, -one), (two, one * np.nan), (two, one * np.inf)):
        with pytest.raises(ValueError, match=r"unary|costs"):
            core.label(unary, costs, labels)
    core.max_marginals(two, one, np.empty(2), np.empty(2), labels)
    with pytest.raises(IndexError):
        core.labelling(2, True, labels)
