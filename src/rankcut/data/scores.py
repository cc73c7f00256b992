"""Scores of samples, as the losses take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut.errors import InputError


def check_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """A contiguous float64 vector, finite, and so far from overflow that sums over all pairs are finite."""
    try:
        if np.iscomplexobj(scores):
            raise TypeError("complex numbers have no order")
        z = np.ascontiguousarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"scores: came as something that is not numbers ({error}); pass one score per row"
        ) from error
    if z.ndim != 1 or z.size == 0:
        raise InputError(f"scores: came with shape {z.shape}; pass a non-empty one-dimensional array")
    largest = max(float(z.max()), -float(z.min()))  # NaN comes through both
    if not np.isfinite(largest):
        bad = int(np.flatnonzero(~np.isfinite(z))[0])
        raise InputError(f"scores: came with {z[bad]} in row {bad}; every score must be finite")
    limit = float(np.finfo(np.float64).max) / (8.0 * z.size)
    if largest > limit:
        raise InputError(
            f"scores: came as large as {largest:.3g}, so that sums over {z.size} rows may overflow; "
            f"divide them by a constant to stay below {limit:.3g}"
        )
    return z
