"""`rankcut demo`: RankSVM beside LinearSVC on real data."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankcut.cli import exits
from rankcut.cli.options import Config, Json, Quiet, Seed, shared
from rankcut.cli.output import show
from rankcut.cli.progress import Progress
from rankcut.data.demo import Demo, demo_names, load_demo
from rankcut.errors import InputError
from rankcut.io.atomic import written_whole

if TYPE_CHECKING:
    from rankcut.report import Comparison

DEFAULT_PAGE = Path("rankcut-demo.html")
NAMES = f"any of {', '.join(demo_names())}; all if none is named"


@dataclass(frozen=True)
class Setting:
    """What `_compare` needs to know."""

    seed: int
    quiet: bool


@shared
def demo(
    data: Annotated[list[str] | None, typer.Argument(metavar="[DATA]...", help=NAMES)] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="the page")] = DEFAULT_PAGE,
    folds: Annotated[int, typer.Option(min=2, metavar="K", help="folds")] = 5,
    rows: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="a random sample of at most N rows each")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    config: Config = None,
) -> int:
    """RankSVM beside LinearSVC on real data.

    Trains both side by side on data that comes with the package, by cross-validation, and shows the average precision
    on the rows that were left out, the seconds that training took, and whether the difference could be chance. Takes
    less than a minute. After Ctrl-C it shows the folds that are done.

    Examples:
      rankcut demo
      rankcut demo digits --folds 10 -o digits.html
      rankcut demo adult --rows 5000 --json
    """
    from rankcut.report import Comparison, as_text, default_methods, page
    from rankcut.report import as_json as in_json

    chosen = [load_demo(name) for name in dict.fromkeys(data or demo_names())]
    sets = [_sample(each, rows, seed) for each in chosen]
    methods = default_methods(seed)
    comparisons = [Comparison(each, methods, folds) for each in sets]
    with written_whole(output) as file:
        status = _compare(comparisons, Setting(seed, quiet))
        file.write(page(comparisons))
    show(in_json(comparisons) if as_json else "\n" + as_text(comparisons))
    if not quiet:
        print(f"Curves and folds: {output}", file=sys.stderr)
    return status


def _compare(comparisons: list[Comparison], setting: Setting) -> int:
    from rankcut.report.comparison import compare, n_fits

    total = sum(n_fits(each.methods, each.n_folds) for each in comparisons)
    progress = Progress(total, quiet=setting.quiet)
    try:
        for each in comparisons:
            progress.label = each.data.name
            for outcomes in compare(each, seed=setting.seed, progress=progress.step):
                progress.note(_line(each, outcomes))
        return exits.DONE
    except KeyboardInterrupt:
        progress.note("rankcut: interrupted; what was done so far:")
        return exits.INTERRUPTED
    finally:
        progress.clear()


def _line(comparison: Comparison, outcomes: tuple[Any, Any]) -> str:
    results = ", ".join(
        f"{method.name} {outcome.average_precision:.4f} (C = {outcome.C:g}, {outcome.all_seconds:.1f} s)"
        for method, outcome in zip(comparison.methods, outcomes, strict=True)
    )
    return f"{comparison.data.name}, fold {len(comparison.folds)} of {comparison.n_folds}: {results}"


def _sample(data: Demo, rows: int | None, seed: int) -> Demo:
    """A random sample of at most so many rows, with the same share of relevant ones."""
    from sklearn.model_selection import train_test_split

    n = len(data.y)
    if rows is None or rows >= n:
        return data
    try:
        chosen, _ = train_test_split(range(n), train_size=rows, stratify=data.y, random_state=seed)
    except ValueError as error:
        raise InputError(f"rows: {rows} of {n} are too few ({error}); take more") from error
    return replace(data, X=data.X[chosen], y=data.y[chosen], is_test=None)


COMMANDS = (demo,)
