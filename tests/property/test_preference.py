"""Preference graphs against the double loop over all pairs, and where that takes too long, against pairs by the row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankcut import InputError, losses
from rankcut.data import Grades
from rankcut.losses.preference import Preference
from rankcut.reference.preference import most_violated_preferences, preferences

GRAPHS = ("complete", "bipartite", "star")
COMBINATIONS = [(graph, rescaling) for graph in GRAPHS for rescaling in ("slack", "margin")]
CASES = 1_700  # × 6 combinations: more than 10,000
every_combination = pytest.mark.parametrize("graph, rescaling", COMBINATIONS)
Floats = np.ndarray


def grades_of_kind(rng: np.random.Generator, n: int) -> Floats:
    """Few and many ties; those of quarters are exact, so that kinks are hit on the point."""
    kind = rng.integers(5)
    if kind == 0:
        return rng.normal(size=n)
    if kind == 1:
        return rng.integers(0, int(rng.integers(2, 6)), n).astype(float)
    if kind == 2:
        return rng.integers(-4, 5, n) / 4
    if kind == 3:
        return rng.normal(size=n) * rng.choice([1e-6, 1e6])
    return np.where(rng.random(n) < 0.2, 1.0, rng.integers(-9, 9, n) / 4)


def scores_of_kind(rng: np.random.Generator, y: Floats) -> Floats:
    n, kind = len(y), rng.integers(6)
    if kind == 0:
        return rng.integers(-8, 9, n) / 4
    if kind == 1:
        return np.full(n, rng.choice([0.0, -2.5, 1e150]))
    if kind == 2:
        return y + rng.normal(size=n) * 0.1
    if kind == 3:
        return rng.normal(size=n) * rng.choice([1e12, 1e-12])
    return rng.normal(size=n) * rng.choice([0.05, 0.5, 2.0, 5.0])


def draw_case(rng: np.random.Generator, graph: str) -> tuple[Floats, Floats, Any, dict[str, Any], Any]:
    n = int(rng.choice([2, 3, int(rng.integers(2, 20)), int(rng.integers(20, 90))]))
    y = grades_of_kind(rng, n)
    z = scores_of_kind(rng, y)
    qid = None if rng.random() < 0.5 else rng.integers(0, 4, n)
    options: dict[str, Any] = {"reduce": str(rng.choice(["mean", "sum"]))}
    best = None
    if graph == "bipartite" and rng.random() < 0.5:
        options["threshold"] = float(rng.choice(y)) + float(rng.choice([0.0, -0.1]))
    elif graph == "bipartite":
        options["top"] = int(rng.integers(1, n))
    elif graph == "star":
        queries = np.zeros(n, int) if qid is None else qid
        lists = [np.flatnonzero(queries == q) for q in np.unique(queries)]
        best = [int(rng.choice(rows[y[rows] == y[rows].max()])) for rows in lists]
    return z, y, qid, options, best


def has_nothing_to_prefer(loss: Preference, y: Floats, qid: Any, best: Any) -> bool:
    """All lists of one grade, or all on one side of the threshold, or not longer than `top`; it says so."""
    queries = np.zeros(len(y)) if qid is None else qid
    lists = [np.flatnonzero(queries == q).tolist() for q in np.unique(queries)]
    options = {"threshold": loss.threshold, "top": loss.top}
    if any(
        preferences(
            y.tolist(), rows, loss.graph, best=next((i for i in best or () if i in rows), None), **options
        )
        for rows in lists
    ):
        return False
    with pytest.raises(InputError, match=r"^(y|top):"):
        loss.grades(y, len(y), qid, best)
    return True


@every_combination
def test_equals_the_double_loop(rng: np.random.Generator, graph: str, rescaling: str) -> None:
    compared = 0
    while compared < CASES:
        z, y, qid, options, best = draw_case(rng, graph)
        loss = Preference(graph, rescaling, **options)
        if has_nothing_to_prefer(loss, y, qid, best):
            continue
        found = loss.most_violated(z, y, qid, best=best)
        exact = most_violated_preferences(
            z, y, qid, graph=graph, rescaling=rescaling, best=best or (), **options
        )
        unit = 1e-13 * np.ptp(y) * (1 if qid is None else 4)
        assert found.delta == pytest.approx(exact.delta, abs=unit)
        np.testing.assert_allclose(found.alpha, exact.alpha, rtol=0, atol=max(unit, 1e-13))
        size = max(unit, 1e-13) * len(z) * (1 + np.abs(z).max())
        assert found.value == pytest.approx(exact.value, abs=size)
        compared += 1


def by_row(z: Floats, y: Floats, above: int, rescaling: str) -> tuple[float, Floats]:
    """δ and α of one list, a row of pairs at a time; above: the rows that are preferred, 0 for all pairs."""
    alpha, deltas, pairs = np.zeros(len(z)), [], 0
    for i in range(len(z)):
        preferred = y[i] > y if above == 0 else (np.arange(len(z)) >= above) & (i < above)
        gain = y[i] - y
        violated = preferred & ((z[i] - z < 1) if rescaling == "slack" else (gain - (z[i] - z) > 0))
        weight = gain[violated] if rescaling == "slack" else np.ones(np.count_nonzero(violated))
        alpha[violated] += weight
        alpha[i] -= weight.sum()
        deltas.append(math.fsum(gain[violated]))
        pairs += np.count_nonzero(preferred)
    return math.fsum(deltas) / pairs, alpha / pairs


@pytest.mark.parametrize("rescaling", ["slack", "margin"])
@pytest.mark.parametrize("above", [0, 1, 700])
@pytest.mark.parametrize("kind", ["real", "seven grades", "mostly one grade", "three clusters of scores"])
def test_large_lists_that_are_cut_in_chunks(
    rng: np.random.Generator, rescaling: str, above: int, kind: str
) -> None:
    n = 5_001
    y = rng.normal(size=n)
    if kind == "seven grades":
        y = np.round(y)
    if kind == "mostly one grade":
        y[rng.random(n) < 0.9] = 0.25
    y = np.sort(y)[::-1]
    z = 0.7 * y + rng.normal(size=n)
    if kind == "three clusters of scores":
        z = 4.0 * rng.integers(0, 3, n) + rng.random(n)
    if above:
        y[:above] += 1.0
    risk = losses.get("preference", rescaling=rescaling).bind(
        Grades(n, np.arange(n), np.array([0, n]), y, np.array([above]), 0)
    )
    alpha = np.empty(n)
    delta = risk.evaluate(z, alpha, 2)
    expected, weights = by_row(z, y, above, rescaling)
    assert delta == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(alpha, weights, rtol=0, atol=1e-12 * np.abs(weights).max())


def test_long_sums_stay_accurate(rng: np.random.Generator) -> None:
    """Where everything is violated α and δ have a closed form. One sample too high for that sends the others through
    the whole tree. Grades far from 0 must cost no digits."""
    n = 400_000
    y = np.sort(rng.exponential(size=n))[::-1] + 1e3
    assert np.all(np.diff(y) < 0)
    risk = losses.get("preference").bind(Grades(n, np.arange(n), np.array([0, n]), y, np.array([0]), 0))
    above = y - y[-1]
    pairs = n * (n - 1) / 2
    weights = (math.fsum(above) - n * above) / pairs
    delta = math.fsum(above * (n - 1 - 2 * np.arange(n))) / pairs
    alpha = np.empty(n)
    assert risk.evaluate(np.zeros(n), alpha) == pytest.approx(delta, rel=1e-14)
    np.testing.assert_allclose(alpha, weights, rtol=0, atol=1e-15 * np.abs(weights).max())
    z = 0.9 * rng.random(n)
    z[0] = 2.5  # the best: nothing of it is violated
    without = math.fsum(above[1:]) - (n - 1) * above[0]
    assert risk.evaluate(z, alpha) == pytest.approx(delta + without / pairs, rel=1e-14)
    weights += (above - above[0]) / pairs
    weights[0] = 0.0
    np.testing.assert_allclose(alpha, weights, rtol=0, atol=1e-14 * np.abs(weights).max())


def test_the_tree_agrees_with_integers_exactly(rng: np.random.Generator) -> None:
    """Small whole grades make all sums exact in floating point: so must ours be, up to the last bit."""
    n = 300_000
    y = np.sort(rng.integers(0, 5, n)).astype(float)[::-1] - 2.0
    z = rng.integers(0, 40, n) / 8.0
    risk = losses.get("preference").bind(Grades(n, np.arange(n), np.array([0, n]), y, np.array([0]), 0))
    alpha = np.empty(n)
    delta = risk.evaluate(z, alpha, 2)
    # By grade and score: how many there are, and the pairs between them.
    cells = np.zeros((5, 40), dtype=np.int64)
    np.add.at(cells, ((y + 2).astype(int), (8 * z).astype(int)), 1)
    weight, total, pairs = np.zeros((5, 40), dtype=np.int64), 0, 0
    for high in range(5):
        for low in range(high):
            pairs += int(cells[high].sum()) * int(cells[low].sum())
            for s in range(40):
                violated = cells[low, max(0, s - 7) :]  # z_low > z_high − 1
                weight[high, s] -= (high - low) * violated.sum()
                weight[low, max(0, s - 7) :] += (high - low) * cells[high, s]
                total += (high - low) * int(cells[high, s]) * int(violated.sum())
    expected = weight[(y + 2).astype(int), (8 * z).astype(int)]
    np.testing.assert_array_equal(np.rint(alpha * pairs), expected)
    np.testing.assert_allclose(alpha * pairs, expected, rtol=1e-15)
    assert delta * pairs == pytest.approx(total, rel=1e-15)


@every_combination
def test_subgradient_and_convexity(rng: np.random.Generator, graph: str, rescaling: str) -> None:
    for _ in range(150):
        z, y, qid, options, best = draw_case(rng, graph)
        loss = Preference(graph, rescaling, **options)
        if has_nothing_to_prefer(loss, y, qid, best):
            continue
        found = loss.most_violated(z, y, qid, best=best)
        size = np.ptp(y) * (1 if options["reduce"] == "mean" else 4)
        for scale in (0.01, 1.0, 10.0):
            step = scale * rng.normal(size=len(z))
            other = loss.most_violated(z + step, y, qid, best=best)
            assert other.value >= found.value + found.alpha @ step - 1e-11 * (1 + size) * (
                1 + np.abs(z).max() + scale
            )
            assert other.value >= -1e-12 * (1 + size) * (1 + np.abs(z).max())


@every_combination
def test_the_same_on_any_number_of_threads(rng: np.random.Generator, graph: str, rescaling: str) -> None:
    """Small lists, and one that all threads share."""
    sizes = [5, 70_000, 2, 300, *[4] * 60, 9_000]
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.normal(size=len(qid))
    z = rng.normal(size=len(qid))
    loss = losses.get("preference", graph=graph, rescaling=rescaling, top=1 if graph == "bipartite" else None)
    grades = loss.grades(y, len(y), qid)
    answers = []
    for n_threads in (1, 2, 5):
        risk, alpha, weight = loss.bind(grades), np.empty(grades.size), np.empty(grades.size)
        risk.evaluate(grades.gather(y), alpha, n_threads)
        delta = risk.evaluate(grades.gather(z), alpha, n_threads)
        risk.curvature(grades.gather(z), alpha, weight, n_threads)
        assert np.all(weight >= 0)
        answers.append((delta, alpha, weight))
    for delta, alpha, weight in answers[1:]:
        assert delta == answers[0][0]
        np.testing.assert_array_equal(alpha, answers[0][1])
        np.testing.assert_array_equal(weight, answers[0][2])


@pytest.mark.parametrize("graph", ["complete", "bipartite"])
def test_curvature_of_the_slack_is_the_slope_of_alpha(rng: np.random.Generator, graph: str) -> None:
    n, h = 400, 0.25
    y = np.sort(rng.normal(size=n))[::-1]
    z = rng.normal(size=n)
    loss = losses.get("preference", graph=graph, top=60 if graph == "bipartite" else None)
    grades = loss.grades(y, n)
    weight = np.empty(n)
    risk = loss.bind(grades)
    risk.curvature(z, np.empty(n), weight)
    for i in rng.integers(0, n, 20):
        ends = []
        for step in (-h, h):
            moved, alpha = z.copy(), np.empty(n)
            moved[i] += step
            risk.evaluate(moved, alpha)
            ends.append(alpha[i])
        assert weight[i] == pytest.approx((ends[1] - ends[0]) / (2 * h), abs=1e-12)


@every_combination
def test_two_grades_are_two_classes(rng: np.random.Generator, graph: str, rescaling: str) -> None:
    """Slack: "auc" at twice the margin. Margin: the same, the grades being 1 apart."""
    for _ in range(50):
        n = int(rng.integers(3, 40))
        y = np.zeros(n)
        y[: 1 if graph == "star" else int(rng.integers(1, n))] = 1.0
        z = rng.normal(size=n)
        found = losses.get("preference", graph=graph, rescaling=rescaling).most_violated(z, y)
        halved = losses.get("auc").most_violated(0.5 * z, y)
        assert found.value == pytest.approx(halved.value, abs=1e-13)
        np.testing.assert_allclose(found.alpha, 0.5 * halved.alpha, atol=1e-14)


@given(
    st.lists(st.tuples(st.integers(-2, 2), st.integers(-4, 4)), min_size=2, max_size=40).filter(
        lambda rows: len({grade for grade, _ in rows}) > 1
    ),
    st.sampled_from(["slack", "margin"]),
)
def test_grids_of_grades_and_scores(rows: list[tuple[int, int]], rescaling: str) -> None:
    y, z = np.array([row[0] for row in rows], float), np.array([row[1] for row in rows], float) / 2
    found = losses.get("preference", rescaling=rescaling).most_violated(z, y)
    exact = most_violated_preferences(z, y, rescaling=rescaling)
    np.testing.assert_allclose(found.alpha, exact.alpha, atol=1e-13)
    assert found.delta == pytest.approx(exact.delta, abs=1e-13)
    reverse = losses.get("preference", rescaling=rescaling).most_violated(z[::-1].copy(), y[::-1].copy())
    np.testing.assert_allclose(reverse.alpha[::-1], found.alpha, atol=1e-13)


@every_combination
def test_nothing_violated_weighs_nothing(rng: np.random.Generator, graph: str, rescaling: str) -> None:
    """Exactly 0: rows without weight are left out of the passes over X. Also where only a few are violated."""
    n = 20_000
    y = np.sort(rng.normal(size=n))[::-1]
    z = 10.0 * np.arange(n)[::-1]
    loss = losses.get(
        "preference", graph=graph, rescaling=rescaling, top=500 if graph == "bipartite" else None
    )
    found = loss.most_violated(z, y)
    assert found.delta == 0
    assert not found.alpha.any()
    z[[0, 7_000]] = z[[7_000, 0]]
    assert 2 <= np.count_nonzero(loss.most_violated(z, y).alpha) <= 7_001


def test_ordered_is_the_share_of_pairs_in_order(rng: np.random.Generator) -> None:
    loss = losses.get("preference")
    for _ in range(300):
        qid = np.repeat([0, 1], rng.integers(2, 20, 2))
        y, z = rng.integers(0, 4, len(qid)).astype(float), rng.integers(0, 6, len(qid)) / 3
        y[[0, -1]] = 5.0
        risks = []
        for q in (0, 1):
            rows = np.flatnonzero(qid == q).tolist()
            pairs = [(i, j) for i in rows for j in rows if y[i] > y[j]]
            missed = sum((y[i] - y[j]) * ((z[i] < z[j]) + 0.5 * (z[i] == z[j])) for i, j in pairs)
            risks.append((missed / len(pairs), sum(y[i] - y[j] for i, j in pairs) / len(pairs)))
        missed, total = np.sum(risks, axis=0)
        assert loss.ordered(z, y, qid) == pytest.approx(1.0 - missed / total, abs=1e-12)
