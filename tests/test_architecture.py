"""The house's arrows: who may import whom, what the core may include, how long a file may be.

ALLOWED is the whole design in one table. To add a room, give it a row.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "rankcut"
MAX_LINES = 450

GROUND = "(ground)"  # single modules such as rankcut/errors.py: anyone may use them, they use only _core
CORE = "_core"

_parts = {"designs", "models", "losses", "solvers"}
ALLOWED: dict[str, set[str]] = {
    CORE: set(),
    GROUND: {CORE},
    # The four parts do not know each other: who needs two of them is handed objects.
    "designs": {CORE, "data"},
    "models": {CORE, "data"},
    "losses": {CORE, "data"},
    "solvers": {CORE},
    # At the parts' level.
    "data": {CORE},
    "metrics": {CORE, "data"},
    "graph": {CORE, "data"},
    # Above the parts.
    "selection": {*_parts, "data", "metrics"},
    "estimators": {*_parts, "data", "graph", "metrics", "selection"},
    "io": {CORE, "data", "designs", "estimators", "solvers"},
    "studies": {*_parts, "data", "estimators", "io", "metrics", "selection"},
    "report": {*_parts, "data", "estimators", "metrics", "selection", "studies"},
    "cli": {*_parts, "data", "estimators", "io", "metrics", "reference", "report", "selection", "studies"},
    "reference": set(),
    # The package's own namespace and `python -m rankcut`.
    "__init__": {*_parts, "data", "estimators", "graph", "io", "metrics", "selection"},
    "__main__": {"cli"},
}
# Imported by name on first use, never when the package is loaded.
LAZY_IN_INIT = {"cli", "reference", "report", "studies"}
NO_GROUND = {CORE, "reference"}

# Our only dependencies and the two that come with scikit-learn; others only inside functions.
PROMISED = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl"}
EXTRAS = {"cli": {"rich", "tomli", "typer"}}  # cli/main.py asks for them before it loads its own commands
FOREIGN_FORBIDDEN = {"solvers": {"sklearn"}, "reference": {"scipy", "sklearn"}}

CPP_SUFFIXES = {".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".inc", ".inl", ".ipp"}
PYTHON_HEADERS = re.compile(r'^\s*#\s*include\s*[<"](Python\.h|nanobind/|pybind11/|numpy/)', re.M)
PRINTING_HEADERS = re.compile(r"^\s*#\s*include\s*<(iostream|cstdio|stdio\.h|print)>", re.M)


class Import(NamedTuple):
    line: int
    module: str  # absolute, for example "rankcut.losses.ap" or "numpy"
    lazy: bool  # inside a function or under TYPE_CHECKING


def rooms(source: Path) -> set[str]:
    folders = {path.parent.name for path in source.glob("*/*.py")}
    return folders | (ALLOWED.keys() & {path.stem for path in source.glob("*.py")})


def room_of(module: str, known: set[str]) -> str:
    """The room of an absolute module name of ours."""
    parts = module.split(".")
    name = parts[1] if len(parts) > 1 else "__init__"
    return name if name in known or name in ALLOWED else GROUND


def _name(function: ast.expr) -> str:
    return ast.unparse(function).split(".")[-1]


def imports_of(tree: ast.AST, package: str) -> Iterator[Import]:
    """All imports of a module that lies in `package`, by absolute name, also literal dynamic ones."""

    def visit(node: ast.AST, lazy: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, lazy)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")
                kept = above[: len(above) - node.level + 1]
                base = ".".join([*kept, base] if base else kept)
            if base == PACKAGE:  # `from rankcut import losses`, `from . import losses`
                for alias in node.names:
                    yield Import(node.lineno, f"{PACKAGE}.{alias.name}", lazy)
            else:
                yield Import(node.lineno, base, lazy)
        elif isinstance(node, ast.Call) and _name(node.func) in {"import_module", "__import__"}:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield Import(node.lineno, first.value, lazy)
        inner = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            inner = True
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inner)

    yield from visit(tree, False)


def import_violations(source: Path) -> list[str]:
    """Arrows that point the wrong way in the package at `source` (…/src/rankcut)."""
    found = []
    known = rooms(source)
    for room in sorted(known - ALLOWED.keys()):
        found.append(f"{room}/: a room without a row in ALLOWED")
    for path in sorted(source.rglob("*.py")):
        relative = path.relative_to(source)
        module = ".".join([PACKAGE, *relative.with_suffix("").parts])
        package = module.rsplit(".", 1)[0]
        if relative.parts == ("__init__.py",):
            package, room = PACKAGE, "__init__"
        else:
            room = room_of(module, known)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for each in imports_of(tree, package):
            complaint = _judge(room, each, known, source)
            if complaint:
                found.append(f"{relative.as_posix()}:{each.line}: {room} {complaint}")
    return found


def _judge(room: str, each: Import, known: set[str], source: Path) -> str | None:
    top = each.module.split(".")[0]
    if top != PACKAGE:
        if top in FOREIGN_FORBIDDEN.get(room, set()):
            return f"must not know {top}"
        if room == "reference" and top not in sys.stdlib_module_names | {"numpy"}:
            return f"uses NumPy only, not {top}"
        if top not in sys.stdlib_module_names | PROMISED | EXTRAS.get(room, set()) and not each.lazy:
            return f"imports {top}, no dependency of ours, when it is loaded; import it inside the function"
        return None
    target = room_of(each.module, known)
    if target == room:
        return None
    if target == GROUND:
        return _judge_ground(room, each.module, source)
    if room == "__init__" and target in LAZY_IN_INIT:
        return None if each.lazy else f"must import {target} on first use only"
    if target not in ALLOWED.get(room, set()):
        return f"must not import {target} ({each.module})"
    return None


def _judge_ground(room: str, module: str, source: Path) -> str | None:
    name = module.split(".")[1]
    if name.startswith("__"):  # rankcut.__version__
        return None
    if not (source / f"{name}.py").is_file() and not (source / f"{name}.pyi").is_file():
        return f"imports {module} through the package's front door; import it from where it is defined"
    return f"must not import {module}" if room in NO_GROUND else None


def include_violations(cpp: Path) -> list[str]:
    """Python in the core or its tests, and printing in the core."""
    found = []
    for folder, patterns in {
        "include": [PYTHON_HEADERS, PRINTING_HEADERS],
        "src": [PYTHON_HEADERS, PRINTING_HEADERS],
        "tests": [PYTHON_HEADERS],
    }.items():
        for path in sorted((cpp / folder).rglob("*")):
            if path.suffix not in CPP_SUFFIXES:
                continue
            text = path.read_text(encoding="utf-8")
            for pattern in patterns:
                for hit in pattern.finditer(text):
                    found.append(f"{path.relative_to(cpp).as_posix()}: {hit.group().strip()}")
    return found


def length_violations(*folders: Path) -> list[str]:
    """Files too long to read in one sitting; generated ones are nobody's reading."""
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".py", *CPP_SUFFIXES}:
                lines = len(path.read_text(encoding="utf-8").splitlines())
                if lines > MAX_LINES:
                    found.append(
                        f"{path.relative_to(folder.parent).as_posix()}: {lines} lines, at most {MAX_LINES}"
                    )
    return found


