"""`rankcut fit` and what fitting commands share: from a file to a model file."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from rankcut import io
from rankcut.cli import exits
from rankcut.cli.kinds import Samples, kind_for, make, samples
from rankcut.cli.main import complain
from rankcut.cli.options import Config, DataOptions, Json, Quiet, Seed, Threads, shared
from rankcut.cli.output import show_json
from rankcut.cli.progress import Fitting, Progress
from rankcut.cli.scaling import fold, scale
from rankcut.cli.targets import TargetOptions
from rankcut.designs import make_design
from rankcut.errors import InputError
from rankcut.estimators.base import threads as threads_of
from rankcut.report.trace import Trace
from rankcut.solvers import Status

Output = Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="the model file")]
Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="svmlight, LETOR, CSV, Parquet or npz; text also in gzip")
]
Scale = Annotated[
    str,
    typer.Option(
        metavar="none|standard|max", help="features for the fit; the model is for features as they are"
    ),
]


@dataclass(frozen=True)
class Training:
    """Data to fit on, and what it is, for the model's notes."""

    data: io.Dataset
    samples: Samples
    notes: dict[str, Any]


@shared
def fit(
    data: Data,
    output: Output,
    reading: DataOptions,
    target: TargetOptions,
    model: Annotated[
        str, typer.Option(help="rank, bag, graph or preference; auto goes by the data")
    ] = "auto",
    c: Annotated[float | None, typer.Option("-C", metavar="C", help="weight of the risk (default 1)")] = None,
    loss: Annotated[
        str | None, typer.Option(help="ap, auc, ndcg, mrr, precision@k, hinge (default ap)")
    ] = None,
    tol: Annotated[float | None, typer.Option(help="relative duality gap to reach (default 0.001)")] = None,
    max_iter: Annotated[int | None, typer.Option(metavar="N", help="most cuts")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="any other parameter of the estimator"),
    ] = None,
    scale: Scale = "none",
    threads: Threads = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    config: Config = None,
) -> int:
    """Train a ranker on a file, and store it.

    Two labels make one ranker (the larger label is relevant), more labels one ranker each. Ctrl-C ends the fit and
    stores the best model so far.

    Examples:
      rankcut fit train.csv -o model.rankcut
      rankcut fit train.letor.gz -o model.rankcut --relevant-from 1 --loss ndcg -C 100
      rankcut fit regions.parquet -o model.rankcut --bag image --label has_bird --scale standard
    """
    check_output(output)
    progress = Progress(1, quiet=quiet)
    training = prepared(data, reading, target, progress, threads)
    kind = kind_for(training.data, model)
    options = {
        "C": c,
        "loss": loss,
        "tol": tol,
        "max_iter": max_iter,
        "n_jobs": threads,
        "random_state": seed,
    }
    estimator = make(kind, options, settings or [])
    traced = kind == "rank" and training.samples.qid is None and estimator.approx is None
    status, seconds = fitted(estimator, training, scale, progress, Trace() if traced else None)
    if not hasattr(estimator, "coef_"):
        return status
    interrupted = status != exits.DONE
    about = store(estimator, training, scale, seconds, output, progress, interrupted=interrupted)
    if as_json:
        show_json({"model": str(output), "interrupted": interrupted, **about})
    return status


def check_output(path: Path) -> None:
    """Better now than after the work."""
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise InputError(f"output: cannot write {path}; pass a file in a folder that exists")


def prepared(
    path: Path, reading: DataOptions, target: TargetOptions, progress: Progress, threads: int | None
) -> Training:
    """Read a file and apply the rule for labels."""
    began, progress.label = time.perf_counter(), "reading"
    data = reading.read(path, n_jobs=threads, progress=progress.at)
    data = replace(data, y=target.labels(data.y, data.source))
    seconds = time.perf_counter() - began
    progress.note(f"{data}: read in {seconds:.1f} s")
    notes = {
        "data": str(path),
        "rows": data.n_rows,
        "features": data.n_features,
        "target": target.rule(),
        "seconds_reading": seconds,
    }
    return Training(data, samples(data), notes)


