"""The published heat map of training: how the interleaving ranks of the negatives settle, cut by cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankcut.designs import Design
from rankcut.losses.ap import AveragePrecision
from rankcut.solvers import Event

Floats = NDArray[np.float64]
CUTS, NEGATIVES = 60, 240  # at most, in the picture


class Ranks(NamedTuple):
    """After which cuts; for some negatives (columns), the positives above each; and how many positives there are."""

    cuts: list[int]
    ranks: NDArray[np.int64]
    positives: int


class Trace:
    """A callback for `callbacks` of an estimator that keeps w after each cut of the first problem. It thins itself
    out, so that it never holds more than 2 × CUTS of them."""

    def __init__(self) -> None:
        self._every = 1
        self._kept: list[tuple[int, Floats]] = []

    def __call__(self, event: Event) -> None:
        if event.problem or event.n_iter % self._every:
            return
        self._kept.append((event.n_iter, event.w.copy()))
        if len(self._kept) >= 2 * CUTS:
            self._every *= 2
            self._kept = [each for each in self._kept if each[0] % self._every == 0]

    def ranks(self, design: Design, relevant: NDArray[np.bool_]) -> Ranks | None:
        """The interleaving ranks of the rows that were trained on; None if nothing was kept. It takes one pass."""
        if not self._kept or relevant.all() or not relevant.any():
            return None
        chosen = [
            self._kept[i] for i in sorted({round(i) for i in np.linspace(0, len(self._kept) - 1, CUTS)})
        ]
        scores = design.scores(np.stack([w for _, w in chosen]))
        loss = AveragePrecision()
        last = scores[-1][~relevant]
        order = np.argsort(-last, kind="stable")
        some = order[np.unique(np.rint(np.linspace(0, len(order) - 1, NEGATIVES)).astype(np.intp))]
        ranks = np.stack([loss.interleaving(each, relevant)[some] for each in scores])
        return Ranks([cut for cut, _ in chosen], ranks, int(relevant.sum()))