# --- the house as it stands ------------------------------------------------------------------------


def test_arrows_have_no_cycle() -> None:
    list(TopologicalSorter(ALLOWED).static_order())


def test_imports_follow_the_arrows() -> None:
    assert not import_violations(ROOT / "src" / PACKAGE)


def test_core_knows_no_python_and_does_not_print() -> None:
    assert not include_violations(ROOT / "cpp")


def test_files_can_be_read_in_one_sitting() -> None:
    assert not length_violations(ROOT / "src", ROOT / "cpp")


def test_version_is_the_same_everywhere() -> None:
    places = {
        "pyproject.toml": r'^version = "(.+)"$',
        "src/rankcut/__init__.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
    }
    found = {
        name: re.findall(pattern, (ROOT / name).read_text(encoding="utf-8"), re.M)
        for name, pattern in places.items()
    }
    assert len({tuple(versions) for versions in found.values()}) == 1, found


# --- the checker itself, on houses that break one rule each -----------------------------------------


def _house(folder: Path, files: dict[str, str]) -> Path:
    source = folder / "src" / PACKAGE
    for room in ["solvers", "losses", "models", "designs", "data", "estimators", "reference", "cli"]:
        (source / room).mkdir(parents=True)
        (source / room / "__init__.py").write_text("")
    (source / "__init__.py").write_text("")
    (source / "errors.py").write_text("class RankcutError(Exception): ...\n")
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    return source


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("solvers/bundle.py", "from rankcut.losses import ap", "solvers must not import losses"),
        ("solvers/bundle.py", "from ..losses.ap import AP", "solvers must not import losses"),
        ("solvers/bundle.py", "from .. import models", "solvers must not import models"),
        ("solvers/bundle.py", "def f():\n    import rankcut.models.bag", "solvers must not import models"),
        ("solvers/bundle.py", "from sklearn.base import clone", "solvers must not know sklearn"),
        ("solvers/__init__.py", "from ..losses import ap", "solvers must not import losses"),
        ("losses/deep/ap.py", "from ...estimators import svm", "losses must not import estimators"),
        ("losses/ap.py", "from rankcut import RankSVM", "front door"),
        ("losses/ap.py", "import importlib\nimportlib.import_module('rankcut.cli')", "must not import cli"),
        ("estimators/svm.py", "from rankcut._core import staircase", "estimators must not import _core"),
        ("estimators/svm.py", "from rankcut.reference import brute", "must not import reference"),
        ("reference/brute.py", "from scipy import optimize", "must not know scipy"),
        ("reference/brute.py", "import cvxpy", "NumPy only"),
        ("reference/brute.py", "from ..errors import RankcutError", "must not import rankcut.errors"),
        ("errors.py", "from .losses import ap", "must not import losses"),
        ("data/frames.py", "import pandas", "import it inside the function"),
        ("__init__.py", "from . import cli", "on first use only"),
        ("__init__.py", "from .reference.brute import ap", "on first use only"),
        ("attic/__init__.py", "", "without a row"),
    ],
)
def test_checker_sees_a_wrong_arrow(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    found = import_violations(_house(tmp_path, {name: text}))
    assert len(found) == 1
    assert complaint in found[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("solvers/bundle.py", "import numpy as np\nfrom rankcut import _core\nfrom .qp import solve"),
        ("solvers/bundle.py", "from ..errors import RankcutError\nfrom .. import errors, __version__"),
        ("estimators/svm.py", "from sklearn.base import BaseEstimator\nfrom ..losses.ap import AP"),
        ("data/frames.py", "def read():\n    import polars"),
        ("__init__.py", "def __getattr__(name):\n    from . import reference"),
        ("__init__.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import reference"),
        ("__main__.py", "from rankcut.cli import main"),
        ("reference/brute.py", "import itertools\nimport numpy as np\nfrom .tools import f"),
    ],
)
def test_checker_lets_right_arrows_pass(tmp_path: Path, name: str, text: str) -> None:
    assert import_violations(_house(tmp_path, {name: text})) == []


