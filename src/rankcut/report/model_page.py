"""The page of a model on a data set: what was trained on what, how well it ranks, and what to be careful about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.metrics import average_precision, precision_recall_curve
from rankcut.report import alerts
from rankcut.report.charts import convergence, heat_map, histogram, precision_recall
from rankcut.report.measures import Measured
from rankcut.report.pointers import Pointers
from rankcut.report.shell import Tab, assemble, figure, listed, paragraph, table
from rankcut.report.tables import Table
from rankcut.report.trace import Ranks

Floats = NDArray[np.float64]
RECALLS = (np.arange(100) + 0.5) / 100
ENDS = 10  # rows shown of either end of a list
QUERIES = 8  # of which they are shown
WEIGHTS = 20  # features with the largest coefficients


@dataclass(frozen=True)
class Ranking:
    """What one ranker makes of the data: scores, and which samples are relevant to it."""

    name: str
    relevant: NDArray[np.bool_]
    scores: Floats


@dataclass(frozen=True)
class Sheet:
    """All that the page shows. `about` is what the model file says of itself (rankcut.io.describe)."""

    model: Any
    about: Mapping[str, Any]
    source: str  # of the data
    rankings: Sequence[Ranking]
    measured: Sequence[Measured]
    qid: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    pointers: Pointers = field(default_factory=Pointers)
    trace: Ranks | None = None
    warnings: Sequence[str] = ()  # of whoever prepared the data, as overlaps with training rows


def model_page(sheet: Sheet, title: str = "") -> str:
    """One self-contained HTML file."""
    found = _alerts(sheet)
    tabs = [
        Tab("Summary", _summary(sheet, len(found))),
        Tab("Ranking", _ranking(sheet)),
        Tab("First and last", _ends(sheet)),
        Tab("Training", _training(sheet)),
        Tab("Alerts", listed(found, "alerts") if found else paragraph("Nothing stands out.", "fine")),
    ]
    n = len(sheet.rankings[0].scores)
    lead = paragraph(f"{sheet.about['class']} on {n:,} samples of {sheet.source}.", "lead")
    return assemble(title or f"{sheet.about['class']} on {sheet.source}", lead, tabs)


def _alerts(sheet: Sheet) -> list[str]:
    several = len(sheet.rankings) > 1
    found = [*alerts.of_model(sheet.model), *sheet.warnings]
    for each in sheet.rankings:
        found += alerts.of_ranking(each.name if several else "", each.relevant, each.scores, sheet.qid)
    return found


def _summary(sheet: Sheet, n_alerts: int) -> str:
    parts = []
    if n_alerts:
        parts.append(
            paragraph(f"{n_alerts} alert{'s' if n_alerts > 1 else ''}: see the last tab.", "warning")
        )
    parts += [table(measure_table(sheet.measured)), table(_model_table(sheet), sortable=False)]
    weights = _weights_table(sheet)
    return "\n".join([*parts, *([table(weights)] if weights else [])])


def measure_table(measured: Sequence[Measured]) -> Table:
    """A row for each measure, a column for each ranker."""
    rows = [(name, *(_interval(each.intervals[name]) for each in measured)) for name in measured[0].intervals]
    lists = (
        f"mean over {measured[0].n_lists} queries"
        if measured[0].queries is not None
        else "all samples as one list"
    )
    return Table(
        f"Measures with 95 % intervals (bootstrap); {lists}", ("measure", *(e.name for e in measured)), rows
    )


def _interval(found: Any) -> str:
    if found.low is None:
        return f"{found.value:.4f}"
    return f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]"


def _model_table(sheet: Sheet) -> Table:
    about, training = sheet.about, sheet.about["training"]
    rows = [("class", str(about["class"])), ("written by", f"rankcut {about['rankcut']}")]
    rows += [(name, _short(value)) for name, value in about["parameters"].items() if value is not None]
    rows += [
        (f"training: {name.replace('_', ' ')}", _short(value)) for name, value in training.items() if value
    ]
    return Table("The model", ("what", "value"), [row for row in rows if len(row[1]) < 400])


def _weights_table(sheet: Sheet) -> Table | None:
    coef = getattr(sheet.model, "coef_", None)
    if coef is None or len(coef) != 1:
        return None
    names = sheet.about.get("feature_names") or [f"feature {i}" for i in range(coef.shape[1])]
    chosen = np.argsort(-np.abs(coef[0]), kind="stable")[:WEIGHTS]
    rows = [(str(names[i]), f"{coef[0, i]:+.4g}".replace("-", "−")) for i in chosen if coef[0, i]]
    return Table(
        "Largest coefficients, on features as they were trained on", ("feature", "coefficient"), rows
    )


def _ranking(sheet: Sheet) -> str:
    parts = []
    for each in sheet.rankings:
        if not each.relevant.any() or each.relevant.all():
            continue
        curve = precision_recall_curve(each.relevant, each.scores)
        precision = curve.precision[np.searchsorted(curve.recall, RECALLS)]
        ap = average_precision(each.relevant, each.scores)
        chart = precision_recall({each.name: (precision.tolist(), ap)}, RECALLS, float(each.relevant.mean()))
        words = "of all samples as one list" if sheet.qid is not None else "of all samples"
        parts.append(figure(chart.picture, f"{each.name}: precision and recall {words}.", chart.table))
        chart = histogram(each.scores, each.relevant)
        parts.append(
            figure(chart.picture, f"{each.name}: scores of relevant and other samples.", chart.table)
        )
    return "\n".join(parts) or paragraph("Without relevant and other samples there are no curves.")


def _ends(sheet: Sheet) -> str:
    parts = []
    for each in sheet.rankings:
        lists = _lists(sheet.qid, len(each.scores))
        for name, rows in lists[:QUERIES]:
            order = rows[np.argsort(-each.scores[rows], kind="stable")]
            where = ", ".join(filter(None, (each.name if len(sheet.rankings) > 1 else "", name)))
            parts.append(table(_end_table(sheet, each, order, where), sortable=False))
        if len(lists) > QUERIES:
            parts.append(paragraph(f"{len(lists) - QUERIES} more queries are not shown.", "quiet"))
    return "\n".join(parts)


def _lists(qid: NDArray[Any] | None, n: int) -> list[tuple[str, NDArray[np.intp]]]:
    if qid is None:
        return [("", np.arange(n))]
    queries, codes = np.unique(qid, return_inverse=True)
    order = np.argsort(codes.reshape(-1), kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(codes.reshape(-1)))[:-1])
    return [(f"query {query}", rows) for query, rows in zip(queries, parts, strict=True)]


def _end_table(sheet: Sheet, ranking: Ranking, order: NDArray[np.intp], where: str) -> Table:
    """The first and last of a list, and the relevant ones that come last."""
    place = np.arange(1, len(order) + 1)
    relevant = ranking.relevant[order]
    shown: dict[int, str] = {}
    for i in np.flatnonzero(relevant)[-ENDS:]:
        shown[int(i)] = "relevant, far down"
    for i in range(max(0, len(order) - ENDS), len(order)):
        shown[i] = "last" + (", relevant" if relevant[i] else "")
    for i in range(min(ENDS, len(order))):
        shown[i] = "first" + (", relevant" if relevant[i] else "")
    rows = []
    for i in sorted(shown):
        row = int(order[i])
        name = str(row if sheet.ids is None else sheet.ids[row])
        rows.append((str(place[i]), sheet.pointers.cell(name), f"{ranking.scores[row]:.4g}", shown[i]))
    caption = "First, last, and the relevant samples that come last" + (f": {where}" if where else "")
    return Table(caption, ("rank", "sample", "score", "why"), rows)


def _training(sheet: Sheet) -> str:
    history = getattr(sheet.model, "history_", None) or []
    several = bool(history) and isinstance(history[0], list)
    histories = history if several else [history]
    names = [each.name for each in sheet.rankings]
    parts = []
    for k, each in enumerate(histories):
        if len(each) > 1:
            chart = convergence(each)
            who = f"{names[k]}: " if several and k < len(names) else ""
            caption = f"{who}How far from its optimum the model can be at most, after each cut."
            parts.append(figure(chart.picture, caption, chart.table))
    if sheet.trace is not None:
        cuts, ranks, positives = sheet.trace
        chart = heat_map(ranks, positives, cuts)
        caption = (
            "Interleaving ranks during training: a column for each of some negatives, a row for a cut. Light: the most "
            "violated ranking has the negative below all relevant samples."
        )
        parts.append(figure(chart.picture, caption, chart.table))
    return "\n".join(parts) or paragraph("The model file holds no record of its training.")


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_short, value))
    return str(value)
