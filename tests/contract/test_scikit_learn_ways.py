"""RankSVM does things scikit-learn's way."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankcut import RankSVM
from rankcut.selection import QueryKFold

Data = tuple[np.ndarray, np.ndarray]


def test_parameters_are_untouched_and_cloned() -> None:
    options = {
        "C": 3,
        "loss": "ap",
        "oracle": "search",
        "approx": 0.5,
        "tol": 1e-2,
        "n_jobs": 1,
        "callbacks": [],
    }
    model = RankSVM(**options)
    before = model.get_params()
    X, y = load_breast_cancer(return_X_y=True)
    model.fit(X / X.max(axis=0), y)
    assert model.get_params() == before
    assert all(model.get_params()[name] is value for name, value in options.items())
    copy = clone(model)
    assert copy.get_params() == before
    with pytest.raises(NotFittedError):
        copy.predict(X)


def test_pickle(cancer: Data) -> None:
    X, y = cancer
    for model in (RankSVM(), RankSVM(C=10).fit(X, y), RankSVM(loss="hinge", approx=None).fit(X, y)):
        back = pickle.loads(pickle.dumps(model))
        assert back.get_params() == model.get_params()
        if hasattr(model, "coef_"):
            assert np.array_equal(back.decision_function(X), model.decision_function(X))
            assert back.status_ is model.status_


def test_feature_names(cancer: Data) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = cancer
    names = [f"feature {i}" for i in range(30)]
    for frame in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        model = RankSVM().fit(frame, y)
        assert model.feature_names_in_.tolist() == names
        model.predict(frame)
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame[names[::-1]])
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.predict(X)
    assert not hasattr(RankSVM().fit(X, y), "feature_names_in_")
    with pytest.raises(ValueError, match="features"):
        RankSVM().fit(X, y).predict(X[:, :3])


def test_grid_search_in_a_pipeline(cancer: Data) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"ranksvm__C": [0.1, 10.0], "ranksvm__loss": ["ap", "precision@20"]}
    search = GridSearchCV(make_pipeline(StandardScaler(), RankSVM()), grid, scoring="average_precision", cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.98
    assert search.best_estimator_.predict(X).shape == y.shape


@pytest.mark.parametrize("sparse", [False, True])
def test_cross_validation_by_any_scorer(cancer: Data, sparse: bool) -> None:
    X, y = cancer
    X = sp.csr_matrix(X) if sparse else X
    for scoring in ("average_precision", "roc_auc", "accuracy", "f1"):
        assert cross_val_score(RankSVM(C=10), X, y, cv=3, scoring=scoring).min() > 0.9


def test_multilabel_scoring(digits: Data) -> None:
    X, y = digits
    Y = np.column_stack((y < 3, y % 2))
    assert cross_val_score(RankSVM(C=10), X, Y.astype(int), cv=3, scoring="average_precision").min() > 0.8


def test_qid_is_routed(cancer: Data, rng: np.random.Generator) -> None:
    X, y = cancer
    qid = rng.integers(0, 20, len(y))
    seen = []

    class Spy(RankSVM):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, qid: Any = None) -> Any:
            seen.append(qid)
            return super().fit(X, y, qid=qid)

    with sklearn.config_context(enable_metadata_routing=True):
        model = Spy(C=5).set_fit_request(qid=True)
        folds = GroupKFold(3).set_split_request(groups=True)
        result = cross_validate(
            model, X, y, cv=folds, params={"qid": qid, "groups": qid}, error_score="raise"
        )
        assert len(result["test_score"]) == len(seen) == 3
        assert all(len(np.intersect1d(seen[0], part)) < 20 for part in seen)
        assert all(300 < len(part) < len(y) for part in seen)
        pipe = make_pipeline(StandardScaler(), Spy(C=5).set_fit_request(qid=True))
        pipe.fit(X, y, qid=qid)
        assert np.array_equal(seen[-1], qid)
        search = GridSearchCV(pipe, {"spy__C": [1.0, 5.0]}, cv=3, scoring="average_precision")
        search.fit(X, y, qid=qid)
        assert len(seen[-1]) == len(y)
        whole = cross_validate(  # the splitter says itself that it wants the groups
            model, X, y, cv=QueryKFold(3), params={"qid": qid, "groups": qid}, error_score="raise"
        )
        assert len(whole["test_score"]) == 3
        assert sum(len(set(part)) for part in seen[-3:]) == 2 * 20
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="qid"):
            cross_validate(RankSVM(), X, y, cv=3, params={"qid": qid}, error_score="raise")