def fitted(
    estimator: Any, training: Training, scaling: str, progress: Progress, trace: Trace | None = None
) -> tuple[int, float]:
    """Fit on scaled features, and put the model back on the scale of the data. The exit status, and the seconds; the
    estimator has no coef_ if it was interrupted too early. With a trace it keeps interleaving ranks, for a report."""
    inputs, back = _scaled(training, scaling)
    estimator.set_params(callbacks=[Fitting(progress, estimator.tol), *([trace] if trace else [])])
    arguments = _arguments(estimator, training.samples)
    began = time.perf_counter()
    try:
        estimator.fit(inputs, training.samples.y, **arguments)
    except KeyboardInterrupt:
        progress.clear()
        complain("interrupted before there was a model; nothing is stored", exits.INTERRUPTED)
        return exits.INTERRUPTED, time.perf_counter() - began
    progress.clear()
    seconds = time.perf_counter() - began
    if training.data.feature_names is not None:
        estimator.feature_names_in_ = np.array(training.data.feature_names, dtype=object)
    if trace is not None:
        _keep(trace, estimator, inputs, training.samples.y)
    if back is not None:
        fold(estimator, *back)
    statuses = estimator.status_ if isinstance(estimator.status_, list) else [estimator.status_]
    return (exits.INTERRUPTED if Status.INTERRUPTED in statuses else exits.DONE), seconds


def _keep(trace: Trace, estimator: Any, X: Any, y: Any) -> None:
    """The interleaving ranks of a ranker of two labels, as a model file can hold them."""
    if len(estimator.coef_) > 1 or np.ndim(y) != 1:
        return
    found = trace.ranks(make_design(X, n_threads=threads_of(estimator.n_jobs)), y == np.max(y))
    if found is not None:
        estimator.interleaving_ = found._asdict()


def store(
    estimator: Any,
    training: Training,
    scaling: str,
    seconds: float,
    output: Path,
    progress: Progress,
    *,
    interrupted: bool,
) -> dict[str, Any]:
    """Save the model; returns its description."""
    io.save(estimator, output, notes={**training.notes, "scale": scaling, "seconds_fitting": seconds})
    about = io.describe(output)
    progress.note(said(about, seconds))
    if interrupted:
        complain(f"interrupted; the best model so far is in {output}", exits.INTERRUPTED)
    else:
        progress.note(f"stored in {output}")
    return about


def said(about: dict[str, Any], seconds: float) -> str:
    """The certificate in a line."""
    training = about["training"]
    gaps = [gap for gap in training.get("dual_gap", []) if gap is not None]
    gap = f", duality gap {max(gaps):.2g}" if gaps else ""
    return f"{about['class']} fitted in {seconds:.1f} s: {sum(training.get('n_iter', []))} cuts{gap}"


def _arguments(estimator: Any, found: Samples) -> dict[str, Any]:
    """What fit takes beside inputs and labels. Nothing that the data set holds is left out in silence."""
    held = {name: values for name in ("qid", "known") if (values := getattr(found, name)) is not None}
    for name in held.keys() - signature(estimator.fit).parameters.keys():
        what = f"{type(estimator).__name__} has no use for it; leave the column out with --drop {name}"
        raise InputError(f"{name}: {what}")
    return held


def _scaled(training: Training, scaling: str) -> tuple[Any, Any]:
    if scaling == "none":
        return training.samples.inputs, None
    if training.data.edges is not None and training.data.edge_features is None:
        raise InputError(
            "scale: the edges' features are made of the rows', and would change too; pass 'none'"
        )
    X, shift, width = scale(training.data.X, scaling)
    return samples(replace(training.data, X=X)).inputs, (shift, width)


COMMANDS = (fit,)
