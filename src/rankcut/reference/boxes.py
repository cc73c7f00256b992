"""Overlaps, recall and suppression of boxes, one at a time."""

from __future__ import annotations

from collections.abc import Sequence

Box = Sequence[float]


def intersection_over_union(a: Box, b: Box) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    shared = width * height if width > 0 and height > 0 else 0.0
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return shared / union if union > 0 else 0.0


def recall(boxes: Sequence[Sequence[Box]], truths: Sequence[Sequence[Box]], overlap: float) -> float:
    """The share of all images' truths that some box of their image overlaps by at least that much."""
    found = [
        max((intersection_over_union(box, truth) for box in here), default=0.0) >= overlap
        for here, there in zip(boxes, truths, strict=True)
        for truth in there
    ]
    return sum(found) / len(found)


def non_maximum_suppression(boxes: Sequence[Box], scores: Sequence[float], overlap: float) -> list[int]:
    kept: list[int] = []
    for i in sorted(range(len(boxes)), key=lambda i: -scores[i]):
        if all(intersection_over_union(boxes[i], boxes[j]) <= overlap for j in kept):
            kept.append(i)
    return kept
