"""What a study has found, in the form in which results are published: a row for each class, a column for each method,
the mean over classes, and tests of the first method against the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.metrics import PairedTest, holm, paired_test
from rankcut.report.tables import Table
from rankcut.report.words import p_value, signed
from rankcut.studies import Cell, Store

Floats = NDArray[np.float64]
FEW = 5  # classes below which folds are compared instead


@dataclass(frozen=True)
class Results:
    """A study's cells by method, class and split; NaN where there is none yet, or where the method failed."""

    plan: Mapping[str, Any]
    about: Mapping[str, Any]
    cells: Mapping[Cell, tuple[dict[str, Any], dict[str, float]]]

    @classmethod
    def of(cls, store: Store) -> Results:
        return cls(*store.read())

    @property
    def methods(self) -> list[str]:
        return [method["label"] for method in self.plan["methods"]]

    @property
    def classes(self) -> list[str]:
        return list(self.plan["classes"])

    @property
    def total(self) -> int:
        return len(self.methods) * len(self.classes) * int(self.plan["folds"]) * int(self.plan["repeats"])

    def scores(self, method: str) -> Floats:
        """(classes, splits)."""
        splits = [(r, f) for r in range(self.plan["repeats"]) for f in range(self.plan["folds"])]
        return np.array(
            [[self._score(Cell(method, label, *split)) for split in splits] for label in self.classes]
        )

    def _score(self, cell: Cell) -> float:
        outcome = self.cells.get(cell, ({}, {}))[0]
        return float(outcome.get("score", np.nan))

    def failures(self) -> dict[str, str]:
        """The first error of each method that failed somewhere, and how often."""
        found: dict[str, list[str]] = {}
        for cell, (outcome, _) in self.cells.items():
            if "error" in outcome:
                found.setdefault(cell.method, []).append(outcome["error"])
        return {method: f"{len(errors)} × {errors[0]}" for method, errors in found.items()}


@dataclass(frozen=True)
class Against:
    """The first method less another one, with the p-values corrected for the number of comparisons."""

    other: str
    over: str
    test: PairedTest
    t_holm: float
    wilcoxon_holm: float


def class_table(results: Results) -> Table:
    """Mean ± standard deviation over the splits, and the mean over classes."""
    rows = []
    scores = {method: results.scores(method) for method in results.methods}
    for i, label in enumerate(results.classes):
        rows.append((label, *(_spread(scores[method][i]) for method in results.methods)))
    if len(results.classes) > 1:
        means = [_mean(_by_class(scores[method])) for method in results.methods]
        rows.append(("mean", *means))
    splits = f"{results.plan['repeats']} × " if results.plan["repeats"] > 1 else ""
    caption = f"Test {results.plan['scoring']}, mean ± standard deviation over {splits}{results.plan['folds']} folds"
    return Table(caption, ("class", *results.methods), rows)


def comparisons(results: Results) -> list[Against]:
    """Over classes if there are enough of them, else over splits, whose training rows overlap (Nadeau and Bengio)."""
    first, *others = results.methods
    mine = results.scores(first)
    many = len(results.classes) >= FEW
    found = []
    for other in others:
        a, b = mine, results.scores(other)
        if many:
            a, b = _by_class(a), _by_class(b)
        else:
            a, b = _by_split(a), _by_split(b)
        both = ~(np.isnan(a) | np.isnan(b))
        if both.sum() >= 2:
            correction = 0.0 if many else 1 / (results.plan["folds"] - 1)
            found.append((other, paired_test(a[both], b[both], correction=correction)))
    if not found:
        return []
    over = "classes" if many else "splits"
    t = holm([test.t_pvalue for _, test in found])
    ranks = holm([test.wilcoxon_pvalue for _, test in found])
    return [Against(other, over, test, float(t[i]), float(ranks[i])) for i, (other, test) in enumerate(found)]


