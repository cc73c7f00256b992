"""Splitters that keep together what belongs together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from rankcut.arguments import whole
from rankcut.data.bags import Bags
from rankcut.data.ids import query_codes
from rankcut.errors import InputError

Folds = Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]


class FoldsOfGroups(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn is untyped
    """What splitters into K folds share, which keep groups of samples together."""

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = 0) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def _order(self, n_groups: int, what: str, instead: str = "") -> NDArray[np.intp]:
        """The groups in the order in which they are dealt out."""
        whole("n_splits", self.n_splits)
        if not 2 <= self.n_splits <= n_groups:
            raise InputError(
                f"n_splits: came as {self.n_splits} for {what}; pass a number from 2 to as many{instead}"
            )
        order = np.arange(n_groups)
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        return order

    def _folds(self, fold_of: NDArray[np.intp]) -> Folds:
        """(training rows, test rows) of each fold, from the fold of each row."""
        for fold in range(self.n_splits):
            held_out = fold_of == fold
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)


class QueryKFold(FoldsOfGroups):
    """K folds of whole queries: the rows of a query are all in the training part, or all in the test part.

    Queries are dealt out in random order (``random_state``), or in order of their ids if ``shuffle`` is False,
    so that folds differ by at most one query. Pass the queries as ``groups``.
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012  # scikit-learn's way to say that they are wanted

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Folds:
        if groups is None:
            raise InputError("groups: came as None; QueryKFold needs the query of each row")
        codes = query_codes(groups, X.shape[0] if hasattr(X, "shape") else len(X))
        n_queries = int(codes.max()) + 1
        order = self._order(n_queries, f"{n_queries} queries")
        fold_of = np.empty(len(order), dtype=np.intp)
        fold_of[order] = np.arange(len(order)) % self.n_splits
        yield from self._folds(fold_of[codes])


class BagKFold(FoldsOfGroups):
    """K folds of whole bags, in which relevant bags are shared out as evenly as can be.

    A bag is one sample, so it is never divided. Pass ``groups`` (the patient, the page) if bags themselves belong
    together; groups are dealt out by their number of relevant bags then, largest first. In random order
    (``random_state``), or in that of the bags if ``shuffle`` is False.
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Folds:
        n = len(X) if isinstance(X, Bags) or not hasattr(X, "shape") else X.shape[0]
        codes = np.arange(n) if groups is None else query_codes(groups, n)
        n_groups = int(codes.max()) + 1
        order = self._order(n_groups, f"{n_groups} bags or groups of bags")
        yield from self._folds(self._deal(codes, order, _labels(y, n))[codes])

    def _deal(
        self, codes: NDArray[np.int64], order: NDArray[np.intp], labels: NDArray[np.int64]
    ) -> NDArray[np.intp]:
        """The fold of each group: the one that has the fewest bags with the group's rarest label, then the fewest."""
        counts = np.zeros((len(order), int(labels.max()) + 1), dtype=np.int64)
        np.add.at(counts, (codes, labels), 1)
        rarity = np.argsort(counts.sum(axis=0), kind="stable")  # labels, the rarest first
        order = order[np.lexsort(tuple(-counts[order][:, label] for label in rarity[::-1]))]
        dealt = np.zeros((self.n_splits, counts.shape[1]), dtype=np.int64)
        fold_of = np.empty(len(order), dtype=np.intp)
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
