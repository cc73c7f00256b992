"""Reading a LETOR file beside scikit-learn, and `rankcut fit` on it and on the same data as Parquet."""

from __future__ import annotations

import gzip
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import isolated
from benchmarks.table import Table

COLUMNS = 136  # as the largest of the public LETOR sets
MB = 10**6
LIMIT = 3600.0


def run(full: bool = False) -> list[Table]:
    megabytes = 500 if full else 50
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.letor"
        rows = _write(path, megabytes * MB)
        size = path.stat().st_size / MB
        _others(path)
        title = f"{rows:,} rows × {COLUMNS} features, {size:,.0f} MB as LETOR text"
        return [_reading(path, size, title), _fitting(path, title)]


def _reading(path: Path, size: float, title: str) -> Table:
    table = Table(
        f"Reading: {title}",
        [
            "reader",
            "threads",
            "seconds",
            "CPU seconds",
            "MB of text a second",
            "× scikit-learn",
            "must",
            "peak MiB",
        ],
        ["", "d", ".2f", ".2f", ",.0f", ",.0f", "", ",.0f"],
    )
    parquet, packed = path.with_suffix(".parquet"), path.with_suffix(".letor.gz")
    theirs = _least(_theirs, 1, str(path))
    table.add(
        "scikit-learn load_svmlight_file", 1, theirs[0], theirs[1], size / theirs[0], 1.0, "", theirs[2]
    )
    for name, source, threads, must in [
        ("rankcut.io.read", path, 1, "≥ 10; ≥ 200 MB/s"),
        ("rankcut.io.read", path, 0, ""),
        ("rankcut.io.read, gzip", packed, 0, ""),
        ("rankcut.io.read, Parquet", parquet, 0, ""),
    ]:
        wall, cpu, peak = _least(_ours, 3, str(source), threads)
        table.add(name, threads or None, wall, cpu, size / wall, theirs[0] / wall, must, peak)
    table.note(
        "The best of 3 (scikit-learn: 1), each in a process of its own; peak: of the whole process (ru_maxrss), "
        "libraries included. A dash under threads: all cores."
    )
    return table


def _fitting(path: Path, title: str) -> Table:
    table = Table(
        f"rankcut fit --relevant-from 1 -C 10: {title}",
        ["data", "file MB", "seconds", "of which fitting", "peak MiB", "matrix MiB"],
        ["", ",.0f", ".1f", ".1f", ",.0f", ",.0f"],
    )
    for name, source in [("LETOR", path), ("Parquet", path.with_suffix(".parquet"))]:
        ((wall, fitting, peak, matrix),) = isolated.stream(_fit, str(source), limit=LIMIT)
        table.add(name, source.stat().st_size / MB, wall, fitting, peak, matrix)
    table.note("The whole command: start, reading, fitting to a gap of 0.001, writing the model.")
    return table


def _least(work: object, times: int, *arguments: object) -> tuple[float, float, float]:
    found = [isolated.stream(work, *arguments, limit=LIMIT)[0] for _ in range(times)]  # type: ignore[arg-type]
    best = min(found)
    return best[0], best[1], max(each[2] for each in found)


def _theirs(path: str) -> Iterator[tuple[float, float, float]]:
    from sklearn.datasets import load_svmlight_file

    wall, cpu = time.perf_counter(), time.process_time()
    load_svmlight_file(path, query_id=True)
    yield time.perf_counter() - wall, time.process_time() - cpu, _peak(resource.RUSAGE_SELF)


def _ours(path: str, threads: int) -> Iterator[tuple[float, float, float]]:
    from rankcut import io

    wall, cpu = time.perf_counter(), time.process_time()
    io.read(path, n_jobs=threads or None)
    yield time.perf_counter() - wall, time.process_time() - cpu, _peak(resource.RUSAGE_SELF)


def _fit(path: str) -> Iterator[tuple[float, float, float, float]]:
    from rankcut import io

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        options = ["-o", str(model), "--relevant-from", "1", "-C", "10", "-q"]
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "rankcut", "fit", path, *options], check=True, capture_output=True
        )
        wall, training = time.perf_counter() - began, io.describe(model)["training"]
    peak, matrix = _peak(resource.RUSAGE_CHILDREN), training["rows"] * training["features"] * 8 / 2**20
    yield wall, training["seconds_fitting"], peak, matrix


def _peak(who: int) -> float:
    """MiB."""
    return resource.getrusage(who).ru_maxrss / 1024


def _write(path: Path, size: int) -> int:
    """Queries of 50 to 150 documents with grades 0 to 2 that depend on the features."""
    rng = np.random.default_rng(0)
    direction = rng.standard_normal(COLUMNS)
    rows = queries = 0
    with path.open("w") as file:
        while file.tell() < size:
            X = np.round(rng.random((int(rng.integers(50, 150)), COLUMNS)) ** 3, 6)
            merit = X @ direction + 0.8 * rng.standard_normal(len(X))
            grades = np.digitize(merit - np.median(merit), [1.2, 2.0])
            queries += 1
            for grade, x in zip(grades, X, strict=True):
                values = " ".join(f"{j}:{value:.6g}" for j, value in enumerate(x, 1))
                file.write(f"{grade} qid:{queries} {values} #docid = D{rows}\n")
                rows += 1
    return rows


def _others(path: Path) -> None:
    """The same data as Parquet, and compressed."""
    import polars

    from rankcut import io

    data = io.read(path)
    columns = {f"f{j}": data.X[:, j] for j in range(data.n_features)}
    polars.DataFrame({"label": data.y, "qid": data.qid, **columns}).write_parquet(
        path.with_suffix(".parquet")
    )
    with path.open("rb") as source, gzip.open(path.with_suffix(".letor.gz"), "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target)
