"""Run a command in this process and read what it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rankcut.cli import main

ROOT = Path(__file__).resolve().parents[2]


def run(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> str:
    """What the command writes to standard output."""
    assert main(list(argv)) == status, capsys.readouterr().err
    return capsys.readouterr().out


def valid(command: str, document: Any) -> Any:
    schema = json.loads((ROOT / "docs" / "schemas" / f"{command}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    return document


def in_json(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> Any:
    out = run(capsys, *argv, "--json", status=status)
    return valid(argv[0], json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON")))
