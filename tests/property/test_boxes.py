"""Overlaps of boxes, recall and suppression, against the twins that look at one pair at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankcut import InputError
from rankcut.metrics import intersection_over_union, non_maximum_suppression, recall_overlap
from rankcut.reference import boxes as reference


def draw_boxes(rng: np.random.Generator, n: int, grid: bool = False) -> np.ndarray:
    corners = rng.integers(0, 9, (n, 4)).astype(float) if grid else rng.random((n, 4)) * 100
    return np.hstack((np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:])))


def test_overlaps_are_those_of_each_pair(rng: np.random.Generator) -> None:
    for grid in (False, True):  # on a grid: shared edges, equal boxes, boxes of no area
        a, b = draw_boxes(rng, 60, grid), draw_boxes(rng, 50, grid)
        expected = [[reference.intersection_over_union(x, y) for y in b.tolist()] for x in a.tolist()]
        np.testing.assert_allclose(intersection_over_union(a, b), expected, atol=1e-15)
        more = np.array([0.0, 0.0, 1.0, 1.0])
        wider = [[reference.intersection_over_union(x, y) for y in b + more] for x in a + more]
        np.testing.assert_allclose(intersection_over_union(a, b, pixels=True), wider, atol=1e-15)
    assert intersection_over_union([[0, 0, 2, 2]], [[1, 0, 3, 2]])[0, 0] == pytest.approx(1 / 3)
    assert intersection_over_union([[0, 0, 1, 1]], [[0, 0, 1, 1]])[0, 0] == 1.0


def test_recall_curve_and_its_area(rng: np.random.Generator) -> None:
    for _ in range(30):
        images = int(rng.integers(1, 5))
        boxes = [draw_boxes(rng, int(rng.integers(0, 30)), True) for _ in range(images)]
        truths = [draw_boxes(rng, int(rng.integers(1, 4)), True) for _ in range(images)]
        found = recall_overlap(boxes, truths, overlaps=[0.0, 0.3, 0.5, 0.75, 1.0])
        for overlap, recall in zip(found.overlap, found.recall, strict=True):
            assert recall == pytest.approx(reference.recall(boxes, truths, overlap))
        fine = recall_overlap(boxes, truths, overlaps=np.linspace(0.5, 1.0, 20_001))
        middle = 0.5 * (fine.recall[1:] + fine.recall[:-1])
        assert found.area == pytest.approx(middle.mean(), abs=1e-4)
        if images == 1:
            alone = recall_overlap(boxes[0], truths[0])
            assert alone.area == found.area
            assert alone.recall[[0, 30, 50, 75, 100]].tolist() == found.recall.tolist()


def test_recall_of_the_truths_themselves_and_of_nothing() -> None:
    truths = [[0, 0, 10, 10], [5, 5, 30, 30]]
    perfect = recall_overlap(truths, truths)
    assert perfect.area == 1.0
    assert perfect.recall.tolist() == [1.0] * 101
    nothing = recall_overlap([], truths)
    assert nothing.area == 0.0
    assert nothing.recall[0] == 1.0
    assert nothing.recall[1:].max() == 0.0
    halves = recall_overlap([[0, 0, 10, 5]], [[0, 0, 10, 10]])  # an overlap of exactly one half
    assert halves.recall[50] == 1.0
    assert halves.recall[51] == 0.0


def test_suppression_is_greedy(rng: np.random.Generator) -> None:
    for case in range(200):
        n = int(rng.integers(1, 60)) if case < 190 else 900  # more than what settles at a time
        boxes = draw_boxes(rng, n, grid=bool(case % 2))
        scores = rng.integers(0, 12, n) / 4 if case % 3 == 0 else rng.normal(size=n)
        overlap = float(rng.choice([0.0, 0.25, 0.5, 0.9]))
        expected = reference.non_maximum_suppression(boxes.tolist(), scores.tolist(), overlap)
        assert non_maximum_suppression(boxes, scores, overlap).tolist() == expected
        most = int(rng.integers(1, n + 1))
        assert non_maximum_suppression(boxes, scores, overlap, most=most).tolist() == expected[:most]
    assert non_maximum_suppression([], []).tolist() == []


def test_a_hundred_thousand_boxes(rng: np.random.Generator) -> None:
    """Windows around a few hundred centres: what is kept overlaps little, and all else overlaps something better."""
    n = 100_000
    centre = (rng.random((300, 2)) * 500)[rng.integers(0, 300, n)] + rng.normal(size=(n, 2)) * 4
    size = 30 * np.exp(rng.normal(size=(n, 2)) * 0.1)
    boxes, scores = np.hstack((centre - size, centre + size)), rng.normal(size=n)
    kept = non_maximum_suppression(boxes, scores, 0.5)
    assert np.all(np.diff(scores[kept]) <= 0)
    overlaps = intersection_over_union(boxes[kept], boxes[kept])
    np.fill_diagonal(overlaps, 0.0)
    assert overlaps.max() <= 0.5
    for row in rng.integers(0, n, 300):
        better = kept[scores[kept] > scores[row]]
        assert row in kept or intersection_over_union(boxes[[row]], boxes[better]).max() > 0.5
    np.testing.assert_array_equal(non_maximum_suppression(boxes, scores, 0.5, most=100), kept[:100])


def test_real_annotations(load_shared: Callable[[str], dict[str, Any]]) -> None:
    """Jittered copies of the true boxes of VOC 2007: the recall falls where the jitter says, image by image."""
    data = load_shared("boxes/voc2007_labels")
    box, image = data["box"].astype(float), data["box_image"]
    first = np.flatnonzero(image < 500)
    rows = [first[image[first] == each] for each in np.unique(image[first])]
    truths = [box[row] for row in rows]
    assert recall_overlap(truths, truths, pixels=True).area == 1.0
    width = [np.diff(each[:, ::2]) + 1 for each in truths]
    shifted = [each + [1, 0, 1, 0] * np.round(0.2 * w) for each, w in zip(truths, width, strict=True)]
    found = recall_overlap(shifted, truths, pixels=True)
    share = [np.round(0.2 * w) / w for w in width]
    own = np.concatenate([(1 - s) / (1 + s) for s in share]).ravel()
    assert np.all(found.best >= own - 1e-12)  # another box of the image may fit better
    assert np.mean(found.best > own + 1e-12) < 0.05
    assert found.recall[60] > 0.9
    assert found.recall[75] < 0.1
    kept = [non_maximum_suppression(each, np.arange(len(each)), 0.99, pixels=True) for each in truths]
    assert sum(map(len, kept)) >= 0.99 * len(first)


@pytest.mark.parametrize(
    "name, call",
    [
        ("a", lambda: intersection_over_union([[0, 0, 1]], [[0, 0, 1, 1]])),
        ("b", lambda: intersection_over_union([[0, 0, 1, 1]], [[0, 0, 1, np.nan]])),
        ("boxes", lambda: recall_overlap([[2, 0, 1, 1]], [[0, 0, 1, 1]])),
        ("boxes", lambda: recall_overlap("boxes", [[0, 0, 1, 1]])),
        ("truths", lambda: recall_overlap([[0, 0, 1, 1]], [])),
        ("truths", lambda: recall_overlap([np.zeros((1, 4))], [np.zeros((1, 4))] * 2)),
        ("truths", lambda: recall_overlap([np.zeros((1, 4))], np.zeros((1, 4)))),
        ("overlap", lambda: non_maximum_suppression([[0, 0, 1, 1]], [1.0], 1.5)),
        ("most", lambda: non_maximum_suppression([[0, 0, 1, 1]], [1.0], most=0)),
        ("scores", lambda: non_maximum_suppression([[0, 0, 1, 1]], [1.0, 2.0])),
        ("scores", lambda: non_maximum_suppression([[0, 0, 1, 1]], [np.nan])),
    ],
)
def test_refused(name: str, call: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match=rf"^{name}: .{{15,}}"):
        call()