def test_checker_sees_python_and_printing_in_the_core(tmp_path: Path) -> None:
    for folder in ["include/rankcut", "src", "tests"]:
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "include/rankcut/a.hpp").write_text("#pragma once\n#include <nanobind/nanobind.h>\n")
    (tmp_path / "src/b.cpp").write_text("#include <vector>\n  # include <Python.h>\n#include <iostream>\n")
    (tmp_path / "tests/c.cpp").write_text("#include <cstdio>\n#include <numpy/arrayobject.h>\n")
    assert [each.split(":")[0] for each in include_violations(tmp_path)] == [
        "include/rankcut/a.hpp",
        "src/b.cpp",
        "src/b.cpp",
        "tests/c.cpp",
    ]


def test_checker_sees_a_long_file(tmp_path: Path) -> None:
    cpp = tmp_path / "cpp"
    cpp.mkdir()
    (cpp / "fine.py").write_text("x = 1\n" * MAX_LINES)
    (cpp / "long.cpp").write_text("int x;\n" * (MAX_LINES + 1))
    (cpp / "_core.pyi").write_text("x: int\n" * (MAX_LINES + 1))
    assert length_violations(cpp) == [f"cpp/long.cpp: {MAX_LINES + 1} lines, at most {MAX_LINES}"]
