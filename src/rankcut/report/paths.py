"""The pictures of a search along C, each with the table that it was drawn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankcut.errors import InputError
from rankcut.estimators import RankSVMCV
from rankcut.report.style import standalone
from rankcut.report.svg import Plot, decades, rounds
from rankcut.report.tables import Table
from rankcut.solvers import Record

Floats = NDArray[np.float64]
SIZE = (680, 360)
MOST_LINES, MOST_NAMES = 30, 8


class Figure(NamedTuple):
    """A picture as the text of an SVG file, its caption, and the numbers behind it."""

    svg: str
    caption: str
    table: Table

    def _repr_html_(self) -> str:
        return f"<figure>{self.svg}<figcaption>{self.caption}</figcaption></figure>"


class PathFigures(NamedTuple):
    """`scores`: by C, with their spread; `objectives` and `gaps`: against passes; `coefficients`: along the path."""

    scores: Figure
    objectives: Figure
    gaps: Figure
    coefficients: Figure


def path_figures(model: RankSVMCV, ranker: int = 0) -> PathFigures:
    """The four pictures of a fitted RankSVMCV: of one ranker (class), along the path with the chosen loss setting.

    Each has `.svg`, to be written to a file as it is, `.caption` and `.table` (`.heads` and `.rows`).
    """
    if not isinstance(model, RankSVMCV):
        raise InputError(f"model: came as {type(model).__name__}; pass a fitted RankSVMCV")
    check_is_fitted(model)
    K = model.cv_scores_.shape[2]
    if isinstance(ranker, bool) or not isinstance(ranker, int | np.integer) or not 0 <= ranker < K:
        raise InputError(f"ranker: came as {ranker!r}; pass a whole number from 0 to {K - 1}")
    path = _Path(model, int(ranker))
    return PathFigures(_scores(path), _objectives(path), _gaps(path), _coefficients(path))


class _Path:
    """What the pictures show of a model."""

    def __init__(self, model: RankSVMCV, ranker: int) -> None:
        params = model.cv_results_["params"]
        chosen = int(np.atleast_1d(model.best_index_)[ranker])
        setting = _setting(params[chosen])
        which = [i for i, each in enumerate(params) if _setting(each) == setting]
        self.C = np.array([params[i]["C"] for i in which])
        self.chosen = which.index(chosen)
        self.scores: Floats = model.cv_scores_[which, :, ranker]
        self.coefficients: Floats = model.coef_path_[which, ranker]
        self.histories: list[list[Record]] = [model.history_path_[i][ranker] for i in which]
        self.names = [str(n) for n in getattr(model, "feature_names_in_", range(model.n_features_in_))]
        about = [f"{name}={value}" for name, value in setting.items()]
        if len(model.cv_scores_[0, 0]) > 1:
            about.append(f"class {model.classes_[ranker]}")
        self.about = f" ({', '.join(about)})" if about else ""
        self.scoring = model.scoring if isinstance(model.scoring, str) else "score"
        self.tol = float(model.tol)

    def plot(self, y: tuple[float, float], right: int = 28) -> Plot:
        """A frame with a logarithmic axis of C, and a line at the choice."""
        low, high = math.log10(self.C.min()), math.log10(self.C.max())
        low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
        plot = Plot(SIZE, (low, high), y, margins=(12, right, 44, 64))
        values, digits = rounds(*y)
        words = {value: f"{value:.{digits}f}".replace("-", "−") for value in values}
        plot.marks(
            decades(low, high) or {math.log10(C): f"{C:.3g}" for C in self.C[:: len(self.C) // 4 + 1]}, words
        )
        at = math.log10(self.C[self.chosen])
        plot.line([at, at], list(y), "chosen")
        return plot


def _setting(params: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in params.items() if name != "C"}


def _scores(path: _Path) -> Figure:
    known = np.isfinite(path.scores)
    counts = known.sum(axis=1)
    mean = np.array([s[k].mean() if k.any() else np.nan for s, k in zip(path.scores, known, strict=True)])
    spread = np.array(
        [s[k].std(ddof=1) if k.sum() > 1 else 0.0 for s, k in zip(path.scores, known, strict=True)]
    )
    error = spread / np.sqrt(np.maximum(counts, 1))
    shown = np.flatnonzero(counts)
    plot = path.plot(_range(path.scores[known]))
    plot.labels("C", f"{path.scoring}, held-out rows")
    x = np.log10(path.C)
    for i in shown:
        plot.line([x[i], x[i]], [mean[i] - error[i], mean[i] + error[i]], "interval")
        plot.dots([x[i]] * counts[i], list(path.scores[i][known[i]]), "fold", 2.5)
    plot.line(list(x[shown]), list(mean[shown]), "second")
    plot.dots(list(x[shown]), list(mean[shown]), "mean", 5)
    rows = [
        (
            f"{C:.6g}",
            *(_number(v) for v in (mean[i], error[i], spread[i] if counts[i] else np.nan, *path.scores[i])),
            "chosen" if i == path.chosen else "",
        )
        for i, C in enumerate(path.C)
    ]
    folds = tuple(f"fold {k}" for k in range(path.scores.shape[1]))
    caption = (
        f"{path.scoring} against C{path.about}: the mean over the folds, its standard error (bars), every fold "
        f"(circles); the dashed line is the choice, C = {path.C[path.chosen]:.4g}."
    )
    heads = ("C", "mean", "standard error", "standard deviation", *folds, "")
    return _figure(plot, f"{path.scoring} against C{path.about}", caption, heads, rows)


def _objectives(path: _Path) -> Figure:
    history = path.histories[path.chosen]
    x = _passes(history)
    above = [record.objective for record in history]
    below = [max(0.0, record.dual_objective) for record in history]  # 0 is a lower bound too: R ≥ 0
    plot = Plot(SIZE, _span(x), _range(np.array(above + below)), margins=(12, 16, 44, 72))
    values, digits = rounds(*_range(np.array(above + below)))
    steps, x_digits = rounds(*_span(x))
    plot.marks(
        {s: f"{s:.{x_digits}f}" for s in steps}, {v: f"{v:.{digits}f}".replace("-", "−") for v in values}
    )
    plot.labels("passes over X, of all problems", "objective, and the bound below")
    plot.line(x, above, "second")
    plot.line(x, below, "first")
    plot.dots(x, above, "mean", 3.5)
    caption = (
        f"The objective on all rows at the chosen C = {path.C[path.chosen]:.4g}{path.about} (line), and the proven "
        "lower bound of its minimum (dashes), against the passes that all problems have shared by then."
    )
    return _figure(plot, f"Objective against passes{path.about}", caption, RECORD, _records(history))


def _gaps(path: _Path) -> Figure:
    known = [history for history in path.histories if history]
    everything = [record for history in known for record in history]
    x = _passes(everything)
    logs = [math.log10(max(record.gap, 1e-16)) for record in everything]
    low, high = math.floor(min([*logs, math.log10(path.tol)])), max(1e-9, math.ceil(max(logs)))
    plot = Plot(SIZE, _span(x), (low, high), margins=(12, 16, 44, 64))
    steps, digits = rounds(*_span(x))
    plot.marks({s: f"{s:.{digits}f}" for s in steps}, decades(low, high))
    plot.labels("passes over X, of all problems", "relative duality gap")
    plot.line(list(_span(x)), [math.log10(path.tol)] * 2, "chosen")
    for i, history in enumerate(path.histories):
        if not history:  # interrupted before
            continue
        heights = [math.log10(max(record.gap, 1e-16)) for record in history]
        plot.line(_passes(history), heights, "second" if i == path.chosen else "other")
        plot.dots(_passes(history)[-1:], heights[-1:], "mean" if i == path.chosen else "fold", 3.5)
    rows = [
        (f"{C:.6g}", *row)
        for C, history in zip(path.C, path.histories, strict=True)
        for row in _records(history)
    ]
    caption = (
        f"The duality gap on all rows along the path{path.about}: a line for each C, which starts where the last one "
        f"ended; that of the chosen C is drawn bold. The dashed line is tol = {path.tol:g}."
    )
    return _figure(plot, f"Duality gap against passes{path.about}", caption, ("C", *RECORD), rows)


def _coefficients(path: _Path) -> Figure:
    """The largest coefficients by line; names for the largest at the choice."""
    known = np.isfinite(path.coefficients).all(axis=1)
    w, x = path.coefficients[known], np.log10(path.C[known])
    drawn = np.argsort(-np.abs(w).max(axis=0), kind="stable")[:MOST_LINES]
    at_choice = np.abs(path.coefficients[path.chosen][drawn])
    named = drawn[np.argsort(-at_choice, kind="stable")[:MOST_NAMES]]
    low, high = _range(np.append(w[:, drawn].ravel(), 0.0))
    plot = path.plot((low, high), right=120)
    plot.labels("C", "coefficient")
    for j in drawn[::-1]:
        plot.line(list(x), list(w[:, j]), "second" if j in named else "other")
    heights = _apart([float(w[-1, j]) for j in named], (high - low) * 0.05)
    for j, height in zip(named, heights, strict=True):
        plot.word(x[-1] + 0.01 * (x[-1] - x[0] or 1.0), height, path.names[j][:15])
    rows = [
        (f"{C:.6g}", *(_number(value) for value in path.coefficients[i][drawn])) for i, C in enumerate(path.C)
    ]
    some = (
        f"the {len(drawn)} largest of {len(path.names)} features"
        if len(drawn) < len(path.names)
        else "features"
    )
    caption = (
        f"Coefficients on all rows along the path{path.about}: {some}, named those that are largest at the choice "
        "(dashed line)."
    )
    heads = ("C", *(path.names[j] for j in drawn))
    return _figure(plot, f"Coefficients along the path{path.about}", caption, heads, rows)


RECORD = ("iteration", "passes", "objective", "dual objective", "gap", "seconds")


def _records(history: Sequence[Record]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for i, (record, passes) in enumerate(zip(history, _passes(history), strict=True)):
        bounds = f"{record.objective:.8g}", f"{record.dual_objective:.8g}", f"{record.gap:.3e}"
        rows.append((str(i), f"{passes:.2f}", *bounds, f"{record.seconds:.4f}"))
    return rows


def _passes(history: Sequence[Record]) -> list[float]:
    return [record.forward_passes + record.backward_passes for record in history]


def _figure(
    plot: Plot, title: str, caption: str, heads: tuple[str, ...], rows: list[tuple[str, ...]]
) -> Figure:
    svg = plot.draw(title, f"{caption} The numbers are in the table that comes with the picture.")
    return Figure(standalone(svg), caption, Table(title, heads, rows))


def _number(value: float) -> str:
    return f"{value:.6g}" if np.isfinite(value) else "–"


def _range(values: Floats) -> tuple[float, float]:
    """The range of an axis: that of the values and a little more."""
    if values.size == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    pad = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - pad, high + pad


def _span(x: Sequence[float]) -> tuple[float, float]:
    return (min(x), max(x)) if max(x) > min(x) else (x[0] - 0.5, x[0] + 0.5)


def _apart(heights: list[float], least: float) -> list[float]:
    """Heights for words: as near to their own as they can be in the same order and not on top of each other."""
    order = np.argsort(heights, kind="stable")
    placed = np.array(heights)[order]
    for _ in range(100):
        gaps = np.diff(placed)
        tight = np.flatnonzero(gaps < least * (1 - 1e-6))
        if len(tight) == 0:
            break
        for i in tight:
            push = 0.5 * (least - (placed[i + 1] - placed[i]))
            if push > 0:
                placed[i] -= push
                placed[i + 1] += push
    result = np.empty(len(heights))
    result[order] = placed
    return [float(h) for h in result]
