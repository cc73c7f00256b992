"""`rankcut cv`: C chosen by cross-validation, all folds in shared passes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from rankcut.cli import exits
from rankcut.cli.fit import Data, Scale, check_output, fitted, prepared, store
from rankcut.cli.kinds import make
from rankcut.cli.options import Config, DataOptions, Json, Quiet, Seed, Threads, shared
from rankcut.cli.output import show_json, show_table
from rankcut.cli.progress import Progress
from rankcut.cli.targets import TargetOptions
from rankcut.errors import InputError


@shared
def cv(
    data: Data,
    reading: DataOptions,
    target: TargetOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="MODEL", help="store the model with the chosen C")
    ] = None,
    cs: Annotated[
        str, typer.Option("--Cs", metavar="N|C,C", help="how many values from 0.1 to 10000, or which")
    ] = "10",
    folds: Annotated[
        int, typer.Option(min=2, metavar="K", help="folds, of whole queries if there are any")
    ] = 5,
    loss: Annotated[
        str | None, typer.Option(help="ap, auc, ndcg, mrr, precision@k, hinge (default ap)")
    ] = None,
    scoring: Annotated[
        str, typer.Option(help="average_precision, ndcg, auc, mrr or precision@k")
    ] = "average_precision",
    rule: Annotated[
        str, typer.Option(help="best, or one-se: the smallest C within one standard error")
    ] = "best",
    tol: Annotated[float | None, typer.Option(help="relative duality gap to reach (default 0.001)")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="any other parameter of RankSVMCV")
    ] = None,
    scale: Scale = "none",
    threads: Threads = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    config: Config = None,
) -> int:
    """Choose C by cross-validation, for little more than the cost of one fit.

    Shows the mean score of each C over the folds, with its standard deviation. With -o the model with the chosen C,
    trained on all rows, is stored.

    Examples:
      rankcut cv train.csv
      rankcut cv train.csv -o model.rankcut --Cs 1,10,100,1000 --folds 10
      rankcut cv train.letor --relevant-from 1 --loss ndcg --scoring ndcg --rule one-se --json
    """
    if output is not None:
        check_output(output)
    progress = Progress(1, quiet=quiet)
    training = prepared(data, reading, target, progress, threads)
    if training.data.bag is not None or training.data.edges is not None:
        raise InputError(
            "data: holds bags or edges, and cv is for rows; fit it with several -C, and evaluate each"
        )
    options = {"Cs": _path(cs), "cv": folds, "loss": loss, "scoring": scoring, "rule": rule, "tol": tol}
    estimator = make("cv", {**options, "n_jobs": threads, "random_state": seed}, settings or [])
    status, seconds = fitted(estimator, training, scale, progress)
    if not hasattr(estimator, "coef_"):
        return status
    if output is not None:
        store(estimator, training, scale, seconds, output, progress, interrupted=status != exits.DONE)
    _report(estimator, output, seconds, as_json=as_json)
    return status


def _path(text: str) -> Any:
    try:
        values = [float(each) for each in text.split(",")]
    except ValueError as error:
        raise InputError(f"Cs: came as {text!r}; pass a number of values, or values as 1,10,100") from error
    return int(values[0]) if len(values) == 1 and "." not in text else values


def _report(estimator: Any, output: Path | None, seconds: float, *, as_json: bool) -> None:
    results = estimator.cv_results_
    mean, std = results["mean_test_score"], results["std_test_score"]
    candidates = [
        {**params, "mean": mean[i], "std": std[i], "rank": int(results["rank_test_score"][i])}
        for i, params in enumerate(results["params"])
    ]
    chosen = np.ravel(estimator.C_).tolist()
    if as_json:
        document = {
            "scoring": str(estimator.scoring),
            "folds": estimator.n_splits_,
            "seconds": seconds,
            "candidates": candidates,
            "chosen": [{"ranker": name, "C": C} for name, C in zip(_rankers(estimator), chosen, strict=True)],
            "model": None if output is None else str(output),
        }
        show_json(document)
        return
    heads = [*results["params"][0], "mean", "std", "rank"]
    rows = [
        [
            *(f"{v:g}" if isinstance(v, float) else str(v) for v in results["params"][i].values()),
            f"{mean[i]:.4f}",
            f"{std[i]:.4f}",
            str(candidates[i]["rank"]),
        ]
        for i in range(len(candidates))
    ]
    names = ", ".join(
        f"C = {C:g}" + (f" for {name}" if len(chosen) > 1 else "")
        for name, C in zip(_rankers(estimator), chosen, strict=True)
    )
    show_table(heads, rows, f"{estimator.scoring} over {estimator.n_splits_} folds; chosen: {names}")


def _rankers(estimator: Any) -> list[str]:
    if len(estimator.coef_) == 1:
        return [str(estimator.classes_[-1])]
    return [str(name) for name in estimator.classes_]


COMMANDS = (cv,)
