"""All max-marginals of a graph beside one max-flow, and beside one cut for each node with PyMaxflow."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import FOLDER, MISSING
from benchmarks.table import Table
from rankcut._core import CutGraph

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
GRAPHS = ("cora", "citeseer", "amazon_fraud", "blogcatalog")
COSTS = (0.1, 0.5)
MUST = ("cora", "citeseer")
CUTS = {"cora": 100, "citeseer": 100}  # of the n separate cuts, drawn at random; their mean stands for all
FEW_CUTS = 8  # of the larger graphs
DRAWS = 16  # of standard normal scores


def run(full: bool = False) -> list[Table]:
    return [_real(full), _draws(full), _random(full), _pages(full), _groups()]


class Case:
    """A graph with standard normal scores, one cost for all edges, and room for the results."""

    def __init__(self, n: int, edges: Pairs, cost: float, seed: int = 1) -> None:
        self.n, self.edges, self.costs = n, edges, np.full(len(edges), cost)
        self.unary = np.random.default_rng(seed).standard_normal(n)
        self.graph = CutGraph(n, edges)
        self.plus, self.minus, self.labels = np.empty(n), np.empty(n), np.empty(n, dtype=np.uint8)

    def label(self) -> float:
        return self.graph.label(self.unary, self.costs, self.labels, 1)

    def all(self) -> None:
        self.graph.max_marginals(self.unary, self.costs, self.plus, self.minus, self.labels, 1)

    @property
    def undecided(self) -> float:
        """The share of nodes whose own score does not outweigh their edges."""
        around = np.bincount(self.edges.ravel(), np.repeat(self.costs, 2), self.n)
        return float(np.mean(np.abs(self.unary) < around))

    def visits(self) -> tuple[float, float]:
        """Arcs looked at per edge, by one flow and by all max-marginals."""
        self.label()
        one = self.graph.visits
        self.all()
        return one / len(self.edges), self.graph.visits / len(self.edges)


def least(runs: Mapping[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Of interleaved runs in one thread: the processor's seconds, which other work on the machine disturbs little."""
    best = dict.fromkeys(runs, np.inf)
    for _ in range(repeat):
        for name, run in runs.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return best


def peer(case: Case, unary: Floats) -> tuple[float, float]:
    """PyMaxflow's largest energy, and the seconds of its max-flow alone, without building the graph."""
    import maxflow

    graph: Any = maxflow.Graph[float](case.n, len(case.edges))
    graph.add_nodes(case.n)
    graph.add_grid_tedges(np.arange(case.n), np.maximum(unary, 0.0), np.maximum(-unary, 0.0))
    graph.add_edges(case.edges[:, 0], case.edges[:, 1], case.costs, case.costs)
    start = time.process_time()
    cut = graph.maxflow()
    seconds = time.process_time() - start
    return float(np.maximum(unary, 0.0).sum() - cut), seconds


def separate_cuts(case: Case, count: int) -> tuple[float, float]:
    """Mean seconds of a cut with one label forced, and the largest difference to our max-marginals."""
    seconds, difference, force = [], 0.0, 1e4
    for i in np.random.default_rng(0).choice(case.n, count, replace=False):
        for sign, ours in ((1.0, case.plus), (-1.0, case.minus)):
            if (sign > 0) == bool(case.labels[i]):
                continue  # the best labelling's own
            unary = case.unary.copy()
            unary[i] += sign * force
            value, taken = peer(case, unary)
            seconds.append(taken)
            difference = max(difference, abs(value - (force if sign > 0 else 0.0) - ours[i]))
    return float(np.mean(seconds)), difference


def _real(full: bool) -> Table:
    table = Table(
        "All max-marginals of real graphs, standard normal scores",
        ["graph", "cost", "nodes", "edges", "one max-flow ms", "PyMaxflow ms", "all max-marginals ms",
         "/ one max-flow", "must", "n cuts with PyMaxflow s", "/ all max-marginals", "must ",
         "visits per edge: flow", "all", "difference"],
        ["", ".1f", ",d", ",d", ".2f", ".2f", ".2f", ".1f", "", ".2f", ",.0f", "", ".0f", ".0f", ".0e"],
    )  # fmt: skip
    if not FOLDER.is_dir():
        table.note(MISSING)
        return table
    for name in GRAPHS:
        n, edges = _stored(name)
        for cost in COSTS:
            case, theirs = Case(n, edges, cost), []
            theirs_too = {"peer": lambda: theirs.append(peer(case, case.unary)[1])}
            times = least({"flow": case.label, "all": case.all, **theirs_too}, 25 if full else 9)
            flow, every = times["flow"], times["all"]
            cut, difference = separate_cuts(case, CUTS.get(name, FEW_CUTS))
            must = ("≤ 10", "≥ 100") if name in MUST else ("", "")
            table.add(name, cost, n, len(edges), 1e3 * flow, 1e3 * min(theirs), 1e3 * every, every / flow, must[0],
                      cut * n, cut * n / every, must[1], *case.visits(), difference)  # fmt: skip
    table.note(
        "One thread, processor seconds, minimums of interleaved runs. Ours count all from scores and costs to results; "
        "PyMaxflow's "
        f"times are its max-flow alone, its graph built; its n cuts are n × the mean of {FEW_CUTS} to 100 of them. "
        "A visit is one look at an arc (an edge is two); difference: the largest of those cuts' energies to ours."
    )
    return table


