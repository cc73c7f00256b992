"""NDCG with binary gains: φ_k(a) = (D(k) − D(k+a)) / Σ_{k≤P} D(k), D(r) = 1/log2(1 + r)."""

from __future__ import annotations

from rankcut import _core
from rankcut.data.lists import Lists
from rankcut.losses.base import Loss


class Ndcg(Loss):
    name = "ndcg"

    def bind(self, lists: Lists) -> _core.Risk:
        return _core.ndcg_risk(lists.offsets, lists.positives)
