"""What PreferenceRankSVM promises (API.md), one promise a test."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankcut import InputError, PreferenceRankSVM, losses
from rankcut.reference.preference import most_violated_preferences
from rankcut.solvers import Status

GRAPHS = ("complete", "bipartite", "star")
every_combination = pytest.mark.parametrize(
    "graph, rescaling", [(graph, rescaling) for graph in GRAPHS for rescaling in ("slack", "margin")]
)
Data = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def diabetes() -> Data:
    """442 rows, 214 values of y, the largest of them unique."""
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), y / 100.0


def model_for(graph: str, **options: Any) -> PreferenceRankSVM:
    return PreferenceRankSVM(graph=graph, top=40 if graph == "bipartite" else None, **options)


@every_combination
def test_certificate(diabetes: Data, graph: str, rescaling: str) -> None:
    """Recomputed from the double loop; and no other w is better than the dual objective says."""
    X, y = diabetes
    X, y = X[:150], y[:150]
    model = model_for(graph, C=50, rescaling=rescaling, tol=1e-4)
    assert model.fit(X, y) is model
    assert model.status_ is Status.CONVERGED
    assert 0 <= model.dual_gap_ <= 1e-4
    options = {"graph": graph, "rescaling": rescaling, "top": model.top}

    def objective(w: np.ndarray) -> float:
        return 0.5 * float(w @ w) + 50 * most_violated_preferences(X @ w, y, **options).value

    assert model.objective_ == pytest.approx(objective(model.coef_[0]), rel=1e-10)
    assert model.dual_gap_ == pytest.approx((model.objective_ - model.dual_objective_) / model.objective_)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        assert objective(model.coef_[0] + size * rng.normal(size=X.shape[1])) >= model.dual_objective_


def test_fitted_attributes(diabetes: Data) -> None:
    X, y = diabetes
    model = PreferenceRankSVM(C=10).fit(X, y)
    assert model.coef_.shape == (1, X.shape[1])
    assert model.intercept_.tolist() == [0.0]
    assert (model.n_lists_, model.n_skipped_lists_) == (1, 0)
    assert len(model.history_) == model.n_iter_
    assert model.n_passes_.forward == model.n_iter_ - 1  # the scores at w = 0 are known
    scores = X @ model.coef_[0]
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X))
    np.testing.assert_array_equal(model.rank(X), np.argsort(-scores, kind="stable"))
    assert model.score(X, y) == losses.get("preference").ordered(model.decision_function(X), y)
    assert model.score(X, y) > 0.85
    assert clone(model).get_params() == model.get_params()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).coef_, model.coef_)


def test_warm_start_and_callbacks(diabetes: Data) -> None:
    X, y = diabetes
    model = PreferenceRankSVM(C=100, warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_ <= 3
    events = []
    with pytest.warns(sklearn.exceptions.ConvergenceWarning):
        stopped = PreferenceRankSVM(
            C=100, callbacks=[lambda event: events.append(event) or len(events) == 2]
        ).fit(X, y)
    assert stopped.status_ is Status.INTERRUPTED
    assert np.all(np.isfinite(stopped.coef_))


@every_combination
def test_any_container_of_x(diabetes: Data, tmp_path: Path, graph: str, rescaling: str) -> None:
    X, y = diabetes
    X = np.round(X * (np.abs(X) > 0.5), 2)
    expected = model_for(graph, C=10, rescaling=rescaling).fit(X, y)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for same in (np.asfortranarray(X), sp.csr_matrix(X), sp.csc_array(X), mapped):
        model = clone(expected).fit(same, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
    single = clone(expected).fit(X.astype(np.float32), y)
    assert single.objective_ == pytest.approx(expected.objective_, rel=2e-3)
    for n_jobs in (1, 3):
        model = clone(expected).set_params(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(model.coef_, expected.coef_)


@every_combination
def test_rows_and_queries_in_any_order(
    diabetes: Data, rng: np.random.Generator, graph: str, rescaling: str
) -> None:
    X, y = diabetes
    qid = np.repeat(np.arange(13), 34)
    y = y + 1e-6 * np.arange(len(y))  # a star needs one best row in each list
    model = model_for(graph, rescaling=rescaling, C=10)
    if graph == "bipartite":
        model.set_params(top=5)
    expected = model.fit(X, y, qid=qid)
    assert expected.n_lists_ == 13
    order = rng.permutation(len(y))
    names = np.array([f"query {q}" for q in qid])[order]
    moved = clone(model).fit(X[order], y[order], qid=names)
    np.testing.assert_allclose(moved.coef_, expected.coef_, rtol=1e-5, atol=1e-7)
    summed = clone(model).set_params(reduce="sum", C=10 / 13).fit(X, y, qid=qid)
    np.testing.assert_allclose(summed.coef_, expected.coef_, rtol=1e-5, atol=1e-7)


def test_lists_without_a_preference_are_counted(diabetes: Data) -> None:
    X, y = diabetes
    qid = np.repeat([0, 1, 2], [200, 200, 42])
    y = y.copy()
    y[400:] = 1.0
    with pytest.warns(UserWarning, match="1 of 3 lists have no preference"):
        model = PreferenceRankSVM(C=10).fit(X, y, qid=qid)
    assert (model.n_lists_, model.n_skipped_lists_) == (2, 1)
    alone = PreferenceRankSVM(C=10).fit(X[:400], y[:400], qid=qid[:400])
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-9, atol=1e-12)
    with pytest.warns(UserWarning, match="1 of 3 lists"):
        model = PreferenceRankSVM(C=10, graph="bipartite", top=42).fit(X, y, qid=qid)
    assert model.n_skipped_lists_ == 1


def test_one_is_preferred(diabetes: Data) -> None:
    """Star: the best row, or the one of those tied that is named."""
    X, y = diabetes
    centre = int(np.argmax(y))
    model = PreferenceRankSVM(C=1000, graph="star", rescaling="margin").fit(X, y)
    assert model.rank(X).tolist().index(centre) < len(y) / 10
    tied = y.copy()
    tied[:3] = y.max() + 1
    named = PreferenceRankSVM(C=10, graph="star").fit(X, tied, best=[1])
    keep = np.delete(np.arange(len(y)), [0, 2])
    alone = PreferenceRankSVM(C=10, graph="star").fit(X[keep], tied[keep])
    np.testing.assert_allclose(named.coef_, alone.coef_, rtol=1e-9)


def test_grid_search_pipeline_and_routing(diabetes: Data) -> None:
    X, y = diabetes
    qid = np.repeat(np.arange(13), 34)
    pipeline = make_pipeline(StandardScaler(), Nystroem(n_components=20, random_state=0), PreferenceRankSVM())
    search = GridSearchCV(pipeline, {"preferenceranksvm__C": [0.1, 10.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        model = PreferenceRankSVM().set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(model, {"C": [1.0, 10.0]}, cv=GroupKFold(3))
        search.fit(X, y, qid=qid, groups=qid)
        direct = clone(search.best_estimator_).fit(X, y, qid=qid)
        np.testing.assert_array_equal(search.best_estimator_.coef_, direct.coef_)


# --- bad input ------------------------------------------------------------------------------------

ROWS = np.random.default_rng(0).normal(size=(12, 3))
GRADED = np.tile([0.0, 1.0, 2.0], 4)
TWO_LISTS = np.repeat([0, 1], 6)


@pytest.mark.parametrize(
    "name, y, options, fit",
    [
        ("y", np.where(np.arange(12) == 3, np.nan, GRADED), {}, {}),
        ("y", GRADED + 1j, {}, {}),
        ("y", np.where(np.arange(12) == 3, np.inf, GRADED), {}, {}),
        ("y", np.ones(12), {}, {}),
        ("y", GRADED[:5], {}, {}),
        ("y", GRADED.reshape(6, 2), {}, {}),
        ("y", ["good"] * 12, {}, {}),
        ("y", None, {}, {}),
        ("y", GRADED * 1e307, {}, {}),
        ("y", GRADED, {"graph": "star"}, {}),
        ("y", GRADED, {"graph": "bipartite", "threshold": 2.0}, {}),
        ("y", GRADED, {"graph": "bipartite", "threshold": -1.0}, {}),
        ("threshold", GRADED, {"graph": "bipartite"}, {}),
        ("threshold", GRADED, {"graph": "bipartite", "threshold": [1.0]}, {}),
        ("threshold", GRADED, {"threshold": 1.0}, {}),
        ("top", GRADED, {"graph": "bipartite", "top": 12}, {}),
        ("top", GRADED, {"graph": "bipartite", "top": 1000}, {}),
        ("top", GRADED, {"graph": "bipartite", "top": 6}, {"qid": TWO_LISTS}),
        ("top", GRADED, {"graph": "bipartite", "top": 2.5}, {}),
        ("top", GRADED, {"top": 3}, {}),
        ("graph", GRADED, {"graph": "tree"}, {}),
        ("rescaling", GRADED, {"rescaling": None}, {}),
        ("reduce", GRADED, {"reduce": "median"}, {}),
        ("C", GRADED, {"C": 0}, {}),
        ("tol", GRADED, {"tol": -1}, {}),
        ("best", GRADED, {}, {"best": [2]}),
        ("best", GRADED, {"graph": "star"}, {"best": [2, 5]}),
        ("best", GRADED, {"graph": "star"}, {"best": [3]}),
        ("best", GRADED, {"graph": "star"}, {"best": [12]}),
        ("best", GRADED, {"graph": "star"}, {"best": [-1]}),
        ("best", GRADED, {"graph": "star"}, {"best": ["a"]}),
        ("best", GRADED, {"graph": "star"}, {"best": []}),
        ("best", GRADED, {"graph": "star"}, {"best": [2], "qid": TWO_LISTS}),
        ("qid", GRADED, {}, {"qid": [1, 2]}),
    ],
)
def test_refused(name: str, y: Any, options: dict[str, Any], fit: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=rf"^{name}: .{{20,}}"):
        PreferenceRankSVM(**options).fit(ROWS, y, **fit)


def test_an_ambiguous_star_says_how_to_break_the_tie() -> None:
    with pytest.raises(InputError, match=r"rows 2 and 5 are both the best of query 0.*`best`.*bipartite"):
        PreferenceRankSVM(graph="star").fit(ROWS, GRADED, qid=TWO_LISTS)
    PreferenceRankSVM(graph="star").fit(ROWS, GRADED, qid=TWO_LISTS, best=[5, 8])
