"""Precision among the first k: Δ = 1 − (relevant among them) / min(k, P)."""

from __future__ import annotations

from rankcut import _core
from rankcut.data.lists import Lists
from rankcut.errors import InputError
from rankcut.losses.base import Loss


class PrecisionAtK(Loss):
    name = "precision@k"

    def __init__(self, k: int) -> None:
        if not 1 <= k < 2**31:
            raise InputError(
                f"k: came as {k}; precision@k needs a k from 1 to 2^31 − 1, as in 'precision@10'"
            )
        self.k = k

    def bind(self, lists: Lists) -> _core.Risk:
        return _core.precision_risk(self.k, lists.offsets, lists.positives)
