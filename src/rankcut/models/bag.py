"""The bag model: a bag's score is its best instance's.

The loss falls in the scores of positives and rises in those of negatives. With one instance given for each
positive (frozen) the risk is convex, as the best instances of negatives are free to be a maximum; with the best
instances at w it is an upper bound of the true risk that is tight at w (rankcut.solvers.cccp).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankcut import _core
from rankcut.data.bags import spread
from rankcut.data.lists import Lists
from rankcut.models.linear import LinearRisk
from rankcut.models.trim import trim

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
Marks = NDArray[np.uint8]
NOTHING = np.empty(0, dtype=np.uint8)  # no instance is left out
BETTER = 1e-12  # what is left out is chosen anew if the risk falls by more than this share


def best_instances(
    begin: Index, end: Index, z: Floats, *, left_out: Marks = NOTHING, n_threads: int = 1
) -> tuple[Floats, Index]:
    """The largest score of each bag, which has the instances begin to end, and the first that has it."""
    scores, rows = np.empty(len(begin)), np.empty(len(begin), dtype=np.int64)
    _core.best_instances(begin, end, left_out, z, scores, rows, n_threads)
    return scores, rows


class Shift(NamedTuple):
    """As in rankcut.solvers: cuts gain factors_k · weight of seat_k · X[rows_k]."""

    seats: Index
    rows: Index
    factors: Floats


class Frozen(NamedTuple):
    """As in rankcut.solvers."""

    changed: bool
    shift: Shift | None = None


class BagRisk:
    """A loss of bags' scores, as the solver sees it (rankcut.solvers.RawRisk). It is convex.

    Raw numbers are the instances' scores. Bag b has the instances offsets[b] to offsets[b + 1]; if given[b] ≥ 0, it
    is scored by that one alone. Every positive bag of the lists needs one given, or is of one instance.
    """

    def __init__(self, samples: LinearRisk, offsets: Index, given: Index, *, n_threads: int = 1) -> None:
        self._samples, self._threads = samples, n_threads
        self._offsets, self._given = offsets, given
        self._left_out: Marks = NOTHING
        self._place()

    def prepare(self, raw: Floats) -> Floats:
        return raw

    def line(self, start: Floats, direction: Floats) -> _BagLine:
        return _BagLine(self, start, direction)

    def cut(self, point: Floats) -> tuple[float, Floats]:
        scores, rows = self._best(self._begin, self._end, point)
        offset, alpha = self._samples.evaluate(scores)
        weights = np.zeros(self._offsets[-1])
        weights[rows] = alpha
        return offset, weights

    def hard_cuts(self, point: Floats) -> list[Any]:
        return []

    def curvature(
        self, point: Floats, weights: Floats
    ) -> tuple[NDArray[np.integer[Any]], Floats, Floats, Floats]:
        """That of the loss, at the instances that the bags are scored by."""
        scores, rows = self._best(self._begin, self._end, point)
        lists = self._samples.lists
        bags, diagonal, vectors, signs = self._samples.curvature(scores, lists.scatter(weights[rows]))
        row_of = np.empty(lists.n_rows, dtype=np.int64)
        row_of[lists.order] = rows
        return row_of[bags], diagonal, vectors, signs

    def all_scores(self, point: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The scores of the lists' bags, and which of them are relevant."""
        return self._samples.all_scores(self._best(self._begin, self._end, point)[0])

    def allowed(self, point: Floats) -> tuple[float, float]:
        return self._samples.allowed(point)

    def intercept(self, point: Floats) -> float:
        """The best intercept at these scores, if the loss chooses one."""
        return self._samples.intercept(self._best(self._begin, self._end, point)[0])

    def chosen(self, point: Floats) -> Index:
        """The instance that each bag is scored by, in the lists or not."""
        return self._best(*_segments(self._offsets, self._given), point)[1]

    def _place(self) -> None:
        """Where the samples' instances are, in the lists' order."""
        self._begin, self._end = _segments(self._offsets, self._given, self._samples.lists.order)

    def _best(self, begin: Index, end: Index, point: Floats) -> tuple[Floats, Index]:
        return best_instances(begin, end, point, left_out=self._left_out, n_threads=self._threads)


