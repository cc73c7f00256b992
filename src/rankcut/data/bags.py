"""Bags: samples that are sets of instances, as an image with candidate boxes or a document with passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from rankcut.data.ids import entries, missing
from rankcut.errors import InputError

Index = NDArray[np.int64]


class OutOfRange(InputError, IndexError):
    """A bag's number that there is not."""


class Bags:
    """Rows of X by bag: `Bags(X, bag_ids)` with the id of each row's bag, or `Bags.from_list([X0, X1, ...])`.

    Rows may come in any order; bags are sorted by id, and rows within a bag keep their order. `len(bags)` is the
    number of bags, `bags[i]` the block of bag i, `bags[index_array]` the Bags of these, in that order: what
    scikit-learn's splitters and searches need. X stays as it is (float32, CSR, a memory map) and is not copied if
    its rows are sorted by bag already.

    Attributes
    ----------
    instances : the rows, bag after bag
    offsets : bag i has the rows offsets[i] to offsets[i + 1] of `instances`
    ids : the id of each bag
    """

    def __init__(self, X: Any, bag_ids: ArrayLike) -> None:
        rows = _matrix(X)
        ids = _ids(bag_ids, rows.shape[0])
        self._order: Index | None = None  # of the caller's rows, if it is not theirs
        if np.any(ids[1:] < ids[:-1]):
            self._order = np.argsort(ids, kind="stable")
            rows, ids = rows[self._order], ids[self._order]
        starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        self.instances = rows
        self.offsets: Index = np.append(starts, len(ids)).astype(np.int64)
        self.ids = ids[starts]

    @classmethod
    def from_list(cls, blocks: Sequence[Any]) -> Bags:
        """A bag for each block of rows; all blocks have the same columns. Ids are 0, 1, …"""
        blocks = [_matrix(block, f"bag {i}") for i, block in enumerate(blocks)]
        if not blocks:
            raise InputError("X: came as an empty list; pass at least one bag")
        for i, block in enumerate(blocks):
            if block.shape[1] != blocks[0].shape[1]:
                raise InputError(
                    f"X: bag {i} has {block.shape[1]} columns where bag 0 has {blocks[0].shape[1]}; "
                    "describe all instances by the same features"
                )
        joined = sp.vstack(blocks, format="csr") if any(map(sp.issparse, blocks)) else np.concatenate(blocks)
        return cls(joined, np.repeat(np.arange(len(blocks)), [block.shape[0] for block in blocks]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """(number of bags, number of features)."""
        return len(self), int(self.instances.shape[1])

    @property
    def sizes(self) -> Index:
        """The number of instances of each bag."""
        return np.diff(self.offsets)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # as scikit-learn asks for rows
        if isinstance(key, Integral) and not isinstance(key, bool | np.bool_):
            i = self._numbers(np.array([key]))[0]
            return self.instances[self.offsets[i] : self.offsets[i + 1]]
        return self._take(self._numbers(key))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        n, d = self.shape
        return f"Bags({n} bags, {self.offsets[-1]} instances, {d} features)"

    def with_instances(self, instances: Any) -> Bags:
        """The same bags with other features: one row for each of `instances`, in their order."""
        rows = _matrix(instances)
        if rows.shape[0] != self.offsets[-1]:
            raise InputError(
                f"instances: came with {rows.shape[0]} rows for {self.offsets[-1]} instances; pass one each"
            )
        return self._made(rows, self.offsets, self.ids, self._order)

    def per_bag(self, values: ArrayLike) -> NDArray[Any]:
        """One value for each bag from one for each row of the X that the bags were made of, as for labels in an
        instance table. All rows of a bag must agree."""
        rows = np.asarray(values)
        if rows.shape[:1] != (int(self.offsets[-1]),):
            raise InputError(
                f"values: came with shape {rows.shape} for {self.offsets[-1]} rows; pass one value per row"
            )
        rows = rows if self._order is None else rows[self._order]
        first = rows[self.offsets[:-1]]
        differs = np.repeat(first, self.sizes, axis=0) != rows
        if differs.any():
            row = int(np.flatnonzero(differs.reshape(len(rows), -1).any(axis=1))[0])
            bag = int(np.searchsorted(self.offsets, row, side="right")) - 1
            raise InputError(
                f"values: the rows of bag {self.ids[bag]} do not agree ({first[bag]} and {rows[row]}); "
                "a bag has one value: take their largest, say, first"
            )
        return first

    def _numbers(self, key: Any) -> Index:
        n = len(self)
        if isinstance(key, slice):
            return np.arange(n)[key]
        numbers = np.asarray(key)
        if numbers.size == 0:
            return np.empty(0, dtype=np.int64)
        if numbers.ndim != 1 or numbers.dtype.kind not in "bui":
            raise InputError(f"bags: came indexed by {key!r}; pass numbers of bags, a mask, or a slice")
        if numbers.dtype.kind == "b":
            if len(numbers) != n:
                raise InputError(f"bags: came indexed by a mask of length {len(numbers)} for {n} bags")
            return np.flatnonzero(numbers).astype(np.int64)
        if numbers.min() < -n or numbers.max() >= n:
            bad = int(numbers.max() if numbers.max() >= n else numbers.min())
            raise OutOfRange(f"bags: came indexed by {bad} with {n} bags; pass numbers from 0 to {n - 1}")
        found: Index = np.where(numbers < 0, numbers + n, numbers).astype(np.int64)
        return found

    def _take(self, bags: Index) -> Bags:
        if len(bags) == 0:
            raise InputError("bags: came indexed by nothing; at least one bag must be left")
        sizes = self.sizes[bags]
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        if np.all(np.diff(bags) == 1):  # neighbours are a view
            rows = self.instances[self.offsets[bags[0]] : self.offsets[bags[-1] + 1]]
        else:
            rows = self.instances[spread(self.offsets[bags], sizes)]
        return self._made(rows, offsets, self.ids[bags], None)

    @classmethod
    def _made(cls, instances: Any, offsets: Index, ids: NDArray[Any], order: Index | None) -> Bags:
        made = cls.__new__(cls)
        made.instances, made.offsets, made.ids, made._order = instances, offsets, ids, order
        return made


def spread(starts: Index, sizes: Index) -> Index:
    """The numbers starts[0], starts[0] + 1, … (sizes[0] of them), starts[1], …"""
    ends = np.cumsum(sizes)
    numbers: Index = np.arange(ends[-1]) + np.repeat(starts - (ends - sizes), sizes)
    return numbers


def mean_instances(X: Any, offsets: Index) -> Any:
    """A row for each bag."""
    sizes = np.diff(offsets)
    mean = sp.csr_matrix(
        (np.repeat(1.0 / sizes, sizes), np.arange(offsets[-1]), offsets), shape=(len(sizes), X.shape[0])
    )
    return (mean @ X).astype(X.dtype)


def _matrix(X: Any, what: str = "") -> Any:
    which = f"{what} " if what else ""
    if sp.issparse(X):
        rows = X.tocsr()
    elif isinstance(X, np.ndarray):  # a memory map stays one
        rows = X
    else:
        try:
            rows = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
        except ValueError as error:
            raise InputError(
                f"X: {which}came as rows of different lengths; pass a matrix ({error})"
            ) from error
    if rows.ndim != 2:
        raise InputError(
            f"X: {which}came with shape {rows.shape}; pass a matrix with a row for each instance"
        )
    if rows.shape[0] == 0:
        raise InputError(
            f"X: {which or 'it '}has no instance; a bag needs at least one: leave empty bags out"
        )
    return rows


def _ids(bag_ids: ArrayLike, n_rows: int) -> NDArray[Any]:
    ids = entries(bag_ids)
    if ids.ndim != 1 or len(ids) != n_rows:
        raise InputError(
            f"bag_ids: came with shape {ids.shape} for {n_rows} rows of X; pass the id of each row's bag"
        )
    if missing(ids) or (ids.dtype.kind == "f" and np.isinf(ids).any()):
        raise InputError("bag_ids: came with NaN, None or infinity; every row needs the id of its bag")
    if ids.dtype.kind == "O":
        try:
            np.sort(ids)
        except TypeError as error:
            raise InputError(
                f"bag_ids: came with ids that cannot be sorted ({error}); pass ids of one type"
            ) from error
    return ids
