"""First and second moments of a few weighted rows, for the solver's metric."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCK = 2**19  # numbers in a block of rows


def moments(
    rows: Callable[[NDArray[np.integer[Any]]], Floats],
    index: NDArray[np.integer[Any]],
    weights: Floats,
    vectors: Floats,
    width: int,
    n_threads: int,
) -> tuple[Floats, Floats]:
    """Σ_i weights_i x_i x_iᵀ and Σ_i vectors_ki x_i over the rows in `index`, in fixed blocks added in order."""

    def block(part: slice) -> tuple[Floats, Floats]:
        x = rows(index[part])
        first = vectors[:, part] @ x
        x *= np.sqrt(weights[part])[:, None]
        return x.T @ x, first

    second, first = np.zeros((width, width)), np.zeros((len(vectors), width))
    height = max(1, BLOCK // width)
    parts = [slice(i, i + height) for i in range(0, len(index), height)]
    with ThreadPoolExecutor(max_workers=n_threads) as pool:
        run = map if n_threads == 1 or len(parts) < 2 else pool.map
        for i in range(0, len(parts), n_threads):  # bounds the blocks held at a time
            for more in run(block, parts[i : i + n_threads]):
                second += more[0]
                first += more[1]
    return second, first
