"""What comparisons amount to, as tables of words: the plain text and the page show the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rankcut.report import words
from rankcut.report.comparison import RECALLS, Certificate, Comparison


class Table(NamedTuple):
    caption: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def precision_table(comparisons: Sequence[Comparison]) -> Table:
    """A row for each data set: what was measured, and whether the difference could be chance."""
    rows = []
    for each in comparisons:
        y = each.data.y
        counts = f"{len(y):,}", f"{100 * y.mean():.1f} %"
        methods = [words.precision(each, m) for m in range(2)]
        rows.append((each.data.name, *counts, *methods, *words.difference(each)))
    heads = ("data", "rows", "relevant", *_names(comparisons), "difference [95 % interval]", "p")
    return Table("Test average precision, mean ± standard deviation over the folds", heads, rows)


def seconds_table(comparisons: Sequence[Comparison]) -> Table:
    """What training took."""
    rows = []
    for each in comparisons:
        fit = [each.column(m, "fit_seconds").mean() for m in range(2)]
        every = [each.column(m, "all_seconds").sum() for m in range(2)]
        rows.append((each.data.name, *(f"{s:.3f}" for s in fit), *(f"{s:.1f}" for s in every)))
    names = _names(comparisons)
    heads = ("data", *(f"{name}, one fit" for name in names), *(f"{name}, all fits" for name in names))
    return Table("Seconds of training: one fit with the chosen C (mean), and all fits (sum)", heads, rows)


def curve_table(comparison: Comparison) -> Table:
    """Every fifth point of the precision–recall curves."""
    curves = [comparison.precision(m) for m in range(2)]
    rows = [
        (f"{RECALLS[k]:.3f}", *(f"{curve[k]:.4f}" for curve in curves)) for k in range(4, len(RECALLS), 5)
    ]
    return Table("Precision by recall", ("recall", *_names([comparison])), rows)


def fold_table(comparison: Comparison) -> Table:
    """Fold by fold, with the certificate of the second method."""
    names = _names([comparison])
    rows = []
    for k, fold in enumerate(comparison.folds, 1):
        first, second = fold
        rows.append(
            (
                str(k),
                *(f"{each.C:g}" for each in fold),
                *(f"{each.average_precision:.4f}" for each in fold),
                words.signed(second.average_precision - first.average_precision),
                *_certificate(second.certificate),
            )
        )
    heads = (
        "fold",
        *(f"{name}, C" for name in names),
        *names,
        "difference",
        "cuts",
        "passes",
        "gap",
        "status",
    )
    return Table(f"Average precision on each fold, and {names[1]}’s certificate", heads, rows)


def _certificate(found: Certificate | None) -> tuple[str, str, str, str]:
    if found is None:
        return "", "", "", ""
    return str(found.cuts), f"{found.passes:.1f}", f"{found.gap:.1e}", found.status.split(":")[0]


def _names(comparisons: Sequence[Comparison]) -> tuple[str, str]:
    first, second = comparisons[0].methods
    return first.name, second.name
