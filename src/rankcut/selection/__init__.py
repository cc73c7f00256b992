"""Choosing models: splitters that respect queries, scoring, and the choice on a path."""

from rankcut.selection.components import ComponentKFold
from rankcut.selection.splitters import QueryKFold

__all__ = ["ComponentKFold", "QueryKFold"]
