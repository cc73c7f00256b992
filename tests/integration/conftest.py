"""Small files for the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """train.csv and test.csv with names, rows.svm with queries and grades; the working directory."""
    rng = np.random.default_rng(5)
    for name, n in (("train", 200), ("test", 120)):
        X = rng.standard_normal((n, 4)).round(4)
        label = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0.8).astype(int)
        names = [f"{name} {i}" for i in range(n)]
        features = {f"x{j}": X[:, j] for j in range(4)}
        pl.DataFrame({"label": label, "id": names, **features}).write_csv(tmp_path / f"{name}.csv")
    X = rng.standard_normal((150, 3)).round(4)
    grades = np.digitize(X[:, 0] + 0.4 * rng.standard_normal(150), [0.3, 1.0])
    rows = [
        f"{grade} qid:{i // 10} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, 1)) + f" # docid = d{i}"
        for i, (grade, x) in enumerate(zip(grades, X, strict=True))
    ]
    (tmp_path / "rows.svm").write_text("\n".join(rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path
