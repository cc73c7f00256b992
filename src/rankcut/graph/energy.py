"""The energy of a labelling: the scores of the samples labelled 1, less the costs of the edges that are cut.

E(Y) = Σ_{y_i=1} u_i − Σ_{edges (i,j), y_i≠y_j} c_ij,   c ≥ 0
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut._core import CutGraph
from rankcut.errors import InputError

Floats = NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max) / 8.0


class MaxMarginals(NamedTuple):
    """The largest energies with each label forced to 1 and to 0, and the best labelling."""

    m_plus: Floats
    m_minus: Floats
    labels: NDArray[np.uint8]


def max_marginals(unary: ArrayLike, edges: ArrayLike, costs: ArrayLike) -> MaxMarginals:
    """For each sample the largest energy of a labelling with label 1 there, and with label 0.

    Parameters
    ----------
    unary : array-like of shape (n,)
        What each sample adds if its label is 1.
    edges : array-like of shape (m, 2)
        Pairs of sample numbers. Direction does not count; the costs of a pair that comes again add up.
    costs : array-like of shape (m,)
        What each edge costs if its ends have different labels; never negative.

    Returns
    -------
    (m_plus, m_minus, labels)
        ``m_plus - m_minus`` is the score of each sample. ``labels`` is the best labelling; of several the one with
        the fewest ones: 1 where the score is positive.
    """
    graph, scores, prices = _problem(unary, edges, costs)
    found = MaxMarginals(np.empty(len(scores)), np.empty(len(scores)), np.empty(len(scores), dtype=np.uint8))
    graph.max_marginals(scores, prices, *found, _cores())
    return found


def label(unary: ArrayLike, edges: ArrayLike, costs: ArrayLike) -> tuple[NDArray[np.uint8], float]:
    """The labelling with the largest energy (of several the one with the fewest ones), and that energy.

    The arguments are those of `max_marginals`.
    """
    graph, scores, prices = _problem(unary, edges, costs)
    labels = np.empty(len(scores), dtype=np.uint8)
    value = graph.label(scores, prices, labels, _cores())
    return labels, float(value)


def _problem(unary: ArrayLike, edges: ArrayLike, costs: ArrayLike) -> tuple[CutGraph, Floats, Floats]:
    scores = _numbers("unary", unary)
    pairs = _pairs(edges, len(scores))
    prices = _numbers("costs", costs)
    if len(prices) != len(pairs):
        raise InputError(f"costs: came with {len(prices)} entries for {len(pairs)} edges; pass one per edge")
    if len(prices) and prices.min() < 0:
        bad = int(np.argmin(prices))
        raise InputError(
            f"costs: came with {prices[bad]:g} for edge {bad}; a negative cost would make samples repel each other, "
            "and then the best labelling is no cut any more and cannot be found exactly: pass costs of at least 0, 0 "
            "for pairs that do not attract"
        )
    with np.errstate(over="ignore"):
        total = float(np.abs(scores).sum() + 2.0 * prices.sum())
    if total > LARGEST:
        raise InputError(
            f"unary, costs: came so large that their sum may overflow; divide both by {total / LARGEST * 2:.1g} or more"
            if np.isfinite(total)
            else "unary, costs: came so large that their sum overflows; divide both by a constant"
        )
    return CutGraph(len(scores), pairs), scores, prices


def _numbers(name: str, values: ArrayLike) -> Floats:
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers have no order")
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: came as something that is not numbers ({error})") from error
    if np.ndim(values) != 1:
        raise InputError(f"{name}: came with shape {np.shape(values)}; pass a one-dimensional array")
    if not np.isfinite(numbers).all():
        bad = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InputError(f"{name}: came with {numbers[bad]} at position {bad}; every entry must be finite")
    return numbers


def _pairs(edges: Any, n: int) -> NDArray[np.int64]:
    try:
        pairs = np.asarray(edges)
    except ValueError as error:
        raise InputError(
            f"edges: came as rows of different lengths ({error}); pass pairs of sample numbers"
        ) from error
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(
            f"edges: came with shape {pairs.shape}; pass one row of two sample numbers for each edge"
        )
    if pairs.dtype.kind not in "iu":
        raise InputError(f"edges: came with dtype {pairs.dtype}; pass sample numbers as integers")
    if pairs.min() < 0 or pairs.max() >= n:
        bad = int(np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))[0])
        raise InputError(
            f"edges: came with {tuple(pairs[bad].tolist())} in row {bad} for {n} samples; "
            f"sample numbers go from 0 to {n - 1}"
        )
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        bad = int(np.flatnonzero(loops)[0])
        raise InputError(
            f"edges: came with a self-loop in row {bad}, of sample {int(pairs[bad, 0])}; drop it, it can never be cut"
        )
    return np.ascontiguousarray(pairs, dtype=np.int64)


def _cores() -> int:
    """Threads over connected components; the result is the same for any number."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
