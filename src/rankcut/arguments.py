"""Checks of single numbers, each error naming the argument and what to pass; and how many threads that means."""

from __future__ import annotations

import math
import os
from numbers import Integral, Real
from typing import Any

from rankcut.errors import InputError


def whole(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise InputError(f"{name}: came as {value!r}; pass a whole number of at least 1")


def positive(name: str, value: Any) -> None:
    fits = isinstance(value, Real) and not isinstance(value, bool)
    if not fits or not (math.isfinite(value) and value > 0):
        raise InputError(f"{name}: came as {value!r}; pass a positive finite number")


def threads(n_jobs: int | None) -> int:
    """None means all cores that this process may use; -1 too, -2 all but one, and so on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs
