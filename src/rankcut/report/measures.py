"""Ranking measures of scores: per query, their mean, and bootstrap intervals of the mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut import metrics
from rankcut.data.ids import query_codes
from rankcut.errors import InputError

Floats = NDArray[np.float64]
Measure = Callable[[Any, Any], float]
OF_QUERIES, OF_ROWS = 1000, 200  # bootstrap samples
MOST_ROWS = 100_000  # of one list, for intervals that nobody asked for


@dataclass(frozen=True)
class Interval:
    """A mean and its percentile interval, if it was computed."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Measured:
    """What one ranker reaches. `values[name]` has an entry for each query."""

    name: str
    n_rows: int
    n_lists: int
    n_skipped: int
    queries: NDArray[Any] | None
    values: dict[str, Floats]
    intervals: dict[str, Interval]

    def document(self, *, per_query: bool) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {
            "name": self.name,
            "samples": self.n_rows,
            "lists": self.n_lists,
            "skipped_lists": self.n_skipped,
            "measures": {name: asdict(interval) for name, interval in self.intervals.items()},
        }
        if per_query and self.queries is not None:
            columns = {name: values.tolist() for name, values in self.values.items()}
            found["queries"] = [
                {"qid": query, **{name: column[i] for name, column in columns.items()}}
                for i, query in enumerate(self.queries.tolist())
            ]
        return found


def binary_measures(ks: list[int]) -> dict[str, Measure]:
    """By name, for two labels."""
    chosen: dict[str, Measure] = {
        "AP": metrics.average_precision,
        "AP, VOC 2010": lambda y, z: metrics.average_precision(y, z, interpolation="voc2010"),
        "AP, VOC 2007": lambda y, z: metrics.average_precision(y, z, interpolation="voc2007"),
        "NDCG": metrics.ndcg,
        "AUC": metrics.auc,
        "MRR": metrics.mrr,
    }
    for k in ks:
        chosen[f"P@{k}"] = lambda y, z, k=k: metrics.precision_at_k(y, z, k)  # type: ignore[misc]
    return chosen


def graded_measures() -> dict[str, Measure]:
    """By name, for grades, which must not be negative."""
    return {
        "NDCG, linear gain": lambda y, z: metrics.ndcg(y, z, gain="linear"),
        "NDCG@10, linear gain": lambda y, z: metrics.ndcg(y, z, k=10, gain="linear"),
    }


def measure(
    name: str,
    measures: dict[str, Measure],
    relevant: NDArray[Any],
    scores: Floats,
    qid: NDArray[Any] | None,
    samples: int | None,
    confidence: float,
    seed: int,
    tick: Callable[[float], object],
) -> Measured:
    """Every measure in every list; intervals over queries, or over the rows of a single list. `tick` is told the
    share of the work that is done."""
    lists, queries, skipped = _lists(relevant, qid)
    values = {
        key: np.array([one(relevant[rows], scores[rows]) for rows in lists]) for key, one in measures.items()
    }
    rng = np.random.default_rng(seed)
    if queries is not None:
        drawn = _of_queries(values, OF_QUERIES if samples is None else samples, rng)
    else:
        wanted = samples if samples is not None else OF_ROWS if len(scores) <= MOST_ROWS else 0
        drawn = _of_rows(measures, relevant, scores, wanted, rng, tick)
    edges = [50 * (1 - confidence), 50 * (1 + confidence)]
    intervals = {}
    for key, column in values.items():
        ends = np.percentile(drawn[key], edges).tolist() if len(drawn[key]) else [None, None]
        intervals[key] = Interval(float(column.mean()), *ends)
    return Measured(name, len(scores), len(lists), skipped, queries, values, intervals)


def _lists(
    relevant: NDArray[Any], qid: NDArray[Any] | None
) -> tuple[list[NDArray[np.intp]], NDArray[Any] | None, int]:
    """The rows of each list that has something to rank, their queries, and how many others there are."""
    if qid is None:
        if relevant.min() == relevant.max():
            raise InputError("label: all rows have the same label; there is nothing to measure")
        return [np.arange(len(relevant))], None, 0
    codes = query_codes(qid, len(relevant))
    order = np.argsort(codes, kind="stable")
    ends = np.flatnonzero(np.diff(codes[order])) + 1
    lists = np.split(order, ends)
    usable = [rows for rows in lists if relevant[rows].min() < relevant[rows].max()]
    if not usable:
        raise InputError("qid: no query has both a relevant and another row; there is nothing to measure")
    return usable, qid[[rows[0] for rows in usable]], len(lists) - len(usable)


def _of_queries(values: dict[str, Floats], samples: int, rng: np.random.Generator) -> dict[str, Floats]:
    n = len(next(iter(values.values())))
    counts = rng.multinomial(n, np.full(n, 1 / n), size=samples) / n
    return {key: counts @ column for key, column in values.items()}


def _of_rows(
    measures: dict[str, Measure],
    relevant: NDArray[Any],
    scores: Floats,
    samples: int,
    rng: np.random.Generator,
    tick: Callable[[float], object],
) -> dict[str, Floats]:
    """Rows are drawn in the order of their scores, which makes sorting them again quick."""
    order = np.argsort(-scores, kind="stable")
    relevant, scores = relevant[order], scores[order]
    drawn: dict[str, list[float]] = {key: [] for key in measures}
    for i in range(samples):
        rows = np.sort(rng.integers(len(scores), size=len(scores)))
        y, z = relevant[rows], scores[rows]
        if y.min() < y.max():  # else nothing is ranked
            for key, one in measures.items():
                drawn[key].append(one(y, z))
        tick((i + 1) / samples)
    return {key: np.array(found) for key, found in drawn.items()}
