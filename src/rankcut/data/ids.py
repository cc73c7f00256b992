"""Names of queries, bags and classes as users have them: values of any type, one for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.errors import InputError


def entries(values: Any) -> NDArray[Any]:
    """As an array. A list of several types stays one of objects: NumPy would make the same text of 1 and "1"."""
    array = np.asarray(values)
    if array.dtype.kind in "SU" and not hasattr(values, "dtype"):
        objects = np.asarray(values, dtype=object)
        if len(set(map(type, objects.ravel()))) > 1:
            return objects
    return array


def missing(array: NDArray[Any]) -> bool:
    """Whether an entry is NaN, NaT, None or pandas' NA."""
    if array.dtype.kind == "O":
        return any(map(_is_nothing, array.ravel()))
    return array.dtype.kind in "fMm" and bool(np.any(array != array))


def query_codes(qid: Any, n_rows: int) -> NDArray[np.int64]:
    """Queries numbered from 0, in the order of their names if they have one. Any hashable values, in any order of
    rows."""
    shape = tuple(getattr(qid, "shape", (0,)))
    if isinstance(qid, str | bytes) or not hasattr(qid, "__len__"):
        raise InputError(f"qid: came as {type(qid).__name__}; pass a sequence with the query of each row")
    if len(shape) != 1:
        raise InputError(f"qid: came with shape {shape}; pass one entry per row")
    if len(qid) != n_rows:
        raise InputError(f"qid: came with {len(qid)} entries for {n_rows} rows; pass one per row")
    array = np.asarray(qid) if hasattr(qid, "dtype") else None
    if array is not None and array.dtype.kind in "biufSUMm":
        lacking, codes = missing(array), np.unique(array, return_inverse=True)[1].astype(np.int64)
    else:
        numbers: dict[Any, int] = {}
        try:
            seen = np.fromiter((numbers.setdefault(q, len(numbers)) for q in qid), np.int64, n_rows)
        except TypeError as error:
            raise InputError(f"qid: came with entries that are not hashable ({error}); pass ids") from error
        lacking, codes = any(map(_is_nothing, numbers)), _places(list(numbers))[seen]
    if lacking:
        raise InputError("qid: came with NaN or None; every row needs the id of its query")
    return codes


def _places(names: list[Any]) -> NDArray[np.int64]:
    """Where each name comes in their order; where they stand if they have none."""
    try:
        order = sorted(range(len(names)), key=names.__getitem__)
    except TypeError:
        return np.arange(len(names))
    places = np.empty(len(names), dtype=np.int64)
    places[order] = np.arange(len(names))
    return places


def _is_nothing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA does not say whether it is equal to itself
        return True
