"""The published latent structural SVM with AP loss: its oracle by enumeration, its risk beside latent AP-SVM's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankcut import BagRankSVM, ConvergenceWarning, InputError, LatentAPBaseline, RankSVM, io, losses
from rankcut.data import Bags
from rankcut.losses import joint_ap
from rankcut.reference import latent_ssvm
from rankcut.solvers import Status


def draw(rng: np.random.Generator, largest: int, annotations: int = 3) -> tuple[list[np.ndarray], np.ndarray]:
    P, N = rng.integers(1, largest + 1, 2)
    y = rng.permutation(np.arange(P + N) < P).astype(int)
    scale = rng.choice([1e-3, 0.1, 1.0, 100.0])
    return [scale * rng.normal(size=rng.integers(1, annotations + 1)) for _ in y], y


def extremes(scores: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.array([max(s) for s in scores], float), np.array([min(s) for s in scores], float)


# --- the oracle ------------------------------------------------------------------------------------------------


def test_the_published_counter_example() -> None:
    """Greedy inference misses the best ranking: 18 instead of 22.6."""
    scores, y = [[4, 8], [7, 6], [1, 9], [0, 7]], [0, 1, 0, 1]
    best = latent_ssvm.optimum(scores, y, weight=1.0)
    assert best.value == pytest.approx(22.0 + 7 / 12)
    assert sorted(best.ranking[:2]) == [(0, 1), (2, 1)]  # negatives of equal counts: in any order
    assert sorted(best.ranking[2:]) == [(1, 1), (3, 0)]
    published = ((0, 1), (2, 1), (3, 0), (1, 1))
    assert latent_ssvm.value_of(published, scores, y, 1.0) == pytest.approx(best.value)
    greedy = latent_ssvm.greedy(scores, y, weight=1.0)
    assert greedy.value == pytest.approx(18.0)
    assert latent_ssvm.value_of(((1, 0), (3, 1), (2, 0), (0, 0)), scores, y, 1.0) == pytest.approx(18.0)
    found = joint_ap.most_violated(*extremes(scores), np.array(y) == 1, 1.0)
    assert found.value == pytest.approx(18.0)
    assert found.delta == 0.0
    assert found.counts.tolist() == [-2.0, 2.0, -2.0, 2.0]


def test_greedy_equals_its_twin(rng: np.random.Generator) -> None:
    for _ in range(600):
        scores, y = draw(rng, 3)
        weight = None if rng.random() < 0.7 else 1.0
        expected = latent_ssvm.greedy(scores, y, weight)
        high, low = extremes(scores)
        found = joint_ap.most_violated(high, low, y == 1, weight)
        assert found.value == pytest.approx(expected.value, rel=1e-9, abs=1e-12)
        pair = 1.0 / (y.sum() * (len(y) - y.sum())) if weight is None else weight
        score = pair * found.counts @ np.where(found.counts > 0, high, low)
        assert found.value == pytest.approx(found.delta + score)


def test_greedy_is_at_most_the_best(rng: np.random.Generator) -> None:
    missed = 0
    for _ in range(150):
        scores, y = draw(rng, 2)
        found = joint_ap.most_violated(*extremes(scores), y == 1)
        best = latent_ssvm.optimum(scores, y).value
        assert found.value <= best + 1e-9 * (1 + abs(best))
        missed += found.value < best - 1e-9 * (1 + abs(best))
    assert missed > 0  # so that the docs may say so


def test_with_one_annotation_greedy_is_exact(rng: np.random.Generator) -> None:
    """Then it is the published algorithm of AP-SVM, which is exact."""
    ap = losses.get("ap")
    for _ in range(300):
        P, N = rng.integers(1, 12, 2)
        y = rng.permutation(np.arange(P + N) < P).astype(int)
        z = rng.normal(size=P + N) * rng.choice([0.01, 1.0, 10.0])
        found = joint_ap.most_violated(z, z, y == 1)
        right = z[y == 1].mean() - z[y == 0].mean()
        assert found.value - right == pytest.approx(ap.most_violated(z, y).value, abs=1e-10)


@pytest.mark.parametrize("P, N", [(1, 1), (1, 5), (5, 1), (4, 4)])
def test_ties(P: int, N: int) -> None:
    y = np.arange(P + N) < P
    found = joint_ap.most_violated(np.zeros(P + N), np.zeros(P + N), y)
    worst = 1 - np.mean(np.arange(1, P + 1) / (np.arange(1, P + 1) + N))
    assert found.value == found.delta == pytest.approx(worst)
    spread = joint_ap.most_violated(np.ones(P + N), -np.ones(P + N), y)
    assert spread.value >= 2.0  # the perfect ranking with the best annotations


# --- the risk --------------------------------------------------------------------------------------------------


def test_proposition_1(rng: np.random.Generator) -> None:
    """The exact risk of the latent structural SVM is never below that of latent AP-SVM, which bounds 1 − AP."""
    above = 0
    for _ in range(200):
        scores, y = draw(rng, 2, 2)
        loose, tight = latent_ssvm.latent_ssvm_risk(scores, y), latent_ssvm.latent_ap_risk(scores, y)
        assert loose >= tight - 1e-9 * (1 + abs(tight))
        above += loose > tight + 1e-6
        z, _ = extremes(scores)
        assert tight == pytest.approx(losses.get("ap").most_violated(z, y).value, rel=1e-9, abs=1e-9)
    assert above > 50


def test_risk_and_weights_equal_the_twin(rng: np.random.Generator) -> None:
    from rankcut.designs import make_design
    from rankcut.models import JointBagRisk

    for _ in range(300):
        scores, y = draw(rng, 2)
        offsets = np.concatenate(([0], np.cumsum([len(s) for s in scores])))
        z = np.concatenate(scores)
        chosen = np.array([rng.integers(len(s)) for s in scores])
        design = make_design(np.eye(len(z)), n_threads=1)
        none = np.full(len(y), -1)
        risk = JointBagRisk(design, joint_ap.most_violated, y == 1, offsets, none).frozen(
            offsets[:-1] + chosen
        )
        value, weights = risk(z)
        right = np.mean([s[h] for s, h, label in zip(scores, chosen, y, strict=True) if label])
        right -= np.mean([max(s) for s, label in zip(scores, y, strict=True) if not label])
        assert value == pytest.approx(latent_ssvm.greedy(scores, y).value - right, rel=1e-9, abs=1e-9)
        delta = joint_ap.most_violated(*extremes(scores), y == 1).delta
        assert value == pytest.approx(delta + weights @ z, rel=1e-9, abs=1e-9)
        assert value >= -1e-9
        exact = latent_ssvm.latent_ssvm_risk(scores, y, chosen)
        other = rng.normal(size=len(z)) * np.abs(z).max()  # the cut holds everywhere for the exact risk
        there = latent_ssvm.latent_ssvm_risk(np.split(other, offsets[1:-1]), y, chosen)
        assert value <= exact + 1e-9 * (1 + abs(exact))
        assert delta + weights @ other <= there + 1e-9 * (1 + abs(there))


# --- the estimator -----------------------------------------------------------------------------------------------


def bags_of(rng: np.random.Generator, n: int = 30, d: int = 4) -> tuple[Bags, np.ndarray, np.ndarray]:
    """In each relevant bag one instance is shifted; its number comes third."""
    y = (np.arange(n) < n // 3).astype(int)
    blocks = [rng.normal(size=(rng.integers(1, 5), d)) for _ in range(n)]
    where = np.array([rng.integers(len(block)) for block in blocks])
    for block, h, label in zip(blocks, where, y, strict=True):
        block[h] += 2.5 * label
    return Bags.from_list(blocks), y, where


def test_it_ranks_and_finds_the_instances(rng: np.random.Generator) -> None:
    bags, y, where = bags_of(rng)
    model = LatentAPBaseline(C=30, random_state=0).fit(bags, y)
    assert model.coef_.shape == (1, 4)
    assert len(model.objective_path_) == 5
    for path in model.objective_path_:
        assert np.all(np.diff(path) <= 0)
    assert model.status_ in (Status.CONVERGED, Status.INEXACT)
    assert model.n_inferences_ >= model.n_iter_
    z = bags.instances @ model.coef_[0]
    best = np.maximum.reduceat(z, bags.offsets[:-1])
    np.testing.assert_allclose(model.decision_function(bags), best + model.intercept_)
    np.testing.assert_array_equal(model.choose(bags), model.latent_)
    assert np.mean(model.latent_[y == 1] == where[y == 1]) > 0.7
    assert model.score(bags, y) > 0.7


def test_all_known_is_rank_svm(rng: np.random.Generator) -> None:
    bags, y, where = bags_of(rng)
    model = LatentAPBaseline(C=10, tol=1e-5).fit(bags, y, known=where)
    rows = bags.instances[bags.offsets[:-1] + where]
    plain = RankSVM(C=10, tol=1e-5).fit(rows, y)
    assert model.objective_ == pytest.approx(plain.objective_, rel=2e-5)
    single = LatentAPBaseline(C=10, tol=1e-5).fit(rows, y)
    assert single.objective_ == pytest.approx(plain.objective_, rel=2e-5)


def test_its_objective_is_above_latent_ap_svm(rng: np.random.Generator) -> None:
    """At the same w and with exact inference (Proposition 1); greedy inference finds nearly all of it here."""
    bags, y, _ = bags_of(rng, 12)
    model = LatentAPBaseline(C=10, random_state=0).fit(bags, y)
    w = model.coef_[0]
    z = bags.instances @ w
    tight = losses.get("ap").most_violated(np.maximum.reduceat(z, bags.offsets[:-1]), y).value
    assert model.objective_ >= 0.5 * w @ w + 10 * tight - 1e-9
    latent_ap = BagRankSVM(C=10, random_state=0).fit(bags, y)
    assert latent_ap.objective_ <= model.objective_


def test_several_classes_and_the_same_twice(rng: np.random.Generator) -> None:
    bags, _, _ = bags_of(rng, 18)
    y = np.arange(18) % 3
    model = LatentAPBaseline(C=3, n_init=2, random_state=1).fit(bags, y)
    again = LatentAPBaseline(C=3, n_init=2, random_state=1, n_jobs=2).fit(bags, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    assert model.coef_.shape == (3, 4)
    assert model.latent_.shape == (18, 3)
    assert [len(paths) for paths in model.objective_path_] == [2, 2, 2]
    assert model.predict(bags).shape == (18,)


def test_a_callback_stops_it(rng: np.random.Generator) -> None:
    bags, y, _ = bags_of(rng)
    model = LatentAPBaseline(C=100, callbacks=[lambda event: event.n_iter == 3])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(bags, y)
    assert model.status_ is Status.INTERRUPTED
    assert len(model.objective_path_) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([LatentAPBaseline(n_init=1, tol=1e-2)])
def test_check_estimator(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_model_file(rng: np.random.Generator, tmp_path: Path) -> None:
    bags, y, _ = bags_of(rng, 12)
    model = LatentAPBaseline(C=3.0, n_init=1).fit(bags, y)
    io.save(model, tmp_path / "model")
    loaded = io.load(tmp_path / "model")
    assert vars(loaded).keys() == vars(model).keys()
    np.testing.assert_array_equal(loaded.decision_function(bags), model.decision_function(bags))
    np.testing.assert_array_equal(loaded.latent_, model.latent_)
    assert loaded.status_ is model.status_


def test_bad_input(rng: np.random.Generator) -> None:
    bags, y, where = bags_of(rng)
    for words, options in [("C: came as -1", {"C": -1}), ("n_init: came as 0", {"n_init": 0})]:
        with pytest.raises(InputError, match=words):
            LatentAPBaseline(**options).fit(bags, y)
    with pytest.raises(InputError, match="known: instance 99 came for bag 0"):
        LatentAPBaseline().fit(bags, y, known=np.where(np.arange(30) == 0, 99, where))
    with pytest.raises(InputError, match="y: came with one class only"):
        LatentAPBaseline().fit(bags, np.ones(30))
