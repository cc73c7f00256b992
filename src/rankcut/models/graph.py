"""Samples related by edges. Raw numbers are unary scores u (in bags: of instances), then costs c ≥ 0 of edges.

A labelling Y says of each sample whether it is relevant, and is worth S(Y) = Σ_{y_i=1} u_i − Σ_{edges cut by Y} c. S
is linear in the raw numbers; that a bag's u is its best instance's score makes it convex.

    labelling (HOB-SVM):    R = max over Y of Δ(Y) + (S(Y) − S(Y*)) / M,  one cut for all samples together
    scores (HOAP-SVM):      any ranking loss of s_i = m_i⁺ − m_i⁻, the best S with y_i = 1 less the best with y_i = 0

m⁺ and m⁻ are convex and the loss falls in positives' scores, so that the risk is convex once m_i⁺ of the positives and
m_j⁻ of the negatives are frozen, as labellings (docs/graphs.md). They are those of the sample's own connected
component: what lies beyond it is the same in m_i⁺ and m_i⁻.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankcut import _core
from rankcut.data.lists import Lists

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
NONE = np.empty(0)
TIGHT = (
    1e-12  # of the largest numbers: a frozen max-marginal that is no further below the free one is as good
)


class Samples:
    """Which raw numbers the unary scores are: one for each sample, or its bag's best instance."""

    def __init__(self, n_samples: int, offsets: NDArray[np.int64] | None = None) -> None:
        self.n = n_samples
        self.n_raw = n_samples if offsets is None else int(offsets[-1])
        self.bags = offsets is not None
        self._own = np.arange(n_samples, dtype=np.intp)
        self._starts = None if offsets is None else offsets[:-1]
        self._sizes = None if offsets is None else np.diff(offsets)

    def best(self, raw: Floats) -> Index:
        """The raw number of each sample; of a bag's equal instances the first."""
        if self._starts is None or self._sizes is None:
            return self._own
        scores = raw[: self.n_raw]
        top = np.maximum.reduceat(scores, self._starts)
        equal = np.flatnonzero(scores == np.repeat(top, self._sizes))
        return equal[np.searchsorted(equal, self._starts)]


class Tangent(NamedTuple):
    """The risk is at least offset + weights · raw, and equal where it was evaluated. `alpha`: the loss's weights of
    the scores, where there are any."""

    offset: float
    weights: Floats
    alpha: Floats = NONE


class Kept(NamedTuple):
    """A labelling for each sample, and each bag's instance, fixed: linear in the raw numbers."""

    labellings: _core.FrozenLabellings
    best: Index


class GraphRisk(ABC):
    """A risk of unary scores and costs (rankcut.solvers.RawRisk). Each evaluation is a cut of the graph, or all
    max-marginals of it; the solver asks for the same point several times."""

    def __init__(self, edges: NDArray[np.int64], samples: Samples, n_threads: int) -> None:
        self._cuts = _core.CutGraph(samples.n, edges)
        self._edges, self._samples, self._threads = edges, samples, n_threads
        self._recent: list[tuple[Floats, Tangent]] = []  # evaluations on this line,
        self._before: list[tuple[Floats, Tangent]] = []  # and on the last one: this one begins on it

    def prepare(self, raw: Floats) -> Floats:
        return raw.copy()

    def line(self, start: Floats, direction: Floats) -> _GraphLine:
        self._before, self._recent = self._recent, []
        return _GraphLine(self, start, direction)

    def leave(self, line: _GraphLine, best: float, cut: float) -> tuple[float, Floats] | None:
        found = line.met.get(cut)
        return None if found is None else (found.offset, found.weights)

    def cut(self, point: Floats) -> tuple[float, Floats]:
        found = self.tangent(point)
        return found.offset, found.weights

    def hard_cuts(self, point: Floats) -> list[Any]:
        return []

    def curvature(self, point: Floats, weights: Floats) -> tuple[Index, Floats, Floats, Floats]:
        """None is known: parameters in a cone do not use it."""
        return np.empty(0, dtype=np.intp), np.empty(0), np.empty((0, 0)), np.empty(0)

    def tangent(self, raw: Floats) -> Tangent:
        for place in (self._recent, self._before):
            for point, known in place:
                if np.array_equal(point, raw):
                    if place is self._before:
                        self._recent.append((point, known))
                    return known
        found = self._tangent(raw)
        self._recent.append((raw.copy(), found))
        return found

    def _forget(self) -> None:
        self._recent, self._before = [], []

    @abstractmethod
    def _tangent(self, raw: Floats) -> Tangent: ...

    def _costs(self, raw: Floats) -> Floats:
        return _costs(raw, self._samples)


