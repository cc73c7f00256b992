"""Grades: lists by falling y, and which of their pairs are preferences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut.data.compact import Compact, index_type
from rankcut.data.ids import query_codes
from rankcut.data.lists import Lists
from rankcut.errors import InputError

Floats = NDArray[np.float64]
Indices = NDArray[np.integer[Any]]
GRAPHS = ("complete", "bipartite", "star")
LONGEST = 2**32 - 2  # rows of a list: the native oracle counts them in 32 bits


@dataclass(frozen=True)
class Grades(Compact):
    """List after list, in each the rows by falling y. The preferences of a list are all its pairs of different y if
    above[l] is 0, else those of its first above[l] rows with the others, whose y is smaller."""

    n_rows: int
    order: Indices
    offsets: NDArray[np.int64]
    y: Floats  # in compact order
    above: NDArray[np.int64]
    n_skipped: int

    @property
    def better(self) -> Floats:
        end, begin = self._groups()
        lists = np.repeat(np.arange(self.n_lists), np.diff(self.offsets))
        worse, above = self.offsets[lists + 1] - end, begin - self.offsets[lists]
        return np.asarray(worse / np.maximum(1, worse + above))

    def _groups(self) -> tuple[Indices, Indices]:
        """Of each sample, where the group of samples that it has no pairs with ends and begins."""
        starts = np.zeros(self.size, dtype=bool)
        starts[self.offsets[:-1]] = True
        parted = self.above > 0
        starts[self.offsets[:-1][parted] + self.above[parted]] = True
        equal_lists = np.repeat(~parted, np.diff(self.offsets))
        starts[1:] |= equal_lists[1:] & (self.y[1:] != self.y[:-1])
        first = np.flatnonzero(starts)
        lengths = np.diff(first, append=self.size)
        return np.repeat(first + lengths, lengths), np.repeat(first, lengths)

    @classmethod
    def of(cls, lists: Lists) -> Grades:
        """Two grades: 1 for relevant rows, 0 for the others."""
        return cls(lists.n_rows, lists.order, lists.offsets, lists.better, lists.positives, lists.n_skipped)

    @classmethod
    def build(
        cls,
        y: Floats,
        qid: ArrayLike | None = None,
        *,
        graph: str = "complete",
        threshold: float | None = None,
        top: int | None = None,
        best: ArrayLike | None = None,
    ) -> Grades:
        """One list, or one per query. Lists without a preference are left out.

        graph="complete": all pairs of different y. "bipartite": rows with y above `threshold`, or the best `top` of
        each list (with those tied with the last of them), over the others. "star": the best row of each list, or
        the row of it in `best`, over the others.
        """
        rows, offsets = _by_falling_y(y, qid)
        above = np.zeros(len(offsets) - 1, dtype=np.int64)
        keep = None
        if graph == "bipartite":
            above = _counts(y[rows], offsets, _floors(y[rows], offsets, threshold, top))
        elif graph == "star":
            rows, keep = _best_first(y, rows, offsets, qid, best)
            above += 1
        if keep is not None:
            lengths = np.add.reduceat(keep.astype(np.int64), offsets[:-1])
            rows, offsets = rows[keep], np.concatenate(([0], np.cumsum(lengths)))
        falls = y[rows[offsets[:-1]]] > y[rows[offsets[1:] - 1]]
        usable = falls & (above < np.diff(offsets)) & ((above > 0) | (graph == "complete"))
        if not usable.any():
            raise InputError(
                "y: came with no two rows of one list to prefer one over the other; a list needs different grades"
                + _hint(graph)
            )
        lengths = np.diff(offsets)
        order = (rows if usable.all() else rows[np.repeat(usable, lengths)]).astype(
            index_type(len(y)), copy=False
        )
        offsets = np.concatenate(([0], np.cumsum(lengths[usable])))
        if lengths.max() > LONGEST:
            raise InputError(
                f"y: came with a list of {lengths.max()} rows; at most {LONGEST} can be ranked in one list"
            )
        return cls(len(y), order, offsets, y[order], above[usable], int(np.sum(~usable)))


def check_grades(y: Any, n_rows: int) -> Floats:
    """One finite real number per row, so far from overflow that sums over all pairs are finite."""
    if y is None:  # the words that scikit-learn's own estimators use
        raise InputError("y: requires y to be passed, but the target y is None; pass one number per row")
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n_rows,):
        raise InputError(f"y: came with shape {array.shape} for {n_rows} rows; pass one number per row")
    if n_rows == 1:
        raise InputError(
            "y: came with one sample (n_samples=1); a preference needs two rows of different grades"
        )
    try:
        if np.iscomplexobj(array):
            raise TypeError("complex numbers have no order")
        grades = array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"y: came as something that is not numbers ({error}); pass real grades") from error
    largest = float(np.max(np.abs(grades), initial=0.0))
    if not np.isfinite(largest):
        bad = int(np.flatnonzero(~np.isfinite(grades))[0])
        raise InputError(
            f"y: Input y contains NaN or infinity: {grades[bad]} in row {bad}; drop the rows without a grade"
        )
    limit = float(np.finfo(np.float64).max) / (8.0 * max(1, n_rows) ** 2)
    if largest > limit:
        raise InputError(
            f"y: came as large as {largest:.3g}; divide it by a constant to stay below {limit:.3g}"
        )
    return np.ascontiguousarray(grades)


def _by_falling_y(y: Floats, qid: ArrayLike | None) -> tuple[Indices, NDArray[np.int64]]:
    if qid is None:
        return np.argsort(-y, kind="stable"), np.array([0, len(y)])
    codes = query_codes(qid, len(y))
    rows = np.lexsort((-y, codes))
    return rows, np.append(np.flatnonzero(np.diff(codes[rows], prepend=-1)), len(y))


def _floors(y: Floats, offsets: NDArray[np.int64], threshold: float | None, top: int | None) -> Floats:
    """The y that the preferred rows of each list reach at least."""
    lengths = np.diff(offsets)
    if top is not None:
        if top >= lengths.max():
            raise InputError(
                f"top: came as {top}, but the largest list has {lengths.max()} rows; pass fewer than it has"
            )
        last = np.minimum(top, lengths) - 1
        return np.where(
            top < lengths, y[offsets[:-1] + last], -np.inf
        )  # shorter lists are all preferred: left out
    if threshold is None:
        low, high = y.min(), y.max()
        if np.any((y != low) & (y != high)):
            raise InputError(
                "threshold: came as None for y of more than two values; pass the y above which rows are preferred, "
                "or `top`"
            )
        threshold = float(low)
    return np.full(len(lengths), np.nextafter(threshold, np.inf))


def _counts(y: Floats, offsets: NDArray[np.int64], floors: Floats) -> NDArray[np.int64]:
    """How many of each list reach its floor."""
    reached = y >= np.repeat(floors, np.diff(offsets))
    return np.add.reduceat(reached.astype(np.int64), offsets[:-1])


def _best_first(
    y: Floats, rows: Indices, offsets: NDArray[np.int64], qid: ArrayLike | None, best: ArrayLike | None
) -> tuple[Indices, NDArray[np.bool_]]:
    """The rows with the best of each list first, and which of them stay: not those tied with it."""
    first, ends = offsets[:-1], offsets[1:]
    rows = rows.copy()
    if best is None:
        second = np.minimum(first + 1, ends - 1)
        tied = (ends - first > 1) & (y[rows[first]] == y[rows[second]]) & (y[rows[first]] > y[rows[ends - 1]])
        if tied.any():
            at = int(np.flatnonzero(tied)[0])
            raise InputError(
                f"y: rows {rows[first[at]]} and {rows[second[at]]} are both the best{_named(qid, rows[first[at]])} "
                f"(y={y[rows[first[at]]]:g}), and a star has one centre; break the tie in y, name one row per list "
                "with `best`, or use graph='bipartite', which prefers all of them"
            )
        return rows, np.ones(len(rows), dtype=bool)
    places = _places_of(best, rows, offsets, len(y), qid)
    higher = y[rows[first]] > y[rows[places]]
    if higher.any():
        at = int(np.flatnonzero(higher)[0])
        raise InputError(
            f"best: row {rows[places[at]]} came with y={y[rows[places[at]]]:g}, but row {rows[first[at]]} of the same "
            f"list has y={y[rows[first[at]]]:g}; the best row must have the largest y"
        )
    keep = y[rows] < np.repeat(y[rows[places]], ends - first)
    rows[first], rows[places] = rows[places], rows[first]
    keep[first] = True
    return rows, keep


def _places_of(
    best: ArrayLike, rows: Indices, offsets: NDArray[np.int64], n: int, qid: ArrayLike | None
) -> NDArray[np.intp]:
    """Where in `rows` the named row of each list is."""
    named = np.atleast_1d(np.asarray(best))
    if named.ndim != 1 or named.dtype.kind not in "iu":
        raise InputError(
            f"best: came with dtype {named.dtype} and shape {named.shape}; pass row numbers, one per list"
        )
    if len(named) and (named.min() < 0 or named.max() >= n):
        raise InputError(f"best: came with a row number outside 0 to {n - 1}; pass rows of X")
    place = np.empty(n, dtype=np.intp)
    place[rows] = np.arange(n)
    lists = np.searchsorted(offsets, place[named], side="right") - 1
    counts = np.bincount(lists, minlength=len(offsets) - 1)
    if np.any(counts != 1):
        at = int(np.flatnonzero(counts != 1)[0])
        raise InputError(
            f"best: came with {counts[at]} rows for the list{_named(qid, rows[offsets[at]])}; pass one row for each"
        )
    places = np.empty(len(counts), dtype=np.intp)
    places[lists] = place[named]
    return places


def _named(qid: ArrayLike | None, row: int) -> str:
    return "" if qid is None else f" of query {np.asarray(qid, dtype=object)[row]}"


def _hint(graph: str) -> str:
    if graph == "bipartite":
        return ", some above `threshold` (or among the best `top`) and some not"
    return ""
