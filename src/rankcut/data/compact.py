"""Compact order: list after list, so that the native losses read each list as one stretch of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut import _core


class Compact:
    """Rows in compact order: those of list l are order[offsets[l]:offsets[l+1]]. Lists with nothing to rank are left
    out and counted."""

    n_rows: int
    order: NDArray[Any]  # int32, or int64 beyond 2^31 rows
    offsets: NDArray[np.int64]
    n_skipped: int

    @property
    def size(self) -> int:
        return len(self.order)

    @property
    def n_lists(self) -> int:
        return len(self.offsets) - 1

    @property
    def better(self) -> NDArray[np.float64]:
        """In compact order: of the pairs a sample is in, the share in which it is the better one."""
        raise AttributeError(f"{type(self).__name__} must say in which pairs its samples are the better ones")

    def gather(self, values: NDArray[np.float64], n_threads: int = 1) -> NDArray[np.float64]:
        compact = np.empty(self.size)
        _core.gather(values, self.order, compact, n_threads)
        return compact

    def scatter(self, compact: NDArray[np.float64], n_threads: int = 1) -> NDArray[np.float64]:
        values = np.empty(self.n_rows) if self.size == self.n_rows else np.zeros(self.n_rows)
        _core.scatter(compact, self.order, values, n_threads)
        return values


def index_type(n: int) -> type[np.integer[Any]]:
    return np.int32 if n < 2**31 else np.int64