class LatentBagRisk(BagRisk):
    """A loss of bags' scores whose positives' instances are latent: it freezes them (solvers.FreezingRisk).

    `known` has the instance that is known to be a bag's, or −1; `first` one for each bag, for positives at w = 0.
    Of the free instances of negatives, the share `outlier_fraction` with the highest scores is left out, at least one
    per bag kept; of the bags of each class of each list, the share `trim` that contradicts the scores most. Both
    sets are chosen when the risk is frozen, and only if that lowers it, so that it never rises.
    """

    def __init__(
        self,
        lists: Lists,
        make: Callable[[Lists], LinearRisk],
        offsets: Index,
        known: Index,
        first: Index,
        *,
        outlier_fraction: float = 0.0,
        trim: float = 0.0,
        n_threads: int = 1,
    ) -> None:
        self._all, self._make = lists, make
        self._outliers, self._trim = outlier_fraction, trim
        self._positives = lists.order[lists.relevant].astype(np.int64)
        self._latent = np.flatnonzero(known[self._positives] < 0)  # seats that can move
        given = known.copy()
        free = self._positives[self._latent]
        given[free] = first[free]
        self.n_seats = len(self._positives)
        super().__init__(make(lists), offsets, given, n_threads=n_threads)

    def freeze(self, point: Floats) -> Frozen:
        """Choose the positives' instances and what is left out: the best at this point."""
        shift = self._choose(point)
        if self._leave_out(point):
            return Frozen(True)
        return Frozen(shift is not None, shift)

    def turn(self, direction: Floats) -> Frozen:
        """At w = 0, where every choice is tight: the positives' best instances in this direction."""
        shift = self._choose(direction)
        return Frozen(shift is not None, shift)

    def _choose(self, point: Floats) -> Shift | None:
        bags = self._positives[self._latent]
        old = self._given[bags]
        scores, rows = self._best(self._offsets[bags], self._offsets[bags + 1], point)
        moved = np.flatnonzero(scores > point[old])  # of equals the one that it has
        self._given[bags[moved]] = rows[moved]
        self._place()
        if not len(moved):
            return None
        seats, ones = self._latent[moved], np.ones(len(moved))
        return Shift(np.r_[seats, seats], np.r_[old[moved], rows[moved]], np.r_[-ones, ones])

    def seats(self, weights: Floats) -> Floats:
        """Of a cut's weights, those of the positives' instances."""
        given = self._given[self._positives]
        return weights[np.where(given < 0, self._offsets[self._positives], given)]

    def _leave_out(self, point: Floats) -> bool:
        """Choose what is left out; whether that has lowered the risk, and so been done."""
        if not (self._outliers or self._trim):
            return False
        before, kept = self._value(point), (self._left_out, self._samples)
        if self._outliers:
            self._left_out = self._most_confusing(point)
        if self._trim:
            order = self._all.order
            scores, _ = self._best(*_segments(self._offsets, self._given, order), point)
            self._samples = self._make(trim(self._all, scores, self._trim))
        self._place()
        if self._value(point) < before * (1.0 - BETTER):
            return True
        self._left_out, self._samples = kept
        self._place()
        return False

    def _value(self, point: Floats) -> float:
        scores, _ = self._best(self._begin, self._end, point)
        offset, alpha = self._samples.evaluate(scores)
        return offset + float(alpha @ scores)

    def _most_confusing(self, point: Floats) -> Marks:
        """Marks of the free instances of negatives with the highest scores; a bag keeps its lowest at least."""
        negatives = self._all.order[~self._all.relevant]
        bags = negatives[self._given[negatives] < 0]
        begin, end = self._offsets[bags], self._offsets[bags + 1]
        marks = np.zeros(len(point), dtype=np.uint8)
        if not len(bags):
            return marks
        rows = spread(begin, end - begin)
        number = int(self._outliers * len(rows))
        if number == 0:
            return marks
        marks[rows[np.argpartition(-point[rows], number - 1)[:number]]] = 1
        _, lowest = best_instances(begin, end, -point, n_threads=self._threads)
        marks[lowest] = 0
        return marks


class _BagLine:
    """The risk along a line, from the instances that can be best on the part of it that was looked at."""

    limit = float("inf")

    def __init__(self, risk: BagRisk, start: Floats, direction: Floats) -> None:
        self._risk, self._start, self._direction = risk, start, direction
        self._line = self._up_to(1.0)
        self._scores, self._slopes = np.empty(self._line.size), np.empty(self._line.size)

    def __call__(self, t: float) -> tuple[float, float]:
        if t > self._line.reach:
            self._line = self._up_to(4.0 * t)
        self._line.at(t, self._scores, self._slopes, self._risk._threads)
        offset, alpha = self._risk._samples.evaluate(self._scores)
        value = offset + float(alpha @ self._scores)
        return max(0.0, value), float(alpha @ self._slopes)  # rounding aside, R ≥ 0

    def _up_to(self, reach: float) -> _core.BagLine:
        r = self._risk
        return _core.BagLine(r._begin, r._end, r._left_out, self._start, self._direction, reach, r._threads)


def _segments(offsets: Index, given: Index, bags: Any = slice(None)) -> tuple[Index, Index]:
    """The instances of these bags that count: the given one, or all."""
    one = given[bags]
    begin = np.where(one < 0, offsets[:-1][bags], one)
    return begin, np.where(one < 0, offsets[1:][bags], begin + 1)
