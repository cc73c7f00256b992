"""The native oracles against brute force, and against each other where brute force cannot go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankcut import losses
from rankcut.reference import brute_force, precision_at_k, staircase

ORACLES = ["staircase", "greedy", "search", "select"]
LOSSES: list[tuple[str, dict[str, Any]]] = [
    *(("ap", {"oracle": oracle}) for oracle in ORACLES),
    *(
        (name, {})
        for name in ("auc", "ndcg", "mrr", "precision@1", "precision@2", "precision@4", "precision@50")
    ),
    *(("hinge", {"positive_weight": J}) for J in (1.0, 0.3, 7.0)),
]
IDS = [" ".join([name, *map(str, options.values())]) for name, options in LOSSES]
CASES = 800  # × 14 losses: more than 10,000
Case = tuple[np.ndarray, np.ndarray]


def scores_of_kind(rng: np.random.Generator, kind: int, n: int, y: np.ndarray) -> np.ndarray:
    z = rng.normal(size=n)
    if kind == 0:  # many ties, within and between the classes
        return np.round(2 * z) / 2
    if kind == 1:
        return np.full(n, rng.choice([0.0, 1.0, -2.5, 1e300, -1e300, 1e-300]))
    if kind == 2:
        return z * rng.choice([1e300, 1e-300, 1e150, 1e-150, 1e-8])
    if kind == 3:  # scales that differ: large scores and tiny ones in one list
        return z * 10.0 ** rng.choice([-300, -3, 0, 3, 300], n)
    if kind == 4:  # as after training: nearly in order
        return z + 3.0 * y
    return z * rng.choice([0.05, 0.5, 1.0, 5.0])


def draw_case(rng: np.random.Generator) -> Case:
    P, N = rng.integers(1, 7, 2)
    P, N = {0: (1, N), 1: (P, 1)}.get(int(rng.integers(5)), (P, N))
    y = rng.permutation(np.arange(P + N) < P).astype(int)
    return scores_of_kind(rng, int(rng.integers(7)), P + N, y), y


@pytest.mark.parametrize("name, options", LOSSES, ids=IDS)
def test_equals_brute_force(rng: np.random.Generator, name: str, options: dict[str, Any]) -> None:
    loss = losses.get(name, **options)
    weight = {"positive_weight": options["positive_weight"]} if name == "hinge" else {}
    for _ in range(CASES):
        z, y = draw_case(rng)
        found, exact = loss.most_violated(z, y), brute_force.most_violated(z, y, name, **weight)
        tolerance = 1e-13 * len(z) * (1 + np.abs(z).max())
        assert found.value == pytest.approx(exact.value, abs=tolerance)
        assert found.value == pytest.approx(found.delta + found.alpha @ z, abs=tolerance)


@pytest.mark.parametrize("name, options", LOSSES[:-3], ids=IDS[:-3])
def test_equals_brute_force_under_a_microscope(
    rng: np.random.Generator, name: str, options: dict[str, Any]
) -> None:
    """Scores around the value at which the most violated ranking changes, where a wrong rule would show."""
    loss = losses.get(name, **options)
    for _ in range(200):
        z, y = draw_case(rng)
        z = np.round(rng.normal(size=len(z)) * 4) / 8
        found, exact = loss.most_violated(z, y), brute_force.most_violated(z, y, name)
        assert found.value == pytest.approx(exact.value, abs=1e-14)
        assert 0.0 <= found.delta <= 1.0


@given(st.data())
def test_equals_brute_force_anywhere(data: st.DataObject) -> None:
    P, N = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    number = st.one_of(st.integers(-2, 2).map(float), st.floats(-10, 10), st.floats(-1e300, 1e300))
    z = np.array(data.draw(st.lists(number, min_size=P + N, max_size=P + N)))
    y = np.array(data.draw(st.permutations([1] * P + [0] * N)))
    name, options = data.draw(st.sampled_from(LOSSES[:-3]))
    found, exact = losses.get(name, **options).most_violated(z, y), brute_force.most_violated(z, y, name)
    assert found.value == pytest.approx(exact.value, abs=1e-12 * (1 + np.abs(z).max()))


LARGE = [(1, 1), (1, 5000), (5000, 1), (30, 8000), (2000, 3000), (3000, 700), (1200, 1025), (600, 1024)]


def large_case(rng: np.random.Generator, P: int, N: int, kind: str) -> Case:
    y = rng.permutation(np.arange(P + N) < P).astype(int)
    z = rng.normal(size=P + N)
    return {
        "random": z,
        "small": 1e-3 * z,
        "tied": np.round(2 * z) / 2,
        "zero": 0 * z,
        "near-separable": z + 5.0 * y,
        "separable by a little": 0.01 * z + N / 8 * y,
        "heavy-tailed": np.exp(8 * z) * np.sign(rng.normal(size=P + N)),
        "reversed": z - 10.0 * y,
        "bits": np.nextafter(1.0, 2.0) * (z > 0) + 1.0 * (z <= 0),
        "tiny": 1e-300 * z,
        "huge": 1e295 * z,
        "denormal": 5e-324 * np.round(10 * z),
    }[kind], y


KINDS = [
    "random", "small", "tied", "zero", "near-separable", "separable by a little",
    "heavy-tailed", "reversed", "bits", "tiny", "huge", "denormal",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_four_algorithms_agree_on_large_lists(rng: np.random.Generator, kind: str) -> None:
    for P, N in LARGE:
        z, y = large_case(rng, P, N, kind)
        first, *others = (losses.get("ap", oracle=oracle).most_violated(z, y) for oracle in ORACLES)
        for found in others:
            assert found.value == pytest.approx(first.value, rel=1e-10, abs=1e-10)
            # Equal values do not imply equal rankings; but these are of equal value at all other scores too,
            # as far as subgradients can tell.
            other = z + 0.1 * np.abs(z).max() * rng.normal(size=len(z))
            value = losses.get("ap").most_violated(other, y).value
            bound = found.delta + found.alpha @ other
            assert value >= bound - 1e-9 * max(1.0, abs(bound))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["ap", "auc", "ndcg", "mrr"])
def test_the_staircase_equals_its_twin(rng: np.random.Generator, name: str, kind: str) -> None:
    """Lists long enough that only the candidates are sorted, and that sorting goes by radix."""
    for P, N in [(1, 1500), (600, 5), (15, 2600), (120, 1100)]:
        z, y = large_case(rng, P, N, kind)
        found, twin = losses.get(name).most_violated(z, y), staircase.most_violated(z, y, name)
        scale = 1 + np.abs(z).max()
        assert found.value == pytest.approx(twin.value, rel=1e-10, abs=1e-13 * scale)
        assert found.delta == pytest.approx(twin.delta, abs=1e-9) or kind in ("huge", "bits", "tied", "zero")


@pytest.mark.parametrize("k", [1, 2, 10, 55, 300, 5000])
def test_precision_equals_its_twin(rng: np.random.Generator, k: int) -> None:
    for P, N in [(1, 200), (200, 1), (40, 90), (120, 60)]:
        for kind in KINDS:
            z, y = large_case(rng, P, N, kind)
            found = losses.get(f"precision@{k}").most_violated(z, y)
            exact = precision_at_k.most_violated(z, y, k)
            assert found.value == pytest.approx(exact.value, rel=1e-10, abs=1e-13 * (1 + np.abs(z).max()))


def test_auc_is_the_mean_over_pairs(rng: np.random.Generator) -> None:
    for kind in KINDS:
        z, y = large_case(rng, 300, 1300, kind)
        pairs = np.maximum(0.0, 1.0 - 2.0 * (z[y == 1][:, None] - z[y == 0][None]))
        assert losses.get("auc").most_violated(z, y).value == pytest.approx(pairs.mean(), rel=1e-10)


def test_the_balanced_tied_case_of_fifty_thousand(rng: np.random.Generator) -> None:
    """All positives tied 1 above all negatives, tied too: the case that is slow for other exact methods."""
    P = N = 50_000
    z = np.concatenate((np.ones(P), np.zeros(N)))
    found = losses.get("ap").most_violated(z, z)
    # Every a_k = a moves each F_k by the same pair term, so the best staircase is that of the twin on
    # (1, 1) blocks: check it against the subgradient's own inequality and against tiny moves instead.
    assert found.value == pytest.approx(found.delta + found.alpha @ z, abs=1e-12)
    assert np.ptp(found.alpha[:P]) == 0.0
    assert np.ptp(found.alpha[P:]) == 0.0
    for t in (0.5, 0.99, 1.01, 2.0):
        assert losses.get("ap").most_violated(t * z, z).value >= found.delta + found.alpha @ (t * z) - 1e-12


def test_equal_answers_on_equal_questions(rng: np.random.Generator) -> None:
    z, y = large_case(rng, 900, 4000, "tied")
    for name, options in LOSSES:
        first, second = (losses.get(name, **options).most_violated(z, y) for _ in range(2))
        assert first.value == second.value
        assert np.array_equal(first.alpha, second.alpha)
