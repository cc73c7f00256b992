"""Bad input: an error that names the argument and says what to do; never a crash."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from rankcut import Graph, GraphRankSVM, InputError, RankcutError, RankSVM
from rankcut.selection import QueryKFold

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = np.tile([0, 0, 1], 20)
QID = np.repeat(np.arange(6), 10)


def with_entry(value: float, dtype: type = np.float64) -> np.ndarray:
    bad = X.astype(dtype)
    bad[17, 2] = value
    return bad


def check_message(error: BaseException, name: str) -> None:
    """`name: what came; what to do`."""
    message = str(error)
    assert message.startswith(f"{name}:"), message
    assert len(message) > len(name) + 20


def refuse(name: str, features: Any = X, labels: Any = Y, qid: Any = None, **options: Any) -> None:
    with pytest.raises(InputError) as caught:
        RankSVM(**options).fit(features, labels, qid=qid)
    check_message(caught.value, name)


# --- X --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(with_entry(np.nan), id="NaN"),
        pytest.param(with_entry(np.inf), id="inf"),
        pytest.param(with_entry(-np.inf), id="-inf"),
        pytest.param(with_entry(np.nan, np.float32), id="NaN float32"),
        pytest.param(with_entry(np.inf, np.float16), id="inf float16"),
        pytest.param(sp.csr_matrix(with_entry(np.nan)), id="NaN CSR"),
        pytest.param(sp.csc_matrix(with_entry(np.inf)), id="inf CSC"),
        pytest.param(np.full((60, 2), "red"), id="words"),
        pytest.param([["red", 1.0]] * 60, id="words in a list"),
        pytest.param(np.full((60, 2), None), id="None"),
        pytest.param(np.empty((0, 4)), id="no rows"),
        pytest.param(np.empty((60, 0)), id="no columns"),
        pytest.param(sp.csr_matrix((60, 0)), id="no columns, sparse"),
        pytest.param(X[:, 0], id="one dimension"),
        pytest.param(X[None], id="three dimensions"),
        pytest.param(None, id="no X"),
        pytest.param(7, id="a number"),
        pytest.param([[1.0, 2.0], [3.0]] * 30, id="ragged"),
        pytest.param(X + 1j, id="complex"),
        pytest.param(np.ma.masked_array(X, mask=X > 2), id="masked entries"),
        pytest.param(pl.DataFrame(X).lazy(), id="a lazy frame"),
        pytest.param(X * 1e200, id="so large that squares overflow"),
        pytest.param(X / np.abs(X).max() * 1.7e308, id="largest floats"),
    ],
)
def test_features(bad: Any) -> None:
    labels = Y[: len(bad)] if isinstance(bad, np.ndarray) and bad.ndim == 2 else Y
    refuse("X", bad, labels)


def test_texts_of_numbers_are_numbers() -> None:
    assert RankSVM().fit(np.round(X, 3).astype(str), Y).coef_.shape == (1, 4)


def test_hints() -> None:
    with pytest.raises(InputError, match="SimpleImputer"):
        RankSVM().fit(with_entry(np.nan), Y)
    with pytest.raises(InputError, match="OneHotEncoder"):
        RankSVM().fit(np.full((60, 2), "red"), Y)
    assert issubclass(InputError, ValueError)
    assert issubclass(InputError, RankcutError)


def test_features_at_prediction() -> None:
    model = RankSVM().fit(X, Y)
    for bad in (with_entry(np.nan), np.full((60, 4), "red"), X[:, 0], X[:, :2], None):
        with pytest.raises((ValueError, TypeError)):
            model.predict(bad)


BREAK = {
    "a column too far": "X.indices[5] = 4",
    "a column far too far": "X.indices[5] = 2_000_000_000",
    "a negative column": "X.indices[5] = -1",
    "a very negative column": "X.indices[5] = -2_000_000_000",
    "a falling indptr": "X.indptr[3], X.indptr[4] = X.indptr[4], X.indptr[3]",
    "an indptr that runs over": "X.indptr[-1] += 1000",
    "an indptr that jumps far": "X.indptr[1:] += 2_000_000_000",
    "an indptr that does not start at 0": "X.indptr[0] = 3",
    "a negative indptr": "X.indptr[0] = -7",
    "an indptr that is too short": "X.indptr = X.indptr[:-2]",
    "an indptr that is too long": "X.indptr = np.append(X.indptr, X.indptr[-1])",
    "no indptr": "X.indptr = X.indptr[:0]",
    "data too short": "X.data = X.data[:-40]",
    "data too long": "X.data = np.append(X.data, 1.0)",
    "indices too short": "X.indices = X.indices[:-40]",
}
PREPARE = {"csr": "sp.csr_matrix(D)", "csc": "sp.csc_matrix(D)", "csr int": "sp.csr_matrix(D.astype(int))"}
SPARSE = """
import sys, warnings
import numpy as np, scipy.sparse as sp
from rankcut import InputError, RankSVM
warnings.simplefilter("ignore")
cases = {cases!r}
for name, prepare, damage, where in cases:
    D = np.round(5 * np.random.default_rng(0).normal(size=(40, 40))) * (np.random.default_rng(1).random((40, 40)) < 0.4)
    D = D[:, :4] if "column" in name else D
    X, y = eval(prepare), np.tile([0, 1], 20)
    good = X.copy()
    exec(damage)
    try:
        if where == "fit":
            RankSVM(n_jobs=1).fit(X, y)
        else:
            RankSVM(n_jobs=1).fit(good, y).predict(X)
        answer = "accepted"
    except InputError as error:
        answer = "fine" if str(error).startswith("X") else str(error)
    except Exception as error:
        answer = f"{{type(error).__name__}}: {{error}}"
    print(f"{{prepare}} {{name}} {{where}}: {{answer}}", flush=True)
