"""Queries: rows are ranked within their query, and the risk is the mean over queries.

Each of 120 queries has documents of its own, some of them relevant. A query shifts the scores of all its documents,
which a single list would mistake for relevance. `qid` says which rows belong together, in any order.
"""

import warnings

import numpy as np

from rankcut import RankSVM, metrics
from rankcut.selection import QueryKFold


def documents(n_queries: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, relevance and query of each document. The first five features say what is relevant; the sixth
    says how rich in relevant documents the query is, which helps nobody who ranks within a query."""
    qid = np.repeat(np.arange(n_queries), 25)
    richness = rng.normal(size=n_queries)[qid]
    X = rng.normal(size=(len(qid), 6))
    X[:, 5] = richness + 0.1 * rng.normal(size=len(qid))
    merit = X[:, :5] @ np.array([1.0, -0.8, 0.6, 0.4, 0.2]) + 2.0 * richness + rng.normal(size=len(qid))
    return X, (merit > 2.0).astype(int), qid


def main() -> None:
    rng = np.random.default_rng(0)
    X, y, qid = documents(120, rng)
    train, test = next(QueryKFold(4).split(X, y, groups=qid))  # no query on both sides

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it counts the queries without a relevant document
        by_query = RankSVM(C=100.0).fit(X[train], y[train], qid=qid[train])
    one_list = RankSVM(C=100.0).fit(X[train], y[train])
    print(f"trained on {by_query.n_lists_} queries; {by_query.n_skipped_lists_} had nothing to rank")

    for name, model in [("ranked by query", by_query), ("ranked as one list", one_list)]:
        found = metrics.average_precision(y[test], model.decision_function(X[test]), qid[test])
        print(f"{name}: mean average precision {found:.3f} on new queries")


if __name__ == "__main__":
    main()
