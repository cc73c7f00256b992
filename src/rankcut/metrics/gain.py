"""Normalised discounted cumulative gain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rankcut.errors import InputError
from rankcut.metrics.arguments import FloatArray, numbers, relevant
from rankcut.metrics.lists import Blocks, blocks_of, check, positive_count

Gain = Literal["binary", "linear", "exponential"]

LARGEST_GRADE = 1000  # 2^1024 is infinite


def ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    qid: Iterable[Any] | None = None,
    k: int | None = None,
    *,
    gain: Gain = "binary",
) -> float:
    """``DCG / best DCG`` with ``DCG = Σ_{rank ≤ k} gain / log2(1 + rank)``; k = None: the whole list.

    - "binary": 1 for the larger of two labels, 0 for the other; the loss "ndcg" bounds one minus this.
    - "linear": y is the gain, as in scikit-learn.
    - "exponential": ``2^y − 1``, usual for graded judgements.

    Tied rows share the gains of their block equally, as in scikit-learn.
    """
    k = None if k is None else positive_count(k)
    gains, z, codes = check(_gains(y, gain), scores, qid)
    best = _dcg(blocks_of(gains, gains, codes), k)
    return float(np.mean(_dcg(blocks_of(gains, z, codes), k) / best))


def _gains(y: ArrayLike, gain: Gain) -> FloatArray:
    if gain not in get_args(Gain):
        raise InputError(f"gain: came as {gain!r}; pass one of {get_args(Gain)}")
    if gain == "binary":
        return relevant(y).astype(np.float64)
    grades = numbers("y", y, finite=True)
    low, high = grades.min(), grades.max()
    if low == high:
        raise InputError(
            f"y: holds only the grade {low:g}; pass rows of different grades, or nothing is ranked"
        )
    if low < 0:
        raise InputError(f"y: holds the grade {low:g}, and gains are not negative; pass grades from 0")
    if gain == "linear":
        return grades
    if high > LARGEST_GRADE:
        raise InputError(
            f"y: holds the grade {high:g}, too much for 2^y − 1; pass gain='linear' or smaller grades"
        )
    gains: FloatArray = np.exp2(grades) - 1.0
    return gains


def _dcg(blocks: Blocks, k: int | None) -> FloatArray:
    """Per list; each tied block takes the mean of its gains times the discounts of its places."""
    longest = int(blocks.length.max())
    upto = np.append(0.0, np.cumsum(1.0 / np.log2(np.arange(2.0, longest + 2.0))))
    last = longest if k is None else min(k, longest)
    discount = upto[np.minimum(blocks.above + blocks.size, last)] - upto[np.minimum(blocks.above, last)]
    return blocks.per_list(blocks.gain / blocks.size * discount)
