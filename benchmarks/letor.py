"""Graded relevance on real queries: NDCG and MAP, every method tuned on the validation part by NDCG@10."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.table import Table
from rankcut import PreferenceRankSVM, RankSVM
from rankcut.metrics import average_precision, ndcg

Array = NDArray[Any]
Score = Callable[[Any], Array]  # of rows of X
OUR_CS = (0.1, 1.0, 10.0, 100.0, 1000.0)
DLIB_CS = (0.1, 1.0, 10.0, 100.0)
TREES = 500  # most; stopped early on the validation part


class Part(NamedTuple):
    X: Any
    y: Array
    qid: Array


class Fold(NamedTuple):
    train: Part
    valid: Part
    test: Part


def run(full: bool = False) -> list[Table]:
    if not data.available():
        table = Table("Graded relevance", [], [])
        table.note(data.MISSING)
        return [table]
    mq2008 = _compare(list(_mq2008())[: None if full else 2], "mq2008" + ("" if full else ", 2 of 5 folds"))
    mq2008.note(
        "mq2008, LETOR 4.0: 784 queries of 46 features, grades 0 to 2, its own folds; means over the test parts."
    )
    example = _compare([_lambdarank()], "LightGBM's lambdarank example")
    example.note(
        "LightGBM's example: 251 queries of 300 sparse features, grades 0 to 4; every fifth training query is for "
        "validation, and its own test part of 50 queries is small: a difference of 0.02 says little."
    )
    for table in (mq2008, example):
        table.note(
            "Queries without a relevant document count as 0, as LETOR does. NDCG has the gain 2^y − 1; MAP takes "
            "y > 0. seconds: one fit at the chosen setting, one thread. Trees are not linear."
        )
    return [mq2008, example]


def _compare(folds: list[Fold], name: str) -> Table:
    table = Table(
        f"Graded relevance: {name}", ["method", "NDCG@10", "MAP", "seconds"], ["", ".4f", ".4f", ".2f"]
    )
    for method, fits in METHODS.items():
        try:
            found = np.array([_tuned(fold, fits) for fold in folds])
        except ImportError as error:
            table.note(f"{method}: {error}; left out.")
            continue
        table.add(method, *found.mean(axis=0).tolist())
    return table


def _tuned(fold: Fold, fits: Callable[[Fold], Iterator[Score]]) -> tuple[float, float, float]:
    """(NDCG@10, MAP, seconds) on the test part of the setting that is best on the validation part."""
    best: tuple[float, Score, float] | None = None
    settings = fits(fold)
    while True:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score = next(settings, None)
        seconds = time.perf_counter() - start
        if score is None:
            break
        reached = _ndcg(fold.valid, score)
        if best is None or reached > best[0]:
            best = reached, score, seconds
    assert best is not None
    return _ndcg(fold.test, best[1]), _map(fold.test, best[1]), best[2]


def _ndcg(part: Part, score: Score) -> float:
    return _share(part) * ndcg(part.y, score(part.X), part.qid, 10, gain="exponential")


def _map(part: Part, score: Score) -> float:
    return _share(part) * average_precision(part.y > 0, score(part.X), part.qid)


def _share(part: Part) -> float:
    """Of the queries that our metrics take: those whose rows differ. The others have no relevant row here."""
    differ = [np.ptp(part.y[part.qid == q]) > 0 for q in np.unique(part.qid)]
    return float(np.mean(differ))


# --- methods: each trains at all its settings --------------------------------------------------------


def _preference(graph: str, rescaling: str) -> Callable[[Fold], Iterator[Score]]:
    threshold = 0.0 if graph == "bipartite" else None

    def fits(fold: Fold) -> Iterator[Score]:
        for C in OUR_CS:
            model = PreferenceRankSVM(C=C, graph=graph, rescaling=rescaling, threshold=threshold, n_jobs=1)
            yield model.fit(fold.train.X, fold.train.y, qid=fold.train.qid).decision_function

    return fits


def _rank_svm(loss: str) -> Callable[[Fold], Iterator[Score]]:
    def fits(fold: Fold) -> Iterator[Score]:
        for C in OUR_CS:
            model = RankSVM(C=C, loss=loss, n_jobs=1)
            yield model.fit(fold.train.X, fold.train.y > 0, qid=fold.train.qid).decision_function

    return fits


def _dlib(fold: Fold) -> Iterator[Score]:
    """Relevant over not, query by query."""
    import dlib  # type: ignore[import-not-found]

    X, y, qid = _dense(fold.train.X), fold.train.y, fold.train.qid
    pairs = dlib.ranking_pairs()
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        if np.any(y[rows] > 0) and np.any(y[rows] == 0):
            pair = dlib.ranking_pair()
            for i in rows:
                (pair.relevant if y[i] > 0 else pair.nonrelevant).append(dlib.vector(X[i]))
            pairs.append(pair)
    trainer = dlib.svm_rank_trainer()
    for C in DLIB_CS:
        trainer.c = C
        w = np.array(trainer.train(pairs).weights).ravel()
        yield lambda rows, w=w: _dense(rows) @ w


def _lightgbm(fold: Fold) -> Iterator[Score]:
    import lightgbm

    train, valid = _grouped(fold.train), _grouped(fold.valid)
    for leaves in (7, 15, 31):
        for rate in (0.02, 0.1):
            model = lightgbm.LGBMRanker(
                num_leaves=leaves,
                learning_rate=rate,
                n_estimators=TREES,
                verbose=-1,
                n_jobs=1,
                random_state=0,
            )
            model.fit(
                train.X,
                train.y,
                group=_lengths(train.qid),
                eval_set=[(valid.X, valid.y)],
                eval_group=[_lengths(valid.qid)],
                eval_at=[10],
                callbacks=[lightgbm.early_stopping(50, verbose=False)],
            )
            yield lambda rows, model=model: np.asarray(model.predict(rows))


def _xgboost(fold: Fold) -> Iterator[Score]:
    import xgboost

    train, valid = _grouped(fold.train), _grouped(fold.valid)
    for depth in (3, 4, 6):
        for rate in (0.02, 0.1):
            model = xgboost.XGBRanker(
                objective="rank:ndcg",
                eval_metric="ndcg@10",
                max_depth=depth,
                learning_rate=rate,
                n_estimators=TREES,
                early_stopping_rounds=50,
                n_jobs=1,
                random_state=0,
            )
            model.fit(
                train.X,
                train.y,
                qid=train.qid,
                eval_set=[(valid.X, valid.y)],
                eval_qid=[valid.qid],
                verbose=False,
            )
            yield model.predict


METHODS: dict[str, Callable[[Fold], Iterator[Score]]] = {
    "complete, slack": _preference("complete", "slack"),
    "complete, margin": _preference("complete", "margin"),
    "bipartite, slack": _preference("bipartite", "slack"),
    "bipartite, margin": _preference("bipartite", "margin"),
    'RankSVM(loss="ndcg")': _rank_svm("ndcg"),
    'RankSVM(loss="ap")': _rank_svm("ap"),
    "dlib svm_rank_trainer": _dlib,
    "LightGBM lambdarank": _lightgbm,
    "XGBoost rank:ndcg": _xgboost,
}


# --- data ---------------------------------------------------------------------------------------------


def _mq2008() -> Iterator[Fold]:
    found = data.load("ranking/mq2008")
    for parts in found["folds"]:
        yield Fold(
            *(_part(found, np.isin(found["part"], chosen)) for chosen in (parts[:3], parts[3], parts[4]))
        )


def _lambdarank() -> Fold:
    found = data.load("ranking/lightgbm_lambdarank")
    valid = ~found["is_test"] & (found["qid"] % 5 == 0)
    return Fold(_part(found, ~found["is_test"] & ~valid), _part(found, valid), _part(found, found["is_test"]))


def _part(found: dict[str, Any], rows: NDArray[np.bool_]) -> Part:
    return Part(found["X"][rows], found["y"][rows].astype(np.int64), found["qid"][rows])


def _grouped(part: Part) -> Part:
    """Query after query, as the tree packages ask for."""
    order = np.argsort(part.qid, kind="stable")
    return Part(part.X[order], part.y[order], part.qid[order])


def _lengths(qid: Array) -> Array:
    return np.unique(qid, return_counts=True)[1]


def _dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
