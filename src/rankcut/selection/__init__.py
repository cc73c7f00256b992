"""Choosing models: splitters that respect queries, scoring, and the choice on a path."""

from rankcut.selection.splitters import QueryKFold

__all__ = ["QueryKFold"]
