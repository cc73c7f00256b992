"""`rankcut report`: a page about a model on a data set, or about a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from rankcut import io
from rankcut.cli import exits
from rankcut.cli.evaluate import relevances
from rankcut.cli.kinds import samples_for
from rankcut.cli.options import Config, DataOptions, Quiet, Seed, Threads, shared
from rankcut.cli.predict import features_of
from rankcut.cli.progress import Progress
from rankcut.cli.targets import TargetOptions, apply
from rankcut.errors import InputError
from rankcut.io.atomic import written_whole
from rankcut.report import alerts
from rankcut.report.measures import binary_measures, measure
from rankcut.report.model_page import Ranking, Sheet, model_page
from rankcut.report.pointers import Pointers
from rankcut.report.study import Results
from rankcut.report.study_page import study_page
from rankcut.report.trace import Ranks
from rankcut.studies import Store

SQLITE = b"SQLite format 3\0"
KS = (1, 5, 10)


@shared
def report(
    model: Annotated[Path, typer.Argument(metavar="MODEL|STUDY", help="a model file, or a study of compare")],
    reading: DataOptions,
    target: TargetOptions,
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="for a model: labelled data to rank")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PAGE", help="the page")] = Path(
        "report.html"
    ),
    train: Annotated[
        Path | None, typer.Option(metavar="FILE", help="what the model was trained on, to look for overlaps")
    ] = None,
    link: Annotated[
        str | None, typer.Option(metavar="URL", help="address of a sample, with {id} in it")
    ] = None,
    thumbnail: Annotated[
        str | None, typer.Option(metavar="FILE", help="picture of a sample, a file name with {id} in it")
    ] = None,
    title: Annotated[str, typer.Option(help="of the page")] = "",
    bootstrap: Annotated[
        int | None, typer.Option(min=0, metavar="B", help="samples for the intervals")
    ] = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="of the intervals")] = 0.95,
    seed: Seed = 0,
    threads: Threads = None,
    quiet: Quiet = False,
    config: Config = None,
) -> int:
    """Write a page that one can show to others: one file, readable offline.

    For a model: what it was trained on, measures with intervals, precision and recall, scores, convergence, who comes
    first and last, and what to be careful about. For a study: tables, tests and curves.

    Examples:
      rankcut report model.rankcut test.csv -o report.html
      rankcut report model.rankcut test.csv --train train.csv --id name --link "https://example.org/{id}"
      rankcut report study.sqlite -o study.html
    """
    progress = Progress(1, quiet=quiet)
    if _is_study(model):
        text = study_page(Results.of(Store(model)), title)
    elif data is None:
        raise InputError("data: came without a data set; a model's page needs labelled data to rank")
    else:
        pointers = Pointers(link, thumbnail)
        found = _sheet(
            model, data, train, reading, target, pointers, bootstrap, confidence, seed, threads, progress
        )
        text = model_page(found, title)
    with written_whole(output) as file:
        file.write(text)
    progress.clear()
    progress.note(f"written to {output}")
    return exits.DONE


def _is_study(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError as error:
        raise InputError(f"model: {error.strerror or error}: {path}") from error


def _sheet(
    model: Path,
    data: Path,
    train: Path | None,
    reading: DataOptions,
    target: TargetOptions,
    pointers: Pointers,
    bootstrap: int | None,
    confidence: float,
    seed: int,
    threads: int | None,
    progress: Progress,
) -> Sheet:
    estimator = io.load(model, **({} if threads is None else {"n_jobs": threads}))
    about = io.describe(model)
    options = {"n_jobs": threads, **features_of(estimator, reading, data)}
    found = reading.read(data, **options)
    sample = samples_for(estimator, found)
    if sample.y is None:
        raise InputError(f"label: {data} has no labels; name their column with --label")
    rule = target.rule() or about["training"].get("target") or {}
    scores: Any = np.asarray(estimator.decision_function(sample.inputs)).reshape(len(sample), -1)
    rankings, measured = [], []
    for k, (name, relevant) in enumerate(relevances(estimator, apply(rule, sample.y), scores.shape[1])):
        if relevant.dtype != bool:
            raise InputError("label: came as grades; say which are relevant with --relevant-from")
        name = f"label {name}" if name[:1].isdigit() else name
        column = np.ascontiguousarray(scores[:, k])
        rankings.append(Ranking(name, relevant, column))
        measures = binary_measures(list(KS))
        measured.append(
            measure(name, measures, relevant, column, sample.qid, bootstrap, confidence, seed, progress.at)
        )
    trace = getattr(estimator, "interleaving_", None)
    return Sheet(
        estimator,
        about,
        str(data),
        rankings,
        measured,
        sample.qid,
        sample.id,
        pointers,
        None if trace is None else Ranks(**trace),
        _overlaps(found, train, reading, options),
    )


def _overlaps(
    test: io.Dataset, train: Path | None, reading: DataOptions, options: dict[str, Any]
) -> list[str]:
    """Rows that were trained on: by id where both have ids, else by content."""
    if train is None:
        return []
    trained = reading.read(train, **options)
    if trained.id is not None and test.id is not None:
        return alerts.of_overlap(trained.id, test.id)
    return alerts.of_rows(trained.X, test.X)


COMMANDS = (report,)
