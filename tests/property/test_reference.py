"""The twins against each other: what every kernel is measured by must itself be beyond doubt."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankcut.reference import brute_force, cutting_plane, measures, precision_at_k, published, staircase
from rankcut.reference.rankings import MostViolated

SEPARABLE = ["ap", "auc", "ndcg", "mrr"]
ALL = [*SEPARABLE, "precision@1", "precision@3", "precision@99", "hinge"]
Case = tuple[np.ndarray, np.ndarray]
Oracle = Callable[[np.ndarray, np.ndarray], MostViolated | published.Published]


def random_case(rng: np.random.Generator, largest: int, smallest: int = 1) -> Case:
    """Scores of any scale, a third of them tied, and labels; one positive or one negative is common."""
    P, N = rng.integers(smallest, largest + 1, 2)
    y = rng.permutation(np.arange(P + N) < P).astype(int)
    z = rng.normal(size=P + N)
    if rng.random() < 1 / 3:
        z = np.round(2 * z) / 2
    return z * 10.0 ** rng.integers(-3, 3), y


def fast(loss: str) -> Oracle:
    """The reference's own polynomial algorithm."""
    if loss in SEPARABLE:
        return lambda z, y: staircase.most_violated(z, y, loss)
    if loss == "hinge":
        return lambda z, y: brute_force.most_violated(z, y, "hinge")
    return lambda z, y: precision_at_k.most_violated(z, y, int(loss.split("@")[1]))


def agree(found: MostViolated | published.Published, exact: MostViolated, z: np.ndarray) -> None:
    tolerance = 1e-12 * (1 + np.abs(z).max())
    assert found.value == pytest.approx(exact.value, abs=tolerance)
    assert found.value == pytest.approx(found.delta + found.alpha @ z, abs=tolerance)


@st.composite
def cases(draw: st.DrawFn, largest: int = 4) -> Case:
    P, N = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    y = np.array(draw(st.permutations([1] * P + [0] * N)))
    number = st.one_of(st.integers(-2, 2).map(float), st.floats(-5, 5))
    return np.array(draw(st.lists(number, min_size=P + N, max_size=P + N))), y


def test_average_precision_oracles_equal_brute_force(rng: np.random.Generator) -> None:
    for _ in range(2_500):
        z, y = random_case(rng, 6)
        exact = brute_force.most_violated(z, y, "ap")
        for oracle in (published.greedy, published.search, published.select, staircase.most_violated):
            agree(oracle(z, y), exact, z)


@pytest.mark.parametrize("loss", ["auc", "ndcg", "mrr"])
def test_staircase_equals_brute_force(rng: np.random.Generator, loss: str) -> None:
    for _ in range(700):
        z, y = random_case(rng, 6)
        agree(staircase.most_violated(z, y, loss), brute_force.most_violated(z, y, loss), z)


def test_precision_at_k_equals_brute_force(rng: np.random.Generator) -> None:
    for _ in range(2_000):
        z, y = random_case(rng, 6)
        k = int(rng.integers(1, len(y) + 3))
        agree(precision_at_k.most_violated(z, y, k), brute_force.most_violated(z, y, "precision@k", k=k), z)


@pytest.mark.parametrize("J", [0.5, 1.0, 4.0])
def test_hinge_equals_its_formula(rng: np.random.Generator, J: float) -> None:
    for _ in range(100):
        z, y = random_case(rng, 4)
        found = brute_force.most_violated(z, y, "hinge", positive_weight=J)
        losses = np.where(y == 1, J * np.maximum(0, 1 - z), np.maximum(0, 1 + z))
        assert found.value == pytest.approx(losses.sum() / (J * y.sum() + (1 - y).sum()))


def test_auc_equals_its_formula(rng: np.random.Generator) -> None:
    for _ in range(100):
        z, y = random_case(rng, 30)
        pairs = np.maximum(0, 1 - 2 * np.subtract.outer(z[y == 1], z[y == 0]))
        assert staircase.most_violated(z, y, "auc").value == pytest.approx(pairs.mean())


