"""Structural SVMs against enumeration and an independent solver (Clarabel), and what they promise.

The problems below are written as a user writes them; their outputs can also be listed.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.structural import (
    MISSING,
    Chain,
    Multiclass,
    chains,
    draw,
    enumerated,
    exact,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from rankcut import ConvergenceWarning, InputError, LatentStructuralSVM, StructuralSVM, io
from rankcut.reference import cutting_plane, structural
from rankcut.solvers import Status

FORMULATIONS = ["one-slack", "n-slack"]


# --- optimal ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", ["labels", "chains"])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_equals_an_independent_solver(
    rng: np.random.Generator, kind: str, C: float, formulation: str
) -> None:
    for _ in range(3):
        problem, X, y = draw(kind, rng)
        table = enumerated(problem, X, y)
        model = StructuralSVM(problem, C, formulation=formulation, tol=1e-7, max_iter=5000).fit(X, y)
        optimum = exact(table, C)
        assert model.status_ is Status.CONVERGED
        assert model.dual_objective_ <= optimum * (1 + 1e-7)
        assert model.objective_ >= optimum * (1 - 1e-7)
        assert model.objective_ == pytest.approx(optimum, rel=1e-6)
        w = model.coef_[0]
        assert model.objective_ == pytest.approx(0.5 * w @ w + C * structural.risk(table, w)[0], rel=1e-9)
        twin = cutting_plane.minimise(
            lambda w, table=table: structural.risk(table, w), C, len(w), tol=1e-6, max_iter=300
        )
        assert twin.dual <= model.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_certificate_holds_when_stopped_early(rng: np.random.Generator, formulation: str) -> None:
    for max_iter in (1, 2, 3):
        problem, X, y = draw("labels", rng, 20)
        table, C = enumerated(problem, X, y), 100.0
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            model = StructuralSVM(problem, C, formulation=formulation, tol=1e-10, max_iter=max_iter).fit(X, y)
        optimum, w = exact(table, C), model.coef_[0]
        assert model.status_ is Status.MAX_ITER
        assert model.n_iter_ == max_iter
        assert model.dual_objective_ <= optimum * (1 + 1e-7) <= model.objective_ * (1 + 2e-7)
        assert model.objective_ == pytest.approx(0.5 * w @ w + C * structural.risk(table, w)[0], rel=1e-9)
        assert model.dual_gap_ == pytest.approx((model.objective_ - model.dual_objective_) / model.objective_)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_one_sample_and_nothing_to_learn(formulation: str) -> None:
    problem = Multiclass(2)
    model = StructuralSVM(problem, 10.0, formulation=formulation, tol=1e-9).fit([np.array([1.0])], [1])
    assert model.coef_[0] == pytest.approx([-0.5, 0.5], abs=1e-6)  # w_1 − w_0 = 1, as short as can be
    assert model.objective_ == pytest.approx(0.25, rel=1e-6)
    empty = StructuralSVM(problem, 10.0, formulation=formulation).fit([np.zeros(2)] * 3, [0, 1, 1])
    assert empty.coef_.tolist() == [[0.0] * 4]  # inputs without information
    assert empty.objective_ == pytest.approx(10.0)
    assert empty.status_ is Status.CONVERGED
    certain = StructuralSVM(Multiclass(1), formulation=formulation).fit([np.ones(2)] * 3, [0] * 3)
    assert certain.objective_ == certain.dual_gap_ == 0.0  # one output only: the risk is 0


# --- what is promised ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_fitted_attributes(rng: np.random.Generator, formulation: str) -> None:
    problem, X, y = draw("chains", rng, 30)
    model = StructuralSVM(problem, 10.0, formulation=formulation)
    assert model.fit(X, y) is model
    assert model.coef_.shape == (1, problem.size)
    assert 0 <= model.dual_gap_ <= 1e-3
    assert len(model.history_) == model.n_iter_
    assert model.history_[-1].gap == model.dual_gap_
    assert model.history_[-1].forward_passes == model.n_passes_ >= model.n_iter_
    duals = [record.dual_objective for record in model.history_]
    objectives = [record.objective for record in model.history_]
    assert duals == sorted(duals) or formulation == "n-slack"
    assert objectives == sorted(objectives, reverse=True)
    predicted = model.predict(X)
    for x, found in zip(X, predicted, strict=True):
        np.testing.assert_array_equal(found, problem.predict(model.coef_[0], x))
    losses = [problem.loss(t, p) for t, p in zip(y, predicted, strict=True)]
    assert model.score(X, y) == pytest.approx(-np.mean(losses))
    assert model.score(X, y) > -0.3


def test_both_formulations_agree_on_bigger_data(rng: np.random.Generator) -> None:
    problem, X, y = chains(rng, 50, 3, 6, 3)
    one, n = (StructuralSVM(problem, 50.0, formulation=f, tol=1e-4).fit(X, y) for f in FORMULATIONS)
    assert one.objective_ == pytest.approx(n.objective_, rel=1e-4)
    assert max(one.dual_objective_, n.dual_objective_) <= min(one.objective_, n.objective_)
    assert n.n_passes_ < one.n_passes_


def test_threads_do_not_change_a_bit(rng: np.random.Generator) -> None:
    problem, X, y = draw("chains", rng, 100)
    fits = [StructuralSVM(problem, 10.0, n_jobs=n).fit(X, y) for n in (1, 2, 3)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef_, fits[0].coef_)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_warm_start_goes_on(rng: np.random.Generator, formulation: str) -> None:
    problem, X, y = draw("labels", rng, 60)
    options = {"C": 50.0, "formulation": formulation, "tol": 1e-4}
    cold = StructuralSVM(problem, **options).fit(X, y)
    warm = StructuralSVM(problem, warm_start=True, **options).fit(X, y).fit(X, y)
    assert warm.objective_ <= cold.objective_ * (1 + 1e-4)
    assert warm.history_[0].objective <= cold.objective_ * (1 + 1e-9)  # it knows a good point at once


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_callback_stops_and_ctrl_c_too(rng: np.random.Generator, formulation: str) -> None:
    problem, X, y = draw("labels", rng, 60)
    table = enumerated(problem, X, y)
    seen = []

    def stop(event: Any) -> bool:
        seen.append(event)
        return event.n_iter == 4

    def interrupt(event: Any) -> None:
        if event.n_iter == 4:
            raise KeyboardInterrupt

    for callback in (stop, interrupt):
        model = StructuralSVM(problem, 1000.0, formulation=formulation, tol=1e-9, callbacks=[callback])
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model.fit(X, y)
        w = model.coef_[0]
        assert model.status_ is Status.INTERRUPTED
        assert model.objective_ == pytest.approx(0.5 * w @ w + 1000 * structural.risk(table, w)[0], rel=1e-9)
        assert model.dual_objective_ <= exact(table, 1000.0) * (1 + 1e-7)
    assert [event.n_iter for event in seen] == [1, 2, 3, 4]


def test_scikit_learn_can_search(rng: np.random.Generator) -> None:
    problem, X, y = draw("chains", rng, 30)
    search = GridSearchCV(StructuralSVM(problem), {"C": [0.01, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"C": 10.0}
    assert len(search.predict(X)) == 30
    model = clone(search.best_estimator_)
    with pytest.raises(NotFittedError):
        model.predict(X)
    back = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(back.coef_, search.best_estimator_.coef_)


def test_progress_goes_to_standard_error(
    rng: np.random.Generator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankcut.solvers.progress.EVERY", 0.0)
    problem, X, y = draw("labels", rng)
    StructuralSVM(problem, verbose=1).fit(X, y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "objective" in shown.err


# --- hidden parts --------------------------------------------------------------------------------------------


def hidden(rng: np.random.Generator, n: int = 12, missing: float = 0.4) -> tuple[Chain, list[Any], list[Any]]:
    return chains(rng, n, 3, 3, 3, missing)


def row_of(problem: Chain, x: np.ndarray, y: np.ndarray) -> int:
    return next(row for row, each in enumerate(problem.outputs(x)) if np.array_equal(each, y))


def test_without_hidden_parts_it_is_a_structural_svm(rng: np.random.Generator) -> None:
    problem, X, y = hidden(rng, missing=0.0)
    latent = LatentStructuralSVM(problem, 10.0, tol=1e-6).fit(X, y)
    plain = StructuralSVM(problem, 10.0, tol=1e-6).fit(X, y)
    assert latent.objective_ == pytest.approx(plain.objective_, rel=2e-6)
    for found, truth in zip(latent.latent_, y, strict=True):
        np.testing.assert_array_equal(found, truth)


@pytest.mark.parametrize("C", [0.3, 10.0, 300.0])
def test_cccp_never_rises_and_ends_where_no_round_helps(rng: np.random.Generator, C: float) -> None:
    for _ in range(3):
        problem, X, y = hidden(rng)
        table = enumerated(problem, X, y)
        model = LatentStructuralSVM(problem, C, n_init=3, tol=1e-5, random_state=0).fit(X, y)
        w = model.coef_[0]
        assert len(model.objective_path_) == 3
        for path in model.objective_path_:
            assert np.all(np.diff(path) <= 0)
        assert model.objective_ == pytest.approx(min(path[-1] for path in model.objective_path_))
        assert model.objective_ == pytest.approx(0.5 * w @ w + C * structural.risk(table, w)[0], rel=1e-9)
        rows = [row_of(problem, x, found) for x, found in zip(X, model.latent_, strict=True)]
        for features, row, best in zip(table.features, rows, structural.chosen(table, w), strict=True):
            assert features[row] @ w == pytest.approx(features[best] @ w, abs=1e-9)
        frozen = table._replace(truths=[[row] for row in rows])
        again = exact(frozen, C)  # one more round, by somebody else
        assert model.status_ is Status.CONVERGED
        assert again >= model.objective_ * (1 - 3e-5)


def test_hidden_parts_are_found(rng: np.random.Generator) -> None:
    """With clear inputs the imputed labels are the true ones."""
    problem, X, truth = chains(rng, 60, 3, 6, 3)
    X = [x + 2.0 * np.eye(3)[t] for x, t in zip(X, truth, strict=True)]
    y = [np.where(rng.random(len(t)) < 0.5, MISSING, t) for t in truth]
    model = LatentStructuralSVM(problem, 10.0).fit(X, y)
    right = np.mean(np.concatenate([f == t for f, t in zip(model.latent_, truth, strict=True)]))
    assert right > 0.95
    assert model.score(X, truth) > -0.05
    assert model.score(X, y) > -0.05


def test_latent_starts_and_warm_start(rng: np.random.Generator) -> None:
    problem, X, y = hidden(rng, 30)
    model = LatentStructuralSVM(problem, 10.0, n_init=2, random_state=3).fit(X, y)
    same = LatentStructuralSVM(problem, 10.0, n_init=2, random_state=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    on = LatentStructuralSVM(problem, 10.0, init=model.coef_[0]).fit(X, y)
    assert on.objective_path_[0][0] == pytest.approx(model.objective_, rel=1e-12)
    assert on.objective_ <= model.objective_
    warm = LatentStructuralSVM(problem, 10.0, warm_start=True).fit(X, y).fit(X, y)
    assert len(warm.objective_path_) == 1
    assert len(warm.objective_path_[0]) <= 3


def test_a_latent_fit_can_be_stopped(rng: np.random.Generator) -> None:
    problem, X, y = hidden(rng, 30)
    model = LatentStructuralSVM(problem, 1000.0, n_init=5, callbacks=[lambda event: event.n_iter == 3])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    table, w = enumerated(problem, X, y), model.coef_[0]
    assert model.status_ is Status.INTERRUPTED
    assert len(model.objective_path_) == 1
    assert model.objective_ == pytest.approx(0.5 * w @ w + 1000 * structural.risk(table, w)[0], rel=1e-9)


class Declared(Chain):
    @property
    def n_features(self) -> int:
        return self.size


class Forgiving(Chain):
    def joint_feature(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return super().joint_feature(x, np.maximum(y, 0))


@pytest.mark.parametrize("kind", [Chain, Declared, Forgiving])
def test_the_number_of_features_is_found(rng: np.random.Generator, kind: type[Chain]) -> None:
    _, X, y = hidden(rng)
    y[0] = np.full_like(y[0], MISSING)
    assert LatentStructuralSVM(kind(3, 3)).fit(X, y).coef_.shape == (1, 18)


def test_latent_problems_that_misbehave(rng: np.random.Generator) -> None:
    _, X, y = hidden(rng)
    y[0] = np.full_like(y[0], MISSING)

    def refuse(words: str, problem: Any, **options: Any) -> None:
        with pytest.raises(InputError, match=words):
            LatentStructuralSVM(problem, **options).fit(X, y)

    wrong = type("Wrong", (Chain,), {"impute": lambda self, w, x, y: self.predict(w, x)})
    refuse("loss returned .* for sample . and what impute returned; it must be 0", wrong(3, 3))
    broken = type("Broken", (Chain,), {"impute": lambda self, w, x, y: 1 // 0})
    refuse(
        "impute failed for sample 0 .* of every length .*division.*add an attribute n_features", broken(3, 3)
    )
    refuse("problem.n_features: came as 0", type("Zero", (Chain,), {"n_features": 0})(3, 3))
    short = type("Short", (Chain,), {"n_features": 17, "impute": lambda self, w, x, y: np.maximum(y, 0)})
    refuse("must be of length 17", type("Short", (short,), {"loss_augmented": short.impute})(3, 3))
    refuse("problem: came as Multiclass without impute; add impute.w, x, y.: the completion", Multiclass(3))
    refuse("n_init: came as 0", Chain(3, 3), n_init=0)
    refuse("init: came with shape .4,.; pass 18 finite numbers", Chain(3, 3), init=np.zeros(4))


@pytest.mark.parametrize("kind", [StructuralSVM, LatentStructuralSVM])
def test_model_files_take_the_problem_again(rng: np.random.Generator, tmp_path: Path, kind: type) -> None:
    problem, X, y = hidden(rng, missing=0.0 if kind is StructuralSVM else 0.4)
    model = kind(problem, C=3.0).fit(X, y)
    with pytest.warns(UserWarning, match="problem cannot be stored; pass it again"):
        io.save(model, tmp_path / "model")
    loaded = io.load(tmp_path / "model", problem=problem)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    assert loaded.C == 3.0
    assert loaded.status_ is model.status_
    for before, after in zip(model.predict(X), loaded.predict(X), strict=True):
        np.testing.assert_array_equal(before, after)
