"""Exact line search: minimise ½‖w + t d‖² + C·R(w + t d) over t ≥ 0, without a pass over the data."""

from __future__ import annotations

import math
from typing import NamedTuple

from rankcut.solvers.protocol import Line

FARTHEST = 64.0  # the bracket doubles up to here
EVALUATIONS = 30


class Point(NamedTuple):
    t: float
    value: float  # of the objective
    slope: float
    risk: float


class Found(NamedTuple):
    """The best point of the line, and the right end of the last bracket: a point with slope ≥ 0."""

    best: Point
    right: Point


def search(
    line: Line,
    limit: float,
    half_norm: float,
    linear: float,
    quadratic: float,
    C: float,
    accuracy: float,
    first: float = 1.0,
) -> Found:
    """Minimise h(t) = half_norm + linear·t + ½·quadratic·t² + C·R(t) over 0 ≤ t ≤ limit, to `accuracy` in h. The
    bracket is sought from [0, first] on.

    h is convex: the tangents of a bracket's ends meet below its minimum, which bounds what is left.
    """

    def at(t: float) -> Point:
        risk, slope = line(t)
        return Point(
            t,
            half_norm + t * (linear + 0.5 * quadratic * t) + C * risk,
            linear + quadratic * t + C * slope,
            risk,
        )

    left, right = at(0.0), at(min(first, limit))
    while right.slope < 0 and right.t < min(limit, FARTHEST):
        left, right = right, at(min(2.0 * right.t, limit))
    if left.slope >= 0:
        return Found(left, left)
    if right.slope < 0:
        return Found(right, right)
    for turn in range(EVALUATIONS):
        meet = _meet(left, right)
        floor = left.value + left.slope * (meet - left.t)
        if min(left.value, right.value) - floor <= accuracy or right.t - left.t <= 1e-13 * right.t:
            break
        # Take turns between where the tangents meet and, pulled towards it, where the slope would vanish.
        vanish = left.t - left.slope * (right.t - left.t) / (right.slope - left.slope)
        t = meet if turn % 2 == 0 else 0.5 * (meet + vanish)
        margin = 0.05 * (right.t - left.t)
        point = at(min(max(t, left.t + margin), right.t - margin))
        if point.slope < 0:
            left = point
        else:
            right = point
    return Found(left if left.value <= right.value else right, right)


def _meet(left: Point, right: Point) -> float:
    bend = right.slope - left.slope
    if not bend > 0 or not math.isfinite(bend):
        return 0.5 * (left.t + right.t)
    t = (left.value - right.value + right.slope * right.t - left.slope * left.t) / bend
    return min(max(t, left.t), right.t)
