"""`rankcut compare`: a study of several methods on one data set, which can be stopped and goes on where it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rankcut.cli import exits
from rankcut.cli.main import complain
from rankcut.cli.options import Config, DataOptions, Json, Quiet, Seed, shared
from rankcut.cli.output import show, show_json
from rankcut.cli.progress import Progress
from rankcut.io.atomic import written_whole
from rankcut.report import formats, study
from rankcut.report.study import Results
from rankcut.report.study_page import study_page
from rankcut.studies import Plan, Store, run
from rankcut.studies.run import Step

METHODS = ["AP-SVM=ranksvm", "SVM=ranksvm:loss=hinge", "LinearSVC=linearsvc"]


@shared
def compare(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="the data set")],
    reading: DataOptions,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="[LABEL=]NAME[:P=V|V,…]",
            help="ranksvm, bagranksvm, latentap, graphranksvm, linearsvc, logistic, lightgbm, xgboost, or a class "
            "by its import path; several values of a parameter are chosen from (default: AP-SVM, SVM, LinearSVC)",
        ),
    ] = None,
    study_file: Annotated[
        Path, typer.Option("--study", metavar="FILE", help="where results are kept as they come")
    ] = Path("study.sqlite"),
    classes: Annotated[
        list[str] | None,
        typer.Option(
            "--class",
            metavar="LABEL",
            help="relevant in turn; else all, or the larger of two",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, metavar="K", help="folds for testing")] = 5,
    inner: Annotated[
        int, typer.Option(min=2, metavar="K", help="folds of the training part, to choose by")
    ] = 3,
    repeats: Annotated[int, typer.Option(min=1, metavar="R", help="times that the folds are drawn anew")] = 1,
    scoring: Annotated[
        str, typer.Option(help="average_precision, ndcg, auc, mrr or precision@k")
    ] = "average_precision",
    no_scale: Annotated[bool, typer.Option("--no-scale", help="leave the features as they are")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="do cells that failed again")] = False,
    tables_as: Annotated[
        str, typer.Option("--as", metavar="FORMAT", help="text, csv, markdown or latex")
    ] = "text",
    report: Annotated[Path | None, typer.Option(metavar="PAGE", help="also write a page")] = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    config: Config = None,
) -> int:
    """Compare methods by the published protocol, each with its own choice of parameters.

    In every fold, parameters are chosen by inner folds of the training part, and the fit on the whole training part is
    scored once on the test part. Tests are paired, and corrected for the number of comparisons. Results go into the
    study's file at once: the same command goes on after any stop and ends with the same tables. Several processes may
    work on one study.

    Examples:
      rankcut compare data.csv --label relevant
      rankcut compare data.parquet --method ranksvm --method lightgbm --repeats 3 --report page.html
      rankcut compare digits.csv --method AP-SVM=ranksvm --method linearsvc --class 8 --class 9 --as latex
    """
    formats.check(tables_as)
    options = {key: value for key, value in reading.reading().items() if value not in (None, False)}
    if reading.edges is not None:
        options |= {"edges": str(reading.edges), "edges_by": reading.edges_by}
    plan = Plan(
        str(data),
        tuple(method or METHODS),
        tuple(classes or ()),
        folds,
        inner,
        repeats,
        scoring,
        not no_scale,
        seed,
        options,
    )
    store = Store(study_file)
    if retry and store.exists():
        store.forget_failures()
    status = _work(plan, store, Progress(1, quiet=quiet))
    if not store.exists():
        return status
    results = Results.of(store)
    if report is not None:
        with written_whole(report) as file:
            file.write(study_page(results))
    show_json(study.document(results)) if as_json else show(_text(results, tables_as))
    return status


def _work(plan: Plan, store: Store, progress: Progress) -> int:
    def step(done: Step) -> None:
        cell, outcome = done.cell, done.outcome
        found = f"failed: {outcome['error']}" if "error" in outcome else f"{outcome['score']:.4f}"
        where = f"class {cell.label}, repeat {cell.repeat + 1}, fold {cell.fold + 1}"
        progress.note(f"[{done.done}/{done.total}] {cell.method}, {where}: {found}")
        progress.at(done.done / done.total)

    try:
        run(plan, store, step)
    except KeyboardInterrupt:
        return complain(
            f"interrupted; what was done is in {store.path}, and the same command goes on", exits.INTERRUPTED
        )
    finally:
        progress.clear()
    return exits.DONE


def _text(results: Results, format: str) -> str:
    found: Sequence[Any] = study.tables(results)
    if format == "text":
        found = [*found, study.seconds_table(results)]
    return formats.write(found, format)


COMMANDS = (compare,)
