"""The contract of a loss: whatever its name, all of this holds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankcut import InputError, losses
from rankcut.data import Lists
from rankcut.reference import brute_force, published
from rankcut.reference.rankings import pack, split


class Spec(NamedTuple):
    name: str
    options: dict[str, Any]

    def get(self) -> losses.Loss:
        return losses.get(self.name, **self.options)

    def __str__(self) -> str:
        return " ".join([self.name, *map(str, self.options.values())])


AP = [Spec("ap", {"oracle": oracle}) for oracle in ("staircase", "greedy", "search", "select")]
RANKING = [
    *AP,
    *(Spec(name, {}) for name in ("auc", "ndcg", "mrr", "precision@1", "precision@4", "precision@60")),
]
HINGE = [Spec("hinge", {}), Spec("hinge", {"positive_weight": 3.0})]
SHIFTED = [Spec("hinge", {"shifted": True}), Spec("hinge", {"positive_weight": 0.2, "shifted": True})]
PREFERENCE = [Spec("preference", {"graph": graph}) for graph in ("complete", "bipartite")]
PREFERENCE += [Spec("preference", {"rescaling": "margin"})]
ALL = [*RANKING, *HINGE, *SHIFTED, *PREFERENCE]
Case = tuple[np.ndarray, np.ndarray]
NONE = np.empty(0, np.uint8)

every_loss = pytest.mark.parametrize("spec", ALL, ids=str)
SIZES = [(1, 1), (1, 7), (7, 1), (3, 5), (20, 30), (40, 7)]


def draw_case(rng: np.random.Generator, P: int, N: int, tied: bool = False) -> Case:
    """Scores about as far apart as the loss of such a list looks."""
    y = rng.permutation(np.arange(P + N) < P).astype(int)
    z = rng.normal(size=P + N) * rng.choice([0.01, 0.3, 3.0])
    return (np.round(3 * z) / 3 if tied else z), y


def some_cases(rng: np.random.Generator) -> list[Case]:
    cases = [draw_case(rng, P, N, tied) for P, N in SIZES for tied in (False, True) for _ in range(3)]
    return [*cases, *((np.zeros(P + N), y) for (P, N) in SIZES for _, y in [draw_case(rng, P, N)])]


@every_loss
def test_value_is_delta_plus_alpha_times_scores(rng: np.random.Generator, spec: Spec) -> None:
    for z, y in some_cases(rng):
        found = spec.get().most_violated(z, y)
        assert found.value == pytest.approx(found.delta + found.alpha @ z, abs=1e-12)
        assert found.alpha.shape == z.shape
        assert 0.0 <= found.delta <= 1.0 + 1e-12
        assert found.value >= -1e-12


@every_loss
def test_alpha_lowers_negatives_and_raises_positives(rng: np.random.Generator, spec: Spec) -> None:
    for z, y in some_cases(rng):
        alpha = spec.get().most_violated(z, y).alpha
        assert np.all(alpha[y == 1] <= 0)
        assert np.all(alpha[y == 0] >= 0)


@pytest.mark.parametrize("spec", [*RANKING, *SHIFTED, *PREFERENCE], ids=str)
def test_a_common_shift_is_not_seen(rng: np.random.Generator, spec: Spec) -> None:
    for z, y in some_cases(rng):
        found, shifted = spec.get().most_violated(z, y), spec.get().most_violated(z + 7.25, y)
        assert abs(found.alpha.sum()) <= 1e-12
        assert shifted.value == pytest.approx(found.value, abs=1e-11)


@every_loss
def test_subgradient_inequality(rng: np.random.Generator, spec: Spec) -> None:
    loss = spec.get()
    for z, y in some_cases(rng):
        found = loss.most_violated(z, y)
        for scale in (1e-3, 0.1, 1.0, 10.0):
            other = z + scale * rng.normal(size=len(z))
            assert loss.most_violated(other, y).value >= found.value + found.alpha @ (other - z) - 1e-11 * (
                1 + scale
            )


@every_loss
def test_convex_along_lines(rng: np.random.Generator, spec: Spec) -> None:
    loss = spec.get()
    for z, y in some_cases(rng):
        step = rng.normal(size=len(z))
        values = [loss.most_violated(z + t * step, y).value for t in np.linspace(-2, 2, 9)]
        assert np.all(np.diff(values, 2) >= -1e-11)


@every_loss
def test_monotone(rng: np.random.Generator, spec: Spec) -> None:
    """Never worse when a positive rises or a negative falls."""
    loss = spec.get()
    for z, y in some_cases(rng):
        better = z + np.where(y == 1, 1, -1) * rng.exponential(size=len(z)) * (rng.random(len(z)) < 0.5)
        assert loss.most_violated(better, y).value <= loss.most_violated(z, y).value + 1e-12


@every_loss
def test_the_order_of_rows_is_of_no_account(rng: np.random.Generator, spec: Spec) -> None:
    loss = spec.get()
    for z, y in some_cases(rng):
        order = rng.permutation(len(z))
        found, moved = loss.most_violated(z, y), loss.most_violated(z[order], y[order])
        assert moved.value == pytest.approx(found.value, abs=1e-12)
        if len(np.unique(z)) == len(z):
            np.testing.assert_allclose(moved.alpha, found.alpha[order], atol=1e-12)


@pytest.mark.parametrize("spec", RANKING, ids=str)
def test_bounds_the_measures_loss(rng: np.random.Generator, spec: Spec) -> None:
    """… whatever the order of tied rows: here the worst."""
    name, k = ("precision@k", int(spec.name[10:])) if "@" in spec.name else (spec.name, 0)
    for z, y in some_cases(rng):
        labels = tuple((y[np.lexsort((y, -z))] == 1).tolist())
        k_here = min(k, len(z))
        assert spec.get().most_violated(z, y).value >= brute_force.delta_of(name, labels, k_here) - 1e-12


@pytest.mark.parametrize("spec", HINGE, ids=str)
def test_bounds_the_weighted_error(rng: np.random.Generator, spec: Spec) -> None:
    J = spec.options.get("positive_weight", 1.0)
    for z, y in some_cases(rng):
        weights = np.where(y == 1, J, 1.0) / np.where(y == 1, J, 1.0).sum()
        assert spec.get().most_violated(z, y).value >= weights @ ((z > 0) != (y == 1)) - 1e-12


@every_loss
def test_between_zero_and_one_where_all_scores_are_zero(rng: np.random.Generator, spec: Spec) -> None:
    for P, N in [*SIZES, (300, 2000), (2000, 300)]:
        _, y = draw_case(rng, P, N)
        assert 0.0 <= spec.get().most_violated(np.zeros(P + N), y).value <= 1.0 + 1e-12


@every_loss
def test_zero_where_far_apart(rng: np.random.Generator, spec: Spec) -> None:
    for P, N in [*SIZES, (1500, 1100)]:
        z, y = draw_case(rng, P, N)
        apart = z + np.where(y == 1, 1, -1) * (P * N + 20.0)
        found = spec.get().most_violated(apart, y)
        rounding = 1e-14 if spec in SHIFTED else 0.0  # the sample at the intercept's kink
        assert abs(found.value) <= rounding * np.abs(apart).max()
        assert found.delta <= rounding
        assert np.abs(found.alpha).max() <= rounding


@every_loss
def test_queries_are_averaged(rng: np.random.Generator, spec: Spec) -> None:
    if spec in SHIFTED:
        pytest.skip("one intercept for all lists")
    sizes = [(1, 1), (3, 4), (2, 9), (12, 5)]
    parts = [draw_case(rng, P, N, tied=True) for P, N in sizes]
    parts += [(rng.normal(size=3), np.ones(3, int)), (rng.normal(size=2), np.zeros(2, int))]  # left out
    z, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    query = np.repeat(np.arange(len(parts)), [len(each) for each, _ in parts])
    order = rng.permutation(len(z))
    loss = spec.get()
    alone = [loss.most_violated(*part) for part in parts[: len(sizes)]]
    names = np.array(["d", "a", "x", "bb", "skip", "other"])[query]
    for qid in (query, -3.5 * query, names, [(q, "t") for q in query.tolist()]):
        at = [qid[i] for i in order] if isinstance(qid, list) else qid[order]
        found = loss.most_violated(z[order], y[order], at)
        assert found.value == pytest.approx(np.mean([each.value for each in alone]), abs=1e-12)
        assert found.delta == pytest.approx(np.mean([each.delta for each in alone]), abs=1e-12)
        expected = np.zeros(len(z))
        expected[: sum(map(sum, sizes))] = np.concatenate([each.alpha for each in alone]) / len(sizes)
        np.testing.assert_allclose(found.alpha, expected[order], atol=1e-12)


@pytest.mark.parametrize("spec", [*RANKING, *PREFERENCE], ids=str)
def test_tied_rows_share_their_weight(rng: np.random.Generator, spec: Spec) -> None:
    for z, y in some_cases(rng):
        alpha = spec.get().most_violated(z, y).alpha
        for score, label in {*zip(z.tolist(), y.tolist(), strict=True)}:
            assert np.ptp(alpha[(z == score) & (y == label)]) <= 1e-15


@every_loss
def test_the_native_line_is_the_risk_along_it(rng: np.random.Generator, spec: Spec) -> None:
    loss = spec.get()
    for z, y in some_cases(rng):
        order = np.argsort(-y, kind="stable")
        start, step = z[order], rng.normal(size=len(z))
        risk = loss.bind(Lists.build(y[order] == 1))
        assert risk.size == len(z)
        for t in (0.0, 0.3, 1.7):
            value, slope = risk.line(start, step, t)
            there = loss.most_violated(start + t * step, y[order])
            assert value == pytest.approx(there.value, abs=1e-12)
            assert slope == pytest.approx(there.alpha @ step, abs=1e-12)
            h = 1e-7
            left, right = (risk.line(start, step, t + e)[0] for e in (-h, h))
            assert (value - left) / h - 1e-6 <= slope <= (right - value) / h + 1e-6


@every_loss
def test_the_native_risk_is_the_same_on_any_number_of_threads(rng: np.random.Generator, spec: Spec) -> None:
    """… for lists of very different lengths, and again after another point (buffers are used again)."""
    sizes = [(3, 4), (500, 6000), (1, 1), (30, 5000), *[(2, 3)] * 50, (1000, 20), (7, 9000)]
    y = np.concatenate([np.arange(P + N) < P for P, N in sizes])
    query = np.repeat(np.arange(len(sizes)), [P + N for P, N in sizes])
    lists = Lists.build(y, query)
    z, step = rng.normal(size=(2, len(y)))
    answers = []
    for n_threads in (1, 2, 3, 16):
        risk, alpha, weight = spec.get().bind(lists), np.empty(len(y)), np.empty(len(y))
        risk.evaluate(step, alpha, n_threads)
        delta = risk.evaluate(z, alpha, n_threads)
        risk.curvature(z, alpha, weight, n_threads)
        answers.append((delta, *risk.line(z, step, 0.5, n_threads), alpha, weight))
        assert np.all(weight >= 0)
        assert np.all(np.isfinite(weight))
    for answer in answers[1:]:
        assert answer[:3] == answers[0][:3]
        assert all(np.array_equal(a, b) for a, b in zip(answer[3:], answers[0][3:], strict=True))


@pytest.mark.parametrize("shape", [(3,), (9,), (0,)])
def test_the_native_risk_checks_sizes(shape: tuple[int]) -> None:
    risk = losses.get("ap").bind(Lists.build(np.array([True, False, True, False])))
    good, bad = np.zeros(4), np.zeros(shape)
    for call in (
        lambda: risk.evaluate(bad, good),
        lambda: risk.evaluate(good, bad),
        lambda: risk.line(good, bad, 0.5),
        lambda: risk.curvature(good, good, bad),
    ):
        with pytest.raises(ValueError, match="one entry per sample"):
            call()


# --- what only some have --------------------------------------------------------------------------


def test_interleaving_is_the_published_one(rng: np.random.Generator) -> None:
    for _ in range(400):
        P, N = rng.integers(1, 30, 2)
        z, y = draw_case(rng, P, N)
        if rng.random() < 0.2:  # near-separable: few matter
            z = z + 0.3 * N * y
        ranks = losses.get("ap").interleaving(z, y)
        np.testing.assert_array_equal(ranks, published.greedy(z, y).interleaving)


def test_interleaving_of_tied_scores_is_as_violated(rng: np.random.Generator) -> None:
    for _ in range(200):
        P, N = rng.integers(1, 20, 2)
        z, y = draw_case(rng, P, N, tied=True)
        ranks = losses.get("ap").interleaving(z, y)
        assert ranks.shape == (N,)
        assert 0 <= ranks.min() <= ranks.max() <= P
        _, positives, negatives = split(z, y)
        places = dict(zip(np.flatnonzero(y == 0).tolist(), ranks.tolist(), strict=True))
        above = np.array([sum(rank <= k for rank in places.values()) for k in range(P)])
        delta = 1.0 - np.mean(np.arange(1, P + 1) / (np.arange(1, P + 1) + above))
        assert np.all(np.diff([places[row] for row in negatives.tolist()]) >= 0)
        ranking = pack(z, positives, negatives, above, delta)
        assert ranking.value == pytest.approx(losses.get("ap").most_violated(z, y).value, abs=1e-12)


def test_interleaving_agrees_with_alpha_where_only_candidates_are_sorted(rng: np.random.Generator) -> None:
    P, N = 40, 5000
    y = rng.permutation(np.arange(P + N) < P).astype(int)
    z = rng.normal(size=P + N) + 60.0 * y
    loss = losses.get("ap")
    expected = (P - loss.interleaving(z, y)) * 2.0 / (P * N)
    np.testing.assert_allclose(loss.most_violated(z, y).alpha[y == 0], expected, rtol=1e-12)
    assert 0 < np.count_nonzero(expected) < N


def hinge_with_intercept(z: np.ndarray, y: np.ndarray, J: float, b: float) -> float:
    weights = np.where(y == 1, J, 1.0)
    return float(weights @ np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * (z + b)) / weights.sum())


@pytest.mark.parametrize("J", [0.3, 1.0, 5.0])
def test_shifted_hinge_is_the_best_intercept(rng: np.random.Generator, J: float) -> None:
    loss = losses.get("hinge", positive_weight=J, shifted=True)
    for z, y in some_cases(rng):
        kinks = np.where(y == 1, 1.0, -1.0) - z  # the minimum is at one of them
        best = min(hinge_with_intercept(z, y, J, b) for b in kinks)
        found = loss.most_violated(z, y)
        assert found.value == pytest.approx(best, abs=1e-12)
        risk = loss.bind(Lists.build(y == 1))
        order = np.argsort(-y, kind="stable")
        risk.evaluate(np.ascontiguousarray(z[order]), np.empty(len(z)))
        assert hinge_with_intercept(z, y, J, risk.shift) == pytest.approx(best, abs=1e-12)


def test_of_equally_good_intercepts_the_hinge_takes_the_middle() -> None:
    y = np.array([True, True, False, False])
    risk = losses.get("hinge", shifted=True).bind(Lists.build(y))
    for positive, negative in ([0.0, 0.0], [0.0, 0.0]), ([4.0, 5.0], [1.0, 0.0]), ([0.3, 0.0], [0.2, -0.1]):
        z = np.array([*positive, *negative])
        risk.evaluate(z, np.empty(4))
        low, high = (
            -1.0 - min(z[2:]),
            1.0 - max(z[:2]),
        )  # where the last hinge of a class starts or stops to count
        if low > high:  # the classes are apart: no hinge counts in between
            low, high = 1.0 - min(z[:2]), -1.0 - max(z[2:])
        assert risk.shift == pytest.approx(0.5 * (low + high), abs=1e-12)


def test_shifted_hinge_has_one_intercept_for_all_lists(rng: np.random.Generator) -> None:
    loss = losses.get("hinge", positive_weight=2.0, shifted=True)
    for _ in range(50):
        parts = [draw_case(rng, *sizes) for sizes in [(2, 3), (1, 5), (6, 2)]]
        z, y = (np.concatenate(column) for column in zip(*parts, strict=True))
        qid = np.repeat([5, 1, 3], [5, 6, 8])
        kinks = np.where(y == 1, 1.0, -1.0) - z
        best = min(np.mean([hinge_with_intercept(a, b, 2.0, shift) for a, b in parts]) for shift in kinks)
        found = loss.most_violated(z, y, qid)
        assert found.value == pytest.approx(best, abs=1e-12)
        assert abs(found.alpha.sum()) <= 1e-12


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=12).filter(
        lambda rows: len({label for _, label in rows}) == 2
    ),
    st.sampled_from(ALL),
)
def test_ties_everywhere(rows: list[tuple[int, bool]], spec: Spec) -> None:
    z, y = np.array([row[0] for row in rows], float) / 2, np.array([row[1] for row in rows])
    loss = spec.get()
    found = loss.most_violated(z, y)
    assert found.value == pytest.approx(found.delta + found.alpha @ z, abs=1e-12)
    for other in (z[::-1].copy(), -z, 2 * z, np.zeros_like(z)):
        assert loss.most_violated(other, y).value >= found.value + found.alpha @ (other - z) - 1e-12


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, -1.7e308])
def test_scores_that_cannot_be_summed(value: float) -> None:
    for spec in ALL:
        with pytest.raises(InputError, match="scores"):
            spec.get().most_violated([0.5, value, 0.1], [0, 1, 1])
