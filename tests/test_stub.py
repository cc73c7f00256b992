"""The checked-in `_core.pyi` is what the installed bindings say of themselves."""

from __future__ import annotations

import difflib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
STUB = ROOT / "src" / "rankcut" / "_core.pyi"


@pytest.fixture(scope="module")
def stubs() -> ModuleType:
    pytest.importorskip("nanobind", reason="the stub generator comes with nanobind")
    spec = importlib.util.spec_from_file_location("rankcut_tools_stubs", ROOT / "tools" / "stubs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_checked_in_stub_is_current(stubs: ModuleType) -> None:
    checked_in = STUB.read_text(encoding="utf-8").splitlines()
    generated = stubs.render().splitlines()
    difference = list(difflib.unified_diff(checked_in, generated, "checked in", "generated", lineterm=""))
    assert not difference, "run `make stubs` and commit the result:\n" + "\n".join(difference)


def test_stub_ships_with_the_package() -> None:
    import rankcut

    installed = Path(rankcut.__file__).parent
    assert (installed / "py.typed").is_file()
    assert (installed / "_core.pyi").read_text(encoding="utf-8") == STUB.read_text(encoding="utf-8")
