"""Mean reciprocal rank."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankcut.metrics.lists import binary_blocks


def mrr(y: ArrayLike, scores: ArrayLike, qid: Iterable[Any] | None = None) -> float:
    """One over the rank of the first relevant row, in the mean over queries.

    A first relevant row tied with others counts with the expectation over a random order of the tied rows.
    """
    blocks = binary_blocks(y, scores, qid)
    first = np.flatnonzero((blocks.gain > 0) & (blocks.gain_above == 0))
    above, size, hits = blocks.above[first], blocks.size[first], blocks.gain[first]
    reciprocal = 1.0 / (above + 1.0)
    for i in np.flatnonzero(hits < size):
        reciprocal[i] = _expectation(int(above[i]), int(size[i]), int(hits[i]))
    return float(reciprocal.mean())


def _expectation(above: int, size: int, hits: int) -> float:
    """The block's i-th row (from 0) is its first relevant one with probability ``none before · hits / (size − i)``."""
    i = np.arange(size - hits + 1)
    miss = 1.0 - hits / (size - i)
    none_before = np.cumprod(np.append(1.0, miss[:-1]))
    return float(np.sum(none_before * (1.0 - miss) / (above + i + 1)))
