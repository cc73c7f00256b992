"""`rankcut evaluate`: how well a model ranks a file, with intervals."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from rankcut import io
from rankcut.cli import exits
from rankcut.cli.kinds import samples_for
from rankcut.cli.options import Config, DataOptions, Json, Quiet, Seed, Threads, shared
from rankcut.cli.output import show, show_json, show_table
from rankcut.cli.predict import Data, Model, features_of
from rankcut.cli.progress import Progress
from rankcut.cli.targets import TargetOptions, apply
from rankcut.errors import InputError
from rankcut.report.measures import Interval, Measured, binary_measures, graded_measures, measure


@shared
def evaluate(
    model: Model,
    data: Data,
    reading: DataOptions,
    target: TargetOptions,
    at: Annotated[str, typer.Option(metavar="K,K", help="k of precision at k")] = "1,5,10",
    per_query: Annotated[bool, typer.Option("--per-query", help="also a line for each query")] = False,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="B", help="samples for the intervals (default 1000 of queries, 200 of rows)"
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="of the intervals")] = 0.95,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: Json = False,
    quiet: Quiet = False,
    config: Config = None,
) -> int:
    """Measure a model on a file with labels.

    Average precision in its three definitions, NDCG, AUC, MRR and precision at k, in the mean over queries (or of all
    rows as one list), with bootstrap intervals. Which rows are relevant goes by the rule that the model was trained
    with, unless you give another. Measured on the rows it was trained on, a model looks better than it is.

    Examples:
      rankcut evaluate model.rankcut test.csv
      rankcut evaluate model.rankcut test.letor --at 1,3,10 --per-query
      rankcut evaluate model.rankcut test.parquet --bootstrap 2000 --json
    """
    estimator = io.load(model, **({} if threads is None else {"n_jobs": threads}))
    progress = Progress(1, quiet=quiet)
    progress.label = "bootstrap"
    found = reading.read(data, n_jobs=threads, **features_of(estimator, reading, data))
    rule = target.rule() or io.describe(model)["training"].get("target") or {}
    sample = samples_for(estimator, found)
    if sample.y is None:
        raise InputError(f"label: {data} has no labels; name their column with --label")
    scores: Any = np.asarray(estimator.decision_function(sample.inputs)).reshape(len(sample), -1)
    results: list[Measured] = []
    for name, relevant in relevances(estimator, apply(rule, sample.y), scores.shape[1]):
        chosen = graded_measures() if relevant.dtype != bool else binary_measures(_numbers(at))
        column = scores[:, len(results)]
        results.append(
            measure(name, chosen, relevant, column, sample.qid, bootstrap, confidence, seed, progress.at)
        )
    progress.clear()
    if as_json:
        document = {
            "model": str(model),
            "data": str(data),
            "rows": len(sample),
            "target": rule,
            "confidence": confidence,
        }
        show_json({**document, "rankers": [each.document(per_query=per_query) for each in results]})
    else:
        _show(results, confidence, per_query=per_query)
    return exits.DONE


def relevances(estimator: Any, y: Any, n_rankers: int) -> list[tuple[str, Any]]:
    """For each ranker its name and the rows that are relevant to it; grades if there are more than two."""
    classes = getattr(estimator, "classes_", None)
    if y.ndim == 2:
        return [(f"column {k}", y[:, k] > 0) for k in range(y.shape[1])]
    if n_rankers > 1:
        assert classes is not None
        return [(str(label), y == label) for label in classes]
    if y.dtype == bool:
        return [("relevant", y)]
    if classes is not None and len(classes) == 2:
        strange = np.setdiff1d(y, classes)
        if len(strange):
            raise InputError(
                f"label: came with {strange[0]}, and the model was trained on {classes[0]} and {classes[1]}; "
                "pass --relevant or --relevant-from"
            )
        return [(str(classes[1]), y == classes[1])]
    labels = np.unique(y)
    return [(str(labels[-1]), y == labels[-1])] if len(labels) == 2 else [("grades", y.astype(np.float64))]


def _numbers(text: str) -> list[int]:
    try:
        ks = [int(each) for each in text.split(",")]
    except ValueError:
        ks = []
    if not ks or min(ks) < 1:
        raise InputError(f"at: came as {text!r}; pass whole numbers of at least 1, as 1,5,10")
    return ks


def _show(results: list[Measured], confidence: float, *, per_query: bool) -> None:
    heads = ["measure", *(each.name for each in results)] + (["mean"] if len(results) > 1 else [])
    rows = []
    for name in results[0].intervals:
        found = [each.intervals[name] for each in results]
        rows.append([name, *map(_cell, found)])
        if len(results) > 1:
            rows[-1].append(f"{np.mean([each.value for each in found]):.4f}")
    first = results[0]
    lists = f"{first.n_lists} queries" if first.queries is not None else "one list"
    skipped = f", {first.n_skipped} without both kinds of rows left out" if first.n_skipped else ""
    show_table(
        heads, rows, f"{first.n_rows} samples in {lists}{skipped}; intervals at {100 * confidence:g} %"
    )
    if per_query and first.queries is not None:
        show("\n")
        names = list(first.intervals)
        lines = [
            [str(query), *(f"{first.values[name][i]:.4f}" for name in names)]
            for i, query in enumerate(first.queries)
        ]
        show_table(["qid", *names], lines)


def _cell(interval: Interval) -> str:
    if interval.low is None:
        return f"{interval.value:.4f}"
    return f"{interval.value:.4f} [{interval.low:.4f}, {interval.high:.4f}]"


COMMANDS = (evaluate,)
