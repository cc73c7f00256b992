"""Bags against brute force over rankings and instances, and the outer loop of BagRankSVM on random problems."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankcut import BagRankSVM, Bags, ConvergenceWarning, losses
from rankcut.data.lists import Lists
from rankcut.designs import make_design
from rankcut.models import BagRisk, LatentBagRisk, LinearRisk
from rankcut.models.trim import trim
from rankcut.reference import bags as slow
from rankcut.solvers import minimise

LOSSES = ["ap", "auc", "ndcg", "mrr", "precision@2", "hinge"]


class Case:
    """A few small bags with scores that are often tied, and the positives' instances."""

    def __init__(self, seed: int, loss: str, *, largest: int = 3, most: int = 6) -> None:
        self.rng = rng = np.random.default_rng(seed)
        P = int(rng.integers(1, most))
        N = int(rng.integers(1, most + 1 - P))
        self.y = rng.permutation(np.arange(P + N) < P).astype(int)
        sizes = rng.integers(1, largest + 1, P + N)
        self.offsets = np.concatenate(([0], np.cumsum(sizes)))
        scale = float(rng.choice([0.0, 1e-9, 0.3, 1.0, 30.0, 1e6]))
        self.z = scale * rng.integers(-2, 3, self.offsets[-1]).astype(float)
        if rng.random() < 0.5:
            self.z = scale * rng.normal(size=self.offsets[-1])
        self.frozen = np.array([rng.integers(0, size) for size in sizes])
        self.lists = Lists.build(self.y == 1)
        self.loss = losses.get(loss)
        self.given = np.where(self.y == 1, self.offsets[:-1] + self.frozen, -1)

    def make(self, lists: Lists) -> LinearRisk:
        return LinearRisk(lists, self.loss.bind(lists), self.loss.sees)

    def blocks(self, z: np.ndarray) -> list[np.ndarray]:
        return np.split(z, self.offsets[1:-1])

    def risk(self) -> BagRisk:
        return BagRisk(self.make(self.lists), self.offsets, self.given)

    def latent(self, **options: Any) -> LatentBagRisk:
        known = np.full(len(self.y), -1)
        return LatentBagRisk(
            self.lists, self.make, self.offsets, known, self.offsets[:-1] + self.frozen, **options
        )


def value_at(risk: BagRisk, z: np.ndarray) -> float:
    return risk.line(z, np.zeros_like(z))(0.0)[0]


# --- one step ------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_the_loss_augmented_step_equals_brute_force(loss: str, seed: int) -> None:
    """Over rankings and all choices of the negatives' instances."""
    case = Case(seed, loss)
    value, _, _ = slow.loss_augmented(case.blocks(case.z), case.y, case.frozen, loss)
    risk = case.risk()
    offset, weights = risk.cut(case.z)
    scale = 1.0 + np.abs(case.z).max()
    assert offset + weights @ case.z == pytest.approx(value, rel=1e-9, abs=1e-9 * scale)
    assert value_at(risk, case.z) == pytest.approx(value, rel=1e-9, abs=1e-9 * scale)
    for other in case.rng.normal(size=(5, len(case.z))) * scale:  # it is a subgradient
        expected, _, _ = slow.loss_augmented(case.blocks(other), case.y, case.frozen, loss)
        assert offset + weights @ other <= expected + 1e-9 * scale
    positives = np.repeat(case.y == 1, np.diff(case.offsets))
    assert (weights[positives] <= 0).all()
    assert (weights[~positives] >= 0).all()


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_the_best_instance_of_each_positive_is_the_best_choice(loss: str, seed: int) -> None:
    case = Case(seed, loss, most=4)
    least, _ = slow.positives_by_brute_force(case.blocks(case.z), case.y, loss)
    risk = case.latent()
    risk.freeze(case.z)
    scale = 1.0 + np.abs(case.z).max()
    assert value_at(risk, case.z) == pytest.approx(least, rel=1e-9, abs=1e-9 * scale)
    best = slow.best_instances(case.blocks(case.z))
    truth = slow.most_violated(slow.chosen(case.blocks(case.z), best), case.y, loss).value
    assert truth == pytest.approx(least, rel=1e-9, abs=1e-9 * scale)


