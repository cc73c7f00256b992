"""The native parser against its slow twin, on rows of all shapes and on rows that are wrong."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from rankcut import io
from rankcut.errors import FileError
from rankcut.io import source
from rankcut.reference import svmlight as slow

VALUES = [
    "1",
    "-1",
    "+0.5",
    ".25",
    "3.",
    "1e-3",
    "1E5",
    "0",
    "-0",
    "123456789.123456789",
    "1e-310",
    "9007199254740993",
]
WRONG = [
    "x",
    "1:",
    ":1",
    "1:x",
    "nan",
    "1:nan",
    "2:inf",
    "1e999",
    "3:1e999",
    "qid:",
    "qid:x",
    "0:1",
    "-1:2",
    "1;2",
    "1:2:3",
]


def some_text(rng: random.Random, wrong: float) -> str:
    lines = []
    queries = rng.random() < 0.5
    for _ in range(rng.randrange(8)):
        if rng.random() < 0.1:
            lines.append(rng.choice(["", "  ", "# only a comment", "\t# 1 1:1"]))
            continue
        tokens = [rng.choice(VALUES)]
        if queries or rng.random() < wrong / 4:
            tokens.append(f"qid:{rng.randrange(5)}")
        columns = rng.sample(range(1, 12), rng.randrange(6))
        if rng.random() < 0.6:
            columns.sort()
        tokens += [f"{column}:{rng.choice(VALUES)}" for column in columns]
        if rng.random() < wrong:
            tokens.insert(rng.randrange(len(tokens) + 1), rng.choice(WRONG))
        if rng.random() < wrong / 4 and columns:
            tokens.append(f"{columns[0]}:1")
        comment = rng.choice(["", "", " # docid = a7 # b", "#x"])
        lines.append(rng.choice([" ", "\t", "  "]).join(tokens) + comment + rng.choice(["", "", " ", "\r"]))
    return "\n".join(lines) + rng.choice(["", "\n", "\n\n"])


def parsed(text: str) -> tuple[list[slow.Row], str]:
    """The slow twin's rows, or its complaint."""
    try:
        return slow.parse(text), ""
    except ValueError as error:
        return [], str(error)


@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_parser_agrees_with_the_slow_one(wrong: float, tmp_path: Path) -> None:
    rng = random.Random(str(wrong))
    path = tmp_path / "rows.txt"
    refused = 0
    for _ in range(1_000):
        text = some_text(rng, wrong)
        path.write_bytes(text.encode())
        expected, complaint = parsed(text)
        if complaint:
            refused += 1
            with pytest.raises(FileError) as found:
                io.read(path, zero_based=False)
            assert complaint.startswith(f"line {found.value.line}:"), text
            assert found.value.path == path
            continue
        if not expected:
            with pytest.raises(FileError, match="without a row"):
                io.read(path, zero_based=False)
            continue
        data = io.read(path, id="comment")
        assert data.y is not None
        assert data.id is not None
        assert data.y.tolist() == [row.label for row in expected]
        assert (None if data.qid is None else data.qid.tolist()) == (
            None if expected[0].qid is None else [row.qid for row in expected]
        )
        assert data.id.tolist() == [row.comment for row in expected]
        X = data.X.toarray() if sp.issparse(data.X) else data.X
        by_hand = np.zeros_like(X)
        for i, row in enumerate(expected):
            for column, value in row.entries.items():
                by_hand[i, column] = value
        assert np.array_equal(X, by_hand)
    assert (refused > 200) == (wrong > 0)


def test_blocks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, line numbers and columns are the same for any size of block and any number of threads."""
    rng = np.random.default_rng(0)
    rows = [
        f"{i % 2} qid:{i // 5} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(rng.random(6), 1))
        for i in range(300)
    ]
    path, packed = tmp_path / "rows.txt", tmp_path / "rows.txt.gz"
    path.write_text("\n".join(rows))
    with gzip.open(packed, "wt") as file:
        file.write("\ufeff" + "\r\n".join(rows) + "\r\n")
    expected = io.read(path)
    for size in (64, 1000, 10**6):
        monkeypatch.setattr(source.blocks, "__kwdefaults__", {"quotes": False, "size": size})
        for name in (path, packed):
            for threads in (1, 3):
                found = io.read(name, n_jobs=threads)
                assert np.array_equal(found.X, expected.X)
                assert np.array_equal(found.y, expected.y)
                assert np.array_equal(found.qid, expected.qid)
        for place in (0, 123, 299):
            bad = rows.copy()
            bad[place] = bad[place].replace(" 3:", " 3x")
            broken = tmp_path / "broken.txt"
            broken.write_text("\n".join(bad))
            with pytest.raises(FileError, match="expected index:value") as error:
                io.read(broken)
            assert (error.value.line, error.value.column) == (place + 1, bad[place].index("3x") + 1)


def test_agrees_with_scikit_learn(shared_data: Path, tmp_path: Path, load_shared) -> None:  # type: ignore[no-untyped-def]
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    for name in ("ranking/mq2008", "ranking/lightgbm_lambdarank"):
        data = load_shared(name)
        path = tmp_path / "rows.svm"
        dump_svmlight_file(data["X"], data["y"], str(path), zero_based=False, query_id=data["qid"])
        X, y, qid = load_svmlight_file(str(path), query_id=True)
        found = io.read(path, n_features=X.shape[1])
        dense = found.X.toarray() if sp.issparse(found.X) else found.X
        assert np.array_equal(dense, X.toarray())
        assert np.array_equal(found.y, y)
        assert np.array_equal(found.qid, qid)