def _draws(full: bool) -> Table:
    """How much of it is the draw of the scores."""
    table = Table(
        f"All max-marginals / one max-flow, {5 * DRAWS if full else DRAWS} draws of scores",
        ["graph", "cost", "mean ratio", "worst", "must", "visits per edge: mean", "worst "],
        ["", ".1f", ".1f", ".1f", "", ",.0f", ",.0f"],
    )
    if not FOLDER.is_dir():
        table.note(MISSING)
        return table
    for name in MUST:
        n, edges = _stored(name)
        for cost in (0.1, 0.3, 0.5, 1.0):
            ratios, visits = [], []
            for seed in range(5 * DRAWS if full else DRAWS):
                case = Case(n, edges, cost, seed)
                times = least({"flow": case.label, "all": case.all}, 5)
                ratios.append(times["all"] / times["flow"])
                visits.append(case.visits()[1])
            table.add(
                name, cost, float(np.mean(ratios)), max(ratios), "≤ 10", float(np.mean(visits)), max(visits)
            )
    table.note("One thread, processor seconds, minimums of 5 interleaved runs for each draw.")
    return table


def _stored(name: str) -> tuple[int, Pairs]:
    with np.load(FOLDER / "graphs" / f"{name}.npz") as stored:
        return len(stored["y"]), np.ascontiguousarray(stored["edges"].astype(np.int64))


LARGE = [
    "cost",
    "undecided",
    "one max-flow s",
    "all max-marginals s",
    "ratio",
    "visits per edge: flow",
    "all",
]


def _random(full: bool) -> Table:
    table = Table(
        "All max-marginals of a random graph, 100,000 nodes and 500,000 edges",
        LARGE,
        [".4f", ".2f", ".2f", ".2f", ".1f", ".1f", ".1f"],
    )
    n, m = 100_000, 500_000
    rng = np.random.default_rng(0)
    edges = np.stack([rng.integers(n, size=m), rng.integers(n - 1, size=m)], axis=1)
    edges[:, 1] += edges[:, 1] >= edges[:, 0]
    for cost in (0.0126, 0.05, 0.1, *((0.2, 0.5) if full else ())):
        case = Case(n, edges, cost)
        times = least({"flow": case.label, "all": case.all}, 3 if cost < 0.1 else 1)
        flow, every = times["flow"], times["all"]
        table.add(cost, case.undecided, flow, every, every / flow, *case.visits())
    table.note(
        "One thread, processor seconds. Undecided: the share of nodes whose score does not outweigh its edges' costs."
    )
    return table


def _pages(full: bool) -> Table:
    """As dense as a network of pages: hubs, and groups whose members mostly know each other."""
    n, m = 22_470, 170_823
    table = Table(
        f"All max-marginals of a network with hubs and groups, {n:,} nodes and {m:,} edges",
        LARGE,
        [".2f", ".2f", ".2f", ".2f", ".1f", ".0f", ".0f"],
    )
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(n), np.rint(rng.lognormal(4.0, 1.0, n)).astype(int) + 2)[:n]
    first = np.searchsorted(group, group, side="left")
    size = np.searchsorted(group, group, side="right") - first
    hub = rng.pareto(1.8, n) + 1.0
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < m:
        a = rng.choice(n, size=m, p=hub / hub.sum())
        near = first[a] + rng.integers(0, size[a])
        b = np.where(rng.random(m) < 0.8, near, rng.choice(n, size=m, p=hub / hub.sum()))
        fresh = np.minimum(a, b) * n + np.maximum(a, b)
        keys = np.unique(np.concatenate([keys, fresh[a != b]]))
    edges = np.stack(np.divmod(rng.permutation(keys)[:m], n), axis=1)
    for cost in (0.02, 0.1, 0.5) if full else (0.1,):
        case = Case(n, edges, cost)
        times = least({"flow": case.label, "all": case.all}, 3)
        table.add(
            cost, case.undecided, times["flow"], times["all"], times["all"] / times["flow"], *case.visits()
        )
    table.note("One thread, processor seconds.")
    return table


def _groups() -> Table:
    table = Table(
        "All max-marginals of 3,000 samples in groups of 1 to 8, all pairs of a group linked",
        ["cost", "edges", "best labelling ms", "all max-marginals ms", "ratio"],
        [".1f", ",d", ".3f", ".3f", ".1f"],
    )
    rng, start, pairs = np.random.default_rng(0), 0, []
    while start < 3_000:
        size = min(int(rng.integers(1, 9)), 3_000 - start)
        pairs += [(start + i, start + j) for i in range(size) for j in range(i)]
        start += size
    for cost in COSTS:
        case = Case(3_000, np.array(pairs), cost)
        times = least({"flow": case.label, "all": case.all}, 15)
        flow, every = times["flow"], times["all"]
        table.add(cost, len(pairs), 1e3 * flow, 1e3 * every, every / flow)
    table.note("One thread, processor seconds, minimums of interleaved runs.")
    return table
