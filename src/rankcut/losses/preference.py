"""Preferences between rows of different y: the mean over the pairs y_i > y_j of a graph of

(y_i − y_j) max(0, 1 − (z_i − z_j))     rescaling="slack"
max(0, (y_i − y_j) − (z_i − z_j))       rescaling="margin"
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut import _core
from rankcut.arguments import whole
from rankcut.data.grades import GRAPHS, Grades, check_grades
from rankcut.data.lists import Lists
from rankcut.data.scores import check_scores
from rankcut.errors import InputError
from rankcut.losses.base import Loss, MostViolated

RESCALINGS = ("slack", "margin")
REDUCTIONS = ("mean", "sum")


class Preference(Loss):
    name = "preference"

    def __init__(
        self,
        graph: str = "complete",
        rescaling: str = "slack",
        threshold: float | None = None,
        top: int | None = None,
        reduce: str = "mean",
    ) -> None:
        """The graph: `Grades.build`. reduce: the mean or the sum over lists (of each list's mean over its pairs)."""
        for name, value, allowed in (
            ("graph", graph, GRAPHS),
            ("rescaling", rescaling, RESCALINGS),
            ("reduce", reduce, REDUCTIONS),
        ):
            if value not in allowed:
                raise InputError(f"{name}: came as {value!r}; pass one of {', '.join(allowed)}")
        _check_parting(graph, threshold, top)
        self.graph, self.rescaling, self.reduce = graph, rescaling, reduce
        self.threshold, self.top = threshold, top

    def grades(
        self, y: Any, n_rows: int, qid: ArrayLike | None = None, best: ArrayLike | None = None
    ) -> Grades:
        """The lists and their preferences; best: for graph="star", the row to prefer in each list."""
        if best is not None and self.graph != "star":
            raise InputError(f"best: came with graph={self.graph!r}; it names the centres of graph='star'")
        return Grades.build(
            check_grades(y, n_rows),
            qid,
            graph=self.graph,
            threshold=self.threshold,
            top=self.top,
            best=best,
        )

    def bind(self, lists: Lists | Grades) -> _core.Risk:
        if isinstance(lists, Lists):
            if self.graph == "star" and np.any(lists.positives != 1):
                raise InputError(
                    "graph: came as 'star' for lists of several relevant rows; it needs one best row"
                )
            lists = Grades.of(lists)
        share = 1.0 if self.reduce == "sum" else 1.0 / lists.n_lists
        return _core.preference_risk(self.rescaling, lists.offsets, lists.y, lists.above, share)

    def most_violated(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        best: ArrayLike | None = None,
    ) -> MostViolated:
        """The most violated constraint: delta = Σ (y_i − y_j) over the violated preferences, alpha their weights."""
        z = check_scores(scores)
        lists = self.grades(y, len(z), qid, best)
        compact = np.empty(lists.size)
        delta = self.bind(lists).evaluate(lists.gather(z), compact)
        alpha = lists.scatter(compact)
        return MostViolated(float(delta + alpha @ z), float(delta), alpha)

    def ordered(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        best: ArrayLike | None = None,
    ) -> float:
        """The share of the preferences, each weighing y_i − y_j, that the scores put in order; tied ones count half.

        One minus the empirical ranking risk of the literature. It is the slack's δ at scores so far apart that no
        preference is near its kink, once with tied pairs the wrong way round and once with them in order.
        """
        z = check_scores(scores)
        lists = self.grades(y, len(z), qid, best)
        risk = Preference(self.graph, reduce="mean").bind(lists)
        alpha = np.empty(lists.size)

        def swapped(places: NDArray[np.int64]) -> float:
            return risk.evaluate(2.0 * places.astype(np.float64), alpha)

        compact = lists.gather(z)
        tied = np.unique(compact, return_inverse=True)[1]
        parted = np.empty(lists.size, dtype=np.int64)
        parted[np.lexsort((-np.arange(lists.size), compact))] = np.arange(lists.size)
        missed = 0.5 * (swapped(tied) + swapped(parted))
        return 1.0 - missed / risk.evaluate(np.zeros(lists.size), alpha)


def _check_parting(graph: str, threshold: Any, top: Any) -> None:
    for name, value in (("threshold", threshold), ("top", top)):
        if value is not None and graph != "bipartite":
            raise InputError(f"{name}: came with graph={graph!r}; it parts the rows of graph='bipartite'")
    if threshold is not None and top is not None:
        raise InputError(f"top: came as {top!r} beside threshold={threshold!r}; pass one of them")
    if top is not None:
        whole("top", top)
    if threshold is not None:
        real = isinstance(threshold, int | float | np.integer | np.floating) and not isinstance(
            threshold, bool
        )
        if not real or not np.isfinite(threshold):
            raise InputError(f"threshold: came as {threshold!r}; pass a finite number")
