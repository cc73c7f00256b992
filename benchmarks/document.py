"""docs/benchmarks.md: a section of the page for each section that ran; those that did not are kept as they are."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from benchmarks.table import Table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Written by `python -m benchmarks --write` (`make bench`); see `benchmarks/`. All candidates run side by side in one run;
times are medians of several repetitions, and losses are reported as openly as wins. "must" is the project's own goal.
"""


def machine() -> str:
    packages = [
        f"{p} {_version(p)}"
        for p in ("rankcut", "numpy", "scipy", "scikit-learn", "dlib", "lightgbm", "xgboost")
    ]
    busy = f"load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else "load unknown"
    return (
        f"{_processor()}, {os.cpu_count()} cores, {busy}; Python {platform.python_version()}, "
        + ", ".join(packages)
        + "."
    )


def write(found: Mapping[str, Sequence[Table]], order: Sequence[str]) -> Path:
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    kept = {m[1]: m[0].strip() for m in re.finditer(r"^## (.+)\n(?:(?!## ).*\n?)*", old, flags=re.MULTILINE)}
    for title, tables in found.items():
        body = "\n".join(table.markdown() for table in tables)
        kept[title] = f"## {title}\n\n{machine()}\n\n{body}".strip()
    parts = [HEAD, *(kept[title] + "\n" for title in order if title in kept)]
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    return PAGE


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.+)$", info.read_text(), re.MULTILINE) if info.exists() else []
    return names[0] if names else platform.processor() or platform.machine()
