"""Bags as the estimators take them, and the instances that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from rankcut.data.arrays import check_X
from rankcut.data.bags import Bags
from rankcut.errors import InputError

Index = NDArray[np.int64]


def check_bags(estimator: BaseEstimator, bags: Any, *, reset: bool) -> tuple[Any, Index]:
    """(instances, offsets) of Bags, of a list of blocks, or of a matrix whose rows are bags of one instance."""
    if isinstance(bags, list | tuple) and bags and getattr(bags[0], "ndim", 0) == 2:
        bags = Bags.from_list(bags)
    if isinstance(bags, Bags):
        return check_X(estimator, bags.instances, reset=reset), bags.offsets
    X = check_X(estimator, bags, reset=reset)
    return X, np.arange(X.shape[0] + 1)


def known_rows(known: Any, offsets: Index, n_rankers: int) -> Index:
    """For each ranker and bag the row of the instance that is known, −1 where none is: (n_rankers, n_bags)."""
    n = len(offsets) - 1
    if known is None:
        return np.full((n_rankers, n), -1)
    numbers = np.asarray(known)
    if numbers.shape not in ((n,), (n, n_rankers)):
        raise InputError(
            f"known: came with shape {numbers.shape} for {n} bags; pass the number of the known instance of each bag, "
            "-1 where none is known (or a column for each ranker)"
        )
    return np.stack([_rows(column, offsets) for column in np.broadcast_to(numbers.T, (n_rankers, n))])


def _rows(numbers: NDArray[Any], offsets: Index) -> Index:
    fits = numbers.dtype.kind in "iu" or (
        numbers.dtype.kind == "f" and bool(np.all(numbers == np.floor(numbers)))
    )
    if not fits:
        raise InputError(
            "known: came with entries that are not whole numbers; pass -1 where no instance is known"
        )
    sizes = np.diff(offsets)
    wrong = np.flatnonzero((numbers < -1) | (numbers >= sizes))
    if len(wrong):
        i = wrong[0]
        raise InputError(
            f"known: instance {numbers[i]:g} came for bag {i}, which has {sizes[i]}; pass a number from 0 to "
            f"{sizes[i] - 1}, or -1 if none is known"
        )
    whole = numbers.astype(np.int64)
    rows: Index = np.where(whole < 0, -1, offsets[:-1] + whole)
    return rows
