"""Checks of single numbers, each error naming the argument and what to pass."""

from __future__ import annotations

import math
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
