"""Splitters that keep together what belongs together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from rankcut.data.bags import Bags
from rankcut.data.lists import query_codes
from rankcut.errors import InputError


class QueryKFold(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn is untyped
    """K folds of whole queries: the rows of a query are all in the training part, or all in the test part.

    Queries are dealt out in random order (``random_state``), or in order of their ids if ``shuffle`` is False,
    so that folds differ by at most one query. Pass the queries as ``groups``.
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = 0) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        if groups is None:
            raise InputError("groups: came as None; QueryKFold needs the query of each row")
        codes = query_codes(groups, X.shape[0] if hasattr(X, "shape") else len(X))
        n_queries = int(codes.max()) + 1
        if not 2 <= self.n_splits <= n_queries:
            raise InputError(
                f"n_splits: came as {self.n_splits} for {n_queries} queries; pass a number from 2 to {n_queries}"
            )
        order = np.arange(n_queries)
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        fold_of = np.empty(n_queries, dtype=np.intp)
        fold_of[order] = np.arange(n_queries) % self.n_splits
        for fold in range(self.n_splits):
            held_out = fold_of[codes] == fold
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)


class BagKFold(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn is untyped
    """K folds of whole bags, in which relevant bags are shared out as evenly as can be.

    A bag is one sample, so it is never divided. Pass ``groups`` (the patient, the page) if bags themselves belong
    together; groups are dealt out by their number of relevant bags then, largest first. In random order
    (``random_state``), or in that of the bags if ``shuffle`` is False.
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012  # scikit-learn's way to say so

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = 0) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        n = len(X) if isinstance(X, Bags) or not hasattr(X, "shape") else X.shape[0]
        codes = np.arange(n) if groups is None else query_codes(groups, n)
        n_groups = int(codes.max()) + 1
        if not 2 <= self.n_splits <= n_groups:
            raise InputError(
                f"n_splits: came as {self.n_splits} for {n_groups} bags or groups of bags; pass a number from 2 to "
                f"{n_groups}"
            )
        fold_of = self._deal(codes, n_groups, _labels(y, n))
        for fold in range(self.n_splits):
            held_out = fold_of[codes] == fold
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def _deal(self, codes: NDArray[np.int64], n_groups: int, labels: NDArray[np.int64]) -> NDArray[np.intp]:
        """The fold of each group: the one that has the fewest bags with the group's rarest label, then the fewest."""
        counts = np.zeros((n_groups, int(labels.max()) + 1), dtype=np.int64)
        np.add.at(counts, (codes, labels), 1)
        order = np.arange(n_groups)
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        rarity = np.argsort(counts.sum(axis=0), kind="stable")  # labels, the rarest first
        order = order[np.lexsort(tuple(-counts[order][:, label] for label in rarity[::-1]))]
        dealt = np.zeros((self.n_splits, counts.shape[1]), dtype=np.int64)
        fold_of = np.empty(n_groups, dtype=np.intp)
        for group in order:
            rarest = rarity[np.flatnonzero(counts[group][rarity])[0]]
            fold = int(np.lexsort((dealt.sum(axis=1), dealt[:, rarest]))[0])
            fold_of[group] = fold
            dealt[fold] += counts[group]
        return fold_of


def _labels(y: Any, n: int) -> NDArray[np.int64]:
    """Numbers of the labels; of an indicator matrix, of its rows."""
    if y is None:
        return np.zeros(n, dtype=np.int64)
    labels = np.asarray(y)
    if len(labels) != n:
        raise InputError(f"y: came with {len(labels)} entries for {n} bags; pass one each")
    axis = 0 if labels.ndim == 2 else None
    return np.unique(labels, axis=axis, return_inverse=True)[1].reshape(-1).astype(np.int64)
