"""`rankcut demo`: RankSVM beside LinearSVC on real data."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankcut.cli import exits
from rankcut.cli.output import show, written_whole
from rankcut.cli.progress import Progress
from rankcut.data.demo import Demo, demo_names, load_demo
from rankcut.errors import InputError

if TYPE_CHECKING:
    from rankcut.report import Comparison

DEFAULT_PAGE = Path("rankcut-demo.html")
DESCRIPTION = """\
Train LinearSVC and RankSVM side by side on real data that comes with the package, by
cross-validation, and show the average precision on the rows that were left out, the seconds
that training took, and whether the difference could be chance. Takes less than a minute."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command to argparse."""
    names = ", ".join(demo_names())
    parser = commands.add_parser(
        "demo",
        help="RankSVM beside LinearSVC on real data",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("data", nargs="*", metavar="DATA", help=f"any of {names}; all if none is named")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=DEFAULT_PAGE,
        metavar="FILE",
        help=f"the page (default {DEFAULT_PAGE})",
    )
    parser.add_argument("--json", action="store_true", help="JSON instead of tables, on standard output")
    parser.add_argument("--folds", type=_at_least(2), default=5, metavar="K", help="folds (default 5)")
    parser.add_argument(
        "--rows", type=_at_least(1), metavar="N", help="use a random sample of at most N rows of each set"
    )
    parser.add_argument(
        "--seed", type=_at_least(0), default=0, metavar="S", help="seed of the folds (default 0)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print, write the page; after Ctrl-C with the folds that are done."""
    from rankcut.report import Comparison, as_json, as_text, default_methods, page

    data = [load_demo(name) for name in dict.fromkeys(arguments.data or demo_names())]
    sets = [_sample(each, arguments.rows, arguments.seed) for each in data]
    methods = default_methods(arguments.seed)
    comparisons = [Comparison(each, methods, arguments.folds) for each in sets]
    with written_whole(arguments.output) as file:
        status = _compare(comparisons, arguments)
        file.write(page(comparisons))
    show(as_json(comparisons) if arguments.json else "\n" + as_text(comparisons))
    if not arguments.quiet:
        print(f"Curves and folds: {arguments.output}", file=sys.stderr)
    return status


def _compare(comparisons: list[Comparison], arguments: argparse.Namespace) -> int:
    from rankcut.report.comparison import compare, n_fits

    total = sum(n_fits(each.methods, each.n_folds) for each in comparisons)
    progress = Progress(total, quiet=arguments.quiet)
    try:
        for each in comparisons:
            progress.label = each.data.name
            for outcomes in compare(each, seed=arguments.seed, progress=progress.step):
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


def _at_least(least: int) -> Any:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"came as {value}; take at least {least}")
        return value

    number.__name__ = "whole number"
    return number