@pytest.mark.parametrize("loss", ["ap", "hinge"])
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_lines_need_no_other_instances(loss: str, seed: int) -> None:
    case = Case(seed, loss, largest=6, most=8)
    risk = case.risk()
    direction = case.rng.choice([1e-3, 1.0, 1e3]) * case.rng.normal(size=len(case.z))
    line = risk.line(case.z, direction)
    for t in (0.0, 1.0, 0.3, 2.0, 1.5, 8.0, 64.0, 0.7):
        value, slope = line(t)
        point = case.z + t * direction
        exact = value_at(case.risk(), point)
        scale = 1.0 + np.abs(point).max()
        assert value == pytest.approx(exact, rel=1e-9, abs=1e-9 * scale)
        for other in (t + 0.5, max(0.0, t - 0.5)):
            beyond = value_at(case.risk(), case.z + other * direction)
            assert beyond >= value + (other - t) * slope - 1e-9 * (scale + np.abs(direction).max())


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), loss=st.sampled_from(LOSSES))
def test_frozen_anew_cuts_are_rebased_and_stay_below(loss: str, seed: int) -> None:
    case = Case(seed, loss, largest=4, most=8)
    X = case.rng.normal(size=(int(case.offsets[-1]), 3))
    design, risk = make_design(X, n_threads=1), case.latent()
    offset, weights = risk.cut(X @ case.rng.normal(size=3))
    gradient, seats = design.pull(weights[None])[0], risk.seats(weights)
    frozen = risk.freeze(X @ case.rng.normal(size=3))
    assert frozen.changed == (frozen.shift is not None)
    if frozen.shift is not None:
        factors = seats[frozen.shift.seats] * frozen.shift.factors
        gradient = gradient + design.pull_rows(frozen.shift.rows, factors[None])[0]
    for v in case.rng.normal(size=(10, 3)):
        assert offset + gradient @ v <= value_at(risk, X @ v) + 1e-12


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), loss=st.sampled_from(LOSSES))
def test_curvature_is_that_of_the_chosen_instances(loss: str, seed: int) -> None:
    case = Case(seed, loss, largest=4, most=30)
    risk = case.risk()
    _, weights = risk.cut(case.z)
    rows, diagonal, vectors, signs = risk.curvature(case.z, weights)
    assert (diagonal > 0).all()
    assert vectors.shape == (len(signs), len(rows))
    chosen = risk.chosen(case.z)
    assert set(rows) <= set(chosen)
    samples = case.make(case.lists)
    scores = case.z[chosen]
    bags, expected, _, _ = samples.curvature(
        scores[case.lists.order], case.lists.scatter(weights[chosen[case.lists.order]])
    )
    np.testing.assert_array_equal(rows, chosen[bags])
    np.testing.assert_array_equal(diagonal, expected)