def test_average_precision_oracles_agree_on_longer_lists(rng: np.random.Generator) -> None:
    for P, N in [(1, 150), (150, 1), (12, 200), (60, 60), (120, 15)]:
        y = rng.permutation(np.arange(P + N) < P)
        for scale, digits in product([0.01, 0.3, 3.0], [1, 12]):
            z = np.round(rng.normal(size=P + N), digits) * scale
            exact = staircase.most_violated(z, y)
            for oracle in (published.greedy, published.search, published.select):
                agree(oracle(z, y), exact, z)


@pytest.mark.parametrize("loss", ["ap", "auc", "ndcg", "mrr", "precision@k"])
def test_each_class_may_be_taken_by_falling_score(rng: np.random.Generator, loss: str) -> None:
    """The theorem that lets brute force skip orders within a class beyond three."""
    for _ in range(60):
        z, y = random_case(rng, 3)
        P, N = int(y.sum()), int(len(y) - y.sum())
        by_score = np.concatenate([-np.sort(-z[y == 1]), -np.sort(-z[y == 0])])

        def best(orders: np.ndarray, P: int = P, N: int = N, z: np.ndarray = by_score) -> float:
            return max(
                brute_force.delta_of(loss, (order < P).tolist(), k=2)
                + 2 / (P * N) * brute_force.swapped_pairs(order, P) @ z
                for order in orders
            )

        assert best(brute_force.all_orders(P + N)) == pytest.approx(best(brute_force.sorted_orders(P, N)))


def test_brute_force_tries_every_ranking() -> None:
    assert len({tuple(order) for order in brute_force.all_orders(5).tolist()}) == 120
    assert len({tuple(order) for order in brute_force.sorted_orders(6, 6).tolist()}) == 924
    with pytest.raises(ValueError, match="P, N ≤ 6; got P = 1, N = 7"):
        brute_force.most_violated(np.zeros(8), np.arange(8) == 0)


@given(case=cases())
def test_brute_force_takes_any_loss(case: Case) -> None:
    z, y = case
    own = brute_force.most_violated_ranking(z, y, lambda labels: 1 - measures.average_precision_of(labels))
    assert own.value == pytest.approx(brute_force.most_violated(z, y, "ap").value, abs=1e-13)
    doubled = brute_force.most_violated_ranking(z, y, lambda labels: 0.0, 2.0)
    assert doubled.value == pytest.approx(2 * np.maximum(0, -np.subtract.outer(z[y == 1], z[y == 0])).sum())


@given(case=cases(), shift=st.lists(st.floats(-2, 2), min_size=8, max_size=8))
def test_alpha_is_a_subgradient(case: Case, shift: list[float]) -> None:
    z, y = case
    step = np.array(shift[: len(z)])
    for loss in ALL:
        here, there = fast(loss)(z, y), fast(loss)(z + step, y)
        assert there.value >= here.value + here.alpha @ step - 1e-12, loss


@given(case=cases())
def test_alpha_has_the_signs_of_the_design(case: Case) -> None:
    z, y = case
    for loss in ALL:
        alpha = fast(loss)(z, y).alpha
        assert (alpha[y == 1] <= 0).all(), loss
        assert (alpha[y == 0] >= 0).all(), loss
        if loss != "hinge":  # it alone sees a shift of all scores
            assert alpha.sum() == pytest.approx(0, abs=1e-14), loss


@given(case=cases())
def test_risk_bounds_the_loss_of_the_ranking_by_score(case: Case) -> None:
    z, y = case
    for loss, measure in [
        ("ap", measures.average_precision),
        ("auc", measures.auc),
        ("ndcg", measures.ndcg),
        ("mrr", measures.mrr),
        ("precision@3", partial(measures.precision_at_k, k=3, attainable=True)),
    ]:
        assert fast(loss)(z, y).value >= 1 - measure(y, z) - 1e-13, loss


@given(case=cases())
def test_risk_starts_within_zero_and_one(case: Case) -> None:
    _, y = case
    for loss in ALL:
        assert 0 <= fast(loss)(np.zeros(len(y)), y).value <= 1 + 1e-15, loss


def test_one_pair_by_hand() -> None:
    y = np.array([1, 0])
    # The only other ranking has AP 1/2 and moves the pair by 2 (t − s).
    for gap, value in [(1.0, 0.0), (0.1, 0.3), (0.0, 0.5), (-1.0, 2.5)]:
        found = published.greedy(np.array([gap, 0.0]), y)
        assert found.value == pytest.approx(value)
        assert found.interleaving.tolist() == [0 if value else 1]