class LabellingRisk(GraphRisk):
    """The weighted Hamming loss of a labelling: J for a missed positive, 1 for a false one, of M = JP + N."""

    def __init__(
        self,
        relevant: NDArray[np.bool_],
        positive_weight: float,
        edges: NDArray[np.int64],
        samples: Samples,
        *,
        n_threads: int = 1,
    ) -> None:
        super().__init__(edges, samples, n_threads)
        self._relevant = relevant
        self._price = np.where(relevant, float(positive_weight), 1.0)  # of a wrong label
        self._M = float(self._price.sum())
        self._true_cut = relevant[edges[:, 0]] != relevant[edges[:, 1]]
        self._positive: Index = samples.best(np.zeros(samples.n_raw))

    def _tangent(self, raw: Floats) -> Tangent:
        chosen = self._samples.best(raw)
        augmented = raw[chosen] + np.where(self._relevant, -self._price, self._price)
        labels = np.empty(self._samples.n, dtype=np.uint8)
        self._cuts.label(augmented, self._costs(raw), labels, self._threads)
        ones = labels.astype(bool)
        wrong = ones != self._relevant
        weights = np.zeros(len(raw))
        weights[chosen[ones]] += 1.0
        weights[self._positive[self._relevant]] -= 1.0
        weights[self._samples.n_raw :] = self._true_cut
        weights[self._samples.n_raw :] -= ones[self._edges[:, 0]] != ones[self._edges[:, 1]]
        return Tangent(float(self._price[wrong].sum()) / self._M, weights / self._M)


class LatentLabellingRisk(LabellingRisk):
    """Of bags: −S(Y*) is concave in the positives' scores, so that their instances are frozen."""

    n_seats = 0

    def freeze(self, point: Floats) -> tuple[bool, None]:
        before = self._positive[self._relevant]
        self._positive = self._samples.best(point)
        changed = not np.array_equal(before, self._positive[self._relevant])
        if changed:
            self._forget()
        return changed, None

    def seats(self, weights: Floats) -> Floats:
        return np.empty(0)