def test_table(results: Results) -> Table:
    rows = []
    for each in comparisons(results):
        test = each.test
        rows.append(
            (
                each.other,
                str(test.n),
                signed(test.mean_difference),
                f"[{signed(test.low)}, {signed(test.high)}]",
                p_value(test.t_pvalue),
                p_value(each.t_holm),
                p_value(test.wilcoxon_pvalue),
                p_value(each.wilcoxon_holm),
            )
        )
    over = "classes" if len(results.classes) >= FEW else "splits"
    heads = (
        "against",
        over,
        "difference",
        "95 % interval",
        "t-test, p",
        "t-test, Holm",
        "Wilcoxon, p",
        "Wilcoxon, Holm",
    )
    return Table(f"{results.methods[0]} less each other method, paired over {over}", heads, rows)


def choice_table(results: Results) -> Table:
    """What the inner folds chose, most often first."""
    rows = []
    for method in results.methods:
        chosen = Counter(
            ", ".join(f"{name} = {_short(value)}" for name, value in sorted(outcome["params"].items()))
            for cell, (outcome, _) in results.cells.items()
            if cell.method == method and "params" in outcome
        )
        words = "; ".join(f"{params} ({count})" for params, count in chosen.most_common(3)) or "–"
        unfinished = sum(
            outcome.get("unfinished", 0)
            for cell, (outcome, _) in results.cells.items()
            if cell.method == method
        )
        rows.append((method, words, str(unfinished)))
    return Table(
        "Chosen parameters (how often), and fits that had not converged",
        ("method", "chosen", "unfinished"),
        rows,
    )


def seconds_table(results: Results) -> Table:
    """Training time differs from run to run; it is no part of a study's result."""
    rows = []
    for method in results.methods:
        spent = [
            seconds["training"]
            for cell, (_, seconds) in results.cells.items()
            if cell.method == method and seconds
        ]
        rows.append((method, f"{np.mean(spent):.3f}" if spent else "–", f"{sum(spent):.1f}"))
    return Table(
        "Seconds of training, with the choice of parameters", ("method", "a split, mean", "all, sum"), rows
    )


def tables(results: Results) -> list[Table]:
    """Those that are the same however often the study was stopped and begun again."""
    found = [class_table(results)]
    if len(results.methods) > 1:
        found.append(test_table(results))
    return [*found, choice_table(results)]


def document(results: Results) -> dict[str, Any]:
    """Everything, as JSON has it."""
    scores = {method: results.scores(method) for method in results.methods}
    return {
        "complete": len(results.cells) == results.total,
        "done": len(results.cells),
        "total": results.total,
        "about": dict(results.about),
        "plan": dict(results.plan),
        "scores": {
            method: {
                label: [None if np.isnan(each) else float(each) for each in row]
                for label, row in zip(results.classes, values, strict=True)
            }
            for method, values in scores.items()
        },
        "tests": [
            {
                "method": results.methods[0],
                "against": each.other,
                "over": each.over,
                "n": each.test.n,
                "difference": each.test.mean_difference,
                "low": each.test.low,
                "high": each.test.high,
                "t_pvalue": each.test.t_pvalue,
                "t_holm": each.t_holm,
                "wilcoxon_pvalue": each.test.wilcoxon_pvalue,
                "wilcoxon_holm": each.wilcoxon_holm,
            }
            for each in comparisons(results)
        ],
        "failures": results.failures(),
    }


def _by_class(scores: Floats) -> Floats:
    return np.array([np.nan if np.isnan(row).all() else np.nanmean(row) for row in scores])


def _by_split(scores: Floats) -> Floats:
    return np.asarray(scores.mean(axis=0))


def _spread(values: Floats) -> str:
    known = values[~np.isnan(values)]
    if not len(known):
        return "–"
    return f"{known.mean():.4f}" + (f" ± {known.std(ddof=1):.4f}" if len(known) > 1 else "")


def _mean(values: Floats) -> str:
    known = values[~np.isnan(values)]
    return f"{known.mean():.4f}" if len(known) == len(values) else "–"


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
