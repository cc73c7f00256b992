"""Real data that comes with rankcut."""

from __future__ import annotations

from typing import Any


def load_demo(name: str) -> Any:
    raise KeyError(name)
