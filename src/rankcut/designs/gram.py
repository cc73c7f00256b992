"""Weighted second moments Xᵀ diag(weights) X, for the solver's metric."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCK = 2**19  # numbers in a block of rows


def gram(
    rows: Callable[[NDArray[np.intp]], Floats],
    active: NDArray[np.intp],
    weights: Floats,
    width: int,
    n_threads: int,
) -> Floats:
    """Σ_i weights_i x_i x_iᵀ over the active rows, weights ≥ 0, in fixed blocks that are added in order."""

    def block(index: NDArray[np.intp]) -> Floats:
        scaled = rows(index)
        scaled *= np.sqrt(weights[index])[:, None]
        return scaled.T @ scaled

    total = np.zeros((width, width))
    height = max(1, BLOCK // width)
    blocks = [active[i : i + height] for i in range(0, len(active), height)]
    if n_threads == 1 or len(blocks) < 2:
        for index in blocks:
            total += block(index)
        return total
    with ThreadPoolExecutor(max_workers=n_threads) as pool:
        for i in range(0, len(blocks), n_threads):  # bounds the blocks held at a time
            for part in pool.map(block, blocks[i : i + n_threads]):
                total += part
    return total
