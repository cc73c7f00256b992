"""The page of a study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankcut.report import alerts, study
from rankcut.report.charts import precision_recall
from rankcut.report.shell import Tab, assemble, figure, listed, paragraph, table
from rankcut.report.study import Results
from rankcut.report.tables import Table
from rankcut.studies.run import RECALLS


def study_page(results: Results, title: str = "") -> str:
    """One self-contained HTML file."""
    about = results.about
    sizes = f"{about['samples']:,} samples with {about['features']:,} features"
    lead = paragraph(
        f"{', '.join(results.methods)} on {sizes}: test {results.plan['scoring']} by {results.plan['folds']}-fold "
        f"cross-validation, parameters chosen by {results.plan['inner']} inner folds.",
        "lead",
    )
    if len(results.cells) < results.total:
        lead += paragraph(f"Not finished: {len(results.cells)} of {results.total} cells are done.", "warning")
    tabs = [
        Tab("Results", _results(results)),
        Tab("Curves", _curves(results)),
        Tab("Alerts", _alerts(results)),
        Tab("Protocol", _protocol(results)),
    ]
    return assemble(title or f"Study of {Path(about['data']).name}", lead, tabs)


def _results(results: Results) -> str:
    parts = [table(each) for each in study.tables(results)]
    parts.append(table(study.seconds_table(results)))
    for method, error in results.failures().items():
        parts.append(paragraph(f"{method} failed: {error}", "warning"))
    return "\n".join(parts)


def _curves(results: Results) -> str:
    parts = []
    for label in results.classes:
        curves = {}
        for method in results.methods:
            found = [
                outcome["precision"]
                for cell, (outcome, _) in results.cells.items()
                if cell.method == method and cell.label == label and outcome.get("precision")
            ]
            if found:
                mean = np.mean(found, axis=0)
                curves[method] = (mean.tolist(), float(mean.mean()))
        if curves:
            total = sum(results.about["labels"].values())
            chart = precision_recall(curves, RECALLS, results.about["labels"].get(label, 0) / total)
            parts.append(figure(chart.picture, f"Class {label}: mean over the splits.", chart.table))
    return "\n".join(parts) or paragraph(
        "With queries, precision and recall are those of each query: no curves."
    )


def _alerts(results: Results) -> str:
    found = alerts.of_study(
        results.plan, [(cell.method, outcome) for cell, (outcome, _) in results.cells.items()]
    )
    return listed(found, "alerts") if found else paragraph("Nothing stands out.", "fine")


def _protocol(results: Results) -> str:
    plan = results.plan
    over = "classes" if len(results.classes) >= study.FEW else "splits"
    rows = [
        (method["label"], _params(method["fixed"]), _params(method["grid"])) for method in plan["methods"]
    ]
    environment = [(package, version) for package, version in results.about["versions"].items()]
    scaled = (
        "Features are centred and divided by their standard deviation over the training part (sparse ones divided by "
        "their largest magnitude). "
        if plan["scale"]
        else ""
    )
    return "\n".join(
        [
            paragraph(
                f"{plan['repeats']} × {plan['folds']} folds, seed {plan['seed']}. {scaled}In each split parameters "
                f"are chosen by the mean {plan['scoring']} over {plan['inner']} inner folds of the training part; the "
                "fit on the whole training part is scored once on the test part."
            ),
            paragraph(
                f"Tests are paired over {over}, p-values corrected by Holm's method for the number of comparisons. "
                "Splits share training rows: over splits the variance of the t-test is widened (Nadeau and Bengio, "
                "2003)."
            ),
            table(Table("Methods", ("method", "set", "chosen from"), rows)),
            table(Table("Versions", ("package", "version"), environment)),
            paragraph(f"SHA-256 of the data: {', '.join(plan['content'])}", "quiet"),
        ]
    )


def _params(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in params.items()) or "–"