"""


def run(cases: list[tuple[str, str, str, str]]) -> list[str]:
    """In a process of its own: a crash is an answer too."""
    found = subprocess.run(
        [sys.executable, "-c", SPARSE.format(cases=cases)], capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 0, (
        f"it crashed with {found.returncode} after {found.stdout[-300:]}\n{found.stderr[-2000:]}"
    )
    return found.stdout.splitlines()


@pytest.mark.parametrize("prepare", PREPARE.values(), ids=PREPARE.keys())
def test_sparse_matrices_with_wrong_indices(prepare: str) -> None:
    cases = [(name, prepare, damage, where) for name, damage in BREAK.items() for where in ("fit", "predict")]
    if "csc" in prepare:  # 'a column too far' is a row too far
        cases = [case for case in cases if case[0] != "a column too far"]
        cases += [("a row too far", prepare, "X.indices[5] = 40", where) for where in ("fit", "predict")]
    lines = run(cases)
    assert len(lines) == len(cases)
    assert [line for line in lines if not line.endswith(": fine")] == []


@pytest.mark.parametrize(
    "kind, damage",
    [
        ("coo", "X.row[5] = 40"),
        ("coo", "X.col[5] = 2_000_000"),
        ("coo", "X.col[5] = -3"),
        ("bsr", "X.indices[3] = 2_000_000"),
        ("bsr", "X.indptr[3] = 2_000_000"),
    ],
)
def test_other_sparse_formats_with_wrong_indices(kind: str, damage: str) -> None:
    lines = run([(damage, f"sp.{kind}_matrix(D)", damage, "fit")])
    assert [line for line in lines if not line.endswith(": fine")] == []


# --- y ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(np.zeros(60, int), id="one class"),
        pytest.param(np.full(60, "a"), id="one class of texts"),
        pytest.param(Y[:-1], id="too short"),
        pytest.param(np.append(Y, 1), id="too long"),
        pytest.param([], id="empty"),
        pytest.param(None, id="None"),
        pytest.param(3, id="a number"),
        pytest.param(np.where(Y, 1.0, np.nan), id="NaN"),
        pytest.param(np.where(Y, 1.0, np.inf), id="inf"),
        pytest.param(X[:, 0], id="continuous"),
        pytest.param(np.where(Y, 1, None), id="None among labels"),
        pytest.param([("a" if label else None) for label in Y], id="None among texts"),
        pytest.param([("a" if label else np.nan) for label in Y], id="NaN among texts"),
        pytest.param([("1" if label else 1) for label in Y], id="a number and a text"),
        pytest.param(np.stack([Y, 0 * Y], axis=1), id="an indicator of nothing"),
        pytest.param(np.stack([Y, 0 * Y + 1], axis=1), id="an indicator of all"),
        pytest.param(np.stack([Y, Y + 1], axis=1), id="a matrix of classes"),
        pytest.param(np.zeros((60, 2, 2), int), id="three dimensions"),
        pytest.param(np.where(np.stack([Y, 1 - Y], axis=1), 1.0, np.nan), id="an indicator with NaN"),
    ],
)
def test_labels(bad: Any) -> None:
    refuse("y", labels=bad)


# --- qid --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(QID[:-1], id="too short"),
        pytest.param([], id="empty"),
        pytest.param(5, id="a number"),
        pytest.param("q" * 60, id="one text"),
        pytest.param(iter(range(60)), id="an iterator"),
        pytest.param(np.where(QID == 1, np.nan, QID), id="NaN"),
        pytest.param(np.where(QID == 1, np.nan, QID).astype(object), id="NaN among objects"),
        pytest.param([None if q == 1 else f"q{q}" for q in QID], id="None among texts"),
        pytest.param(pl.Series([None if q == 1 else f"q{q}" for q in QID]), id="null"),
        pytest.param(pd.Series(QID, dtype="Int64").where(QID != 1), id="NA"),
        pytest.param(pd.Series(QID, dtype="Int64").where(QID != 1).astype(object), id="NA among objects"),
        pytest.param(np.where(QID == 1, "NaT", "2026-01-01").astype("datetime64[D]"), id="NaT"),
        pytest.param(pd.DataFrame({"q": QID}), id="a frame"),
        pytest.param(QID[:, None], id="a column"),
        pytest.param([[q] for q in QID], id="unhashable"),
        pytest.param(np.arange(60), id="a query per row"),
        pytest.param(Y, id="a query per class"),
    ],
)
@pytest.mark.parametrize("loss", ["ap", "hinge"])
def test_queries(bad: Any, loss: str) -> None:
    refuse("qid", qid=bad, loss=loss)


def test_queries_of_several_types_stay_apart() -> None:
    """NumPy would make one text of 1 and "1", and one float of large whole numbers."""
    names = [str(q // 2) if q % 2 else q // 2 for q in QID.tolist()]
    large = [2**63 + q if q % 2 else -q for q in QID.tolist()]
    for qid in (names, large, [("page", q) for q in QID], QID.astype(str), QID.astype("datetime64[D]")):
        assert RankSVM().fit(X, Y, qid=qid).n_lists_ == 6


def test_the_container_of_queries_is_of_no_account() -> None:
    mixed = RNG.permutation(60)
    names = np.array([f"q{q}" for q in QID[mixed]])
    models = [
        RankSVM().fit(X, Y, qid=qid).coef_
        for qid in (names, names.tolist(), names.astype(object), pd.Series(names), pl.Series(names.tolist()))
    ]
    folds = [list(QueryKFold(3).split(X, Y, groups)) for groups in (names, names.tolist(), pd.Series(names))]
    for model in models[1:]:
        np.testing.assert_array_equal(model, models[0])
    for found in folds[1:]:
        for (_, test), (_, expected) in zip(found, folds[0], strict=True):
            np.testing.assert_array_equal(test, expected)


def test_some_queries_cannot_be_used() -> None:
    labels = Y.copy()
    labels[:10], labels[10:20] = 0, 1
    for options in ({}, {"loss": "hinge"}, {"approx": 0.5}, {"loss": "precision@2"}):
        with pytest.warns(UserWarning, match=r"^qid: 2 of 6 lists"):
            model = RankSVM(**options).fit(X, labels, qid=QID)
        assert (model.n_lists_, model.n_skipped_lists_) == (4, 2)


def test_usable_queries_differ_by_class() -> None:
    """One-vs-rest: class 2 occurs in one query alone, and is counted for itself."""
    labels = Y.copy()
    labels[5] = 2
    with pytest.warns(UserWarning, match=r"^qid: 5 of 6 lists"):
        model = RankSVM().fit(X, labels, qid=QID)
    assert model.n_lists_.tolist() == [6, 6, 1]
    assert model.n_skipped_lists_.tolist() == [0, 0, 5]


# --- parameters ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value, others",
    [
        *(("C", value, {}) for value in (-1, 0, 0.0, np.inf, np.nan, "1", None, [1.0])),
        *(("tol", value, {}) for value in (-1e-3, 0, np.nan, np.inf, "small", None)),
        *(("max_iter", value, {}) for value in (0, -5, 10.5, "many", None)),
        *(("n_jobs", value, {}) for value in (0, 1.5, "all")),
        *((name, value, {}) for name in ("fit_intercept", "warm_start") for value in ("no", None, 2, [True])),
        *(
            ("loss", value, {})
            for value in ("map", "", None, 3, ["ap"], "precision@k", "precision@1.5", "AP")
        ),
        *(("oracle", value, {}) for value in ("fast", "", None, 3, ["greedy"])),
        *(("oracle", "greedy", {"loss": loss}) for loss in ("auc", "precision@3", "hinge")),
        ("oracle", "fast", {"loss": "auc"}),
        *(("approx", value, {}) for value in (0, -0.5, 1.0001, np.nan, "half", True)),
        *(("approx", 0.5, {"loss": loss}) for loss in ("auc", "hinge")),
        *(("positive_weight", value, {"loss": "hinge"}) for value in (0, -1, np.inf, np.nan, "heavy")),
        ("positive_weight", 2.0, {"loss": "ap"}),
        ("callbacks", 3, {}),
        ("callbacks", print, {}),
        ("callbacks", [3], {}),
    ],
)
def test_parameters(name: str, value: Any, others: dict[str, Any]) -> None:
    refuse(name, **{name: value}, **others)


@pytest.mark.parametrize("loss", ["precision@0", "precision@-1", "precision@9999999999999999999999"])
def test_precision_at_no_possible_k(loss: str) -> None:
    with pytest.raises(InputError, match="precision@"):
        RankSVM(loss=loss).fit(X, Y)


@pytest.mark.filterwarnings("ignore")
def test_products_that_overflow() -> None:
    """Models that are honest about what they could not prove, or errors that name what is too large."""
    for C, scale in ((1e10, 1e150), (1e150, 1e80), (1e300, 1e20)):
        for loss in ("ap", "hinge"):
            model = RankSVM(C=C, loss=loss).fit(X * scale, Y)
            assert np.isfinite(model.coef_).all()
            assert np.isfinite(model.objective_)
    graph = Graph(X * 1e20, np.c_[np.arange(59), np.arange(1, 60)])
    with pytest.raises(InputError, match=r"^C: came so large"):
        GraphRankSVM(C=1e300).fit(graph, Y)


def test_what_is_possible() -> None:
    for options in (
        {"C": np.float32(2)},
        {"C": 1},
        {"n_jobs": np.int64(1)},
        {"n_jobs": -1},
        {"n_jobs": -100},
        {"max_iter": np.int32(50)},
        {"approx": 1},
        {"loss": "precision@1000000"},
        {"callbacks": ()},
        {"callbacks": iter([])},
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            RankSVM(**options).fit(X, Y)


def test_the_smallest_lists() -> None:
    assert not RankSVM(loss="precision@9").fit([[0.0], [1.0]], [0, 1]).coef_.any()  # both are among nine
    for loss in ("ap", "auc", "ndcg", "mrr", "precision@1", "hinge"):
        model = RankSVM(loss=loss, C=10).fit([[0.0], [1.0]], [0, 1])
        assert model.rank([[0.0], [1.0]]).tolist() == [1, 0]
        assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
        assert RankSVM(loss=loss).fit([[1.0], [1.0]], [0, 1]).coef_.tolist() == [
            [0.0]
        ]  # nothing tells them apart
    assert RankSVM(approx=1.0).fit([[0.0], [9.0]], [0, 1]).predict([[0.0], [9.0]]).tolist() == [0, 1]


def test_a_failed_fit_leaves_the_old_model() -> None:
    model = RankSVM().fit(X, Y)
    before = model.coef_.copy()
    with pytest.raises(InputError):
        model.fit(X, np.zeros(60))
    np.testing.assert_array_equal(model.coef_, before)
