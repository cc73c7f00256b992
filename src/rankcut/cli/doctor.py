"""`rankcut doctor`: what is installed, and whether it computes what it should."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from rankcut import __version__, losses, metrics
from rankcut.cli import exits
from rankcut.cli.options import Config, Json, shared
from rankcut.cli.output import show, show_json, show_table
from rankcut.estimators import RankSVM
from rankcut.reference import brute_force, cutting_plane, measures

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
EXTRAS = {"cli": ("typer", "rich"), "io": ("polars", "onnx")}
LOSSES = ("ap", "auc", "ndcg", "mrr", "precision@2", "hinge")


@shared
def doctor(as_json: Json = False, config: Config = None) -> int:
    """Show versions, threads and BLAS, and test the installation against slow, obvious code.

    The test takes about a second: the losses against brute force over all rankings, a fit against a textbook
    cutting-plane method, and average precision against its definition. The exit status is 1 if anything differs.

    Examples:
      rankcut doctor
      rankcut doctor --json
    """
    began = time.perf_counter()
    checks = {name: _outcome(check) for name, check in CHECKS.items()}
    about = {
        "rankcut": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "packages": {name: _version(name) for name in PACKAGES},
        "extras": {extra: {name: _version(name) for name in names} for extra, names in EXTRAS.items()},
        "blas": [
            {key: pool.get(key) for key in ("internal_api", "version", "num_threads", "architecture")}
            for pool in threadpool_info()
        ],
        "checks": checks,
        "seconds": time.perf_counter() - began,
        "healthy": all(value is None for value in checks.values()),
    }
    if as_json:
        show_json(about)
    else:
        _show(about)
    return exits.DONE if about["healthy"] else exits.FAILED


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _outcome(check: Callable[[], None]) -> str | None:
    """None if all is well, else what went wrong."""
    try:
        check()
    except Exception as error:  # whatever it is, the doctor's task is to say so
        return f"{type(error).__name__}: {error}"
    return None


def _expect(found: float, expected: float, tolerance: float, what: str) -> None:
    if not abs(found - expected) <= tolerance * (1 + abs(expected)):
        raise ArithmeticError(f"{what} is {found!r} instead of {expected!r}")


def _losses() -> None:
    rng = np.random.default_rng(0)
    for name in LOSSES:
        for _ in range(20):
            y = np.arange(6) < rng.integers(1, 6)
            scores = np.round(rng.standard_normal(6), 1)  # with ties
            found = losses.get(name).most_violated(scores, y).value
            _expect(found, brute_force.most_violated(scores, y, name).value, 1e-9, f"the loss {name!r}")


def _fit() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(40) < 8
    X = rng.standard_normal((40, 3)) + y[:, None]
    model = RankSVM(C=10.0, tol=1e-6).fit(X, y)

    def risk(w: Any) -> tuple[float, Any]:
        violated = losses.get("ap").most_violated(X @ w, y)
        return violated.value, X.T @ violated.alpha

    slow = cutting_plane.minimise(risk, 10.0, 3, tol=1e-6)
    _expect(float(model.objective_), slow.objective, 1e-4, "the objective of a fit")


def _average_precision() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        y = np.arange(9) < rng.integers(1, 9)
        scores = np.round(rng.standard_normal(9), 1)
        for kind in ("exact", "voc2007", "voc2010"):
            found = metrics.average_precision(y, scores, interpolation=kind)
            _expect(found, measures.average_precision(y, scores, kind), 1e-12, f"average precision ({kind})")


CHECKS: dict[str, Callable[[], None]] = {
    "losses against brute force": _losses,
    "a fit against a cutting-plane method": _fit,
    "average precision against its definition": _average_precision,
}


def _show(about: dict[str, Any]) -> None:
    show(f"rankcut {about['rankcut']}, Python {about['python']}, {about['system']}, {about['cores']} cores\n")
    show(", ".join(f"{name} {version}" for name, version in about["packages"].items()) + "\n")
    for extra, packages in about["extras"].items():
        found = ", ".join(f"{name} {version or 'missing'}" for name, version in packages.items())
        hint = "" if all(packages.values()) else f"; pip install 'rankcut[{extra}]'"
        show(f"extra {extra}: {found}{hint}\n")
    for pool in about["blas"]:
        show(f"{pool['internal_api']} {pool['version']}: {pool['num_threads']} threads\n")
    show("\n")
    rows = [[name, "good" if what is None else what] for name, what in about["checks"].items()]
    show_table(["check", "result"], rows)
    show(f"\n{'All is well' if about['healthy'] else 'This installation is broken: reinstall rankcut'}.\n")


COMMANDS = (doctor,)