def test_interleaving_ranks_follow_from_alpha(rng: np.random.Generator) -> None:
    for _ in range(200):
        z, y = random_case(rng, 12)
        weight = 2 / (y.sum() * (1 - y).sum())
        for oracle in (published.greedy, published.search, published.select):
            found = oracle(z, y)
            np.testing.assert_allclose(found.alpha[y == 0], weight * (y.sum() - found.interleaving))


def test_interleaving_ranks_equal_brute_force_where_the_ranking_is_unique(rng: np.random.Generator) -> None:
    for _ in range(200):
        P, N = rng.integers(1, 7, 2)
        y, z = rng.permutation(np.arange(P + N) < P), rng.normal(size=P + N)
        exact = brute_force.most_violated(z, y)
        for oracle in (published.greedy, published.search, published.select, staircase.most_violated):
            np.testing.assert_allclose(oracle(z, y).alpha, exact.alpha, atol=1e-15)


# --- the cutting-plane twin --------------------------------------------------------------------------


def linear_risk(X: np.ndarray, y: np.ndarray, loss: str) -> cutting_plane.Risk:
    def risk(w: np.ndarray) -> tuple[float, np.ndarray]:
        found = staircase.most_violated(X @ w, y, loss)
        return found.value, X.T @ found.alpha

    return risk


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("loss", SEPARABLE)
def test_cutting_plane_closes_the_gap(rng: np.random.Generator, loss: str, C: float) -> None:
    X = rng.normal(size=(50, 4))
    y = X[:, 0] + rng.normal(size=50) > 1
    risk = linear_risk(X, y, loss)
    found = cutting_plane.minimise(risk, C, 4, tol=1e-9)
    assert 0 <= found.gap + 1e-12 * C <= 2e-9 * found.objective
    assert found.objective == pytest.approx(0.5 * found.w @ found.w + C * risk(found.w)[0])
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(50):
            near = found.w + size * rng.normal(size=4)
            assert 0.5 * near @ near + C * risk(near)[0] >= found.dual


@pytest.mark.parametrize(("C", "w"), [(0.25, 0.25), (2.0, 1.0), (100.0, 1.0)])
def test_cutting_plane_on_one_hinge(C: float, w: float) -> None:
    """``½w² + C max(0, 1 − w)`` has its minimum at min(C, 1)."""
    found = cutting_plane.minimise(lambda v: (max(0.0, 1 - v[0]), -np.ones(1) * (v[0] < 1)), C, 1)
    assert found.w == pytest.approx([w])
    assert found.objective == pytest.approx(found.dual)


def test_cutting_plane_of_a_risk_that_may_be_negative() -> None:
    """``½‖w‖² + C max(w₁, −w₁ − 4, w₂ − 9)``: from w₁ = −C on, down to the kink at −2."""
    offsets, slopes = np.array([0.0, -4.0, -9.0]), np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])

    def risk(w: np.ndarray) -> tuple[float, np.ndarray]:
        piece = int(np.argmax(offsets + slopes @ w))
        return float(offsets[piece] + slopes[piece] @ w), slopes[piece]

    for C, w in [(0.5, -0.5), (50.0, -2.0)]:
        found = cutting_plane.minimise(risk, C, 2, nonnegative=False)
        assert found.w == pytest.approx([w, 0], abs=1e-7)
        assert found.objective == pytest.approx(w * w / 2 + C * w)


def test_quadratic_programme_meets_its_optimality_conditions(rng: np.random.Generator) -> None:
    for n, d in [(1, 3), (5, 2), (20, 3), (30, 30), (60, 10)]:
        G, b, C = rng.normal(size=(n, d)), rng.normal(size=n), 10.0 ** rng.integers(-2, 4)
        G[n // 2 :] = G[: n - n // 2]  # the same cut twice, with another offset
        a = cutting_plane.maximise_on_simplex(G @ G.T, b, C, np.append(C, np.zeros(n - 1)))
        slope = b - G @ (G.T @ a)
        scale = np.abs(b).max() + np.abs(G @ (G.T @ a)).max()
        assert a.min() >= 0
        assert a.sum() == pytest.approx(C)
        assert slope.max() - slope @ a / C <= 1e-9 * scale
