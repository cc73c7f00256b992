"""The joint oracle of latent structural SVMs with AP loss, as published: greedy over the ranks.

A ranking of P positives and N negatives gives the sample at each rank a signed pair count

    c = #(samples of the other class below) − #(samples of the other class above),

and with one annotation h a sample the ranking scores  weight · Σ c_i s_i(h_i).  Annotations and ranking are chosen
together: a sample with c > 0 takes its highest score, one with c < 0 its lowest, so only these two matter. For a
given pattern of classes the samples of a class are assigned to its ranks by the best assignment of

    S(i, a) = max_h c_a s_i(h).

The patterns are searched greedily: from the perfect ranking the first negative is moved up to its best place, then
the second up to at most there, and so on. That is not always the best pattern (docs/latent-ssvm.md).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Floats = NDArray[np.float64]


class Joint(NamedTuple):
    """value = delta + weight · Σ counts · (highest score where the count is positive, else lowest)."""

    value: float
    delta: float
    counts: Floats  # c of each sample


def most_violated(
    high: Floats, low: Floats, relevant: NDArray[np.bool_], weight: float | None = None
) -> Joint:
    """`high` and `low` are each sample's highest and lowest score; `weight` of a pair is 1/(PN) by default."""
    positives, negatives = _Class(high[relevant], low[relevant]), _Class(high[~relevant], low[~relevant])
    P, N = positives.size, negatives.size
    weight = 1.0 / (P * N) if weight is None else weight
    above = np.zeros(P)  # negatives above each positive, of those placed
    counts = np.full(N, -float(P))  # c of the negatives' ranks, best first
    least = 0  # positives above the last negative that was placed
    for j in range(N):
        places = np.arange(P, least - 1, -1)
        least = _best_place(positives, negatives, above, counts, j, places, weight)
        above[least:] += 1
        counts[j] = P - 2 * least
    delta = _delta(above)
    found = np.empty(len(high))
    found[relevant], found[~relevant] = positives.assign(N - 2 * above), negatives.assign(counts)
    value = delta + weight * float(found @ np.where(found > 0, high, low))
    return Joint(value, delta, found)


def _best_place(
    positives: _Class,
    negatives: _Class,
    above: Floats,
    counts: Floats,
    j: int,
    places: NDArray[np.intp],
    weight: float,
) -> int:
    """How many positives to leave above negative j, the others as they are; of equals the most.

    An assignment is solved only where bounds from sorting leave it open which place is the best.
    """
    P, N = positives.size, negatives.size
    moved = above + (np.arange(P) >= places[:, None])  # a row for each place
    deltas = 1.0 - np.mean(np.arange(1, P + 1) / (np.arange(1, P + 1) + moved), axis=1)
    upper = (
        deltas
        + weight * positives.bounds(N - 2.0 * moved)
        + weight * negatives.bounds_with(counts, j, P - 2.0 * places)
    )
    best, best_value = -1, -np.inf
    for place in np.argsort(-upper, kind="stable"):
        if upper[place] <= best_value:
            break
        others = np.delete(upper, place).max(initial=-np.inf)
        counts[j] = P - 2.0 * places[place]
        value = deltas[place] + weight * (
            positives.attained(N - 2.0 * moved[place]) + negatives.attained(counts)
        )
        if best >= 0 or value < others:  # sorting does not settle it
            value = deltas[place] + weight * (
                positives.value(N - 2.0 * moved[place]) + negatives.value(counts)
            )
        if value > best_value:
            best, best_value = int(place), value
    return int(places[best])


class _Class:
    """The samples of one class, to be assigned to ranks with counts that never rise."""

    def __init__(self, high: Floats, low: Floats) -> None:
        self.size, self._high, self._low = len(high), high, low
        self._by_high, self._by_low = np.argsort(-high, kind="stable"), np.argsort(low, kind="stable")
        self._by_both = np.argsort(-(high + low), kind="stable")
        self._highest, self._lowest = high[self._by_high], low[self._by_low]

    def bounds(self, counts: Floats) -> Floats:
        """No assignment is worth more, for each row of counts: a sample may serve twice, high and low."""
        return np.maximum(counts, 0.0) @ self._highest - np.maximum(-counts, 0.0) @ self._lowest[::-1]

    def bounds_with(self, counts: Floats, j: int, entries: NDArray[Any]) -> Floats:
        """The bounds with each of the entries as counts[j]."""
        rest = counts.copy()
        rest[j] = 0.0
        scores = np.where(entries > 0, self._highest[j], self._lowest[self.size - 1 - j])
        bounds: Floats = self.bounds(rest) + entries * scores
        return bounds

    def attained(self, counts: Floats) -> float:
        """What simple assignments attain: the ranks with positive counts take the samples with the highest sum of
        highest and lowest score (the best if all counts are equal but for their sign), the highest score, or the
        highest lowest score."""
        first = int(np.count_nonzero(counts > 0))
        values = []
        for order in (self._by_both, self._by_high, self._by_low[::-1]):
            up = np.zeros(self.size, dtype=bool)
            up[order[:first]] = True
            highest = self._highest[up[self._by_high]]
            lowest = self._lowest[~up[self._by_low]]
            values.append(float(counts[:first] @ highest + counts[first:][::-1] @ lowest))
            if first in (0, self.size):
                break
        return max(values)

    def value(self, counts: Floats) -> float:
        """What the best assignment is worth."""
        found = self.assign(counts)
        return float(found @ np.where(found > 0, self._high, self._low))

    def assign(self, counts: Floats) -> Floats:
        """The counts by sample, best assigned. With one sign sorting is exact."""
        found = np.empty(self.size)
        if counts[-1] >= 0:
            found[self._by_high] = counts
        elif counts[0] <= 0:
            found[self._by_low] = counts[::-1]
        else:
            worth = np.where(counts > 0, counts * self._high[:, None], counts * self._low[:, None])
            samples, ranks = linear_sum_assignment(worth, maximize=True)
            found[samples] = counts[ranks]
        return found


def _delta(above: Floats) -> float:
    """1 − AP where `above[k]` negatives are above positive k, best first."""
    k = np.arange(1, len(above) + 1)
    return float(1.0 - np.mean(k / (k + above)))
