"""Options that commands share: written once, as dataclasses that `shared` unfolds into a command's own options."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from rankcut import io
from rankcut.cli import exits
from rankcut.cli.main import complain
from rankcut.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclasses.dataclass(frozen=True)
class DataOptions:
    """How to read a file."""

    format: Annotated[
        str | None, typer.Option(help="svmlight, csv, tsv, parquet or npz; else by the ending")
    ] = None
    label: Annotated[str | None, typer.Option(metavar="NAME", help="column of labels ('label' or 'y')")] = (
        None
    )
    qid: Annotated[str | None, typer.Option(metavar="NAME", help="column of queries ('qid')")] = None
    bag: Annotated[str | None, typer.Option(metavar="NAME", help="column of bags ('bag')")] = None
    known: Annotated[
        str | None, typer.Option(metavar="NAME", help="column that marks annotated instances ('known')")
    ] = None
    id: Annotated[
        str | None, typer.Option(metavar="NAME", help="column of rows' names ('id'), or a word in comments")
    ] = None
    features: Annotated[
        str | None, typer.Option(metavar="A,B", help="columns that are features; else all others")
    ] = None
    drop: Annotated[str | None, typer.Option(metavar="A,B", help="columns to leave out")] = None
    n_features: Annotated[int | None, typer.Option(metavar="D", help="svmlight: width of the data")] = None
    zero_based: Annotated[
        bool | None,
        typer.Option(
            "--zero-based/--one-based", help="svmlight: what indices count from (1, unless there is a 0)"
        ),
    ] = None
    separator: Annotated[str | None, typer.Option(metavar="CHAR", help="CSV: between fields")] = None
    edges: Annotated[
        Path | None, typer.Option(metavar="FILE", help="edges between rows, in a second file")
    ] = None
    edges_by: Annotated[str, typer.Option(metavar="row|id", help="how edges name rows")] = "row"

    def reading(self) -> dict[str, Any]:
        """Arguments of io.stream."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del values["edges"], values["edges_by"]
        for name in ("features", "drop"):
            values[name] = (
                None if values[name] is None else [each.strip() for each in values[name].split(",")]
            )
        return values

    def read(self, path: Path, **more: Any) -> io.Dataset:
        """The whole data set."""
        return io.read(path, edges=self.edges, edges_by=self.edges_by, **{**self.reading(), **more})


def _configured(context: typer.Context, path: Path | None) -> Path | None:
    """Take defaults from a file: what the command line says itself wins."""
    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise InputError(f"config: {error.strerror or error}: {path}") from error
    except ValueError as error:
        raise InputError(f"config: {path}: {error}") from error
    command = str(context.command.name)
    section = content.get(command, {}) if isinstance(content, dict) else content
    if not isinstance(section, dict):
        raise InputError(f"config: {path}: [{command}] has to be a table of options")
    known = _names(context)
    chosen = {}
    for key, value in section.items():
        name = known.get(key.replace("-", "_"))
        if name is None:
            raise InputError(
                f"config: {path}: [{command}] has no option {key!r}; it has {', '.join(sorted(known))}"
            )
        chosen[name] = (
            ",".join(map(str, value)) if isinstance(value, list) and name in ("features", "drop") else value
        )
    context.default_map = {**(context.default_map or {}), **chosen}
    return path


def _names(context: typer.Context) -> dict[str, str]:
    """The options as the command line calls them, without dashes, and the parameters that they are."""
    found = {}
    for parameter in context.command.params:
        longest = max(parameter.opts, key=len).lstrip("-").replace("-", "_")
        if longest not in ("config", "help"):
            found[longest] = str(parameter.name)
    return found


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        is_eager=True,
        callback=_configured,
        help="TOML (or JSON) with defaults, a table for each command; options given here win",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="JSON for machines, on standard output")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no progress on standard error")]
Threads = Annotated[int | None, typer.Option("--threads", metavar="N", help="threads; else all cores")]
Seed = Annotated[int, typer.Option("--seed", metavar="S", min=0, help="of all random choices")]


def shared(command: Callable[..., Any]) -> Callable[..., None]:
    """A function for Typer: dataclasses among the parameters become an option for each field, our warnings become
    lines on standard error, and what the function returns the exit status."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not dataclasses.is_dataclass(kind):
            parameters.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[name] = kind
        fields = get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            parameters.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=fields[field.name],
                )
            )

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in dataclasses.fields(kind)})
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.filterwarnings(
                "ignore", "X does not have valid feature names"
            )  # the columns went by name
            warnings.showwarning = _on_one_line
            try:
                status = command(**values)
            except KeyboardInterrupt:
                status = complain("interrupted", exits.INTERRUPTED)
        if status:
            raise typer.Exit(status)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # Typer reads it
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del run.__wrapped__  # or Typer looks behind it
    return run


def _on_one_line(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"rankcut: {message}", file=sys.stderr)


def described(command: Callable[..., Any]) -> dict[str, Any]:
    """The help: the docstring, with its examples below the options."""
    text = inspect.cleandoc(command.__doc__ or "")
    words, _, examples = text.partition("Examples:\n")
    return {"help": words.strip(), "epilog": "\b\nExamples:\n" + examples if examples else None}
