"""Latent structural SVMs with AP loss, and latent AP-SVM, by trying everything.

A sample is a row of scores, one for each of its annotations. ``w·Ψ`` of a ranking is, with the weight of a pair c,

    c Σ_{i positive, j negative} Y_ij (s_i(h_i) − s_j(h_j)),   Y_ij = 1 where i is above j, else −1
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from rankcut.reference.measures import average_precision_of
from rankcut.reference.rankings import FloatArray, IntArray

Scores = Sequence[Sequence[float]]


class Found(NamedTuple):
    """A ranking, best first, as (sample, annotation) pairs, and its loss plus score."""

    ranking: tuple[tuple[int, int], ...]
    value: float


def optimum(scores: Scores, y: Sequence[int], weight: float | None = None) -> Found:
    """The most violated ranking with its annotations, over all of both."""
    samples = range(len(y))
    choices = list(product(*[range(len(row)) for row in scores]))
    every = (
        tuple((i, annotations[i]) for i in order)
        for order in permutations(samples)
        for annotations in choices
    )
    best = max(every, key=lambda ranking: value_of(ranking, scores, y, weight))
    return Found(best, value_of(best, scores, y, weight))


def value_of(
    ranking: Sequence[tuple[int, int]], scores: Scores, y: Sequence[int], weight: float | None = None
) -> float:
    """Loss plus score of a ranking with annotations."""
    P = int(np.sum(y))
    pair = 1.0 / (P * (len(y) - P)) if weight is None else weight
    total = 1.0 - average_precision_of(tuple(bool(y[i]) for i, _ in ranking))
    for above, (i, h) in enumerate(ranking):
        for j, g in ranking[above + 1 :]:
            if y[i] != y[j]:
                total += pair * (scores[i][h] - scores[j][g])
    return total


def greedy(scores: Scores, y: Sequence[int], weight: float | None = None) -> Found:
    """As published: from the perfect ranking, each negative rank in turn moves up to where it is best."""
    P, N = int(np.sum(y)), len(y) - int(np.sum(y))
    pattern = [1] * P + [0] * N
    best = assigned(pattern, scores, y, weight)
    highest = 0
    for j in range(N):
        here = P + j
        for place in range(here - 1, highest - 1, -1):
            moved = pattern.copy()
            moved.insert(place, moved.pop(here))
            found = assigned(moved, scores, y, weight)
            if found.value > best.value:
                best = found
        pattern = [y[i] for i, _ in best.ranking]
        highest = [place for place, label in enumerate(pattern) if label == 0][j] + 1
    return best


def assigned(pattern: Sequence[int], scores: Scores, y: Sequence[int], weight: float | None = None) -> Found:
    """The best assignment of samples and annotations to a pattern of classes: S(i, a) = max_h c_a s_i(h), and
    all assignments of each class."""
    ranking: list[tuple[int, int]] = [(-1, -1)] * len(y)
    for label in (1, 0):
        members = [i for i, value in enumerate(y) if value == label]
        ranks = [a for a, value in enumerate(pattern) if value == label]
        counts = [
            sum(other != label for other in pattern[a + 1 :]) - sum(other != label for other in pattern[:a])
            for a in ranks
        ]
        table = np.array([[max(c * s for s in scores[i]) for c in counts] for i in members])
        best = max(permutations(range(len(ranks))), key=lambda order: table[range(len(members)), order].sum())
        for i, place in zip(members, best, strict=True):
            ranking[ranks[place]] = (i, int(np.argmax([counts[place] * s for s in scores[i]])))
    return Found(tuple(ranking), value_of(ranking, scores, y, weight))


def latent_ssvm_risk(scores: Scores, y: Sequence[int], frozen: IntArray | None = None) -> float:
    """max over rankings and annotations of loss plus score, minus the score of the perfect ranking: its positives'
    annotations are the frozen ones (the best, if None), its negatives' the ones that make it worst."""
    right = 0.0
    P = int(np.sum(y))
    for i, row in enumerate(scores):
        if y[i]:
            right += (max(row) if frozen is None else row[frozen[i]]) / P
        else:
            right -= max(row) / (len(y) - P)
    return optimum(scores, y).value - right


def latent_ap_risk(scores: Scores, y: Sequence[int]) -> float:
    """max over rankings and the negatives' annotations of loss plus score, minus the score of the perfect ranking
    with the same annotations; the positives' are the best."""
    P = int(np.sum(y))
    risk = -np.inf
    negatives = [i for i, label in enumerate(y) if not label]
    for chosen in product(*[range(len(scores[j])) for j in negatives]):
        z: FloatArray = np.array([max(row) for row in scores])
        z[negatives] = [scores[j][h] for j, h in zip(negatives, chosen, strict=True)]
        single = [[value] for value in z]
        right = z[np.asarray(y) == 1].mean() - z[negatives].mean()
        for order in permutations(range(len(y))):
            risk = max(risk, value_of([(i, 0) for i in order], single, y, 1.0 / (P * (len(y) - P))) - right)
    return float(risk)
