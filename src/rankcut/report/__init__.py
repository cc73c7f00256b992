"""Reports: methods compared on the same folds, as a table, as JSON and as a page."""

from rankcut.report.comparison import RECALLS, Comparison, Method, Outcome, compare, default_methods
from rankcut.report.page import page
from rankcut.report.plain import as_json, as_text

__all__ = [
    "RECALLS",
    "Comparison",
    "Method",
    "Outcome",
    "as_json",
    "as_text",
    "compare",
    "default_methods",
    "page",
]
