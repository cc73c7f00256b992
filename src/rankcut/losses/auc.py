"""Area under the ROC curve: the mean over pairs of max(0, 1 − 2(z_i − z_j)), φ_k(a) = a / (PN)."""

from __future__ import annotations

from rankcut import _core
from rankcut.data.lists import Lists
from rankcut.losses.base import Loss


class Auc(Loss):
    name = "auc"

    def bind(self, lists: Lists) -> _core.Risk:
        return _core.auc_risk(lists.offsets, lists.positives)
