"""Lists without the samples that contradict the scores most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankcut.data.lists import Lists


def trim(lists: Lists, scores: NDArray[np.float64], share: float) -> Lists:
    """Without this share of each class of each list: the lowest positives and the highest negatives. `scores` are in
    compact order.

    A loss that falls in the scores of positives, rises in those of negatives and treats a class alike is smallest
    on just these samples, among all choices of as many.
    """
    n_lists = len(lists.positives)
    relevant = lists.relevant
    group = 2 * np.repeat(np.arange(n_lists), np.diff(lists.offsets)) + ~relevant
    worst_first = np.lexsort((np.where(relevant, scores, -scores), group))
    sizes = np.bincount(group, minlength=2 * n_lists)
    place = np.arange(lists.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # in its group
    dropped = np.floor(share * sizes).astype(np.int64)
    keep = np.sort(worst_first[place >= np.repeat(dropped, sizes)])
    kept = (sizes - dropped).reshape(n_lists, 2)
    offsets = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    return Lists(lists.n_rows, lists.order[keep], offsets, kept[:, 0], lists.n_skipped)
