"""Files with random damage: every reader ends in a data set or in an InputError, soon and in little memory.

A few hundred inputs for each reader in every run; 10,000 with `-m slow`.
"""

from __future__ import annotations

import gzip
import io as streams
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rankcut import InputError, RankSVM, io
from rankcut.io import safetensors

LONGEST = 5.0  # seconds for one input, on a busy machine
COUNTS = [300, pytest.param(10_000, marks=pytest.mark.slow)]
TOKENS = [
    b"\n",
    b" ",
    b":",
    b",",
    b'"',
    b"#",
    b"qid:",
    b"1e999",
    b"nan",
    b"-",
    b"\x00",
    b"\xff\xfe",
    b"9" * 30,
]
EXTREMES = [b"\xff" * 8, b"\x00" * 8, b"\xff\xff\xff\x7f", b"\x80" * 4, b"\x7f" * 16]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """One to four changes: bits, cuts, repeats, moves, and pieces that are known to hurt."""
    for _ in range(rng.randrange(1, 5)):
        size = len(content)
        a, b = sorted((rng.randrange(size + 1), rng.randrange(size + 1)))
        b = min(b, a + rng.choice([1, 4, 64, size]))
        kind = rng.randrange(7)
        if kind == 0 and size:
            at = rng.randrange(size)
            content = content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
        elif kind == 1:
            content = content[:a] + content[b:]
        elif kind == 2:
            content = content[:a] + content[a:b] * rng.randrange(2, 5) + content[b:]
        elif kind == 3:
            content = content[:a] + rng.randbytes(b - a) + content[b:]
        elif kind == 4:
            content = content[:a] + rng.choice(TOKENS) + content[a:]
        elif kind == 5:
            piece = rng.choice(EXTREMES)
            content = content[:a] + piece + content[a + len(piece) :]
        else:
            content = content[:a]
    return content


def svmlight() -> bytes:
    rng = np.random.default_rng(0)
    rows = [
        f"{i % 2} qid:{i // 4} " + " ".join(f"{j}:{rng.random():.3g}" for j in range(1, 8)) for i in range(30)
    ]
    return "\n".join(rows).encode() + b" # docid = 3\n"


def frame() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    features = {f"x{j}": rng.standard_normal(30).round(3) for j in range(4)}
    return pl.DataFrame(
        {"label": [i % 2 for i in range(30)], "id": [f"row {i}" for i in range(30)], **features}
    )


def parquet(compression: str) -> bytes:
    file = streams.BytesIO()
    frame().write_parquet(file, compression=compression)
    return file.getvalue()


def npz(*, compressed: bool) -> bytes:
    file = streams.BytesIO()
    X = np.random.default_rng(0).standard_normal((30, 4))
    y = np.arange(30) % 2
    (np.savez_compressed if compressed else np.savez)(file, X=X, y=y, bag=y, edges=np.array([[0, 1], [2, 3]]))
    return file.getvalue()


def with_checksum(content: bytes) -> bytes:
    """A damaged model file whose checksum is right all the same."""
    import hashlib

    file = bytearray(content)
    if len(file) > safetensors.DIGEST.stop:
        file[safetensors.DIGEST] = b"0" * safetensors.DIGITS
        file[safetensors.DIGEST] = hashlib.sha256(file).hexdigest().encode()
    return bytes(file)


def model(folder: Path) -> bytes:
    X = np.random.default_rng(0).standard_normal((60, 4))
    io.save(RankSVM().fit(X, X[:, 0] > 0.5), folder / "model")
    return (folder / "model").read_bytes()


READERS: dict[str, tuple[str, Callable[[Path], bytes], Callable[[bytes], bytes]]] = {
    "svmlight": ("rows.svm", lambda _: svmlight(), bytes),
    "svmlight in gzip": ("rows.svm.gz", lambda _: gzip.compress(svmlight()), bytes),
    "damaged svmlight in whole gzip": ("rows.svm.gz", lambda _: svmlight(), gzip.compress),
    "csv": ("rows.csv", lambda _: frame().write_csv().encode(), bytes),
    "csv, quoted": ("rows.csv", lambda _: frame().write_csv(quote_style="always").encode(), bytes),
    "parquet": ("rows.parquet", lambda _: parquet("uncompressed"), bytes),
    "parquet, packed": ("rows.parquet", lambda _: parquet("zstd"), bytes),
    "npz": ("rows.npz", lambda _: npz(compressed=False), bytes),
    "npz, packed": ("rows.npz", lambda _: npz(compressed=True), bytes),
    "model": ("model", model, bytes),
    "model with a right checksum": ("model", model, with_checksum),
}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore")
def test_random_damage(name: str, count: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, make, finish = READERS[name]
    path, rng = tmp_path / file, random.Random(f"{name} {count}")
    whole = make(tmp_path)
    refused = slowest = 0
    for _ in range(count):
        path.write_bytes(finish(damaged(whole, rng)))
        began = time.perf_counter()
        try:
            if name.startswith("model"):
                io.load(path)
            else:
                data = io.read(path)
                values = data.X if isinstance(data.X, np.ndarray) else data.X.data
                assert np.isfinite(values).all()
        except InputError as error:
            refused += 1
            assert str(error).startswith(str(path)), error  # noqa: PT017
        slowest = max(slowest, time.perf_counter() - began)
    assert refused > count / 10
    assert slowest < LONGEST
    assert _peak() < 4 * 2**30


def _peak() -> int:
    """Bytes that this process ever had in memory; 0 where nobody knows."""
    try:
        import resource
    except ImportError:
        return 0
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
