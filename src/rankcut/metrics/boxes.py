"""Boxes in images: how well they overlap, how many truths they find, and which of them say the same.

A box is (left, top, right, bottom). ``pixels=True`` takes right and bottom as the last pixels that belong to the box,
as the VOC annotations do: it is then one wider and one higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankcut.arguments import whole
from rankcut.errors import InputError
from rankcut.metrics.arguments import FloatArray, IntArray, numbers, same_length

AT_ONCE = 2**15  # pairs of boxes, few enough to stay in the cache


class RecallOverlap(NamedTuple):
    """``recall[k]`` is the share of truths that some box overlaps by at least ``overlap[k]``; ``area`` is the area
    under the exact curve between overlaps 0.5 and 1, divided by 0.5: 1 for perfect recall. ``best`` is each truth's
    largest overlap, 0 if there is no box."""

    overlap: FloatArray
    recall: FloatArray
    area: float
    best: FloatArray


def intersection_over_union(a: ArrayLike, b: ArrayLike, *, pixels: bool = False) -> FloatArray:
    """The overlap of every box in a with every box in b, of shape (len(a), len(b)). Boxes of no area overlap
    nothing."""
    return _overlaps(_boxes("a", a, pixels), _boxes("b", b, pixels))


def recall_overlap(
    boxes: ArrayLike | Sequence[ArrayLike],
    truths: ArrayLike | Sequence[ArrayLike],
    *,
    overlaps: ArrayLike | None = None,
    pixels: bool = False,
) -> RecallOverlap:
    """The recall of true boxes as the overlap asked for rises.

    boxes, truths: of one image as arrays (n, 4) and (m, 4), or of several as two sequences of such arrays, image by
    image. overlaps: where to tabulate the curve, by default 0, 0.01, …, 1.
    """
    pairs = _by_image(boxes, truths)
    best = np.concatenate([_best(_boxes("boxes", b, pixels), _boxes("truths", t, pixels)) for b, t in pairs])
    if len(best) == 0:
        raise InputError("truths: came without a box; recall needs at least one true box")
    at = np.linspace(0.0, 1.0, 101) if overlaps is None else numbers("overlaps", overlaps, finite=True)
    found = len(best) - np.searchsorted(np.sort(best), at, side="left")
    area = float(np.mean(np.clip(best - 0.5, 0.0, 0.5)) / 0.5)
    return RecallOverlap(at, found / len(best), area, best)


def non_maximum_suppression(
    boxes: ArrayLike,
    scores: ArrayLike,
    overlap: float = 0.5,
    *,
    most: int | None = None,
    pixels: bool = False,
) -> IntArray:
    """Row numbers of the boxes that are kept, best first: greedily, each box unless one that is kept overlaps it by
    more than `overlap`. Of equal scores the first row goes first. most: stop after so many."""
    corners = _boxes("boxes", boxes, pixels)
    z = numbers("scores", scores, finite=True) if len(corners) else np.empty(0)
    same_length("scores", z, "boxes", len(corners))
    if not 0 <= overlap <= 1:
        raise InputError(f"overlap: came as {overlap!r}; pass a number between 0 and 1, as 0.5")
    if most is not None:
        whole("most", most)
    wanted = len(corners) if most is None else most
    left = np.argsort(-z, kind="stable")
    kept: list[IntArray] = []
    n_kept = 0
    while len(left) and n_kept < wanted:
        # The best few settle among themselves; then whoever they overlap is gone, all at once.
        few = left[:256]
        overlapping = _overlaps(corners[few], corners[few]) > overlap
        alive = np.ones(len(few), dtype=bool)
        for i in range(len(few)):
            if alive[i]:
                alive[i + 1 :] &= ~overlapping[i, i + 1 :]
        chosen = few[alive][: wanted - n_kept]
        kept.append(chosen)
        n_kept += len(chosen)
        left = _not_overlapped(corners, left[len(few) :], chosen, overlap)
    return np.concatenate(kept) if kept else np.empty(0, dtype=np.intp)


def _overlaps(a: FloatArray, b: FloatArray) -> FloatArray:
    width = np.minimum(a[:, None, 2], b[None, :, 2]) - np.maximum(a[:, None, 0], b[None, :, 0])
    height = np.minimum(a[:, None, 3], b[None, :, 3]) - np.maximum(a[:, None, 1], b[None, :, 1])
    shared = np.maximum(width, 0.0) * np.maximum(height, 0.0)
    union = _areas(a)[:, None] + _areas(b)[None, :] - shared
    overlaps: FloatArray = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return overlaps


def _areas(boxes: FloatArray) -> FloatArray:
    return np.asarray((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))


def _best(boxes: FloatArray, truths: FloatArray) -> FloatArray:
    """Each truth's overlap with the box that fits it best."""
    best = np.zeros(len(truths))
    step = max(1, AT_ONCE // max(1, len(truths)))
    for start in range(0, len(boxes), step):
        np.maximum(best, _overlaps(boxes[start : start + step], truths).max(axis=0, initial=0.0), out=best)
    return best


def _not_overlapped(corners: FloatArray, left: IntArray, chosen: IntArray, overlap: float) -> IntArray:
    step = max(1, AT_ONCE // max(1, len(chosen)))
    parts = [left[start : start + step] for start in range(0, len(left), step)]
    free = [part[~(_overlaps(corners[part], corners[chosen]) > overlap).any(axis=1)] for part in parts]
    return np.concatenate(free) if free else left


def _boxes(name: str, boxes: Any, pixels: bool) -> FloatArray:
    try:
        array = np.asarray(boxes, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: came as something that is not an array of numbers ({error})") from error
    if array.size == 0:
        return np.empty((0, 4))
    if array.ndim != 2 or array.shape[1] != 4:
        raise InputError(f"{name}: came with shape {array.shape}; pass (n, 4): left, top, right, bottom")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: came with NaN or infinity; every corner must be finite")
    array = array + np.array([0.0, 0.0, 1.0, 1.0]) if pixels else array
    reversed_ = (array[:, 2:] < array[:, :2]).any(axis=1)
    if reversed_.any():
        row = int(np.argmax(reversed_))
        raise InputError(
            f"{name}: row {row} came as {boxes[row]}, with right before left or bottom before top; "
            "pass corners, not widths and heights"
        )
    return array


def _by_image(boxes: Any, truths: Any) -> list[tuple[Any, Any]]:
    """The pairs (boxes, truths) of each image."""
    several = [
        isinstance(each, list | tuple)
        and len(each) > 0
        and all(np.ndim(part) == 2 or len(part) == 0 for part in each)
        for each in (boxes, truths)
    ]
    if not any(several):
        return [(boxes, truths)]
    if not all(several) or len(boxes) != len(truths):
        raise InputError(
            f"truths: came for {len(truths) if several[1] else 1} images, boxes for {len(boxes) if several[0] else 1}; "
            "pass one array for each image in both"
        )
    return list(zip(boxes, truths, strict=True))
