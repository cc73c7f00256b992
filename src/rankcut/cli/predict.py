"""`rankcut predict`: scores of a file of any size, part by part."""

from __future__ import annotations

import heapq
import json
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from rankcut import io
from rankcut.cli import exits
from rankcut.cli.kinds import Samples, samples, samples_for
from rankcut.cli.options import Config, DataOptions, Quiet, Threads, shared
from rankcut.cli.output import finite
from rankcut.cli.progress import EVERY_LINE, Progress
from rankcut.errors import InputError
from rankcut.io.atomic import written_whole
from rankcut.io.dataset import combine

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="a model file of rankcut")]
Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="the file to score; only the model's features are read")
]


@shared
def predict(
    model: Model,
    data: Data,
    reading: DataOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="else standard output")
    ] = None,
    table: Annotated[
        bool, typer.Option("--table", help="tab-separated, with row, id, qid, label and scores")
    ] = False,
    top: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="the K best samples of each query, best first")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines: an object for each sample")] = False,
    threads: Threads = None,
    quiet: Quiet = False,
    config: Config = None,
) -> int:
    """Score a file with a model: a line for each sample, higher means more relevant.

    The file may be larger than memory. A sample is a row, or a bag if the model was trained on bags: those have to be
    together in the file. Several rankers give a score each, separated by tabs.

    Examples:
      rankcut predict model.rankcut test.csv > scores.txt
      rankcut predict model.rankcut pool.parquet --id name --top 20 --json
      rankcut predict model.rankcut test.letor.gz --table -o ranked.tsv
    """
    estimator = io.load(model, **({} if threads is None else {"n_jobs": threads}))
    progress = Progress(1, quiet=quiet)
    if top is not None and len(estimator.coef_) > 1:
        raise InputError(
            f"top: the model has {len(estimator.coef_)} rankers, and each has its own order; leave --top out"
        )
    lines = _written(
        estimator, parts(estimator, data, reading, progress, threads), table, top, as_json=as_json
    )
    with nullcontext(sys.stdout) if output is None else written_whole(output) as out:
        for text in lines:
            out.write(text)
    progress.clear()
    return exits.DONE


def parts(
    estimator: Any, path: Path, reading: DataOptions, progress: Progress, threads: int | None
) -> Iterator[Samples]:
    """The file's samples part by part, with the model's features; graphs whole."""
    options = {**reading.reading(), **features_of(estimator, reading, path)}
    if reading.edges is not None:
        yield samples(
            io.read(path, edges=reading.edges, edges_by=reading.edges_by, n_jobs=threads, **options)
        )
        return
    began = noted = time.perf_counter()
    rows, seen = 0, set[Any]()
    for part in _whole_bags(io.stream(path, n_jobs=threads, progress=progress.at, **options), path):
        yield samples_for(estimator, part) if part.bag is None else _bags(part, seen, path)
        rows += part.n_rows
        now = time.perf_counter()
        progress.label = f"{rows:,} rows, {rows / (now - began):,.0f} a second"
        if now - noted > EVERY_LINE and not progress.has_bar:
            noted = now
            progress.note(progress.label)
    progress.note(f"{rows:,} rows in {time.perf_counter() - began:.1f} s")


def features_of(estimator: Any, reading: DataOptions, path: Path) -> dict[str, Any]:
    """Reading options that make X what the model was trained on."""
    names = getattr(estimator, "feature_names_in_", None)
    format = io.format_of(path, reading.format)
    if format == "svmlight":
        return {"n_features": int(estimator.n_features_in_)}
    if names is None or format == "npz":  # arrays go by place
        return {}
    return {"features": [str(name) for name in names]}


def _whole_bags(stream: Iterator[io.Dataset], path: Path) -> Iterator[io.Dataset]:
    """Parts that end where a bag ends."""
    held: list[io.Dataset] = []
    for part in stream:
        if part.bag is None:
            yield part
            continue
        last = np.flatnonzero(part.bag != part.bag[-1])
        cut = int(last[-1]) + 1 if len(last) else 0
        if cut == 0 and held and held[-1].bag is not None and held[-1].bag[-1] == part.bag[-1]:
            held.append(part)
            continue
        ready = [*held, part.rows(slice(0, cut))] if cut else held
        if ready:
            yield combine(iter(ready), path)
        held = [part.rows(slice(cut, None))]
    if held:
        yield combine(iter(held), path)


def _bags(part: io.Dataset, seen: set[Any], path: Path) -> Samples:
    """Whole bags as samples, in the order of the file."""
    bag = np.asarray(part.bag)
    starts = np.concatenate(([True], bag[1:] != bag[:-1]))
    names = bag[starts]
    for name in names.tolist():
        if name in seen:
            raise InputError(f"{path}: the rows of bag {name!r} are not together; sort the file by bag")
        seen.add(name)
    return replace(samples(replace(part, bag=np.cumsum(starts))), id=names)


def _written(
    estimator: Any, stream: Iterator[Samples], table: bool, top: int | None, *, as_json: bool
) -> Iterator[str]:
    """Lines of output, many at a time."""
    names = [f"score_{name}" for name in estimator.classes_] if len(estimator.coef_) > 1 else ["score"]
    first = True
    best: dict[Any, list[tuple[float, int, dict[str, Any]]]] = {}
    at = 0
    for part in stream:
        scores = np.asarray(estimator.decision_function(part.inputs)).reshape(len(part), -1)
        if not (table or as_json or top):
            yield "\n".join("\t".join(map(repr, row)) for row in scores.tolist()) + "\n"
            continue
        records = _records(estimator, part, scores, names, at)
        at += len(part)
        if top is not None:
            for record in records:
                heap = best.setdefault(record.get("qid"), [])
                entry = (record["score"], -record["row"], record)
                heapq.heappush(heap, entry) if len(heap) < top else heapq.heappushpop(heap, entry)
            continue
        yield from _lines(records, as_json=as_json, header=first)
        first = False
    if top is not None:
        chosen = [entry[2] for heap in best.values() for entry in sorted(heap, reverse=True)]
        yield from _lines(chosen, as_json=as_json, header=True)


def _records(estimator: Any, part: Samples, scores: Any, names: list[str], at: int) -> list[dict[str, Any]]:
    labels = _labels(estimator, scores)
    columns: dict[str, Any] = {"row": range(at, at + len(part))}
    for name in ("id", "qid"):
        if getattr(part, name) is not None:
            columns[name] = getattr(part, name).tolist()
    if labels is not None:
        columns["label"] = labels
    columns.update(zip(names, scores.T.tolist(), strict=True))
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _labels(estimator: Any, scores: Any) -> list[Any] | None:
    """What predict answers, from the scores; None for models without labels."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != max(2, scores.shape[1]):
        return None
    index = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
    labels: list[Any] = np.asarray(classes)[index].tolist()
    return labels


def _lines(records: list[dict[str, Any]], *, as_json: bool, header: bool) -> Iterator[str]:
    if as_json:
        yield "".join(json.dumps(finite(record), allow_nan=False) + "\n" for record in records)
        return
    if header and records:
        yield "\t".join(records[0]) + "\n"
    yield "".join("\t".join(map(str, record.values())) + "\n" for record in records)


COMMANDS = (predict,)
