"""Lists: the rows that are ranked against each other, in the compact order that the native losses read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut import _core
from rankcut.data.compact import Compact, index_type
from rankcut.data.ids import query_codes
from rankcut.errors import InputError


@dataclass(frozen=True)
class Lists(Compact):
    """List after list, in each the relevant rows before the others: list l is order[offsets[l]:offsets[l+1]],
    its first positives[l] rows are relevant. Lists without both kinds are left out and counted."""

    n_rows: int
    order: NDArray[Any]  # int32, or int64 beyond 2^31 rows
    offsets: NDArray[np.int64]
    positives: NDArray[np.int64]
    n_skipped: int

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """In compact order, which samples are relevant."""
        middle = self.offsets[:-1] + self.positives
        return np.arange(self.size) < np.repeat(middle, np.diff(self.offsets))

    @property
    def better(self) -> NDArray[np.float64]:
        return self.relevant.astype(np.float64)

    @classmethod
    def build(
        cls,
        relevant: NDArray[np.bool_],
        qid: ArrayLike | None = None,
        include: NDArray[np.bool_] | None = None,
    ) -> Lists:
        """One list, or one per query; of the rows marked by `include` only, if given."""
        if qid is None:
            return cls._single(relevant, include)
        codes = query_codes(qid, len(relevant))
        rows = np.arange(len(relevant)) if include is None else np.flatnonzero(include)
        rows = rows[np.lexsort((~relevant[rows], codes[rows]))]
        starts = np.flatnonzero(np.diff(codes[rows], prepend=-1))
        lengths = np.diff(starts, append=len(rows))
        positives = np.add.reduceat(relevant[rows].astype(np.int64), starts) if len(starts) else starts
        usable = (positives > 0) & (positives < lengths)
        if not usable.any():
            raise InputError(
                "qid: no list has both a relevant and another row; nothing can be learned from it"
            )
        order = rows[np.repeat(usable, lengths)]
        offsets = np.concatenate(([0], np.cumsum(lengths[usable])))
        return cls(
            len(relevant), _narrow(order, len(relevant)), offsets, positives[usable], int(np.sum(~usable))
        )

    @classmethod
    def _single(cls, relevant: NDArray[np.bool_], include: NDArray[np.bool_] | None) -> Lists:
        n = len(relevant)
        if include is None:
            order = np.empty(n, dtype=index_type(n))
            positives = _core.partition(relevant, order)
        else:
            first, second = np.flatnonzero(relevant & include), np.flatnonzero(~relevant & include)
            order = _narrow(np.concatenate((first, second)), n)
            positives = len(first)
        if not 0 < positives < len(order):
            raise InputError("y: a list needs at least one relevant row and one other")
        return cls(n, order, np.array([0, len(order)]), np.array([positives]), 0)


def _narrow(order: NDArray[np.integer[Any]], n: int) -> NDArray[np.integer[Any]]:
    return order.astype(index_type(n))
