"""What every estimator promises (API.md), one promise a test."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.multiclass import OneVsRestClassifier

from rankcut import RankSVM, losses
from rankcut.solvers import Status

LOSSES = ["ap", "auc", "ndcg", "mrr", "precision@5", "hinge"]
Data = tuple[np.ndarray, np.ndarray]


def objective(model: RankSVM, X: np.ndarray, relevant: np.ndarray, w: np.ndarray, qid: Any = None) -> float:
    options = {"shifted": model.fit_intercept} if model.loss == "hinge" else {}
    risk = losses.get(model.loss, **options).most_violated(X @ w, relevant, qid).value
    return float(0.5 * w @ w + model.C * risk)


# --- fitted attributes ------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_fitted_attributes_of_one_problem(cancer: Data, loss: str) -> None:
    X, y = cancer
    model = RankSVM(C=10, loss=loss)
    assert model.fit(X, y) is model
    assert model.coef_.shape == (1, 30)
    assert model.coef_.dtype == np.float64
    assert model.intercept_.shape == (1,)
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 30
    assert model.status_ is Status.CONVERGED
    for name in ("objective_", "dual_objective_", "dual_gap_", "n_iter_", "n_lists_", "n_skipped_lists_"):
        assert np.ndim(getattr(model, name)) == 0, name
    assert (model.n_lists_, model.n_skipped_lists_) == (1, 0)
    assert 0 <= model.dual_gap_ <= 1e-3
    assert model.dual_gap_ == pytest.approx((model.objective_ - model.dual_objective_) / model.objective_)
    assert model.objective_ == pytest.approx(objective(model, X, y, model.coef_[0]), rel=1e-9)
    assert isinstance(model.history_, list)
    assert len(model.history_) == model.n_iter_
    scores = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), (scores > 0).astype(int))
    np.testing.assert_array_equal(model.rank(X), np.argsort(-scores, kind="stable"))
    assert model.score(X, y) > 0.9


def test_fitted_attributes_of_several_problems(digits: Data) -> None:
    X, y = digits
    model = RankSVM(C=10).fit(X, y)
    assert model.coef_.shape == (10, 64)
    assert model.intercept_.shape == (10,)
    assert model.classes_.tolist() == list(range(10))
    for name in ("objective_", "dual_objective_", "dual_gap_", "n_iter_", "n_lists_", "n_skipped_lists_"):
        assert getattr(model, name).shape == (10,), name
    assert model.status_ == [Status.CONVERGED] * 10
    assert [len(history) for history in model.history_] == model.n_iter_.tolist()
    scores = model.decision_function(X)
    assert scores.shape == (600, 10)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    assert model.rank(X).shape == (600, 10)
    for k in range(10):
        np.testing.assert_array_equal(scores[model.rank(X)[:, k], k], np.sort(scores[:, k])[::-1])
        assert model.objective_[k] == pytest.approx(objective(model, X, y == k, model.coef_[k]), rel=1e-9)
    assert model.score(X, y) > 0.9


def test_ranking_is_invariant_to_the_intercept(cancer: Data) -> None:
    X, y = cancer
    with_it, without = RankSVM(C=10).fit(X, y), RankSVM(C=10, fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(with_it.coef_, without.coef_)
    assert without.intercept_.tolist() == [0.0]
    assert with_it.intercept_[0] != 0.0


@pytest.mark.parametrize("loss", ["ap", "auc", "precision@3"])
def test_intercept_has_the_smallest_balanced_error(rng: np.random.Generator, loss: str) -> None:
    for _ in range(20):
        n = int(rng.integers(4, 60))
        y = (rng.random(n) < 0.3).astype(int)
        y[:2] = 0, 1
        X = rng.normal(size=(n, 2)) + 0.5 * y[:, None]
        if rng.random() < 0.5:
            X = np.round(X)
        model = RankSVM(C=5, loss=loss).fit(X, y)
        z = X @ model.coef_[0]

        def error(above: np.ndarray, y: np.ndarray = y) -> float:
            return 0.5 * (np.mean(~above[y == 1]) + np.mean(above[y == 0]))

        best = min(error(z > t) for t in [-np.inf, *z])
        assert error(model.predict(X) == 1) == pytest.approx(best, abs=1e-12)


def test_passes_are_counted(cancer: Data) -> None:
    X, y = cancer
    model = RankSVM(C=10, loss="auc").fit(X, y)
    forward, backward = model.n_passes_
    assert forward == model.n_iter_ - 1  # the scores at w = 0 are known
    assert 1 <= backward <= 2 * model.n_iter_  # a pull is partial; so is the metric's, which may cost as much
    assert model.n_passes_.forward == forward
    assert model.n_passes_.backward == backward


def test_problems_share_their_passes(digits: Data) -> None:
    X, y = digits
    model = RankSVM(C=10).fit(X, y)
    assert model.n_passes_.forward == model.n_iter_.max() - 1


# --- several problems ------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_lockstep_equals_separate_fits(digits: Data, loss: str) -> None:
    X, y = digits
    options: dict[str, Any] = {"C": 5, "loss": loss, "tol": 1e-6}
    together = RankSVM(**options).fit(X, y)
    for k in (0, 3, 8):
        alone = RankSVM(**options).fit(X, y == k)
        assert together.objective_[k] == pytest.approx(alone.objective_, rel=2e-6)
        # ½‖w − w*‖² ≤ the gap: both are near the one optimum
        distance = np.linalg.norm(together.coef_[k] - alone.coef_[0])
        assert distance <= 2 * np.sqrt(2e-6 * alone.objective_)


def test_indicator_matrix(digits: Data) -> None:
    X, y = digits
    Y = np.column_stack((y == 1, y % 2 == 0, y > 6)).astype(int)
    model = RankSVM(C=5, tol=1e-5).fit(X, Y)
    assert model.coef_.shape == (3, 64)
    predicted = model.predict(X)
    assert predicted.shape == Y.shape
    assert set(np.unique(predicted)) <= {0, 1}
    np.testing.assert_array_equal(predicted, (model.decision_function(X) > 0).astype(int))
    for k in range(3):
        assert model.objective_[k] == pytest.approx(
            RankSVM(C=5, tol=1e-5).fit(X, Y[:, k]).objective_, rel=2e-5
        )
    for other in (Y.astype(bool), Y.tolist(), sp.csr_matrix(Y), Y.astype(float)):
        np.testing.assert_array_equal(RankSVM(C=5, tol=1e-5).fit(X, other).coef_, model.coef_)


def test_one_vs_rest_is_that_of_scikit_learn(digits: Data) -> None:
    X, y = digits
    ours = RankSVM(C=5, tol=1e-6).fit(X, y)
    theirs = OneVsRestClassifier(RankSVM(C=5, tol=1e-6)).fit(X, y)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98


def test_several_problems_with_queries(digits: Data, rng: np.random.Generator) -> None:
    X, y = digits
    y = y % 3
    qid = rng.integers(0, 6, 600)
    model = RankSVM(C=5, tol=1e-5).fit(X, y, qid=qid)
    for k in range(3):
        assert model.objective_[k] == pytest.approx(
            objective(model, X, y == k, model.coef_[k], qid), rel=1e-9
        )
    assert model.n_lists_.tolist() == [6, 6, 6]


@pytest.mark.parametrize(
    "labels", [["b", "a"], [True, False], [3, -1], [1.0, 0.0], ["yes", "no"], [np.int8(5), np.int8(2)]]
)
def test_the_larger_label_is_relevant(cancer: Data, labels: list[Any]) -> None:
    X, y = cancer
    expected = RankSVM(C=5).fit(X, y)
    high, low = labels
    named = np.array([high if v else low for v in y])
    model = RankSVM(C=5).fit(X, named)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.classes_.tolist() == sorted([high, low])
    np.testing.assert_array_equal(model.predict(X) == high, expected.predict(X) == 1)


def test_string_classes(digits: Data) -> None:
    X, y = digits
    names = np.array(["c", "a", "b"])[y % 3]
    model = RankSVM(C=5).fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert set(model.predict(X)) <= {"a", "b", "c"}
    assert model.score(X, names) > 0.7


# --- the same result, however it is computed ------------------------------------------------


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("form", ["dense", "csr", "float32"])
@pytest.mark.parametrize("loss", ["ap", "hinge", "precision@20"])
def test_threads_do_not_change_a_bit(rng: np.random.Generator, loss: str, form: str, several: bool) -> None:
    n = 6000
    y = rng.integers(0, 4, n) if several else (rng.random(n) < 0.1).astype(int)
    X: Any = rng.normal(size=(n, 40)) * (rng.random((n, 40)) < 0.6) + 0.3 * y[:, None]
    qid = None if several else rng.integers(0, 9, n)
    X = sp.csr_matrix(X) if form == "csr" else X.astype(np.float32) if form == "float32" else X
    models = [RankSVM(C=20, loss=loss, n_jobs=n_jobs).fit(X, y, qid=qid) for n_jobs in (1, 2, 3, 2)]
    for other in models[1:]:
        for name in ("coef_", "intercept_", "objective_", "dual_objective_", "n_iter_"):
            assert np.array_equal(getattr(other, name), getattr(models[0], name)), name
    assert np.array_equal(models[0].decision_function(X), models[2].decision_function(X))


def test_threads_do_not_change_a_bit_with_approx(rng: np.random.Generator) -> None:
    y = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 10)) + 2 * np.eye(10)[y]
    models = [RankSVM(C=10, approx=0.5, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3)]
    for other in models[1:]:
        assert np.array_equal(other.coef_, models[0].coef_)
        assert np.array_equal(other.intercept_, models[0].intercept_)


def containers(X: np.ndarray, folder: Path) -> dict[str, Any]:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X.tofile(folder / "X")
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "read-only memmap": np.memmap(folder / "X", X.dtype, "r", shape=X.shape),
        "every other row": np.repeat(X, 2, axis=0)[::2],
        "every other column": np.repeat(X, 2, axis=1)[:, ::2],
        "backwards": X[::-1, ::-1].copy()[::-1, ::-1],
        "big-endian": X.astype(X.dtype.newbyteorder(">")),
        "list": X.tolist(),
        "objects": X.astype(object),
        "pandas": pandas.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]),
        "pandas slice": pandas.DataFrame(np.repeat(X, 2, axis=1)).iloc[:, ::2],
        "polars": polars.DataFrame({f"f{i}": X[:, i] for i in range(X.shape[1])}),
        **{
            f"{kind} {container}": getattr(sp, f"{kind}_{container}")(X)
            for kind in ("csr", "csc", "coo", "lil", "bsr", "dia", "dok")
            for container in ("matrix", "array")
        },
    }


def test_any_container_gives_the_same_model(cancer: Data, tmp_path: Path) -> None:
    X, y = cancer
    X, y = X[:200], y[:200]
    expected = RankSVM(C=10, tol=1e-6).fit(X, y)
    failures = {}
    for name, given in containers(X, tmp_path).items():
        try:
            model = RankSVM(C=10, tol=1e-6).fit(given, y)
            assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
            np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-2 * np.abs(expected.coef_).max())
            np.testing.assert_allclose(
                model.decision_function(given), X @ model.coef_[0] + model.intercept_[0], atol=1e-9
            )
        except Exception as error:
            failures[name] = f"{type(error).__name__}: {error}"
    assert failures == {}


def test_labels_in_any_container(cancer: Data) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = cancer
    expected = RankSVM(C=5).fit(X, y).coef_
    q = np.arange(len(y)) % 7
    by_query = RankSVM(C=5).fit(X, y, qid=q).coef_
    index = np.random.default_rng(0).permutation(len(y))  # must not be used to align
    for labels in (
        y.tolist(),
        pandas.Series(y, index=index),
        polars.Series(y),
        pandas.Series(y).astype("category"),
    ):
        assert np.array_equal(RankSVM(C=5).fit(X, labels).coef_, expected)
    for qid in (
        q.tolist(),
        pandas.Series(q, index=index),
        polars.Series(q),
        [f"query {v}" for v in q],
        [(v, v) for v in q],
    ):
        np.testing.assert_allclose(RankSVM(C=5).fit(X, y, qid=qid).coef_, by_query, rtol=0.05, atol=0.01)


def test_float32_is_not_copied(rng: np.random.Generator) -> None:
    n, d = 100_000, 100
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = (X[:, 0] > 2).astype(int)
    tracemalloc.start()
    model = RankSVM(C=1, tol=0.1).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes  # a float64 copy alone would be 2 ×; scikit-learn's check for NaN takes some
    assert model.coef_.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int32, np.uint8, bool])
def test_numbers_of_any_type(rng: np.random.Generator, dtype: type) -> None:
    X = (rng.normal(size=(300, 6)) * 3 + 5).clip(0, 255).astype(dtype)
    y = (rng.random(300) < 0.3).astype(int)
    expected = RankSVM(tol=1e-6).fit(X.astype(np.float64), y)
    assert RankSVM(tol=1e-6).fit(X, y).objective_ == pytest.approx(expected.objective_, rel=1e-5)


def test_input_is_left_alone(cancer: Data) -> None:
    X, y = cancer[0].copy(), cancer[1].copy()
    qid = np.arange(len(y)) % 4
    before = X.copy(), y.copy(), qid.copy()
    for array in (X, y, qid):
        array.setflags(write=False)
    RankSVM(C=10).fit(X, y, qid=qid).predict(X)
    RankSVM(C=10, approx=0.5).fit(X, y)
    for array, was in zip((X, y, qid), before, strict=True):
        np.testing.assert_array_equal(array, was)


# --- queries ------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_queries_in_any_order(rng: np.random.Generator, loss: str) -> None:
    n = 300
    y, qid = (rng.random(n) < 0.3).astype(int), rng.integers(0, 12, n)
    X = rng.normal(size=(n, 4)) + 0.5 * y[:, None] + rng.normal(size=(12, 4))[qid]
    first = RankSVM(C=20, loss=loss, tol=1e-7).fit(X, y, qid=qid)
    assert first.objective_ == pytest.approx(objective(first, X, y, first.coef_[0], qid), rel=1e-9)
    order = rng.permutation(n)
    names = np.array([f"q{v % 5}-{v}" for v in qid])
    second = RankSVM(C=20, loss=loss, tol=1e-7).fit(X[order], y[order], qid=names[order])
    assert second.objective_ == pytest.approx(first.objective_, rel=1e-6)
    one = RankSVM(C=20, loss=loss, tol=1e-7).fit(X, y, qid=np.zeros(n))
    assert one.objective_ == pytest.approx(RankSVM(C=20, loss=loss, tol=1e-7).fit(X, y).objective_, rel=1e-6)


def test_queries_without_both_kinds_are_left_out_and_counted(rng: np.random.Generator) -> None:
    X, y, qid = rng.normal(size=(60, 3)), np.tile([0, 0, 1], 20), np.repeat(np.arange(6), 10)
    y[:10], y[10:20] = 0, 1
    with pytest.warns(UserWarning, match=r"2 of 6 lists.*left out") as caught:
        model = RankSVM(C=5, tol=1e-6).fit(X, y, qid=qid)
    assert caught[0].filename == __file__
    assert (model.n_lists_, model.n_skipped_lists_) == (4, 2)
    assert model.objective_ == pytest.approx(
        RankSVM(C=5, tol=1e-6).fit(X[20:], y[20:], qid=qid[20:]).objective_
    )


# --- while it runs ------------------------------------------------


def test_callbacks_see_every_iteration(cancer: Data) -> None:
    X, y = cancer
    events: list[Any] = []
    model = RankSVM(C=10, callbacks=[events.append]).fit(X, y)
    assert [event.n_iter for event in events] == list(range(1, model.n_iter_ + 1))
    assert [event.record for event in events] == model.history_
    assert all(event.problem == 0 for event in events)
    np.testing.assert_array_equal(events[-1].w, model.coef_[0])
    for event in events[:: max(1, len(events) // 5)]:  # w is the best point, not changed afterwards
        assert objective(model, X, y, event.w) == pytest.approx(event.record.objective, rel=1e-9)


def test_a_true_answer_stops_all_problems(digits: Data) -> None:
    X, y = digits
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="interrupted"):
        model = RankSVM(C=100, tol=1e-6, callbacks=[lambda event: event.n_iter >= 3]).fit(X, y)
    assert set(model.status_) == {Status.INTERRUPTED}
    assert model.n_iter_.max() <= 3
    assert all(np.isfinite(model.dual_gap_))


def test_progress_goes_to_standard_error(
    rng: np.random.Generator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankcut.solvers import progress

    monkeypatch.setattr(progress, "EVERY", 0.0)
    X, y = rng.normal(size=(200, 5)), np.tile([0, 1], 100)
    RankSVM(C=100).fit(X, y)
    assert capsys.readouterr() == ("", "")
    RankSVM(C=100, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "gap" in err
    assert "objective" in err


def test_a_constant_column_and_zero_rows_do_no_harm(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(100, 4)), np.tile([0, 0, 0, 1], 25)
    X[7], X[:, 1], X[:, 2] = 0.0, 3.0, 0.0
    for loss in LOSSES:
        model = RankSVM(C=50, loss=loss).fit(X, y)
        assert model.coef_[0, 2] == 0.0
        if loss != "hinge":
            assert abs(model.coef_[0, 1]) < 1e-8
    nothing = RankSVM(C=50).fit(np.zeros((100, 4)), y)
    assert nothing.status_ is Status.CONVERGED
    assert not nothing.coef_.any()


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e-6, 1e6, 1e30])
@pytest.mark.parametrize("loss", LOSSES)
def test_features_of_any_scale(rng: np.random.Generator, loss: str, scale: float) -> None:
    """X → aX with C → C/a² is the same problem."""
    X, y = rng.normal(size=(100, 4)), np.tile([0, 0, 0, 1], 25)
    model = RankSVM(C=5.0, loss=loss, tol=1e-6, fit_intercept=False).fit(X, y)
    a = float(np.clip(scale, 1e-100, 1e100))
    scaled = RankSVM(C=5.0 / a / a, loss=loss, tol=1e-6, fit_intercept=False).fit(a * X, y)
    np.testing.assert_allclose(
        scaled.coef_ * a, model.coef_, rtol=1e-2, atol=1e-2 * np.abs(model.coef_).max()
    )
