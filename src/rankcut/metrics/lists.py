"""Ranked lists, cut into blocks of tied rows: every measure is a formula over these blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankcut.data.ids import query_codes
from rankcut.errors import InputError
from rankcut.metrics.arguments import FloatArray, IntArray, numbers, relevant, same_length


@dataclass(frozen=True, slots=True)
class Blocks:
    """The lists one after the other, each best block first. An entry per block, ``length`` and ``total`` per list."""

    where: IntArray  # the block's list
    size: IntArray  # its rows
    above: IntArray  # rows of its list above it
    gain: FloatArray  # sum of its rows' gains; of binary ones: its relevant rows
    gain_above: FloatArray
    length: IntArray  # rows of the list
    total: FloatArray  # sum of its gains

    def per_list(self, terms: FloatArray) -> FloatArray:
        """Sums over the blocks of each list."""
        sums: FloatArray = np.add.reduceat(terms, np.flatnonzero(self.above == 0))
        return sums

    def mean(self, terms: FloatArray) -> float:
        """Sum over the blocks of a list, mean over the lists."""
        return float(self.per_list(terms).mean())


def blocks_of(gains: FloatArray, scores: FloatArray, codes: IntArray) -> Blocks:
    """Sort rows by list and falling score; ``codes`` number the lists 0, 1, … without gaps."""
    order = np.lexsort((-scores, codes))
    codes, scores, gains = codes[order], scores[order], gains[order]
    starts = (codes[1:] != codes[:-1]) | (scores[1:] != scores[:-1])
    first = np.flatnonzero(np.append(True, starts))
    where = codes[first]
    gain = np.add.reduceat(gains, first)
    length = np.bincount(codes)
    begin = np.cumsum(length) - length
    total = np.add.reduceat(gains, begin)
    return Blocks(
        where=where,
        size=np.diff(np.append(first, len(order))),
        above=first - begin[where],
        gain=gain,
        gain_above=np.cumsum(gain) - gain - (np.cumsum(total) - total)[where],
        length=length,
        total=total,
    )


def check(
    gains: FloatArray, scores: ArrayLike, qid: Iterable[Any] | None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Gains, scores and list numbers of the rows that count: those of lists with different gains."""
    z = numbers("scores", scores)
    same_length("scores", z, "y", len(gains))
    if qid is None:
        return gains, z, np.zeros(len(z), dtype=np.intp)
    codes = query_codes(qid, len(gains))
    lowest, highest = np.full(codes.max() + 1, np.inf), np.full(codes.max() + 1, -np.inf)
    np.minimum.at(lowest, codes, gains)
    np.maximum.at(highest, codes, gains)
    kept = (lowest < highest)[codes]
    if not kept.any():
        raise InputError("qid: every query has rows of one label only; pass queries with something to rank")
    return gains[kept], z[kept], np.unique(codes[kept], return_inverse=True)[1]


def binary_blocks(y: ArrayLike, scores: ArrayLike, qid: Iterable[Any] | None) -> Blocks:
    """For measures of two labels: gain 1 for the relevant rows, 0 for the others."""
    return blocks_of(*check(relevant(y).astype(np.float64), scores, qid))


def positive_count(k: object) -> int:
    """The k of "in the first k"."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k: came as {k!r}; pass a whole number, 1 or more")
    return int(k)
