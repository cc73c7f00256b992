"""Times of the two products of a design against NumPy and SciPy. Nothing here is asserted.

    python benchmarks/bench_products.py [--threads 2] [--only text] [--repeat 7]

"theirs" works in the type of X (float32 sums for float32 X), "ours" always sums in float64.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankcut.designs import make_design


def best_ms(run: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def text_like(n: int, d: int, per_row: int, rng: np.random.Generator) -> sp.csr_matrix:
    """Column frequencies fall like words' do: half of the entries in a few thousand columns."""
    columns = np.minimum((d ** rng.random(n * per_row)).astype(np.int32), d - 1)
    data = rng.random(n * per_row, dtype=np.float32)
    return sp.csr_matrix((data, columns, np.arange(0, n * per_row + 1, per_row)), shape=(n, d))


def cases(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], Any], tuple[int, ...]]]:
    yield "1,000,000 x 128 f32", lambda: rng.random((1_000_000, 128), dtype=np.float32), (1, 10)
    yield "20,000 x 2,000 f32", lambda: rng.random((20_000, 2_000), dtype=np.float32), (1, 10, 50)
    yield "143,000 x 10 f64 C", lambda: rng.random((143_000, 10)), (1, 10)
    yield "143,000 x 10 f64 F", lambda: np.asfortranarray(rng.random((143_000, 10))), (1, 10)

    def sparse() -> Any:
        return sp.random(48_842, 123, 0.11, format="csr", random_state=0)

    yield "48,842 x 123 CSR .11", sparse, (1, 10)
    yield "48,842 x 123 CSC .11", lambda: sparse().tocsc(), (1, 10)
    yield "text CSR f32", lambda: text_like(20_000, 100_000, 100, rng), (1, 10, 50)
    yield "text CSC f32", lambda: text_like(20_000, 100_000, 100, rng).tocsc(), (1, 10, 50)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--only", default="", help="only the cases whose name contains this")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    print(f"{'case':22}{'K':>4}{'product':>9}{'ours ms':>10}{'theirs ms':>11}{'ratio':>7}{'GFMA/s':>8}")
    for name, make, problems in cases(rng):
        if options.only not in name:
            continue
        X = make()
        design = make_design(X, n_threads=options.threads)
        entries = X.nnz if sp.issparse(X) else X.size
        for k in problems:
            W = rng.standard_normal((k, X.shape[1]))
            A = rng.standard_normal((k, X.shape[0]))
            V, B = W.T.astype(X.dtype), A.T.astype(X.dtype)
            V, B = (V[:, 0], B[:, 0]) if k == 1 else (V, B)  # a vector is their faster way
            runs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
                "X w": (lambda W=W: design.scores(W), lambda V=V: X @ V),
                "Xᵀ a": (lambda A=A: design.pull(A), lambda B=B: X.T @ B),
            }
            for product, (ours, theirs) in runs.items():
                a, b = best_ms(ours, options.repeat), best_ms(theirs, options.repeat)
                speed = entries * k / a / 1e6
                print(f"{name:22}{k:4}{product:>9}{a:10.2f}{b:11.2f}{a / b:7.2f}{speed:8.1f}")


if __name__ == "__main__":
    main()
