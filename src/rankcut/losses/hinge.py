"""The binary hinge: (J Σ_pos max(0, 1−z) + Σ_neg max(0, 1+z)) / (JP + N), J = `positive_weight`."""

from __future__ import annotations

import math

from rankcut import _core
from rankcut.data.lists import Lists
from rankcut.errors import InputError
from rankcut.losses.base import Loss


class Hinge(Loss):
    name = "hinge"

    def __init__(self, positive_weight: float = 1.0, *, shifted: bool = False) -> None:
        """`shifted`: with the best unregularised intercept, min over b of the hinge at z + b."""
        if not (math.isfinite(positive_weight) and positive_weight > 0):
            raise InputError(f"positive_weight: came as {positive_weight!r}; pass a positive finite number")
        self.positive_weight = float(positive_weight)
        self.shifted = shifted
        self.sees = "shifted scores" if shifted else "scores"

    def bind(self, lists: Lists) -> _core.Risk:
        make = _core.shifted_hinge_risk if self.shifted else _core.hinge_risk
        return make(self.positive_weight, lists.offsets, lists.positives)
