"""Reciprocal rank of the first relevant sample: φ_1(a) = 1 − 1/(1 + a), φ_k = 0 for the others."""

from __future__ import annotations

from rankcut import _core
from rankcut.data.lists import Lists
from rankcut.losses.base import Loss


class ReciprocalRank(Loss):
    name = "mrr"

    def bind(self, lists: Lists) -> _core.Risk:
        return _core.mrr_risk(lists.offsets, lists.positives)