class ScoreRisk(GraphRisk):
    """Any loss of the scores m⁺ − m⁻, frozen at some point."""

    def __init__(
        self,
        lists: Lists,
        risk: _core.Risk,
        edges: NDArray[np.int64],
        samples: Samples,
        *,
        n_threads: int = 1,
    ) -> None:
        super().__init__(edges, samples, n_threads)
        self._lists, self._risk = lists, risk
        self.n_seats = samples.n
        self._relevant = np.zeros(samples.n, dtype=bool)
        self._relevant[lists.order[lists.relevant]] = True
        zero = np.zeros(samples.n_raw + len(edges))
        self._marginals(zero[: samples.n], zero[samples.n_raw :])
        self._frozen = self._keep(samples.best(zero))

    def freeze(self, point: Floats) -> tuple[bool, Callable[[Floats], Floats] | None]:
        """Keep the labellings of m⁺ of positives and m⁻ of negatives, and the instances, that are best here. If
        those kept are still as good, they stay, and so does the bound."""
        best = self._samples.best(point)
        plus, minus = self._marginals(point[best], self._costs(point))
        own = np.where(self._relevant, plus, minus)
        scale = float(np.max(np.abs(own))) + float(np.max(np.abs(point)))
        if np.all(own - self._worth(point) <= TIGHT * scale):
            return False, None
        before, self._frozen = self._frozen, self._keep(best)
        self._forget()
        return True, partial(self._shift, before, self._frozen)

    def seats(self, weights: Floats) -> Floats:
        """The loss's weights behind a cut that was just made: with other labellings kept, it stays a cut."""
        return next(known.alpha for _, known in self._recent if known.weights is weights)

    def _shift(self, before: Kept, after: Kept, alphas: Floats) -> Floats:
        gained = np.zeros((len(alphas), self._samples.n_raw + len(self._edges)))
        for row, alpha in zip(gained, alphas, strict=True):
            self._pull_kept(after, alpha, row)
            self._pull_kept(before, -alpha, row)
        return gained

    def all_scores(self, point: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The samples' scores, nothing frozen, in the lists' order, and which of them are relevant."""
        plus, minus = self._marginals(point[self._samples.best(point)], self._costs(point))
        return self._lists.gather(plus - minus), self._lists.relevant

    def ray(self, point: Floats) -> _Ray:
        """The loss, nothing frozen, of t times the scores at a point."""
        return _Ray(self._risk, self.all_scores(point)[0], self._threads)

    def intercept(self, point: Floats) -> float:
        """The best intercept at these scores, if the loss chooses one."""
        self._risk.evaluate(self.all_scores(point)[0], np.empty(self._lists.size), self._threads)
        return float(self._risk.shift)

    def _tangent(self, raw: Floats) -> Tangent:
        best, costs = self._samples.best(raw), self._costs(raw)
        plus, minus = self._marginals(raw[best], costs)
        kept = self._worth(raw)
        scores = np.where(self._relevant, kept - minus, plus - kept)
        compact = np.empty(self._lists.size)
        offset = self._risk.evaluate(self._lists.gather(scores), compact, self._threads)
        alpha = self._lists.scatter(compact)

        weights = np.zeros(len(raw))
        nodes, edges = np.empty(self._samples.n), weights[self._samples.n_raw :]
        free_plus, free_minus = np.where(self._relevant, 0.0, alpha), np.where(self._relevant, -alpha, 0.0)
        self._cuts.pull(free_plus, free_minus, nodes, edges, self._threads)
        weights[best] += nodes
        self._pull_kept(self._frozen, alpha, weights)
        return Tangent(offset, weights, alpha)

    def _pull_kept(self, kept: Kept, alpha: Floats, weights: Floats) -> None:
        """Add the weights of raw numbers in Σ_i ±alpha_i · (the labelling kept for i), + for positives."""
        nodes, edges = np.empty(self._samples.n), np.empty(len(self._edges))
        kept.labellings.pull(np.where(self._relevant, alpha, -alpha), nodes, edges, self._threads)
        weights[kept.best] += nodes
        weights[self._samples.n_raw :] += edges

    def _marginals(self, unary: Floats, costs: Floats) -> tuple[Floats, Floats]:
        plus, minus = np.empty(len(unary)), np.empty(len(unary))
        labels = np.empty(len(unary), dtype=np.uint8)
        self._cuts.max_marginals(unary, costs, plus, minus, labels, self._threads, per_component=True)
        return plus, minus

    def _keep(self, best: Index) -> Kept:
        """Of the last max-marginals."""
        return Kept(self._cuts.freeze(self._relevant.astype(np.uint8)), best)

    def _worth(self, raw: Floats) -> Floats:
        """Of the frozen labellings."""
        values = np.empty(self._samples.n)
        self._frozen.labellings.values(raw[self._frozen.best], self._costs(raw), values, self._threads)
        return values


def marginals(
    raw: Floats, edges: NDArray[np.int64], samples: Samples, *, per_component: bool, n_threads: int
) -> tuple[Floats, Floats, NDArray[np.uint8]]:
    """(m⁺, m⁻, best labelling) for each row of raw numbers."""
    cuts = _core.CutGraph(samples.n, edges)
    shape = (len(raw), samples.n)
    plus, minus, labels = np.empty(shape), np.empty(shape), np.empty(shape, dtype=np.uint8)
    for k, row in enumerate(raw):
        unary, costs = row[samples.best(row)], _costs(row, samples)
        cuts.max_marginals(unary, costs, plus[k], minus[k], labels[k], n_threads, per_component=per_component)
    return plus, minus, labels


def _costs(raw: Floats, samples: Samples) -> Floats:
    return np.maximum(raw[samples.n_raw :], 0.0)  # rounding on a line may leave less


class _GraphLine:
    limit = float("inf")

    def __init__(self, risk: GraphRisk, start: Floats, direction: Floats) -> None:
        self._risk, self._start, self._direction = risk, start, direction
        self.met: dict[float, Tangent] = {}

    def __call__(self, t: float) -> tuple[float, float]:
        raw = self._start + t * self._direction
        found = self.met[t] = self._risk.tangent(raw)
        value = found.offset + float(found.weights @ raw)
        return max(0.0, value), float(found.weights @ self._direction)  # rounding aside, R ≥ 0

    def cuts(self) -> list[tuple[float, Floats]]:
        return [(found.offset, found.weights) for t, found in self.met.items() if t > 0]


class _Ray:
    limit = float("inf")

    def __init__(self, risk: _core.Risk, scores: Floats, n_threads: int) -> None:
        self._risk, self._zero, self._scores, self._threads = risk, np.zeros(len(scores)), scores, n_threads

    def __call__(self, t: float) -> tuple[float, float]:
        return self._risk.line(self._zero, self._scores, t, self._threads)
