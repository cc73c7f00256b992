"""Average precision in all its flavours, precision at k, and the curve behind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from rankcut.errors import InputError
from rankcut.metrics.arguments import FloatArray
from rankcut.metrics.lists import binary_blocks, positive_count

Interpolation = Literal["exact", "voc2007", "voc2010"]


class PrecisionRecallCurve(NamedTuple):
    """One point for each distinct score, from the highest threshold (lowest recall) on."""

    recall: FloatArray
    precision: FloatArray
    threshold: FloatArray


def average_precision(
    y: ArrayLike, scores: ArrayLike, qid: Iterable[Any] | None = None, interpolation: Interpolation = "exact"
) -> float:
    """Precision averaged over recall, ``Σ_n (R_n − R_{n−1}) p_n`` over the distinct scores as thresholds.

    - "exact": p_n is the precision at the threshold, as in scikit-learn. Without ties this is the mean over the
      relevant rows of the precision at their rank, which the loss "ap" bounds.
    - "voc2010": p_n is the best precision at this recall or a higher one (the envelope of the curve).
    - "voc2007": the mean of that envelope at recall 0, 0.1, …, 1.
    """
    if interpolation not in get_args(Interpolation):
        raise InputError(f"interpolation: came as {interpolation!r}; pass one of {get_args(Interpolation)}")
    blocks = binary_blocks(y, scores, qid)
    hits, rows = blocks.gain_above + blocks.gain, blocks.above + blocks.size
    if interpolation == "exact":
        return blocks.mean(blocks.gain / blocks.total[blocks.where] * (hits / rows))
    ends = np.flatnonzero(np.diff(blocks.where)) + 1
    lists = zip(np.split(hits, ends), np.split(hits / rows, ends), strict=True)
    area = _eleven_points if interpolation == "voc2007" else _area
    return float(np.mean([area(hits, _envelope(precision)) for hits, precision in lists]))


def precision_at_k(
    y: ArrayLike, scores: ArrayLike, k: int, qid: Iterable[Any] | None = None, *, attainable: bool = False
) -> float:
    """The share of relevant rows among the first k; a list of fewer than k rows counts whole.

    ``attainable`` divides by ``min(k, P)`` instead, so that the best ranking reaches 1: that is what the loss
    "precision@k" bounds. Of tied rows across the k-th place, each is among the first k with the same probability.
    """
    k = positive_count(k)
    blocks = binary_blocks(y, scores, qid)
    within = np.clip(k - blocks.above, 0, blocks.size)
    places = np.minimum(k, blocks.total if attainable else blocks.length)
    return blocks.mean(blocks.gain * (within / blocks.size) / places[blocks.where])


def precision_recall_curve(y: ArrayLike, scores: ArrayLike) -> PrecisionRecallCurve:
    """The points that average precision sums up; for plots."""
    blocks = binary_blocks(y, scores, None)
    hits = blocks.gain_above + blocks.gain
    threshold = np.unique(np.asarray(scores, dtype=np.float64))[::-1]
    return PrecisionRecallCurve(hits / blocks.total[0], hits / (blocks.above + blocks.size), threshold)


def _envelope(precision: FloatArray) -> FloatArray:
    """The best precision here or further down."""
    best: FloatArray = np.maximum.accumulate(precision[::-1])[::-1]
    return best


def _area(hits: FloatArray, envelope: FloatArray) -> float:
    return float(np.diff(hits, prepend=0.0) @ envelope / hits[-1])


def _eleven_points(hits: FloatArray, envelope: FloatArray) -> float:
    # Ten times the recall against whole numbers, since 0.1, 0.2, … are no floats.
    reached = np.searchsorted(10.0 * hits, np.arange(11) * hits[-1])
    return float(envelope[reached].mean())
