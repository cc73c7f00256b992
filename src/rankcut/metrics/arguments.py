"""What the measures accept: columns of labels, scores and queries, or an error that teaches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut.data.ids import entries, missing
from rankcut.errors import InputError

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def column(name: str, values: Any) -> NDArray[Any]:
    """One entry per row, at least one row."""
    try:
        array = entries(values)
    except ValueError as error:  # ragged
        raise InputError(f"{name}: came as rows of different lengths; pass one entry per row") from error
    if array.ndim != 1:
        raise InputError(
            f"{name}: came with shape {array.shape}; pass a one-dimensional array, one entry per row"
        )
    if len(array) == 0:
        raise InputError(f"{name}: came empty; pass at least one row")
    return array


def numbers(name: str, values: ArrayLike, *, finite: bool = False) -> FloatArray:
    """A column of real numbers, infinite ones only where an order is all that counts."""
    array = column(name, values)
    if array.dtype.kind not in "biufO":
        raise InputError(f"{name}: came with dtype {array.dtype}; pass real numbers")
    try:
        result = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: holds entries that are not numbers ({error}); pass real numbers"
        ) from error
    bad = ~np.isfinite(result) if finite else np.isnan(result)
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(
            f"{name}: holds {int(bad.sum())} NaN{' or infinite' if finite else ''} entries, the first at row {first}; "
            "drop those rows or repair what computed them"
        )
    return result


def same_length(name: str, array: NDArray[Any], other: str, expected: int) -> None:
    """Two arguments with one entry per row each."""
    if len(array) != expected:
        raise InputError(
            f"{name}: came with {len(array)} entries, {other} with {expected}; pass one per row in both"
        )


def relevant(y: ArrayLike) -> BoolArray:
    """Which rows carry the larger of the two labels."""
    labels = column("y", y)
    if missing(labels):
        raise InputError("y: holds NaN or None; drop the rows without a label")
    try:
        distinct = np.unique(labels)
    except TypeError as error:
        raise InputError(f"y: holds labels without an order ({error}); pass labels of one kind") from error
    if len(distinct) == 1:
        raise InputError(
            f"y: holds only the label {distinct.tolist()[0]!r}; pass rows of two labels, or nothing is ranked"
        )
    if len(distinct) > 2:
        raise InputError(
            f"y: holds {len(distinct)} labels ({', '.join(map(repr, distinct.tolist()[:5]))}, …), two are needed; "
            "pass y == label for one class, or use ndcg with gain='linear' or 'exponential' for grades"
        )
    return np.asarray(labels == distinct[1])
