"""What training adds to the memory of a large matrix, and training from a file that exceeds a memory limit."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import isolated
from benchmarks.table import Table

COLUMNS = 128
CHUNK = 100_000
MEBI = 2**20


def run(full: bool = False) -> list[Table]:
    table = Table(
        "Memory of training on float32 data",
        [
            "case",
            "threads",
            "matrix MiB",
            "before MiB",
            "peak MiB",
            "added",
            "must",
            "seconds",
            "cuts",
            "gap",
        ],
        ["", "d", ",.0f", ",.0f", ",.0f", ".1%", "", ".1f", "d", ".0e"],
    )
    if not Path("/proc/self/status").exists():
        table.note("This section reads /proc/self/status, which this system does not have: skipped.")
        return [table]
    rows = 4_000_000 if _free() > 5 * 2**30 else 1_000_000
    for threads in (1, os.cpu_count() or 1) if full else (os.cpu_count() or 1,):
        for found in isolated.stream(in_memory, rows, threads, limit=900.0):
            table.add(f"in memory, {rows:,} × {COLUMNS}", threads, *found)
    rows = 4_000_000 if full else 2_000_000
    size = rows * COLUMNS * 4 // MEBI
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        _write(path, rows)
        for cap in (3 * size // 4, size // 2):
            case = f"mapped file, {rows:,} × {COLUMNS}, limit {cap:,} MiB"
            try:
                for found in isolated.stream(mapped, str(path), cap, limit=900.0):
                    table.add(case, os.cpu_count(), *found)
            except RuntimeError as error:
                table.add(case, os.cpu_count(), size, None, None, None, "trains: NO", None, None, None)
                table.note(f"{case}: {error}.")
    table.note(
        "In memory: before and peak are of the whole resident process (VmRSS, VmHWM), before with the data loaded and "
        "nothing trained; added: their difference over the matrix."
    )
    table.note(
        "Mapped file: RLIMIT_DATA caps all that the process allocates (heap, stacks, buffers, of the libraries too: "
        "about 300 MiB before the data). The file's pages are no allocations: the system drops them when memory is "
        "short. before and peak: allocated and resident (RssAnon, sampled every 10 ms)."
    )
    return [table]


def in_memory(rows: int, threads: int) -> Iterator[tuple[Any, ...]]:
    from rankcut import RankSVM

    RankSVM(C=10.0).fit(
        np.random.default_rng(0).standard_normal((200, 3)), np.arange(200) % 2
    )  # loads all code
    X = np.empty((rows, COLUMNS), dtype=np.float32)
    y = _fill(X)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    start = time.perf_counter()
    model = RankSVM(C=10.0, n_jobs=threads).fit(X, y)
    seconds = time.perf_counter() - start
    peak, matrix = _status("VmHWM"), X.nbytes / MEBI
    yield matrix, before, peak, (peak - before) / matrix, "< 30 %", seconds, model.n_iter_, model.dual_gap_


def mapped(path: str, cap: int) -> Iterator[tuple[Any, ...]]:
    import resource

    from rankcut import RankSVM

    RankSVM(C=10.0).fit(np.random.default_rng(0).standard_normal((200, 3)), np.arange(200) % 2)
    resource.setrlimit(resource.RLIMIT_DATA, (cap * MEBI, cap * MEBI))
    X = np.load(path, mmap_mode="r")
    y = np.load(path + ".y.npy")
    if X.nbytes <= cap * MEBI:
        raise ValueError("the file is smaller than the limit")
    before = _status("RssAnon")
    with _Peak("RssAnon") as peak:
        start = time.perf_counter()
        model = RankSVM(C=10.0).fit(X, y)
        seconds = time.perf_counter() - start
    matrix = X.nbytes / MEBI
    share = (peak.value - before) / matrix
    yield matrix, before, peak.value, share, "trains", seconds, model.n_iter_, model.dual_gap_


def _fill(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """Normal noise, chunk by chunk in place; 1 % relevant rows, whose mean lies apart."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(COLUMNS, dtype=np.float32)
    direction *= 4.0 / np.linalg.norm(direction)
    y = np.zeros(len(X), dtype=bool)
    for start in range(0, len(X), CHUNK):
        part = X[start : start + CHUNK]
        rng.standard_normal(out=part, dtype=np.float32)
        y[start : start + CHUNK] = rng.random(len(part)) < 0.01
        part[y[start : start + CHUNK]] += direction
    return y


def _write(path: Path, rows: int) -> None:
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, COLUMNS))
    np.save(str(path) + ".y.npy", _fill(X))
    X.flush()


class _Peak:
    """The largest value of a line of /proc/self/status, sampled every 10 ms."""

    def __init__(self, name: str) -> None:
        self.value = _status(name)
        self._name, self._stop = name, threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            self.value = max(self.value, _status(self._name))

    def __enter__(self) -> _Peak:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()


def _status(name: str) -> float:
    """MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    raise KeyError(name)


def _free() -> int:
    if sys.platform != "linux":
        return 0
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
