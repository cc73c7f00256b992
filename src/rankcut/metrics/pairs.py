"""The area under the ROC curve."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from rankcut.metrics.lists import binary_blocks


def auc(y: ArrayLike, scores: ArrayLike, qid: Iterable[Any] | None = None) -> float:
    """The share of pairs (relevant, other) in the right order; a tied pair counts half."""
    blocks = binary_blocks(y, scores, qid)
    others = blocks.length - blocks.total
    share = (blocks.size - blocks.gain) / others[blocks.where]
    return blocks.mean(share * (blocks.gain_above + blocks.gain / 2) / blocks.total[blocks.where])
