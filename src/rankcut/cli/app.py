"""All commands, described to Typer. This module is loaded when a command runs, not before: it needs the extra."""

from __future__ import annotations

from typing import Annotated

import typer

from rankcut import __version__
from rankcut.cli import compare, cv, demo, doctor, evaluate, export, fit, inspect, predict, report
from rankcut.cli.options import described

# A module of commands has a list COMMANDS of functions; their docstrings are the help.
MODULES = (fit, predict, evaluate, cv, compare, report, inspect, export, demo, doctor)


def build() -> typer.Typer:
    """The application."""
    app = typer.Typer(
        name="rankcut",
        help="Linear rankers that put the relevant samples first.",
        epilog="Example: rankcut fit train.csv -o model.rankcut. Every command has its own --help.",
        no_args_is_help=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )

    @app.callback()
    def common(
        version: Annotated[
            bool,
            typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave."),
        ] = False,
    ) -> None:
        pass

    for module in MODULES:
        for command in module.COMMANDS:
            app.command(name=command.__name__.strip("_"), **described(command))(command)
    return app


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"rankcut {__version__}")
        raise typer.Exit
