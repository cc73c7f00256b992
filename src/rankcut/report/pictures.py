"""The two pictures of a comparison."""

from __future__ import annotations

import numpy as np

from rankcut.report.comparison import RECALLS, Comparison
from rankcut.report.svg import Plot, ticks

STYLES = ("first", "second")


def precision_recall(comparison: Comparison) -> str:
    """Precision at each recall, mean over folds: the area below is the average precision."""
    plot = Plot((680, 380), (0.0, 1.0), (0.0, 1.0))
    fifths = [k / 5 for k in range(6)]
    plot.grid(fifths, fifths)
    plot.labels("recall", "precision")
    share = float(comparison.data.y.mean())
    plot.line([0, 1], [share, share], "chance")
    above = share < 0.06 or 0.06 < share < 0.9  # of the line, where there is room for the word
    plot.word(0.99, share + (0.035 if above else -0.035), "rows in random order", anchor="end", style="quiet")
    # The legend keeps clear of that line and of the curves, which leave the lower left last.
    bottom = 0.1 if share > 0.35 or share < 0.04 else share + 0.1
    for m, (method, style) in enumerate(zip(comparison.methods, STYLES, strict=True)):
        curve = comparison.precision(m)
        plot.line([0, *RECALLS, 1], [curve[0], *curve, curve[-1]], style)
        y = bottom + 0.075 * (1 - m)
        plot.line([0.02, 0.08], [y, y], style)
        mean = comparison.column(m, "average_precision").mean()
        plot.word(0.095, y, f"{method.name}, average precision {mean:.4f}")
    names = " and ".join(method.name for method in comparison.methods)
    title = f"Precision–recall curves on {comparison.data.title}"
    return plot.draw(title, f"Precision of {names} at recall 0 to 1; the numbers are in the table below.")


def differences(comparison: Comparison) -> str:
    """Every fold's difference, with the mean and its interval."""
    first, second = (comparison.column(m, "average_precision") for m in range(2))
    each, test = second - first, comparison.test()
    reach = [abs(test.low), abs(test.high)] if test else []
    extent = 1.1 * max([*np.abs(each), *reach, 1e-6])
    plot = Plot((680, 112), (-extent, extent), (-1.0, 1.0), margins=(8, 16, 44, 56))
    marks, digits = ticks(extent)
    plot.grid(marks, [], digits=digits, signed=True)
    plot.line([0, 0], [-1, 1], "zero")
    names = [method.name for method in comparison.methods]
    plot.labels("difference in average precision")
    plot.below(f"← {names[0]} better", f"{names[1]} better →")
    if test:
        plot.line([test.low, test.high], [-0.35, -0.35], "interval")
        plot.dots([test.mean_difference], [-0.35], "mean", 6)
    plot.dots(list(each), [0.4] * len(each), "fold", 4.5)
    title = f"Differences in average precision on {comparison.data.title}"
    return plot.draw(title, "One dot for each fold; below them the mean and its 95 % interval.")
