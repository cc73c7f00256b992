"""The linear model: the score is the raw number. A loss over lists becomes a risk of raw numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut import _core
from rankcut.data.compact import Compact
from rankcut.data.lists import Lists
from rankcut.models.easy import EasySamples

Floats = NDArray[np.float64]


class LinearRisk:
    """A loss of linear scores, as the solver sees it (rankcut.solvers.RawRisk).

    Prepared raw numbers are the scores in the lists' compact order, then those of the easy samples if hard
    constraints keep some apart (`approx`), then those of rows that are only watched (`held_out`, to score a fold
    without a pass of its own).
    """

    def __init__(
        self,
        lists: Compact,
        risk: _core.Risk | None,
        sees: str,
        *,
        n_threads: int = 1,
        easy: EasySamples | None = None,
        held_out: NDArray[np.intp] | None = None,
        enough: int = 10_000,
    ) -> None:
        self._lists, self._sees, self._enough = lists, sees, enough
        self._risk: _core.Risk | NoRisk = NoRisk() if risk is None else risk
        self._threads = n_threads
        self._easy = easy
        extra = [part for part in (easy.rows if easy else None, held_out) if part is not None]
        self._order: NDArray[Any] = np.concatenate((lists.order, *extra)) if extra else lists.order
        self._size = lists.size
        self._trained = lists.size + (len(easy.rows) if easy else 0)
        self._start_known = False  # whether the next line starts where the risk was last evaluated

    def prepare(self, raw: Floats) -> Floats:
        prepared = np.empty(len(self._order))
        _core.gather(raw, self._order, prepared, self._threads)
        return prepared

    def all_scores(self, prepared: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The scores of the lists' samples, and which of them are relevant."""
        assert isinstance(self._lists, Lists)  # grades have no such samples
        return prepared[: self._size], self._lists.relevant

    def allowed(self, prepared: Floats) -> tuple[float, float]:
        """The intercepts that hard constraints allow."""
        if self._easy is None:
            return -np.inf, np.inf
        return self._easy.interval(prepared[self._size : self._trained])

    def held_out(self, prepared: Floats) -> Floats:
        """The scores of the rows that are only watched."""
        return prepared[self._trained :]

    def line(self, start: Floats, direction: Floats) -> _ScoreLine:
        limit = float("inf")
        if self._easy is not None:
            limit = self._easy.reach(start[self._size : self._trained], direction[self._size : self._trained])
        known, self._start_known = self._start_known, False
        return _ScoreLine(
            self._risk, start[: self._size], direction[: self._size], limit, self._threads, known
        )

    def leave(self, line: _ScoreLine, best: float, cut: float) -> tuple[float, Floats] | None:
        self._start_known = line.last == best
        if line.last != cut:
            return None
        alpha = np.empty(self._size)
        return self._risk.last(alpha), self._lists.scatter(alpha, self._threads)

    @property
    def lists(self) -> Compact:
        return self._lists

    def evaluate(self, scores: Floats) -> tuple[float, Floats]:
        """Of the lists' scores in compact order: (Δ, α) with R = Δ + α · scores."""
        alpha = np.empty(self._size)
        return self._risk.evaluate(scores, alpha, self._threads), alpha

    def cut(self, point: Floats) -> tuple[float, Floats]:
        offset, alpha = self.evaluate(point[: self._size])
        return offset, self._lists.scatter(alpha, self._threads)

    def hard_cuts(self, point: Floats) -> list[Any]:
        return [] if self._easy is None else self._easy.violated(point[self._size : self._trained])

    def intercept(self, point: Floats) -> float:
        """The best intercept at these scores, if the loss chooses one."""
        self._risk.evaluate(point[: self._size], np.empty(self._size), self._threads)
        return self._risk.shift

    def curvature(
        self, point: Floats, weights: Floats
    ) -> tuple[NDArray[np.integer[Any]], Floats, Floats, Floats]:
        """(rows, weights, vectors, signs) of diag(weights) + Σ signs_k v_k v_kᵀ over the rows that bend the risk.

        A loss of differences does not see a common shift, so the diagonal overstates its Hessian: what is
        left is the scatter of each class around its mean, and of the two means (exact if every positive were
        compared with the mean negative). With grades a sample belongs to both, by the share of its pairs in which
        it is the better one. With several lists the means differ by list; the diagonal has to do.
        Of very many samples, a part of each class stands for all: it is an estimate anyway.
        """
        diagonal = np.empty(self._size)
        self._risk.curvature(
            point[: self._size], self._lists.gather(weights, self._threads), diagonal, self._threads
        )
        better = self._lists.better
        thin(diagonal, better > 0.5, self._enough)
        bent = np.flatnonzero(diagonal)
        diagonal, better = diagonal[bent], better[bent]
        vectors, signs = np.empty((0, len(bent))), np.empty(0)
        if self._sees == "shifted scores" and len(bent):
            vectors, signs = diagonal[None] / np.sqrt(diagonal.sum()), np.array([-1.0])
        elif self._sees == "differences" and self._lists.n_lists == 1:
            classes = diagonal * np.stack((better, 1.0 - better))
            mass = classes.sum(axis=1)
            if mass.min() > 0:
                between = np.sqrt(0.5 * mass.sum()) * (classes[0] / mass[0] - classes[1] / mass[1])
                vectors = np.vstack((classes / np.sqrt(mass)[:, None], between))
                signs = np.array([-1.0, -1.0, 1.0])
        return self._lists.order[bent], diagonal, vectors, signs


def thin(weights: Floats, relevant: NDArray[np.bool_], enough: int) -> None:
    """Keep every s-th of a class's nonzero weights, s times as heavy, so that about `enough` are left."""
    for members in (np.flatnonzero(relevant & (weights > 0)), np.flatnonzero(~relevant & (weights > 0))):
        step = len(members) // enough
        if step > 1:
            kept = members[::step]
            values = weights[kept] * (weights[members].sum() / weights[kept].sum())
            weights[members] = 0.0
            weights[kept] = values


class _ScoreLine:
    def __init__(
        self,
        risk: _core.Risk | NoRisk,
        start: Floats,
        direction: Floats,
        limit: float,
        n_threads: int,
        start_known: bool,
    ) -> None:
        self.limit = limit
        self.last = 0.0 if start_known else float("nan")  # the point that the risk keeps the weights of
        self._risk, self._start, self._direction, self._threads = risk, start, direction, n_threads

    def __call__(self, t: float) -> tuple[float, float]:
        if t == self.last == 0.0:
            value, slope = self._risk.turn(self._direction, self._threads)
            return max(0.0, value), slope
        self.last = float("nan")  # an interrupt may come in between
        value, slope = self._risk.line(self._start, self._direction, t, self._threads)
        self.last = t
        return max(0.0, value), slope  # rounding aside, R ≥ 0: with a large C it would outweigh all else


class NoRisk:
    """R = 0: what is left when no list has both kinds of samples."""

    shift = 0.0

    def evaluate(self, z: Floats, alpha: Floats, n_threads: int = 1) -> float:
        return 0.0

    def line(self, z: Floats, direction: Floats, t: float, n_threads: int = 1) -> tuple[float, float]:
        return 0.0, 0.0

    def turn(self, direction: Floats, n_threads: int = 1) -> tuple[float, float]:
        return 0.0, 0.0

    def last(self, alpha: Floats) -> float:
        alpha[:] = 0.0
        return 0.0

    def curvature(self, z: Floats, alpha: Floats, weight: Floats, n_threads: int = 1) -> None:
        weight[:] = 0.0
