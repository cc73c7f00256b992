"""Benchmarks run for minutes, on demand; that what they import still exists is checked here."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTIONS = sorted(path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py"))


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_can_be_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    known = set(sys.modules)
    importlib.import_module(f"benchmarks.{name}")
    for each in set(sys.modules) - known:
        if each.split(".")[0] == "benchmarks":
            del sys.modules[each]