# --- what is left out ------------------------------------------------


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32), loss=st.sampled_from(LOSSES))
def test_leaving_out_anew_never_raises_the_risk(loss: str, seed: int) -> None:
    case = Case(seed, loss, largest=5, most=20)
    fraction, share = case.rng.choice([0.0, 0.2, 0.9], 2)
    risk = case.latent(outlier_fraction=float(fraction), trim=float(share))
    z = case.z
    for _ in range(4):
        z = z + case.rng.normal(size=len(z))
        before = value_at(risk, z)
        risk.freeze(z)
        after = value_at(risk, z)
        assert after <= before + 1e-9 * (1.0 + np.abs(z).max())
        assert not risk.freeze(z).changed
        left_out = risk._left_out
        negatives = np.repeat(case.y == 0, np.diff(case.offsets))
        assert left_out[~negatives].sum() == 0 if len(left_out) else True
        assert left_out.sum() <= fraction * negatives.sum()
        if len(left_out):
            kept = np.add.reduceat(1 - left_out.astype(int), case.offsets[:-1])
            assert kept.min() >= 1
        lists = risk._samples.lists
        assert lists.positives[0] >= (1 - share) * (case.y == 1).sum()
        assert lists.size - lists.positives[0] >= (1 - share) * (case.y == 0).sum()


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), loss=st.sampled_from(LOSSES))
def test_trimmed_lists_are_the_best_of_their_size(loss: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    from itertools import combinations

    y = np.r_[np.ones(rng.integers(1, 6)), np.zeros(rng.integers(1, 6))].astype(int)
    z = rng.integers(-3, 4, len(y)) / 2.0
    share = float(rng.choice([0.2, 0.34, 0.5, 0.7]))
    oracle = losses.get(loss)
    lists = Lists.build(y == 1)
    kept = trim(lists, lists.gather(z), share).order
    value = oracle.most_violated(z[kept], y[kept]).value
    P, N = y.sum(), len(y) - y.sum()
    P, N, first, second = (
        P - int(share * P),
        N - int(share * N),
        np.flatnonzero(y == 1),
        np.flatnonzero(y == 0),
    )
    for positives in combinations(first, P):
        for negatives in combinations(second, N):
            rows = np.array([*positives, *negatives])
            assert value <= oracle.most_violated(z[rows], y[rows]).value + 1e-12


def test_trimming_works_list_by_list(rng: np.random.Generator) -> None:
    y, qid = (rng.random(60) < 0.5).astype(int), np.repeat(np.arange(4), 15)
    z = rng.normal(size=60)
    lists = Lists.build(y == 1, qid)
    kept = trim(lists, lists.gather(z), 0.3)
    for number in range(4):
        alone = Lists.build(y[qid == number] == 1)
        expected = trim(alone, alone.gather(z[qid == number]), 0.3).order + 15 * number
        part = kept.order[kept.offsets[number] : kept.offsets[number + 1]]
        np.testing.assert_array_equal(np.sort(part), np.sort(expected))
        assert kept.positives[number] == (y[part] == 1).sum()


# --- the outer loop ------------------------------------------------


def random_problem(rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    n = int(rng.integers(2, 14))
    y = rng.permutation(np.r_[1, 0, rng.integers(0, 2, n - 2)])
    d = int(rng.integers(1, 5))
    scale = float(rng.choice([1e-3, 1.0, 50.0]))
    return [scale * rng.normal(size=(int(rng.integers(1, 6)), d)).round(1) for _ in y], y


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_never_rises(rng: np.random.Generator, loss: str) -> None:
    """A few hundred random problems for each loss, five starts each, with all the options."""
    several = 0
    oracle = losses.get(loss).most_violated
    for _ in range(60):
        blocks, y = random_problem(rng)
        options: dict[str, Any] = {
            "C": float(10 ** rng.uniform(-2, 4)),
            "tol": float(rng.choice([1e-2, 1e-3, 1e-5])),
            "init": rng.choice(["random", "mean"]),
            "outlier_fraction": float(rng.choice([0.0, 0.0, 0.5])),
            "trim": float(rng.choice([0.0, 0.0, 0.4])),
            "fit_intercept": False,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = BagRankSVM(loss=loss, random_state=0, n_jobs=1, **options).fit(blocks, y)
        for path in model.objective_path_:
            assert (np.diff(path) <= 0).all()
            several += len(path) > 2
        assert model.objective_ == pytest.approx(min(path[-1] for path in model.objective_path_), rel=1e-9)
        if options["outlier_fraction"] == 0 and options["trim"] == 0:
            w = model.coef_[0]
            true = 0.5 * w @ w + options["C"] * slow.risk_of(blocks, y, w, oracle)
            assert model.objective_ == pytest.approx(true, rel=1e-7, abs=1e-12)
            assert model.latent_.tolist() == [int(np.argmax(block @ w)) for block in blocks] or np.any(
                [np.ptp(np.sort(block @ w)[-2:]) < 1e-9 for block in blocks if len(block) > 1]
            )
    assert several > 20


@pytest.mark.parametrize("loss", ["ap", "hinge", "ndcg"])
def test_the_end_is_stationary(rng: np.random.Generator, loss: str) -> None:
    oracle, tol, moved = losses.get(loss).most_violated, 1e-4, 0
    for _ in range(25):
        blocks, y = random_problem(rng)
        C = float(10 ** rng.uniform(-1, 2))
        model = BagRankSVM(C, loss=loss, random_state=0, tol=tol, n_jobs=1, fit_intercept=False).fit(
            blocks, y
        )
        w = model.coef_[0]
        assert model.dual_gap_ <= tol
        if not w.any():  # where every choice is tight, some other may have a better point
            continue
        moved += 1
        freeze = slow.freeze(blocks, y, oracle, np.zeros(len(y), dtype=int))
        best = minimise(freeze(w), C, start=w, tol=tol / 10)
        assert model.objective_ - best.objective <= 1.2 * tol * model.objective_ + 1e-9
    assert moved > 5


def test_lockstep_and_threads_do_not_change_the_result(rng: np.random.Generator) -> None:
    blocks, y = [rng.normal(size=(int(rng.integers(1, 6)), 4)) for _ in range(40)], np.arange(40) % 4 == 0
    bags = Bags.from_list(blocks)
    fits = [BagRankSVM(50.0, random_state=3, n_jobs=n_jobs).fit(bags, y) for n_jobs in (1, 2, 3)]
    for model in fits[1:]:
        np.testing.assert_array_equal(model.coef_, fits[0].coef_)
        for ours, theirs in zip(model.objective_path_, fits[0].objective_path_, strict=True):
            np.testing.assert_array_equal(ours, theirs)
