"""svmlight and LETOR files, parsed by the core, block by block and several blocks at a time."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rankcut import _core
from rankcut.errors import FileError
from rankcut.io.dataset import Dataset
from rankcut.io.source import Share, blocks, nobody

LARGEST = 2**31 - 1


class CountsFromZero(FileError):
    """An index 0 in a file whose indices were to count from 1."""


def svmlight_parts(
    path: str | os.PathLike[str],
    *,
    id: str | None = None,
    n_features: int | None = None,
    zero_based: bool = False,
    dtype: Any = np.float64,
    n_threads: int = 1,
    progress: Share = nobody,
) -> Iterator[Dataset]:
    """A data set for each block with rows. `id`: "comment" takes a row's comment as its name, any other word the
    value after it in the comment, as `docid` of `#docid = GX1`."""

    def parse(text: memoryview) -> tuple[memoryview, tuple[Any, ...]]:
        found = _core.parse_svmlight(
            np.frombuffer(text, np.uint8), zero_based, id is not None, n_features or LARGEST
        )
        return text, found

    queried: bool | None = None
    above = 0  # lines of the blocks before
    with ThreadPoolExecutor(n_threads) as pool:
        for text, found in _ahead(pool, parse, blocks(path, progress=progress), n_threads):
            if len(found) == 3:
                line, column, what = found
                kind = CountsFromZero if what.startswith("index 0") else FileError
                raise kind(path, what, above + line, column)
            labels, queries, starts, columns, values, comments, numbers, n_lines, width = found
            numbers += above
            above += n_lines
            if not len(labels):
                continue
            if queried is None:
                queried = len(queries) > 0
            if queried != (len(queries) > 0):
                raise FileError(path, "rows with and without a qid are mixed", int(numbers[0]))
            X = sp.csr_matrix(
                (values.astype(dtype, copy=False), columns, starts), shape=(len(labels), n_features or width)
            )
            yield Dataset(
                X,
                y=labels,
                qid=queries if queried else None,
                id=None if id is None else _names(path, text, comments, numbers, id),
                source=os.fspath(path),
            )


def _names(
    path: Any, block: memoryview, comments: NDArray[np.int64], numbers: NDArray[np.int64], key: str
) -> NDArray[Any]:
    texts = [bytes(block[a:b]).decode("utf-8", "replace") for a, b in comments.reshape(-1, 2)]
    if key == "comment":
        return np.array(texts, dtype=str)
    pattern = re.compile(rf"(?:^|\s){re.escape(key)}\s*[=:]\s*(\S+)")
    names = []
    for text, number in zip(texts, numbers, strict=True):
        found = pattern.search(text)
        if not found:
            raise FileError(
                path,
                f"no {key!r} in the comment; id takes a word of it, or 'comment'",
                int(number),
            )
        names.append(found[1])
    return np.array(names, dtype=str)


def _ahead(pool: ThreadPoolExecutor, work: Any, items: Iterator[Any], n: int) -> Iterator[Any]:
    """`map` in order, at most n + 1 items ahead of the reader."""
    waiting: deque[Future[Any]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > n:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for each in waiting:
            each.cancel()
