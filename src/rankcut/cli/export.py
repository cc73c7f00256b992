"""`rankcut export`: a model for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankcut import io
from rankcut.cli import exits
from rankcut.cli.fit import check_output
from rankcut.cli.options import Config, shared
from rankcut.cli.predict import Model


@shared
def export(
    model: Model,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="the ONNX file")],
    float32: Annotated[
        bool, typer.Option("--float32", help="for runtimes that have no other numbers")
    ] = False,
    config: Config = None,
) -> int:
    """Write a model as an ONNX graph, which any ONNX runtime can score with.

    Examples:
      rankcut export model.rankcut -o model.onnx
    """
    check_output(output)
    io.export(io.load(model), output, dtype="float32" if float32 else "float64")
    return exits.DONE


COMMANDS = (export,)
