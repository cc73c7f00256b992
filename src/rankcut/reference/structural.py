"""Structural SVMs by enumeration: problems whose outputs can all be listed.

    R(w) = mean_i max_y [loss(y_i, y) + w·ψ(x_i, y)] − max_h w·ψ(x_i, (y_i, h))

``features[i]`` holds ψ(x_i, y) for every output y, a row each, ``losses[i]`` its loss, and ``truths[i]`` the rows that
complete the observed output: one row where nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankcut.reference.rankings import FloatArray


class Enumerated(NamedTuple):
    features: Sequence[FloatArray]
    losses: Sequence[FloatArray]
    truths: Sequence[Sequence[int]]


def chosen(problem: Enumerated, w: FloatArray) -> list[int]:
    """The best completion of each observed output, the first of equals."""
    return [
        rows[int(np.argmax(features[list(rows)] @ w))]
        for features, rows in zip(problem.features, problem.truths, strict=True)
    ]


def risk(
    problem: Enumerated, w: FloatArray, completions: Sequence[int] | None = None
) -> tuple[float, FloatArray]:
    """The value at w and a subgradient of the bound that is frozen at these completions, by default w's own."""
    rows = chosen(problem, w) if completions is None else completions
    value, gradient = 0.0, np.zeros(len(w))
    for features, loss, right in zip(problem.features, problem.losses, rows, strict=True):
        wrong = int(np.argmax(loss + features @ w))
        difference = features[wrong] - features[right]
        value += float(loss[wrong] + difference @ w)
        gradient += difference
    return value / len(rows), gradient / len(rows)
