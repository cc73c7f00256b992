"""The benchmarks use parts that are not promised to users: they must not fall behind."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem != "__main__")


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_can_be_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    importlib.import_module(f"benchmarks.{name}")
