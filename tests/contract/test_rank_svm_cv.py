"""What RankSVMCV promises beside the optimum of each problem, which tests/property/test_paths.py is about."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score, get_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankcut import ConvergenceWarning, InputError, RankcutError, RankSVM, RankSVMCV, metrics
from rankcut.selection import QueryKFold
from rankcut.selection.choice import choose
from rankcut.solvers import Status

Data = tuple[np.ndarray, np.ndarray]
CS = [0.1, 10.0, 1000.0]


@pytest.fixture(scope="module")
def digits() -> Data:
    X, y = load_digits(return_X_y=True)
    return X[:400] / 16.0, y[:400]


@pytest.fixture
def noisy(rng: np.random.Generator) -> Data:
    X = rng.normal(size=(240, 6))
    return X, (X[:, 0] + 2 * rng.normal(size=240) > 0.8).astype(int)


# --- beside GridSearchCV ------------------------------------------------


@pytest.mark.parametrize("scoring", ["average_precision", "roc_auc"])
def test_it_finds_what_grid_search_finds(noisy: Data, scoring: str) -> None:
    X, y = noisy
    cv = StratifiedKFold(4)
    search = GridSearchCV(RankSVM(tol=1e-7), {"C": CS}, cv=cv, scoring=scoring).fit(X, y)
    model = RankSVMCV(CS, cv=cv, scoring=scoring, tol=1e-7).fit(X, y)
    ours, theirs = model.cv_results_, search.cv_results_
    times = {f"{kind}_{what}_time" for kind in ("mean", "std") for what in ("fit", "score")}
    assert theirs.keys() - times <= ours.keys()
    ranks = "rank_test_score"  # of means that may be as near to each other as solutions are to the optimum
    for name in theirs.keys() - times - {"params", ranks}:
        assert np.shape(ours[name]) == np.shape(theirs[name]), name
        assert type(ours[name]) is type(theirs[name]), name
        np.testing.assert_allclose(
            ours[name].astype(float), theirs[name].astype(float), atol=2e-3, err_msg=name
        )
    assert ours[ranks].dtype == theirs[ranks].dtype
    np.testing.assert_array_equal(ours[ranks], rankdata(-ours["mean_test_score"], method="min"))
    assert ours["params"] == theirs["params"]
    assert model.best_index_ == np.argmax(ours["mean_test_score"])
    assert theirs["mean_test_score"][model.best_index_] == pytest.approx(search.best_score_, abs=2e-3)
    assert model.best_score_ == pytest.approx(search.best_score_, abs=2e-3)
    assert CS[model.best_index_] == model.C_ == model.best_params_["C"]
    alone = RankSVM(model.C_, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=2e-3)
    np.testing.assert_array_equal(model.coef_, model.coef_path_[model.best_index_])
    assert model.intercept_ == pytest.approx(alone.intercept_, abs=2e-2)


def test_fitted_attributes_of_several_rankers(digits: Data) -> None:
    X, y = digits
    model = RankSVMCV(CS, cv=3).fit(X, y)
    assert model.C_.shape == model.best_index_.shape == model.best_score_.shape == (10,)
    assert model.coef_path_.shape == (3, 10, 64)
    assert model.cv_scores_.shape == (3, 3, 10)
    assert model.status_ == [Status.CONVERGED] * 10
    for k in range(10):
        np.testing.assert_array_equal(model.coef_[k], model.coef_path_[model.best_index_[k], k])
        assert model.best_params_[k]["C"] == model.C_[k] == CS[model.best_index_[k]]
        assert model.best_score_[k] == pytest.approx(model.cv_scores_[model.best_index_[k], :, k].mean())
        assert model.best_score_[k] == model.cv_scores_[:, :, k].mean(axis=1).max()
        assert [record.gap for record in model.history_path_[2][k]][-1] <= 1e-3
    assert model.cv_results_["mean_test_score"] == pytest.approx(model.cv_scores_.mean(axis=(1, 2)))
    assert model.cv_results_["n_unfinished"].tolist() == [0, 0, 0]
    assert model.score(X, y) > 0.9


def test_indicator_matrix(digits: Data) -> None:
    X, y = digits
    both = np.stack([y < 5, y % 2 == 0], axis=1).astype(int)
    model = RankSVMCV(CS, cv=3).fit(X, both)
    assert model.coef_.shape == (2, 64)
    assert model.predict(X).shape == both.shape
    assert (model.predict(X) == both).mean() > 0.8


def test_clone_pickle_and_pipeline(cancer: Data) -> None:
    X, y = cancer
    model = clone(RankSVMCV(CS, cv=3, rule="one-se")).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    assert again.cv_results_["params"] == model.cv_results_["params"]
    piped = make_pipeline(StandardScaler(), RankSVMCV(CS, cv=3)).fit(X, y)
    assert piped.score(X, y) > 0.9


def test_metadata_is_routed(noisy: Data, rng: np.random.Generator) -> None:
    X, y = noisy
    qid = rng.integers(0, 12, size=len(y))
    groups = qid // 2
    with sklearn.config_context(enable_metadata_routing=True):
        asking = RankSVMCV(CS, cv=3).set_fit_request(qid=True, groups=True)
        request = asking.get_metadata_routing().fit.requests
        assert request == {"qid": True, "groups": True}
        piped = make_pipeline(StandardScaler(), asking).fit(X, y, qid=qid, groups=groups)
        alone = RankSVMCV(CS, cv=3).fit(StandardScaler().fit_transform(X), y, qid=qid, groups=groups)
        np.testing.assert_array_equal(piped[-1].coef_, alone.coef_)
        found = cross_validate(
            asking, X, y, params={"qid": qid, "groups": groups}, cv=GroupKFold(3), return_estimator=True
        )
    for fitted, (train, _) in zip(found["estimator"], GroupKFold(3).split(X, y, groups), strict=True):
        again = RankSVMCV(CS, cv=3).fit(X[train], y[train], qid=qid[train], groups=groups[train])
        np.testing.assert_array_equal(fitted.coef_, again.coef_)


# --- folds ------------------------------------------------


def test_any_splitter(noisy: Data, rng: np.random.Generator) -> None:
    X, y = noisy
    groups = rng.integers(0, 6, size=len(y))
    for cv in (
        GroupKFold(3),
        LeaveOneGroupOut(),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        StratifiedShuffleSplit(4, test_size=0.3, random_state=0),
        PredefinedSplit(groups - 1),
    ):
        asked = groups if isinstance(cv, GroupKFold | LeaveOneGroupOut) else None
        model = RankSVMCV(CS, cv=cv).fit(X, y, groups=asked)
        splits = list(cv.split(X, y, asked))
        assert model.n_splits_ == len(splits)
        as_rows = RankSVMCV(CS, cv=splits).fit(X, y)
        masks = [tuple(np.isin(np.arange(len(y)), part) for part in split) for split in splits]
        as_masks = RankSVMCV(CS, cv=(pair for pair in masks)).fit(X, y)
        np.testing.assert_array_equal(model.cv_scores_, as_rows.cv_scores_)
        np.testing.assert_allclose(model.cv_scores_, as_masks.cv_scores_)


def test_a_number_of_folds_keeps_groups_together(noisy: Data, rng: np.random.Generator) -> None:
    X, y = noisy
    qid = rng.integers(0, 12, size=len(y))
    groups = qid // 2

    def scores(cv: Any, **more: Any) -> np.ndarray:
        return RankSVMCV(CS, cv=cv).fit(X, y, **more).cv_scores_

    by_query = list(QueryKFold(3).split(X, y, qid))
    by_group = list(QueryKFold(3).split(X, y, groups))
    np.testing.assert_array_equal(scores(3, qid=qid), scores(by_query, qid=qid))
    np.testing.assert_array_equal(scores(3, groups=groups), scores(by_group))
    np.testing.assert_array_equal(scores(3, qid=qid, groups=groups), scores(by_group, qid=qid))


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv: k-fold"),
        ("five", "cv: "),
        ([], "without any split"),
        ([([0, 1, 2], [500])], "row 500, but rows go from 0 to 239"),
        ([([0, 1, -2], [5])], "row -2"),
        ([([0.5, 1], [5])], "type float64"),
        ([(np.arange(200), [])], "shape"),
        ([(np.ones(7, dtype=bool), np.arange(5))], "mask of 240 rows"),
        ([(np.r_[np.arange(200), 7], np.arange(200, 240))], "fold 0 repeats rows"),
        (QueryKFold(3), "groups: came as None"),
        ([3, 4], "cv: "),
    ],
)
def test_bad_folds_are_named(noisy: Data, cv: Any, message: str) -> None:
    X, y = noisy
    with pytest.raises(InputError, match=message):
        RankSVMCV(CS, cv=cv).fit(X, y)


def test_a_fold_that_cannot_be_ranked_is_named(noisy: Data) -> None:
    X, y = noisy
    negatives = np.flatnonzero(y == 0)
    with pytest.raises(InputError, match="training part of fold 1 cannot be ranked"):
        RankSVMCV(CS, cv=[(np.arange(200), np.arange(200, 240)), (negatives, np.arange(10))]).fit(X, y)
    with pytest.raises(InputError, match="no held-out part has both"):
        RankSVMCV(CS, cv=[(np.arange(240), negatives)]).fit(X, y)


# --- scoring ------------------------------------------------


def test_callable_scoring(noisy: Data, rng: np.random.Generator) -> None:
    X, y = noisy
    named = RankSVMCV(CS, scoring="auc").fit(X, y)
    own = RankSVMCV(CS, scoring=roc_auc_score).fit(X, y)
    np.testing.assert_allclose(named.cv_scores_, own.cv_scores_, rtol=1e-12)
    qid = rng.integers(0, 12, size=len(y))
    named = RankSVMCV(CS, cv=3).fit(X, y, qid=qid)
    own = RankSVMCV(CS, cv=3, scoring=metrics.average_precision).fit(X, y, qid=qid)
    np.testing.assert_allclose(named.cv_scores_, own.cv_scores_, rtol=1e-12)


def test_scoring_that_is_no_measure(noisy: Data) -> None:
    X, y = noisy
    with pytest.raises(InputError, match="pass its metric function"):
        RankSVMCV(CS, scoring=get_scorer("average_precision")).fit(X, y)
    with pytest.raises(InputError, match="scoring: came as 'recall'"):
        RankSVMCV(CS, scoring="recall").fit(X, y)
    with pytest.raises(InputError, match=r"scoring: came as \['auc'\]"):
        RankSVMCV(CS, scoring=["auc"]).fit(X, y)


def test_scores_that_fail(noisy: Data) -> None:
    X, y = noisy
    calls = [0]

    def moody(relevant: np.ndarray, scores: np.ndarray) -> float:
        calls[0] += 1
        if calls[0] % 5 == 2:
            raise ZeroDivisionError("not today")
        return float(average_precision_score(relevant, scores))

    with pytest.warns(
        UserWarning, match=r"3 of 15 scores failed\. The first, at fold .*ZeroDivisionError: not today"
    ):
        model = RankSVMCV(CS, scoring=moody).fit(X, y)
    assert np.isnan(model.cv_scores_).sum() == 3
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    calls[0] = 0
    with pytest.warns(UserWarning, match="error_score=0"):
        model = RankSVMCV(CS, scoring=moody, error_score=0).fit(X, y)
    assert (model.cv_scores_ == 0).sum() == 3
    calls[0] = 0
    with pytest.raises(ZeroDivisionError, match="not today"):
        RankSVMCV(CS, scoring=moody, error_score="raise").fit(X, y)

    def never(relevant: np.ndarray, scores: np.ndarray) -> float:
        raise ZeroDivisionError("never")

    with pytest.raises(InputError, match="15 of 15 scores failed"):
        RankSVMCV(CS, scoring=never).fit(X, y)
    with pytest.raises(InputError, match="error_score: came as 'ignore'"):
        RankSVMCV(CS, error_score="ignore").fit(X, y)


# --- the choice ------------------------------------------------


def test_rules() -> None:
    scores = np.array([[0.70, 0.70, 0.70], [0.78, 0.80, 0.82], [0.80, 0.82, 0.84], [0.79, 0.82, 0.84]])
    C, setting = np.array([1.0, 10.0, 100.0, 1000.0]), np.zeros(4, dtype=int)
    assert choose(scores, C, setting, "best") == 2
    # standard deviation 0.02, error of the mean 0.01155: 0.80 is out of reach of 0.82, 0.81 would not be
    assert choose(scores, C, setting, "one-se") == 2
    assert choose(scores + np.array([[0], [0.0085], [0], [0]]), C, setting, "one-se") == 1
    assert choose(scores + np.array([[0], [0.0080], [0], [0]]), C, setting, "one-se") == 2
    # of equals the smallest C; a candidate without scores is never chosen; of other settings none is
    assert choose(np.full((4, 3), 0.5), C[::-1], setting, "best") == 3
    assert choose(np.vstack((np.full((2, 3), np.nan), scores[2:])), C, setting, "one-se") == 2
    assert choose(scores + np.array([[0], [0.0085], [0], [0]]), C, np.array([0, 0, 1, 1]), "one-se") == 2
    # one fold has no spread
    assert choose(scores[:, :1], C, setting, "one-se") == choose(scores[:, :1], C, setting, "best")


def test_one_standard_error_on_data() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 6)) * [1, 1, 1, 0.1, 0.1, 0.1]  # small columns are learnt at large C
    y = (X[:, 0] + 10 * X[:, 3] + 2 * rng.normal(size=240) > 0.8).astype(int)
    best = RankSVMCV(10, cv=5).fit(X, y)
    modest = RankSVMCV(10, cv=5, rule="one-se").fit(X, y)
    np.testing.assert_array_equal(best.cv_scores_, modest.cv_scores_)
    folds = best.cv_scores_[:, :, 0]
    means = folds.mean(axis=1)
    assert best.best_score_ == means.max()
    limit = means.max() - folds[means.argmax()].std(ddof=1) / np.sqrt(5)
    Cs = np.array([params["C"] for params in best.cv_results_["params"]])
    assert Cs[means >= limit].min() == modest.C_
    assert modest.C_ < best.C_  # or this data would not show the difference


def test_loss_grids(noisy: Data) -> None:
    X, y = noisy
    grid = [{"loss": ["ap", "ndcg"]}, {"loss": ["hinge"], "positive_weight": [1.0, 8.0]}]
    model = RankSVMCV(CS, loss_grid=grid, cv=3).fit(X, y)
    assert len(model.cv_results_["params"]) == 4 * len(CS)
    weights = model.cv_results_["param_positive_weight"]
    assert weights.mask.tolist() == [True] * 6 + [False] * 6
    for setting in ({"loss": "ndcg"}, {"loss": "hinge", "positive_weight": 8.0}):
        at = [i for i, params in enumerate(model.cv_results_["params"]) if setting.items() <= params.items()]
        alone = RankSVMCV(CS, cv=3, **setting).fit(X, y)
        np.testing.assert_allclose(model.cv_scores_[at], alone.cv_scores_, atol=0.02)
    for bad, message in [
        ({"C": [1]}, "it takes lists for loss"),
        ({"loss": ["ap"], "positive_weight": [2.0]}, "positive_weight: came with loss='ap'"),
        ({"loss": "ap"}, "loss_grid"),
        (3, "loss_grid"),
    ]:
        with pytest.raises(InputError, match=message):
            RankSVMCV(CS, loss_grid=bad).fit(X, y)
    with pytest.raises(InputError, match="positive_weight: came with loss='ap'"):
        RankSVMCV(CS, positive_weight=3.0).fit(X, y)


# --- groups of problems, and interruptions ------------------------------------------------


def test_little_memory_means_one_problem_after_the_other(noisy: Data) -> None:
    X, y = noisy
    seen: list[int] = []
    model = RankSVMCV(CS, max_memory=1.0, callbacks=[lambda event: seen.append(event.problem)]).fit(X, y)
    assert len(set(seen)) == 6
    assert seen == sorted(seen)
    together: list[int] = []
    roomy = RankSVMCV(CS, callbacks=[lambda event: together.append(event.problem)]).fit(X, y)
    assert together != sorted(together)
    assert roomy.n_passes_.forward < model.n_passes_.forward
    np.testing.assert_allclose(roomy.coef_path_, model.coef_path_, atol=0.05 * np.abs(model.coef_path_).max())


@pytest.mark.parametrize("max_memory", [1.0, 1e9])
@pytest.mark.parametrize("stop", [1, 10, 40])
def test_an_interrupted_search_says_so_and_gives_what_there_is(
    noisy: Data, stop: int, max_memory: float
) -> None:
    X, y = noisy
    count = [0]

    def enough(event: Any) -> bool:
        count[0] += 1
        return count[0] >= stop

    with pytest.warns(ConvergenceWarning) as caught:
        model = RankSVMCV(10, callbacks=[enough], max_memory=max_memory).fit(X, y)
    assert any("The search was interrupted" in str(warning.message) for warning in caught)
    assert np.isfinite(model.decision_function(X)).all()
    assert not np.isfinite(model.cv_scores_).all()
    for coefficients, (history,) in zip(model.coef_path_, model.history_path_, strict=True):
        assert np.isfinite(coefficients).all() == bool(history)
    # among the candidates that all folds have finished, if there are any
    finished = np.isfinite(model.cv_scores_).all(axis=(1, 2)) & (model.cv_results_["n_unfinished"] == 0)
    if finished.any():
        assert finished[model.best_index_]
        assert model.status_ is Status.CONVERGED


def test_interrupted_before_every_ranker_had_a_model(digits: Data) -> None:
    X, y = digits
    with pytest.raises(RankcutError, match="before every ranker had a model"):
        RankSVMCV(CS, callbacks=[lambda event: True], max_memory=1.0).fit(X, y)


def test_unfinished_fits_are_counted(noisy: Data) -> None:
    X, y = noisy
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = RankSVMCV(CS, cv=3, max_iter=2, tol=1e-9).fit(X, y)
    assert model.cv_results_["n_unfinished"].tolist() == [4, 4, 4]
