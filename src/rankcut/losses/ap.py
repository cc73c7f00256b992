"""Average precision: φ_k(a) = a / (P (k + a)), and the published algorithms beside the staircase."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut import _core
from rankcut.data.labels import relevance
from rankcut.data.lists import Lists
from rankcut.data.scores import check_scores
from rankcut.errors import InputError
from rankcut.losses.base import Loss

ORACLES = ("staircase", "greedy", "search", "select")


class AveragePrecision(Loss):
    name = "ap"

    def __init__(self, oracle: str = "staircase") -> None:
        if oracle not in ORACLES:
            raise InputError(f"oracle: came as {oracle!r}; pass one of {', '.join(ORACLES)}")
        self.oracle = oracle

    def bind(self, lists: Lists) -> _core.Risk:
        if self.oracle == "staircase":
            return _core.ap_risk(lists.offsets, lists.positives)
        return _core.published_ap_risk(self.oracle, lists.offsets, lists.positives)

    def interleaving(self, scores: ArrayLike, y: ArrayLike) -> NDArray[np.int64]:
        """For each negative, in the order of the rows, how many positives the most violated ranking places
        above it: P for those below all positives. One row of the published heat map of training."""
        z = check_scores(scores)
        positive = relevance(y, len(z))
        ranks = np.empty(int(np.count_nonzero(~positive)), dtype=np.int64)
        _core.ap_interleaving(z[positive], z[~positive], ranks)
        return ranks
