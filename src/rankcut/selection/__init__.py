"""Choosing models: splitters that respect queries, scoring, and the choice on a path."""

from rankcut.selection.components import ComponentKFold
from rankcut.selection.splitters import BagKFold, QueryKFold

__all__ = ["BagKFold", "ComponentKFold", "QueryKFold"]
