"""Bags by brute force: all choices of instances, and the plain outer loop.

A bag's score is its best instance's. The loss-augmented step of the frozen problem is a maximum over rankings
and over every choice of the negatives' instances; freezing chooses the positives' best instances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from rankcut.reference.brute_force import most_violated
from rankcut.reference.rankings import FloatArray, IntArray, MostViolated

Oracle = Callable[[FloatArray, IntArray], MostViolated]


def best_instances(bags: Sequence[FloatArray]) -> IntArray:
    """Of each bag's instance scores the number of the largest, the first of equals."""
    return np.array([int(np.argmax(bag)) for bag in bags])


def chosen(bags: Sequence[FloatArray], choice: ArrayLike) -> FloatArray:
    return np.array([bag[h] for bag, h in zip(bags, np.asarray(choice), strict=True)])


def loss_augmented(
    bags: Sequence[FloatArray], y: ArrayLike, frozen: ArrayLike, loss: str = "ap", **options: float
) -> tuple[float, IntArray, MostViolated]:
    """The largest value over rankings and all choices of the negatives' instances, with the positives' given
    by `frozen`: (value, choice, most violated ranking at that choice)."""
    relevant = np.asarray(y) == 1
    best: tuple[float, IntArray, MostViolated] | None = None
    for negatives in product(
        *(range(len(bag)) for bag, positive in zip(bags, relevant, strict=True) if not positive)
    ):
        choice = np.array(frozen)
        choice[~relevant] = negatives
        found = most_violated(chosen(bags, choice), y, loss, **options)  # type: ignore[arg-type]
        if best is None or found.value > best[0]:
            best = (found.value, choice, found)
    assert best is not None
    return best


def positives_by_brute_force(
    bags: Sequence[FloatArray], y: ArrayLike, loss: str = "ap", **options: float
) -> tuple[float, list[IntArray]]:
    """Over all choices of the positives' instances, the smallest value of the loss-augmented step, and every
    choice that attains it. The lemma: the best instances do."""
    relevant = np.asarray(y) == 1
    values: list[tuple[float, IntArray]] = []
    for positives in product(
        *(range(len(bag)) for bag, positive in zip(bags, relevant, strict=True) if positive)
    ):
        frozen = np.zeros(len(bags), dtype=np.int64)
        frozen[relevant] = positives
        values.append((loss_augmented(bags, y, frozen, loss, **options)[0], frozen))
    least = min(value for value, _ in values)
    return least, [choice for value, choice in values if value <= least + 1e-12]


def risk_of(bags: Sequence[FloatArray], y: ArrayLike, w: FloatArray, oracle: Oracle) -> float:
    """The risk that CCCP lowers: the loss at the bags' best scores. `bags` hold features here."""
    scores = np.array([float(np.max(bag @ w)) for bag in bags])
    return float(oracle(scores, np.asarray(y)).value)


def freeze(
    bags: Sequence[FloatArray], y: ArrayLike, oracle: Oracle, first: IntArray
) -> Callable[[FloatArray], Callable[[FloatArray], tuple[float, FloatArray]]]:
    """`freeze(w)` of the plain outer loop: the risk with the positives' instances chosen at w, or `first` at 0."""
    labels = np.asarray(y)
    relevant = labels == 1

    def frozen(w: FloatArray) -> Callable[[FloatArray], tuple[float, FloatArray]]:
        kept = best_instances([bag @ w for bag in bags]) if np.any(w) else first

        def risk(v: FloatArray) -> tuple[float, FloatArray]:
            free = best_instances([bag @ v for bag in bags])
            rows = chosen(bags, np.where(relevant, kept, free))
            found = oracle(rows @ v, labels)
            return float(found.value), np.asarray(found.alpha @ rows)

        return risk

    return frozen
