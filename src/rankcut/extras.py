"""Optional dependencies: imported when first needed; the error names what to install."""

from __future__ import annotations

import importlib
from typing import Any

from rankcut.errors import RankcutError


class MissingExtra(RankcutError, ImportError):
    """A feature whose optional dependency is not installed."""


def need(module: str, extra: str, purpose: str) -> Any:
    """The module, or an error that says which extra of rankcut has it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(f"{module} is needed {purpose}: pip install 'rankcut[{extra}]'") from error
